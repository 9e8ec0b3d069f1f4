"""What the methods on the Lagrangian share: parameters, rule, limits, and the safeguards of a step."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import param

from zoviz.core.parameters import Part, PlainNumber, Scale
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Evaluation, Iterate
from zoviz.estimators import GradientEstimator
from zoviz.estimators.base import DirectionalEstimator
from zoviz.oracle import ProblemOracle
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.published_form import FAR, SAFEGUARDS, Departure
from zoviz.solvers.saddle.augmentation import first_augmentation
from zoviz.solvers.saddle.restoration import patience_of, restoration_of, restoration_parameter
from zoviz.solvers.saddle.safeguards import Safeguards, SafeguardState
from zoviz.solvers.step_limits import StepLimits, coupling, descent_end, primal_limits
from zoviz.solvers.step_rules import diminishing

_STEEPER = 1.0 / 3.0
"""Share by which the Lagrangian's curvature may exceed the one that a primal step was chosen for: ZO-SPLM's 1.5 / L,
the longest, then is the longest for which a quadratic converges, 2 / L."""


LIVE_STEPS = ("primal_step", "dual_step", "schedule", "step_power")
LIVE_ESTIMATOR = ("estimator.batch_size", "estimator.smoothing_radius")
"""Parameters that may change between two steps of any of these methods."""


class SaddleMethod(Solver):
    """A method of descent in x on the Lagrangian along an estimated gradient, and of ascent in its multipliers y.

    Each step goes through ``Safeguards``. With ``restoration=0``, ``augmentation=False`` and a ``step_reach`` of 1e9,
    or where the primal step is given and these are open, there are none.
    """

    __abstract = True

    departures: ClassVar[tuple[Departure, ...]] = SAFEGUARDS

    primal_step = Scale(None, softbounds=(1e-6, 1.0), label="Primal step c", doc="Step of x along the estimate.")
    dual_step = Scale(None, softbounds=(1e-6, 1.0), label="Dual step α", doc="Step of the dual variables along h.")
    schedule: param.Selector[str] = param.Selector(
        default="constant",
        objects=["constant", "diminishing"],
        label="Step schedule",
        doc="constant (CS), or diminishing (DS): steps / (t + 1)^a, t from 0.",
    )
    step_power: PlainNumber[float] = PlainNumber(
        default=0.5, bounds=(0.0, 2.0), label="Step power a", doc="Of diminishing steps: steps / (t + 1)^a."
    )
    step_reach: PlainNumber[float | None] = PlainNumber(
        default=None,
        allow_None=True,
        bounds=(0, None),
        inclusive_bounds=(False, True),
        label="Multiplier threshold w",
        doc="Beyond multipliers of this size the step of x is shortened as w / ||y||. 1e9: constant, as "
        "published. Auto: decided by the rule when it chooses the step.",
    )
    restoration = restoration_parameter()
    augmentation = param.Boolean(
        default=None,
        allow_None=True,
        label="Penalty where needed",
        doc="Add a penalty where multipliers alone do not reduce the violation. No: never, as published. Auto: "
        "decided by the rule when it chooses the step.",
    )
    dual_cap = Scale(None, softbounds=(1e-1, 1e4), label="Dual cap B", doc="Dual variables stay in [0, B].")
    estimator = Part(GradientEstimator, label="Estimator", doc="Gradient estimator of the Lagrangian.")

    # --- the rule -----------------------------------------------------------------------------------------------------

    def safeguard_rule(self, constants: Constants, curvature: float, apart: float = 0.0) -> dict[str, Any]:
        """Return the rule's safeguards of a step that it chooses for a curvature L; nothing where the step is given.

        The reach w is where w L_h exceeds its part of L by L / 3, 1e9, as good as none, where the constraints are
        linear. The Lagrangian may be augmented where nothing is known of f, or that it is not convex.

        Parameters
        ----------
        constants : Constants
        curvature : float
            L, of L_f, of multipliers of moderate size times L_h, and of ``apart``.
        apart : float
            A proximal weight, or a penalty's curvature.
        """
        if self.primal_step is not None:
            return {}
        bend, share = constants.constraint_curvature, curvature - constants.curvature - apart + _STEEPER * curvature
        rule = {
            "step_reach": share / bend if FAR * bend > share else FAR,
            "augmentation": constants.measured or constants.weak_convexity > 0,
        }
        return {name: value for name, value in rule.items() if self.get(name) is None} | patience_of(self)

    def directions_of(self, problem: Problem, constants: Constants) -> dict[str, str]:
        """Return which directions the estimator takes: coordinates where values repeat and nothing is known of them.

        A sweep of all n where k >= n: n + 1 calls give the gradient itself, where k + 1 gave an estimate of relative
        variance (n - 1) / k. Else a block of k: the gradient is not zero at a solution where bounds are active, so that
        random directions carry noise into all variables there, which blocks do not. Nothing is returned where the
        primal step is given, as in what is published, or the directions are.
        """
        estimator = self.estimator
        if not isinstance(estimator, DirectionalEstimator) or estimator.directions is not None:
            return {}
        if self.primal_step is not None:
            return {}
        if problem.contract != "deterministic" or not constants.measured:
            return {"estimator.directions": "random"}
        return {"estimator.directions": "sweep" if estimator.batch_size >= problem.domain.n else "block"}

    def variance_along(self, directions: dict[str, str], n: int) -> float:
        """Return the relative variance of estimates in n variables, along what ``directions_of`` returned."""
        if not directions:
            return self.relative_variance(n)
        estimator = self.estimator.clone()
        estimator.directions = directions["estimator.directions"]
        return float(estimator.predicted_variance(np.ones(1), n, 0.0, 1.0)[0])

    # --- safeguards ---------------------------------------------------------------------------------------------------

    def judges_steps(self, n: int, contract: str = "deterministic") -> bool:
        """Return whether steps are judged by the augmented Lagrangian: it is on, and values and gradients are exact.

        They are where values repeat under the noise contract, and differences are along all n coordinates.
        """
        exact = self.estimator.coordinates_in(n) >= n
        return exact and contract == "deterministic" and bool(self.augmentation)

    def estimate_variance(self, n: int, m: int) -> float:
        """Return the relative variance of a step's estimate, in n variables under m constraints."""
        return self.relative_variance(n)

    def pass_length(self, n: int) -> float:
        """Return the number of iterations, in the mean, in which each of n variables is moved once."""
        return 1.0

    def first_safeguards(
        self, value: Evaluation, oracle: ProblemOracle, streams: Streams, penalty: float = 0.0
    ) -> SafeguardState:
        """Return the safeguards before the first step, by the value at the start."""
        n, m, augmentation = oracle.n, oracle.m, None
        if self.augmentation and m:
            tested, variance = self.judges_steps(n, oracle.contract), self.estimate_variance(n, m)
            augmentation = first_augmentation(value, float(self.primal_step), tested, variance, penalty)
        return SafeguardState.of(restoration_of(self, value, oracle, streams), augmentation)

    def guarded(self, state: Any, oracle: ProblemOracle) -> Safeguards:
        """Return the safeguards of the step from a state."""
        return Safeguards(self, state, oracle)

    # --- limits -------------------------------------------------------------------------------------------------------

    @property
    def steady(self) -> bool:
        """Whether steps stay as they are set, so that their limits are known."""
        return self.schedule == "constant"

    def steps_at(self, iteration: int) -> tuple[float, float]:
        """Return the primal and the dual step of an iteration by the schedule."""
        primal, dual, schedule = self.primal_step, self.dual_step, self.schedule
        if schedule == "constant":
            return primal, dual
        power = self.step_power
        return diminishing(primal, iteration, schedule, power), diminishing(dual, iteration, schedule, power)

    def stability(self, constants: Constants, n: int, m: int) -> dict[str, Any]:
        """Return what ``primal_limits`` takes of the method: where its iteration ceases to be stable."""
        end = descent_end(self.estimate_variance(n, m))
        return {"end": end, "answer": coupling(constants, self.dual_step)}

    def limits(self, constants: Constants, iterate: Iterate) -> dict[str, StepLimits]:
        """Return how far the primal step may be moved; empty where a judged step or a schedule bends the iteration."""
        y, n = iterate.dual, iterate.x.shape[1]
        if y is None or not self.steady or self.judges_steps(n):
            return {}
        terms = self.stability(constants, n, y.shape[1])
        return {"primal_step": primal_limits(constants, y, reach=self.step_reach, **terms)}


def start_duals(x0: Array, oracle: ProblemOracle) -> Array:
    """Return y = 0 (R, m)."""
    return np.zeros((len(x0), oracle.m))
