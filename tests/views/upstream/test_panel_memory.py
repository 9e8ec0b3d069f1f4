"""What Panel holds of a page for ever, and what zoviz does about it."""

from __future__ import annotations

import gc
from weakref import ref

import panel as pn
import pytest
from bokeh.document import Document

from helpers.event_loop import result_of
from helpers.raw_client import Wire
from helpers.serving import serving
from helpers.waiting import until
from zoviz.views.upstream.panel import drop_views_with_session


def alive(*objects: ref[object]) -> list[bool]:
    """Which of the objects are still in memory."""
    gc.collect()
    return [one() is not None for one in objects]


async def open_and_close(port: int) -> None:
    """Open a page as a browser does, and leave it."""
    wire = await Wire.open(port)
    await wire.close()


@pytest.mark.parametrize("dropped", [True, False])
def test_a_page_with_notifications_stays_unless_its_views_are_dropped(dropped: bool) -> None:
    """Once it never stays, ``drop_views_with_session`` has nothing to do."""
    documents: list[ref[Document]] = []
    ended: list[bool] = []

    def make() -> pn.Row:
        if dropped:
            drop_views_with_session()
        documents.append(ref(pn.state.curdoc))
        pn.state.on_session_destroyed(lambda _: ended.append(True))
        return pn.Row()

    lifetime = {"unused_session_lifetime_milliseconds": 1000, "check_unused_sessions_milliseconds": 100}
    with pn.config.set(notifications=True), serving(make, **lifetime) as port:
        result_of(open_and_close(port))
        until(lambda: len(ended) == len(documents), pause=0.1)
        if dropped:
            until(lambda: not any(alive(*documents)), pause=0.1)
    assert alive(*documents) == [not dropped] * len(documents)
