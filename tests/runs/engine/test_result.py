"""The words of a result: violation is a norm, maxcv the largest component, and success is about the x beside it."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import AskTell, Run, Store, minimize
from zoviz.core.types import Array
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.solvers import ZOCEG, ZOEG, ZOSPLM


def three_four(x: Array) -> tuple[float, list[float]]:
    return float(x @ x), [3.0, 4.0]


def test_violation_is_the_norm_and_maxcv_the_largest_component_everywhere(tmp_path: object) -> None:
    problem = BlackBox(three_four, joint=True, m=2, bounds=[(-1, 1)] * 2, x0=[0.5, 0.5])
    store = Store(f"sqlite:///{tmp_path}/results.db")
    run = Run(problem, ZOCEG(), replicas=2, iterations=3, store=store)
    session = AskTell(problem, ZOCEG(), iterations=3)
    while not session.done:
        batch = session.ask()
        session.tell(batch, [1.0] * len(batch.x), [[3.0, 4.0]] * len(batch.x))
    for result in (run.run(), store.load(run.id).result, session.result):
        assert (result.violation == 5.0).all() and (result.maxcv == 4.0).all() and not result.success.any()
    assert minimize(three_four, [0.5, 0.5], joint=True, bounds=[(-1, 1)] * 2, max_calls=100).maxcv == 4.0
    store.close()


def test_success_is_about_x_not_about_the_best_point() -> None:
    run = Run(NonconvexQCQP(n=8), ZOSPLM(), replicas=6, iterations=200, seed=5)
    result = run.run()
    inside = run.problem.evaluate(result.x).h.max(axis=1) <= result.tolerance.max()
    assert np.isfinite(result.best_fun).all(), "feasible points were queried"
    assert not inside.all(), "and some last iterates violate"
    np.testing.assert_array_equal(result.success, inside)
    np.testing.assert_array_equal(result.maxcv <= result.tolerance.max(), inside)


@pytest.mark.parametrize("tolerance", [1e-6, 3.9, 4.1, 5.1])
def test_the_tolerance_is_for_the_largest_component(tolerance: float) -> None:
    problem = BlackBox(three_four, joint=True, m=2, bounds=[(-1, 1)] * 2, x0=[0.5, 0.5])
    result = Run(problem, ZOCEG(), replicas=1, iterations=2, tolerance=tolerance).run()
    assert result.success.all() == (tolerance >= 4.0)


def test_a_frozen_replica_is_no_success() -> None:
    calls = []

    def broken(x: Array) -> float:
        calls.append(x)
        return float(x @ x) if len(calls) < 20 else np.nan

    problem = BlackBox(broken, bounds=[(-1, 1)] * 2, x0=[0.5, 0.5])
    run = Run(problem, ZOCEG(), replicas=1, iterations=50)
    with pytest.raises(Exception, match="NaN"):
        run.run()
    assert run.frozen == 1 and not run.result.success.any()


def test_an_average_at_which_no_call_was_made_is_no_success() -> None:
    problem = BlackBox(lambda x: float(x @ x), bounds=[(-1, 1)] * 2, x0=[0.5, 0.5])
    average = Run(problem, ZOEG(report="average"), replicas=1, iterations=20).run()
    last = Run(problem, ZOEG(report="last"), replicas=1, iterations=20).run()
    assert "No call was made at x" in average.message and not average.success.any()
    assert "No call was made at x" not in last.message and last.success.all()
