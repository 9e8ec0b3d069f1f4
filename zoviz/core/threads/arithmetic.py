"""Floating-point errors: silent while a run computes, and as its caller has them while the caller's function does."""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

_CALLERS: ContextVar[dict[str, Any] | None] = ContextVar("callers_arithmetic", default=None)
"""The settings outside ``silent_arithmetic``; None where arithmetic is not silent."""


@contextmanager
def silent_arithmetic() -> Iterator[None]:
    """Ignore floating-point errors inside, except in ``callers_arithmetic``."""
    token = _CALLERS.set(error_settings())
    try:
        with np.errstate(all="ignore"):
            yield
    finally:
        _CALLERS.reset(token)


@contextmanager
def callers_arithmetic() -> Iterator[None]:
    """Treat floating-point errors as they are treated outside ``silent_arithmetic``, by ``np.errstate`` or NumPy."""
    settings = _CALLERS.get()
    if settings is None:
        yield
        return
    token = _CALLERS.set(None)
    try:
        with np.errstate(**settings):
            yield
    finally:
        _CALLERS.reset(token)


def error_settings() -> dict[str, Any]:
    """Return the arguments of ``np.errstate`` that are in force in a caller's function."""
    return _CALLERS.get() or {**np.geterr(), "call": np.geterrcall()}


def in_this_arithmetic(function: Callable[[], object]) -> Callable[[], None]:
    """Return the function to be called by another thread, whose arithmetic it then sets as it is in this one."""
    settings, decimals = error_settings(), decimal.getcontext().copy()

    def call() -> None:
        # Not a copy of all context: a page's would be held as long as the thread is at work.
        decimal.setcontext(decimals)
        with np.errstate(**settings):
            function()

    return call
