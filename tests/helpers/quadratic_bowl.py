"""A bowl, whole and with holes, and points in it."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem


class Bowl(Problem):
    """f = |x|^2 on [-1, 1]^3 with h = (x1 + x2 - 1, 0.2 - x1); keeps what it was asked."""

    __abstract = True  # keeps it out of the registry

    m = 2

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.domain = Box(-np.ones(3), np.ones(3))
        self.points: list[Array] = []

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        self.points.append(x)
        h = np.stack([x[..., 0] + x[..., 1] - 1.0, 0.2 - x[..., 0]], axis=-1)
        return Evaluation(np.square(x).sum(axis=-1), h)


class Partial(Bowl):
    """NaN, -inf or a NaN constraint according to the third coordinate."""

    __abstract = True

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        f, h = super().evaluate(x)
        third = x[..., 2]
        f = np.where(third > 0.9, np.nan, np.where(third < -0.9, -np.inf, f))
        return Evaluation(f, np.where(((third > 0.8) & (third < 0.85))[..., None], np.nan, h))


def made(problem: Problem, replicas: int = 3, **settings: Any) -> Oracle:
    return Oracle(problem, Streams(0, replicas), **settings)


def points(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-0.7, 0.7, shape)
