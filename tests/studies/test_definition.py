"""What a study consists of stays in its store: for who looks on while it runs, and for when it has grown."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoviz.core.types import Array
from zoviz.problems import BlackBox, LoadTracking
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.studies.definition import Definition
from zoviz.studies.study import Study, grid


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path}/a.db")


def test_it_is_the_same_after_the_store_and_holds_all_runs(store: Store) -> None:
    values = grid({"primal_step": [1e-2, 1e-3]})
    study = Study("s", LoadTracking(n=3), ZOCEG(), values=values, sweeps=5, replicas=2, store=store, command=["--x"])
    study.run(progress=False)
    record = store.study("s")
    assert record is not None and Definition.of(record.definition) == study.definition
    assert study.definition.solvers == ["ZOCEG (primal_step = 0.01)", "ZOCEG (primal_step = 0.001)"]
    assert study.definition.problems["LoadTracking"].n == 3 and study.definition.command == ["--x"]
    assert [run.calls for run in study.definition.runs] == [20, 20]


def test_a_study_that_grows_keeps_what_it_had(store: Store) -> None:
    Study("s", {"a": LoadTracking(n=3)}, ZOCEG(), sweeps=5, replicas=1, store=store).run(progress=False)
    Study("s", {"b": LoadTracking(n=4)}, ZOSPLM(), sweeps=5, replicas=1, store=store).run(progress=False)
    (record,) = store.studies()
    whole = Definition.of(record.definition)
    assert list(whole.problems) == ["a", "b"] and whole.solvers == ["ZOCEG", "ZOSPLM"] and len(whole.runs) == 2


def test_it_is_at_work_while_it_runs_and_not_after_a_failure(store: Store) -> None:
    active = []

    def function(x: Array) -> float:
        record = store.study("s")
        active.append(record is not None and record.active)
        if len(active) > 3:
            raise KeyboardInterrupt
        return float(x @ x)

    problem = BlackBox(function, bounds=[(-1.0, 1.0)] * 2)
    with pytest.raises(KeyboardInterrupt):
        Study("s", problem, ZOCEG(), sweeps=50, replicas=1, store=store).run(progress=False)
    record = store.study("s")
    assert all(active[1:]) and record is not None and not record.active


def test_two_owners_have_studies_of_one_name_and_each_runs_all_of_it(store: Store) -> None:
    for owner in ("ann", "bob"):
        own = store.of_owner(owner)
        Study("s", LoadTracking(n=3), ZOCEG(), sweeps=5, replicas=1, store=own).run(progress=False)
        assert [record.name for record in own.studies()] == ["s"] and own.count() == 1
    assert store.studies() == [] and store.count() == 2
