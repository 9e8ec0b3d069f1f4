"""A queue of the calls that workers make: those of the present batch first, then those that later batches ask for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any


class TaskQueue:
    """The calls of one black box, by numbers that no two share, and the outcomes that no batch has asked for yet.

    A call ahead of its batch is known again by its task, the same object.
    """

    def __init__(self) -> None:
        self._numbers = count()
        self._waiting: deque[int] = deque()
        self._tasks: dict[int, Any] = {}  # of calls whose outcome is not known
        self._places: dict[int, int] = {}  # of the batch's unanswered calls, in the batch
        self._ahead: dict[int, int] = {}  # the calls' numbers by the identities of their tasks
        self._early: dict[int, tuple[Any, Any]] = {}  # with its task, so that no other object has its identity

    def begin(self, batch: Sequence[Any], ahead: Iterable[Any]) -> list[tuple[int, Any]]:
        """Begin a batch; return the place and the outcome of each of its tasks whose outcome is known already."""
        known, new = [], []
        for place, task in enumerate(batch):
            number = self._ahead.pop(id(task), None)
            if number in self._early:
                known.append((place, self._early.pop(number)[1]))
                continue
            if number is None:
                number = self._enter(task)
                new.append(number)
            self._places[number] = place
        self.put_back(new)
        for task in ahead:
            self._ahead[id(task)] = number = self._enter(task)
            self._waiting.append(number)
        return known

    def _enter(self, task: Any) -> int:
        number = next(self._numbers)
        self._tasks[number] = task
        return number

    @property
    def unanswered(self) -> bool:
        """Whether calls of the batch have no outcome yet."""
        return bool(self._places)

    @property
    def waiting(self) -> int:
        """The number of calls that no worker has begun."""
        return len(self._waiting)

    def next(self) -> int:
        """Return the number of the next call, for a worker to begin."""
        return self._waiting.popleft()

    def put_back(self, numbers: Iterable[int]) -> None:
        """Have calls made before all that are waiting."""
        self._waiting.extendleft(reversed(list(numbers)))

    def task(self, number: int) -> Any:
        """Return the task of a call that has no outcome yet."""
        return self._tasks[number]

    def finish(self, number: int, outcome: Any) -> list[tuple[int, Any]]:
        """Take in the outcome of a call; return its place in the batch and the outcome, unless it is kept for later."""
        task = self._tasks.pop(number)
        if number in self._places:
            return [(self._places.pop(number), outcome)]
        self._early[number] = task, outcome
        return []
