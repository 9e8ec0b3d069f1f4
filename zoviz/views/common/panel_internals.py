"""The private parts of Panel that zoviz replaces or reads; a test of the same name tells when they change."""

from __future__ import annotations

import sys
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.document import Document
from panel.io import document as panel_document
from panel.io.server import ComponentResourceHandler
from panel.util import edit_readonly
from tornado.web import HTTPError

VERSIONS = ">=1.9,<1.10"
"""Versions of Panel for which this was checked."""

PARSE_ANY_PATH = ComponentResourceHandler.parse_url_path
"""Panel's own method, before it is replaced."""

SEND_UNLESS_UNMARKED = panel_document._dispatch_msgs
"""Panel's own coroutine, before it is replaced."""


def _parse_loaded_path(handler: ComponentResourceHandler, path: str) -> str:
    """Resolve a component's file as Panel does, but only for modules that are loaded already."""
    module, _, rest = path.partition("/")
    if rest.partition("/")[0] not in getattr(sys.modules.get(module), "__dict__", {}):
        raise HTTPError(404, "Component not found")
    return PARSE_ANY_PATH(handler, path)


def import_no_addressed_modules() -> None:
    """Keep the route for components' files from importing whatever module an address names.

    Panel 1.9 passes the first part of the address to ``importlib.import_module``: whoever reaches the server could have
    any module on the path imported.
    """
    route: Any = ComponentResourceHandler
    route.parse_url_path = _parse_loaded_path


async def _send_deferred(document: Document) -> None:
    """Send a document's deferred messages as Panel does, those too that were deferred while others were being sent."""
    if document in panel_document._WRITE_MSGS:
        panel_document._WRITE_BLOCK[document] = True
    await SEND_UNLESS_UNMARKED(document)


def strand_no_messages() -> None:
    """Keep messages that Panel defers from waiting for a next one that may never come.

    While a websocket is being written to, Panel 1.9 defers changes, marks the document and makes a task that sends
    them. A task that ends removes the mark, also where more was deferred meanwhile; and a task that sees no mark sends
    nothing. A button that was enabled by such a change stayed disabled.
    """
    deferred: Any = panel_document
    deferred._dispatch_msgs = _send_deferred


def linked_parameter(widget: Any) -> param.Parameter | None:
    """Return the Parameter for which ``pn.Param`` made a widget; None for other widgets.

    ``pn.Param`` writes both names on the widget after its construction, and has no public way to ask for them.
    """
    pane = getattr(widget, "_param_pane", None)
    return pane.object.param[widget._param_name] if isinstance(pane, pn.Param) else None


def harden_page(page: pmui.Page) -> None:
    """Remove from a page two properties that a browser or another session could use against the server.

    A browser may set any property: where the logo is text, Panel reads the file of that name and sends it, so only None
    is left as a value. And ``busy`` is set by every click of any session, for which every open page is searched for
    models twice; a value of its own, rather than a link to ``pn.state.busy``, ends that.
    """
    page.param["logo"].class_ = type(None)
    with edit_readonly(page):
        page.busy = False
