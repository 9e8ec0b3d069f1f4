"""The extra-gradient step that ZOEG, ZOCEG and ZOBCEG share; they differ in how they estimate the field."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation
from zoviz.oracle import ProblemOracle
from zoviz.problems.base import Problem
from zoviz.solvers.published_form import LAST_ITERATE, SAFEGUARDS, Departure
from zoviz.solvers.saddle.method import SaddleMethod, start_duals
from zoviz.solvers.saddle.safeguards import Safeguards, SafeguardState, shortened_for_multipliers
from zoviz.solvers.step_limits import extragradient_end
from zoviz.solvers.step_rules import (
    COARSE_RADIUS,
    DUAL_SHARE,
    FINE_RADIUS,
    balanced_step,
    radius_at,
    radius_of,
)
from zoviz.solvers.theory import Info

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

    ``recent`` weighs the iterates by about the cube of their number; ``noisy`` is 1 under independent noise. ``share``
    (R,) is the multiple of the primal step that Khobotov's test allows, None where there is no test.
    """

    x: Array
    y: Array
    value: Evaluation
    average: Array
    iteration: int
    recent: Array
    noisy: int
    safeguards: SafeguardState = SafeguardState()
    share: Array | None = None


class Point(NamedTuple):
    """x (R, n) and y (R, m), with the oracle's value at x."""

    x: Array
    y: Array
    value: Evaluation


class Field(NamedTuple):
    """The estimates of grad_x phi (R, n) and grad_y phi (R, m), and the measured variance (R,)."""

    x: Array
    y: Array
    variance: Array


_Half = tuple[Array, Array, Field]
"""x, y, and the field there."""


