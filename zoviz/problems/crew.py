"""Who evaluates the points of a batch: this thread, processes of our own, or an executor of the user's."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from zoviz.problems.evaluation import Call, Failure
from zoviz.problems.processes import Processes
from zoviz.types import Array, Evaluation, OracleError


class Crew:
    """Those who evaluate one black box.

    Parameters
    ----------
    workers : int, executor, map-like callable or None
        As for ``BlackBox``.
    timeout : float, optional
        Seconds that a call may take; then it is evaluated in a process that can be ended.
    """

    def __init__(self, workers: Any, timeout: float | None) -> None:
        self._workers, self._timeout = workers, timeout
        self._processes: Processes | None = None

    def outcomes(self, call: Call, points: Sequence[Array]) -> Iterator[Evaluation | Failure]:
        """Values and failures in the order of the points; to be closed where they are not read to the end."""
        if hasattr(self._workers, "submit"):
            return _by_executor(self._workers, call, points)
        if callable(self._workers):
            return _by_map(self._workers, call, points)
        count = (os.cpu_count() or 1) if self._workers == -1 else self._workers or 1
        if count == 1 and self._timeout is None:
            return _by_map(map, call, points)
        if self._processes is None:
            self._processes = Processes(call, count, self._timeout)
        return (outcome for outcome in self._processes.outcomes(points))

    def once(self, call: Call, x: Array) -> Evaluation | Failure:
        """The value at one point of a call that is not made again."""
        if self._timeout is None:
            return call(x)
        processes = Processes(call, 1, self._timeout)
        try:
            return processes.outcomes([x])[0]
        finally:
            processes.close()

    def close(self) -> None:
        """End the processes; the next evaluation starts new ones."""
        if self._processes is not None:
            self._processes.close()
            self._processes = None


def _by_executor(executor: Any, call: Call, points: Sequence[Array]) -> Iterator[Any]:
    """Outcomes in order, from anything with ``submit``; what is not needed any more is cancelled.

    Raises
    ------
    OracleError
        Where the executor cannot do it: the functions themselves raise nothing here.
    """
    futures: list[Any] = []
    try:
        for point in points:
            futures.append(executor.submit(call, point))
        for future in futures:
            yield future.result()
    except Exception as error:
        raise OracleError(
            f"Expected a black box that {type(executor).__name__} can evaluate, got {type(error).__name__}: {error}. "
            "Processes need functions defined at the top of a module; ThreadPoolExecutor takes any."
        ) from error
    finally:
        for future in futures:
            future.cancel()


def _by_map(mapper: Callable[..., Iterable[Any]], call: Call, points: Sequence[Array]) -> Iterator[Any]:
    """Outcomes in order, from anything that is called as ``map`` is.

    Raises
    ------
    OracleError
        Where it returns fewer values than there are points.
    """
    count = 0
    for outcome in mapper(call, points):
        count += 1
        yield outcome
    if count != len(points):
        raise OracleError(f"Expected {len(points)} values from workers(function, points), got {count}.")


def check_workers(workers: Any, timeout: float | None, vectorised: bool) -> None:
    """Refuse workers that cannot do what is asked of them.

    Raises
    ------
    ValueError
        With a sentence.
    """
    number = workers is None or (isinstance(workers, (int, np.integer)) and not isinstance(workers, bool))
    if number and workers is not None and workers != -1 and workers < 1:
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
