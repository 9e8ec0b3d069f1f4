"""The private parts of Panel that zoviz replaces or reads; the test of the same name says when they change."""

from __future__ import annotations

import asyncio
import datetime as dt
import gc
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any
from weakref import WeakSet

import panel as pn
from bokeh.document import Document
from bokeh.document.events import DocumentPatchedEvent
from bokeh.models.ui import UIElement
from bokeh.server.connection import ServerConnection
from panel.io import document as panel_document
from panel.io.application import Application
from panel.io.notebook import patch_inline_stylesheets
from panel.io.resources import LOCAL_DIST
from panel.io.server import ComponentResourceHandler
from panel.models.katex import KATEX_VERSION
from panel.viewable import Viewable
from tornado.web import HTTPError

from zoviz.core.threads.rests import RESTS
from zoviz.views.upstream import checked

TYPESETTER = f"{LOCAL_DIST}bundled/katex/katex@{KATEX_VERSION}/dist/katex.min.js"
"""The address at which a server of Panel's has KaTeX, which sets formulas in a browser."""

PARSE_ANY_PATH = ComponentResourceHandler.parse_url_path
"""Panel's own method, before it is replaced."""

CREATE_SESSION, FILL_DOCUMENT = Application.on_session_created, Application.initialize_document
"""Panel's own methods, before they are replaced."""

WRITE_AT_ONCE, WRITE_LATER = panel_document.write_events, panel_document.schedule_write_events
"""Panel's own functions, before they are replaced."""

COLLECT, DESTROY = panel_document._garbage_collect, panel_document._destroy_document
"""Panel's own functions: the first before it is replaced, the second has it called."""

COLLECTION_PAUSE = 50
"""Times the length of a collection of garbage until the next: it has a fiftieth of the time at most."""

SEND_WHEN_AWAITED = ServerConnection.send_patch_document
"""Bokeh's own method, before it is replaced."""


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


@checked("panel")
def make_documents_with(do: Callable[[Callable[[], None]], Awaitable[None]]) -> None:
    """Have the documents of sessions filled by ``do``, in another thread say, before Bokeh has it done by the loop.

    Bokeh fills a document between two awaits of the coroutine that makes its session; other requests for the session
    wait for that coroutine. Panel remembers the thread that filled it as the one whose changes need no detour by the
    loop: from then on that is the loop's.
    """
    filled: WeakSet[Document] = WeakSet()

    async def on_session_created(application: Application, session_context: Any) -> None:
        await CREATE_SESSION(application, session_context)
        document = session_context._document
        await do(lambda: FILL_DOCUMENT(application, document))
        pn.state._thread_id_[document] = threading.get_ident()
        filled.add(document)

    def initialize_document(application: Application, document: Document) -> None:
        if document not in filled:
            FILL_DOCUMENT(application, document)

    kind: Any = Application
    kind.on_session_created, kind.initialize_document = on_session_created, initialize_document


@checked("panel")
def collect_seldom() -> None:
    """Have what closed pages have left collected now and then, and not after each of them.

    Panel has it done five seconds after a page was closed. All objects of all pages are looked through, and the
    interpreter is held: seconds where thirty pages are open, a tenth of the time where thirty people come and go.
    """
    free_at = 0.0

    def collect() -> None:
        nonlocal free_at
        begun = time.monotonic()
        if begun < free_at:
            at = dt.datetime.now() + dt.timedelta(seconds=free_at - begun)
            pn.state.schedule_task("gc.collect", collect, at=at)
            return
        with RESTS:
            gc.collect()
        ended = time.monotonic()
        free_at = ended + COLLECTION_PAUSE * (ended - begun)

    documents: Any = panel_document
    documents._garbage_collect = collect


def changes_wait(component: Viewable) -> bool:
    """Return whether the server has a browser's changes of a component, and has not taken them on yet.

    Panel takes them on after a twentieth of a second. What it sends about the same property before that undoes them.
    """
    reactive: Any = component
    return bool(reactive._events)


