"""Studies: what is missing is run and nothing else, whoever dies meanwhile; results as rows and as a Dataset."""

from __future__ import annotations

import os
import pickle
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz import Run, Study
from zoviz.core.errors import ZovizError
from zoviz.core.types import Array
from zoviz.estimators import Block, Coordinate
from zoviz.problems import BlackBox, LoadTracking
from zoviz.runs.store import Store
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOiALM
from zoviz.studies.study import draws, grid

BOX = [(-1.0, 1.0)] * 2
STEPS = [1e-1, 1e-2, 1e-3]

MORTAL = """
import os, signal, time
from pathlib import Path

HERE = Path(__file__).parent

def killer(x):
    time.sleep(0.002)
    with open(HERE / "calls", "a") as file:
        file.write(f"{os.getpid()}\\n")
    if x[0] < 0.4 and not (HERE / "killed").exists():
        (HERE / "killed").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return float((x - 0.3) @ (x - 0.3))
"""


class Counted:
    """A function that counts its calls, and raises at one of them."""

    def __init__(self, last: int = -1, error: type[BaseException] = KeyboardInterrupt) -> None:
        self.calls, self.last, self.error = 0, last, error

    def __call__(self, x: Array) -> float:
        self.calls += 1
        if self.calls == self.last:
            raise self.error("the licence server is down")
        return float((x - 0.3) @ (x - 0.3))


def load_tracking(**settings: Any) -> Study:
    problem = LoadTracking(n=5, curtailment=40.0)
    return Study("loads", problem, [ZOCEG(), ZOBCEG()], **{"replicas": 2, "iterations": 30} | settings)


def test_only_what_is_missing_runs(store: Store) -> None:
    def study(steps: list[float], seeds: int = 1, last: int = -1, **settings: Any) -> tuple[Study, Counted]:
        count = Counted(last)
        problem = BlackBox(count, bounds=BOX, x0=[1, 1], noise="independent")
        options = {"replicas": 1, "iterations": 4, "seeds": range(seeds), "store": store, **settings}
        return Study("count", problem, ZOCEG(), values=grid({"primal_step": steps}), **options), count

    first, calls = study(STEPS[:2])
    first.run(progress=False)
    assert calls.calls > 0 and not first.missing and len(first.cells) == store.count(study="count") == 2
    one = calls.calls // 2
    again, calls = study(STEPS[:2], checkpoint=5.0)
    again.run(progress=False)
    assert calls.calls == 0, "all is done"
    grown, calls = study(STEPS, last=one // 2)
    with pytest.raises(KeyboardInterrupt):
        grown.run(progress=False)
    assert [cell.values["primal_step"] for cell in grown.missing] == STEPS[2:]
    grown, calls = study(STEPS)
    grown.run(progress=False)
    assert 0 < calls.calls <= one and store.count(study="count") == 3
    seeded, calls = study(STEPS, seeds=2)
    seeded.run(progress=False)
    assert calls.calls == 3 * one and store.count(study="count", status="finished") == 6


def test_an_interrupted_cell_goes_on_where_it_was(store: Store) -> None:
    whole, broken, rest = Counted(), Counted(last=25), Counted()
    settings = {"replicas": 2, "iterations": 12, "store": store, "checkpoint": "every call"}
    for name, count in (("whole", whole), ("broken", broken), ("broken", rest)):
        study = Study(name, BlackBox(count, bounds=BOX, x0=[1, 1]), ZOCEG(), **settings)
        if count is broken:
            with pytest.raises(KeyboardInterrupt):
                study.run(progress=False)
            assert list(study.statuses().values()) == ["stopped"]
        else:
            study.run(progress=False)
    assert broken.calls + rest.calls == whole.calls + 1, "but for the one that did not end"
    results = [store.load(one.id).result for name in ("whole", "broken") for one in store.runs(study=name)]
    np.testing.assert_array_equal(results[0].x, results[1].x)


def test_a_failed_cell_is_told_and_the_others_are_done(store: Store) -> None:
    problem = BlackBox(Counted(30, RuntimeError), bounds=BOX, x0=[1, 1])
    values = grid({"primal_step": STEPS})
    study = Study("fails", problem, ZOCEG(), values=values, replicas=1, iterations=4, store=store).run(progress=False)
    statuses = [study.statuses()[cell.id] for cell in study.cells]
    assert statuses.count("failed") == 1 and statuses.count("finished") == 2 and not study.missing
    assert "licence server" in store.runs(status="failed")[0].message


def test_two_functions_without_a_name_are_two_cells(store: Store) -> None:
    problems = {"near": BlackBox(lambda x: x @ x, bounds=BOX), "far": BlackBox(lambda x: x @ x + 9.0, bounds=BOX)}
    study = Study("lambdas", problems, ZOCEG(), replicas=1, iterations=2, store=store).run(progress=False)
    assert len(study.cells) == 2
    near, far = (row["objective"] for row in study.table())
    assert far > 9.0 > near
    with pytest.raises(ZovizError, match="put it into a module, or use one worker"):
        Study("lambdas", problems, ZOCEG(), replicas=1, iterations=3, store=store).run(2, progress=False)


def test_a_deleted_cell_is_not_done_again(store: Store) -> None:
    study = load_tracking(store=store).run(progress=False)
    store.delete([study.cells[0].id])
    assert not study.missing and load_tracking(store=store).run(progress=False).table() == study.table()


def test_table_and_dataset(store: Store) -> None:
    pytest.importorskip("xarray")
    values = grid({"problem.n": [5, 6], "primal_step": STEPS[2:]})
    study = load_tracking(store=store, values=values, seeds=(3, 4), targets={"gap": 1e9}).run(progress=False)
    rows = study.table()
    assert len(study.cells) == 8 and len(rows) == 16
    data = study.dataset()
    assert dict(data.sizes) == {"problem": 1, "solver": 2, "set": 2, "seed": 2, "replica": 2}
    np.testing.assert_array_equal(data.coords["problem.n"], [5, 6])
    for row in rows:
        place = {"problem": "LoadTracking", "solver": row["solver"], "set": row["problem.n"] - 5, "seed": row["seed"]}
        here = data.sel(place | {"replica": row["replica"]})
        for name in ("objective", "violation", "calls", "calls to gap 1e+09"):
            assert float(here[name]) == row[name]
    row = next(row for row in rows if (row["solver"], row["problem.n"], row["seed"]) == ("ZOBCEG", 6, 4))
    problem, solver = LoadTracking(n=6, curtailment=40.0), ZOBCEG(primal_step=STEPS[2])
    alone = Run(problem=problem, solver=solver, seed=4, replicas=2, iterations=30).run()
    assert row["objective"] == alone.fun[row["replica"]]


def test_what_a_solver_refuses_is_left_out(store: Store) -> None:
    values = grid({"estimator": [Coordinate(), Block()]})
    study = Study("parts", LoadTracking(n=5), [ZOiALM(), ZOEG()], values=values, iterations=2, store=store)
    assert [type(cell.values["estimator"]) for cell in study.cells if cell.solver == "ZOiALM"] == [Coordinate]
    assert study.refusals == [ZOiALM(estimator=Block()).accepts(LoadTracking(n=5))]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"values": [{"primal_stp": 1.0}], "iterations": 1}, "did you mean"),
        ({"values": [{"primal_step": -1.0}], "iterations": 1}, "primal_step"),
        ({}, "Expected a budget"),
    ],
)
def test_bad_studies(options: dict[str, Any], sentence: str, store: Store) -> None:
    with pytest.raises(ValueError, match=sentence):
        Study("bad", LoadTracking(), ZOCEG(), store=store, **options)
    with pytest.raises(ValueError, match="low < high"):
        draws({"primal_step": ("log", 1.0, 0.1)}, 3)


