"""What failed is run again: by a study, by the command line's sweep, by resuming a run; what it failed on is asked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from sqlalchemy import select, update

from zoviz import Run, Study
from zoviz.cli.command import FAILED, FINE
from zoviz.cli.main import main
from zoviz.core.errors import OracleError
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.problems import BlackBox
from zoviz.runs.storage.schema import EVALUATIONS, RUNS
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, ZOEG
from zoviz.solvers.base import Solver
from zoviz.studies.study import grid

BOX = [(-1.0, 1.0)] * 2
STEPS = [1e-1, 1e-2, 1e-3]


class Licensed:
    """A function that has values for so many calls, then an error or NaN until it is renewed."""

    def __init__(self, calls: float = np.inf, error: bool = True) -> None:
        self.calls, self.remaining, self.error = 0, calls, error

    def __call__(self, x: Array) -> float:
        self.calls += 1
        if self.calls > self.remaining:
            if self.error:
                raise RuntimeError("the licence server is down")
            return float("nan")
        return float((x - 0.3) @ (x - 0.3))


def study(store: Store, function: Callable[..., float], name: str = "study", **settings: Any) -> Study:
    options = {"values": grid({"primal_step": STEPS}), "replicas": 1, "iterations": 4, "checkpoint": "every call"}
    return Study(name, BlackBox(function, bounds=BOX, x0=[1, 1]), ZOCEG(), store=store, **options | settings)


def statuses(one: Study) -> list[str | None]:
    by_id = one.statuses()
    return [by_id[cell.id] for cell in one.cells]


def end_as(store: Store, id: str, status: str) -> None:
    """Have a run that ended early look as if it had ended so."""
    gone = {"status": "running", "pid": next(pid for pid in range(4_000_000, 10**7) if not psutil.pid_exists(pid))}
    with store.database.writing() as connection:
        values = gone if status == "interrupted" else {"status": status}
        connection.execute(update(RUNS).where(RUNS.c.id == id).values(**values))
    assert store.record(id).status == status


def test_a_study_runs_again_what_failed_and_pays_for_nothing_twice(store: Store) -> None:
    whole, broken, renewed = Licensed(), Licensed(50), Licensed()
    study(store, whole, "whole").run(progress=False)
    first = study(store, broken).run(progress=False)
    assert statuses(first) == ["finished", "failed", "failed"] and not first.missing

    outcome = study(store, renewed).run(progress=False, keep_failed=True)
    assert renewed.calls == 0 and statuses(outcome) == ["finished", "failed", "failed"]

    again = study(store, renewed).run(progress=False)
    assert statuses(again) == ["finished"] * 3 and renewed.calls == whole.calls - 50
    rows = [[row["objective"] for row in study(store, whole, name).table()] for name in ("whole", "study")]
    assert rows[0] == rows[1] and store.check() == []
    study(store, renewed).run(progress=False)
    assert renewed.calls == whole.calls - 50, "all is done"


def test_what_fails_again_is_told_and_tried_once_in_a_run(store: Store) -> None:
    study(store, Licensed(50)).run(progress=False)
    still = Licensed(0)
    again = study(store, still).run(progress=False)
    assert statuses(again) == ["finished", "failed", "failed"] and still.calls == 2


@pytest.mark.parametrize(("status", "keep_failed", "calls"), [
    ("failed", False, True),
    ("failed", True, False),
    ("stopped", False, True),
    ("stopped", True, True),
    ("interrupted", False, True),
    ("interrupted", True, True),
    ("finished", False, False),
])  # fmt: skip
def test_which_statuses_are_run_again(status: str, keep_failed: bool, calls: bool, store: Store) -> None:
    first = study(store, Licensed(10), values=({},)).run(progress=False)
    end_as(store, first.cells[0].id, status)
    again = Licensed()
    study(store, again, values=({},)).run(progress=False, keep_failed=keep_failed)
    assert (again.calls > 0) == calls
    assert statuses(first) == ["finished" if calls else status]


def test_a_failed_run_that_was_deleted_is_left(store: Store) -> None:
    first = study(store, Licensed(10), values=({},)).run(progress=False)
    store.delete([first.cells[0].id])
    again = Licensed()
    study(store, again, values=({},)).run(progress=False)
    assert again.calls == 0 and statuses(first) == ["failed"]


@pytest.mark.parametrize("checkpoint", ["every call", 1e-3])
@pytest.mark.parametrize(
    ("replicas", "solver"), [(1, ZOCEG(primal_step=0.1)), (3, ZOEG(primal_step=0.1, estimator=Sphere(batch_size=2)))]
)
def test_values_that_failed_are_asked_again(replicas: int, solver: Solver, checkpoint: Any, store: Store) -> None:
    """NaN from some call on freezes every replica; the log and the checkpoint must not bring that back."""

    def make(function: Licensed) -> Run:
        problem = BlackBox(function, bounds=BOX, x0=[1, 1])
        settings = {"replicas": replicas, "iterations": 6, "store": store, "checkpoint": checkpoint}
        return Run(problem=problem, solver=solver, **settings)

    whole, renewed = Licensed(), Licensed()
    expected = make(whole).run()
    paid = whole.calls - 8 if replicas == 1 else 25
    run = make(Licensed(paid, error=False))

    def record() -> None:  # what a slow step would have the recorder do by itself, also when all is frozen
        run.worker.observers[-1].paused()
        run.worker.observers[-1]._flush()

    with pytest.raises(OracleError, match="Expected finite values"):
        run.run(record)
    assert store.record(run.id).status == "failed"
    again = store.load(run.id).resume(problem=BlackBox(renewed, bounds=BOX, x0=[1, 1]))
    result = again.run()
    assert result.status == "finished" and store.check() == []
    if replicas == 1:
        np.testing.assert_array_equal(result.x, expected.x)
    if checkpoint == "every call" and replicas == 1:
        assert renewed.calls == whole.calls - paid, "what has a value is not paid for twice"
        with store.database.reading() as connection:
            ordinals = connection.execute(select(EVALUATIONS.c.ordinal).where(EVALUATIONS.c.run == run.id)).scalars()
            # All but the check for noise at the end, which a run that goes on with a larger budget makes elsewhere.
            assert sorted(ordinals) == list(range(whole.calls - 1))


MODULE = """
from pathlib import Path

