"""An event loop of a test's own."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def result_of(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in a loop of its own, in a thread: a browser's test may have left one running in this."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
