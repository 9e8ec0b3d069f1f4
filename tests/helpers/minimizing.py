"""What the tests of minimize share: bounds, a constraint, functions that are scaled or remember their calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import optimize

from helpers.black_box import f_at
from zoviz.core.types import Array


def scaled(x: Array, factor: float, shift: float) -> float:
    return factor * f_at(x) + shift


BOUNDS = [(-4.0, 4.0), (-4.0, 4.0)]
LINE = optimize.LinearConstraint([[1.0, 1.0]], ub=2.0)


class Diary:
    """A function that remembers where it was called."""

    def __init__(self, function: Callable[[Array], Any]) -> None:
        self.function, self.points = function, []

    def __call__(self, x: Array) -> Any:
        self.points.append(x.copy())
        return self.function(x)
