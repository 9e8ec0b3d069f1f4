"""The front door: SciPy's manners: callbacks, seeds, arguments, results, methods, options."""

from __future__ import annotations

import functools
import itertools
import pickle
import time
from typing import Any

import numpy as np
import pytest

from helpers.black_box import f_at
from helpers.minimizing import BOUNDS, LINE, scaled
from zoviz import minimize
from zoviz.core.types import Array
from zoviz.runs.engine.result import OptimizeResult
from zoviz.runs.engine.stopping import Ending
from zoviz.solvers import ZOBCEG, ZOCEG, ZOSPLM, Solver
from zoviz.solvers.portfolio.choice import named

# --- manners ----------------------------------------------------------------------------------------------------------


def test_a_callback_sees_the_course_and_may_stop_it() -> None:
    results: list[OptimizeResult] = []

    def callback(intermediate_result: OptimizeResult) -> None:
        results.append(intermediate_result)
        if intermediate_result.nit == 7:
            raise StopIteration

    result = minimize(f_at, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, method="ZOCEG", callback=callback)
    assert [one.nit for one in results] == list(range(1, 8))
    assert result.status is Ending.STOPPED and result.nit == 7 and "Stopped after 7 iterations" in result.message
    assert result.feasible and result.fun == results[-1].fun and result.calls == results[-1].calls
    assert all(later.fun <= one.fun and later.calls > one.calls for one, later in itertools.pairwise(results))
    np.testing.assert_array_equal(result.x, results[-1].x)


def test_a_callback_of_x_as_in_older_scipy() -> None:
    points: list[Array] = []

    def callback(xk: Array) -> None:
        points.append(xk)
        if len(points) == 3:
            raise StopIteration

    result = minimize(f_at, [0.0, 0.0], bounds=BOUNDS, method="ZOCEG", callback=callback)
    assert result.nit == 3 and np.array_equal(points[-1], result.x)


@pytest.mark.parametrize("answer", [True, np.True_], ids=repr)
@pytest.mark.parametrize("method", ["ZOCEG", "auto", "COBYLA", "CMAES"])
def test_a_callback_that_returns_true_stops_the_run(method: str, answer: Any) -> None:
    results: list[OptimizeResult] = []

    def callback(xk: Array, state: OptimizeResult) -> Any:
        assert np.array_equal(xk, state.x)
        results.append(state)
        return answer if len(results) == 3 else None

    result = minimize(
        f_at, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, method=method, callback=callback, max_calls=200
    )
    assert len(results) == result.nit == 3 and result.status is Ending.STOPPED and result.fun == results[-1].fun


@pytest.mark.parametrize("answer", [None, False, 1, 0.5, np.array([True, True]), "yes"], ids=repr)
def test_other_answers_of_a_callback_do_not_stop_it(answer: Any) -> None:
    result = minimize(f_at, [0.0, 0.0], bounds=BOUNDS, method="ZOCEG", callback=lambda xk: answer, max_calls=60)
    assert result.status is Ending.BUDGET


class Listener:
    def __init__(self) -> None:
        self.points: list[Array] = []

    def __call__(self, xk: Array, state: OptimizeResult | None = None) -> None:
        assert state is None
        self.points.append(xk)

    def of_all(self, *everything: Any) -> None:
        assert len(everything) == 1
        self.points.append(everything[0])

    def keyword(self, *, intermediate_result: OptimizeResult) -> None:
        self.points.append(intermediate_result.x)


def test_callbacks_in_the_forms_that_scipy_takes() -> None:
    listener, points = Listener(), list[Array]()
    for callback in (
        listener,
        listener.of_all,
        listener.keyword,
        points.append,
        functools.partial(listener, state=None),
    ):
        minimize(f_at, [0.0, 0.0], bounds=BOUNDS, method="ZOCEG", callback=callback, max_calls=40)
    assert len(points) > 0 and len(listener.points) == 4 * len(points)


@pytest.mark.parametrize(
    "callback", [3, lambda a, b, c: None, lambda x, *, more: None], ids=["number", "three", "keyword"]
)
def test_a_callback_that_cannot_be_called_is_refused_before_the_first_call(callback: Any) -> None:
    calls: list[Array] = []
    with pytest.raises(ValueError, match="Expected a (function as callback|callback of x)"):
        minimize(lambda x: (calls.append(x), f_at(x))[1], [0.0, 0.0], bounds=BOUNDS, callback=callback)
    assert not calls


@pytest.mark.parametrize("value", [None, "a word", [1, 2], 0.5], ids=repr)
def test_a_stop_reason_of_pycma_may_have_any_value(monkeypatch: pytest.MonkeyPatch, value: Any) -> None:
    cma = pytest.importorskip("cma")
    stop = cma.CMAEvolutionStrategy.stop

    def stopped(self: Any, *arguments: Any, **options: Any) -> Any:
        return {"noeffectcoord": value} if self.countiter >= 3 else stop(self, *arguments, **options)

    monkeypatch.setattr(cma.CMAEvolutionStrategy, "stop", stopped)
    result = minimize(f_at, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, method="CMAES", max_calls=200)
    assert "pycma's noeffectcoord" in result.message and result.calls < 60 and result.feasible


