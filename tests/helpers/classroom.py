"""A classroom: ``zoviz serve`` with its limits, and students who come by websocket, press Start, steer and leave."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
import panel.models.tabulator  # noqa: F401  # models that a page has are looked up by name
from tornado.httpclient import HTTPResponse

from helpers import raw_client as raw
from helpers.event_loop import result_of
from helpers.ports import free_port, until_listening
from helpers.project import ROOT
from zoviz.problems import LoadTracking
from zoviz.runs.storage.queries import Record
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG

USER_HEADER = "X-Forwarded-User"
SET_UP = {"problem": LoadTracking.title, "solver": ZOCEG.title, "run.seconds": "null", "run.replicas": "4"}
QUERY = f"/?{urlencode(SET_UP | {'room': 'run'})}"
"""The address of a page on which Start begins a run that goes on until it is stopped."""
PATIENCE = 200
"""Seconds that a student waits for a page, or for a run to begin: thirty who come at once are served one by one."""
LIMITS = ("--owners", "--runs-per-person", "2", "--runs", "70", "--turns", "1", "--variables", "500")
LIMITS += ("--replicas", "64", "--memory", "8", "--grace", "20")
"""Of the server of a class."""
COUNTERS = re.compile(r"zoviz-chip' style='[^']*'>(\w+)</span><span class='zoviz-counters'>iteration <b>([\d,]+)</b>")
"""In the status bar's HTML: status and iteration."""


