"""Properties of figures that stay as they are whatever the page's theme says, and short labels of ticks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bokeh.core.has_props import HasProps
from bokeh.models import CustomJS, Model

# 1.5M, 20k: Bokeh's numeral format writes a small m for million.
SHORT = """const a = Math.abs(tick);
return a >= 1e9 ? +(tick/1e9).toPrecision(4) + "G" : a >= 1e6 ? +(tick/1e6).toPrecision(4) + "M"
     : a >= 1e3 ? +(tick/1e3).toPrecision(4) + "k" : "" + +tick.toPrecision(4)"""

# All at once: a figure is laid out anew after every change.
_PUT_BACK = """
    const lost = {};
    for (const [name, value] of Object.entries(%s)) if (cb_obj[name] != value) lost[name] = value;
    if (Object.keys(lost).length) cb_obj.setv(lost);
"""


def restore_callback(values: Mapping[str, Any]) -> CustomJS:
    """Return a callback that sets a model's properties again, in the browser."""
    return CustomJS(code=_PUT_BACK % json.dumps(values))


def override_theme(model: HasProps, callback: CustomJS | None = None, **values: Any) -> None:
    """Set properties of a model and keep them against the page's theme, which overwrites fonts and spacing.

    Parameters
    ----------
    model : HasProps
    callback : CustomJS, optional
        The ``restore_callback`` of these values, where models share one.
    """
    model.update(**values)
    if isinstance(model, Model):
        callback = callback or restore_callback(values)
        added: dict[str, Any] = {f"change:{name}": [callback] for name in values}
        model.js_property_callbacks = {**model.js_property_callbacks, **added}
