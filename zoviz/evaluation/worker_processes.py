"""A pool of worker processes that can be killed: a call that hangs costs its timeout, never the run.

Why processes of our own: a thread cannot be ended, and one that hangs keeps the interpreter from exiting;
``concurrent.futures.ProcessPoolExecutor`` has no way to end one of its processes and go on with the others.

How they start: as fresh interpreters (forkserver, or spawn where there is none), which are safe whatever threads this
process has, and need functions that can be pickled. Functions of a notebook, lambdas and closures cannot: where the
platform can fork, their process is a fork of this one. A lock that another thread held at that moment stays locked in
the fork; the fork runs nothing but the user's functions, so that only a lock which these use could matter.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any

import numpy as np

from zoviz.core.errors import OracleError
from zoviz.evaluation.fork_server import use_own_fork_server
from zoviz.evaluation.function_call import Failure, Task, at
from zoviz.evaluation.surroundings import Surroundings
from zoviz.evaluation.task_queue import TaskQueue
from zoviz.evaluation.worker_main import serve

START_SECONDS = 60.0
"""Seconds after which a process that has not imported the functions is taken never to do so."""

_GREETING = -1
"""The task of a process that has yet to say that it could import the functions; others are numbers of calls."""


class _Refused(Exception):
    """Raised where a fresh process cannot import the user's functions."""


class WorkerProcesses:
    """A pool of up to ``count`` worker processes, started when first needed.

    Parameters
    ----------
    call : callable
        A point (n,) to a value or a ``Failure``.
    count : int
    timeout : float, optional
        Seconds that one call may take before its process is ended.
    queue : TaskQueue, optional
    """

    def __init__(
        self, call: Callable[[Task], Any], count: int, timeout: float | None, queue: TaskQueue | None = None
    ) -> None:
        self._call, self._count, self._timeout = call, count, timeout
        self._processes: list[_WorkerProcess] = []
        self._shipment: tuple[str, Any] | None = None
        self._queue = queue or TaskQueue(count)
        self._finalizer = weakref.finalize(self, _end, self._processes, os.getpid())

    def close(self) -> None:
        """End all processes; the next use starts new ones."""
        _end(self._processes, os.getpid())
        self._queue.clear()

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._call, self._count, self._timeout)

    def outcomes(self, points: Sequence[Task]) -> list[Any]:
        """Return what the call returned at each point (n,), in order; raises as ``answers`` does."""
        return [answer for _, answer in sorted(self.answers(points), key=lambda pair: pair[0])]

    def answers(self, points: Sequence[Task], ahead: Sequence[Task] = ()) -> Generator[tuple[int, Any], None, None]:
        """Yield the index of each point (n,) and what the call returned there, as they come.

        Parameters
        ----------
        points : sequence
        ahead : sequence
            Points that a later batch has, the same objects: processes that have nothing else to do begin with them.

        Raises
        ------
        OracleError
            Where the functions cannot be brought into a process.
        """
        answers = self._queue.begin(points, ahead)
        try:
            while True:
                yield from answers
                if not self._queue.unanswered:
                    return
                self._give()
                answers = []
                try:
                    self._collect(answers)
                except _Refused as refusal:
                    self._fork(str(refusal))
        finally:
            if self._queue.unanswered:
                self.close()  # also on Ctrl-C: what is under way would answer the next batch

    def _give(self) -> None:
        """Give a call to every process that has none."""
        self._start(self._queue.waiting)
        for member in self._processes:
            if member.task is None and self._queue.waiting:
                number = self._queue.next(str(member.number))
                member.give(number, self._queue.task(number), self._timeout)

    def _fork(self, reason: str) -> None:
        """Change to forked processes, where fresh ones cannot import the functions, and begin again what is under way.

        E.g. a module that a server or a test runner loaded by its path: this process alone has it.
        """
        if "fork" not in multiprocessing.get_all_start_methods():
            raise _not_importable(reason) from None
        lost = [member.task for member in self._processes if member.task is not None and member.task >= 0]
        _end(self._processes, os.getpid())
        self._shipment = "fork", self._call
        self._queue.put_back(lost)

    def _start(self, count: int) -> None:
        """Start processes for the pending points, counting idle and still-starting ones."""
        busy = sum(member.task is not None and member.task >= 0 for member in self._processes)
        while len(self._processes) < min(self._count, busy + count):
            self._shipment = self._shipment or _shipment(self._call)
            connections = [member.connection for member in self._processes]
            surroundings = Surroundings.here(self._count)
            number = min(set(range(1, self._count + 1)) - {member.number for member in self._processes})
            self._processes.append(_WorkerProcess(number, *self._shipment, surroundings, connections))

    def _collect(self, answers: list[tuple[int, Any]]) -> None:
        """Wait for the next answer, end or deadline of a process."""
        busy = [member for member in self._processes if member.task is not None]
        seconds = min(member.deadline for member in busy) - time.monotonic()
        wait([member.connection for member in busy], None if seconds == np.inf else max(seconds, 0.0))
        for member in busy:
            task = member.task
            answer = member.answer()
            if answer is None:
                continue
            if member.task is not None:
                member.end()
                self._processes.remove(member)
            if task is not None and task != _GREETING and not (member.killed and self._queue.retry(task)):
                answers += self._queue.finish(task, answer)


