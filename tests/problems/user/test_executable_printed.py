"""What the launches of a program printed: whose they are, how long they took, and that a run tells its own."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.registry import discover, required
from zoviz.problems import Executable
from zoviz.problems.base import Problem
from zoviz.solvers import ZOCEG

BOX = [(-1.0, 1.0)] * 2
POINT = np.zeros((1, 2))


def told(source: str, **params: object) -> Executable:
    return Executable(["/bin/sh", "-c", source], bounds=BOX, m=0, **params)


def test_a_clone_tells_its_own_launches_and_is_heard_above() -> None:
    problem = told("echo $ZOVIZ_CALL")
    first, second = problem.clone(), problem.clone()
    below = first.clone()
    for one in (first, second, below, second):
        one.evaluate(POINT)
    calls = {name: [one.call for one in problem.printed] for name, problem in vars_of(problem, first, second, below)}
    assert calls == {"all": [1, 2, 3, 4], "first": [1, 3], "second": [2, 4], "below": [3]}


def test_a_clone_apart_has_numbers_and_logs_of_its_own_and_is_not_heard_above(tmp_path: Path) -> None:
    problem = told("echo $ZOVIZ_CALL", log_folder=tmp_path)
    problem.evaluate(POINT)
    apart = problem.clone_apart()
    values = [one.evaluate(POINT).f[0] for one in (apart, apart, problem)]
    assert values == [1.0, 2.0, 2.0]
    assert [one.call for one in problem.printed] == [1, 2] == [one.call for one in apart.printed]
    logs = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.out")}
    assert logs == {f"{place}{number:06d}.out" for place in ("", "apart/") for number in (1, 2)}


def vars_of(*problems: Executable) -> list[tuple[str, Executable]]:
    return list(zip(("all", "first", "second", "below"), problems, strict=True))


def test_seconds_are_those_of_the_launch() -> None:
    problem = told("read a; test $a = 0.0 && sleep 0.4; echo 1", timeout=120.0)
    problem.evaluate(np.array([[0.0, 0.0], [1.0, 0.0]]))
    slow, quick = problem.printed
    assert slow.seconds >= 0.4 and quick.seconds > 0.0
    given_up = told("echo begun; sleep 600", timeout=2.5)
    given_up.evaluate(POINT)
    (one,) = given_up.printed
    assert one.status == "given up" and one.seconds >= 2.5 and one.output == "begun\n"


def test_a_run_tells_what_its_own_evaluations_printed() -> None:
    problem = told("read a; read b; echo $a; echo call $ZOVIZ_CALL >&2")
    runs = [Run(problem=problem, solver=ZOCEG(primal_step=1e-3), replicas=1, iterations=2) for _ in range(2)]
    assert runs[0].printed == ()
    for run in runs:
        run.run()
    first, second = ([one.call for one in run.printed] for run in runs)
    assert first and second and first[-1] < second[0]
    assert second[-1] == problem.printed[-1].call and len(problem.printed) <= 20
    assert all(one.errors == f"call {one.call}\n" for run in runs for one in run.printed)


@pytest.mark.parametrize(
    "cls",
    [cls for cls in discover("zoviz.problems", Problem).values() if not required(cls)],
    ids=lambda cls: cls.__name__,
)
def test_other_problems_print_nothing(cls: type[Problem]) -> None:
    assert inspect.getattr_static(cls, "printed") is inspect.getattr_static(Problem, "printed")
    assert Problem.printed.fget(None) == ()
