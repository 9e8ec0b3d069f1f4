"""The calls of a program are numbered through a run that is stopped and goes on elsewhere."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from zoviz import Run
from zoviz.core.errors import OracleError
from zoviz.problems import Executable
from zoviz.runs.store import Store
from zoviz.solvers import SLSQP, ZOCEG


def program(folder: Path, fails_from: int = 10**6, **options: Any) -> Executable:
    """A program that leaves a file named after its call and the part of the run, and fails from some call on."""
    part = f"{len(list(folder.iterdir())):03d}"
    source = f"read a; touch {folder}/{part}-$ZOVIZ_CALL; test $ZOVIZ_CALL -lt {fails_from} || exit 1; echo $a"
    return Executable(["/bin/sh", "-c", source], bounds=[(-2.0, 3.0)] * 2, x0=[1.0, 1.0], m=0, **options)


def numbers(folder: Path) -> dict[str, list[int]]:
    """Numbers of the calls by part of the run."""
    result: dict[str, list[int]] = {}
    for path in folder.iterdir():
        part, number = path.name.split("-")
        result.setdefault(part, []).append(int(number))
    return {part: sorted(result[part]) for part in sorted(result)}


@pytest.mark.parametrize(("solver", "checkpoint", "workers"), [
    (ZOCEG(primal_step=1e-2), "every call", None),
    (ZOCEG(primal_step=1e-2), 1e6, None),
    (ZOCEG(primal_step=1e-2), "every call", 2),
    (SLSQP(), "every call", None),
])  # fmt: skip
def test_numbers_go_on_after_a_resume(
    solver: Any, checkpoint: Any, workers: int | None, store: Store, tmp_path: Path
) -> None:
    folder = tmp_path / "calls"
    folder.mkdir()
    settings = {"replicas": 1, "store": store, "checkpoint": checkpoint, "calls": 25}
    run = Run(problem=program(folder, workers=workers), solver=solver, **settings)
    run.run(lambda: run.progress.iteration == 1 and run.stop())
    assert store.record(run.id).status == "stopped"
    # Commands differ by the part that they name, so that the stored one is kept for the comparison.
    again = store.load(run.id).resume(problem=run.problem)
    again.problem = program(folder, workers=workers)
    assert again.run().status == "finished"
    first, rest = numbers(folder).values()
    assert first == list(range(1, len(first) + 1))
    assert rest == list(range(len(first) + 1, len(first) + len(rest) + 1)) and rest


def test_a_call_that_failed_is_made_again_under_its_number(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "calls"
    folder.mkdir()
    settings = {"replicas": 1, "store": store, "checkpoint": "every call", "iterations": 4}
    solver = ZOCEG(primal_step=1e-2, dual_step=1e-2)
    run = Run(problem=program(folder, fails_from=12), solver=solver, **settings)
    with pytest.raises(OracleError, match="exit status 1"):
        run.run()
    again = store.load(run.id).resume(problem=run.problem)
    again.problem = program(folder)
    assert again.run().status == "finished"
    failed, rest = numbers(folder).values()
    assert failed[:12] == list(range(1, 13)) and rest[:2] == [12, 13], "those with a value are not made again"


def test_numbers_follow_the_larger_of_run_and_log_folder(tmp_path: Path) -> None:
    folder, log = tmp_path / "calls", tmp_path / "log"
    folder.mkdir()
    log.mkdir()
    (log / "000007.out").touch()
    for count, expected in ((3, 8), (20, 21)):
        problem = program(folder, log_folder=log)
        problem.restore({"evaluation_count": count})
        problem.evaluate(problem.start)
        assert problem.printed[-1].call == expected
    problem.restore({"failure_message": ""})
    problem.clone().evaluate(problem.start)
    assert problem.printed[-1].call == 22
