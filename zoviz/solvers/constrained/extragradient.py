"""The extra-gradient step that ZOEG, ZOCEG and ZOBCEG share; they differ in how they estimate the field."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation
from zoviz.estimators import GradientEstimator
from zoviz.oracle import ProblemOracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Info, Solver
from zoviz.solvers.restoration import (
    Restoration,
    begin,
    duals_after,
    known_duals,
    moved,
    patience_of,
    restoration_parameter,
    settled,
)
from zoviz.solvers.step_rules import (
    COARSE_RADIUS,
    DUAL_SHARE,
    FINE_RADIUS,
    balanced_step,
    diminishing,
    following,
    radius_at,
    radius_of,
    reach_of,
    step_reach_parameter,
)

_FORGETTING = 3.0
"""Exponent nu of the recent average: the weight of iterate j grows as j^nu. Ours: the last third has 80 % of it."""


_MULTIPLIER = 0.5
"""Size of the multipliers that L_h is weighed with where constants are known (chosen by us)."""
PACE = 0.7
"""The primal step times L: below 1, so that the second step's field is that of a contraction."""


class ExtraGradientState(NamedTuple):
    """Iterate (x, y), the oracle's value at x, averages of the half-step points and of x, and the iteration.

    ``recent`` weighs the iterates by about the cube of their number; ``noisy`` is 1 under independent noise.
    ``restoration`` says which replicas still seek a feasible point.
    """

    x: Array
    y: Array
    value: Evaluation
    average: Array
    iteration: int
    recent: Array
    noisy: int
    restoration: Restoration | None = None


class Field(NamedTuple):
    """The estimates of grad_x phi (R, n) and grad_y phi (R, m), with the measured variance (R,)."""

    x: Array
    y: Array
    variance: Array


