"""A button that goes back to a place of the page's run, and forks it there."""

from __future__ import annotations

from typing import Any

import panel as pn
import panel_material_ui as pmui

from zoviz.views.common.drags import iteration_at
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.style import tooltip, update_changed


class GoBack(pn.viewable.Viewer):
    """A button that a double click on a plot, or on a mark there, brings: it forks the page's run at that place.

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
        self.button = pmui.Button(
            label="Go back",
            icon="history",
            variant="outlined",
            size="small",
            margin=(4, 8),
            visible=False,
            description=tooltip("Ends the run, repeats it up to there, and waits for changes; its lines stay."),
            on_click=lambda _: self._go(),
        )
        # A second double click on the same place counts, too.
        controller.runs_shown.param.watch(lambda event: self._pick(*event.new), "picked", onlychanged=False)
        controller.param.watch(lambda _: self._show(None), "run")

    def __panel__(self) -> pn.viewable.Viewable:
        return self.button

    def _pick(self, axis: str, place: float) -> None:
        run = self._controller.run
        self._show(None if run is None else iteration_at(run, axis, place))

    def _show(self, at: int | None) -> None:
        """Offer the way back to an iteration; None hides it."""
        self.at = at
        label = "Go back" if at is None else f"Go back to iteration {at:,}"
        update_changed(self.button, label=label, visible=at is not None)

    def _go(self) -> None:
        if self.at is not None:
            self._controller.go_back(self.at)
