"""Calls by a user's executor: anything with ``submit``, such as a pool of threads, a Dask client's, or submitit's."""

from __future__ import annotations

import contextlib
import os
import pickle
import socket
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing.reduction import ForkingPickler
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple
from uuid import uuid4

from zoviz.core.errors import OracleError, described
from zoviz.evaluation.function_call import Failure
from zoviz.evaluation.task_queue import TaskQueue

POLL = 0.05
"""Seconds between two looks at futures that call nobody back: submitit's jobs, which it sees by their files."""


class Answer(NamedTuple):
    """The outcome of a call, who made it, and how long it took there."""

    outcome: Any
    worker: str
    seconds: float


class ExecutorCalls:
    """The calls that an executor makes; it is handed all at once, and orders them itself.

    Parameters
    ----------
    executor : object with ``submit``
        Its futures have ``done``, ``result`` and ``cancel``; those that have ``add_done_callback`` are not polled.
    call : callable
        A point to its outcome.
    queue : TaskQueue
    """

    def __init__(self, executor: Any, call: Callable[[Any], Any], queue: TaskQueue) -> None:
        self._executor, self._call, self._queue = executor, call, queue
        self._futures: dict[int, Any] = {}
        self._finished: SimpleQueue[int] = SimpleQueue()
        self._is_dask = type(executor).__module__.startswith("distributed.")

    def answers(self, points: Sequence[Any], ahead: Sequence[Any]) -> Generator[tuple[int, Any], None, None]:
        """Yield outcomes as they come; cancel what is no longer needed.

        Raises
        ------
        OracleError
            Where the executor cannot do it: the functions themselves raise nothing here.
        """
        try:
            call = self._portable()
            yield from self._queue.begin(points, ahead)
            while self._queue.unanswered:
                while self._queue.waiting:
                    self._submit(call, self._queue.next())
                number = self._next()
                future = self._futures.pop(number)
                if self._is_lost(future) and self._queue.retry(number):
                    continue
                yield from self._queue.finish(number, *_result(future))
        except Exception as error:  # another library's executor may raise anything
            raise OracleError(
                f"Expected a black box that {type(self._executor).__name__} can evaluate, got {described(error)}. "
                "Processes need functions at the top of a module that they can import; ThreadPoolExecutor takes any."
            ) from error
        finally:
            if self._queue.unanswered:
                self.close()

    def close(self) -> None:
        """Drop all calls, and cancel those that have not begun."""
        self._queue.clear()
        while self._futures:
            with contextlib.suppress(Exception):  # submitit's command for it fails where the job has ended
                self._futures.popitem()[1].cancel()

    def _portable(self) -> Callable[[Any], Any]:
        """Return the call as this executor can pass it on."""
        if self._is_dask:
            return _PickledCall.of(self._call)
        if isinstance(self._executor, ProcessPoolExecutor):
            # What it cannot pickle must not get into its queue: before Python 3.12.8, shutdown may then never return
            # (python/cpython#125451).
            ForkingPickler.dumps(self._call)
        return self._call

    def _submit(self, call: Callable[[Any], Any], number: int) -> None:
        # A name of its own: Dask takes two tasks with equal arguments for one, and noise would be the same twice.
        future = self._executor.submit(_answer, call, self._queue.task(number), uuid4().hex)
        self._futures[number] = future
        if hasattr(future, "add_done_callback"):
            future.add_done_callback(lambda _: self._finished.put(number))

    def _next(self) -> int:
        """Return the number of a call whose future is done, but of none that was dropped meanwhile."""
        while True:
            polled = [one for one, future in self._futures.items() if not hasattr(future, "add_done_callback")]
            try:
                number = self._finished.get(timeout=POLL if polled else None)
            except Empty:
                number = next((one for one in polled if self._futures[one].done()), -1)
            if number in self._futures:
                return number

    def _is_lost(self, future: Any) -> bool:
        """Return whether a worker died with a call, or with its outcome: then it is to be made again.

        Dask's executor takes an outcome that was about to be fetched for the three parts of an error, and fails to
        unpack it: a ``ValueError``, which no task raises by itself.
        """
        error = future.exception()
        return (self._is_dask and isinstance(error, ValueError)) or type(error).__name__ == "UncompletedJobError"


class _PickledCall(bytes):
    """A pickled call, unpickled in the process that makes it: a Dask worker dies of a task that it cannot unpickle."""

    @classmethod
    def of(cls, call: Callable[[Any], Any]) -> _PickledCall:
        """Pickle a call by Dask's own serialiser, which takes closures and what a notebook defines."""
        from distributed.protocol.pickle import dumps

        return cls(dumps(call))

    def __call__(self, point: Any) -> Any:
        return pickle.loads(self)(point)


def _answer(call: Callable[[Any], Any], point: Any, name: str) -> Answer:
    """Return the outcome of a task, whatever its name."""
    begun = time.perf_counter()
    outcome = call(point)
    worker = [socket.gethostname()]
    if "SUBMITIT_EXECUTOR" not in os.environ:  # each of whose jobs is a process of its own
        worker += [f"process {os.getpid()}", threading.current_thread().name]
    return Answer(outcome, ", ".join(worker), time.perf_counter() - begun)


def _result(future: Any) -> Answer:
    """Return the outcome of a task, or a failure if it was given up since worker after worker died of it."""
    try:
        answer: Answer = future.result()
        return answer
    except Exception as error:  # raised again but for those told by their names, as Dask and submitit need not be there
        if type(error).__name__ not in ("KilledWorker", "UncompletedJobError"):
            raise
        story = " ".join(str(error).partition(". ")[0].split())
        return Answer(Failure(OracleError(f"Expected a value, got the end of the worker processes: {story}.")), "", 0.0)
