"""The private parts of Bokeh that zoviz replaces; the test of the same name says when they change."""

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

from zoviz.views.upstream import checked

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


@checked("bokeh")
def know_documents_by_thread() -> None:
    """Have ``curdoc()`` name the document whose callback the calling thread is in, whatever other threads are at."""
    documents: Any = bokeh.io.doc
    if not isinstance(documents._PATCHED_CURDOCS, _DocumentStack):
        documents._PATCHED_CURDOCS = _DocumentStack()


@checked("bokeh")
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
# browser then computes all styles again. In a layout it empties and fills those of the whole page, some 3000 writes
# that mostly end where they began: here those that changed are written at its end. Measured in turns on one machine,
# three times each: without this the browser's main thread has 1.7 s of work in the five seconds from Start rather
# than 1.3, and 1.5 s rather than 1.2 in five of a run. (0.1 s of each was the styles that figures ask for, which was
# replaced, too.)
_KEEP_STYLES = """
    const sheet = Bokeh.require("core/dom").InlineStyleSheet?.prototype;
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
"""


@checked("bokeh")
def keep_styles(document: Document) -> None:
    """Have BokehJS leave unchanged style sheets alone on a page."""
    document.js_on_event("document_ready", CustomJS(code=_KEEP_STYLES))


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


@checked("bokeh")
def know_sent_models(document: Document) -> None:
    """Have a document's page take models that the server has sent for known there.

    Bokeh 3.9 takes them for new until the page has sent something: the first message of a room that was added later has
    all models that it refers to, which a server refuses, and one of Panel's components cannot even be written down.
    """
    document.js_on_event("document_ready", CustomJS(code=_KNOW_SENT_MODELS))
