"""The base class of methods for linear constraints: the lifted rows, states, gradients of f, rules for steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, ExactValues, Iterate
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.scalars import objective
from zoviz.oracle import FirstOrder, Oracle
from zoviz.oracle.samples import COPIES
from zoviz.problems.base import Problem
from zoviz.problems.linear import LinearlyConstrained
from zoviz.solvers.base import Solver
from zoviz.solvers.step_rules import FINE_RADIUS, noisy_radius
from zoviz.solvers.theory import Info

SHORT_HORIZON = 400.0
"""Iterations T up to which steps are not shortened (chosen by us: the paper's own factors are far too small)."""


LONG_HORIZON = 10_000
"""Iterations T that steps are sized for where nobody says how long a run is to be."""


class Lifted:
    r"""The linear rows as equations of a point w: x itself, or (x, t) with A x - t = b and t <= 0 for inequalities.

    Parameters
    ----------
    oracle : Oracle
        On a ``LinearlyConstrained`` problem; p rows, s = 0 slacks for equations, p for inequalities.
    """

    def __init__(self, oracle: Oracle) -> None:
        self.first, self._domain, self.n = FirstOrder(oracle), oracle.domain, oracle.n
        self._slacks = 0 if self.first.equations else self.first.rows

    def start(self, x0: Array) -> Array:
        """Return w (R, n + s) at x0 (R, n), with t = [A x0 - b]_-."""
        return np.concatenate([x0, np.minimum(self.first.residual(x0), 0.0)], axis=1) if self._slacks else x0

    def residual(self, w: Array, copy: int = 0) -> Array:
        """Return A x - t - b, shape (R, p)."""
        residual = self.first.residual(w[:, : self.n], copy)
        return residual - w[:, self.n :] if self._slacks else residual

    def slope(self, gradient: Array, dual: Array, copy: int = 0) -> Array:
        """Return the gradient (R, n + s) of f + <dual, A x - t - b> in w, from that of f (R, n)."""
        slope = gradient + self.first.adjoint(dual, copy)
        return np.concatenate([slope, -dual], axis=1) if self._slacks else slope

    def project(self, w: Array) -> Array:
        """Return the nearest points (R, n + s) of X x {t <= 0}."""
        if not self._slacks:
            return self._domain.project(w)
        return np.concatenate([self._domain.project(w[:, : self.n]), np.minimum(w[:, self.n :], 0.0)], axis=1)


class Views:
    """The parts of a state that has ``point`` (R, n + s), ``dual`` (R, p) and ``n``."""

    __slots__ = ()
    point: Array
    dual: Array
    n: int

    @property
    def x(self) -> Array:
        """The iterate, (R, n)."""
        return self.point[:, : self.n]

    @property
    def slack(self) -> Array:
        """The slacks t, (R, s)."""
        return self.point[:, self.n :]

    @property
    def y(self) -> Array:
        """The multipliers of h, (R, m), at least 0."""
        return multipliers(self.dual, self.slack)


def multipliers(dual: Array, slack: Array) -> Array:
    """Return the multipliers (R, m) of h, at least 0, from those of the rows (R, p) and the slacks (R, s)."""
    if slack.shape[1]:
        return np.maximum(dual, 0.0)
    return np.maximum(np.concatenate([dual, -dual], axis=1), 0.0)


class Estimates(NamedTuple):
    """What a recursion estimates: grad f (R, n), A x - b (R, p), and A^T (y + rho (A x - b)) in w (R, n + s)."""

    gradient: Array
    residual: Array
    pull: Array


class _PointDual(NamedTuple):
    point: Array
    dual: Array
    iteration: int
    n: int


class PointDual(Views, _PointDual):
    """Lifted iterate, multipliers of the rows, iteration, number of variables."""

    __slots__ = ()


class LinearMethod(Solver):
    """A method for linear constraints that sees f through stochastic gradients, or through values (ours).

    ``gradients="zeroth-order"`` replaces the stochastic gradient by ``estimator`` on f, under the same sample; the
    linear part stays exact. A stochastic gradient costs one call, whatever the size of its mini-batch.
    """

    __abstract = True

    forms = ("linearly constrained",)
    families = (Sphere, CentralSphere, Gaussian, Coordinate)
    live: ClassVar[tuple[str, ...]] = (
        "primal_step",
        "batch_size",
        "estimator.batch_size",
        "estimator.smoothing_radius",
    )
    planned = ("horizon",)
    takes_samples = True
    """Whether rows that are only sampled will do."""
    gradients_per_step: ClassVar[int] = 1
    """Gradients of f in one iteration, all under one sample."""
    copies_per_step: ClassVar[int] = COPIES
    """Independent copies of zeta in one iteration, where rows are sampled."""

    gradients: param.Selector[str] = param.Selector(
        default="stochastic",
        objects=["stochastic", "zeroth-order"],
        label="Gradients of f",
        doc="stochastic: the problem's. zeroth-order (ours): estimated from values under one sample.",
    )
    horizon = param.Integer(
        default=None,
        allow_None=True,
        bounds=(1, 10**9),
        softbounds=(100, 10**6),
        label="Horizon T",
        doc="Iterations that the rule sizes the steps for. Auto: the run's budget, or 10 000 where it has none.",
    )
    batch_size = param.Integer(
        default=1, bounds=(1, 10**6), softbounds=(1, 100), label="Mini-batch", doc="Samples of one iteration."
    )
    primal_step = Scale(None, softbounds=(1e-6, 1.0), label="Primal step τ", doc="Step of x along the gradient.")
    estimator = Part(
        GradientEstimator,
        default=Sphere(smoothing_radius=None, batch_size=10),
        label="Estimator",
        doc="Gradient estimator of f, for zeroth-order gradients.",
    )

    @property
    def asks_derivatives(self) -> bool:
        """Whether f is seen through the problem's stochastic gradients."""
        return self.gradients == "stochastic"

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return a sentence for scaled rows, and for sampled rows where the method needs known ones; else None."""
        if not isinstance(problem, LinearlyConstrained):
            return f"{self.title} is for linear constraints, and {problem.title} has others: choose another solver."
        if problem.scaled:
            return f"{self.title} knows the rows in the problem's own units: switch its scaling off."
        if problem.sampled_rows and not self.takes_samples:
            return f"{self.title} needs rows that are known, and here they are only sampled: choose another solver."
        return None

    @property
    def length(self) -> int:
        """The horizon T that the rule sizes the steps for."""
        return LONG_HORIZON if self.horizon is None else self.horizon

    def from_budget(self, problem: Problem, budgets: Mapping[str, Any]) -> dict[str, Any]:
        """Return the horizon where it is open: the iterations that the tightest budget covers."""
        if self.horizon is not None:
            return {}
        one = 1 if self.gradients == "stochastic" else self.estimator.calls(problem.domain.n)
        prices = {"iterations": 1, "calls": one * self.gradients_per_step, "samples": self.batch_size}
        if problem.sampled_rows:
            prices["zeta_samples"] = self.copies_per_step * self.batch_size
        bounds = [budgets[name] // price for name, price in prices.items() if budgets[name] is not None]
        return {"horizon": max(1, min([*bounds, 10**9])) if bounds else LONG_HORIZON}

    def iterate(self, state: Any) -> Iterate:
        """Return the iterate, with the multipliers of h and of the rows, and the slacks."""
        return Iterate(state.x, dual=state.y, row_dual=state.dual, slack=state.slack)

    def theory(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> dict[str, Array]:
        """Return theory's predicted variances (R,) for the estimator, where it is in use."""
        return super().theory(problem, info, exact) if self.gradients == "zeroth-order" else {}

    def scale(self, problem: Problem, power: float) -> float:
        """Return the factor min{1, (400 / T)^power} / (1 + v) of steps, v the relative variance of the gradients."""
        inflation = 1.0 + self.relative_variance(problem.domain.n) if self.gradients == "zeroth-order" else 1.0
        return min(1.0, (SHORT_HORIZON / self.length) ** power) / inflation

    def radius(self, problem: Problem, constants: Constants) -> float:
        """Return the estimator's radius: 1e-5, larger under independent noise."""
        return noisy_radius(constants, problem.domain.n, self.estimator.batch_size, FINE_RADIUS)

    def gradient(self, first: FirstOrder, x: Array, oracle: Oracle, streams: Streams) -> tuple[Array, Array]:
        """Return the gradient of f at x (R, n) under the present sample, and its measured variance (R,)."""
        if self.gradients == "stochastic":
            return first.gradient(x), np.full(len(x), np.nan)
        estimate = self.estimator.estimate(objective, x, oracle, streams)
        return estimate.gradient, estimate.variance

    def info(self, x: Array, variance: Array, oracle: Oracle) -> Info:
        """Return the ``Info`` of a step that estimated the gradient of f at x (R, n), with its variance (R,)."""
        return Info(variance, x, np.zeros((len(x), oracle.m)), self.estimator.smoothing_radius)


class PenalisedMethod(LinearMethod):
    """A method with rho/2 ||Ax - b||^2 in its Lagrangian."""

    __abstract = True

    live: ClassVar[tuple[str, ...]] = (*LinearMethod.live, "penalty")

    penalty = Scale(
        None, bounds=(0.0, 1e9), softbounds=(1e-3, 1e3), label="Penalty ρ", doc="Weight of ||Ax - b||² / 2."
    )


def row_square(problem: Problem) -> float:
    """Return ||A||^2 of the lifted rows, which for inequalities are (A, -I); 1 where A is 0."""
    linear = LinearlyConstrained.of(problem)
    return linear.operator_norm**2 + (0.0 if linear.equations else 1.0) or 1.0
