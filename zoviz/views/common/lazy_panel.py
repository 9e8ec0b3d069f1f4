"""A place on the page that is filled when it is first seen: nobody waits for what they may never open."""

from __future__ import annotations

from typing import Any

import panel as pn

from zoviz.views.common.style import amend


class Slot(pn.viewable.Viewer):
    """A place for one thing at a time, which comes to the page only once the place is shown.

    Parameters
    ----------
    shown : bool
        Whether the place is shown from the beginning.
    """

    def __init__(self, shown: bool = False, **params: Any) -> None:
        super().__init__(**params)
        self._shown = shown
        self._waiting: pn.viewable.Viewer | None = None
        self._column = pn.Column(sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def put(self, content: pn.viewable.Viewer) -> None:
        """Have this in the place of what was there."""
        if not self._shown and len(self._column):
            self._column.clear()  # else the old would be seen for a moment when the place is shown
        self._waiting = content
        self.reveal(self._shown)

    def reveal(self, shown: bool = True) -> None:
        """Say whether the place is shown."""
        self._shown = shown
        if shown and self._waiting is not None:
            self._column.objects, self._waiting = [self._waiting], None

    def wait(self, waiting: bool) -> None:
        """Say whether what is there is about to be replaced."""
        amend(self._column, loading=waiting)
