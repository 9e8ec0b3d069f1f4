"""One user cannot see or steer another's runs where owners are on: a hostile client of its own making tries."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import random
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from tornado.httpclient import HTTPClientError

from helpers import raw_client as raw
from helpers.classroom import USER_HEADER, ClassServer, Student
from helpers.event_loop import result_of
from helpers.waiting import until
from zoviz.runs.store import Store

pytestmark = pytest.mark.slow  # a server of its own, and pages: half a minute

SECRET = "the label of bob's run"
BUTTONS = ("Open", "Put on the plots", "Resume run", "Replay", "Fork", "Delete", "Undo delete")


@pytest.fixture(params=[True, False], ids=["owners", "no owners"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ClassServer]:
    """A server for users, with owners and, for comparison, without."""
    one = ClassServer(tmp_path, f"sqlite:///{tmp_path / 'kept.db'}", *(["--owners"] if request.param else []))
    one.owners = request.param
    yield one
    assert one.stop() == 0


@contextlib.asynccontextmanager
async def page(server: ClassServer, name: str, **options: str) -> AsyncIterator[raw.Wire]:
    wire = await raw.Wire.open(server.port, headers={USER_HEADER: name}, **options)
    assert (await asyncio.wait_for(await wire.patch(raw.ready()), 60))["type"] == "OK"
    try:
        yield wire
    finally:
        await wire.close()


async def bob_at_work(server: ClassServer, store: Store) -> Student:
    bob = Student("bob", server.port, random.Random(1))
    await bob.open()
    await bob.start()
    assert not bob.failures
    store.annotate(store.runs()[0].id, label=SECRET)
    return bob


async def look_at_everything(wire: raw.Wire, run: str) -> str:
    """All that the server says to somebody who opens the stored runs, searches them, and presses every button."""
    widgets = raw.labelled(await raw.unfolded(wire))
    await raw.say(wire, widgets["Header"], {"open": "runs"})
    await asyncio.sleep(0.5)
    document = await wire.document()
    widgets = raw.labelled(document)
    texts = [json.dumps(document)]
    for search in (run[:8], "%"):
        await asyncio.wait_for(await wire.patch(raw.changed(widgets["Search"], "value", search)), 60)
        await asyncio.sleep(0.3)
        texts.append(json.dumps(await wire.document()))
    await asyncio.wait_for(await wire.patch(raw.changed(widgets["Search"], "value", "")), 60)
    table = next(one for one in raw.parts(document["roots"]) if one.kind.endswith("DataTabulator"))
    selection = table.attributes["source"]["attributes"]["selected"]["id"]
    for indices in ([0], [0, 1, 2, -1, 10**6]):
        for button in BUTTONS:
            await raw.send(wire, [raw.changed(selection, "indices", indices)])
            await asyncio.sleep(0.08)
            await raw.press(wire, widgets[button])
    texts.append(json.dumps(await wire.document()))
    return "".join([*texts, *wire.heard])


def test_a_hostile_user_neither_sees_nor_steers_anothers_run(server: ClassServer) -> None:
    async def attack(store: Store) -> tuple[str, raw.Wire]:
        bob = await bob_at_work(server, store)
        run, foreign = store.runs()[0].id, await bob.wire.document()
        address = f"/?runs={run}&room=run"
        async with page(server, "alice", path=address) as wire:
            seen = await look_at_everything(wire, run)
            # All that bob's page has, by its own names: each document knows only its own models.
            if server.owners:
                for part in raw.parts(foreign["roots"]):
                    await wire.patch(raw.changed(part.id, "value", "7"), raw.event(part.id, "dom_event", node="click"))
            assert not wire.closed
        told = bob.told
        await bob.leave()
        return seen, told

    with Store(server.store) as store:
        seen, told = result_of(attack(store))
        before = next(one for one in [*store.runs(), *store.runs(deleted=True)] if one.owner in ("bob", ""))
        journal = store.load(before.id).journal
        if server.owners:
            assert SECRET not in seen and f"Run {before.id[:8]} of the address is ignored" in seen
            assert told[0] == "running" and len(journal) == 0 and before.owner == "bob" and before.label == SECRET
            assert store.count(deleted=True) == 0 and {one.owner for one in store.runs()} <= {"bob", "alice"}
        else:
            assert SECRET in seen and f"Deleted: {before.id[:8]}" in seen, "what a team's members see and may do"
        until(lambda: all(not one.status.active for one in store.runs()), 90)  # the pages are closed


def forged(token: str, name: str) -> list[str]:
    """Tokens as a browser could write them for somebody else's session."""
    payload, _, signature = token.partition(".")
    content = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    plain = {**content, "headers": {USER_HEADER: name}, "session_id": "x" * 44}
    plain.pop("__bk__zlib_", None)
    written = base64.urlsafe_b64encode(json.dumps(plain).encode()).decode().rstrip("=")
    return [written, f"{written}.{signature}", f"{written}.", f"{payload}.{signature[:-2]}AA", f"{payload}"]


def test_only_the_proxys_word_counts_for_who_somebody_is(server: ClassServer) -> None:
    async def attack() -> dict[str, str]:
        nobody = await raw.get(server.port, "/", follow_redirects=True)
        assert nobody.code == 401 and "got none: open the page through the proxy" in nobody.body.decode()
        alice = {USER_HEADER: "alice"}
        body = (await raw.get(server.port, "/", headers=alice)).body.decode()
        token = raw.TOKEN.search(body)[1]
        with pytest.raises(HTTPClientError, match="403"):
            await raw.Wire.connect(server.port, token)
        for fake in forged(token, "bob"):
            with pytest.raises((HTTPClientError, ConnectionError)):
                await raw.Wire.connect(server.port, fake, headers=alice)
        answer = await raw.get(server.port, "/?bokeh-session-id=" + "x" * 44, headers=alice)
        assert answer.code == 403
        code, health = await server.health()
        assert code == 200 and health["runs"] == 0
        wire = await raw.Wire.connect(server.port, token, headers=alice)
        widgets = raw.labelled(await wire.document())
        await wire.close()
        return widgets

    assert "Start" in result_of(attack()), "the page that the proxy's user has opened"
