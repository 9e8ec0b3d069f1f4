"""A container that adds its content to the page only when it becomes visible."""

from __future__ import annotations

from typing import Any

import panel as pn

from zoviz.views.common.style import update_changed


class LazyPanel(pn.viewable.Viewer):
    """A container for one view, which is added to the page only once the container is shown.

    A page opens sooner without the tabs that nobody may ever open.

    Parameters
    ----------
    visible : bool
        Whether the container is shown from the beginning.

    Attributes
    ----------
    column : Column
        Holds the view once it is on the page.
    """

    def __init__(self, visible: bool = False, **params: Any) -> None:
        super().__init__(**params)
        self._visible = visible
        self._content: pn.viewable.Viewer | None = None
        self.column = pn.Column(sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self.column

    def put(self, content: pn.viewable.Viewer) -> None:
        """Replace the view in the container."""
        if not self._visible and len(self.column):
            self.column.clear()  # else the old would be seen for a moment when the place is shown
        self._content = content
        self.reveal(self._visible)

    def reveal(self, visible: bool = True) -> None:
        """Show or hide the container; the first time it is shown, its view is added to the page."""
        self._visible = visible
        if visible and self._content is not None:
            self.column.objects, self._content = [self._content], None

    def wait(self, waiting: bool) -> None:
        """Mark the view as loading, or as loaded."""
        update_changed(self.column, loading=waiting)
