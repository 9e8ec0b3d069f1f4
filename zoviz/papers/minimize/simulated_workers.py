"""Workers on a simulated clock: who evaluates which point of a session, from when to when."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from zoviz.ask_tell.session import AskTell, Batch
from zoviz.core.types import Array

Values = Callable[[int, Array], tuple[float, Array]]
"""The number of an evaluation and its point (n,) to f and h (m,)."""


class Course(NamedTuple):
    """The outcome of a session with workers on a simulated clock.

    Attributes
    ----------
    times : list of float
        When the point to be returned was another one, or its value.
    points : list of Array, shape (n,)
        The point from then on.
    seconds : float
        Until the session was done.
    idle : float
        The share of these that workers had nothing to do.
    lost : int
        Calls that were made again as their worker had died.
    """

    times: list[float]
    points: list[Array]
    seconds: float
    idle: float
    lost: int


class _Call(NamedTuple):
    """A call under way, which ends by its value, or by the end of its worker."""

    end: float
    id: int
    start: float
    one: Batch
    survives: bool


def simulated(
    session: AskTell,
    values: Values,
    seconds: Callable[[int], float],
    workers: int,
    lifetime: float = np.inf,
    seed: int = 0,
) -> Course:
    """Evaluate what a session asks for by workers, each of which has one point at a time.

    A worker that is free takes a point of the present batch, and where all of these are taken one of those ahead.

    Parameters
    ----------
    session : AskTell
    values : callable
    seconds : callable
        The number of an evaluation to its duration.
    workers : int
    lifetime : float
        The mean time until one of the workers dies; another replaces it at once.
    seed : int
        Of these deaths.
    """
    deaths = np.random.default_rng(seed)
    clock, busy, lost, steps = 0.0, 0.0, 0, -1
    running: list[_Call] = []
    begun: set[int] = set()
    times: list[float] = []
    points: list[Array] = []
    while not session.done:
        for batch in (session.ask(), session.ahead()):
            for i in np.flatnonzero(~np.isin(batch.ids, list(begun)))[: workers - len(running)]:
                one = batch.take(i)
                number = int(one.ids[0])
                duration = seconds(number)
                death = lifetime * workers * deaths.exponential() if np.isfinite(lifetime) else np.inf
                end = clock + min(duration, death)
                heapq.heappush(running, _Call(end, number, clock, one, death >= duration))
                begun.add(number)
        call = heapq.heappop(running)
        clock, busy = call.end, busy + call.end - call.start
        if not call.survives:
            begun.discard(call.id)
            lost += 1
            continue
        f, h = values(call.id, call.one.x[0])
        session.tell(call.one, [f], np.asarray(h)[None])
        if session.worker.has_result and session.worker.iteration != steps:
            steps = session.worker.iteration
            times.append(clock)
            points.append(session.result.x[0])
    busy += sum(clock - call.start for call in running)
    return Course(times, points, clock, 1.0 - busy / (workers * clock), lost)


def tenfold(seed: int) -> Callable[[int], float]:
    """Return durations that vary tenfold, uniform between 2 / 11 and 20 / 11, by the numbers of evaluations."""
    return lambda number: float(np.random.default_rng([seed, number]).uniform(2.0, 20.0) / 11.0)


def equal(number: int) -> float:
    """Return 1, the duration of every evaluation."""
    return 1.0
