"""Evaluators of a batch's points: this thread, our own worker processes, or a user's executor."""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable, Generator, Iterable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import closing
from multiprocessing.reduction import ForkingPickler
from queue import SimpleQueue
from typing import Any, TypeAlias, cast
from uuid import uuid4

import numpy as np

from zoviz.core.errors import OracleError, described
from zoviz.core.threads.blas import SingleBlasThread
from zoviz.core.types import Evaluation
from zoviz.evaluation.function_call import Failure, FunctionCall, Task
from zoviz.evaluation.task_queue import TaskQueue
from zoviz.evaluation.worker_processes import WorkerProcesses

Workers: TypeAlias = int | Executor | Callable[..., Iterable[Any]]
"""The type of ``workers``: a number of processes, an executor, or a function that is called as ``map`` is."""


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
        self._processes: WorkerProcesses | None = None
        self._launches: _Threads | None = None
        self._futures: dict[int, tuple[Any, Any]] = {}  # of calls ahead: task and future by the task's identity

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._workers, self._timeout, self._threads)

    @property
    def parallel_calls(self) -> int:
        """The number of workers; 1 for an executor and for -1, so that points do not depend on the machine."""
        return self._workers if isinstance(self._workers, int) and self._workers > 1 else 1

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
        workers = self._workers
        if hasattr(workers, "submit"):
            return _released(_by_executor(workers, call, points, ahead, self._futures))
        if callable(workers):
            return _released(_by_map(workers, call, points))
        count = (os.cpu_count() or 1) if workers == -1 else int(cast(int, workers or 1))
        if count == 1 and self._timeout is None:
            return _released(_by_map(map, call, points))
        if self._threads:
            self._launches = self._launches or _Threads(count)
            return self._launches.answers(call, points, ahead)
        if self._processes is None:
            self._processes = WorkerProcesses(call, count, self._timeout)
        return self._processes.answers(points, ahead)

    def once(self, call: FunctionCall, task: Task) -> Evaluation | Failure:
        """Return the outcome of a task that is not repeated, by the user's executor or here."""
        if callable(self._workers) or hasattr(self._workers, "submit"):
            out: Evaluation | Failure = list(self.outcomes(call, [task]))[0][1]
            return out
        if self._timeout is None:
            with SingleBlasThread.released():
                return call(task)
        processes = WorkerProcesses(call, 1, self._timeout)
        try:
            out = processes.outcomes([task])[0]
            return out
        finally:
            processes.close()

    def close(self) -> None:
        """End the processes, and drop the calls ahead; the next evaluation starts new ones."""
        if self._processes is not None:
            self._processes.close()
        self._processes = self._launches = None
        while self._futures:
            self._futures.popitem()[1][1].cancel()


def _released(outcomes: Generator[tuple[int, Any], None, None]) -> Generator[tuple[int, Any], None, None]:
    """Yield outcomes that are found in this process, where the functions have all of its threads."""
    with SingleBlasThread.released(), closing(outcomes):
        yield from outcomes


