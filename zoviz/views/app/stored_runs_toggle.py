"""A button that switches between the plots and the stored runs; their page is built when it is first opened."""

from __future__ import annotations

from typing import TYPE_CHECKING

import panel as pn
import panel_material_ui as pmui

from zoviz.views.common.run_controller import RunController
from zoviz.views.common.style import update_changed

if TYPE_CHECKING:
    from zoviz.views.stored.page import StoredRunsPage


class StoredRunsToggle:
    """A button that shows the stored runs in the place of the plots, and the plots again when a run begins.

    Parameters
    ----------
    controller : RunController
    plots : Viewable

    Attributes
    ----------
    button : Button
    column : Column
        Where the stored runs appear.
    page : StoredRunsPage or None
        None until it is first opened.
    """

    def __init__(self, controller: RunController, plots: pn.viewable.Viewable) -> None:
        self._controller, self._plots = controller, plots
        self.page: StoredRunsPage | None = None
        self.button = pmui.Button(
            label="Stored runs",
            on_click=lambda _: self.toggle(),
            variant="outlined",
            size="small",
            margin=(4, 8),
            visible=controller.store is not None,
        )
        self.column = pn.Column(visible=False, sizing_mode="stretch_width", margin=0)
        controller.param.watch(lambda _: self.close(), "run")

    @property
    def is_open(self) -> bool:
        """Whether the stored runs are shown."""
        return bool(self.column.visible)

    def toggle(self) -> None:
        """Show the stored runs, or the plots where the stored runs are shown."""
        if self.is_open:
            return self.close()
        # First of all: a table that is made in a hidden place may stay empty.
        update_changed(self.column, visible=True)
        update_changed(self._plots, visible=False)
        try:
            self._fill()
        except Exception:  # raised again
            self.close()
            raise
        update_changed(self.button, label="Back to the plots")
        return None

    def _fill(self) -> None:
        """Build the page of stored runs, or read its list anew."""
        if self.page is not None:
            return self.page.table.read()
        from zoviz.views.stored.page import StoredRunsPage  # with pandas: half a second at a process's first opening

        self.page = StoredRunsPage(self._controller)
        self.column.append(self.page)
        return None

    def close(self) -> None:
        """Show the plots again."""
        if self.is_open:
            update_changed(self.column, visible=False)
            update_changed(self._plots, visible=True)
            update_changed(self.button, label="Stored runs")
