"""Cheaper painting in the browser."""

from __future__ import annotations

from bokeh.document import Document
from bokeh.models import CustomJS

# Bokeh 3.9 writes the style sheet of every axis and renderer at each paint, even where it stays as it is, and the
# browser then computes all styles again: a third of what a page costs while a run goes on.
_KEEP = """
    const sheet = (view) => {
        if (view?.position?._update) return view.position;
        for (const child of view?.children?.() ?? []) { const found = sheet(child); if (found) return found; }
    };
    for (const view of Bokeh.index) {
        const found = sheet(view);
        if (!found) continue;
        let kind = Object.getPrototypeOf(found);
        while (kind && !Object.hasOwn(kind, "_update")) kind = Object.getPrototypeOf(kind);
        if (!kind || kind.keeps) return;
        const write = kind._update;
        kind.keeps = true;
        kind._update = function (css) { if (this.el.textContent !== css) write.call(this, css); };
        return;
    }
"""


def keep_styles(document: Document) -> None:
    """Have a page leave style sheets alone that do not change."""
    document.js_on_event("document_ready", CustomJS(code=_KEEP))
