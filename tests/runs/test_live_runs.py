"""The runs at work in a server: limits with a sentence each, and an end that loses nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest

from helpers.waiting import until
from zoviz import Run
from zoviz.problems import BlackBox, LoadTracking
from zoviz.runs.engine.observer import StepCallback
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.live_runs import Limits, LiveRuns, Refused
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, ZOSQP


def run_of(n: int = 4, **settings: object) -> Run:
    return Run(**{"problem": LoadTracking(n=n), "solver": ZOCEG(), "replicas": 1, "seed": 3, **settings})


@pytest.fixture
def started() -> Iterator[list[Run]]:
    runs: list[Run] = []
    yield runs
    for run in runs:
        run.stop()
        run.wait(120)


def test_each_limit_has_its_sentence(started: list[Run]) -> None:
    live_runs = LiveRuns(Limits(runs_per_person=1, runs=2, variables=10, replicas=4))
    for person in ("ann", "bob"):
        started.append(run_of())
        live_runs.start(started[-1], person)
    assert len(live_runs) == 2 and live_runs.get(started[0].id) is started[0]
    with pytest.raises(Refused, match="at most 1 run of one person at once .*: Stop one of yours first"):
        live_runs.start(run_of(), "ann")
    with pytest.raises(Refused, match="at most 2 runs at once on this server, got one more: try again"):
        live_runs.start(run_of(), "eve")
    started[0].stop()
    until(lambda: len(live_runs) == 1)  # also where no page is left that would tell of the end
    with pytest.raises(Refused, match="at most 10 variables on this server, got 11: ask for fewer"):
        live_runs.start(run_of(11), "eve")
    with pytest.raises(Refused, match="at most 4 replicas on this server, got 5"):
        live_runs.start(run_of(replicas=5), "eve")
    started.append(run_of(10, replicas=4))
    live_runs.start(started[-1], "eve")
    with pytest.raises(Refused, match=r"at most 0.001 GiB of memory, got \d+\.\d+ GiB in use: try again when other"):
        LiveRuns(Limits(memory=0.001)).start(run_of())


def test_a_problem_that_is_too_large_is_refused_before_it_is_built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(LoadTracking, "build", lambda self: pytest.fail("built"))
    assert "got 100,000" in Limits(variables=200).refusal(LoadTracking(n=100_000))
    assert Limits().refusal(LoadTracking(n=100_000)) == ""


def test_one_whose_size_only_its_data_tell_is_refused_at_its_start() -> None:
    problem = BlackBox(lambda x: float(x.sum()), bounds=[(0, 1)] * 12, x0=[0.5] * 12)
    with pytest.raises(Refused, match="at most 10 variables"):
        LiveRuns(Limits(variables=10)).start(Run(problem, ZOSQP(), replicas=1))


def holds(run: Run) -> None:
    """After its sixth step, wait for an order: it could reach its end before one comes."""
    if run.progress.iteration > 5:
        until(lambda: run.worker.inbox.urgent)


@pytest.mark.parametrize("solver", [ZOCEG, ZOSQP])
def test_interrupted_runs_go_on_from_their_last_step_to_the_same_end(store: Store, solver: type) -> None:
    live_runs = LiveRuns()
    runs = [run_of(store=store, solver=solver(), iterations=400, checkpoint=1000.0) for _ in range(2)]
    for run in runs:
        run.start(observers=[StepCallback(partial(holds, run))])
        live_runs.add(run)
    until(lambda: min(run.progress.iteration for run in runs) > 5)
    runs[1].pause()
    assert live_runs.interrupt(120) == [] and len(live_runs) == 0
    with pytest.raises(Refused, match="about to end: start the run again once it is back"):
        live_runs.start(run_of())
    whole = run_of(solver=solver(), iterations=400)
    whole.run()
    assert store.count(status="interrupted") == 2
    for run in runs:
        record = store.record(run.id)
        assert run.status is RunStatus.INTERRUPTED and record is not None and record.status == "interrupted"
        assert record.iterations == run.progress.iteration < 400 and "Interrupted after" in run.message
        again = store.load(run.id).resume()
        result = again.run()
        assert again.progress.iteration == 400
        np.testing.assert_array_equal(result.x, whole.result.x)
        assert again.progress.calls == whole.progress.calls


def test_a_run_in_a_long_step_is_not_waited_for_for_ever() -> None:
    go_on = threading.Event()

    def slow(x: np.ndarray) -> float:
        assert go_on.wait(120)
        return float(x.sum())

    live_runs = LiveRuns()
    run = Run(BlackBox(slow, bounds=[(0, 1)], x0=[0.5]), ZOCEG(), replicas=1)
    live_runs.start(run)
    assert live_runs.interrupt(0.1) == [run]
    go_on.set()
    run.wait(120)
