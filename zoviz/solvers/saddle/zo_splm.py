"""ZO-SPLM: the zeroth-order smoothed proximal Lagrangian method."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, PlainNumber, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, ExactValues, Iterate
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, OnePoint, ResidualFeedback, Sphere
from zoviz.estimators.base import Phi
from zoviz.oracle import DerivedOracle, Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.published_form import ALONG_COORDINATES, SAFEGUARDS, Departure
from zoviz.solvers.saddle.method import LIVE_ESTIMATOR, LIVE_STEPS, SaddleMethod, start_duals
from zoviz.solvers.saddle.safeguards import SafeguardState
from zoviz.solvers.step_rules import DUAL_SHARE, FINE_RADIUS, balanced_step, radius_of
from zoviz.solvers.theory import Info, Target

_PRIMAL_SHARE = 1.5
"""The primal step times L: below 2, from which on a quadratic diverges (chosen by us)."""
_MODERATE, _LARGEST, _BENT = 0.25, 2.0, 2.0
"""Size of the multipliers that weigh L_h: _MODERATE; in proportion _BENT (L_h / L_f - 1), at most _LARGEST,
where the constraint bends more than the objective (chosen by us, on small QCQPs that were thrown out else)."""
_MODULUS_SHARE = 0.25
"""Share of L_f that stands in for twice the weak convexity where that is unknown (chosen by us)."""
_TINY = 1e-300
"""A guard against division by zero where the objective is flat."""


class SPLMState(NamedTuple):
    """Iterate x, multipliers y, proximal centre z, the oracle's value at x, safeguards, and the iteration."""

    x: Array
    y: Array
    z: Array
    value: Evaluation
    safeguards: SafeguardState = SafeguardState()
    iteration: int = 0


