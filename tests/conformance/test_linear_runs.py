"""What every method for linear constraints keeps in a run: failures, counts, budgets, defaults."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from helpers.every_linear import (
    EACH,
    EACH_FORM,
    FORMS,
    OTHERS,
    SOLVERS,
    TRIPLES,
    K,
    World,
    finished,
    free_problem,
    made,
    solver_of,
)
from zoviz.core.types import Array, Evaluation
from zoviz.runs.run import Run
from zoviz.solvers import SampledALM, SmoothedALM, Solver, StormALM


@pytest.mark.parametrize("after", [0, 7])
@EACH
def test_a_replica_that_fails_leaves_the_others_intact(
    name: str, form: str, rows: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = finished(name, form, made(rows), 5, 12)
    cls, counter = type(made(rows)), itertools.count()
    gradient, evaluate = cls.stochastic_gradient, cls.evaluate

    def spoiled_gradient(self: Any, x: Array, xi: Any = None) -> Array:
        out = gradient(self, x, xi)
        if xi is not None and len(x) == 5 and next(counter) >= after:
            out[2] = np.nan
        return out

    def spoiled(self: Any, x: Array, xi: Any = None) -> Evaluation:
        value = evaluate(self, x, xi)
        if xi is not None and len(x) == 5 and x.ndim == 2 and next(counter) >= after:
            value.f[2] = np.nan
        return value

    if form == "stochastic":
        monkeypatch.setattr(cls, "stochastic_gradient", spoiled_gradient)
    else:
        monkeypatch.setattr(cls, "evaluate", spoiled)
    run = finished(name, form, made(rows), 5, 12)
    result, whole, others = run.result, clean.result, [0, 1, 3, 4]
    assert run.status == "finished" and run.frozen == 1
    np.testing.assert_allclose(result.x[others], whole.x[others], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(result.calls[others], whole.calls[others])
    assert result.calls[2] < whole.calls[2] and result.failures.tolist() == [0, 0, 1, 0, 0]
    assert not result.success[2] and np.isfinite(result.x).all()
    assert np.isnan(run.trace["objective"][-1][2]) and np.isfinite(run.trace["objective"][-1][others]).all()
    if whole.polished is not None:
        np.testing.assert_allclose(result.polished.x[others], whole.polished.x[others], rtol=1e-6, atol=1e-7)


def cost(name: str, form: str) -> int:
    """Calls of one iteration: a gradient, or K + 1 values; twice that for the recursion."""
    return SOLVERS[name].gradients_per_step * (1 if form == "stochastic" else K + 1)


@EACH
def test_calls_are_counted_and_as_documented(name: str, form: str, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = made(rows)
    cls, points = type(problem), {"gradient": 0, "value": 0}
    gradient, evaluate = cls.stochastic_gradient, cls.evaluate

    def counted_gradient(self: Any, x: Array, xi: Any = None) -> Array:
        points["gradient"] += x.size // x.shape[-1]
        return gradient(self, x, xi)

    def counted(self: Any, x: Array, xi: Any = None) -> Evaluation:
        points["value"] += x.size // x.shape[-1]
        return evaluate(self, x, xi)

    world = World(name, form, problem)
    world.step()  # the first one has nothing to be corrected
    before = world.oracle.calls.copy()
    counts = world.oracle.account.kinds.get("gradient", np.zeros(3)).copy()
    monkeypatch.setattr(cls, "stochastic_gradient", counted_gradient)
    monkeypatch.setattr(cls, "evaluate", counted)
    world.step(5)
    assert (world.oracle.calls - before).tolist() == [5 * cost(name, form)] * 3
    assert points == {
        "gradient": 15 * cost(name, form) * (form == "stochastic"),
        "value": 15 * cost(name, form) * (form != "stochastic"),
    }
    calls = world.oracle.account.kinds.get("gradient", np.zeros(3)) - counts
    assert calls.tolist() == [5 * cost(name, form) * (form == "stochastic")] * 3


@EACH_FORM
def test_a_budget_of_calls_is_never_exceeded(name: str, form: str) -> None:
    budget = 61
    run = Run(problem=free_problem(name), solver=solver_of(name, form), replicas=3, calls=budget)
    result = run.run()
    assert budget - cost(name, form) < result.calls.max() <= budget and result.polished is None
    assert result.status == "finished" and "budget of 61 oracle calls" in result.message


@pytest.mark.parametrize("cls", [SmoothedALM, SampledALM, StormALM])
@pytest.mark.parametrize("form", FORMS)
def test_the_last_step_is_charged_where_the_budget_covers_it(cls: type[Solver], form: str) -> None:
    """20 iterations and the last step, or one call too few for it: the run then ends as if there were none."""
    name, problem, single = cls.__name__, free_problem(""), 1 if form == "stochastic" else K + 1
    start = single if cls is StormALM else 0
    whole = start + 20 * cost(name, form)
    for calls, polished in ((whole + single, True), (whole + single - 1, False)):
        run = Run(problem=problem, solver=solver_of(name, form), replicas=3, iterations=20, calls=calls)
        result = run.run()
        assert (result.polished is not None) == polished
        assert result.calls.max() == calls if polished else whole <= result.calls.max() <= calls
        assert "20 iterations" in result.message
        if polished:
            assert result.polished.x.shape == (3, 9) and problem.domain.distance(result.polished.x).max() == 0.0


@pytest.mark.parametrize(
    "name, form, rows",
    [
        pytest.param(*triple.values, id=triple.id, marks=[] if "zero" not in triple.id and not triple.marks else slow)
        for slow in [pytest.mark.slow]
        for triple in TRIPLES
        if triple.values[2] not in OTHERS  # how far methods come there is asked by tests of those problems
    ],
)
def test_defaults_converge_visibly(name: str, form: str, rows: str) -> None:
    problem, steps = made(rows), 1000 if form == "stochastic" else 4000
    world = World(name, form, problem, 4, 3, solver=SOLVERS[name](gradients=form, horizon=steps))
    start, end = world.state, world.step(steps)
    near = [problem.near_stationarity(getattr(state, "centre", state.x)).mean() for state in (start, end)]
    assert near[1] <= 0.1 * near[0], near
    violation = [problem.metrics(state.x, None, None)["violation"].mean() for state in (start, end)]
    assert violation[1] <= 0.1 * violation[0] + 1e-9, violation
