"""A queue of the calls that workers make: those of the present batch first, then those that later batches ask for."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import count
from typing import Any

from zoviz.evaluation.worker_log import WorkerLog


class TaskQueue:
    """The calls of one black box, by numbers that no two share, and the outcomes that no batch has asked for yet.

    A call ahead of its batch is known again by its task, the same object.

    Parameters
    ----------
    workers : int, optional
        Number of workers; None: an executor's.

    Attributes
    ----------
    log : WorkerLog
        Who makes which call, and since when.
    """

    def __init__(self, workers: int | None = None) -> None:
        self.log = WorkerLog(workers)
        self._numbers = count()
        self.clear()

    def clear(self) -> None:
        """Drop all calls; their numbers are never used again."""
        self.log.clear()
        self._waiting: deque[int] = deque()
        self._tasks: dict[int, Any] = {}  # of calls whose outcome is not known
        self._places: dict[int, int] = {}  # of the batch's unanswered calls, in the batch
        self._ahead: dict[int, int] = {}  # the calls' numbers by the identities of their tasks
        self._early: dict[int, tuple[Any, Any]] = {}  # with its task, so that no other object has its identity
        self._again: set[int] = set()  # calls that were lost once

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
        self.log.queued = len(self._waiting)
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

    def next(self, worker: str = "") -> int:
        """Return the number of the next call, which a worker begins."""
        number = self._waiting.popleft()
        self.log.begin(number, worker)
        self.log.queued = len(self._waiting)
        return number

    def put_back(self, numbers: Sequence[int]) -> None:
        """Have calls made before all that are waiting, again where their workers are gone."""
        self.log.lose(numbers)
        self._waiting.extendleft(reversed(numbers))
        self.log.queued = len(self._waiting)

    def retry(self, number: int) -> bool:
        """Put back a call that was lost with its worker, once: then the point itself may be what ends workers."""
        if number in self._again:
            return False
        self._again.add(number)
        self.put_back([number])
        return True

    def task(self, number: int) -> Any:
        """Return the task of a call that has no outcome yet."""
        return self._tasks[number]

    def finish(
        self, number: int, outcome: Any, worker: str = "", seconds: float | None = None
    ) -> list[tuple[int, Any]]:
        """Take in the outcome of a call; return its place in the batch and the outcome, unless it is kept for later.

        ``worker`` and ``seconds`` are whose it is and how long it took, where the worker says so itself.
        """
        self.log.end(number, worker, seconds)
        self._again.discard(number)
        task = self._tasks.pop(number)
        if number in self._places:
            return [(self._places.pop(number), outcome)]
        self._early[number] = task, outcome
        return []
