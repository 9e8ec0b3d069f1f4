"""The surroundings that functions find in a process of their own: those that they would have in their caller's."""

from __future__ import annotations

import contextlib
import os
import pickle
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from zoviz.core.threads.arithmetic import error_settings
from zoviz.core.threads.blas import SingleBlasThread


class Surroundings(NamedTuple):
    """What a fresh process does not have of the one that starts it, or has as that was when its helper began.

    Attributes
    ----------
    folder : str or None
        The working folder; None where it is gone.
    variables : dict of str to str
        The environment.
    errors : dict
        The arguments of ``np.errstate``.
    threads : int
        Threads of linear algebra: the caller's, shared out among the processes.
    """

    folder: str | None
    variables: dict[str, str]
    errors: dict[str, Any]
    threads: int

    @classmethod
    def here(cls, processes: int) -> Surroundings:
        """Return the surroundings of this process, for a number of worker processes."""
        folder = None
        with contextlib.suppress(OSError):
            folder = os.getcwd()
        errors = error_settings()
        try:
            pickle.dumps(errors["call"])
        except Exception:  # pickling a user's object may raise anything
            errors = {name: "warn" if mode in ("call", "log") else mode for name, mode in errors.items()} | {
                "call": None
            }
        return cls(folder, dict(os.environ), errors, max(1, SingleBlasThread.threads_outside() // processes))

    def enter(self) -> None:
        """Set folder and environment of this process; what cannot be set stays as it is."""
        with contextlib.suppress(OSError):
            if self.folder is not None:
                os.chdir(self.folder)
        for name in [name for name in os.environ if name not in self.variables]:
            del os.environ[name]
        os.environ.update(self.variables)

    @contextmanager
    def computing(self) -> Iterator[None]:
        """Have arithmetic and threads of linear algebra in this process as the caller has them."""
        with threadpool_limits(limits=self.threads, user_api="blas"), np.errstate(**self.errors):
            yield
