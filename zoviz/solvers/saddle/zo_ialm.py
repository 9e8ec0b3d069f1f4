"""ZO-iALM: inexact augmented Lagrangian, proximal point and accelerated coordinate loops, one step at a time."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, Iterate
from zoviz.estimators import Block, Coordinate
from zoviz.estimators.scalars import AugmentedLagrangian
from zoviz.oracle import Oracle, Purpose
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.step_rules import NEGLIGIBLE, balanced_step
from zoviz.solvers.theory import Info

_WEIGHTS = {1: (0.5,), 2: (8.0 / 12.0, -1.0 / 12.0), 3: (45.0 / 60.0, -9.0 / 60.0, 1.0 / 60.0)}
"""Central differences of order 2, 4 and 6: weights of phi(v + j h e) - phi(v - j h e), j = 1.."""
_ROUND_OFF = 1e-12
"""Share of |phi| by which a step may miss the decrease that it promised."""
_LARGEST_PENALTY = 1e12
"""Beyond it h counts for nothing but its round-off."""
_PENALTY_SHARE = 10.0
"""The first penalty in units of L_f / G_0^2 (chosen by us): 1 is meant for a scaled problem."""
_DUAL_LEAD = 100.0
"""The largest dual step over the first penalty (chosen by us, on the engineering designs): steps stay below the present
penalty, and their sum below 2 w_0 ||c_1||: at w_0 = beta_0 multipliers stay small, and all is left to penalties."""
_TOLERANCE_SHARE = 1e-5
"""The tolerance in units of L_f (chosen by us, on the engineering designs): residuals below it let the penalty be, and
1e-3, the authors' for a scaled problem, is more than the violation of a whole start on the welded beam."""
_TINY = 1e-300
"""A guard against division by zero where there is no violation."""


class IALMState(NamedTuple):
    """Iterate x, duals y, the oracle's value at x, and where each replica is in the three loops.

    Attributes
    ----------
    z, centre : Array, shape (R, n)
        Second sequence of the coordinate method; centre of the proximal term.
    penalty, curvature, weight, stage, tests, first : Array, shape (R,)
        beta_k, L_phi, rho; outer stages done, tests of this stage, the first ||c|| > 0 at a stage's end.
    steps_to_test : int
        Coordinate steps until the next test, the same for all replicas.
    """

    x: Array
    y: Array
    value: Evaluation
    z: Array
    centre: Array
    penalty: Array
    curvature: Array
    weight: Array
    stage: Array
    tests: Array
    first: Array
    steps_to_test: int


