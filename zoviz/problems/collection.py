"""The base of published collections' problems, which are evaluated one point at a time from starts of their own."""

from __future__ import annotations

import copy
from typing import Self

import numpy as np
import param

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.problems.base import Problem


class CollectionProblem(Problem):
    """A problem of a published collection.

    A subclass builds ``data`` with the start ``start`` (n,), a box ``domain``, the number of constraints ``m``, and
    ``value(x)``, which returns f and h (m,) at one point (n,); and it defines ``name_in_collection``.
    """

    __abstract = True
    domain: Box

    start_spread = param.Number(
        default=0.0,
        bounds=(0, 1e9),
        softbounds=(0, 1),
        label="Spread of the starts",
        doc="Every coordinate of x0 is moved by up to this much, a different way in every replica; 0: not moved.",
    )
    scaled = param.Boolean(default=True)

    @property
    def name_in_collection(self) -> str:
        """The problem's name in its collection."""
        raise NotImplementedError(f"{type(self).__name__} must define name_in_collection.")

    def clone(self) -> Self:
        """Return a clone with an instance of its own: a collection's functions may write to theirs."""
        clone = super().clone()
        clone._data = copy.deepcopy(self._data)
        return clone

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.domain.n

    @property
    def m(self) -> int:
        """The number of constraints h."""
        return self.data.m

    @property
    def published_name(self) -> str:
        """The problem's name in the collection, where nothing is put on its values and nothing moves its start."""
        return "" if self.noise != "deterministic" or self.start_spread else self.name_in_collection

    def initial(self, streams: Streams) -> Array:
        """Return the collection's own start for every replica, moved by the spread, projected on X, (R, n)."""
        move = self.start_spread * (2.0 * streams.uniform("x0", self.n) - 1.0)
        return self.domain.project(self.data.start + move)

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        """Evaluate point by point, x (..., n) to f (...) and h (..., m); NaN where the arithmetic fails."""
        points = x.reshape(-1, self.n)
        f, h = np.empty(len(points)), np.empty((len(points), self.m))
        for i, point in enumerate(points):
            f[i], h[i] = self.data.value(point)
        return Evaluation(f.reshape(x.shape[:-1]), h.reshape(*x.shape[:-1], self.m))
