"""The way from the plots to the stored runs and back; behind it nothing is made until it is opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import panel as pn
import panel_material_ui as pmui

from zoviz.runs.run import Run
from zoviz.runs.storage.stored_run import Stored
from zoviz.views.common.style import amend

if TYPE_CHECKING:
    from zoviz.views.app.dashboard import Dashboard
    from zoviz.views.stored.page import Library


def live_runs() -> dict[str, Run]:
    """Runs at work in this process, by id, whichever page began them."""
    return pn.state.cache.setdefault("zoviz runs", {})


class LibraryDoor:
    """A button that shows the stored runs in the place of the plots.

    Attributes
    ----------
    button : Button
    place_holder : Column
        Where the stored runs appear.
    library : Library or None
        None until it was opened.
    """

    def __init__(self, dashboard: Dashboard) -> None:
        self._dashboard = dashboard
        self.library: Library | None = None
        self._plots: pn.viewable.Viewable = pn.Column()
        self.button = pmui.Button(
            label="Stored runs",
            on_click=lambda _: self.toggle(),
            variant="outlined",
            size="small",
            margin=(4, 8),
            visible=dashboard.store is not None,
        )
        self.place_holder = pn.Column(visible=False, sizing_mode="stretch_width", margin=0)

    def beside(self, plots: pn.viewable.Viewable) -> tuple[pn.viewable.Viewable, ...]:
        """The plots, and where the stored runs appear instead."""
        self._plots = plots
        return plots, self.place_holder

    @property
    def is_open(self) -> bool:
        """Whether the stored runs are shown."""
        return bool(self.place_holder.visible)

    def toggle(self) -> None:
        """Open, or go back to the plots."""
        if self.is_open:
            return self.close()
        # First of all: a table that is made in a hidden place may stay empty.
        amend(self.place_holder, visible=True)
        amend(self._plots, visible=False)
        try:
            self._fill()
        except Exception:
            self.close()
            raise
        amend(self.button, label="Back to the plots")
        return None

    def _fill(self) -> None:
        """Make the list, or read it anew."""
        if self.library is not None:
            return self.library.archive.read()
        from zoviz.views.stored.page import Library  # with pandas: half a second at the first opening of a process

        board = self._dashboard
        assert board.store is not None  # without one the button is hidden
        self.library = Library(board.store, self._overlay, board.begin, self._join, board.say)
        self.place_holder.append(self.library)
        return None

    def close(self) -> None:
        """Back to the plots."""
        if self.is_open:
            amend(self.place_holder, visible=False)
            amend(self._plots, visible=True)
            amend(self.button, label="Stored runs")

    def place(self, axis: str, value: float) -> None:
        """A place that was picked on a plot."""
        if self.library is not None:
            self.library.place(axis, value)

    def _overlay(self, stored: Stored) -> None:
        record = stored.record
        self._dashboard.board.put(stored, stored.label or f"{record.solver} {record.id[:6]}")
        self._dashboard.shelf.update()

    def _join(self, id: str) -> bool:
        run = live_runs().get(id)
        if run is not None:
            self._dashboard.take_up(run)
        return run is not None
