"""The extra-gradient step that ZOEG, ZOCEG and ZOBCEG share; they differ in how they estimate the field."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, Iterate
from zoviz.estimators import GradientEstimator
from zoviz.estimators.base import Phi
from zoviz.estimators.scalars import objective
from zoviz.oracle import ProblemOracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Info, Solver
from zoviz.solvers.saddle.augmentation import (
    Augmentation,
    augmentation_of,
    augmentation_parameter,
    first_augmentation,
    lengthen,
    watch_slopes,
    weights_in,
)
from zoviz.solvers.saddle.restoration import (
    Restoration,
    begin,
    duals_after,
    first_place,
    known_duals,
    moved,
    patience_of,
    restoration_parameter,
    scalar_of,
    settled,
)
from zoviz.solvers.step_limits import StepLimits, extragradient_end, primal_limits
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
    variance_of,
)

_FORGETTING = 3.0
"""Exponent nu of the recent average: the weight of iterate j grows as j^nu. Ours: the last third has 80 % of it."""


_MULTIPLIER = 0.5
"""Size of the multipliers that L_h is weighed with where constants are known (chosen by us)."""
_CONTRACTION = 0.9
"""nu of Khobotov's test: below 1, at which the second step's field is no longer that of a contraction."""
_MARGIN, _LEAST_CUT, _MOST_CUT, _GROWTH = 0.9, 0.1, 0.5, 1.1
"""A refused step is cut to 0.9 of what its ratio would have borne, by 2 to 10 times; one that is well below grows by a
tenth (chosen by us)."""
_DUAL_PART = 0.5
"""The share of a penalty that a dual step takes: below 1, at which the augmented Lagrangian's slope in an inactive y
changes by as much as a step bears. Divided by the length of a pass: x must have moved before y moves that far again."""
PACE = 0.7
"""The primal step times L: below 1, so that the second step's field is that of a contraction."""


class ExtraGradientState(NamedTuple):
    """Iterate (x, y), the oracle's value at x, averages of the half-step points and of x, and the iteration.

    ``recent`` weighs the iterates by about the cube of their number; ``noisy`` is 1 under independent noise.
    ``restoration`` says which replicas still seek a feasible point; ``share`` (R,) is the multiple of the
    primal step that Khobotov's test bears. ``augmentation`` knows penalties.
    """

    x: Array
    y: Array
    value: Evaluation
    average: Array
    iteration: int
    recent: Array
    noisy: int
    restoration: Restoration | None = None
    share: Array | None = None
    augmentation: Augmentation | None = None


class Field(NamedTuple):
    """The estimates of grad_x phi (R, n) and grad_y phi (R, m), the measured variance (R,), and what was estimated."""

    x: Array
    y: Array
    variance: Array
    phi: Phi = objective


_Point = tuple[Array, Array, Evaluation, Field]
"""x, y, the value at x, and the field there."""


