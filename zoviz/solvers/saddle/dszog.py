"""DSZOG: descent on a penalty whose weights over the constraints are themselves optimised."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Part, Scale
from zoviz.core.sets import Simplex
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, OnePoint, ResidualFeedback, Sphere
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.published_form import SAFEGUARDS, Departure
from zoviz.solvers.saddle.method import LIVE_ESTIMATOR
from zoviz.solvers.saddle.restoration import patience_of, restoration_of, restoration_parameter, violation_of
from zoviz.solvers.saddle.safeguards import Safeguards, SafeguardState
from zoviz.solvers.step_rules import COARSE_RADIUS, mean_square, radius_of, root_mean_square
from zoviz.solvers.theory import Info

_FLOOR = 1e-8
"""Adam's epsilon, which keeps the adaptive step finite."""
_PENALTY_RATIO = 50.0
"""The penalty beta m L_f / G_0^2 is this (chosen by us): its curvature is then a hundred times the objective's, and the
violation a few hundredths of what the objective alone would lead to."""
_STABLE_SHARE = 0.4
"""A tenth of the longest step 2 (2 - b) / (a b) that the averaged iteration bears at b = 0 (chosen by us)."""
_WINDOW = 100
"""Iterations in a window of ``Growth``: 1 / (a b), in which the averages follow (this and the next chosen by us)."""
_STUCK, _NONE = 0.9, 1e-6
"""The share of the last window's violation from which one is hardly smaller; that of the largest so far which counts as
none."""
_GROWTH, _MOST = 3.0, 1e6
"""What a multiple grows by, and the largest (of 2, 3 and 4, on vessel, beam, reducer and three quadratic problems: 4 is
feasible soonest, and 2 nearest to the optimum)."""
_ADAPTIVE_LENGTH = 0.01
"""Share of G_f / (L_f sqrt(n)), how far a coordinate may have to go, that an adaptive step takes (chosen by us)."""


class Growth(NamedTuple):
    """The multiples of beta by which replicas punish violations, and what is watched of these.

    Attributes
    ----------
    multiple : Array, shape (R,)
    clock : int
        Iterations of the present window.
    top, before, peak : Array, shape (R,)
        The largest violation in the window, in the last one, and so far.
    """

    multiple: Array
    clock: int
    top: Array
    before: Array
    peak: Array

    def after(self, value: Evaluation) -> Growth:
        """Return the same once a step has ended at a value: where a window's violation is hardly smaller, larger."""
        violation = violation_of(value)
        top, peak, clock = np.maximum(self.top, violation), np.maximum(self.peak, violation), self.clock + 1
        if clock < _WINDOW:
            return self._replace(clock=clock, top=top, peak=peak)
        stuck = (top > _STUCK * self.before) & (top > _NONE * peak)
        multiple = np.where(stuck, np.minimum(_GROWTH * self.multiple, _MOST), self.multiple)
        return Growth(multiple, 0, np.zeros_like(top), np.where(stuck, np.inf, top), peak)


class DSZOGState(NamedTuple):
    """Iterate x, implied multipliers y = 2 beta p [h]_+, the oracle's value at x, and what is averaged over time.

    Attributes
    ----------
    distribution : Array, shape (R, m)
        p, a point of the simplex.
    momentum, dual_momentum, square : Arrays, shapes (R, n), (R, m) and (R, n)
        Moving averages z_x and z_p of the gradients, and (adaptive only) v of z_x squared.
    iteration : int
    growth : Growth or None
        None where beta stays as it is.
    safeguards : SafeguardState
        Which replicas still seek a feasible point.
    """

    x: Array
    y: Array
    value: Evaluation
    distribution: Array
    momentum: Array
    dual_momentum: Array
    square: Array
    iteration: int
    growth: Growth | None = None
    safeguards: SafeguardState = SafeguardState()


class DistributedPenalty:
    """The scalar f + beta sum_j p_j [h_j]_+^2 at fixed p (R, m) and beta, a number or (R, 1)."""

    def __init__(self, distribution: Array, beta: float | Array) -> None:
        self._weights = beta * distribution

    def __call__(self, value: Evaluation) -> Array:
        """Return the penalised objective's values, shape of f."""
        weights = self._weights if value.f.ndim == 1 else self._weights[:, None, :]
        return value.f + (weights * np.square(np.maximum(value.h, 0.0))).sum(axis=-1)


