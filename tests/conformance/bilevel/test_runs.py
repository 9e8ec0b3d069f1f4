"""What every solver of online bilevel problems keeps in a run: failures, budgets, steering, defaults."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.every_bilevel import (
    CORE_PAIRS,
    DERIVATIVES,
    EACH_CORE_PAIR,
    EACH_SOLVER,
    PROBLEMS,
    SOLVERS,
    arrays,
    assert_equal_states,
    small,
)
from helpers.every_solver import finished
from zoviz.core.errors import OracleError
from zoviz.core.types import Array, Iterate
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.runs.run import Run
from zoviz.solvers import Solver


def spoiled(method: Callable[..., Any], replicas: int, victim: int, after: int, counter: Any) -> Callable[..., Any]:
    """``method`` with NaN for one replica from the ``after``-th use on, by whatever method of the problem."""

    def patched(self: OnlineBilevel, x: Array, *rest: Any) -> Any:
        value = method(self, x, *rest)
        if len(x) == replicas and next(counter) >= after:
            parts = tuple(np.array(part) for part in (value if isinstance(value, tuple) else (value,)))
            for part in parts:
                part[victim] = np.nan
            return parts if isinstance(value, tuple) else parts[0]
        return value

    return patched


def first_coordinate(self: Any, iterate: Iterate, sample: Any, exact: Any = None) -> dict[str, Any]:
    """Measures that need no value of the problem."""
    x = iterate.x[:, 0]
    return {"objective": x, "violation": 0 * x}


def spoil(problem: str, replicas: int, victim: int, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cls, counter = PROBLEMS[problem], itertools.count()
    monkeypatch.setattr(cls, "tally", lambda self, replicas: None)
    monkeypatch.setattr(cls, "measures", first_coordinate)
    for name in ("outer", "inner", *DERIVATIVES):
        monkeypatch.setattr(cls, name, spoiled(getattr(cls, name), replicas, victim, after, counter))


@pytest.mark.parametrize("after", [0, 30])
@EACH_CORE_PAIR
def test_a_replica_that_fails_leaves_the_others_intact(
    solver: str, problem: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = finished(solver, small(problem), 5, 20)
    spoil(problem, 5, 2, after, monkeypatch)
    run = finished(solver, small(problem), 5, 20)
    result, whole = run.result, clean.result
    assert run.status == "finished" and run.frozen == 1
    others = [0, 1, 3, 4]
    np.testing.assert_allclose(result.x[others], whole.x[others], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(result.calls[others], whole.calls[others])
    assert result.calls[2] < whole.calls[2] and result.failures[2] >= 1 and (result.failures[others] == 0).all()
    assert not result.success[2] and np.isfinite(result.x).all(), "a frozen replica keeps its last good iterate"
    assert all(np.isfinite(a).all() for a in arrays(run.state._replace(samples=()) if solver == "OAGD" else run.state))
    assert np.isnan(run.trace["objective"][-1][2]) and np.isfinite(run.trace["objective"][-1][others]).all()


@EACH_CORE_PAIR
def test_a_problem_never_sees_a_point_that_is_not_finite(
    solver: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(problem, 1, 0, 25, monkeypatch)
    cls, points = PROBLEMS[problem], []
    for name in ("outer", "inner", *DERIVATIVES):

        def watched(*places: Any, method: Callable[..., Any]) -> Any:
            points.extend(np.isfinite(place).all() for place in places[1:-1])
            return method(*places)

        monkeypatch.setattr(cls, name, functools.partialmethod(watched, method=getattr(cls, name)))
    run = Run(problem=small(problem), solver=SOLVERS[solver](), replicas=1, iterations=60)
    with pytest.raises(OracleError, match="Expected finite values from the black box"):
        run.run()
    assert run.frozen == 1 and np.isfinite(run.result.x).all() and points and all(points)


@EACH_CORE_PAIR
def test_budgets_and_kinds_of_calls_are_kept(solver: str, problem: str) -> None:
    run = Run(problem=small(problem), solver=SOLVERS[solver](), replicas=2, calls=700)
    result = run.run()
    assert result.status == "finished" and (result.calls <= 700).all() and (result.calls > 350).all()
    kinds = [name for name in run.trace.snapshot().columns if name.startswith("calls: ")]
    np.testing.assert_array_equal(sum(run.trace[name][-1] for name in kinds), run.trace["calls"][-1])
    assert {"regret", "average_regret", "hypergradient", "inner_error"} <= run.trace.snapshot().columns.keys()


@EACH_CORE_PAIR
def test_a_run_is_steered_replayed_and_forked_bit_for_bit(solver: str, problem: str) -> None:
    run = Run(problem=small(problem), solver=SOLVERS[solver](), replicas=3, iterations=40, seed=2)
    names = [name for name in SOLVERS[solver].live if name.endswith(("outer_batch", "batch_size", "step"))]
    run.start(steps=5)
    while run.status == "running":
        pass
    assert run.status == "paused" and run.progress.iteration == 5
    for name in names:
        run.set({name: 3 if "batch" in name else 0.013})
    run.step(7)
    run.unpause()
    result = run.wait(120)
    assert [change.iteration for change in run.journal] == [5] * len(names) and names
    again = run.replay()
    np.testing.assert_array_equal(again.run().x, result.x)
    assert_equal_states(again.state, run.state)
    for name in run.trace.snapshot().columns.keys() - {"seconds"}:
        np.testing.assert_array_equal(again.trace[name], run.trace[name], err_msg=name)
    fork = run.fork(at=20, changes={names[0]: 3 if "batch" in names[0] else 0.02})
    fork.run()
    here, there = run.trace.snapshot().columns, fork.trace.snapshot().columns
    np.testing.assert_array_equal(here["objective"][:21], there["objective"][:21])
    assert (here["objective"][21:] != there["objective"][21:]).any()


@EACH_SOLVER
def test_defaults_follow_a_problem_that_stands_still(cls: type[Solver]) -> None:
    if "QuadraticBilevel" not in [p for s, p in CORE_PAIRS if s == cls.__name__]:
        pytest.skip("not a method for it")
    problem = PROBLEMS["QuadraticBilevel"](n=4, d=4, drift="none", sampling_noise=0.02)
    run = finished(cls.__name__, problem, 4, 500, seed=3)
    trace = run.trace
    assert trace["inner_error"][-1].mean() <= 0.1 * trace["inner_error"][1].mean()
    if hasattr(run.state, "v"):  # else the method is blind to the follower's answer
        assert trace["hypergradient"][-1].mean() <= 0.1 * trace["hypergradient"][1].mean()
        assert trace["system_error"][-1].mean() <= 0.1 * trace["system_error"][1].mean()