class ExtraGradient(Solver):
    r"""A method of two projected steps from one base point, the second along the field at the first's end.

    .. math::
        z^{+} = \Pi_Z(z - \eta \hat F(z)), \qquad z \leftarrow \Pi_Z(z - \eta \hat F(z^{+})), \qquad
        F = (\nabla_x \varphi, -\nabla_y \varphi), \quad \varphi(x, y) = f(x) + \langle y, h(x) \rangle

    on Z = X x [0, y_max]^m. The value at the new x, which the next iteration needs, is paid for at the end of a step.
    Under independent noise the smoothing radius does not follow its schedule but stays: smaller differences are noise.
    There the last iterate keeps a distance from the solution that constant steps do not take away; what is reported by
    default is the recent average, which forgets the start as k^-4,

    .. math:: \bar x^k = \bar x^{k-1} + \frac{\nu + 1}{k + \nu}\,(x^k - \bar x^{k-1}), \qquad \nu = 3

    References
    ----------
    Paper zoeg, Algorithms 1-3; the average is that of z+ (errata 38), the schedules are the paper's with
    k + 1 for k (errata 41). Shamir and Zhang (2013), polynomial-decay averaging, for the recent average.
    """

    __abstract = True

    live: ClassVar[tuple[str, ...]] = (
        "primal_step",
        "dual_step",
        "schedule",
        "step_reach",
        "estimator.smoothing_radius",
        "estimator.batch_size",
        "radius_scale",
        "radius_power",
        "report",
    )

    primal_step = Scale(None, softbounds=(1e-6, 10.0), label="Primal step η", doc="Step of x along the field.")
    dual_step = Scale(None, softbounds=(1e-6, 10.0), label="Dual step η_y", doc="Step of the dual variables.")
    schedule: param.Selector[str] = param.Selector(
        default="constant",
        objects=["constant", "diminishing"],
        label="Step schedule",
        doc="constant (CS), or diminishing (DS): step / sqrt(k + 1).",
    )
    radius_scale = Scale(
        5.0, softbounds=(1e-3, 1e3), label="Radius scale a", doc="r_k = min{a / (k + 1)^b, smoothing radius}."
    )
    radius_power = param.Number(
        default=1.1, bounds=(0, 4), label="Radius power b", doc="r_k = min{a / (k + 1)^b, smoothing radius}."
    )
    step_reach = step_reach_parameter()
    restoration = restoration_parameter()
    dual_cap = Scale(None, softbounds=(1e-1, 1e4), label="Dual cap y_max", doc="Dual variables stay in [0, y_max].")
    report: param.Selector[str] = param.Selector(
        default="auto",
        objects=["auto", "last", "average", "recent"],
        label="Reported iterate",
        doc="last: the last iterate. average: that of the half-step points, which the theory speaks about. recent: an "
        "average of the later iterates. auto: recent under independent noise, else last.",
    )
    estimator = Part(GradientEstimator, label="Estimator", doc="Gradient estimator.")

    def suggest(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return steps from curvatures and the constraints' slope G_0 at the start.

        With L = L_f + L_h / 2 (G_f / G_0 for 1/2 where constants are measured and that is more) and v the relative
        variance of the estimate: eta = s / [L (1 + v)] and eta_y = t L / [G_0^2 (1 + v)], where (s, t) and v are the
        algorithm's own (``pace``), both over ``noise_factor`` under independent noise; y_max = 100 max(1, G_f / G_h);
        r = 1e-3 as in the paper (where a load varies by 25 kW), 1e-5 where constants are measured, larger under noise.

        Notes
        -----
        Ours: the paper takes the best of several steps. eta eta_y G_0^2 < 1/2 and eta L < 1 keep the extra-gradient
        step contracting on a quadratic with linear constraints. Under independent noise steps stay constant, for speed,
        and ``report`` averages the noise away (Shamir and Zhang 2013, by way of the class's notes); the budget, which
        diminishing steps would have to be fitted to, is not known here. eta is shortened for multipliers
        beyond ``step_reach``; 1e9 keeps it constant, as published.
        """
        n = problem.domain.n
        curvature = constants.lagrangian_curvature(_MULTIPLIER)
        least = FINE_RADIUS if constants.measured else COARSE_RADIUS
        radius = radius_of(self, constants, n, least)
        pace, dual_pace, inflation = self.pace(n, problem.m)
        inflation *= self.noise_factor(constants, n, radius)
        return (
            reach_of(self, curvature, constants)
            | patience_of(self)
            | {
                "primal_step": pace / (curvature * inflation),
                "dual_step": balanced_step(dual_pace, curvature, inflation, constants),
                "dual_cap": constants.dual_cap,
                "estimator.smoothing_radius": radius,
            }
        )

    def pace(self, n: int, m: int) -> tuple[float, float, float]:
        """Return factors s of the primal and t of the dual step, and 1 + v; v = 0 for differences along coordinates."""
        return PACE, DUAL_SHARE / PACE, 1.0 + self.relative_variance(n)

    def init(
        self, x0: Array, oracle: ProblemOracle, streams: Streams, value: Evaluation | None = None
    ) -> ExtraGradientState:
        """Return the state at x0 (R, n) with y = 0; one call, unless its ``value`` under this sample is given."""
        y, noisy = np.zeros((len(x0), oracle.m)), int(oracle.contract == "independent")
        value = oracle(x0) if value is None else value
        return ExtraGradientState(
            x0, y, value, np.zeros_like(x0), 0, x0, noisy, begin(value, self.restoration, oracle.contract)
        )

    def field(
        self,
        x: Array,
        y: Array,
        value: Evaluation,
        radius: float,
        oracle: ProblemOracle,
        streams: Streams,
        restoration: Restoration | None = None,
    ) -> Field:
        """Estimate the field at (x, y), where ``value`` is the oracle's value at x.

        Replicas that restore feasibility have weights of the violation for y, and no objective.
        """
        raise NotImplementedError(f"{type(self).__name__} must define field(...).")

    def step(
        self, state: ExtraGradientState, oracle: ProblemOracle, streams: Streams
    ) -> tuple[ExtraGradientState, Info]:
        """Take two steps: extrapolate, then move from the base point along the field at the extrapolated one."""
        x, y, value, average, k, recent, noisy, first = state
        eta = diminishing(self.primal_step, k, self.schedule)
        eta_y = diminishing(self.dual_step, k, self.schedule)
        radius = self.estimator.smoothing_radius
        if not noisy:
            radius = radius_at(k, radius, self.radius_scale, self.radius_power)
        domain, cap = oracle.domain, self.dual_cap
        field = self.field(x, y, value, radius, oracle, streams, first)
        info = Info(field.variance, x, known_duals(first, y), radius)
        start = x, value
        x_half = moved(first, x, following(eta, self.step_reach, y), field.x, value, domain)
        y_half = duals_after(first, y, np.minimum(np.maximum(y + eta_y * field.y, 0.0), cap))
        half = oracle(x_half)
        field = self.field(x_half, y_half, half, radius, oracle, streams, first)
        base = x if first is None else np.where(first.mask[:, None], x_half, x)
        x = moved(first, base, following(eta, self.step_reach, y_half), field.x, half, domain)
        y = duals_after(first, y, np.minimum(np.maximum(y + eta_y * field.y, 0.0), cap))
        oracle.resample()
        x, value, first = settled(first, start, (x, oracle(x)))
        average = average + (x_half - average) / (k + 1.0)
        recent = recent + (x - recent) * (_FORGETTING + 1.0) / (k + 1.0 + _FORGETTING)
        return ExtraGradientState(x, y, value, average, k + 1, recent, noisy, first), info

    def output(self, state: ExtraGradientState) -> Array:
        """Return the last iterate or an average (R, n), as ``report`` says."""
        if self.report == "average" and state.iteration:
            return state.average
        return state.recent if self.report == "recent" or (self.report == "auto" and state.noisy) else state.x