class DSZOG(Solver):
    r"""Our implementation of DSZOG: averaged descent in x and ascent in a distribution p over the constraints.

    .. math::
        \min_{x \in X} \max_{p \in \Delta_m} f(x) + \beta \textstyle\sum_j p_j [h_j(x)]_+^2 - \tfrac{\lambda}{2}\|p\|^2

    .. math::
        z_x &\leftarrow (1 - b) z_x + b\hat\nabla_x, & x &\leftarrow (1 - a) x + a\Pi_X(x - \eta_x z_x) \\
        z_p &\leftarrow (1 - b)z_p + b(\beta[h]_+^2 - \lambda p), & p &\leftarrow (1 - a)p + a\Pi_\Delta(p + \eta_p z_p)

    Where the rule chooses beta, values repeat and ``growing`` is not switched off, a replica whose violation is hardly
    smaller in one window of iterations than in the last triples its beta, with the step divided by the same: the
    penalty's curvature is in proportion to it. k + 1 oracle calls per iteration. ``adaptive=True`` is ADSZOG: the step
    of x is divided, coordinate by coordinate, by the root of a moving average of z_x^2.

    Notes
    -----
    Written from the abstract and from memory of the paper: the preconditioner of ADSZOG in particular is Adam's, with
    its correction for the start, and may differ. The original samples constraints; one joint call returns all of
    them, so that the exact sums are used here. As any quadratic penalty it settles outside the feasible set, at a
    violation of y* / (2 beta p): raise beta, or read the violation beside the gap. ``y`` holds the multipliers
    2 beta p_j [h_j]_+ that the penalty stands for.

    References
    ----------
    Shi, Gao and Gu (2022), Gradient-free method for heavily constrained nonconvex optimization, ICML.
    """

    title = "DSZOG"
    source = "Shi, Gao and Gu (2022), as remembered"
    departures = (SAFEGUARDS[0], Departure("growing", False, "a penalty that grows"))
    families = (Sphere, Gaussian, CentralSphere, Coordinate, OnePoint, ResidualFeedback)
    live = ("primal_step", "dual_step", "penalty", "regularisation", "averaging", "momentum", *LIVE_ESTIMATOR)

    primal_step = Scale(None, softbounds=(1e-6, 1.0), label="Primal step η_x", doc="Step of x before averaging.")
    dual_step = Scale(None, softbounds=(1e-6, 1.0), label="Distribution step η_p", doc="Step of p before averaging.")
    penalty = Scale(None, softbounds=(1e-3, 1e4), label="Penalty β", doc="Weight of the squared violations.")
    regularisation = Scale(
        0.01, softbounds=(1e-4, 1e2), label="Regularisation λ", doc="Weight of -λ/2 ||p||², which evens p out."
    )
    averaging = param.Number(
        default=0.1,
        bounds=(0, 1),
        inclusive_bounds=(False, True),
        label="Averaging a",
        doc="Weight of the newest x and p.",
    )
    momentum = param.Number(
        default=0.1,
        bounds=(0, 1),
        inclusive_bounds=(False, True),
        label="New gradient's weight b",
        doc="Weight of the newest gradient in its moving average.",
    )
    restoration = restoration_parameter()
    adaptive = param.Boolean(default=False, label="Adaptive (ADSZOG)", doc="Divide the step by a root mean square.")
    growing = param.Boolean(
        default=None,
        allow_None=True,
        label="Growing penalty",
        doc="Raise the penalty where the violation does not fall. No: never, as published. Auto: decided by the "
        "rule when it chooses the penalty.",
    )
    square_decay = param.Number(
        default=0.99, bounds=(0, 1), inclusive_bounds=(True, False), label="Decay β₂", doc="Decay of the mean square."
    )
    estimator = Part(
        GradientEstimator,
        default=Sphere(smoothing_radius=None, batch_size=20),
        label="Estimator",
        doc="Gradient estimator of the penalised objective.",
    )

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return penalty and steps from curvatures and the constraints' slope G_0 at the start.

        beta = 50 m L_f / G_0^2; eta_x = 0.4 / [a b (L_f + 2 beta G_0^2 / m)(1 + v)] with v the relative variance of
        the estimate, (n - 1)/k for the sphere, or, adaptive, 0.01 G_f / (a L_f sqrt(n)); eta_p = L_f / G_f^2;
        r = 1e-3, larger under independent noise, which eta_x is shortened for by ``noise_factor``.

        Notes
        -----
        Ours: the paper's figures are not at hand. The penalty's curvature is a hundred times the objective's, so that
        the violation is a few hundredths of what the objective alone would lead to. With the moving average the
        iteration bears steps up to 2 (2 - b) / (a b) over the curvature; a tenth of that is taken. Where rows are drawn
        at random an average helps no more: noise of relative variance u in the slope itself is borne up to about
        2 / (a u), whatever b (the second moments of the iteration). There b counts as 1, which u up to 4 bears. An
        adaptive step is a length: G_f / (L_f sqrt(n)) is how far a coordinate may have to go.
        """
        n, m = problem.domain.n, max(problem.m, 1)
        radius = radius_of(self, problem, constants, COARSE_RADIUS)
        inflation = (1.0 + self.relative_variance(n)) * self.noise_factor(constants, n, radius)
        slope, steepest = constants.safe_start_slope, constants.safe_slope
        beta = self.penalty or _PENALTY_RATIO * m * constants.curvature / slope**2
        bend = 2.0 * beta / m * slope**2 if constants.constraint_slope else 0.0
        curvature = constants.curvature + bend
        gain = 1.0 if problem.sampled_rows else self.momentum
        step = _STABLE_SHARE / (self.averaging * gain * curvature * inflation)
        if self.adaptive:
            step = _ADAPTIVE_LENGTH * steepest / (self.averaging * constants.curvature * np.sqrt(n))
        given = self.penalty is not None or self.primal_step is not None or self.growing is not None
        return {
            "primal_step": step,
            "dual_step": constants.curvature / steepest**2,
            "penalty": beta,
            "estimator.smoothing_radius": radius,
            **({} if self.adaptive else patience_of(self)),
        } | ({} if given else {"growing": not self.adaptive})

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> DSZOGState:
        """Return the state at x0 (R, n) with p uniform and averages 0; one call."""
        value, p = oracle(x0), np.full((len(x0), oracle.m), 1.0 / max(oracle.m, 1))
        zero, growth = np.zeros_like(x0), None
        if self.growing and oracle.m and oracle.contract == "deterministic":
            violation = violation_of(value)
            growth = Growth(np.ones(len(x0)), 0, violation, np.full(len(x0), np.inf), violation)
        safeguards, y = (
            SafeguardState.of(restoration_of(self, value, oracle, streams), None),
            self._multipliers(p, value),
        )
        return DSZOGState(x0, y, value, p, zero, np.zeros_like(p), zero, 0, growth, safeguards)

    def step(self, state: DSZOGState, oracle: Oracle, streams: Streams) -> tuple[DSZOGState, Info]:
        """Take one step: estimate the gradients, add them to the averages, and move x and p along these."""
        x, y, value, p, z_x, z_p, square, t, growth, _ = state
        safe = Safeguards(self, state, oracle)
        a, b, beta, eta = self.averaging, self.momentum, self.penalty, self.primal_step
        if growth is not None:
            multiple = growth.multiple[:, None]
            beta = beta * multiple
            eta = eta / multiple
        weights = self._multipliers(p, value, growth)
        phi = safe.scalar(weights, value, DistributedPenalty(p, beta))
        estimate = self.estimator.estimate(phi, x, oracle, streams, base=value)
        info = safe.info(estimate.variance)
        z_x = (1.0 - b) * z_x + b * estimate.gradient
        z_p = (1.0 - b) * z_p + b * (beta * np.square(np.maximum(value.h, 0.0)) - self.regularisation * p)
        move = z_x
        if self.adaptive:
            square = mean_square(square, z_x, self.square_decay)
            move = z_x / root_mean_square(square, self.square_decay, t + 1, _FLOOR)
        x_next = (1.0 - a) * x + a * oracle.domain.project(x - eta * move)
        if safe.restoring is not None:
            x_next = safe.where_restoring(safe.projected_step(x, eta, estimate.gradient), x_next)
            z_x = safe.where_restoring(np.zeros_like(z_x), z_x)  # an average of other slopes
        if oracle.m:
            p = (1.0 - a) * p + a * Simplex(oracle.m).project(p + self.dual_step * z_p)
        oracle.resample()
        x, value = safe.keep_or_take_back(x_next, oracle(x_next))
        growth = None if growth is None else growth.after(value)
        y = self._multipliers(p, value, growth)
        return DSZOGState(x, y, value, p, z_x, z_p, square, t + 1, growth, safe.state), info

    def _multipliers(self, distribution: Array, value: Evaluation, growth: Growth | None = None) -> Array:
        beta = self.penalty if growth is None else self.penalty * growth.multiple[:, None]
        return 2.0 * beta * distribution * np.maximum(value.h, 0.0)
