"""Threads for calls that only wait for another program."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from queue import SimpleQueue
from typing import Any

from zoviz.evaluation.function_call import Failure
from zoviz.evaluation.task_queue import TaskQueue


class LaunchThreads:
    """A thread for each call, with a limit on how many are at work; the next begins once an outcome has been read.

    A ``ThreadPoolExecutor`` would keep the interpreter from exiting until all that was asked of it is done, and its
    threads would go on while nobody knows yet what they have found.

    Parameters
    ----------
    call : callable
        A point to its outcome.
    count : int
    queue : TaskQueue
    """

    def __init__(self, call: Callable[[Any], Any], count: int, queue: TaskQueue) -> None:
        self._call, self._queue, self._free = call, queue, list(range(count, 0, -1))
        self._results: SimpleQueue[tuple[int, int, Any]] = SimpleQueue()

    def answers(self, points: Sequence[Any], ahead: Sequence[Any]) -> Generator[tuple[int, Any], None, None]:
        """Yield outcomes as they come."""
        yield from self._queue.begin(points, ahead)
        while self._queue.unanswered:
            while self._free and self._queue.waiting:
                worker = self._free.pop()
                number = self._queue.next(str(worker))
                arguments = worker, number, self._queue.task(number)
                threading.Thread(target=self._work, args=arguments, daemon=True, name="zoviz-launch").start()
            worker, number, outcome = self._results.get()
            self._free.append(worker)
            yield from self._queue.finish(number, outcome)

    def _work(self, worker: int, number: int, point: Any) -> None:
        try:
            self._results.put((worker, number, self._call(point)))
        except Exception as error:  # whatever it is: who waits for this outcome would wait for ever
            self._results.put((worker, number, Failure(error)))

    def close(self) -> None:
        """Drop all calls; who owns the programs ends them."""
        self._queue.clear()