class _Outbox:
    """The changes that wait to be sent on a connection, in the order in which they were made.

    All changes until the event loop comes round make one message, but those that bring new models end theirs. Each
    message costs a walk through all models of the document, and each of its parts a turn of the event loop, for which
    runs in other threads must give way.
    """

    def __init__(self, connection: ServerConnection) -> None:
        self._connection = connection
        self._events: list[DocumentPatchedEvent] = []
        self._messages: list[Any] = []
        self._task: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def add(self, events: Sequence[DocumentPatchedEvent]) -> asyncio.Task[None]:
        """Have changes sent, and return the task that does it."""
        self._events.extend(events)
        # New models go as they are when the message is made; what is appended to their data afterwards goes again.
        if any(event.document.models._new_models for event in events):
            self._close()
        if self._task is None:
            self._task = asyncio.ensure_future(RESTS.during(self._send()))
            self._tasks.add(self._task)
            self._task.add_done_callback(self._tasks.discard)
        return self._task

    def _close(self) -> None:
        """Make a message of the changes so far; those that cannot be written down are lost, and no others."""
        events, self._events = self._events, []
        self._messages.append(self._connection.protocol.create("PATCH-DOC", events))

    async def _send(self) -> None:
        self._task = None  # what is changed from now on is for the next
        if self._events:
            self._close()
        messages, self._messages = self._messages, []
        for message in messages:
            await self._connection._socket.send_message(message)


def _outbox(connection: ServerConnection) -> _Outbox:
    """Return the outbox of a connection."""
    outbox: _Outbox = vars(connection).setdefault("zoviz_outbox", _Outbox(connection))
    return outbox


def messages_wait(document: Document | None) -> bool:
    """Return whether changes of a document are still to be sent."""
    session = getattr(getattr(document, "session_context", None), "session", None)
    return session is not None and any(_outbox(connection) for connection in session._subscribed_connections)


def _write(document: Document, connections: Iterable[ServerConnection], events: list[Any]) -> None:
    """Send changes at once, as Panel does, on connections on which nothing waits."""
    free = [connection for connection in connections if not _outbox(connection)]
    if free:
        WRITE_AT_ONCE(document, free, events)
    _defer(document, set(connections).difference(free), events)


def _defer(document: Document, connections: Iterable[ServerConnection], events: list[Any]) -> None:
    """Send changes after what waits."""
    for connection in connections:
        _outbox(connection).add(events)


@checked("panel")
def send_in_order() -> None:
    """Have Panel's messages and Bokeh's arrive in the order in which they were written, few and large.

    Bokeh writes a message when a model changes, and sends it when what holds the document's lock has ended. Panel 1.9
    sends its own at once, before those; or, while the websocket is being written to, by a task that looks for a free
    moment now and then, after some that were written later, or never. A browser that is told of a model that it does
    not know drops the whole message, and of two values of a property the older stays. Here changes wait in line for the
    websocket from the beginning.
    """
    ours: Any = panel_document
    ours.write_events, ours.schedule_write_events = _write, _defer
    bokehs: Any = ServerConnection
    bokehs.send_patch_document = lambda connection, event: _outbox(connection).add([event])


def drop_views_with_session() -> None:
    """Have Panel drop all that it holds of the page being made once the page's session has ended.

    Panel does so itself, but not of the area of notifications: it is in the list of all views, and not among those that
    know their documents. The whole page would stay with it, runs and all.
    """
    document = pn.state.curdoc

    def drop(context: object) -> None:
        for ref, (_, _, owner, _) in list(pn.state._views.items()):
            if owner is document:
                del pn.state._views[ref]

    if document is not None:
        pn.state.on_session_destroyed(drop)


def inline_styles(view: Viewable, root: Any) -> None:
    """Write Panel's style sheets into the models of a view that is about to be shown, where resources are inline."""
    if pn.config.inline:
        for model in root.select({"type": UIElement}):
            patch_inline_stylesheets(model)


@checked("panel")
def bring_figures_styles() -> None:
    """Have HoloViews' figures in cells bring Panel's style sheets, where ``pn.extension(inline=True)`` was called.

    Panel 1.9 does so for its own views; a figure that HoloViews shows by itself has a browser ask a content delivery
    network for them.
    """
    if inline_styles not in Viewable._preprocessing_hooks:
        Viewable._preprocessing_hooks.append(inline_styles)


class OrderedColumn(pn.Column):
    """A column whose messages from a notebook's front end are handled by a function of choice, one after the other.

    Panel handles each in the thread in which the kernel receives it, whatever another thread does to the document.

    Parameters
    ----------
    handle : callable
        Is given each message's work, a function without arguments, to do it soon.
    """

    def __init__(self, *objects: Any, handle: Callable[[Callable[[], object]], object], **params: Any) -> None:
        super().__init__(*objects, **params)
        self._handle = handle

    def _on_msg(self, ref: str, manager: Any, msg: Any) -> None:
        self._handle(lambda: super(OrderedColumn, self)._on_msg(ref, manager, msg))
