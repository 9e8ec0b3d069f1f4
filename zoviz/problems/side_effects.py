"""What evaluating a problem does beside returning values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zoviz.core.types import Printed


class SideEffects:
    """Nothing, unless a problem says more."""

    def release(self) -> None:
        """Let go of what evaluating holds open, e.g. processes; a run does it when it ends."""

    @property
    def mishap(self) -> str:
        """Why the first evaluation that failed did so, as a sentence; empty where none failed or nothing is known."""
        return ""

    @property
    def printed(self) -> tuple[Printed, ...]:
        """What the last evaluations printed, oldest first; any thread may ask. Empty where nothing is ever printed."""
        return ()

    @property
    def memory(self) -> dict[str, Any]:
        """What evaluating has left behind beside values: numbers and text by name, kept with a run's checkpoint."""
        return {}

    def recall(self, memory: Mapping[str, Any]) -> None:
        """Take over another instance's ``memory``, or a part of it; ``asked``: points that a run has asked for."""