def test_two_processes_do_the_same(store: Store, tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'other.db'}") as other:
        here, there = load_tracking(store=store), load_tracking(store=other)
        here.run(progress=False)
        there.run(workers=2, progress=False)
        assert [record.pid == os.getpid() for record in other.runs()] == [False, False]
        ignored = ("seconds",)
        rows = [[{k: v for k, v in row.items() if k not in ignored} for row in one.table()] for one in (here, there)]
        assert rows[0] == rows[1]


def test_a_store_is_the_same_file_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "other").mkdir()
    monkeypatch.chdir(tmp_path)
    with Store("sqlite:///here.db") as here:
        load_tracking(store=here).run(progress=False)
        parcel = pickle.dumps(here)
        monkeypatch.chdir("other")
        with pickle.loads(parcel) as there:
            assert there.count() == 2
    assert not (tmp_path / "other" / "here.db").exists()


@pytest.fixture
def mortal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A module whose function kills its process once."""
    (tmp_path / "mortal_module.py").write_text(textwrap.dedent(MORTAL))
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    import mortal_module

    yield mortal_module
    del sys.modules["mortal_module"]


def test_a_killed_process_s_cells_are_done_by_others(store: Store, mortal: Any, tmp_path: Path) -> None:
    problem = BlackBox(mortal.killer, bounds=BOX, x0=[1, 1])
    settings = {"replicas": 1, "iterations": 8, "store": store, "checkpoint": "every call"}
    values = grid({"primal_step": [1e-1, 2e-1]})
    study = Study("deaths", problem, ZOCEG(), values=values, **settings)
    study.run(workers=2, progress=False)
    assert (tmp_path / "killed").exists() and not study.missing and store.count(status="finished") == 2
    here = Study("here", problem, ZOCEG(), values=values, **settings)
    before = len((tmp_path / "calls").read_text().split())
    here.run(progress=False)
    paid = len((tmp_path / "calls").read_text().split()) - before
    assert before <= paid + 2, "at most what was in flight was called again"
    assert [row["objective"] for row in study.table()] == [row["objective"] for row in here.table()]