def test_what_else_a_callback_raises_goes_through() -> None:
    def callback(xk: Array) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        minimize(f_at, [0.0, 0.0], bounds=BOUNDS, method="ZOCEG", callback=callback)


def test_the_same_seed_gives_the_same_result() -> None:
    def result(seed: int | None) -> OptimizeResult:
        return minimize(f_at, None, bounds=BOUNDS, constraints=LINE, method="ZOSPLM", max_calls=400, seed=seed)

    first, again, other = result(3), result(np.int64(3)), result(4)
    np.testing.assert_array_equal(first.x, again.x)
    assert first.fun == again.fun and first.message == again.message and first.seed == 3
    assert not np.array_equal(first.x, other.x)
    assert result(0).fun == result(0).fun


def test_arguments_of_the_function_and_a_joint_function() -> None:
    plain = minimize(f_at, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, method="ZOCEG", max_calls=500)
    with_arguments = minimize(
        scaled, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, method="ZOCEG", max_calls=500, args=(1.0, 0.0)
    )
    joint = minimize(
        lambda x: (f_at(x), x[0] + x[1] - 2.0), [0.0, 0.0], bounds=BOUNDS, method="ZOCEG", max_calls=500, joint=True
    )
    for other in (with_arguments, joint):
        np.testing.assert_array_equal(other.x, plain.x)
        assert other.calls == plain.calls and other.h.shape == (1,)
    assert minimize(lambda x: (f_at(x), None), [0.0, 0.0], joint=True, method="ZOCEG", max_calls=100).h.shape == (0,)


def test_the_result_is_a_dict_with_attributes_and_can_be_pickled() -> None:
    result = minimize(f_at, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, method="ZOCEG", max_calls=300)
    fields = "x fun success status message nit violation maxcv calls multipliers best_x best_fun seed trace".split()
    assert set(fields) <= set(result) <= set(dir(result))
    assert result["x"] is result.x and isinstance(result.fun, float) and isinstance(result.feasible, bool)
    assert "message: '" in repr(result)
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.x, result.x)
    np.testing.assert_array_equal(again.trace["calls"], result.trace["calls"])
    with pytest.raises(AttributeError, match="Expected one of message, x, fun"):
        _ = result.minimum


@pytest.mark.parametrize(
    ("name", "cls"),
    [("ZOSPLM", ZOSPLM), ("zo-splm", ZOSPLM), ("Zoceg", ZOCEG), (ZOBCEG, ZOBCEG), (ZOBCEG(), ZOBCEG)],
    ids=["name", "hyphen", "case", "class", "instance"],
)
def test_methods_go_by_name_class_or_instance(name: Any, cls: type[Solver]) -> None:
    assert type(named(name)) is cls
    assert minimize(f_at, [0.0, 0.0], bounds=BOUNDS, method=name, max_calls=300).method == cls.__name__


def test_an_instance_is_not_changed() -> None:
    solver = ZOSPLM()
    result = minimize(
        f_at,
        [0.0, 0.0],
        bounds=BOUNDS,
        constraints=LINE,
        method=solver,
        max_calls=300,
        options={"estimator.batch_size": 7},
    )
    assert solver.primal_step is None and solver.estimator.batch_size == 50
    assert result.parameters["primal_step"] > 0


def test_options_reach_the_run_the_problem_and_the_solver() -> None:
    options = {"estimator.batch_size": 7, "primal_step": 0.01}
    settings: dict[str, Any] = {"iterations": 5, "replicas": 2, "tolerance": 0.5, "noise": "deterministic"}
    settings |= {"optimal_value": 1.0, "scaled": False}
    result = minimize(f_at, [1.0, 1.4], bounds=BOUNDS, constraints=LINE, method="ZOSPLM", options=options, **settings)
    assert result.parameters["primal_step"] == 0.01 and result.parameters["dual_step"] > 0.0
    assert result.nit == 5 and result.trace["calls"].shape[1] == 2 and "gap" in result.trace.snapshot().columns
    calls = result.trace["calls"]
    assert (calls[-1] - calls[0] == 5 * 8).all() and result.calls == calls[-1].sum()
    assert result.feasible and 0.0 < result.maxcv <= 0.5


def test_time_and_targets_end_a_run() -> None:
    def slow(x: Array) -> float:
        time.sleep(0.002)
        return f_at(x)

    quick = minimize(slow, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, method="ZOCEG", max_calls=100_000, seconds=0.2)
    assert "The budget of 0.2 s is spent" in quick.message and quick.calls < 500
    ends: dict[str, Any] = {"optimal_value": 0.5, "targets": {"gap": 1e-3}, "stop_at_targets": True}
    hit = minimize(f_at, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, method="ZOCEG", **ends)
    assert "hit every target" in hit.message and hit.calls < 2000 and abs(hit.trace["gap"][-1, 0]) <= 1e-3
