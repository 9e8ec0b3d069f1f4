"""What a form shows when it is asked for more."""

from __future__ import annotations

from typing import Any

import panel as pn

from zoviz.views.common.lazy_panel import LazyPanel
from zoviz.views.common.small_fields import MoreButton
from zoviz.views.common.style import update_changed


class Fold(pn.viewable.Viewer):
    """A button *More*, and below it what it shows, which is added to the page when it is first opened.

    Parameters
    ----------
    title : str
        What there is more of.

    Attributes
    ----------
    button : MoreButton
    panel : LazyPanel
    """

    def __init__(self, title: str, **params: Any) -> None:
        super().__init__(**params)
        self._title = title
        self.button, self.panel = MoreButton(label=title), LazyPanel()
        self.button.param.watch(lambda event: self._open(event.new), "value")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.button, self.panel, sizing_mode="stretch_width", margin=0)

    def put(self, content: Any, count: int | None = None) -> None:
        """Replace what is shown; where the number of its fields is known it is said, and for 0 there is no button."""
        label = self._title if count is None else f"{self._title} ({count})"
        update_changed(self.button, label=label, visible=count != 0)
        self.panel.put(content)

    def _open(self, shown: bool) -> None:
        self.panel.reveal(shown)
        update_changed(self.panel.column, visible=shown)
