"""Evaluators of a batch's points: this thread, our own worker processes, or a user's executor."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Executor
from contextlib import closing
from typing import Any, Protocol, TypeAlias, cast

import numpy as np

from zoviz.core.errors import OracleError
from zoviz.core.threads.blas import SingleBlasThread
from zoviz.core.types import Evaluation
from zoviz.evaluation.executor_calls import ExecutorCalls
from zoviz.evaluation.function_call import Failure, FunctionCall, Task
from zoviz.evaluation.launch_threads import LaunchThreads
from zoviz.evaluation.task_queue import TaskQueue
from zoviz.evaluation.worker_log import WorkerLog
from zoviz.evaluation.worker_processes import WorkerProcesses

Workers: TypeAlias = int | Executor | Callable[..., Iterable[Any]]
"""The type of ``workers``: a number of processes, an executor, or a function that is called as ``map`` is."""


class Pool(Protocol):
    """Several workers that make calls at once: our own processes or threads, or a user's executor."""

    def answers(self, points: Sequence[Any], ahead: Sequence[Any]) -> Generator[tuple[int, Any], None, None]:
        """Yield the index and the outcome of each point, as they come."""

    def close(self) -> None:
        """Drop all calls."""


class Evaluator:
    """An evaluator of one black box's points: serially, by processes, by threads, or by a given executor or ``map``.

    Parameters
    ----------
    workers : int, executor, map-like callable or None
        As for ``BlackBox``.
    timeout : float, optional
        Seconds that a call may take; then it is evaluated in a process that can be ended.
    threads : bool
        Whether a number of workers means threads: for calls that only wait for another program.
    """

    def __init__(self, workers: Workers | None, timeout: float | None, threads: bool = False) -> None:
        self._workers, self._timeout, self._threads = workers, timeout, threads
        self._count: int | None = (os.cpu_count() or 1) if workers == -1 else 1 if workers is None else None
        if isinstance(workers, (int, np.integer)) and self._count is None:
            self._count = int(workers)
        self._queue = TaskQueue(self._count)
        self._pool: Pool | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._workers, self._timeout, self._threads)

    @property
    def parallel_calls(self) -> int:
        """The number of workers; 1 for an executor and for -1, so that points do not depend on the machine."""
        return self._workers if isinstance(self._workers, int) and self._workers > 1 else 1

    @property
    def log(self) -> WorkerLog:
        """The log of the workers; empty for a function that is called as ``map`` is, and for this thread."""
        return self._queue.log

    def outcomes(
        self, call: Callable[[Any], Any], points: Sequence[Any], ahead: Sequence[Any] = ()
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield the index and the outcome of each point, as they come; close it where it is not read to the end.

        Parameters
        ----------
        call : callable
        points : sequence
        ahead : sequence
            Points that a later batch has, the same objects: workers that have nothing else to do begin with them. A
            function that is called as ``map`` is, and this thread, do not.
        """
        if self._count == 1 and self._timeout is None:
            return _released(_by_map(map, call, points))
        if self._count is None and not hasattr(self._workers, "submit"):
            return _released(_by_map(cast("Callable[..., Iterable[Any]]", self._workers), call, points))
        self._pool = self._pool or self._make_pool(call)
        answers = self._pool.answers(points, ahead)
        return _released(answers) if self._count is None else answers

    def _make_pool(self, call: Callable[[Any], Any]) -> Pool:
        if self._count is None:
            return ExecutorCalls(self._workers, call, self._queue)
        if self._threads:
            return LaunchThreads(call, self._count, self._queue)
        return WorkerProcesses(call, self._count, self._timeout, self._queue)

    def once(self, call: FunctionCall, task: Task) -> Evaluation | Failure:
        """Return the outcome of a task that is not repeated, by the user's executor or here."""
        single = Evaluator(self._workers if self._count is None else 1, self._timeout)
        try:
            out: Evaluation | Failure = list(single.outcomes(call, [task]))[0][1]
            return out
        finally:
            single.close()

    def close(self) -> None:
        """End the processes, and drop the calls ahead; the next evaluation starts new ones."""
        if self._pool is not None:
            self._pool.close()
        self._pool = None


def _released(outcomes: Generator[tuple[int, Any], None, None]) -> Generator[tuple[int, Any], None, None]:
    """Yield outcomes that are found in this process, where the functions have all of its threads."""
    with SingleBlasThread.released(), closing(outcomes):
        yield from outcomes


def _by_map(
    mapper: Callable[..., Iterable[Any]], call: Callable[[Any], Any], points: Sequence[Any]
) -> Generator[tuple[int, Any], None, None]:
    """Yield outcomes in order from anything that is called as ``map`` is.

    Raises
    ------
    OracleError
        Where it returns fewer values than there are points.
    """
    count = 0
    for outcome in mapper(call, points):
        yield count, outcome
        count += 1
    if count != len(points):
        raise OracleError(f"Expected {len(points)} values from workers(function, points), got {count}.")


def check_workers(workers: Workers | None, timeout: float | None, vectorised: bool) -> None:
    """Refuse a value of ``workers`` that cannot evaluate in parallel.

    Raises
    ------
    ValueError
        With a sentence.
    """
    whole = isinstance(workers, (int, np.integer)) and not isinstance(workers, bool)
    number = workers is None or whole
    if whole and workers != -1 and cast(int, workers) < 1:
        raise ValueError(f"Expected workers a number from 1, -1 for one per core, or an executor, got {workers!r}.")
    if not number and not callable(workers) and not hasattr(workers, "submit"):
        raise ValueError(f"Expected workers a number, an executor or a map-like callable, got {workers!r:.100}.")
    if not number and timeout is not None:
        raise ValueError(
            f"Expected workers as a number with a timeout, got {type(workers).__name__}: its tasks cannot be ended."
        )
    if vectorised and (timeout is not None or workers not in (None, 1)):
        raise ValueError(
            "Expected vectorised=False with workers or a timeout, got True: a call for all points at once is one task."
        )
