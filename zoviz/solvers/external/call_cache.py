"""Caches of joint values, for libraries that ask for f, h and their slopes apart: one call serves all at a point."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Evaluation
from zoviz.solvers.external.coroutine import Ask, Standstill, Task

_PATIENCE, _PATIENCE_PER_VARIABLE = 1000, 10
"""Known values in a row after which a library goes round in a circle; models of n variables ask for 2n + 1 of them."""


class CallCache:
    """A cache of one replica's joint values by the bytes of x.

    Asking for f and for h at one point is one call. Asking for either again is free where the noise contract is
    "deterministic" or "common"; under "independent" it is a new simulation, and charged.

    A library that asks for known points alone, again and again, is ended: no budget would ever end it. One that takes
    bounds for constraints, which it may violate on its way, sees outside a box that may not be left the values at its
    nearest point.

    Attributes
    ----------
    dual : Array, shape (m,), or None
        The library's multipliers, handed out with the next request.
    """

    def __init__(self, task: Task, ask: Ask) -> None:
        self._task, self._ask = task, ask
        self._values: dict[bytes, Evaluation] = {}
        self._parts: dict[bytes, set[str]] = {}
        self._repeats = 0
        self.dual: Array | None = None

    def objective(self, x: Array) -> float:
        """Return f at x (n,)."""
        return float(self._at(x, "f").f)

    def constraints(self, x: Array) -> Array:
        """Return h (m,) at x (n,)."""
        return self._at(x, "h").h.copy()

    def _at(self, x: Array, part: str) -> Evaluation:
        x = self._task.kept(x)
        key = x.tobytes()
        if self._is_due(key, part):
            f, h = self._ask(x[None], self.dual)
            self._values[key] = Evaluation(f[0], h[0])
            self._parts[key] = {part}
            self._repeats = 0
        elif self._repeats > _PATIENCE + _PATIENCE_PER_VARIABLE * x.size:
            raise Standstill("it requests only points whose values it has")
        self._repeats += 1
        return self._values[key]

    def _is_due(self, key: bytes, part: str) -> bool:
        """Return whether a new simulation is due, and mark the part as served."""
        parts = self._parts.get(key)
        if parts is None or (part in parts and self._task.contract == "independent"):
            return True
        parts.add(part)
        return False


class DifferenceCache(CallCache):
    """A cache of joint values with forward differences of an absolute step for f and every h at once.

    n calls per point whose value is known, else n + 1; under "common" always n + 1, since a difference is free of the
    shared noise only within one sweep. A probe that would leave the box goes the other way.

    Parameters
    ----------
    step : float
        h > 0, in units of x.
    """

    def __init__(self, task: Task, ask: Ask, step: float) -> None:
        super().__init__(task, ask)
        self._step = step
        self._slopes: dict[bytes, Array] = {}
        self._sweep_parts: dict[bytes, set[str]] = {}

    def gradient(self, x: Array) -> Array:
        """Return the slopes (n,) of f at x (n,), by differences."""
        return self._sweep(x, "f")[0].copy()

    def jacobian(self, x: Array) -> Array:
        """Return the slopes (m, n) of h at x (n,), by differences."""
        return self._sweep(x, "h")[1:].copy()

    def _sweep(self, x: Array, part: str) -> Array:
        """Return the slopes of (f, h), shape (1 + m, n)."""
        x = self._task.kept(x)
        key = x.tobytes()
        sweep = self._sweep_parts.get(key)
        if sweep is not None and not (part in sweep and self._task.contract == "independent"):
            sweep.add(part)
            return self._slopes[key]
        self._sweep_parts[key] = {part}
        self._slopes[key] = self._measure(x, key)
        return self._slopes[key]

    def _measure(self, x: Array, key: bytes) -> Array:
        steps = np.where(x + self._step <= self._task.upper, self._step, -self._step)
        if self._task.keeps_bounds:  # a narrow one: the longer way to one of its ends
            longer = np.where(self._task.upper - x >= x - self._task.lower, self._task.upper - x, self._task.lower - x)
            steps = np.where(x + steps < self._task.lower, longer, steps)
        probes = self._task.kept(x + np.diag(steps))
        base = None if self._task.contract == "common" else self._values.get(key)
        f, h = self._ask(probes if base is not None else np.concatenate([x[None], probes]), self.dual)
        self._repeats = 0
        if base is None:
            base, f, h = Evaluation(f[0], h[0]), f[1:], h[1:]
            if key not in self._values:  # f and h at x are paid for, though not asked for yet
                self._values[key], self._parts[key] = base, set()
        rises = np.concatenate([(f - base.f)[:, None], h - base.h], axis=1)
        return (rises / (np.diagonal(probes) - x)[:, None]).T
