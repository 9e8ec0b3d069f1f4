"""What methods with recursive momentum (STORM) share: the momentum, and one sample at two points."""

from __future__ import annotations

import math

from zoviz.core.parameters import Scale
from zoviz.problems.base import Problem
from zoviz.solvers.linear.base import PenalisedMethod


class MomentumMethod(PenalisedMethod):
    """A method whose estimates are corrected, not replaced, by each new sample."""

    __abstract = True

    gradients_per_step = 2

    momentum = Scale(
        None,
        bounds=(1e-12, 1.0),
        softbounds=(1e-4, 1.0),
        label="Momentum a",
        doc="Weight of the newest sample; 1: none.",
    )

    @property
    def first_batch(self) -> int:
        """The number N = ceil(T^(1/3)) of samples of the first estimate."""
        return math.ceil(self.length ** (1.0 / 3.0) - 1e-9)

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return a sentence for independent noise, too: the recursion needs the same sample at two points."""
        if problem.contract == "independent":
            return f"{self.title} needs one sample at two points: choose another noise contract than independent."
        return super().unsupported_reason(problem)
