"""An oracle seen through a function of the points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array, Evaluation
from zoviz.oracle.protocols import ValueOracle


class DerivedOracle:
    """An oracle seen through a function of the points: the same budget, counts and failures.

    It is how a solver estimates the gradient of something wider than (f, h), e.g. of a saddle function on (x, y).

    Parameters
    ----------
    oracle : ValueOracle
    evaluate : callable
        Maps points (R, ..., d) to an ``Evaluation``, through ``oracle``.
    bounds : Box, optional
        The box in R^d that the points may not leave.
    """

    def __init__(self, oracle: ValueOracle, evaluate: Callable[[Array], Evaluation], bounds: Box | None = None) -> None:
        self._oracle, self._evaluate, self._bounds = oracle, evaluate, bounds

    @property
    def contract(self) -> str:
        """The noise contract of the oracle behind it."""
        return self._oracle.contract

    @property
    def bounds(self) -> Box | None:
        """The box that the points may not leave, where there is one."""
        return self._bounds

    def __call__(self, points: Array, /) -> Evaluation:
        """Return the values at the points (R, ..., d)."""
        return self._evaluate(points)

    def fail(self, mask: np.ndarray | np.bool) -> None:
        """Report replicas that cannot go on, (R,) of bool, to the oracle behind it."""
        self._oracle.fail(mask)
