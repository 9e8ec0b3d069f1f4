"""Per-replica, per-purpose random numbers from one seed."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

from zoviz.types import Array

_BLOCK = 4096
_BLOCK_TOTAL = 1 << 20
"""Numbers drawn ahead: per replica, and at most in all."""


class _Stream:
    """One endless sequence per replica, read in order whatever the sizes of the requests.

    Small requests are served from a block drawn ahead, so that a step with 64 replicas does not pay 64 generator
    calls; a sequence read in two halves equals the sequence read at once, so the block is invisible to the caller.
    """

    def __init__(self, fills: list[Callable[[Array], Any]]) -> None:
        self._fills = fills
        self._buffer = np.empty((len(fills), 0))
        self._position = 0

    def take(self, count: int) -> Array:
        left = self._buffer.shape[1] - self._position
        if count <= left:
            out = self._buffer[:, self._position : self._position + count]
            self._position += count
            return out
        block = min(_BLOCK, _BLOCK_TOTAL // len(self._fills))
        ahead = block if count <= block // 2 else 0
        out = np.empty((len(self._fills), count + ahead))
        out[:, :left] = self._buffer[:, self._position :]
        for row, fill in zip(out, self._fills, strict=True):
            fill(row[left:])
        self._buffer, self._position = (out, count) if ahead else (out[:, :0], 0)
        return out[:, :count]


class Streams:
    """Random generators for R replicas, each purpose with sequences of its own.

    The sequence of (seed, purpose, replica) is fixed: it does not depend on the number of replicas, on what other
    purposes drew, or on how the reads are divided. This is what makes runs replay bit for bit.

    Parameters
    ----------
    seed : int
        Non-negative.
    replicas : int
        R.
    """

    def __init__(self, seed: int, replicas: int) -> None:
        self.seed = int(seed)
        self.replicas = int(replicas)
        self._streams: dict[tuple[str, str, float], _Stream] = {}

    def generator(self, purpose: str, replica: int = 0) -> np.random.Generator:
        """A fresh generator for (seed, purpose, replica)."""
        key = (zlib.crc32(purpose.encode()), replica)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def _take(self, kind: str, purpose: str, shape: tuple[int, ...], argument: float = 0.0) -> Array:
        key = (kind, purpose, argument)
        stream = self._streams.get(key)
        if stream is None:
            generators = [self.generator(f"{purpose}/{kind}", r) for r in range(self.replicas)]
            stream = self._streams[key] = _Stream([_filler(g, kind, argument) for g in generators])
        count = 1
        for size in shape:
            count *= size
        return stream.take(count).reshape(self.replicas, *shape)

    def normal(self, purpose: str, *shape: int) -> Array:
        """Standard normal numbers, shape (R, *shape). The array may be a view: do not write into it."""
        return self._take("normal", purpose, shape)

    def uniform(self, purpose: str, *shape: int) -> Array:
        """Uniform numbers on [0, 1), shape (R, *shape). The array may be a view: do not write into it."""
        return self._take("uniform", purpose, shape)

    def student_t(self, purpose: str, degrees: float, *shape: int) -> Array:
        """Student-t numbers with ``degrees`` degrees of freedom, shape (R, *shape)."""
        return self._take("student_t", purpose, shape, degrees)

    def subset(self, purpose: str, n: int, size: int, repeats: int = 1) -> np.ndarray:
        """Uniform subsets of {0..n-1} without replacement.

        Returns
        -------
        ndarray of int, shape (R, repeats, size)
            ``size`` distinct indices each, sorted.
        """
        if size == n:
            return np.broadcast_to(np.arange(n), (self.replicas, repeats, n))
        if size == 1:
            return (self.uniform(purpose, repeats, 1) * n).astype(np.intp)
        keys = self.uniform(purpose, repeats, n)
        return np.sort(np.argpartition(keys, size - 1, axis=-1)[..., :size], axis=-1)


def _filler(generator: np.random.Generator, kind: str, argument: float) -> Callable[[Array], Any]:
    if kind == "normal":
        return lambda out: generator.standard_normal(out=out)
    if kind == "uniform":
        return lambda out: generator.random(out=out)

    def student_t(out: Array) -> None:
        out[:] = generator.standard_t(argument, out.size)

    return student_t