def _adapted(share: Array, ratio: Array, refused: np.ndarray, limits: tuple[float, float]) -> Array:
    """Return the shares (R,) of the steps after a half step of a ratio: shorter where refused, else slowly longer."""
    bound, longest = limits
    shorter = share * np.minimum(np.maximum(_MARGIN * bound / np.maximum(ratio, bound), _LEAST_CUT), _MOST_CUT)
    return np.where(refused, shorter, np.minimum(np.where(ratio < _MARGIN * bound, _GROWTH * share, share), longest))


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

    Where values repeat and the rule chooses the steps, ZOCEG and ZOBCEG test both fields, which are paid for: with

    .. math:: \eta\,\|\Delta F_x\|^2 + \eta_y\,\|\Delta F_y\|^2 > \nu^2
              \big(\|\Delta x\|^2 / \eta + \|\Delta y\|^2 / \eta_y\big)

    between z and z+ the replica stays at z and eta is cut; else eta grows, to ten times the rule's at most (ZOCEG), or
    back to it (ZOBCEG, whose blocks share few entries). The test is Khobotov's for one step; that eta alone follows it
    is ours, as are the numbers: multipliers must not crawl where the objective is steep.

    References
    ----------
    Paper zoeg, Algorithms 1-3; the average is that of z+ (errata 38), the schedules are the paper's with
    k + 1 for k (errata 41). Shamir and Zhang (2013), polynomial-decay averaging, for the recent average.
    Khobotov (1987), Modification of the extra-gradient method; Marcotte (1991) for the cut.
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
    testable: ClassVar[bool] = False
    """Whether both fields of an iteration are exact, so that Khobotov's test may compare them."""
    longest: ClassVar[float] = 1.0
    """How many times the primal step may become, where a test finds that it is short."""

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
    augmentation = augmentation_parameter()
    contraction = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, 1),
        label="Khobotov's test ν",
        doc="Where η ‖F(z⁺) - F(z)‖ > ν ‖z⁺ - z‖ the step is taken back and shortened. 0: never, as published. Auto: "
        "by the rule, where that chooses the step.",
    )
    dual_cap = Scale(None, softbounds=(1e-1, 1e4), label="Dual cap y_max", doc="Dual variables stay in [0, y_max].")
    report: param.Selector[str] = param.Selector(
        default="auto",
        objects=["auto", "last", "average", "recent"],
        label="Answer",
        doc="last: the last iterate. average: that of the half-step points, which the theory speaks about. recent: an "
        "average of the later iterates. auto: recent under independent noise, else last.",
    )
    estimator = Part(GradientEstimator, label="Estimator", doc="Gradient estimator.")

    def suggest(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return steps from curvatures and the constraints' slope G_0 at the start.

        With L = L_f + L_h / 2 (G_f / G_0 for 1/2 where constants are measured and that is more) and v the relative
        variance of the estimate: eta = s / [L (1 + v)] and eta_y = t L / [G_0^2 (1 + v)], where (s, t) and v are the
        algorithm's own (``pace``), both over ``noise_factor`` under independent noise; y_max = 100 max(1, G_f / G_h);
        r = 1e-3 as in the paper (where a load varies by 25 kW), 1e-5 where constants are measured, larger under noise
        (``radius_of``).

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
        radius = radius_of(self, problem, constants, least)
        directions = self.directions(problem, constants)
        pace, dual_pace, inflation = self.pace(n, problem.m, directions)
        inflation *= self.noise_factor(constants, n, radius)
        return (
            directions
            | reach_of(self, curvature, constants)
            | patience_of(self)
            | self.test_of()
            | augmentation_of(self, constants)
            | {
                "primal_step": pace / (curvature * inflation),
                "dual_step": balanced_step(dual_pace, curvature, inflation, constants),
                "dual_cap": constants.dual_cap,
                "estimator.smoothing_radius": radius,
            }
        )

    def directions(self, problem: Problem, constants: Constants) -> dict[str, str]:
        """Return the rule's choice of random directions or coordinates: nothing where there is none."""
        return {}

    def pace(self, n: int, m: int, directions: dict[str, str]) -> tuple[float, float, float]:
        """Return factors s of the primal and t of the dual step, and 1 + v; v = 0 for differences along coordinates."""
        return PACE, DUAL_SHARE / PACE, 1.0 + variance_of(self, directions, n)

    def test_of(self) -> dict[str, float]:
        """Return the rule's nu of Khobotov's test; nothing where the primal step is given, or nu."""
        if self.primal_step is not None or self.contraction is not None:
            return {}
        return {"contraction": _CONTRACTION}

    def pass_length(self, n: int) -> float:
        """Return the number of iterations, in the mean, in which each of n variables is moved once."""
        return 1.0

    def field_variance(self, n: int, m: int) -> float:
        """Return the relative variance of the field with the present estimator; 0 for differences along coordinates."""
        return 0.0

    def limits(self, constants: Constants, iterate: Iterate) -> dict[str, StepLimits]:
        """Return how far the primal step may be moved; empty where steps diminish, or a test takes long ones back."""
        y = iterate.dual
        if self.schedule != "constant" or y is None or (self.testable and self.contraction):
            return {}
        end = extragradient_end(self.field_variance(iterate.x.shape[1], y.shape[1]))
        return {"primal_step": primal_limits(constants, y, end=end, reach=self.step_reach)}

    def init(
        self, x0: Array, oracle: ProblemOracle, streams: Streams, value: Evaluation | None = None
    ) -> ExtraGradientState:
        """Return the state at x0 (R, n) with y = 0; one call, unless its ``value`` under this sample is given."""
        y, noisy = np.zeros((len(x0), oracle.m)), int(oracle.contract == "independent")
        value = oracle(x0) if value is None else value
        first = begin(value, self.restoration, oracle.contract, first_place(self, oracle, streams))
        tested = bool(self.contraction) and self.testable and oracle.contract == "deterministic"
        share = np.ones(len(x0)) if tested else None
        penalties = first_augmentation(self, value, tested, self.field_variance(x0.shape[1], oracle.m))
        return ExtraGradientState(x0, y, value, np.zeros_like(x0), 0, x0, noisy, first, share, penalties)

    def field(
        self,
        x: Array,
        y: Array,
        value: Evaluation,
        radius: float,
        oracle: ProblemOracle,
        streams: Streams,
        restoration: Restoration | None = None,
        penalties: Augmentation | None = None,
    ) -> Field:
        """Estimate the field at (x, y), where ``value`` is the oracle's value at x.

        Replicas that restore feasibility have weights of the violation for y, and no objective; where there are
        ``penalties`` the field is that of the augmented Lagrangian.
        """
        raise NotImplementedError(f"{type(self).__name__} must define field(...).")

    def step(
        self, state: ExtraGradientState, oracle: ProblemOracle, streams: Streams
    ) -> tuple[ExtraGradientState, Info]:
        """Take two steps: extrapolate, then move from the base point along the field at the extrapolated one."""
        x, y, value, average, k, recent, noisy, first, share, penalties = state
        eta, eta_y = self._steps(k, share)
        eta = lengthen(penalties, eta)
        radius = self.estimator.smoothing_radius
        if not noisy:
            radius = radius_at(k, radius, self.radius_scale, self.radius_power)
        domain, cap = oracle.domain, self.dual_cap
        length = self.pass_length(x.shape[1])
        eta_y = eta_y if penalties is None else penalties.dual_step(eta_y, _DUAL_PART / length)
        field = self.field(x, y, value, radius, oracle, streams, first, penalties)
        info = Info(field.variance, x, known_duals(first, weights_in(penalties, y, value)), radius)
        before, step = (x, y, value, field), following(eta, self.step_reach, y)
        x_half = moved(first, x, step, field.x, value, domain)
        y_half = duals_after(first, y, np.minimum(np.maximum(y + eta_y * field.y, 0.0), cap))
        half = oracle(x_half)
        field = self.field(x_half, y_half, half, radius, oracle, streams, first, penalties)
        base = x if first is None else np.where(first.mask[:, None], x_half, x)
        x = moved(first, base, following(eta, self.step_reach, y_half), field.x, half, domain)
        y = duals_after(first, y, np.minimum(np.maximum(y + eta_y * field.y, 0.0), cap))
        oracle.resample()
        if share is not None:
            bound = self.contraction or 0.0
            ratio = self._ratio(before, (x_half, y_half, half, field), step, eta_y)
            refused = ratio > bound if first is None else (ratio > bound) & ~first.mask
            x, y = np.where(refused[:, None], before[0], x), np.where(refused[:, None], before[1], y)
            share = _adapted(share, ratio, refused, (bound, self.longest))
        x, value, after = settled(first, (before[0], before[2]), (x, oracle(x)))
        penalties = None if penalties is None else penalties.after(first, value, before[3].phi, length)
        average = average + (x_half - average) / (k + 1.0)
        recent = recent + (x - recent) * (_FORGETTING + 1.0) / (k + 1.0 + _FORGETTING)
        return ExtraGradientState(x, y, value, average, k + 1, recent, noisy, after, share, penalties), info

    def _steps(self, k: int, share: Array | None) -> tuple[float | Array, float | Array]:
        """Return the primal and the dual step of an iteration, numbers, or (R, 1) where a test adapts it."""
        eta, eta_y = (diminishing(step, k, self.schedule) for step in (self.primal_step, self.dual_step))
        return (eta, eta_y) if share is None else (eta * share[:, None], eta_y)

    def _ratio(self, before: _Point, after: _Point, eta: Array | float, eta_y: Array | float) -> Array:
        """Return how much the field changes over a half step, (R,), in units of what the step bears.

        sqrt(eta ||dF_x||^2 + eta_y ||dF_y||^2) / sqrt(||dx||^2 / eta + ||dy||^2 / eta_y), so eta L for equal steps; 0
        where nothing moved.
        """
        (x, y, _, first), (x_half, y_half, _, second) = before, after
        change_x, change_y = self.change(first.x, second.x), self.change(first.y, second.y)
        top = (eta * np.square(change_x)).sum(axis=1) + (eta_y * np.square(change_y)).sum(axis=1)
        bottom = (np.square(x_half - x) / eta).sum(axis=1) + (np.square(y_half - y) / eta_y).sum(axis=1)
        return np.sqrt(np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0))

    def weighed(
        self,
        point: tuple[Array, Array, Evaluation],
        radius: float,
        restoration: Restoration | None,
        penalties: Augmentation | None,
    ) -> tuple[Phi, Array]:
        """Return the scalar whose gradient is the field's part in x at a point x, y, value, and its part in y."""
        x, y, value = point
        phi = scalar_of(restoration, weights_in(penalties, y, value), value)
        slope = value.h if penalties is None else penalties.slope(y, value.h)
        return watch_slopes(self, penalties, phi, (x, value), radius), slope

    def change(self, first: Array, second: Array) -> Array:
        """Return the change of a part of the field, (R, n) or (R, m), as far as both fields know it."""
        return second - first

    def output(self, state: ExtraGradientState) -> Array:
        """Return the last iterate or an average (R, n), as ``report`` says."""
        if self.report == "average" and state.iteration:
            return state.average
        return state.recent if self.report == "recent" or (self.report == "auto" and state.noisy) else state.x
