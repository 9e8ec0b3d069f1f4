"""Looks of many pages leave the event loop half of its time, between any two of them; one page alone is not held up."""

from __future__ import annotations

import asyncio
import heapq
from contextvars import Context, ContextVar, copy_context
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest

from helpers.event_loop import result_of
from zoviz.core.threads import refresh_queue
from zoviz.core.threads.refresh_queue import RefreshQueue

PERIOD, TICK, COST = 0.25, 0.0625, 0.02


def looks(
    monkeypatch: pytest.MonkeyPatch, pages: int, seconds: float, cost: float = COST
) -> tuple[list[float], list[int]]:
    """The ends of all looks, and how many each page had, in a simulated loop in which pages ask at each tick."""
    queue, now, events, number = RefreshQueue(), 0.0, list[Any](), 0
    due, ends, count = [0.0] * pages, list[float](), [0] * pages

    def later(pause: float, task: Any, *arguments: Any, context: Context | None = None) -> None:
        nonlocal number
        number += 1
        heapq.heappush(events, (now + pause, number, task, arguments))

    def ask(page: int) -> None:
        nonlocal now
        if now >= due[page] and queue.may_refresh(page, due[page], now, lambda: later(0.0, ask, page)):
            began, now = now, now + cost
            queue.refreshed(page, began, now)
            due[page], count[page] = max(due[page] + PERIOD, began), count[page] + 1
            ends.append(now)

    def tick(page: int) -> None:
        later(TICK, tick, page)
        ask(page)

    loop = SimpleNamespace(call_later=later)
    monkeypatch.setattr(refresh_queue, "asyncio", SimpleNamespace(get_running_loop=lambda: loop))
    for page in range(pages):
        later(TICK * page / pages, tick, page)
    while now < seconds:
        time, _, task, arguments = heapq.heappop(events)
        now = max(now, time)  # what is ready is done in one go
        task(*arguments)
    return ends, count


@pytest.mark.parametrize("share", [0.5, 1.0])
def test_the_loop_is_free_between_any_two_looks(monkeypatch: pytest.MonkeyPatch, share: float) -> None:
    """Where looks may have all of the time, they follow each other."""
    monkeypatch.setattr(refresh_queue, "SHARE", share)
    ends, count = looks(monkeypatch, 30, 24.0)
    pauses = [after - before - COST for before, after in pairwise(ends) if before > 2.0]  # all pages have come by then
    assert (min(pauses) >= 0.999 * COST) == (share == 0.5)
    assert max(count) - min(count) <= 1 and min(count) >= (19 if share == 0.5 else 38), "and nothing is lost in between"


def test_looks_have_less_while_a_page_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh_queue, "RESTS", SimpleNamespace(elsewhere=lambda: True))
    ends, count = looks(monkeypatch, 30, 30.0)
    pauses = [after - before - COST for before, after in pairwise(ends)]
    assert min(pauses) >= 3.999 * COST and min(count) >= 9


@pytest.mark.parametrize("few", [4, 1])
def test_a_few_pages_look_as_often_as_the_loop_can(monkeypatch: pytest.MonkeyPatch, few: int) -> None:
    """On a machine where a look takes 60 ms: without pauses between four of them each page has almost its four."""
    monkeypatch.setattr(refresh_queue, "FEW", few)
    _, count = looks(monkeypatch, 4, 10.0, cost=0.06)
    assert (min(count) >= 35) == (few == 4)


@pytest.mark.parametrize("own", [True, False])
def test_the_next_page_is_not_asked_in_the_name_of_this_one(monkeypatch: pytest.MonkeyPatch, own: bool) -> None:
    """Which document a change is for stands in the context of whoever asks."""
    page: ContextVar[str] = ContextVar("page", default="none")
    asked = []

    async def look() -> None:
        page.set("this")
        queue = RefreshQueue()
        queue.may_refresh(2, 0.0, 0.0, lambda: asked.append(page.get()))
        queue.refreshed(1, 0.0, 0.0)
        while not asked:
            await asyncio.sleep(0)

    if not own:
        monkeypatch.setattr(refresh_queue, "Context", copy_context)
    result_of(look())
    assert asked == ["none" if own else "this"]


@pytest.mark.parametrize("pages", [1, 4])
def test_a_few_pages_look_four_times_a_second(monkeypatch: pytest.MonkeyPatch, pages: int) -> None:
    _, count = looks(monkeypatch, pages, 10.0)
    assert min(count) >= 38


def test_a_page_that_has_stopped_asking_or_is_closed_holds_nobody_up() -> None:
    queue = RefreshQueue()
    assert queue.may_refresh(1, 0.0, 0.0, list)
    assert not queue.may_refresh(2, 0.1, 0.1, list), "the other has waited longer"
    assert queue.may_refresh(2, 0.1, 1.0, list)
    assert not queue.may_refresh(3, 0.2, 1.0, list)
    queue.leave(2)
    assert queue.may_refresh(3, 0.2, 1.0, list)


def test_without_a_loop_pages_ask_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh_queue, "FEW", 0)
    queue = RefreshQueue()
    queue.refreshed(1, 0.0, 1.0)
    assert not queue.may_refresh(1, 1.0, 1.5, list) and queue.may_refresh(1, 1.0, 2.0, list)
