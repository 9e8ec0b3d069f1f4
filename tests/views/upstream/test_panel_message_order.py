"""Messages of Panel's and of Bokeh's reach the browser in the order in which they were written."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import panel as pn
import pytest
from bokeh.models import ColumnDataSource
from bokeh.server.connection import ServerConnection
from panel.io import document as panel_document

from helpers.event_loop import result_of
from helpers.raw_client import Wire, changed, mapped, parts
from helpers.serving import serving
from helpers.waiting import until
from zoviz.views.common.style import batched_changes
from zoviz.views.upstream import panel as panel_internals


class Page(NamedTuple):
    """A column to put things in, and a line."""

    column: pn.Column
    line: pn.pane.HTML


Change: TypeAlias = Callable[[Page], None]


def tell_of_something_new(page: Page) -> None:
    """Add to the column, all at once, and then change what was added."""
    added = pn.pane.HTML("new")
    with batched_changes(pn.state.curdoc):
        page.column.append(added)
    added.object = "newer"


def change_twice(page: Page) -> None:
    """Change the line in a batch, and change it again."""
    with batched_changes(pn.state.curdoc):
        page.line.object = "old"
    page.line.object = "new"


def add_data_and_tag_them(page: Page) -> None:
    """Add a source of data, and tag it twice."""
    source = new_data()
    source.tags = ["one"]
    source.tags = ["two"]


def append_to_new_data(page: Page) -> None:
    """Add a source of data to the page, and append to it at once."""
    new_data().stream({"x": [2.0]})


def tag_badly_and_then_well(page: Page) -> None:
    """Tag the page with something that no message can hold, and the next time with a word."""
    document = pn.state.curdoc
    assert document is not None
    root = document.roots[0]
    root.tags = ["well"] if root.tags else [object()]


def new_data() -> ColumnDataSource:
    """A source of data that was added to the document."""
    source, document = ColumnDataSource({"x": [1.0]}), pn.state.curdoc
    assert document is not None
    document.add_root(source)
    return source


Events: TypeAlias = list[dict[str, Any]]


async def messages_of(port: int, opened: threading.Event, fills: int, count: int) -> list[Events]:
    """The events of each message when the field on the page is filled ``fills`` times, once there are ``count``.

    Those of style sheets are left out: Panel sends them for a pane that changes, sooner or later than what changed.
    """
    wire = await Wire.open(port)
    try:
        document = await wire.document()
        (field,) = [part.id for part in parts(document["roots"]) if part.kind.endswith("TextInput")]
        ready = {"type": "event", "name": "document_ready", "values": mapped({})}
        await (await wire.patch({"kind": "MessageSent", "msg_type": "bokeh_event", "msg_data": ready}))
        assert await asyncio.to_thread(opened.wait, 120)  # Panel takes a page for open some time after it was told
        for times in range(fills):
            await (await wire.patch(changed(field, "value", f"filled {times} times")))

        def told() -> list[Events]:
            every = [json.loads(message).get("events", []) for message in wire.heard]
            own = [[event for event in events if event.get("attr") != "stylesheets"] for events in every]
            return [events for events in own if events]

        await asyncio.to_thread(until, lambda: sum(map(len, told())) >= count)
        return told()
    finally:
        await wire.close()


def heard(change: Change, count: int, fills: int = 1) -> list[Events]:
    """The events of each message of a change that a filled field makes, as they arrive, once there are ``count``."""
    opened = threading.Event()

    def make() -> pn.Column:
        pn.state.onload(opened.set)
        field = pn.widgets.TextInput(label="Go")
        page = Page(pn.Column(), pn.pane.HTML("first"))
        field.param.watch(lambda _: change(page), "value")
        return pn.Column(field, *page)

    with serving(make) as port:
        return result_of(messages_of(port, opened, fills, count))


@pytest.fixture(params=[True, False], ids=["ours", "theirs"])
def in_order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether messages are sent by us, or as Panel and Bokeh do by themselves."""
    monkeypatch.setattr(panel_document, "write_events", panel_internals.WRITE_AT_ONCE)
    monkeypatch.setattr(panel_document, "schedule_write_events", panel_internals.WRITE_LATER)
    monkeypatch.setattr(ServerConnection, "send_patch_document", panel_internals.SEND_WHEN_AWAITED)
    if request.param:
        panel_internals.send_in_order()
    return bool(request.param)


def test_a_browser_knows_of_each_model_before_it_is_told_of_its_changes(in_order: bool) -> None:
    first = heard(tell_of_something_new, 1)[0]
    # Once it is by themselves, there is no need of send_in_order.
    assert ('"type": "object"' in json.dumps(first)) is in_order


def test_the_later_of_two_values_arrives_last(in_order: bool) -> None:
    values = [event["new"] for events in heard(change_twice, 2) for event in events]
    assert values == (["old", "new"] if in_order else ["new", "old"])


def test_changes_of_one_turn_make_one_message(in_order: bool) -> None:
    sizes = [len(events) for events in heard(add_data_and_tag_them, 3)]
    assert sizes == ([1, 2] if in_order else [1, 1, 1]), "new data, and both tags"


def test_data_that_are_appended_to_new_ones_come_once(in_order: bool) -> None:
    first, *others = heard(append_to_new_data, 2)
    kinds = [event["kind"] for events in (first, *others) for event in events]
    assert kinds == ["RootAdded", "ColumnsStreamed"]
    assert "2.0" not in json.dumps(first), "new data come as they were before"


@pytest.mark.parametrize("in_order", [True], indirect=True, ids=["ours"])
def test_what_no_message_can_hold_keeps_nothing_else_back(in_order: bool) -> None:
    assert any("well" in json.dumps(events) for events in heard(tag_badly_and_then_well, 1, fills=2))