HERE = Path(__file__).parent


def licensed(x):
    with open(HERE / "calls", "a") as file:
        file.write("x")
    if not (HERE / "licence").exists() and x[0] < 0.7:
        raise RuntimeError("the licence server is down")
    return float((x - 0.3) @ (x - 0.3))


def make():
    from zoviz.problems import BlackBox

    return BlackBox(licensed, bounds=[(-1.0, 1.0)] * 2, x0=[1, 1])


problem = make()
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    (tmp_path / "licensed_module.py").write_text(MODULE)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ZOVIZ_STORE", raising=False)
    import licensed_module

    yield licensed_module
    del sys.modules["licensed_module"]


def test_workers_run_again_what_failed(store: Store, module: Any, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2) as two:
        first = study(store, module.licensed, iterations=8, checkpoint=1.0).run(executor=two, progress=False)
        assert "failed" in statuses(first) and not first.missing
        (tmp_path / "licence").touch()
        study(store, module.licensed, iterations=8, checkpoint=1.0).run(executor=two, progress=False)
    assert statuses(first) == ["finished"] * 3


def test_a_sweep_runs_again_what_failed(module: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["sweep", "licensed_module:problem", "ZOCEG", "primal_step=0.2,0.3", "--iterations", "20", "--quiet"]

    def calls() -> int:
        return len((tmp_path / "calls").read_text())

    assert main(words) == FAILED
    err = capsys.readouterr().err
    assert "2 of 2 runs failed (zoviz runs show " in err and "unless --keep-failed is given" in err
    before = calls()
    assert main([*words, "--keep-failed"]) == FAILED and calls() == before
    (tmp_path / "licence").touch()
    capsys.readouterr()
    assert main(words) == FINE and calls() > before
    output = capsys.readouterr()
    assert output.out.count("finished") == 2 and "failed" not in output.err
