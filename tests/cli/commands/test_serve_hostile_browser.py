"""Nothing that a browser sends can name a Python object, a file or a program: a client that tries all there is.

It speaks Bokeh's protocol itself, so that no page's script keeps it from sending anything.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import panel.models.tabulator  # noqa: F401  # models that a page has are looked up by name
import psutil
import pytest
from tornado.httpclient import HTTPClientError

import zoviz.views.app.dashboard  # noqa: F401
from helpers import audited_server
from helpers import hostile_store as planted
from helpers import hostile_values as hostile
from helpers import raw_client as raw
from helpers.raw_client import Wire, changed, event, parts, press, send
from zoviz.runs.store import Store

# What these found has quick tests: test_components_route, test_page_logo, test_recipe_programs, test_slider_far_off.
slow = pytest.mark.slow  # ten seconds of computing or more each, and six for the server


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Iterator[Any]:
    """A server with a problem of its owner's, and a store that others have written to."""
    folder = tmp_path_factory.mktemp("served").resolve()
    labels = planted.make(folder, folder / "zoviz_canary")
    _picture(folder / "picture.png")
    one = audited_server.AuditedServer(folder, root, ["--problem", "own_module:problem"])
    one.planted = labels
    one.forbidden = frozenset(hostile.MODULES)
    try:
        by_itself(honest(one))
        one.arm()
        yield one
    finally:
        one.stop()


def _picture(path: Path) -> None:
    path.write_bytes(
        bytes.fromhex(
            "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c63f8cfc0f01f0005"
            "0001ff56c72fdb0000000049454e44ae426082"
        )
    )


@pytest.fixture(autouse=True)
def unharmed(server: Any) -> Iterator[None]:
    """After every attack: nothing was opened, imported or started, and honest people are served as before."""
    yield
    assert not server.misdeeds()
    by_itself(honest(server))
    assert not server.misdeeds()


