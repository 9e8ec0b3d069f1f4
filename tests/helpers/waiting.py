"""Waiting for what another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def until(condition: Callable[[], Any], seconds: float = 120.0, pause: float = 0.001) -> None:
    """Look now and then whether it holds, ``pause`` seconds apart, and fail after so many seconds."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(pause)
