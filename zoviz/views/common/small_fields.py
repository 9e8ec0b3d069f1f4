"""Small fields of forms: a box to tick, a button that shows more, and a slider over places.

Panel's own box to tick has a label that is none to a screen reader, and its slider has no name.
"""

from __future__ import annotations

from typing import Any, ClassVar

import param

from zoviz.views.common.form_widget import FormWidget


class _OnOff(FormWidget):
    """A field that is on or off."""

    value = param.Boolean(default=False)

    kind: ClassVar[str]
    __abstract = True

    def describe(self) -> dict[str, Any]:
        return {"kind": self.kind, "value": self.held}

    def take(self, message: dict[str, Any]) -> None:
        if isinstance(message.get("on"), bool):
            self.commit(message["on"])


class CheckBox(_OnOff):
    """A box to tick for a param.Boolean: ``CheckBox.from_param(obj.param.keep)``."""

    kind = "check"

    def __init__(self, **params: Any) -> None:
        super().__init__(**{"sizing_mode": None, **params})


class MoreButton(_OnOff):
    """A button that shows further fields, and hides them again; its value says whether they are shown."""

    kind = "more"


class PlaceSlider(FormWidget):
    """A slider for a param.Integer with bounds, which a screen reader knows by its label and the words of its place.

    Use it as ``PlaceSlider.from_param(obj.param.share)``.
    """

    value = param.Integer(default=0)
    bounds = param.Range(default=(0, 100), doc="Both ends of the slider.")
    words = param.String(default="", doc="Text of the position for screen readers; by default the number.")

    _rename: ClassVar[dict[str, str | None]] = {**FormWidget._rename, "bounds": None, "words": None}

    @classmethod
    def from_param(cls, parameter: param.Parameter, **params: Any) -> PlaceSlider:
        """Make a slider for `parameter`, a param.Integer with bounds, and link the two both ways."""
        return super().from_param(parameter, **{"bounds": parameter.bounds, **params})

    def describe(self) -> dict[str, Any]:
        low, high = self.bounds
        return {"kind": "range", "value": self.value, "low": low, "high": high, "text": self.words}

    def take(self, message: dict[str, Any]) -> None:
        value, (low, high) = message.get("value"), self.bounds
        if type(value) is int and low <= value <= high:
            self.value = value
