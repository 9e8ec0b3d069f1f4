"""A user's functions of two variables: problem 22 of Hock and Schittkowski."""

from __future__ import annotations

from zoviz.core.types import Array


def f_at(x: Array) -> float:
    return float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2)


def h_at(x: Array) -> list[float]:
    return [float(x[0] + x[1] - 2.0), float(x[0] ** 2 - x[1])]
