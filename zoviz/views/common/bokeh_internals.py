"""The private parts of Bokeh that zoviz replaces; ``tests/views/common/test_bokeh_internals.py`` tells of changes."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Awaitable, Callable
from typing import Any

import bokeh.io.doc
from bokeh.core.property.visual import Image
from bokeh.document import Document
from bokeh.models import CustomJS
from bokeh.server.session import ServerSession, _needs_document_lock
from bokeh.util.warnings import BokehUserWarning

VERSIONS = ">=3.9,<3.10"
"""Versions of Bokeh for which this was checked."""

TRANSFORM_ANY_IMAGE = Image.transform
"""Bokeh's own method, before it is replaced."""

REPLY_AT_ONCE: Any = ServerSession._handle_pull
"""Bokeh's own method, before it is replaced."""


def _transform_no_file(kind: Image, value: Any) -> Any:
    """Read a tool's icon as Bokeh does, except that text names no file."""
    return value if isinstance(value, str) else TRANSFORM_ANY_IMAGE(kind, value)


def read_no_named_files() -> None:
    """Keep the icons of tools from being read from files: a browser may send any text, and would be sent the file."""
    icon: Any = Image
    icon.transform = _transform_no_file


class _DocumentStack(threading.local):
    """The documents in whose callbacks a thread is, the innermost last: what Bokeh keeps in a list for all threads."""

    def __init__(self) -> None:
        self._documents: list[Any] = []

    def __len__(self) -> int:
        return len(self._documents)

    def __getitem__(self, place: int) -> Any:
        return self._documents[place]

    def append(self, document: Any) -> None:
        """Enter a callback of a document."""
        self._documents.append(document)

    def pop(self) -> Any:
        """Leave the innermost callback."""
        return self._documents.pop()


def know_documents_by_thread() -> None:
    """Have ``curdoc()`` name the document whose callback the calling thread is in, whatever other threads are at."""
    documents: Any = bokeh.io.doc
    if not isinstance(documents._PATCHED_CURDOCS, _DocumentStack):
        documents._PATCHED_CURDOCS = _DocumentStack()


def write_documents_with(do: Callable[[Callable[[], Any]], Awaitable[Any]]) -> None:
    """Have the whole document, for which a browser asks once, written down by ``do``: it takes a quarter of a second.

    The document's lock is held meanwhile. The text is asked for there too: Bokeh makes it when the message is sent.
    """

    @_needs_document_lock
    async def handle_pull(session: ServerSession, message: Any, connection: Any) -> Any:
        def reply() -> Any:
            answer = connection.protocol.create("PULL-DOC-REPLY", message.header["msgid"], session.document)
            answer.content_json  # noqa: B018  # is kept by the message
            return answer

        return await do(reply)

    kind: Any = ServerSession
    kind._handle_pull = handle_pull


def ignore_known_references() -> None:
    """Silence the warning for references sent twice: a table sends its style sheets back whenever it is shown."""
    warnings.filterwarnings("ignore", message="reference already known", category=BokehUserWarning)


# Bokeh 3.9 writes the style sheet of every axis and renderer at each paint, even where it stays as it is, and the
# browser then computes all styles again: a third of what a page costs while a run goes on. In a layout it empties and
# fills those of the whole page, some 3000 writes that mostly end where they began: here those that changed are written
# at its end. And it asks the browser for the style of every line and label, several times a paint, lest the page's own
# style sheet has another colour for it: ours have none, and each question has the browser compute what has changed
# since the last. The size of a figure's font, for which every axis asks at each paint, is asked for once a second.
_KEEP_STYLES = """
    const {InlineStyleSheet} = Bokeh.require("core/dom"), {VisualProperties} = Bokeh.require("core/visuals/visual");
    const sheet = InlineStyleSheet?.prototype, look = VisualProperties?.prototype;
    if (sheet?._update && !sheet.keeps) {
        const write = sheet._update, css = Object.getOwnPropertyDescriptor(sheet, "css");
        const {LayoutDOMView} = Bokeh.require("models/layouts/layout_dom");
        const layout = LayoutDOMView?.prototype, update = layout?.update_layout;
        const unwritten = new Map();
        let depth = 0;
        const write_changed = (one, text) => { if (one.el.textContent !== text) write.call(one, text); };
        sheet.keeps = true;
        sheet._update = function (text) {
            if (depth > 0) unwritten.set(this, text);
            else write_changed(this, text);
        };
        if (css?.get && update) {
            Object.defineProperty(sheet, "css", {...css, get() { return unwritten.get(this) ?? css.get.call(this); }});
            layout.update_layout = function () {
                depth += 1;
                try {
                    return update.call(this);
                } finally {
                    depth -= 1;
                    if (depth === 0) {
                        unwritten.forEach((text, one) => write_changed(one, text));
                        unwritten.clear();
                    }
                }
            };
        }
    }
    if (look?._get_css_value) look._get_css_value = () => "";
    const plot = Bokeh.require("models/plots/plot_canvas").PlotView?.prototype;
    const size = plot && Object.getOwnPropertyDescriptor(plot, "base_font_size");
    if (size?.get && !plot.keeps) {
        plot.keeps = true;
        Object.defineProperty(plot, "base_font_size", {...size, get() {
            const now = performance.now();
            if (!(now - this.font_read < 1000)) {
                this.font_read = now;
                this.font_size = size.get.call(this);
            }
            return this.font_size;
        }});
    }
"""


