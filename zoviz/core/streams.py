"""Random numbers by replica and by purpose, all from one seed."""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from zoviz.core.types import Array

_BLOCK = 4096
_BLOCK_TOTAL = 1 << 20
"""Numbers drawn ahead: per replica, and at most in all."""


class RandomSource(Protocol):
    """A source of random numbers for R rows, read by purpose: all that a gradient estimator draws from."""

    @property
    def replicas(self) -> int:
        """The number R of rows."""

    def normal(self, purpose: str, *shape: int) -> Array:
        """Return standard normal numbers, (R, *shape), not to be written to."""

    def uniform(self, purpose: str, *shape: int) -> Array:
        """Return uniform numbers on [0, 1), (R, *shape), not to be written to."""

    def subset(self, purpose: str, n: int, size: int, repeats: int = 1) -> np.ndarray:
        """Return uniform subsets of {0..n-1} of ``size`` sorted indices, (R, repeats, size)."""


def draw_subset(source: RandomSource, purpose: str, n: int, size: int, repeats: int) -> np.ndarray:
    """Return uniform subsets of {0..n-1} without replacement, made of a source's uniform numbers.

    Returns
    -------
    ndarray of int, shape (R, repeats, size)
        ``size`` distinct indices each, sorted.
    """
    if size == n:
        return np.broadcast_to(np.arange(n), (source.replicas, repeats, n))
    if size == 1:
        return (source.uniform(purpose, repeats, 1) * n).astype(np.intp)
    keys = source.uniform(purpose, repeats, n)
    return np.sort(np.argpartition(keys, size - 1, axis=-1)[..., :size], axis=-1)


class _Filler:
    """Fills an array with the next numbers of one generator; an object, not a closure, so that it can be pickled."""

    def __init__(self, generator: np.random.Generator, kind: str, argument: float) -> None:
        self.generator, self._kind, self._argument = generator, kind, argument

    def __call__(self, out: Array) -> None:
        if self._kind == "normal":
            self.generator.standard_normal(out=out)
        elif self._kind == "uniform":
            self.generator.random(out=out)
        else:
            out[:] = self.generator.standard_t(self._argument, out.size)


class Mark(NamedTuple):
    """The position in one random sequence: a few numbers per replica, from which reading goes on.

    Attributes
    ----------
    states : ndarray of uint64, shape (R, 6)
        The generators' states before the numbers ahead were drawn.
    size, position : int
        How many numbers of each replica were drawn from there, and how many of them have been read.
    """

    states: np.ndarray
    size: int
    position: int