def _by_executor(
    executor: Any,
    call: Callable[[Any], Any],
    points: Sequence[Any],
    ahead: Sequence[Any],
    early: dict[int, tuple[Any, Any]],
) -> Generator[tuple[int, Any], None, None]:
    """Yield outcomes as they come from anything with ``submit``; cancel what is no longer needed.

    The calls ahead are submitted after the batch's, and kept in ``early`` for the batch that has their points.

    Raises
    ------
    OracleError
        Where the executor cannot do it: the functions themselves raise nothing here.
    """
    finished: SimpleQueue[int] = SimpleQueue()
    second_tries: set[int] = set()
    is_dask = type(executor).__module__.startswith("distributed.")

    def submit(point: Any) -> Any:
        # A name of its own: Dask takes two tasks with equal arguments for one, and noise would be the same twice.
        return executor.submit(_answer, call, point, uuid4().hex)

    def watched(i: int, future: Any) -> Any:
        future.add_done_callback(lambda _: finished.put(i))
        return future

    futures: list[Any] = []
    try:
        if is_dask:
            call = _PickledCall.of(call)
        elif isinstance(executor, ProcessPoolExecutor):
            # What it cannot pickle must not get into its queue: before Python 3.12.8, shutdown may then never return
            # (python/cpython#125451).
            ForkingPickler.dumps(call)
        for i, point in enumerate(points):
            futures.append(watched(i, early.pop(id(point))[1] if id(point) in early else submit(point)))
        early.update((id(point), (point, submit(point))) for point in ahead)
        left = len(points)
        while left:
            i = finished.get()
            if is_dask and i not in second_tries and _is_lost(futures[i]):
                second_tries.add(i)
                futures[i] = watched(i, submit(points[i]))
                continue
            left -= 1
            yield i, _result(futures[i])
    except Exception as error:  # another library's executor may raise anything
        raise OracleError(
            f"Expected a black box that {type(executor).__name__} can evaluate, got {described(error)}. "
            "Processes need functions at the top of a module that they can import; ThreadPoolExecutor takes any."
        ) from error
    finally:
        for future in futures:
            future.cancel()


class _PickledCall(bytes):
    """A pickled call, unpickled in the process that makes it: a Dask worker dies of a task that it cannot unpickle."""

    @classmethod
    def of(cls, call: Callable[[Any], Any]) -> _PickledCall:
        """Pickle a call by Dask's own serialiser, which takes closures and what a notebook defines."""
        from distributed.protocol.pickle import dumps

        return cls(dumps(call))

    def __call__(self, point: Any) -> Any:
        return pickle.loads(self)(point)


def _answer(call: Callable[[Any], Any], point: Any, name: str) -> Any:
    """Return the outcome of a task, whatever its name."""
    return call(point)


def _is_lost(future: Any) -> bool:
    """Return whether a Dask worker died with an outcome that was about to be fetched: then it must be found again.

    Dask's executor takes such an outcome for the three parts of an error, and fails to unpack it: a ``ValueError``,
    which no task raises by itself.
    """
    return not future.cancelled() and isinstance(future.exception(), ValueError)


def _result(future: Any) -> Any:
    """Return the outcome of a Dask task, or a failure if Dask gave it up since worker after worker died of it."""
    try:
        return future.result()
    except Exception as error:  # raised again but for one that is told by its name, as Dask need not be installed
        if type(error).__name__ != "KilledWorker":
            raise
        story = str(error).partition(". ")[0]
        return Failure(OracleError(f"Expected a value, got the end of the worker processes: {story}."))


class _Threads:
    """A thread for each call, so many at a time; another begins once an outcome has been read.

    A ``ThreadPoolExecutor`` would keep the interpreter from exiting until all that was asked of it is done, and its
    threads would go on while nobody knows yet what they have found.

    Parameters
    ----------
    count : int
    """

    def __init__(self, count: int) -> None:
        self._free, self._queue = count, TaskQueue()
        self._results: SimpleQueue[tuple[int, Any]] = SimpleQueue()

    def answers(
        self, call: Callable[[Any], Any], points: Sequence[Any], ahead: Sequence[Any]
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield outcomes as they come."""

        def work(number: int, point: Any) -> None:
            try:
                self._results.put((number, call(point)))
            except Exception as error:  # whatever it is: who waits for this outcome would wait for ever
                self._results.put((number, Failure(error)))

        yield from self._queue.begin(points, ahead)
        while self._queue.unanswered:
            while self._free and self._queue.waiting:
                number = self._queue.next()
                arguments = number, self._queue.task(number)
                threading.Thread(target=work, args=arguments, daemon=True, name="zoviz-launch").start()
                self._free -= 1
            number, outcome = self._results.get()
            self._free += 1
            yield from self._queue.finish(number, outcome)


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