class ExtraGradient(SaddleMethod):
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

    Notes
    -----
    Ours by default, and not in ``published()``: a step of its own for y, restoration of feasibility first, penalties
    where multipliers alone do not do, and the test above.

    References
    ----------
    Paper zoeg, Algorithms 1-3; the average is that of z+ (errata 38), the schedules are the paper's with
    k + 1 for k (errata 41). Shamir and Zhang (2013), polynomial-decay averaging, for the recent average.
    Khobotov (1987), Modification of the extra-gradient method; Marcotte (1991) for the cut.
    """

    __abstract = True

    departures: ClassVar[tuple[Departure, ...]] = (
        *SAFEGUARDS,
        Departure("contraction", 0.0, "Khobotov's test, which shortens steps that are too long"),
        LAST_ITERATE,
    )
    printed: ClassVar[dict[str, Any]] = {"estimator.smoothing_radius": 1e-3, "radius_scale": 5.0, "radius_power": 1.1}

    live: ClassVar[tuple[str, ...]] = (
        "primal_step",
        "dual_step",
        "schedule",
        "step_power",
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

    radius_scale = Scale(
        5.0,
        softbounds=(1e-3, 1e3),
        label="Radius scale a",
        doc="Scale a of the radius min{a / (k + 1)^b, smoothing radius}.",
    )
    radius_power = param.Number(
        default=1.1,
        bounds=(0, 4),
        label="Radius power b",
        doc="Scale a of the radius min{a / (k + 1)^b, smoothing radius}.",
    )
    contraction = param.Number(
        default=None,
        allow_None=True,
        bounds=(0, 1),
        label="Khobotov's test ν",
        doc="Where η ‖F(z⁺) - F(z)‖ > ν ‖z⁺ - z‖ the step is taken back and shortened. 0: never, as published. "
        "Auto: decided by the rule when it chooses the step.",
    )
    dual_cap = Scale(None, softbounds=(1e-1, 1e4), label="Dual cap y_max", doc="Dual variables stay in [0, y_max].")
    report: param.Selector[str] = param.Selector(
        default="auto",
        objects=["auto", "last", "average", "recent"],
        label="Answer",
        doc="last: the last iterate. average: that of the half-step points, which the theory speaks about. recent: an "
        "average of the later iterates. auto: recent under independent noise, else last.",
    )

    @classmethod
    def published(cls, theorem: str | None = None, **parameters: Any) -> Self:
        """Return the method as printed, with one step for x and y where that of x or a theorem is given.

        The smoothing radii are those of the paper's §5.1, which takes the best of several steps: these are left open.
        """
        step = parameters.get("primal_step")
        return super().published(theorem, **({} if step is None else {"dual_step": step}) | parameters)

    def differences_from_paper(self, resolved: Mapping[str, Any] = MappingProxyType({})) -> tuple[str, ...]:
        apart = self.dual_step is None or self.dual_step != self.primal_step
        return super().differences_from_paper(resolved) + (("a step of its own for y",) if apart else ())

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
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
        return {
            **directions,
            **self.safeguard_rule(constants, curvature),
            **self.test_of(),
            "primal_step": pace / (curvature * inflation),
            "dual_step": balanced_step(dual_pace, curvature, inflation, constants),
            "dual_cap": constants.dual_cap,
            "estimator.smoothing_radius": radius,
        }

    def directions(self, problem: Problem, constants: Constants) -> dict[str, str]:
        """Return the rule's choice of random directions or coordinates: nothing where there is none."""
        return {}

    def pace(self, n: int, m: int, directions: dict[str, str]) -> tuple[float, float, float]:
        """Return factors s of the primal and t of the dual step, and 1 + v; v = 0 for differences along coordinates."""
        return PACE, DUAL_SHARE / PACE, 1.0 + self.variance_along(directions, n)

    def test_of(self) -> dict[str, float]:
        """Return the rule's nu of Khobotov's test; nothing where the primal step is given, or nu."""
        if self.primal_step is not None or self.contraction is not None:
            return {}
        return {"contraction": _CONTRACTION}

    def estimate_variance(self, n: int, m: int) -> float:
        """Return the relative variance of the field with the present estimator; 0 for differences along coordinates."""
        return 0.0

    def judges_steps(self, n: int, contract: str = "deterministic") -> bool:
        """Return whether Khobotov's test takes long steps back."""
        return bool(self.contraction) and self.testable and contract == "deterministic"

    def stability(self, constants: Constants, n: int, m: int) -> dict[str, Any]:
        """Return where two steps along the field cease to be stable."""
        return {"end": extragradient_end(self.estimate_variance(n, m))}

    def init(
        self, x0: Array, oracle: ProblemOracle, streams: Streams, value: Evaluation | None = None
    ) -> ExtraGradientState:
        """Return the state at x0 (R, n) with y = 0; one call, unless its ``value`` under this sample is given."""
        value, y, noisy = oracle(x0) if value is None else value, start_duals(x0, oracle), oracle.contract
        share = np.ones(len(x0)) if self.judges_steps(oracle.n, noisy) else None
        safeguards = self.first_safeguards(value, oracle, streams)
        noise = int(noisy == "independent")
        return ExtraGradientState(x0, y, value, np.zeros_like(x0), 0, x0, noise, safeguards, share)

    def field(self, at: Point, radius: float, safe: Safeguards, oracle: ProblemOracle, streams: Streams) -> Field:
        """Estimate the field at x (R, n), y (R, m), given the value at x, of the scalar that ``safe`` has."""
        raise NotImplementedError(f"{type(self).__name__} must define field(...).")

    def step(
        self, state: ExtraGradientState, oracle: ProblemOracle, streams: Streams
    ) -> tuple[ExtraGradientState, Info]:
        """Take two steps: extrapolate, then move from the base point along the field at the extrapolated one."""
        x, y, value, average, k, recent, noisy, _, share = state
        safe = self.guarded(state, oracle)
        longest, dual = self.steps_at(k)
        eta = safe.scaled_by_share(longest if share is None else longest * share[:, None])
        eta_y, radius = safe.dual_step(dual, _DUAL_PART / self.pass_length(oracle.n)), self.radius(k, bool(noisy))

        field = self.field(Point(x, y, value), radius, safe, oracle, streams)  # (7) of the paper
        info, step = safe.info(field.variance, radius), shortened_for_multipliers(eta, self.step_reach, y)
        x_half = safe.projected_step(x, step, field.x)  # (9)
        y_half = safe.bounded(y, y + eta_y * field.y)
        half = oracle(x_half)

        ahead = self.field(Point(x_half, y_half, half), radius, safe, oracle, streams)  # (8)
        base, next_step = safe.where_restoring(x_half, x), shortened_for_multipliers(eta, self.step_reach, y_half)
        x_next = safe.projected_step(base, next_step, ahead.x, half)  # (10)
        y_next = safe.bounded(y, y + eta_y * ahead.y)

        oracle.resample()
        if share is not None:
            ratio = self._ratio((x, y, field), (x_half, y_half, ahead), step, eta_y)
            share, refused = self._tested(share, ratio, safe)
            x_next, y_next = np.where(refused, x, x_next), np.where(refused, y, y_next)
        x_next, value_next = safe.keep_or_take_back(x_next, oracle(x_next))
        average = average + (x_half - average) / (k + 1.0)
        recent = recent + (x_next - recent) * (_FORGETTING + 1.0) / (k + 1.0 + _FORGETTING)
        return ExtraGradientState(x_next, y_next, value_next, average, k + 1, recent, noisy, safe.state, share), info

    def radius(self, k: int, noisy: bool) -> float:
        """Return the smoothing radius of iteration k: constant under independent noise."""
        radius: float = self.estimator.smoothing_radius
        return radius if noisy else radius_at(k, radius, self.radius_scale, self.radius_power)

    def _tested(self, share: Array, ratio: Array, safe: Safeguards) -> tuple[Array, np.ndarray]:
        """Return the shares (R,) of the steps after a half step of a ratio (R,), and which it refuses, (R, 1)."""
        bound = self.contraction or 0.0
        refused = ratio > bound if safe.restoring is None else (ratio > bound) & ~safe.restoring.mask
        shorter = share * np.minimum(np.maximum(_MARGIN * bound / np.maximum(ratio, bound), _LEAST_CUT), _MOST_CUT)
        longer = np.minimum(np.where(ratio < _MARGIN * bound, _GROWTH * share, share), self.longest)
        return np.where(refused, shorter, longer), refused[:, None]

    def _ratio(self, before: _Half, after: _Half, eta: Array | float, eta_y: Array | float) -> Array:
        """Return how much the field changes over a half step, (R,), in units of the largest stable change.

        sqrt(eta ||dF_x||^2 + eta_y ||dF_y||^2) / sqrt(||dx||^2 / eta + ||dy||^2 / eta_y), so eta L for equal steps; 0
        where nothing moved.
        """
        (x, y, first), (x_half, y_half, second) = before, after
        change_x, change_y = self.change(first.x, second.x), self.change(first.y, second.y)
        top = (eta * np.square(change_x)).sum(axis=1) + (eta_y * np.square(change_y)).sum(axis=1)
        bottom = (np.square(x_half - x) / eta).sum(axis=1) + (np.square(y_half - y) / eta_y).sum(axis=1)
        return np.sqrt(np.divide(top, bottom, out=np.zeros_like(top), where=bottom > 0))

    def change(self, first: Array, second: Array) -> Array:
        """Return the change of a part of the field, (R, n) or (R, m), as far as both fields know it."""
        return second - first

    def output(self, state: ExtraGradientState) -> Array:
        """Return the last iterate or an average (R, n), as ``report`` says."""
        if self.report == "average" and state.iteration:
            return state.average
        return state.recent if self.report == "recent" or (self.report == "auto" and state.noisy) else state.x
