"""The best feasible point queried so far, and the best of the first ones, feasible or not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from zoviz.core import defaults
from zoviz.core.ranking import ON_BOUNDARY, first, is_feasible, ranks
from zoviz.core.sets import Set
from zoviz.core.types import Array, Evaluation


class BestPoints:
    """The best feasible point of each replica so far, by values without noise, in the user's units.

    Parameters
    ----------
    replicas, n, m : int
    tolerance : float, array of shape (m,), or None
        Largest h that counts as feasible; None: ``defaults.FEASIBILITY_TOLERANCE``.
    by_size : bool
        Whether the tolerance is one in units of each row's size: points wait to be judged until sizes are known.

    Attributes
    ----------
    f : Array, shape (R,)
        +inf before the first, and always where the problem's values are samples.
    x : Array, shape (R, n)
        NaN before the first.
    h : Array, shape (R, m)
    tolerance : Array, shape (m,)
        Largest h that counts as feasible.
    sizes : Array, shape (m,), or None
        Sizes of rows, once they are known.
    """

    def __init__(self, replicas: int, n: int, m: int, tolerance: float | Array | None, by_size: bool) -> None:
        self.f, self.x, self.h = (
            np.full(replicas, np.inf),
            np.full((replicas, n), np.nan),
            np.full((replicas, m), np.nan),
        )
        self.sizes: Array | None = None
        self._by_size = by_size
        self.tolerance = np.full(m, defaults.FEASIBILITY_TOLERANCE if tolerance is None else tolerance, dtype=float)
        # What is called before the sizes are known: (x, place, value, X as it was then) each.
        self._waiting: list[tuple[Array, Array, Evaluation, Set]] | None = [] if by_size else None

    @property
    def waits(self) -> bool:
        """Whether points wait for sizes of rows to be judged by."""
        return self._waiting is not None

    def judge_by(self, sizes: Array | None) -> None:
        """Take tolerances to be relative to these sizes of rows (m,), and judge the points that waited for them."""
        self.sizes = sizes
        if self._by_size and sizes is not None:
            self.tolerance = defaults.FEASIBILITY_TOLERANCE * sizes
            waiting, self._waiting = self._waiting or [], None
            for one in waiting:
                self.take(*one)

    def take(self, x: Array, place: Array, value: Evaluation, domain: Set) -> None:
        """Keep what is better than before, feasible and inside the domain.

        Parameters
        ----------
        x, place : Array, shape (R, n) or (R, q, n)
            The points in the solver's units, which ``domain`` is in, and in the user's.
        value : Evaluation
            At the points, in the user's units.
        domain : Set
        """
        if self._waiting is not None:
            self._waiting.append((x, place, value, domain))
            return
        better = value.f < (self.f if x.ndim == 2 else self.f[:, None])
        if not np.count_nonzero(better):  # as ``any``, in a tenth of its time
            return
        better &= is_feasible(value.h, self.tolerance)
        if better.any():
            better[better] = domain.contains(x[better], ON_BOUNDARY)
        if x.ndim == 2:
            rows = better.nonzero()[0]
            self.f[rows], self.x[rows], self.h[rows] = value.f[rows], place[rows], value.h[rows]
        elif better.any():
            rows = np.nonzero(better.any(axis=1))[0]
            columns = first(np.where(better[rows], 0.0, np.inf), value.f[rows])
            self.f[rows], self.x[rows] = value.f[rows, columns], place[rows, columns]
            self.h[rows] = value.h[rows, columns]

    def replace(self, replicas: np.ndarray, x: Array, values: Array) -> None:
        """Take other points in place of those of some replicas, (R,) of bool, whose values were not true.

        Parameters
        ----------
        x, values : Array, shapes (R, n) and (R, 1 + m)
            NaN where none is known.
        """
        self.x[replicas], self.h[replicas] = x[replicas], values[replicas, 1:]
        self.f[replicas] = np.where(np.isnan(values[replicas, 0]), np.inf, values[replicas, 0])

    def snapshot(self) -> dict[str, Any]:
        """Return points, values and sizes, under names that stores hold; arrays are copies."""
        return {"best_f": self.f.copy(), "best_x": self.x.copy(), "best_h": self.h.copy(), "sizes": self.sizes}

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot."""
        self.f, self.x = snapshot["best_f"].copy(), snapshot["best_x"].copy()
        self.h, self._waiting = snapshot["best_h"].copy(), None  # what was met before is in the best points


class FirstBest:
    """The best of each replica's points before a method has begun: the answer of a run whose budget ends there.

    Attributes
    ----------
    x : Array, shape (R, n)
        In the user's units; NaN before the first point with a value.
    value : Evaluation
        At ``x``, as it was seen.
    """

    def __init__(self, replicas: int, n: int, m: int) -> None:
        self.x = np.full((replicas, n), np.nan)
        self.value = Evaluation(np.full(replicas, np.nan), np.full((replicas, m), np.nan))

    def take(self, place: Array, value: Evaluation, tolerance: float | Array, inside: np.ndarray) -> None:
        """Take in points (R, n) or (R, q, n) of which those ``inside`` count, and their values, in the user's units."""
        replicas = len(self.x)
        x = np.concatenate([self.x[:, None], place.reshape(replicas, -1, place.shape[-1])], axis=1)
        f = np.concatenate([self.value.f[:, None], value.f.reshape(replicas, -1)], axis=1)
        h = np.concatenate([self.value.h[:, None], value.h.reshape(*f[:, 1:].shape, value.h.shape[-1])], axis=1)
        eligible = np.concatenate([np.ones((replicas, 1), dtype=bool), inside.reshape(replicas, -1)], axis=1)
        best = np.arange(replicas), first(*ranks(Evaluation(f, h), tolerance, eligible))
        self.x, self.value = x[best], Evaluation(f[best], h[best])