class ClassServer:
    """``zoviz serve`` for users whom a proxy names, with a probe of its event loop's lag.

    Parameters
    ----------
    folder : Path
        To serve in.
    store : str
        URL.
    options : sequence of str
        More of the command line.
    """

    def __init__(self, folder: Path, store: str, *options: str) -> None:
        self.store, self.port, self.lags, self.log = store, free_port(), folder / "lags.json", folder / "server.log"
        command = [sys.executable, "-m", "helpers.classroom_server", str(self.lags), "serve", "--no-show"]
        command += ["--port", str(self.port), "--store", store, "--user-header", USER_HEADER, *options]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])}
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(command, cwd=folder, env=environment, stdout=out, stderr=out)
        until_listening(self.port, self.process, self.log)

    def stop(self, seconds: float = 60) -> int:
        """Send SIGTERM and return the exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        finally:
            self.process.kill()

    def lag(self) -> list[float]:
        """How late the event loop was at each sample so far, in seconds."""
        return json.loads(self.lags.read_text())

    async def health(self) -> tuple[int, dict[str, Any]]:
        """Status and content of the health address."""
        answer: HTTPResponse = await raw.get(self.port, "/healthz")
        return answer.code, json.loads(answer.body)


@dataclass
class Student:
    """A person with at most one page open.

    Attributes
    ----------
    name : str
    failures : list of str
        What they could not do.
    """

    name: str
    port: int
    chance: random.Random
    failures: list[str] = field(default_factory=list)
    waits: dict[str, list[float]] = field(default_factory=lambda: {"open": [], "start": []})
    starts: int = 0
    changes: int = 0
    wire: raw.Wire | None = None
    widgets: dict[str, str] = field(default_factory=dict)

    async def open(self, path: str = QUERY) -> None:
        """Open a page."""
        begun = time.monotonic()
        self.wire = await raw.Wire.open(self.port, path, headers={USER_HEADER: self.name}, request_timeout=PATIENCE)
        self.widgets = raw.labelled(await self.wire.document())
        assert (await asyncio.wait_for(await self.wire.patch(raw.ready()), 120))["type"] == "OK"
        self.waits["open"].append(time.monotonic() - begun)

    @property
    def told(self) -> tuple[str, int]:
        """Status and iteration that the page shows."""
        assert self.wire is not None
        for message in reversed(self.wire.heard[-400:]):
            match = COUNTERS.search(message)
            if match:
                return match[1], int(match[2].replace(",", ""))
        return "", 0

    async def start(self) -> None:
        """Press Start, and wait until the page shows a run at work."""
        assert self.wire is not None
        begun = time.monotonic()
        self.wire.heard.clear()
        await raw.press(self.wire, self.widgets["Start"])
        while self.told[0] != "running" or self.told[1] < 1:
            if time.monotonic() > begun + PATIENCE:
                self.failures.append(f"{self.name}: no run after {PATIENCE} s: {self.wire.heard[-1:]}"[:600])
                return
            await asyncio.sleep(0.1)
        self.starts += 1
        self.waits["start"].append(time.monotonic() - begun)

    async def steer(self) -> None:
        """Type another number of directions."""
        assert self.wire is not None
        batch = str(self.chance.randint(5, 8))
        self.changes += 1
        await raw.say(self.wire, self.widgets["Batch size k"], {"seq": self.changes, "text": batch})

    async def leave(self) -> None:
        """Close the page."""
        if self.wire is not None:
            await self.wire.close()
            self.wire = None

    async def resume(self) -> bool:
        """Open a page after a restart: is resuming offered there, and does the newest run go on by its button?"""
        await self.open("/")
        assert self.wire is not None
        end = time.monotonic() + PATIENCE
        while "interrupted: Resume run" not in "".join(self.wire.heard):
            if time.monotonic() > end:
                return False
            await asyncio.sleep(0.2)
        await raw.say(self.wire, self.widgets["Header"], {"open": "runs"})
        await asyncio.sleep(0.5)
        document = await self.wire.document()
        table = next(part for part in raw.parts(document["roots"]) if part.kind.endswith("DataTabulator"))
        selection = table.attributes["source"]["attributes"]["selected"]["id"]
        await raw.send(self.wire, [raw.changed(selection, "indices", [0])])
        await asyncio.sleep(0.2)
        await raw.press(self.wire, raw.labelled(document)["Resume run"])
        while self.told[0] != "running" and time.monotonic() < end:
            await asyncio.sleep(0.2)
        return self.told[0] == "running"

    async def attend(self, until: float, arrival: float, stay: float) -> None:
        """Come after some seconds; open, start, steer, leave and come again until it is time."""
        await asyncio.sleep(arrival)
        while time.monotonic() < until:
            try:
                await self.open()
                await self.start()
                end = min(until, time.monotonic() + stay * self.chance.uniform(0.8, 1.2))
                while time.monotonic() < end:
                    await asyncio.sleep(min(self.chance.uniform(3, 9), max(0.0, end - time.monotonic())))
                    await self.steer()
                    if self.wire is not None and self.wire.closed:
                        self.failures.append(f"{self.name}: the connection was closed")
                if end < until:
                    await self.leave()
            except Exception as error:  # whatever kept them from it is what the test is about
                self.failures.append(f"{self.name}: {type(error).__name__}: {error}"[:300])
                await self.leave()


@dataclass
class Lesson:
    """What came of a lesson.

    Attributes
    ----------
    failures : list of str
        What students could not do, and errors in the server's log.
    waits : dict
        Seconds for a page, and from Start to a run at work.
    starts, changes : int
    lag : list of float
        How late the event loop was at each sample, in seconds.
    arrived : int
        Samples until all students were there.
    calls : list of int
        Of each student, all replicas, while all were there.
    told : dict of str to int
        The last iteration that each page showed before SIGTERM.
    code : int
        The server's exit code.
    records : list of Record
        All runs after it.
    resumed : list of bool
        Whether students' pages offered to go on after the restart, and did.
    """

    failures: list[str]
    waits: dict[str, list[float]]
    starts: int
    changes: int
    lag: list[float]
    arrived: int
    calls: list[int]
    told: dict[str, int]
    code: int = -1
    records: list[Record] = field(default_factory=list)
    resumed: list[bool] = field(default_factory=list)

    @property
    def unfairness(self) -> float:
        """The most calls of a student over the least."""
        return max(self.calls) / max(min(self.calls), 1)

    @property
    def lost(self) -> list[str]:
        """Students whose run is not in the store as an interrupted one that came as far as their page has shown."""
        best = {one.owner: one.iterations for one in reversed(self.records) if one.status == "interrupted"}
        return [name for name, iteration in self.told.items() if best.get(name, -1) < iteration]

    def __str__(self) -> str:
        waits = ", ".join(
            f"{what} {len(times)} times, {np.median(times):.2f} s (at most {max(times):.2f})"
            for what, times in self.waits.items()
        )
        return (
            f"{len(self.told)} students: {waits}; {self.changes} changes; {len(self.failures)} failures "
            f"{self.failures[:3]}; loop lag {shares(self.lag)}, once all were there "
            f"{shares(self.lag[self.arrived :])}; calls {min(self.calls)} to {max(self.calls)}, ratio "
            f"{self.unfairness:.2f}; exit code {self.code}, lost "
            f"{self.lost}; {sum(self.resumed)} of {len(self.resumed)} resumed"
        )


def shares(lag: list[float]) -> str:
    """Quantiles of lags in words."""
    middle, late, latest = 1e3 * np.quantile(lag, [0.5, 0.99, 1.0])
    return f"p50 {middle:.1f} ms, p99 {late:.1f} ms, at most {latest:.0f} ms of {len(lag)} samples"


def calls_by_owner(store: Store) -> dict[str, int]:
    """Calls of all replicas of each person's runs so far."""
    sums: dict[str, int] = {}
    for one in store.runs():
        sums[one.owner] = sums.get(one.owner, 0) + one.calls * one.replicas
    return sums


