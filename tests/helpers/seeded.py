"""Simulations whose randomness follows from a seed, at the top of a module so that processes find them."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.types import Array

BOX = [(-2.0, 3.0)] * 2
START = [2.0, 2.0]


def cost(x: Array, seed: int) -> float:
    """Return (x1 - 1)^2 + 2 (x2 - 1)^2 with a standard normal number that is the seed's, and a little of the call's."""
    own = np.random.default_rng([seed, *np.abs(x * 1e6).astype(int)]).normal()
    return float((x[0] - 1.0) ** 2 + 2.0 * (x[1] - 1.0) ** 2 + np.random.default_rng(seed).normal() + 0.01 * own)


def limit(x: Array, seed: int) -> float:
    """Return 3 - x1 - x2, with noise that is the seed's."""
    return float(3.0 - x[0] - x[1] + 0.3 * np.random.default_rng([seed, 1]).normal())


def shifted(x: Array, seed: int, by: float) -> float:
    """Return ``cost`` and a further argument."""
    return cost(x, seed) + by


def both(x: Array, seed: Any) -> tuple[Any, Any]:
    """Return cost and limit, of several points at once: x (..., 2) and seeds (...)."""
    pairs = list(zip(x.reshape(-1, 2), np.asarray(seed).reshape(-1).tolist(), strict=True))
    f, h = (np.array([one(*pair) for pair in pairs]) for one in (cost, limit))
    return f.reshape(x.shape[:-1]), h.reshape(*x.shape[:-1], 1)


class Recorded:
    """A simulation that notes the calls that are made of it."""

    def __init__(self) -> None:
        self.calls: list[tuple[tuple[float, ...], int]] = []

    def __call__(self, x: Array, seed: int) -> float:
        """Return the cost at x."""
        self.calls.append((tuple(x.tolist()), seed))
        return cost(x, seed)

    @property
    def batches(self) -> list[list[tuple[float, ...]]]:
        """The points of the calls, those in a row with one seed together."""
        out: list[list[tuple[float, ...]]] = []
        last = None
        for x, seed in self.calls:
            if seed != last:
                out.append([])
            out[-1].append(x)
            last = seed
        return out
