"""Runs rest between two steps while a page works, heed commands first, and are never held up for good."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from helpers.event_loop import result_of
from helpers.waiting import until
from zoviz import Run
from zoviz.core.threads import rests
from zoviz.core.threads.rests import Rests
from zoviz.problems import LoadTracking
from zoviz.runs.engine import worker
from zoviz.solvers import ZOCEG


class Clock:
    """Seconds that pass when a test says so."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def resting(monkeypatch: pytest.MonkeyPatch) -> Rests:
    """What the run heeds, without the rest of another test, after which runs work for as long first."""
    resting = Rests()
    monkeypatch.setattr(worker, "RESTS", resting)
    return resting


@pytest.fixture
def run(resting: Rests) -> Iterator[Run]:
    run = Run(LoadTracking(n=4), ZOCEG(), replicas=1).start()
    until(lambda: run.progress.iteration > 3)
    yield run
    run.stop()
    run.wait(120)


def test_a_run_rests_until_all_is_done(run: Run, resting: Rests, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rests, "LONGEST", 600.0)
    waits = threading.Event()
    wait = resting.wait
    monkeypatch.setattr(resting, "wait", lambda: (waits.set(), wait()))
    with resting, resting:
        assert waits.wait(120), "the run gives way after its step"
        iteration = run.progress.iteration
        run.pause()  # what a person asks for meanwhile
    until(lambda: run.status == "paused")
    assert run.progress.iteration == iteration, "is heeded before the next step"
    run.unpause()
    until(lambda: run.progress.iteration > iteration + 3)


def test_a_rest_that_has_no_end_leaves_a_run_a_step_now_and_then(
    run: Run, resting: Rests, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rests, "LONGEST", 0.01)
    with resting:
        iteration = run.progress.iteration
        until(lambda: run.progress.iteration > iteration + 3)
        assert resting.due


def test_a_page_that_waits_for_a_run_of_its_own_is_not_held_up_by_itself(resting: Rests) -> None:
    with resting:
        run = Run(LoadTracking(n=4), ZOCEG(), replicas=1, iterations=5)
        run.run()
    assert run.progress.iteration == 5 and not resting.due


def test_time_stands_still_in_a_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rests, "LONGEST", 8.0)
    clock = Clock()
    resting = Rests(clock)
    start = resting.time()
    clock.now = 1.0
    with resting:
        clock.now = 3.0
        assert resting.time() == start + 1.0
    clock.now = 4.0
    assert resting.time() == start + 2.0
    with resting:
        clock.now = 4.5
        assert resting.time() == start + 2.5, "runs work for as long as they have rested, here from 3 to 5"
        clock.now = 5.0
        assert resting.time() == start + 3.0
        clock.now = 5.5
        assert resting.time() == start + 3.0
    clock.now = 6.0
    assert resting.time() == start + 3.5


def test_time_goes_on_once_a_rest_is_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rests, "LONGEST", 1.0)
    clock = Clock()
    resting = Rests(clock)
    with resting:
        clock.now = 5.0
        assert resting.time() == 4.0


def test_who_comes_while_others_work_need_not_rest_first() -> None:
    """Runs that take turns are one worker to a page: if each began with a rest, they would do next to nothing."""
    clock, waits = Clock(), list[float]()
    resting = Rests(clock)

    def wait() -> None:
        began = clock.now
        resting.wait()
        waits.append(clock.now - began)

    with resting:
        clock.now = rests.LONGEST
        for _ in range(3):
            thread = threading.Thread(target=wait)
            thread.start()
            thread.join(120)
            assert not thread.is_alive()
    assert waits == [0.0] * 3


def test_who_has_waited_works_for_as_long_before_it_waits_again(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, waits, thread = Clock(), list[float](), "page"

    class Changed(nullcontext[None]):
        def wait(self, seconds: float) -> None:
            waits.append(seconds)
            clock.now += seconds

        def notify_all(self) -> None:
            """Nobody else waits."""

    monkeypatch.setattr(rests, "threading", SimpleNamespace(Condition=Changed, get_ident=lambda: thread))
    resting = Rests(clock)
    with resting:
        thread = "run"
        for _ in range(20):  # steps of an eighth of a second
            resting.wait()
            clock.now += 0.125
        thread = "page"
    assert waits == [rests.LONGEST] * 3 and clock.now == 3 * rests.LONGEST + 2.5


@pytest.mark.parametrize("cancelled", [False, True])
def test_what_is_awaited_is_a_rest_while_it_works_and_not_while_it_waits(cancelled: bool) -> None:
    resting, course = Rests(), []

    async def work(door: asyncio.Event) -> None:
        course.append(resting.due)
        try:
            await door.wait()
        finally:
            course.append(resting.due)

    async def page() -> None:
        door = asyncio.Event()
        task = asyncio.ensure_future(resting.during(work(door)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        course.append(resting.due)
        task.cancel() if cancelled else door.set()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled() == cancelled

    result_of(page())
    assert course == [True, False, True] and not resting.due


def test_an_error_reaches_whoever_awaits() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("no")

    resting = Rests()
    with pytest.raises(ValueError, match="no"):
        result_of(resting.during(fail()))
    assert not resting.due


def test_a_rest_of_another_thread_is_one_elsewhere() -> None:
    rests = Rests()
    with rests:
        assert rests.due and not rests.elsewhere()
        with ThreadPoolExecutor(1) as executor:
            assert executor.submit(rests.elsewhere).result()
    assert not rests.elsewhere()
