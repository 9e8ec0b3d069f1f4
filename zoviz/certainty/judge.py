"""The judge of an answer: it keeps the calls that led to it, and tells by fresh ones how sure it is."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zoviz.certainty.calls import Calls
from zoviz.certainty.certainty import Certainty
from zoviz.certainty.estimate import certainty, design
from zoviz.certainty.lengths import CALLS
from zoviz.certainty.own_calls import around, needed
from zoviz.core.sets import Box
from zoviz.core.types import Array, Evaluation
from zoviz.problems.base import Problem

SHARE = 20
"""The judge gets at most one in SHARE calls of the budget: half of what used to verify candidates."""
KEPT = 20_000
"""Calls that are kept, the newest: those near an answer are made late."""


class Judged(NamedTuple):
    """The certainty of an answer, the calls that it took, and those of them without finite values."""

    certainty: Certainty
    calls: int
    failures: int


class Judge:
    """The calls of a session, and what fresh ones say of its answer under noise.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        domain = problem.domain
        self._box = domain if isinstance(domain, Box) else None
        self._n, self._problem = domain.n, problem  # which learns m by the first call
        self._kept: deque[tuple[Array, Array]] = deque()
        self._count = 0
        self._fresh: list[Calls] = []

    @property
    def sees_noise(self) -> bool:
        """Whether fresh calls have noise of their own: also those with fresh seeds."""
        return self._problem.contract != "common" or self._problem.seeds

    def enter(self, x: Array, value: Evaluation) -> None:
        """Keep calls (k, n) that lead to the answer, unless several share their noise."""
        if self._problem.contract == "common":
            return
        self._kept.append((x.copy(), value.stacked))
        self._count += len(x)
        while self._count - len(self._kept[0][0]) >= KEPT:
            self._count -= len(self._kept.popleft()[0])

    def enter_fresh(self, x: Array, value: Evaluation) -> None:
        """Keep calls (k, n) at an answer that was chosen before them."""
        self._fresh.append(Calls(x.copy(), value.stacked))

    @property
    def kept(self) -> Calls:
        """The calls that led to the answer, the newest of them."""
        return Calls.joined([Calls(*one) for one in self._kept], self._n, self._problem.m)

    def snapshot(self) -> list[Array]:
        """Return the calls that are kept, as checkpoints hold them."""
        return list(self.kept) if self._kept else []

    def restore(self, seen: list[Array]) -> None:
        """Go on from a ``snapshot``."""
        self._kept = deque([(seen[0], seen[1])] if seen else [])
        self._count = len(seen[0]) if seen else 0

    def wants(self, budget: int) -> int:
        """Return the fresh calls to be kept for it, of a budget of calls in all."""
        free = self._n if self._box is None else int(self._box.variable.sum())
        return min(CALLS * (free + 1), budget // SHARE)

    def around(self, x: Array, left: int, budget: int, random: np.random.Generator) -> Array:
        """Return the points (k, n) to call around an answer x (n,) whose values repeat: all that it takes, or none.

        They are at most as many as are ``left`` of a budget, and as the judge may have of it.
        """
        box = self._box
        if box is None or not 0 < needed(box) <= min(left, budget // SHARE):
            return x[None][:0]
        return around(x, box, random)

    @property
    def advice(self) -> str:
        """What determines f* where values repeat, in some words."""
        enough = 0 if self._box is None or self._problem.keeps_rows else needed(self._box)
        return f"a budget of {SHARE * enough:,} calls has room for {enough} around x" if enough else ""

    def judge(
        self,
        x: Array,
        calls: int,
        evaluate: Callable[[Array], tuple[Evaluation, np.ndarray]],
        random: np.random.Generator,
    ) -> Judged:
        """Tell how sure an answer x (n,) is, by at most a number of further calls.

        Parameters
        ----------
        evaluate : callable
            Points (k, n) to their values, and which calls were made.
        """
        box, known = self._box or Box(x, x), sum(len(one.x) for one in self._fresh)
        before = self.kept
        plan = design(x, box, calls + known, random, before)
        points = plan.points if not known else plan.points[np.argsort((plan.points == x).all(axis=1), kind="stable")]
        value, made = evaluate(points[:calls])
        fresh = Calls.joined([*self._fresh, Calls(points[:calls][made], value.stacked[made])], self._n, self._problem.m)
        return Judged(certainty(before, fresh, x, box, plan), int(made.sum()), int((made & ~value.finite).sum()))
