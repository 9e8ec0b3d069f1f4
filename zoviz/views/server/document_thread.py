"""The thread in which a server makes and writes down whole documents, while its event loop goes on with other pages."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from zoviz.core.threads.rests import RESTS
from zoviz.views.upstream.bokeh import know_documents_by_thread, write_documents_with
from zoviz.views.upstream.panel import make_documents_with

_Result = TypeVar("_Result")


class DocumentThread:
    """One thread for the work that takes a page seconds at its opening; pages come one after the other.

    Done by the event loop, the opening of one page stops all others: thirty who come at once would stop each other for
    a minute. The loop shares the interpreter with this thread, and has it within a millisecond whenever it asks.
    """

    def __init__(self) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix="zoviz-documents")

    async def do(self, work: Callable[[], _Result]) -> _Result:
        """Have the thread do work, with runs at rest, and return what it returns or raise what it raises."""

        def at_rest() -> _Result:
            with RESTS:
                return work()

        return await asyncio.get_running_loop().run_in_executor(self._executor, at_rest)


def use_document_thread() -> None:
    """Have the servers of this process make their documents in one thread, whose pages must be made by functions.

    A page of a script (``panel serve``) is made with the process's current document, which the event loop uses too.
    """
    thread = DocumentThread()
    know_documents_by_thread()
    make_documents_with(thread.do)
    write_documents_with(thread.do)
