"""A server lets go of a page and its runs once the page's session has ended."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import ref

import panel as pn
import psutil
import pytest

from helpers import raw_client as raw
from helpers.event_loop import result_of
from helpers.ports import free_port, until_listening
from helpers.project import ROOT
from helpers.serving import serving
from helpers.waiting import until
from zoviz.runs.live_runs import LiveRuns
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.views.app.dashboard import RUN, Dashboard
from zoviz.views.app.process import prepare

SHORT = {"unused_session_lifetime_milliseconds": 1500, "check_unused_sessions_milliseconds": 200}
"""Sessions that end soon after their websocket."""


class Visits:
    """Pages of a server in this process, and their runs, by weak references.

    Attributes
    ----------
    pages, runs : list of ref
    ended : list of bool
        One for each session that has ended.
    live_runs : LiveRuns
        Those of the server.
    """

    def __init__(self, store: Store) -> None:
        prepare()
        self.store, self.live_runs = store, LiveRuns()
        self.ended: list[bool] = []
        self.pages: list[ref[Dashboard]] = []
        self.runs: list[ref[Run]] = []

    def make(self) -> Any:
        """A page for a new session."""
        dashboard = Dashboard(store=self.store, live_runs=self.live_runs)
        self.pages.append(ref(dashboard))
        pn.state.on_session_destroyed(lambda _: self.ended.append(True))
        return dashboard.page()

    async def visit(self, port: int, kind: str) -> None:
        """Open a page as a browser does, do something there, and leave it."""
        wire = await raw.Wire.open(port)
        document = await wire.document()
        (await asyncio.wait_for(await wire.patch(raw.ready()), 120))
        if kind != "looked at":
            self.own_page().form.settings.seconds = None  # else it ends by itself on a slow machine
            await raw.press(wire, raw.labelled(document)["Start"])
            await asyncio.to_thread(until, self.begun, pause=0.05)
            self.runs += [ref(self.own_run())]
            self.own_page().controller.outlive = kind == "outlived by its run"
        if kind == "looked at in every room":
            await self.see_rooms(wire, document)
        await wire.close()

    async def see_rooms(self, wire: raw.Wire, document: Any) -> None:
        """Open each room, that of the run last, and Diagnosis in it."""
        rooms = self.own_page().rooms
        for name in [*rooms.names, RUN]:
            rooms.open = name
            await wire.document()
        switch = raw.labelled(await wire.document())["Diagnosis"]
        await asyncio.wait_for(await wire.patch(raw.changed(switch, "active", True)), 120)
        await asyncio.sleep(0.5)

    def own_page(self) -> Dashboard:
        """The page that was made last and is still there."""
        return next(page for one in reversed(self.pages) if (page := one()) is not None)

    def own_run(self) -> Run | None:
        """Its run."""
        return self.own_page().controller.run

    def begun(self) -> bool:
        """Whether the run has lines."""
        run = self.own_run()
        return run is not None and len(run.trace) > 2

    def alive(self) -> tuple[int, int]:
        """How many pages and runs are still in memory."""
        gc.collect()
        return sum(one() is not None for one in self.pages), sum(one() is not None for one in self.runs)


@pytest.fixture
def nothing_logged() -> Iterator[None]:
    """Keep Panel from logging: the tests' log would hold the events of a page, and so the page."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.mark.usefixtures("nothing_logged", "fast_collections")
@pytest.mark.filterwarnings("default")  # of libraries, in the server's thread: an error's traceback would hold it, too
@pytest.mark.parametrize(
    "kind",
    [
        "looked at",
        "left in the middle of a run",
        "outlived by its run",
        pytest.param("looked at in every room", marks=pytest.mark.slow),
    ],
)
def test_nothing_is_left_of_a_page(store: Store, kind: str) -> None:
    visits = Visits(store)
    with serving(visits.make, **SHORT) as port:
        result_of(visits.visit(port, kind))
        if kind == "outlived by its run":
            until(lambda: len(visits.ended) == len(visits.pages) and visits.alive()[1] == 1, pause=0.2)
            visits.live_runs.get(store.runs()[0].id).stop()
        until(lambda: visits.alive() == (0, 0), pause=0.2)
    ended = "stopped" if kind == "outlived by its run" else "interrupted"
    assert [run.status for run in store.runs()] == [ended] * len(visits.runs), "and can be resumed"


LOADS, FIRST = 60, 10


async def load(port: int, store: Store) -> None:
    """Open a page as a browser does, start a run there, and leave it in the middle of the run."""
    before = store.count()
    wire = await raw.Wire.open(port, origin=f"http://localhost:{port}")
    document = await wire.document()
    await asyncio.wait_for(await wire.patch(raw.ready()), 120)
    await raw.press(wire, raw.labelled(document)["Start"])
    await asyncio.to_thread(until, lambda: store.count() > before, 120, 0.1)
    await asyncio.sleep(2)
    await wire.close()


async def settled(process: psutil.Process, port: int) -> float:
    """MB of a server whose pages are closed, once no session, no run and no garbage is left."""
    await asyncio.sleep(45)  # sessions end within 32 s, and are collected within seconds of that
    assert b'"runs": 0' in (await raw.get(port, "/healthz")).body
    return process.memory_info().rss / 2**20


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_sixty_pages_with_a_run_each_take_no_more_memory_than_ten(store: Store, tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    command = [sys.executable, "-m", "zoviz", "serve", "--no-show", "--port", str(port), "--store", store.url]
    with log.open("wb") as out:
        environment = os.environ | {"PYTHONPATH": str(ROOT)}
        server = subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=out, stderr=out)
    try:
        until_listening(port, server, log)
        process, held = psutil.Process(server.pid), [psutil.Process(server.pid).memory_info().rss / 2**20]
        for loads in (FIRST, LOADS - FIRST):
            for _ in range(loads):
                result_of(load(port, store))
            held.append(result_of(settled(process, port)))
    finally:
        server.terminate()
        server.wait(60)
    print(f"MB of the server at its start, after {FIRST} and after {LOADS} pages:", *map(round, held))
    assert held[2] <= 1.1 * held[1]
    ended = {"interrupted", "finished"}  # where the budget of seconds was spent before the session was closed
    assert {run.status for run in store.runs()} <= ended and store.count() == LOADS
