"""A button that goes back to an earlier place of the page's run, and forks it there."""

from __future__ import annotations

from typing import Any

import panel as pn

from zoviz.diagnosis.verdict import Verdict, Word
from zoviz.views.common.buttons import text_button
from zoviz.views.common.drags import drags, iteration_at
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.style import update_changed

_TROUBLE = (Word.DIVERGING, Word.FAILED)
"""Verdicts after which a change of a parameter is to be taken back."""


class GoBack(pn.viewable.Viewer):
    """A button that forks the page's run at an earlier place: before its last change after trouble, or where it says.

    A double click on a plot, or on a mark there, brings it, too.

    Parameters
    ----------
    controller : RunController

    Attributes
    ----------
    at : int or None
        The iteration that was picked; None without a place.
    """

    def __init__(self, controller: RunController, **params: Any) -> None:
        super().__init__(**params)
        self._controller = controller
        self.at: int | None = None
        self._picked = False
        self.button = text_button(
            "Go back",
            self._go,
            margin=(0, 3),
            visible=False,
            description=(
                "Ends the run, repeats it up to its last change, and waits for new settings. Its lines "
                "stay on the plots."
            ),
        )
        # A second double click on the same place counts, too.
        controller.runs_shown.param.watch(lambda event: self._pick(*event.new), "picked", onlychanged=False)
        controller.param.watch(lambda _: self._show(None), "run")

    def __panel__(self) -> pn.viewable.Viewable:
        return self.button

    def update(self, verdict: Verdict | None) -> None:
        """Offer the way back to before the last change of a run that is in trouble, unless another place was picked."""
        run = self._controller.run
        if run is None or self._picked:
            return
        changes = drags(list(run.journal)) if verdict is not None and verdict.word in _TROUBLE else []
        at = changes[-1].iteration - 1 if changes else -1
        self._show(at if at >= 0 else None, "Back to before the last change")

    def _pick(self, axis: str, place: float) -> None:
        run = self._controller.run
        at = None if run is None else iteration_at(run, axis, place)
        self._show(at, "Go back" if at is None else f"Go back to iteration {at:,}")
        self._picked = at is not None

    def _show(self, at: int | None, label: str = "Go back") -> None:
        """Offer the way back to an iteration; None hides it."""
        self.at, self._picked = at, False
        update_changed(self.button, label=label, visible=at is not None)

    def _go(self) -> None:
        if self.at is not None:
            self._controller.go_back(self.at)