class _Stream:
    """One endless sequence per replica, read in order whatever the sizes of the requests.

    Small requests are served from a block drawn ahead, so that a step with 64 replicas does not pay 64 generator
    calls; a sequence read in two halves equals the sequence read at once, so the block is invisible to the caller.
    """

    def __init__(self, fills: list[_Filler]) -> None:
        self._fills = fills
        self._buffer = np.empty((len(fills), 0))
        self._position = 0
        self._before: list[Mapping[str, Any]] | None = None
        self._states: np.ndarray | None = None

    def take(self, count: int) -> Array:
        unused = self._buffer.shape[1] - self._position
        if count <= unused:
            out = self._buffer[:, self._position : self._position + count]
            self._position += count
            return out
        block = min(_BLOCK, _BLOCK_TOTAL // len(self._fills))
        ahead = block if count <= block // 2 else 0
        out = np.empty((len(self._fills), count + ahead))
        out[:, :unused] = self._buffer[:, self._position :]
        self._before, self._states = self._now() if ahead else None, None
        self._draw(out[:, unused:])
        self._buffer, self._position = (out[:, unused:], count - unused) if ahead else (out[:, :0], 0)
        return out[:, :count]

    def _now(self) -> list[Mapping[str, Any]]:
        return [fill.generator.bit_generator.state for fill in self._fills]

    def _draw(self, out: Array) -> None:
        for row, fill in zip(out, self._fills, strict=True):
            fill(row)

    def snapshot(self) -> Mark:
        """The position that reading has come to; cheap between two refills, which alone advance the generators."""
        if self._states is None:
            states = self._now() if self._before is None else self._before
            self._states = np.array([_packed(state) for state in states], dtype=np.uint64)
        return Mark(self._states, self._buffer.shape[1], self._position)

    def restore(self, mark: Mark) -> None:
        """Go back (or on) to a mark of the same sequence."""
        if self._states is not mark.states:
            for fill, state in zip(self._fills, mark.states.tolist(), strict=True):
                fill.generator.bit_generator.state = _unpacked(state)
            self._before, self._states = None, mark.states
            self._buffer = np.empty((len(self._fills), mark.size))
            self._draw(self._buffer)
        self._position = mark.position


def _packed(state: Mapping[str, Any]) -> list[int]:
    """Return a PCG64 generator's state as six numbers of 64 bits."""
    own, low = state["state"], (1 << 64) - 1
    halves = [own["state"] >> 64, own["state"] & low, own["inc"] >> 64, own["inc"] & low]
    return [*halves, state["has_uint32"], state["uinteger"]]


def _unpacked(numbers: list[int]) -> dict[str, Any]:
    high, low, inc_high, inc_low, has_uint32, uinteger = numbers
    own = {"state": high << 64 | low, "inc": inc_high << 64 | inc_low}
    return {"bit_generator": "PCG64", "state": own, "has_uint32": has_uint32, "uinteger": uinteger}


class Streams:
    """The random generators of R replicas, each purpose with sequences of its own.

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
        """Return a fresh generator for (seed, purpose, replica)."""
        key = (zlib.crc32(purpose.encode()), replica)
        return np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=key))

    def _take(self, kind: str, purpose: str, shape: tuple[int, ...], argument: float = 0.0) -> Array:
        key = (kind, purpose, argument)
        stream = self._streams.get(key)
        if stream is None:
            stream = self._streams[key] = self._begin(*key)
        count = 1
        for size in shape:
            count *= size
        return stream.take(count).reshape(self.replicas, *shape)

    def _begin(self, kind: str, purpose: str, argument: float) -> _Stream:
        generators = [self.generator(f"{purpose}/{kind}", r) for r in range(self.replicas)]
        return _Stream([_Filler(generator, kind, argument) for generator in generators])

    def normal(self, purpose: str, *shape: int) -> Array:
        """Return standard normal numbers, (R, *shape). The array may be a view: do not write into it."""
        return self._take("normal", purpose, shape)

    def uniform(self, purpose: str, *shape: int) -> Array:
        """Return uniform numbers on [0, 1), (R, *shape). The array may be a view: do not write into it."""
        return self._take("uniform", purpose, shape)

    def student_t(self, purpose: str, degrees: float, *shape: int) -> Array:
        """Return Student-t numbers with ``degrees`` degrees of freedom, (R, *shape)."""
        return self._take("student_t", purpose, shape, degrees)

    def subset(self, purpose: str, n: int, size: int, repeats: int = 1) -> np.ndarray:
        """Return uniform subsets of {0..n-1} without replacement.

        Returns
        -------
        ndarray of int, shape (R, repeats, size)
            ``size`` distinct indices each, sorted.
        """
        return draw_subset(self, purpose, n, size, repeats)

    def snapshot(self) -> dict[tuple[str, str, float], Mark]:
        """Return the positions of all sequences."""
        return {key: stream.snapshot() for key, stream in self._streams.items()}

    def restore(self, snapshot: dict[tuple[str, str, float], Mark]) -> None:
        """Go back to a snapshot, so that what was read since is read again, number for number.

        The snapshot may be that of other streams with the same seed and as many replicas, e.g. of another process.

        Raises
        ------
        ValueError
            For a snapshot of another number of replicas.
        """
        replicas = {len(mark.states) for mark in snapshot.values()} - {self.replicas}
        if replicas:
            raise ValueError(f"Expected a snapshot of {self.replicas} replicas, got one of {replicas.pop()}.")
        for key in self._streams.keys() - snapshot.keys():
            del self._streams[key]  # begun since: it begins anew
        for key, mark in snapshot.items():
            if key not in self._streams:
                self._streams[key] = self._begin(*key)
            self._streams[key].restore(mark)
