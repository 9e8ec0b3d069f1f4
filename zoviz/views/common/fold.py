"""What a form shows when it is asked for more."""

from __future__ import annotations

from typing import Any

import panel as pn

from zoviz.views.common.small_fields import MoreButton
from zoviz.views.common.style import WIDE, update_changed


class Fold(pn.viewable.Viewer):
    """A button *More*, and below it what it shows, which is added to the page when it is first opened.

    Parameters
    ----------
    title : str
        What there is more of.

    Attributes
    ----------
    button : MoreButton
    column : Column
        Holds what is shown once it is on the page.
    """

    def __init__(self, title: str, **params: Any) -> None:
        super().__init__(**params)
        self._title, self._content = title, list[Any]()
        self.button, self.column = MoreButton(label=title), pn.Column(**WIDE)
        self.button.param.watch(lambda _: self._show(), "value")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.button, self.column, **WIDE)

    def put(self, content: Any, count: int | None = None) -> None:
        """Replace what is shown; where the number of its fields is known it is said, and for 0 there is no button."""
        label = self._title if count is None else f"{self._title} ({count})"
        update_changed(self.button, label=label, visible=count != 0)
        self._content = [content]
        self.column.clear()  # else the old would be seen for a moment when the place is shown
        self._show()

    def _show(self) -> None:
        if self.button.value and not len(self.column):
            self.column.objects = self._content
        update_changed(self.column, visible=self.button.value)
