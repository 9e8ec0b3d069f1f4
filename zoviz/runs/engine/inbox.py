"""The one-way street from people to a worker: commands and changes of parameters."""

from __future__ import annotations

import threading
from collections import deque
from typing import Any


class Inbox:
    """Requests posted by any thread, taken by the worker between two steps.

    Attributes
    ----------
    waiting : bool
        True while there is something to take: one attribute read per step is all that an idle inbox costs.
    paused, stopping : bool
        What the last commands ask for.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._changes: deque[tuple[str, Any]] = deque()
        self._applying = False
        self._steps = 0
        self.waiting = False
        self.paused = False
        self.stopping = False

    def post(self, name: str, value: Any) -> None:
        """Ask for a parameter's new value."""
        with self._condition:
            self._changes.append((name, value))
            self._wake()

    def command(self, name: str, steps: int = 1) -> None:
        """Ask for "pause", "unpause", "step" (``steps`` of them, then pause) or "stop"."""
        with self._condition:
            self.paused = {"pause": True, "step": True, "unpause": False, "stop": self.paused}[name]
            self._steps = self._steps + steps if name == "step" else 0
            self.stopping = self.stopping or name == "stop"
            self._wake()

    @property
    def settled(self) -> bool:
        """Whether every change that was posted has been made."""
        with self._condition:
            return not self._changes and not self._applying

    def _wake(self) -> None:
        self.waiting = True
        self._condition.notify_all()

    def take(self) -> list[tuple[str, Any]]:
        """The changes posted so far, oldest first; the worker calls this while ``waiting``."""
        with self._condition:
            changes = list(self._changes)
            self._changes.clear()
            self._applying = bool(changes)
            self.waiting = self.paused or self.stopping
            return changes

    def may_step(self) -> bool:
        """Whether the worker may take a step now, not waiting; uses up one granted step while paused."""
        with self._condition:
            self._applying = False
            if self.stopping:
                return False
            if self.paused and self._steps:
                self._steps -= 1
                return True
            return not self.paused

    def wait(self) -> None:
        """Block until something changes."""
        with self._condition:
            if not self._changes and self.paused and not self._steps and not self.stopping:
                self._condition.wait()
