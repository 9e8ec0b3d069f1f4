"""The queue in which the pages of a server are refreshed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import NamedTuple

from zoviz.core.threads.rests import RESTS

SHARE = 0.5
"""Of the event loop's time, at most, for the refreshes of all pages of a server: the rest is for those who open pages
and press buttons. Thirty pages with a run each are then refreshed about once a second."""
SHARE_BESIDE = 0.2
"""The same while another thread makes a page for somebody, who sees nothing until then."""
FEW = 4
"""Pages that have all of the loop's time, if there are no more: a click then waits for as many refreshes at most."""
RECENT = 2.0
"""Seconds within which a page was refreshed that counts as there."""
MEMORY = 0.2
"""Seconds for which a page is in the queue: one that can be refreshed asks again sooner."""


class _Place(NamedTuple):
    """A page's place in the queue: since when it waits, when it asked last, and what has it ask again at once."""

    since: float
    asked: float
    ask_again: Callable[[], object]


class RefreshQueue:
    """A queue with pauses: after each refresh the event loop is free for as long as it took, or longer.

    Whatever is ready the loop does in one go. Without the pauses, thirty refreshes that have come due while a page was
    opened would follow each other, and a click would wait for all of them.
    """

    def __init__(self) -> None:
        self._places: dict[int, _Place] = {}  # by page
        self._refreshes: dict[int, float] = {}  # when the latest of each page ended
        self._free_at = 0.0

    def may_refresh(self, page: int, since: float, now: float, ask_again: Callable[[], object]) -> bool:
        """Return whether it is a page's turn; else it is in the queue for a moment, and is to ask again.

        Parameters
        ----------
        page : int
        since : float
            When its refresh came due.
        now : float
        ask_again : callable
            Has the page ask soon: it is called once the page is the first, and the loop free.
        """
        self._places = {one: place for one, place in self._places.items() if now - place.asked < MEMORY}
        self._places[page] = _Place(since, now, ask_again)
        return now >= self._free_at and since <= min(place.since for place in self._places.values())

    def refreshed(self, page: int, began: float, ended: float) -> None:
        """Take note of a page's refresh, and have the next page refreshed when the pause is over."""
        self.leave(page)
        self._refreshes = {one: end for one, end in self._refreshes.items() if ended - end < RECENT} | {page: ended}
        share = SHARE_BESIDE if RESTS.elsewhere() else SHARE if len(self._refreshes) > FEW else 1.0
        pause = (ended - began) * (1 / share - 1)
        self._free_at = ended + pause
        try:
            # In a context of its own: that of this refresh says that whatever is done now is done for this page.
            asyncio.get_running_loop().call_later(pause, self._call_first, context=Context())
        except RuntimeError:  # a notebook's page, whose refreshes come from a thread
            return

    def leave(self, page: int) -> None:
        """Take a page out of the queue."""
        self._places.pop(page, None)

    def _call_first(self) -> None:
        if self._places:
            min(self._places.values(), key=lambda place: place.since).ask_again()