class ZOSPLM(SaddleMethod):
    r"""Gradient descent on a proximal Lagrangian, dual ascent, and a slow proximal centre.

    .. math::
        x^{t+1} &= \Pi_X(x^t - c\,[\hat\nabla(f + \langle y^t, h\rangle)(x^t) + p(x^t - z^t)]) \\
        y^{t+1} &= \Pi_{[0,B]^m}(y^t + \alpha h(x^{t+1})) \\
        z^{t+1} &= z^t + \beta(x^{t+1} - z^t)

    for nonconvex f and convex h; k + 1 oracle calls per iteration, since the value at x^{t+1} that the dual step pays
    for is the base of the next estimate.

    Notes
    -----
    Ours by default, and not in ``published()``: feasibility is restored first (``restoration``), penalties act where
    multipliers alone do not do (``augmentation``), and where values repeat and no constants are known differences are
    taken along coordinates. The gradient of the quadratic is exact; ``estimate_proximal=True`` estimates it too, as the
    paper's (3) reads (errata 3). Where the rule chooses c, it is shortened for multipliers beyond ``step_reach``, with
    which the Lagrangian's curvature L_f + ||y|| L_h + p grows; 1e9 keeps it constant, as published.
    p must exceed the weak-convexity modulus of f (errata 2). ``published()`` has the radius and the batch of the
    paper's Fig. 1; it prints no steps, no p and no B.

    References
    ----------
    Paper splm, Algorithm 1.
    """

    title = "ZO-SPLM"
    source = "paper splm, Algorithm 1"
    departures = (
        *SAFEGUARDS,
        ALONG_COORDINATES,
        Departure("estimate_proximal", True, "the exact gradient of the proximal term"),
    )
    printed: ClassVar[dict[str, Any]] = {"estimator.smoothing_radius": 1e-5, "estimator.batch_size": 50}
    families = (Sphere, Gaussian, CentralSphere, Coordinate, OnePoint, ResidualFeedback)
    live = (*LIVE_STEPS, "proximal_step", "proximal_weight", "step_reach", *LIVE_ESTIMATOR)

    proximal_step: PlainNumber[float] = PlainNumber(
        default=0.5,
        bounds=(0, 1),
        inclusive_bounds=(False, True),
        label="Proximal step β",
        doc="Step of the centre z towards x.",
    )
    proximal_weight = Scale(
        None,
        softbounds=(1e-3, 1e2),
        label="Proximal weight p",
        doc="Weight of the proximal term, above the weak convexity of f.",
    )
    estimator = Part(GradientEstimator, default=Sphere(smoothing_radius=None, batch_size=50))
    estimate_proximal = param.Boolean(
        default=False, label="Estimate the proximal term", doc="As the paper's (3) reads: noisier, never better."
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return steps from curvatures and the constraints' slope G_0 at the start.

        p = 2 rho (1 where rho is 0, L_f / 4 where it is unknown), c = 1.5 / [(L_f + w L_h + p)(1 + v)] with w = 1/4, or
        2 (L_h / L_f - 1) where that is more but 2 at most (G_f / G_0 where constants are measured), and
        alpha = 0.3 (L_f + p) / [(1 + v) G_0^2], where v is the relative variance of the estimate, (n - 1)/k for the
        sphere; both over ``noise_factor`` under independent noise; r = 1e-5 as in the paper, larger under that noise;
        B = 100 max(1, G_f / G_h), and the reach by ``safeguard_rule``.

        Notes
        -----
        Ours: the paper gives no steps. 1.5/L is a safe step on a quadratic, L_h / 4 allows for duals of moderate
        size, and more is needed where the constraint bends more than the objective, as in small instances. The dual
        step is scaled so that the first swing of y, driven by h ~ G_0 ||x||, is of the size L_f / L_h whatever the
        units of f and h. One rule served n = 3 to 200 with k = 10 to 10,000; with n = 2 a few instances go astray.
        """
        n, rho = problem.domain.n, constants.weak_convexity
        p = self.proximal_weight or (_MODULUS_SHARE * constants.curvature if constants.measured else 2.0 * rho or 1.0)
        radius = radius_of(self, problem, constants, FINE_RADIUS)
        directions = self.directions_of(problem, constants)
        inflation = (1.0 + self.variance_along(directions, n)) * self.noise_factor(constants, n, radius)
        curvature = constants.curvature + p
        bent = 0.0 if constants.measured else constants.constraint_curvature / max(constants.curvature, _TINY) - 1.0
        dual = min(max(_MODERATE, _BENT * bent), _LARGEST)
        steepest = constants.lagrangian_curvature(dual) + p
        return {
            **self.safeguard_rule(constants, steepest, p),
            **directions,
            "primal_step": _PRIMAL_SHARE / (steepest * inflation),
            "dual_step": balanced_step(DUAL_SHARE, curvature, inflation, constants),
            "proximal_weight": p,
            "dual_cap": constants.dual_cap,
            "estimator.smoothing_radius": radius,
        }

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> SPLMState:
        """Return the state at x0 (R, n) with z = x0, y = 0; one call."""
        value = oracle(x0)
        return SPLMState(x0, start_duals(x0, oracle), x0, value, self.first_safeguards(value, oracle, streams))

    def iterate(self, state: SPLMState) -> Iterate:
        """Return the iterate, its multipliers and the proximal centre z."""
        return Iterate(state.x, state.y, state.value, centre=state.z)

    def step(self, state: SPLMState, oracle: Oracle, streams: Streams) -> tuple[SPLMState, Info]:
        """Take one iteration of Algorithm 1."""
        x, y, z, value, _, t = state
        safe = self.guarded(state, oracle)
        primal, alpha = self.steps_at(t)
        c = safe.shortened(primal, y)
        beta, p = self.proximal_step, self.proximal_weight
        gradient, facts = self._gradient(safe.lagrangian(y, value), p, state, oracle, streams)  # lines 3, 4
        x_next, value_next = safe.descend(x, c, gradient, proximal=(z, p))  # line 5
        y_next = safe.ascend(y, alpha, value_next.h)  # line 6
        z_next = safe.where_restoring(x_next, z + beta * (x_next - z))  # line 7
        return SPLMState(x_next, y_next, z_next, value_next, safe.state, t + 1), safe.info(*facts)

    def _gradient(
        self, phi: Phi, p: float, state: SPLMState, oracle: Oracle, streams: Streams
    ) -> tuple[Array, tuple[Array, float, Array | None]]:
        """Return the gradient (R, n) of phi(x) + p / 2 ||x - z||^2, whose first part is estimated, and facts of it.

        These are the variance, the radius, and the gradient of what is estimated with phi; None where phi is alone.
        """
        x, z, estimator = state.x, state.z, self.estimator
        radius = estimator.smoothing_radius  # read once: each reading of a parameter costs three calls
        if not self.estimate_proximal:
            estimate = estimator.estimate(phi, x, oracle, streams, base=state.value, radius=radius)
            return estimate.gradient + p * (x - z), (estimate.variance, radius, None)

        def with_proximal(places: Array) -> Evaluation:
            value, centre = oracle(places), z if places.ndim == 2 else z[:, None]
            return Evaluation(value.f + 0.5 * p * np.square(places - centre).sum(axis=-1), value.h)

        base = Evaluation(state.value.f + 0.5 * p * np.square(x - z).sum(axis=-1), state.value.h)
        inner = DerivedOracle(oracle, with_proximal, oracle.bounds)
        estimate = estimator.estimate(phi, x, inner, streams, base=base, radius=radius)
        return estimate.gradient, (estimate.variance, radius, p * (x - z))

    def stability(self, constants: Constants, n: int, m: int) -> dict[str, Any]:
        """Return the base's, with p and the theorem's bound B sqrt(m) on ||y||."""
        cap = None if self.dual_cap is None else self.dual_cap * m**0.5
        terms = {"weight": float(self.proximal_weight), "cap": cap, "source": "splm, Lemma 5"}
        return super().stability(constants, n, m) | terms

    def target(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> Target | None:
        """Return exact magnitudes of the Lagrangian, with the proximal term where that is estimated too."""
        target = super().target(problem, info, exact)
        if target is None or info.added is None:
            return target
        return target._replace(curvature=target.curvature + self.proximal_weight)