def by_itself(attack: Coroutine[Any, Any, None]) -> None:
    """Run it in a thread: the browser of other tests keeps this one's event loop."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(asyncio.run, attack).result()


def assert_withstood(server: Any, attack: Coroutine[Any, Any, None]) -> None:
    """Nothing was opened, imported or started by it."""
    by_itself(attack)
    assert not server.misdeeds()


def store(server: Any) -> Store:
    return Store(f"sqlite:///{server.folder / 'kept.db'}")


@contextlib.asynccontextmanager
async def page(server: Any, **options: Any) -> AsyncIterator[Any]:
    wire = await Wire.open(server.port, **options)
    try:
        yield wire
    finally:
        await wire.close()


async def honest(server: Any) -> None:
    """Somebody makes a run of ten iterations, and it is kept."""
    with store(server) as run_store:
        before = run_store.count()
        async with page(server) as wire:
            widgets = raw.labelled(await raw.unfolded(wire))
            await raw.say(wire, widgets["Iterations"], {"seq": 1, "text": "10"})
            await press(wire, widgets["Start"])
            end = time.monotonic() + 60
            while run_store.count() == before or run_store.runs()[0].status in ("running", "paused"):
                assert time.monotonic() < end, "no run"
                await asyncio.sleep(0.05)
            run = run_store.runs()[0]
            assert (run.status, run.iterations) == ("finished", 10)


async def furnished(wire: Any) -> Any:
    """A page on which everything is that there may be: a run on the plots, the stored runs, a picture."""
    widgets = raw.labelled(await raw.unfolded(wire))
    await press(wire, widgets["Step"])
    await asyncio.sleep(0.5)
    await raw.say(wire, widgets["Header"], {"open": "runs"})
    await asyncio.sleep(0.5)
    return await wire.document()


@slow
def test_addresses_name_nothing(server: Any) -> None:
    async def attack() -> None:
        async with page(server) as wire:
            document = await wire.document()
        scripts = [str(part.attributes.get("esm")) for part in parts(document)]  # some stand there in full
        addresses = {one.removeprefix(".") for one in scripts if one.startswith(("./components/", "/components/"))}
        assert addresses and all([(await raw.get(server.port, one)).code == 200 for one in addresses])
        requests = list(hostile.requests(server.canary))
        assert requests
        for request in requests:
            answer = await raw.get(server.port, request, follow_redirects=False)
            assert b"root:" not in answer.body and b"foreign_module.py" not in answer.body
            if "passwd" in request.partition("?")[0] or "/components/" in request:
                assert answer.code in (400, 403, 404), request

    assert_withstood(server, attack())


async def fire(server: Any, few: bool) -> None:
    pairs = hostile.readable(hostile.values(server.canary))
    async with page(server) as wire:
        document = await furnished(wire)
        rounds, count = list(hostile.aimed(parts(document["roots"]), pairs, few)), 0
        try:
            for round in rounds:
                await send(wire, [changed(*one) for one in round])
                await asyncio.sleep(0.06)  # Panel waits for so long before it looks at what came
                count += len(round)
        finally:
            print(f"{count} of {sum(map(len, rounds))} changes, {len(wire.refused)} answers that refuse some")
        assert not wire.closed and not any("root:x" in text for text in wire.heard)


@slow
def test_properties_name_nothing(server: Any) -> None:
    assert_withstood(server, fire(server, few=True))


@pytest.mark.timeout(7200)
@slow
def test_no_value_of_any_property_names_anything(server: Any) -> None:
    assert_withstood(server, fire(server, few=False))


@slow
def test_events_name_nothing(server: Any) -> None:
    async def attack() -> None:
        async with page(server) as wire:
            kinds = {part.kind: part for part in parts((await furnished(wire))["roots"])}
            listening = [
                part for kind, part in kinds.items() if "panel" in kind or kind in ("Figure", "ColumnDataSource")
            ]
            await send(
                wire,
                [
                    event(part.id, name, **values)
                    for part in listening
                    for name, values in hostile.events(server.canary)
                ],
            )
            assert not wire.closed

    assert_withstood(server, attack())


@slow
def test_messages_name_nothing(server: Any) -> None:
    async def attack() -> None:
        sent, all_sent = 0, False
        while not all_sent:
            async with page(server) as wire:
                document = await wire.document()
                components = sorted(parts(document["roots"]), key=lambda part: part.kind == "ColumnDataSource")
                message = list(hostile.messages(server.canary, document, components[0].id, components[-1].id))
                while not wire.closed and sent < len(message):
                    await wire.ask(*message[sent])
                    sent += 1
                all_sent = sent == len(message)
        for frames in hostile.garbage(server.canary):
            async with page(server) as wire:
                for frame in frames:
                    wire.write(frame)
                await asyncio.sleep(0.05)

    assert_withstood(server, attack())


@slow
def test_stored_runs_start_nothing_that_they_name(server: Any) -> None:
    async def attack() -> None:
        async with page(server) as wire:
            document = await furnished(wire)
            widgets = raw.labelled(document)
            table = next(part for part in parts(document["roots"]) if part.kind.endswith("DataTabulator"))
            selection = table.attributes["source"]["attributes"]["selected"]["id"]
            for i in range(len(server.planted)):
                for button in ("Open", "Put on the plots", "Replay", "Fork", "Resume run"):
                    await send(wire, [changed(selection, "indices", [i])])
                    await asyncio.sleep(0.06)
                    await press(wire, widgets[button])
            assert not wire.closed

    with store(server) as run_store:
        before = run_store.count()
        by_itself(attack())
        assert run_store.count() > before, "what is not tampered with can be repeated"


@slow
def test_only_its_own_pages_are_answered_and_only_with_the_password(server: Any, root: Path, tmp_path: Path) -> None:
    (tmp_path / "own_module.py").write_text(planted.OWN)
    guarded = audited_server.AuditedServer(tmp_path.resolve(), root, ["--basic-auth", "secret"])

    async def attack() -> None:
        with pytest.raises(HTTPClientError, match="403"):
            await Wire.open(server.port, origin="http://evil.example")
        body = (await raw.get(server.port, "/")).body.decode()
        token = raw.TOKEN.search(body)[1]
        for path in ("/", "/metadata", "/autoload.js?bokeh-autoload-element=x", "/?next=/"):
            answer = await raw.get(guarded.port, path, follow_redirects=False)
            assert answer.code in (302, 404) and "token" not in answer.body.decode(), path
        for stranger in (token, json.dumps({"session_id": "x"})):
            with pytest.raises((HTTPClientError, ConnectionError)):
                await Wire.connect(guarded.port, stranger)
        wrong = await raw.log_in(guarded.port, "guess")
        with pytest.raises((HTTPClientError, ConnectionError)):
            await Wire.connect(guarded.port, token, cookie=wrong)
        async with page(guarded, cookie=await raw.log_in(guarded.port, "secret")) as wire:
            assert raw.labelled(await wire.document())["Start"]

    try:
        by_itself(attack())
        assert {line.laddr.ip for line in psutil.Process(guarded.process.pid).net_connections()} == {"127.0.0.1"}
    finally:
        guarded.stop()
