"""Processes that do the cells of a study."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import active_children, get_context

from tqdm import tqdm

from zoviz.core.errors import ZovizError

LOST = "the store did not take them"
"""Why a cell is still missing of which nobody said that it failed."""


@contextmanager
def crew(workers: int) -> Iterator[Executor]:
    """So many processes of this machine; Ctrl-C ends them at once, and the store has what they came to.

    Parameters
    ----------
    workers : int
    """
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


def gathered(futures: Sequence[Future[str]], bar: tqdm) -> str:
    """Wait for all; why the last one was lost that was lost with its worker.

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
                lost = f"{type(error).__name__}: {error}".rstrip(".")
    finally:
        for future in futures:
            future.cancel()
    return lost
