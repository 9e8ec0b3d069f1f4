"""What every method keeps of a black box's bounds: no call is outside, by exact comparison."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers.every_solver import BAYESIAN
from helpers.guarded_box import GuardedBox, OutsideError, affordable, methods
from zoviz import AskTell, Run, minimize
from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.solvers import Solver

DEAR = {"NOMAD", *BAYESIAN}
"""What has processes, or fits models between two calls: some of their cases are left to the slow ones."""
EACH_METHOD, EACH_METHOD_NOW_AND_THEN = (
    pytest.mark.parametrize(
        "method",
        [pytest.param(one, marks=pytest.mark.slow) if one in later else one for one in ["auto", *methods()]],
    )
    for later in ((), DEAR)
)
EACH_SOLVER_NOW_AND_THEN = pytest.mark.parametrize(
    "method", [pytest.param(one, marks=pytest.mark.slow) if one in DEAR else one for one in methods()]
)
INF = math.inf


def case(name: str, method: str) -> tuple[GuardedBox, Any, dict[str, Any]]:
    """A box, the start as shares of its widths, and settings of ``minimize``."""
    if name == "optimum and start at vertices":
        return GuardedBox([0.1, -0.3], [0.4, 0.3], [1.5, -0.5], m=1), [0.0, 1.0], {"max_calls": 60}
    if name == "optimum at a bound, noise, not scaled":
        box = GuardedBox([0.1, -0.3, 5.0], [0.4, 0.3, 5.7], [1.1, 0.3, 0.6], m=1, sigma=0.01)
        return box, [0.5, 0.5, 1.0], {"max_calls": 80, "noise": "independent", "scaled": False}
    if name == "fixed and half-open, rows violated at the start":
        far = 10.0 if method in BAYESIAN else INF  # which need a box with ends
        box = GuardedBox([0.3, 0.7, -far, -1e-3], [far, 0.7, 0.1, 2e-3], [-0.2, 0.5, 1.3, 0.5], m=2)
        return box, [1.0, 0.0, 1.0, 1.0], {"max_calls": 50, "scaled": False}
    assert name == "widths of 1e-6 and 1e6, noise that is found"
    box = GuardedBox([1e3, -1e6], [1e3 + 1e-6, 1e6], [0.4, 1.2], m=1, sigma=0.01)
    return box, [1.0, 0.3], {"max_calls": 60}


@pytest.mark.parametrize(
    "name",
    [
        "optimum at a bound, noise, not scaled",
        "fixed and half-open, rows violated at the start",
        "widths of 1e-6 and 1e6, noise that is found",
    ],
)
@EACH_METHOD_NOW_AND_THEN
def test_no_call_of_minimize_is_outside(method: str, name: str) -> None:
    assert_inside(method, name)


@EACH_METHOD
def test_no_call_of_minimize_is_outside_from_a_vertex(method: str) -> None:
    assert_inside(method, "optimum and start at vertices")


def assert_inside(method: str, name: str) -> None:
    box, start, settings = case(name, method)
    settings["max_calls"] = affordable(method, settings["max_calls"])
    result = minimize(box.joint, box.at(start), bounds=box.bounds, method=method, joint=True, **settings)
    assert box.calls == result.calls <= settings["max_calls"]
    assert ((result.x >= box.lower) & (result.x <= box.upper)).all()


@EACH_SOLVER_NOW_AND_THEN
def test_no_call_of_a_run_is_outside(method: str) -> None:
    solver, box = discover("zoviz.solvers", Solver)[method](), GuardedBox([-0.3, 0.1], [0.3, 0.4], [1.2, 0.4], m=1)
    run = Run(problem=box.problem([1.0, 1.0], scaled=False), solver=solver, replicas=2, calls=affordable(method, 40))
    run.run()
    assert box.calls == run.result.calls.sum() > 0


@EACH_SOLVER_NOW_AND_THEN
def test_no_question_of_a_session_is_outside(method: str) -> None:
    box = GuardedBox([0.1, -0.3], [0.4, 0.3], [-0.3, 0.5], m=1)
    solver = discover("zoviz.solvers", Solver)[method]()
    session = AskTell(solver=solver, bounds=box.bounds, x0=box.at([0.0, 0.0]), m=1, calls=affordable(method, 30))
    while not session.done:
        batch = session.ask()
        values = [box.joint(x) for x in batch.x]
        session.tell(batch, [f for f, _ in values], np.array([h for _, h in values]))
    assert box.calls == session.result.calls.sum() > 0


@EACH_METHOD_NOW_AND_THEN
def test_an_objective_that_ends_at_a_bound_is_minimised(method: str) -> None:
    """The square root of what a bound leaves: there is no value beyond it."""

    def objective(x: Array) -> float:
        return math.sqrt(1.0 - x[0]) + (x[1] - 0.5) ** 2

    result = minimize(objective, [0.5, 0.2], bounds=[(0.0, 1.0)] * 2, method=method, max_calls=affordable(method, 100))
    assert result.failures == 0 and result.fun < objective(np.array([0.5, 0.2]))


@pytest.mark.parametrize("method", ["ZOSPLM", "COBYLA"])
def test_a_problem_may_let_methods_look_outside(method: str) -> None:
    box = GuardedBox([0.0, 0.0], [1.0, 1.0], [-0.5, -0.5])
    seen: list[Array] = []

    def objective(x: Array) -> float:
        seen.append(x.copy())
        return float(np.square(x - box.optimum).sum())

    problem = BlackBox(objective, bounds=box.bounds, x0=[0.0, 0.0], keeps_bounds=False)
    solver = discover("zoviz.solvers", Solver)[method]()
    Run(problem=problem, solver=solver, calls=60).run()
    assert (np.array(seen) < 0.0).any()
    with pytest.raises(OutsideError):
        box.joint(np.array([-5e-324, 0.5]))
