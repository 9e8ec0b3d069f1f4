"""A black box whose row is noisy only where it is active, far from the start."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.problems import BlackBox

START, BOUNDS = (2.0, 2.0, 2.0), [(-3.0, 3.0)] * 3


class LateNoise:
    """f and one row, whose mean is 0 at x_1 = 1.25, where its standard deviation is ``size``; exact from x_1 = 1.5 on.

    Noise follows from the number of the call.
    """

    def __init__(self, size: float = 0.05, calls: int = 0) -> None:
        self.size, self.calls, self.points = size, calls, list[Array]()

    def __call__(self, x: Array) -> tuple[float, Array]:
        self.calls += 1
        self.points.append(x.copy())
        noise = self.size * np.random.default_rng(self.calls).standard_normal()
        return objective(x), np.array([row(x) + noise * 4.0 * max(0.0, 1.5 - x[0])])


class Outliers:
    """The same without noise, but for calls of some numbers, which show what is too good to be true."""

    def __init__(self, at: tuple[int, ...]) -> None:
        self.at, self.calls = at, 0

    def __call__(self, x: Array) -> tuple[float, Array]:
        self.calls += 1
        f, h = objective(x), row(x)
        return (f - 5.0, np.array([h - 5.0])) if self.calls in self.at else (f, np.array([h]))


def objective(x: Array) -> float:
    return float((x[0] - 0.5) ** 2 + (x[1] - 1.0) ** 2 + (x[2] + x[0]) ** 2)


def row(x: Array) -> float:
    """The row's mean."""
    return 0.2 * max(0.0, 1.5 - x[0]) - 0.05


def late(function: LateNoise | Outliers, **params: str) -> BlackBox:
    return BlackBox(function, bounds=BOUNDS, x0=START, m=1, joint=True, **params)
