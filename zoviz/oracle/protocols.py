"""The protocols of oracles that estimators and solvers use, a run's own or one derived from it."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from zoviz.core.sets import Box, Set
from zoviz.core.types import Array, Evaluation


class ValueOracle(Protocol):
    """An oracle of joint values on a run's books: all that a gradient estimator needs."""

    @property
    def contract(self) -> str:
        """The noise contract: "deterministic", "common" or "independent"."""

    @property
    def bounds(self) -> Box | None:
        """The box that no point may leave, as the solver sees it; None where differences may."""

    def __call__(self, points: Array, /) -> Evaluation:
        """Return the values at the points, (R, d) or (R, q, d)."""

    def fail(self, mask: np.ndarray | np.bool) -> None:
        """Report replicas that cannot go on, (R,) of bool."""


class ProblemOracle(ValueOracle, Protocol):
    """An oracle of a whole constrained problem, on which a solver can run."""

    @property
    def n(self) -> int:
        """Number of variables."""

    @property
    def m(self) -> int:
        """Number of constraints."""

    @property
    def domain(self) -> Set:
        """The simple set X."""

    def resample(self, size: int | tuple[int, ...] = 1) -> None:
        """Begin a new sample xi, of mini-batches of this size."""
