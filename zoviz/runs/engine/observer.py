"""Observers of a run, called by its worker between two steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from zoviz.core.types import Array
from zoviz.oracle import Listener
from zoviz.runs.engine.stopping import RunStatus


class RunObserver:
    """A listener to a worker, called in its thread between two steps; a subclass overrides what it listens to.

    Attributes
    ----------
    listener : callable or None
        Called in the steps, too, with the points and values of every request: see ``Oracle``.
    """

    listener: Listener | None = None

    def started(self, worker: Any) -> None:
        """Receive the worker before it begins; an exception keeps it from beginning."""

    def began(self) -> None:
        """Receive the beginning of the work, in the thread that does it."""

    def examined(self) -> None:
        """Called when the black box has been examined for noise, for a run whose answer is judged."""

    def sized(self, tolerance: Array) -> None:
        """Receive the largest h that counts as feasible, (m,) in the user's units, once the rows' sizes are known."""

    def stepped(self) -> None:
        """Receive the end of a step."""

    def changed(self) -> None:
        """Receive the change of a parameter between two steps."""

    def paused(self) -> None:
        """Receive a pause, in which the state does not change."""

    def ended(self, status: RunStatus, message: str) -> str:
        """Receive the end, last of all; may return a sentence to be added to the run's message."""
        return ""


class StepCallback(RunObserver):
    """An observer that calls a user's function after every step.

    Parameters
    ----------
    function : callable
        Without arguments.
    """

    def __init__(self, function: Callable[[], object]) -> None:
        self._function = function

    def stepped(self) -> None:
        """Call the user's function."""
        self._function()
