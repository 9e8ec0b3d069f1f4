"""Cheaper painting in the browser."""

from __future__ import annotations

from bokeh.document import Document
from bokeh.models import CustomJS

# Bokeh 3.9 writes the style sheet of every axis and renderer at each paint, even where it stays as it is, and the
# browser then computes all styles again: a third of what a page costs while a run goes on. And it asks the browser for
# the style of every line and label, several times a paint, lest the page's own style sheet has another colour for it:
# ours have none, and each question has the browser compute what has changed since the last.
_KEEP = """
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
    """Have a page leave style sheets alone that do not change, and lines and labels keep to what Python says."""
    document.js_on_event("document_ready", CustomJS(code=_KEEP))
