"""Waiting for what another thread or process does."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any


def until(condition: Callable[[], Any], seconds: float = 120.0, pause: float = 0.001) -> None:
    """Look now and then whether it holds, ``pause`` seconds apart, and fail after so many seconds.

    What takes more than a second is looked at less often, lest the looking keep the machine from it.
    """
    begun = time.monotonic()
    while not condition():
        waited = time.monotonic() - begun
        assert waited < seconds, "waited in vain"
        time.sleep(pause if waited < 1.0 else max(pause, 0.02))