class ZOiALM(Solver):
    r"""Our implementation of ZO-iALM: augmented Lagrangian stages, solved by proximal points, solved by ZO-APCU.

    Stage k minimises phi = L_beta(., y) of ``ZOALM`` over the box by proximal points

    .. math:: u^{t+1} \approx \arg\min_{x \in X} \varphi(x) + \rho \|x - u^t\|^2

    to a stationarity of eps / 4, until 2 rho ||u^{t+1} - u^t|| <= eps / 2; then y moves by w c, c = max{h, -y / beta},
    w = w_0 min{1, gamma_k / ||c||} <= beta, gamma_k = (log 2)^2 ||c_1|| / [(k + 1) log^2(k + 2)], and beta is
    multiplied by sigma unless ||c|| <= eps. A proximal problem is solved by accelerated coordinate steps with
    alpha = sqrt(mu / L) / n, mu = rho, L = L_phi + 2 rho: with i uniform,

    .. math::
        v &= \frac{x + \alpha z}{1 + \alpha}, \qquad
        z_i^+ = \Pi_{X_i}\Big((1 - \alpha) z_i + \alpha v_i - \frac{\hat g_i(v)}{n \alpha L}\Big), \quad
        z_j^+ = (1 - \alpha) z_j + \alpha v_j \\
        x^+ &= v + n \alpha (z^+ - z) + n \alpha^2 (z - v)

    One ``step`` is one coordinate step (2 p probes at v and a call at x^+) or, after ceil(n sqrt(L / mu) log(1 / tol))
    of them, one stationarity test (2n calls with central differences).

    Notes
    -----
    Outer loops after the first-order parent's code, coordinate steps from memory. Replicas are in different stages,
    but tests come at the same steps for all, so that all are charged alike: the number of steps is that of L / mu =
    1 / proximal_share + 2, and a replica that fails its test goes on with the same problem. The call at x^+ is what
    the doubling of L needs: where phi(x^+) exceeds what the quadratic model allows, x stays and L_phi doubles; a test
    far from stationary halves it, down to L_0 / n. Under independent noise, or with ``backtrack`` off, L_phi = L_0 +
    L_h ||y|| + beta B (L_h + B). A stage ends after ``patience`` tests whether it passed or not, and a replica within
    eps goes on with its last penalty: both ours, since a run has no end of its own.

    References
    ----------
    Li, Chen, Liu, Lu and Xu (2022), AAAI; for the coordinate steps Lin, Lu and Xiao (2015), SIAM J. Optim. 25.
    """

    title = "ZO-iALM"
    families = (Coordinate,)
    live = ("tolerance", "dual_step", "penalty_factor", "patience", "estimator.smoothing_radius")

    tolerance = Scale(None, softbounds=(1e-6, 1e1), label="Tolerance ε", doc="Stationarity and residual to reach.")
    dual_step = Scale(None, softbounds=(1e-6, 1e2), label="Dual step w₀", doc="Largest step of the dual variables.")
    penalty = Scale(None, softbounds=(1e-4, 1e2), label="First penalty β₀", doc="Penalty of the first stage.")
    penalty_factor = Scale(
        3.0, bounds=(1, 1e3), softbounds=(1, 20), label="Penalty factor σ", doc="Growth of the penalty β."
    )
    patience = param.Integer(default=3, bounds=(1, 10_000), label="Patience", doc="Most tests that a stage may take.")
    dual_cap = Scale(None, softbounds=(1e-1, 1e4), label="Dual cap B", doc="Dual variables stay in [0, B].")
    proximal_share = Scale(
        0.01, bounds=(1e-6, 1), label="Proximal share ρ/L", doc="Weight of the proximal term, as a share of L."
    )
    inner_accuracy = Scale(0.3, bounds=(1e-12, 0.5), label="Inner accuracy tol", doc="Accuracy of the inner steps.")
    points: param.Selector[int] = param.Selector(
        objects=[1, 2, 3], label="Pairs of probes p", doc="Pairs of points in one difference."
    )
    backtrack = param.Boolean(default=True, label="Find L by doubling", doc="No: L follows from the three constants.")
    smoothness = Scale(None, label="Curvature L₀", doc="Lipschitz constant of the objective's gradient.")
    constraint_smoothness = Scale(None, label="Curvature L_h", doc="Lipschitz constant of the constraints' gradients.")
    constraint_slope = Scale(None, label="Slope B", doc="Bound on the constraints' gradients and residuals.")
    estimator = Part(
        Coordinate,
        default=Coordinate(smoothing_radius=None, differences="central"),
        label="Estimator",
        doc="Gradient estimator of the steps and of the tests.",
    )

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return a sentence for domains that are no (products of) boxes, and for estimators that skip coordinates."""
        if isinstance(self.estimator, Block):
            return "ZO-iALM tests stationarity along every coordinate, and Block probes a few: choose Coordinate."
        if not problem.domain.separable:
            domain = type(problem.domain).__name__
            return f"ZO-iALM moves single coordinates and needs a box as domain, not a {domain}: choose ZO-ALM."
        return None

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return penalty, tolerance and curvatures from the problem's magnitudes.

        beta_0 = 10 L_f / G_0^2 with G_0 the constraints' slope at the start; w_0 = 100 beta_0; eps = 1e-5 L_f;
        L_0 = L_f, L_h and B = G_0; B_y = 100 max(1, G_f / G_h) for the dual cap; the differences' radius is the
        (2p + 1)-th root of the machine's precision, (3 sigma / L_f)^(1/3) under independent noise of standard
        deviation sigma.

        Notes
        -----
        Ours, but for the radius (Moré and Wild): beta_0 = w_0 = 1 and eps = 1e-3 are meant for a scaled problem. So are
        the defaults of the proximal share, 0.01, and of the inner accuracy, 0.3: a proximal point goes as far as 50
        gradient steps, and the next one corrects what it left. With 0.1 and 0.01 a sixth of the gap was left on the
        pressure vessel after 6000 steps, and a thirtieth with these (on the starts that they were chosen on).
        """
        beta = self.penalty or balanced_step(_PENALTY_SHARE, constants.curvature, 1.0, constants)
        radius = np.finfo(float).eps ** (1.0 / (2 * self.points + 1))
        return {
            "tolerance": _TOLERANCE_SHARE * constants.curvature,
            "dual_step": _DUAL_LEAD * beta if constants.constraint_slope else beta,
            "penalty": beta,
            "dual_cap": constants.dual_cap,
            "smoothness": constants.curvature,
            "constraint_smoothness": max(constants.constraint_curvature, NEGLIGIBLE),
            "constraint_slope": constants.start_slope if constants.constraint_slope else NEGLIGIBLE,
            "estimator.smoothing_radius": float(max(radius, (3.0 * constants.noise / constants.curvature) ** (1 / 3))),
        }

    def iterate(self, state: IALMState) -> Iterate:
        """Return the iterate, its multipliers and value, and the proximal centre."""
        return Iterate(state.x, dual=state.y, value=state.value, centre=state.centre)

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> IALMState:
        """Return the state at x0 (R, n) with y = 0; one call. An L that is to be found begins at its bound over n."""
        y, zero, beta = np.zeros((len(x0), oracle.m)), np.zeros(len(x0)), np.full(len(x0), self.penalty)
        bound = self._bound(y, beta) / (oracle.n if self._finds(oracle) else 1.0)
        rho, remaining = self.proximal_share * bound, self._inner_steps(oracle.n)
        return IALMState(x0, y, oracle(x0), x0, x0, beta, bound, rho, zero, zero, zero, remaining)

    def step(self, state: IALMState, oracle: Oracle, streams: Streams) -> tuple[IALMState, Info]:
        """Take one coordinate step, or one test."""
        oracle.resample()
        if state.steps_to_test:
            return self._coordinate(state, oracle, streams)
        return self._test(state, oracle, streams)

    def _coordinate(self, state: IALMState, oracle: Oracle, streams: Streams) -> tuple[IALMState, Info]:
        """Take ZO-APCU's step in every replica."""
        x, z, rho, n = state.x, state.z, state.weight, oracle.n
        phi, rows = AugmentedLagrangian(state.y, state.penalty), np.arange(len(x))
        i = streams.subset("coordinates", n, 1)[:, 0, 0]
        curvature = state.curvature + 2.0 * rho
        column = (alpha := np.sqrt(rho / curvature) / n)[:, None]
        v = (x + column * z) / (1.0 + column)
        slope, level, reach = self._difference(phi, v, i, oracle)
        gradient = slope + 2.0 * rho * (v - state.centre)[rows, i]
        z_next = (1.0 - column) * z + column * v
        z_next[rows, i] -= gradient / (n * alpha * curvature)
        z_next = oracle.domain.project(z_next)
        x_next = oracle.domain.project(v + n * column * (z_next - z) + n * column**2 * (z - v))
        value = oracle(x_next)
        info = self._info(state, v, np.full(len(x), np.nan if oracle.contract == "independent" else 0.0))
        bound = state.curvature
        if self._finds(oracle):
            d = (x_next - v)[rows, i]
            # The level is the mean of two values at a distance h, by L h^2 / 2 below phi(v) at most. What is seen of a
            # step shorter than h is that: without this room L would double up to infinity where phi is concave.
            square = np.square(d)
            spread = square + np.where(square < reach**2, reach**2, 0.0)
            room = slope * d + 0.5 * bound * spread + _ROUND_OFF * (1.0 + np.abs(level))
            worse = phi(value) - level > room
            bound, wide = np.where(worse, 2.0 * bound, bound), worse[:, None]
            x_next, z_next = np.where(wide, x, x_next), np.where(wide, z, z_next)
            value = state.value.where(worse, value)
        return state._replace(
            x=x_next, value=value, z=z_next, curvature=bound, steps_to_test=state.steps_to_test - 1
        ), info

    def _difference(
        self, phi: AugmentedLagrangian, v: Array, i: np.ndarray, oracle: Oracle
    ) -> tuple[Array, Array, Array]:
        """Return the derivative of phi along coordinate i at v, phi(v) from the nearest pair, and how far off; (R,)."""
        weights, rows = np.array(_WEIGHTS[self.points]), np.arange(len(v))
        h, at = np.full(len(v), self.estimator.smoothing_radius), v[rows, i]
        centre, reach = at, h
        if oracle.bounds is not None:  # pairs around a point so far inside that all of them fit in
            lower, upper = oracle.bounds.lower[i], oracle.bounds.upper[i]
            h = np.minimum(h, 0.5 * (upper - lower) / len(weights))
            width = h * len(weights)
            centre = np.minimum(np.maximum(at, lower + width), upper - width)
            reach = np.where(centre == at, h, width)
        offsets = h[:, None] * np.outer(np.arange(1.0, len(weights) + 1.0), (1.0, -1.0)).ravel()
        probes = np.repeat(v[:, None], offsets.shape[1], axis=1)
        probes[rows, :, i] = centre[:, None] + offsets
        values = phi(oracle(probes))
        slope = (values[:, ::2] - values[:, 1::2]) @ weights / np.where(h > 0.0, h, 1.0)
        # A failed probe takes its coordinate out of this step; the proximal term alone may still move it.
        slope = np.where(np.isfinite(slope), slope, 0.0)
        return slope, values[:, :2].mean(axis=1) + slope * (at - centre), reach

    def _test(self, state: IALMState, oracle: Oracle, streams: Streams) -> tuple[IALMState, Info]:
        """Measure stationarity; where it suffices, go on to the next proximal point or the next stage."""
        x, y, beta, rho, bound, eps = state.x, state.y, state.penalty, state.weight, state.curvature, self.tolerance
        with oracle.purpose(Purpose.VERIFICATION):
            estimate = self.estimator.estimate(AugmentedLagrangian(y, beta), x, oracle, streams)
        curvature, offset = (bound + 2.0 * rho)[:, None], x - state.centre
        gradient = estimate.gradient + 2.0 * rho[:, None] * offset
        residual = np.linalg.norm(curvature * (x - oracle.domain.project(x - gradient / curvature)), axis=-1)
        # Only where steps change phi by more than round-off does the doubling notice that L was halved too often.
        far = np.square(residual) > 1e4 * _ROUND_OFF * (1.0 + np.abs(state.value.f)) * curvature[:, 0]
        solved, tests = residual <= 0.25 * eps, state.tests + 1.0
        ends = (solved & (2.0 * rho * np.linalg.norm(offset, axis=-1) <= 0.5 * eps)) | (tests >= self.patience)
        solved |= ends
        stage = self._next_stage(state, ends)
        bound = bound if (finds := self._finds(oracle)) else self._bound(stage.y, stage.penalty)
        moved = stage._replace(
            centre=np.where(solved[:, None], x, state.centre),
            z=np.where(solved[:, None], x, state.z),
            weight=np.where(solved, self.proximal_share * bound, rho),
            curvature=np.where(far & finds, np.maximum(0.5 * bound, self.smoothness / oracle.n), bound),
            tests=np.where(ends, 0.0, tests),
            steps_to_test=self._inner_steps(oracle.n),
        )
        return moved, self._info(state, x, estimate.variance)

    def _next_stage(self, state: IALMState, ends: np.ndarray) -> IALMState:
        """Take the dual step and raise the penalty in the replicas whose stage ends."""
        y, beta, k = state.y, state.penalty, state.stage
        c = np.maximum(state.value.h, -y / beta[:, None])
        size = np.linalg.norm(c, axis=-1)
        first = np.where(ends & (state.first == 0.0), size, state.first)
        gamma = np.log(2.0) ** 2 * first / ((k + 1.0) * np.log(k + 2.0) ** 2)
        w = np.minimum(self.dual_step * np.minimum(1.0, gamma / np.maximum(size, _TINY)), beta)
        y_next = np.minimum(np.maximum(y + w[:, None] * c, 0.0), self.dual_cap)
        grown = np.minimum(beta * self.penalty_factor, np.maximum(beta, _LARGEST_PENALTY))
        return state._replace(
            y=np.where(ends[:, None], y_next, y),
            penalty=np.where(ends & (size > self.tolerance), grown, beta),
            stage=k + ends,
            first=first,
        )

    def _finds(self, oracle: Oracle) -> bool:
        return self.backtrack and oracle.contract != "independent"

    def _inner_steps(self, n: int) -> int:
        return int(np.ceil(n * np.sqrt(1.0 / self.proximal_share + 2.0) * np.log(1.0 / self.inner_accuracy)))

    def _bound(self, y: Array, beta: Array) -> Array:
        slope, smooth = self.constraint_slope, self.constraint_smoothness
        return self.smoothness + smooth * np.linalg.norm(y, axis=-1) + beta * slope * (smooth + slope)

    def _info(self, state: IALMState, point: Array, variance: Array) -> Info:
        weights = np.maximum(state.y + state.penalty[:, None] * state.value.h, 0.0)
        return Info(variance, point, weights, self.estimator.smoothing_radius)
