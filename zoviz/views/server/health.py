"""The health address of a server: whether it takes runs and keeps them, for those who restart it when it does not."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from tornado.web import RequestHandler

from zoviz.core.optional import installed_version
from zoviz.core.threads.background_work import in_background
from zoviz.runs.live_runs import LiveRuns
from zoviz.runs.store import Store

HEALTH = "/healthz"
"""The address."""
_PATIENCE = 3.0
"""Seconds that the store has to answer in."""


class StoreProbe:
    """A question to the store whether it answers, of which one at most is open however many ask.

    Parameters
    ----------
    store : Store or None
        None, of a server that keeps nothing, is always well.
    """

    def __init__(self, store: Store | None) -> None:
        self._store = store
        self._question: Future[object] | None = None

    async def answers(self) -> bool:
        """Return whether the store answers in time."""
        if self._store is None:
            return True
        if self._question is None or self._question.done():
            self._question = in_background(self._store.database.version)
        try:
            await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(self._question)), _PATIENCE)
        except Exception:  # whatever it is, the store does not answer
            return False
        return True


class HealthHandler(RequestHandler):
    """The answer as JSON: version, store (whether it answers), runs (at work) and closing; 503 when not well."""

    def initialize(self, live_runs: LiveRuns, probe: StoreProbe) -> None:
        """Receive the server's runs and the question to its store."""
        self._live_runs, self._probe = live_runs, probe

    async def get(self) -> None:
        """Answer."""
        reachable, closing = await self._probe.answers(), self._live_runs.closing
        self.set_status(200 if reachable and not closing else 503)
        self.set_header("Cache-Control", "no-store")
        self.finish(
            {"version": installed_version(), "store": reachable, "runs": len(self._live_runs), "closing": closing}
        )
