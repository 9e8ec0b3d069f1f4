"""Problem and solver of a run, however they are given: as objects, classes or names, or chosen."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz import AskTell, BlackBox, Executable, Run, minimize
from zoviz.core.sets import Box
from zoviz.core.types import Array, Evaluation
from zoviz.problems.base import Problem
from zoviz.problems.engineering.welded_beam import WeldedBeam
from zoviz.problems.power.load_tracking import LoadTracking
from zoviz.solvers.external.cobyla_cobyqa import COBYLA
from zoviz.solvers.portfolio.choice import matched
from zoviz.solvers.saddle.zoceg import ZOCEG
from zoviz.solvers.sqp.zosqp import ZOSQP

SIMULATION = "a, b = map(float, open(0).read().split())\nprint((a - 2) ** 2 + (b - 1) ** 2, a + b - 2, a * a - b)\n"


def distance(x: Array) -> float:
    return float((x[0] - 2) ** 2 + (x[1] - 1) ** 2)


def rows(x: Array) -> list[float]:
    return [x[0] + x[1] - 2, x[0] ** 2 - x[1]]


@pytest.fixture
def program(tmp_path: Path) -> Executable:
    (tmp_path / "simulation.py").write_text(SIMULATION)
    command = [sys.executable, "-S", str(tmp_path / "simulation.py")]
    return Executable(command, bounds=[(-4, 4)] * 2, x0=[0, 0], m=2, workers=2)


def function() -> BlackBox:
    return BlackBox(distance, rows, bounds=[(-4, 4)] * 2, x0=[0, 0])


@pytest.mark.parametrize("method", [COBYLA(), COBYLA, "COBYLA", "cobyla"])
def test_a_solver_is_an_object_a_class_or_a_name_everywhere(method: Any) -> None:
    problem = function()
    session = AskTell(problem, method, calls=30)
    run = Run(problem, method, calls=30, replicas=1)
    assert type(matched(problem, method).solver) is type(run.solver) is type(session.worker.solver) is COBYLA
    assert run.reason == session.reason == "" and minimize(problem, method=method, max_calls=30).method == "COBYLA"


@pytest.mark.parametrize("problem", [function(), LoadTracking(n=4), WeldedBeam], ids=["function", "ours", "class"])
def test_without_a_solver_every_way_chooses_the_same(problem: Any) -> None:
    chosen = matched(problem, calls=60)
    run, session = Run(problem, calls=60), AskTell(problem, calls=60)
    assert isinstance(run.problem, Problem) and chosen.reason
    assert run.reason == session.reason == chosen.reason == Run(problem, "Auto", calls=60).reason
    names = {str(solver.parts().keys()) for solver in (chosen.solver, run.solver, session.worker.solver)}
    assert len(names) == 1


def test_a_program_goes_every_way_that_a_function_goes(program: Executable) -> None:
    result = minimize(program, max_calls=40, seed=1)
    same = minimize(function(), max_calls=40, seed=1)
    np.testing.assert_array_equal(result.x, same.x)
    assert result.feasible and result.calls == same.calls <= 40 and result.message == same.message
    assert len(program.printed) == 20, "the launches are the person's to see"
    assert Run(program, calls=8, replicas=1).run().calls[0] <= 8
    np.testing.assert_array_equal(AskTell(program, ZOCEG, calls=8).ask().x[0], [0, 0])


def test_a_start_given_beside_a_problem_replaces_its_own(program: Executable) -> None:
    asked: list[Array] = []

    def seen(x: Array) -> float:
        asked.append(x)
        return distance(x)

    minimize(BlackBox(seen, bounds=[(-4, 4)] * 2, x0=[0, 0]), [1, 3], method="COBYLA", max_calls=20)
    np.testing.assert_array_equal(asked[0], [1, 3])
    minimize(program, [0.5, 0.25], method="COBYLA", max_calls=12, workers=1)
    assert program.x0 == [0, 0] and any(one.output.startswith("2.8125 ") for one in program.printed)


@pytest.mark.parametrize(
    ("problem", "arguments", "sentence"),
    [
        (function(), {"bounds": [(0, 1)] * 2}, "Expected bounds from the problem, got bounds= beside BlackBox"),
        (function(), {"constraints": rows}, "Expected constraints from the problem"),
        (function(), {"args": (1,)}, "Expected args from the problem"),
        (function(), {"joint": True}, "Expected joint from the problem"),
        (LoadTracking(n=4), {"x0": [0] * 4}, "Expected x0 from the problem, got x0= beside LoadTracking: leave it out"),
        (LoadTracking(n=4), {"workers": 2}, "Expected workers from the problem"),
        (function(), {"x0": [9, 9]}, r"Expected x0 inside the bounds, got x0\[0\] = 9"),
        (function(), {"workers": 0}, "Expected workers a number from 1"),
    ],
)
def test_what_a_problem_has_is_not_given_twice(problem: Problem, arguments: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        minimize(problem, max_calls=40, **arguments)


@pytest.mark.parametrize("way", [Run, AskTell, matched])
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((distance,), r"Expected a problem, got .*: wrap a function, BlackBox\(distance, bounds=...\)"),
        (("COBYLA",), "Expected a problem, got 'COBYLA': the problem comes first, then the solver"),
        ((function(), "nosuch"), "Expected the name of a solver, got 'nosuch'"),
        ((function(), 3), "Expected the name of a solver, its class or an instance, got 3"),
    ],
)
def test_what_is_neither_is_refused(way: Callable[..., Any], words: tuple[Any, ...], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        way(*words)


def test_the_best_point_is_of_the_values_that_the_method_saw() -> None:
    """Additive noise included: else a study of minimize under noise would be given the truth."""
    noisy = LoadTracking(n=4, noise="independent", noise_scale=0.1)
    result = minimize(noisy, max_calls=60, method="ZOCEG")
    exact = noisy.evaluate(result.x)
    assert result.fun != float(exact.f) and abs(result.fun - float(exact.f)) < 0.5
    assert math.isfinite(result.fun) and result.calls <= 60


class Restless(Problem):
    """A person's own class of problem, whose values differ although it does not say so."""

    __abstract = True

    analytic, m, n, domain = False, 0, 2, Box([-4.0] * 2, [4.0] * 2)

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        drawn = np.random.default_rng().normal(scale=1e-3, size=x.shape[:-1])
        return Evaluation(np.square(x).sum(axis=-1) + drawn, np.empty((*x.shape[:-1], 0)))


def test_noise_that_is_found_is_not_added_to() -> None:
    result = minimize(Restless(), max_calls=60)
    assert "Values are noisy" in result.message and result.calls <= 60
    assert abs(result.fun - float(result.x @ result.x)) < 0.01


def test_workers_of_a_known_number_have_their_batches_filled_where_calls_are_many(program: Executable) -> None:
    for method in ("auto", "ZOSQP", ZOSQP):
        assert matched(program, method, 75).solver.parallel_calls == 2
    assert matched(program, "ZOSQP", 74).solver.parallel_calls == 1, "few calls are worth more than rounds"
    assert matched(program, ZOSQP()).solver.parallel_calls == 1, "an object is taken as it is"
    for workers in (None, 1, -1, map):
        problem = BlackBox(distance, rows, bounds=[(-4, 4)] * 2, x0=[0, 0], workers=workers)
        assert matched(problem, "ZOSQP").solver.parallel_calls == 1
