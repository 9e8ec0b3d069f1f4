"""How a solver chooses its own parameters where they are left open, and how far they may be moved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Iterate
from zoviz.estimators import GradientEstimator
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.solvers.measured_constants import constants_of
from zoviz.solvers.step_limits import StepLimits


class Tuning:
    """The part of a solver that chooses its parameters: by the run's budgets, then by constants, known or measured."""

    estimator: Any
    planned: ClassVar[tuple[str, ...]] = ()
    """Parameters that, left open, are chosen by the run's budgets (``from_budget``)."""
    caps: ClassVar[frozenset[str]] = frozenset({"dual_cap"})
    """Parameters that only bound something: where they alone are left open, no call is paid and nothing is bounded."""

    def from_budget(self, problem: Problem, budgets: Mapping[str, Any]) -> dict[str, Any]:
        """Return values for the parameters in ``planned`` that are open, by a run's budgets; before ``from_constants``.

        Parameters
        ----------
        problem : Problem
        budgets : mapping
            "iterations", "calls", "seconds", "samples" and "zeta_samples"; None is unlimited.
        """
        return {}

    def known_constants(self, problem: Problem) -> Any:
        """Return the constants that the problem knows without a call; None where they have to be measured."""
        return problem.noisy_constants

    def measure_constants(self, problem: Problem, oracle: Oracle, x0: Array, streams: Streams) -> Constants:
        """Return what ``from_constants`` takes: the problem's constants, or measured at x0 (R, n) by charged calls."""
        return constants_of(problem, oracle, x0, streams)

    def from_constants(self, problem: Problem, constants: Any) -> dict[str, Any]:
        """Return values for the parameters that are None, from the problem's constants; dotted names allowed."""
        return {}

    def limits(self, constants: Constants, iterate: Iterate) -> dict[str, StepLimits]:
        """Return how far live parameters may be moved at an iterate, by (dotted) name, where that is known."""
        return {}

    def relative_variance(self, n: int) -> float:
        """Return the noise-free variance of the estimate of a gradient of norm 1 in n variables."""
        return float(self.estimator.predicted_variance(np.ones(1), n, 0.0, 1.0)[0])

    def noise_factor(self, constants: Constants, n: int, radius: float) -> float:
        """Return by how much independent noise raises an estimate's mean square at the start: 1 + N / [G^2 (1 + v)].

        N is the noise's part of the variance, v the rest relative to G^2, and G = max(G_f0, L_f r) the gradient's size,
        with G_f0 that at the starts: a bound over the whole domain may be ten times as large, and would call noise
        small that is not. The noise is the Lagrangian's (``Constants.lagrangian_noise``). A step is to be divided by
        it, as by 1 + v: what an estimate adds to ||x - x*||^2 then falls short of what its mean takes away.
        """
        sigma = constants.lagrangian_noise
        if not sigma:
            return 1.0
        noise = float(self.estimator.predicted_variance(np.zeros(1), n, sigma**2, radius)[0])
        size = constants.gradient_size(radius) ** 2
        return 1.0 + noise / (size * (1.0 + self.relative_variance(n)))

    @property
    def scaling_estimator(self) -> GradientEstimator | None:
        """The estimator whose steps a run evens the coordinates' curvatures for; None: there is none."""
        estimator: GradientEstimator | None = self.estimator
        return estimator
