"""A process group that ends with this process, however that ends.

A guard, a shell that reads from a pipe, leads the group, and kills it when the pipe is closed: by us, or by the kernel
when this process is no more. A death signal to the child (Linux alone has it) would spare what the child has started,
and would come when the thread ends that started the child, not the process.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import IO, Any, AnyStr

_GUARD = "trap '' HUP INT QUIT TERM; echo; read -r line; kill -KILL 0"
"""The guard of the group: it prints a line once it ignores HUP, INT, QUIT and TERM; programs start only then."""


class Ended(Exception):
    """Raised where a program is to start in a group that has been ended."""


def pipe(stream: IO[AnyStr] | None) -> IO[AnyStr]:
    """Return the stream of a process that was started with a pipe in its place.

    Raises
    ------
    ValueError
        Where it was started without.
    """
    if stream is None:
        raise ValueError("Expected a process that was started with a pipe, got one without: pass subprocess.PIPE.")
    return stream


class ProcessGroup:
    """A process group with one program and all that it starts, to be used in a ``with`` statement."""

    def __init__(self) -> None:
        # The thread that runs a program and the one that ends the group meet here: no program starts after the end.
        self._lock, self.ended = threading.Lock(), False
        self._program: subprocess.Popen[bytes] | None = None
        self._guard: subprocess.Popen[bytes] | None = None
        if os.name == "posix":
            self._guard = subprocess.Popen(
                ["/bin/sh", "-c", _GUARD],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                process_group=0,
                cwd="/",
                env={},
            )
            with pipe(self._guard.stdout) as output:
                output.readline()

    def __enter__(self) -> ProcessGroup:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        for process in (self._program, self._guard):
            if process is not None:
                process.wait()
        if self._guard is not None and self._guard.stdin is not None:
            self._guard.stdin.close()

    def run(
        self,
        words: Sequence[str],
        folder: str,
        environment: Mapping[str, str],
        streams: tuple[IO[bytes] | int, IO[bytes], IO[bytes]],
        timeout: float | None,
    ) -> int | None:
        """Run a program to its end: exit status, negative for a signal's, None where it took too long and was ended.

        Parameters
        ----------
        words : sequence of str
            The program and its arguments; there is no shell.
        folder : str
            Its working folder.
        environment : mapping
            All of its environment variables.
        streams : tuple
            Its standard input, output and error.
        timeout : float, optional
            Seconds.

        Raises
        ------
        Ended
            Where ``end`` was called before, or while it ran.
        OSError
            Where it cannot be started.
        """
        options: dict[str, Any] = {} if self._guard is None else {"process_group": self._guard.pid}
        with self._lock:
            if self.ended:
                raise Ended
            self._program = subprocess.Popen(
                words, stdin=streams[0], stdout=streams[1], stderr=streams[2], cwd=folder, env=environment, **options
            )
        return self._wait(self._program, timeout)

    def _wait(self, program: subprocess.Popen[bytes], timeout: float | None) -> int | None:
        late = threading.Event()
        # Not Popen.wait(timeout): it looks every 50 ms.
        timer = None if timeout is None else threading.Timer(timeout, self._give_up, [late])
        if timer is not None:
            timer.daemon = True
            timer.start()
        try:
            status = program.wait()
        finally:
            if timer is not None:
                timer.cancel()
        if self.ended:
            raise Ended
        return None if late.is_set() and status < 0 else status

    def _give_up(self, late: threading.Event) -> None:
        late.set()
        self._kill()

    def end(self) -> None:
        """Kill the program and all that it has started; nothing can be started in the group any more."""
        with self._lock:
            self.ended = True
        self._kill()

    def _kill(self) -> None:
        if self._guard is None:
            if self._program is not None:
                self._program.kill()
            return
        # The guard is waited for last: until then no other group has its number.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._guard.pid, signal.SIGKILL)