def keep_styles(document: Document) -> None:
    """Have BokehJS leave unchanged style sheets alone on a page, and ask the browser for no styles of its own."""
    document.js_on_event("document_ready", CustomJS(code=_KEEP_STYLES))


# Whatever may change a size has Bokeh lay out and measure the whole page at once, 40 to 140 ms for ours: at a click on
# Start thirty times, for each figure's title, each part that is shown or hidden, each that has another size. Here it is
# done once a frame for all that came before it; a page in a hidden window has no frames. A figure whose axes need more
# room inside it is laid out by itself, since its own size stays; where it does not, the browser says so, as of any part
# (_after_resize). And after each layout the bar of tools of every figure takes all its buttons out, puts them back and
# measures them, to see which of them are too many: here where its size or its buttons changed.
_LAY_OUT_ONCE = """
    const layout = Bokeh.require("models/layouts/layout_dom").LayoutDOMView?.prototype;
    const component = Bokeh.Models.get("panel.models.esm.ReactiveESM")?.prototype.default_view?.prototype;
    const root_of = view => view.is_managed ? root_of(view.parent) : view;
    const in_next_frame = (view, due, task) => {
        if (view[due]) return;
        view[due] = true;
        requestAnimationFrame(() => {
            if (view[due] && !view.is_destroyed) task();
            view[due] = false;
        });
    };
    for (const views of [layout, component]) {
        if (!views || !Object.hasOwn(views, "invalidate_layout") || Object.hasOwn(views, "lays_out_once")) continue;
        const lay_out = views.invalidate_layout, compute = views.compute_layout;
        const lay_out_now = view => {
            view.layout_due = false;
            lay_out.call(view);
        };
        views.lays_out_once = true;
        views.invalidate_layout = function () {
            if (this.is_managed || document.hidden) lay_out.call(this);
            else in_next_frame(this, "layout_due", () => lay_out_now(this));
        };
        views.compute_layout = function () {  // what is new has no layout yet that could be computed
            if (this.layout_due) lay_out_now(this);
            else compute.call(this);
        };
    }
    if (layout?._after_resize && !layout.measures_once) {
        const measure = layout._after_resize;
        layout.measures_once = true;
        layout._after_resize = function () {
            if (document.hidden || (this.is_layout_root && !this._was_built)) {
                measure.call(this);
                return;
            }
            const root = root_of(this);
            in_next_frame(root, "measure_due", () => root.compute_layout());
        };
    }
    const plot = Bokeh.require("models/plots/plot_canvas").PlotView?.prototype;
    if (plot?._invalidate_layout_if_needed && layout?._compute_layout && !Object.hasOwn(plot, "compute_layout")) {
        const compute = plot.compute_layout;
        plot.compute_layout = function () {
            const root = root_of(this);
            if (root === this || root.layout_due || !this._layout_computed) {
                compute.call(this);
                return;
            }
            this.measure_layout();
            this.update_bbox();
            this._compute_layout();
            this.after_layout();
        };
    }
    const bar = Bokeh.require("models/annotations/toolbar_panel").ToolbarPanelView?.prototype;
    if (bar?.after_layout && !bar.measures_once) {
        const measure = bar.after_layout;
        bar.measures_once = true;
        bar.after_layout = function () {
            const {width, height} = this.layout.bbox;
            const measured = [width, height, this.is_displayed, this.toolbar_view._items];
            if (this.measured?.every((part, place) => part === measured[place])) return;
            this.measured = measured;
            measure.call(this);
        };
    }
"""


# A browser sends with its next message, in full, each model that it thinks is new to the server.
_KNOW_SENT_MODELS = """
    const kind = Object.getPrototypeOf(Bokeh.documents[0]), apply = kind.apply_json_patch;
    if (kind.knows_sent_models) return;
    kind.knows_sent_models = true;
    kind.apply_json_patch = function (...patch) {
        apply.apply(this, patch);
        this._new_models.clear();
    };
"""


def know_sent_models(document: Document) -> None:
    """Have a document's page take models that the server has sent for known there.

    Bokeh 3.9 takes them for new until the page has sent something: the first message of a room that was added later has
    all models that it refers to, which a server refuses, and one of Panel's components cannot even be written down.
    """
    document.js_on_event("document_ready", CustomJS(code=_KNOW_SENT_MODELS))


def lay_out_once(document: Document) -> None:
    """Have BokehJS lay a page out once a frame, however much has changed since the last."""
    document.js_on_event("document_ready", CustomJS(code=_LAY_OUT_ONCE))
