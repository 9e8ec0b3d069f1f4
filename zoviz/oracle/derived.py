"""An oracle seen through a function of the points."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zoviz.core.types import Array, Evaluation
from zoviz.oracle.oracle import Oracle


class Composed:
    """An oracle seen through a function of the points: the same budget, counts and failures.

    It is how a solver estimates the gradient of something wider than (f, h), e.g. of a saddle function on (x, y).

    Parameters
    ----------
    oracle : Oracle or Composed
    evaluate : callable
        Maps points (R, ..., d) to an ``Evaluation``, through ``oracle``.
    """

    def __init__(self, oracle: Oracle | Composed, evaluate: Callable[[Array], Evaluation]) -> None:
        self._evaluate = evaluate
        self.contract: str = oracle.contract
        self.fail: Callable[[np.ndarray | np.bool], None] = oracle.fail

    def __call__(self, points: Array) -> Evaluation:
        """Values at the points, shape (R, ..., d)."""
        return self._evaluate(points)
