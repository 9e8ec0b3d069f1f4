"""The thread in which everything happens that concerns the views in a notebook's cells."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

import panel as pn

_Result = TypeVar("_Result")


class PageThread:
    """A thread with an event loop, for views that stay alive while a cell keeps the kernel's main thread busy.

    A notebook's front end sends what a person does to the main thread, or to another one; views are refreshed four
    times a second. Done in one thread, none of it meets the other in the middle of a change of a document.
    """

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._work, name="zoviz-cells", daemon=True)
        self._thread.start()

    def _work(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def soon(self, task: Callable[[], object]) -> None:
        """Have a task done after those that wait already; what it raises is logged by the loop."""
        self._loop.call_soon_threadsafe(task)

    def do(self, task: Callable[[], _Result]) -> _Result:
        """Have a task done, and wait for its value or its error."""
        if threading.current_thread() is self._thread:
            return task()
        future: Future[_Result] = Future()

        def work() -> None:
            try:
                future.set_result(task())
            except BaseException as error:  # raised where it is waited for
                future.set_exception(error)

        self.soon(work)
        return future.result()

    def every(self, seconds: float, task: Callable[[], bool]) -> None:
        """Have a task done again and again, with pauses, until it returns False."""

        def again() -> None:
            if task():
                self._loop.call_later(seconds, again)

        self.soon(again)


def page_thread() -> PageThread:
    """Return this process's one thread for views in cells."""
    return pn.state.as_cached("zoviz page thread", PageThread)
