"""Limits of one thread: of BLAS while runs are at work, and of PyTorch while one of them computes with it."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from threadpoolctl import threadpool_limits


class SingleBlasThread:
    """A limit that holds the linear algebra libraries at one thread from the first run's start to the last run's end.

    The products inside a step are small: a second BLAS thread gains little, and where another program (a browser
    that draws the plots) wants the core it stalls every step. One thread also makes sums the same from run to run.
    The libraries keep their thread count per process, hence the count of runs here is per process too.
    """

    _lock = threading.Lock()  # runs begin and end in threads of their own, and share the count
    _active = 0
    _limits: threadpool_limits | None = None

    def __enter__(self) -> None:
        cls = SingleBlasThread
        with cls._lock:
            if not cls._active:
                cls._limits = threadpool_limits(limits=1, user_api="blas")
            cls._active += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        cls = SingleBlasThread
        with cls._lock:
            cls._active -= 1
            if not cls._active and cls._limits is not None:
                cls._limits.restore_original_limits()
                cls._limits = None


class _PyTorch:
    """What everything in the process shares: PyTorch's number of threads and generator, and the filters of warnings."""

    lock = threading.RLock()


@contextmanager
def quiet_pytorch() -> Iterator[None]:
    """Hold PyTorch at one thread and its generator apart, and keep back what its libraries warn of.

    One thread of the process at a time: two runs, or a run and its picture, would hand each other their settings, and
    sums by two threads round differently. They warn of jitter added to a matrix and of line searches that ended early,
    neither of which anybody can mend, and of PyTorch's plans; some of it whatever the filters say, so that it is
    recorded and dropped.
    """
    with _PyTorch.lock, warnings.catch_warnings(record=True):
        warnings.simplefilter("ignore")
        import torch

        count = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)  # only a fit that failed draws anything, to begin again elsewhere
                yield
        finally:
            torch.set_num_threads(count)
