"""A look inside a server: loop lag, worker threads, pages and the iterations of a run that no page owns, in a file.

A module of its own: what a served script defines ends with the session that ran it.
"""

import asyncio
import json
import os
import threading
import time
from collections import deque
from pathlib import Path
from weakref import WeakSet

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard


class Probe:
    """Watches the server's event loop and, where asked for, owns a run that no page owns."""

    def __init__(self, report: Path, shared: bool) -> None:
        self.path = report
        self.pages: WeakSet[Dashboard] = WeakSet()
        self.left = 0
        self.lags: deque[float] = deque(maxlen=3000)
        self.run = Run(problem=NonconvexQCQP(), solver=ZOSPLM(), replicas=20)
        if shared:
            self.run.start()
        self.tasks = [asyncio.get_running_loop().create_task(job) for job in (self.lag(), self.report())]

    def leave(self, session: object) -> None:
        """Note that a page's session has ended."""
        self.left += 1

    async def lag(self) -> None:
        """How late a sleep of 10 ms ends, again and again."""
        while True:
            started = time.perf_counter()
            await asyncio.sleep(0.01)
            self.lags.append(time.perf_counter() - started - 0.01)

    async def report(self) -> None:
        """Write what is known five times a second."""
        while True:
            workers = sum(thread.name == "zoviz-run" for thread in threading.enumerate())
            facts = {"time": time.perf_counter(), "workers": workers, "iteration": self.run.progress.iteration}
            facts |= {"pages": len(self.pages), "left": self.left}
            part = self.path.with_suffix(".part")
            part.write_text(json.dumps({**facts, "lags": list(self.lags)}), encoding="utf-8")
            os.replace(part, self.path)
            await asyncio.sleep(0.2)
