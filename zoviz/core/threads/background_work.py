"""Work that a page does not wait for: done by a thread, and taken up by a later refresh."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from typing import TypeVar

_Result = TypeVar("_Result")


def in_background(task: Callable[[], _Result]) -> Future[_Result]:
    """Have a thread do a task, and return its future: what the task raises, ``result()`` raises.

    The thread does not hold up the end of the process, as those of an executor would.
    """
    future: Future[_Result] = Future()

    def work() -> None:
        try:
            future.set_result(task())
        except BaseException as error:  # whoever asks for the result is told
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future


def file_in_background(write: Callable[[Path], None], suffix: str) -> Future[bytes]:
    """Have a thread write a file under a name with this suffix, and return the future of its bytes."""

    def task() -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"file.{suffix}"
            write(path)
            return path.read_bytes()

    return in_background(task)
