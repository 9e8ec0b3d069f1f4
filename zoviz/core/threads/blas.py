"""Limits of one thread: of BLAS while runs are at work, and of PyTorch while one of them computes with it."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType

from threadpoolctl import LibController, ThreadpoolController


class SingleBlasThread:
    """A limit that holds the linear algebra libraries at one thread from the first run's start to the last run's end.

    The products inside a step are small: a second BLAS thread gains little, and where another program (a browser
    that draws the plots) wants the core it stalls every step. One thread also makes sums the same from run to run.
    The libraries keep their thread count per process, hence the count of runs here is per process too.

    A caller's function has the threads that it has outside: ``released``. That is so of one run alone; of several at a
    time each would have the others' steps in as many threads.
    """

    _lock = threading.Lock()  # runs begin and end in threads of their own, and share the counts
    _runs, _calls = 0, 0
    _libraries: list[tuple[LibController, int]] = []  # noqa: RUF012 - replaced, never changed
    _limited = False

    def __enter__(self) -> None:
        cls = SingleBlasThread
        with cls._lock:
            if not cls._runs:
                found = ThreadpoolController().select(user_api="blas").lib_controllers
                counts = [(one, one.get_num_threads()) for one in found]
                cls._libraries = [(one, count) for one, count in counts if count is not None and count > 1]
            cls._runs += 1
            cls._settle()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        cls = SingleBlasThread
        with cls._lock:
            cls._runs -= 1
            cls._settle()

    @classmethod
    @contextmanager
    def released(cls) -> Iterator[None]:
        """Give a caller's function the threads that it has where no run is at work."""
        cls._count_calls(1)
        try:
            yield
        finally:
            cls._count_calls(-1)

    @classmethod
    def threads_outside(cls) -> int:
        """Return how many threads the libraries have where no run is at work; the most of any."""
        with cls._lock:
            if cls._runs:
                return max((count for _, count in cls._libraries), default=1)
        found = ThreadpoolController().select(user_api="blas").lib_controllers
        return max((one.get_num_threads() or 1 for one in found), default=1)

    @classmethod
    def _count_calls(cls, change: int) -> None:
        with cls._lock:
            cls._calls += change
            if cls._libraries:
                cls._settle()

    @classmethod
    def _settle(cls) -> None:
        limited = cls._runs > 1 or (cls._runs == 1 and not cls._calls)
        if limited != cls._limited:
            for library, count in cls._libraries:
                library.set_num_threads(1 if limited else count)
            cls._limited = limited


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
