"""What every solver in the registry keeps where values are missing."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.every_solver import EACH_OWN_CLASS, EACH_OWN_PAIR, PARTS, PROBLEMS, finished, small
from zoviz.core.errors import OracleError
from zoviz.core.types import Array, Evaluation
from zoviz.problems import BlackBox
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers import Solver


def spoiled(evaluate: Callable[..., Evaluation], replicas: int, victim: int, after: int) -> Callable[..., Evaluation]:
    """``evaluate`` with NaN for one replica, from the ``after``-th call on whole base points."""
    counter = itertools.count()

    def patched(self: Problem, x: Array, xi: Any = None) -> Evaluation:
        value = evaluate(self, x, xi)
        if len(x) == replicas and (x.ndim > 2 or next(counter) >= after):
            f = np.array(value.f)
            if x.ndim == 2:
                f[victim] = np.nan
            return Evaluation(f, value.h)
        return value

    return patched


@pytest.mark.parametrize("after", [0, 7])
@EACH_OWN_PAIR
def test_a_replica_that_fails_leaves_the_others_intact(
    solver: str, problem: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = finished(solver, small(problem), 5, 10)
    monkeypatch.setattr(PROBLEMS[problem], "evaluate", spoiled(PROBLEMS[problem].evaluate, 5, 2, after))
    run = finished(solver, small(problem), 5, 10)
    result, whole = run.result, clean.result
    alive = np.isfinite(clean.trace["objective"][-1])  # a simulation may fail by itself
    others = [r for r in (0, 1, 3, 4) if alive[r]]
    assert run.status == "finished" and others and run.frozen == 1 + 4 - len(others)
    np.testing.assert_allclose(result.x[others], whole.x[others], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(result.calls[others], whole.calls[others])
    np.testing.assert_allclose(result.best_fun[others], whole.best_fun[others], rtol=1e-7)
    np.testing.assert_array_equal(result.failures[others], whole.failures[others])
    assert result.calls[2] < whole.calls[2] + (not alive[2]) and 1 <= result.failures[2]
    # Other starts are tried in the place of one that fails, where a black box may have none.
    assert (clean.problem.partial and after == 0) or result.failures[2] <= 1 + whole.failures[2]
    assert not result.success[2]
    assert np.isfinite(result.x).all(), "a frozen replica keeps its last good iterate"
    assert np.isnan(run.trace["objective"][-1][2]) and np.isfinite(run.trace["objective"][-1][others]).all()


@EACH_OWN_CLASS
def test_a_black_box_never_sees_a_point_that_is_not_finite(cls: type[Solver]) -> None:
    points = []

    def objective(x: Array) -> float:
        points.append(x.copy())
        return float("nan") if len(points) > 300 and len(points) % 13 == 0 else float(((x - 0.3) ** 2).sum())

    box = BlackBox(objective, lambda x: 0.5 - x[0], bounds=[(-1.0, 1.0)] * 3)
    run = Run(problem=box, solver=cls(), replicas=4, iterations=300)
    with pytest.raises(OracleError, match="Expected finite values from the black box"):
        run.run()
    assert run.frozen == 4 and np.isfinite(run.result.x).all()
    assert np.isfinite(np.stack(points)).all()


@pytest.mark.parametrize(
    "constraints",
    [None, lambda x: 0 * x[..., :1] - 1.0, lambda x: 1e-6 * (0.2 - x[..., :1]), lambda x: 1e7 * (0.2 - x[..., :1])],
    ids=["none", "flat", "tiny", "huge"],
)
@EACH_OWN_CLASS
def test_the_rule_stays_within_bounds_whatever_the_constraints_scale(cls: type[Solver], constraints: Any) -> None:
    def objective(x: Array) -> Array:
        return ((x - 0.3) ** 2).sum(axis=-1)

    problem = BlackBox(objective, constraints, bounds=[(-1.0, 1.0)] * 3, vectorised=True)
    steps = 100 * PARTS.get(cls.__name__, 1)
    run = Run(problem=problem, solver=cls(), replicas=3, iterations=steps)
    result = run.run()
    assert np.isfinite(result.x).all()
    if constraints is None or constraints(np.full(3, 0.3)) == [-1.0]:
        assert all(value < 1000.0 for name, value in run.resolved.items() if name.endswith("dual_step"))
        assert result.fun.max() < 0.05 and (result.violation == 0.0).all()


@EACH_OWN_PAIR
def test_a_first_replica_that_fails_at_its_start_leaves_the_others_intact(
    solver: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first replica is the one whose start the unknown constants are measured at.
    evaluate = PROBLEMS[problem].evaluate

    def patched(self: Problem, x: Array, xi: Any = None) -> Evaluation:
        f, h = evaluate(self, x, xi)
        f = np.array(f)
        if len(x) == 5:
            f[0] = np.nan
        return Evaluation(f, h)

    monkeypatch.setattr(PROBLEMS[problem], "evaluate", patched)
    run = finished(solver, small(problem), 5, 10)
    assert run.status == "finished" and run.frozen == 1
    assert np.isfinite(run.result.x).all()
    assert np.isfinite(run.trace["objective"][-1][1:]).all()
