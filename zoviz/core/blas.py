"""A limit of one BLAS thread while runs are at work."""

from __future__ import annotations

import threading
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
