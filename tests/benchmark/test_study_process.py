"""A study in a process of its own: its cost, its end by command, and that it goes on with what is missing."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.stores import whole_study
from zoviz.benchmark.study_process import StudyProcess, cost_of_command, stop_study
from zoviz.core.errors import ZovizError
from zoviz.runs.store import Store

WORDS = "--name s --problems LoadTracking:n=4 NonconvexQCQP:n=4 --solvers ZOSPLM ZOCEG --replicas 2".split()


def wait_for(condition: Callable[[], object], seconds: float = 240.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come"
        time.sleep(0.1)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path}/a.db")


def test_its_cost_or_the_commands_own_sentence(store: Store) -> None:
    cost = cost_of_command(store, [*WORDS, "--sweeps", "5"])
    assert (cost["runs"], cost["calls"], cost["refusals"]) == (4, 4 * 2 * 25, []) and store.count() == 0
    with pytest.raises(ZovizError, match="did you mean ZOCEG"):
        cost_of_command(store, ["--problems", "LoadTracking", "--solvers", "ZOCEK"])


def test_it_is_stopped_and_goes_on_with_what_is_missing(store: Store) -> None:
    process = StudyProcess(store, [*WORDS, "--sweeps", "20000"])
    wait_for(lambda: store.count() >= 1)
    assert store.study("s").active
    stop_study(store, "s")
    wait_for(lambda: not process.active)
    assert not process.complaint and not store.study("s").active
    assert all(record.status == "interrupted" or record.status == "stopped" for record in store.runs())
    with pytest.raises(ZovizError, match="which no process runs"):
        stop_study(store, "s")
    again = StudyProcess(store, [*WORDS, "--sweeps", "5", "--name", "t"])
    wait_for(lambda: not again.active)
    snapshot = whole_study(store, "t")
    assert not again.complaint and len(snapshot.outcomes) == 4 and not snapshot.active
