"""A classroom: ``zoviz serve`` with its limits, and students who come by websocket, press Start, steer and leave."""

from __future__ import annotations

import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import panel.models.tabulator  # noqa: F401  # models that a page has are looked up by name
from tornado.httpclient import HTTPResponse

from helpers import raw_client as raw
from helpers.ports import free_port, until_listening
from helpers.project import ROOT

USER_HEADER = "X-Forwarded-User"
QUERY = "/?problem=Load+tracking&solver=ZO-CEG&run.seconds=null&run.replicas=4&room=run"
"""The address of a page on which Start begins a run that goes on until it is stopped."""
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

    def late(self, share: float = 0.99) -> float:
        """The lag of the event loop below which so many of its samples are, in seconds."""
        return float(np.quantile(json.loads(self.lags.read_text()), share))

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
    widgets: dict[str, tuple[str, str]] = field(default_factory=dict)

    async def open(self) -> None:
        """Open a page."""
        begun = time.monotonic()
        self.wire = await raw.Wire.open(self.port, QUERY, headers={USER_HEADER: self.name})
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
        await raw.press(self.wire, self.widgets["Start"][0])
        while self.told[0] != "running" or self.told[1] < 1:
            if time.monotonic() > begun + 60:
                self.failures.append(f"{self.name}: no run after 60 s: {self.wire.heard[-1:]}"[:600])
                return
            await asyncio.sleep(0.1)
        self.starts += 1
        self.waits["start"].append(time.monotonic() - begun)

    async def steer(self) -> None:
        """Type another number of directions."""
        assert self.wire is not None
        batch = str(self.chance.randint(5, 8))
        answer = await self.wire.patch(raw.changed(self.widgets["Batch size k"][1], "value", batch))
        if (await asyncio.wait_for(answer, 120))["type"] == "OK":
            self.changes += 1
        else:
            self.failures.append(f"{self.name}: a change was refused")

    async def leave(self) -> None:
        """Close the page."""
        if self.wire is not None:
            await self.wire.close()
            self.wire = None

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
