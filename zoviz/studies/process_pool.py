"""The pool of processes that run a study's cells."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from tqdm import tqdm

from zoviz.core.errors import ZovizError, described

LOST = "the store did not take them"
"""Default reason for a cell that has no stored result and reported no error."""


@contextmanager
def process_pool(workers: int) -> Iterator[Executor]:
    """Return a pool of processes on this machine; Ctrl-C ends them at once, and the store keeps their runs."""
    others = set(active_children())
    context = get_context("spawn")  # a fork would inherit threads' locks and the store's connections
    deaf = (signal.SIGINT, signal.SIG_IGN)
    with ProcessPoolExecutor(workers, context, initializer=signal.signal, initargs=deaf) as executor:
        try:
            yield executor
        except KeyboardInterrupt:
            for process in set(active_children()) - others:
                process.terminate()
            raise


def wait_for_all(futures: Sequence[Future[str]], bar: tqdm) -> str:
    """Wait for all futures and return the reason that the last crashed worker gave.

    Parameters
    ----------
    futures : sequence of Future
    bar : tqdm
        Moved on by each that ended.

    Raises
    ------
    Exception
        What made a cell impossible; those that have not begun are then called off.
    """
    lost = LOST
    try:
        for future in as_completed(futures):
            error = future.exception()
            if error is None:
                bar.update()
            elif isinstance(error, (ZovizError, ValueError)):
                raise error
            else:
                lost = described(error).rstrip(".")
    finally:
        for future in futures:
            future.cancel()
    return lost
