"""A page is made in a thread of its own, while the event loop goes on with the others; without that, it stops them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any

import bokeh.io.doc
import pytest
from bokeh.document import Document
from bokeh.io.doc import curdoc, patch_curdoc
from bokeh.models import Div
from bokeh.protocol import Protocol
from bokeh.protocol.messages.pull_doc_req import pull_doc_req
from bokeh.server.contexts import ApplicationContext
from bokeh.server.session import ServerSession
from panel.io.application import Application
from panel.io.handlers import FunctionHandler
from panel.io.state import state

from helpers.event_loop import result_of
from zoviz.core.threads.rests import RESTS
from zoviz.views.server.document_thread import DocumentThread, use_document_thread
from zoviz.views.upstream.bokeh import REPLY_AT_ONCE
from zoviz.views.upstream.panel import CREATE_SESSION, FILL_DOCUMENT


@pytest.fixture(autouse=True)
def own_methods(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Bokeh's and Panel's own methods, until a test replaces them, and after it."""
    monkeypatch.setattr(Application, "on_session_created", CREATE_SESSION)
    monkeypatch.setattr(Application, "initialize_document", FILL_DOCUMENT)
    monkeypatch.setattr(ServerSession, "_handle_pull", REPLY_AT_ONCE)
    monkeypatch.setattr(bokeh.io.doc, "_PATCHED_CURDOCS", [])
    yield


@pytest.mark.parametrize("apart", [True, False])
def test_the_loop_goes_on_while_a_page_is_made(apart: bool) -> None:
    """Without the thread, nobody can open the door for which the page waits."""
    door, course = threading.Event(), []

    def page(document: Document) -> None:
        course.extend([door.wait(120 if apart else 0.1), RESTS.due, state.curdoc is document])
        document.add_root(Div(text="made"))

    if apart:
        use_document_thread()

    async def open_two() -> list[ServerSession]:
        context = ApplicationContext(Application(FunctionHandler(page)))
        tasks = [asyncio.ensure_future(context.create_session_if_needed("one")) for _ in range(2)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        door.set()
        sessions = await asyncio.gather(*tasks)
        assert state._thread_id_[sessions[0].document] == threading.get_ident(), "its callbacks come in the loop"
        return sessions

    one, same = result_of(open_two())
    assert one is same and [root.text for root in one.document.roots] == ["made"], "made once"
    assert course == [apart, apart, True] and not RESTS.due


@pytest.mark.parametrize("apart", [True, False])
def test_a_document_is_written_down_in_the_thread(monkeypatch: pytest.MonkeyPatch, apart: bool) -> None:
    threads = list[str]()
    write_down = Div.to_serializable

    def seen(model: Div, serializer: Any) -> Any:
        threads.append(threading.current_thread().name)
        return write_down(model, serializer)

    # Not a class of ours: Bokeh looks for the files of the package of each class that there is, for every page.
    monkeypatch.setattr(Div, "to_serializable", seen)
    if apart:
        use_document_thread()

    async def ask() -> str:
        document = Document()
        document.add_root(Div(text="all of it"))
        session = ServerSession("one", document)

        class Connection:
            protocol = Protocol()

        Connection.session = session
        reply = await ServerSession.pull(pull_doc_req.create(), Connection())
        return str(reply.content_json)

    assert "all of it" in result_of(ask())
    assert len(threads) == 1 and threads[0].startswith("zoviz-documents") == apart


@pytest.mark.parametrize("apart", [True, False])
def test_each_thread_has_its_own_current_document(apart: bool) -> None:
    """Bokeh's list is for all threads: a callback of one page would find the page that is being made."""
    if apart:
        use_document_thread()
    own, other = Document(), Document()
    entered, door = threading.Event(), threading.Event()

    def visit() -> None:
        with patch_curdoc(other):
            assert curdoc() is other
            entered.set()
            door.wait(120)

    thread = threading.Thread(target=visit)
    with patch_curdoc(own):
        thread.start()
        assert entered.wait(120)
        try:
            assert curdoc() is (own if apart else other)
        finally:
            door.set()
            thread.join()


def test_what_fails_in_the_thread_fails_where_it_is_awaited() -> None:
    async def fail() -> None:
        await DocumentThread().do(lambda: int("many"))

    with pytest.raises(ValueError, match="many"):
        result_of(fail())
    assert not RESTS.due