class _WorkerProcess:
    """One worker process and what it is doing: a task, its start-up greeting, or (None) nothing."""

    def __init__(
        self, number: int, method: str, cargo: Any, surroundings: Surroundings, siblings: list[Connection]
    ) -> None:
        self.number = number
        context: Any = multiprocessing.get_context(method)
        self.connection, theirs = context.Pipe()
        forked = [*siblings, self.connection] if method == "fork" else []
        arguments = (theirs, cargo, surroundings, forked)
        self.process = context.Process(target=serve, args=arguments, daemon=True, name="zoviz-blackbox")
        with warnings.catch_warnings(), _may_have_children():
            # Newer Pythons warn of forks beside threads: see the top of this file.
            warnings.simplefilter("ignore", DeprecationWarning)
            try:
                self.process.start()
            except ChildProcessError:  # this process is a fork of one that has a fork server
                use_own_fork_server()
                self.process.start()
        theirs.close()
        self.task: int | None = _GREETING
        self.killed = False  # by someone else, e.g. the system for want of memory
        self.deadline = time.monotonic() + START_SECONDS

    def give(self, task: int, point: Task, timeout: float | None) -> None:
        """Send a point to the process, under the number of its call."""
        self.task, self._point = task, point
        self.deadline = np.inf if timeout is None else time.monotonic() + timeout
        self._seconds = timeout
        with contextlib.suppress(OSError):  # it has died: answer() finds out
            self.connection.send(point)

    def answer(self) -> Any:
        """Return what came back, None while nothing did; ``task`` is None afterwards unless it is to be killed.

        Raises
        ------
        OracleError
            Where it does not start, or was given nothing.
        """
        task = self.task
        if task is None:
            raise OracleError("Expected a process that was given a point, got an idle one.")
        try:
            if not self.connection.poll():
                return None if time.monotonic() < self.deadline else self._late(task)
            answer = self.connection.recv()
        except (EOFError, OSError):
            answer = None
        if answer is None:
            return self._died(task)
        if task == _GREETING and answer is not True:
            raise _Refused(answer)
        self.task = None
        return answer

    def _late(self, task: int) -> Failure:
        if task == _GREETING:
            raise OracleError(f"Expected a process that starts within {START_SECONDS:g} s, got none.")
        where = at(self._point)
        return Failure(TimeoutError(f"Expected a value within {self._seconds:g} s, got none at {where}."), True)

    def _died(self, task: int) -> Failure:
        self.process.join(1.0)
        code = self.process.exitcode
        if task == _GREETING:
            raise OracleError(
                f"Expected a process that imports the functions, got one that ended with exit code {code}: in a "
                'script, put the call under if __name__ == "__main__":.'
            )
        self.killed = code in (-signal.SIGKILL, -signal.SIGTERM) if os.name == "posix" else False
        where = at(self._point)
        return Failure(OracleError(f"Expected a value, got a process that ended with exit code {code} at {where}."))

    def end(self) -> None:
        """Kill the process and all that it has started."""
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.join(5.0)
        self.connection.close()


@contextlib.contextmanager
def _may_have_children() -> Iterator[None]:
    """Let this process start others although it is a daemonic one, e.g. of somebody's pool.

    The ban is there since such a process is ended without notice, and would leave its children behind. Ours end
    themselves.
    """
    this = multiprocessing.current_process()
    if not this.daemon:
        yield
        return
    this.daemon = False
    try:
        yield
    finally:
        this.daemon = True


def _end(processes: list[_WorkerProcess], owner: int) -> None:
    if os.getpid() == owner:  # a fork has a copy of the list
        while processes:
            processes.pop().end()


def _shipment(call: Callable[[Task], Any]) -> tuple[str, Any]:
    """Return how to start a process for these functions, and the bytes to send it."""
    fresh = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
    main_file = getattr(sys.modules["__main__"], "__file__", None)
    try:
        cargo = pickle.dumps(call)
        reason = "they live in an interactive session"
        # A fresh interpreter runs the script again, to find what it defines: it must be there, and be a file.
        importable = b"__main__" not in cargo if main_file is None else os.path.isfile(main_file)
    except Exception as error:  # pickling a user's objects may raise anything
        reason, importable = str(error), False
    if importable:
        return fresh, cargo
    if "fork" in multiprocessing.get_all_start_methods():
        return "fork", call
    raise _not_importable(reason)


def _not_importable(reason: str) -> OracleError:
    return OracleError(
        f"Expected functions that another process can import, got others ({reason}): define them at the top of a "
        "module, or pass a ThreadPoolExecutor as workers (without a timeout)."
    )
