"""The private parts of Bokeh that zoviz replaces; ``tests/views/common/test_bokeh_internals.py`` tells of changes."""

from __future__ import annotations

import warnings
from typing import Any

from bokeh.core.property.visual import Image
from bokeh.document import Document
from bokeh.models import CustomJS
from bokeh.util.warnings import BokehUserWarning

VERSIONS = ">=3.9,<3.10"
"""Versions of Bokeh for which this was checked."""

TRANSFORM_ANY_IMAGE = Image.transform
"""Bokeh's own method, before it is replaced."""


def _transform_no_file(kind: Image, value: Any) -> Any:
    """Read a tool's icon as Bokeh does, except that text names no file."""
    return value if isinstance(value, str) else TRANSFORM_ANY_IMAGE(kind, value)


def read_no_named_files() -> None:
    """Keep the icons of tools from being read from files: a browser may send any text, and would be sent the file."""
    icon: Any = Image
    icon.transform = _transform_no_file


def ignore_known_references() -> None:
    """Silence the warning for references sent twice: a table sends its style sheets back whenever it is shown."""
    warnings.filterwarnings("ignore", message="reference already known", category=BokehUserWarning)


# Bokeh 3.9 writes the style sheet of every axis and renderer at each paint, even where it stays as it is, and the
# browser then computes all styles again: a third of what a page costs while a run goes on. And it asks the browser for
# the style of every line and label, several times a paint, lest the page's own style sheet has another colour for it:
# ours have none, and each question has the browser compute what has changed since the last.
_KEEP_STYLES = """
    const {InlineStyleSheet} = Bokeh.require("core/dom"), {VisualProperties} = Bokeh.require("core/visuals/visual");
    const sheet = InlineStyleSheet?.prototype, look = VisualProperties?.prototype;
    if (sheet?._update && !sheet.keeps) {
        const write = sheet._update;
        sheet.keeps = true;
        sheet._update = function (css) { if (this.el.textContent !== css) write.call(this, css); };
    }
    if (look?._get_css_value) look._get_css_value = () => "";
"""


def keep_styles(document: Document) -> None:
    """Have BokehJS leave unchanged style sheets alone on a page, and ask the browser for no styles of its own."""
    document.js_on_event("document_ready", CustomJS(code=_KEEP_STYLES))


# A figure makes what it draws of new lines in tasks of its own, and one in a hidden room draws nothing: its ranges are
# then asked for before there is anything to see. Bokeh takes 0.1 to 10 or no range at all, warns, and the axes jump; a
# range of ours stays as it was, and is asked for again when the figure is next drawn.
_KEEP_RANGES = """
    const range = Bokeh.require("models/ranges/data_range1d").DataRange1d?.prototype;
    const manager = Bokeh.require("models/plots/range_manager").RangeManager?.prototype;
    if (range?._compute_range && manager?.update_dataranges && !range.keeps) {
        const compute = range._compute_range, update = manager.update_dataranges, nothing = new WeakSet();
        range.keeps = true;
        range._compute_range = function (low, high) {
            if (low <= high) {
                nothing.delete(this);
                return compute.call(this, low, high);
            }
            nothing.add(this);
            if (isFinite(this.start) && isFinite(this.end)) return [this.start, this.end];
            return this.scale_hint === "log" ? [0.1, 10] : [0, 1];
        };
        manager.update_dataranges = function () {
            update.call(this);
            for (const ranges of [this.frame.x_ranges, this.frame.y_ranges])
                for (const [, one] of ranges) if (nothing.has(one)) this.invalidate_dataranges = true;
        };
    }
"""


def keep_ranges(document: Document) -> None:
    """Have BokehJS leave a page's ranges as they are while nothing that they follow is drawn."""
    document.js_on_event("document_ready", CustomJS(code=_KEEP_RANGES))


# Figures that share a range leave in it how far each reaches, and one that is hidden never takes it out again: the
# range would keep room for runs that are gone. Nor does a figure look again at a range whose lines it lost.
# Twice: a figure makes what it draws of new renderers in tasks of its own.
_FORGET = """
    const forget = () => {
        cb_obj._plot_bounds?.clear();
        for (const plot of cb_obj.linked_plots ?? []) plot._range_manager?.update_dataranges?.();
    };
    forget();
    setTimeout(forget, 500);
"""


def forget_bounds() -> CustomJS:
    """Return a callback of a shared data range that has it begin anew, from what its figures show now."""
    return CustomJS(code=_FORGET)