def lesson(folder: Path, url: str, count: int, seconds: float, arrivals: float, stay: float, *options: str) -> Lesson:
    """Hold a lesson, end the server by SIGTERM while all are at work, restart it, and have some students go on.

    Parameters
    ----------
    folder : Path
    url : str
        Of the store.
    count : int
        Students.
    seconds, arrivals, stay : float
        Length; time within which students come; time after which one closes the page and comes again.
    options : str
        More limits.
    """
    server = ClassServer(folder, url, *LIMITS, *options)
    students = [Student(f"student{i}", server.port, random.Random(i)) for i in range(count)]

    async def attended(store: Store) -> tuple[dict[str, int], dict[str, int], int]:
        until = time.monotonic() + seconds
        tasks = [asyncio.create_task(one.attend(until, arrivals * i / count, stay)) for i, one in enumerate(students)]
        while min(one.starts for one in students) < 1 and time.monotonic() < until:
            await asyncio.sleep(0.5)
        before, arrived = await asyncio.to_thread(calls_by_owner, store), len(server.lag())
        await asyncio.gather(*tasks)
        return before, await asyncio.to_thread(calls_by_owner, store), arrived

    async def after() -> list[bool]:
        back = [Student(one.name, again.port, random.Random(1)) for one in students[:5]]
        resumed = [await one.resume() for one in back]
        for one in back:
            await one.leave()
        return resumed

    async def whole(store: Store) -> Lesson:
        before, now, arrived = await attended(store)
        waits = {what: [wait for one in students for wait in one.waits[what]] for what in ("open", "start")}
        told = {one.name: one.told[1] for one in students if one.wire is not None}
        held = Lesson(
            [failure for one in students for failure in one.failures],
            waits,
            sum(one.starts for one in students),
            sum(one.changes for one in students),
            server.lag(),
            arrived,
            [now.get(one.name, 0) - before.get(one.name, 0) for one in students],
            told,
        )
        held.code = await asyncio.to_thread(server.stop)
        for one in students:
            await one.leave()
        held.records = store.runs()
        held.failures += [line for line in server.log.read_text().splitlines() if "Error" in line][:9]
        return held

    with Store(url) as store:
        held = result_of(whole(store))
        again = ClassServer(folder, url, *LIMITS, *options)
        held.resumed = result_of(after())
        again.stop()
    return held


if __name__ == "__main__":
    from helpers.postgres import database, server

    chosen = argparse.ArgumentParser(description="A lesson of ten minutes on a server of its own, with PostgreSQL.")
    chosen.add_argument("--students", type=int, default=30)
    chosen.add_argument("--seconds", type=float, default=600.0)
    chosen.add_argument("--arrivals", type=float, default=120.0)
    chosen.add_argument("--stay", type=float, default=240.0)
    args, more = chosen.parse_known_args()
    with tempfile.TemporaryDirectory() as name, server() as one, database(one, "lesson") as address:
        print(lesson(Path(name), address, args.students, args.seconds, args.arrivals, args.stay, *more))
