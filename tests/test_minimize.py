"""The front door: SciPy's forms and manners, one budget, one honest answer."""

from __future__ import annotations

import doctest
import importlib
import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.sparse import csr_array

import zoviz
from zoviz import minimize
from zoviz.problems import BlackBox
from zoviz.problems.forms import stacked
from zoviz.runs.methods import TABLE, Situation, choose, named
from zoviz.runs.result import OptimizeResult
from zoviz.sets import Ball
from zoviz.solvers import ZOBCEG, ZOCEG, ZOSPLM, Solver
from zoviz.types import Array, OracleError


def f_at(x: Array) -> float:
    return float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2)


def scaled(x: Array, factor: float, shift: float) -> float:
    return factor * f_at(x) + shift


BOUNDS = [(-4.0, 4.0), (-4.0, 4.0)]
PARABOLA = optimize.NonlinearConstraint(lambda x: x[0] ** 2 - x[1], -np.inf, 0.0)
LINE = optimize.LinearConstraint([[1.0, 1.0]], ub=2.0)
FORMS: dict[str, Any] = {
    "dicts": [
        {"type": "ineq", "fun": lambda x: 2.0 - x[0] - x[1]},
        {"type": "ineq", "fun": lambda x, a: a * (x[1] - x[0] ** 2), "args": (0.5,)},
    ],
    "one dict, two values": {"type": "ineq", "fun": lambda x: [2.0 - x[0] - x[1], x[1] - x[0] ** 2]},
    "objects": [LINE, PARABOLA],
    "mixed": (LINE, {"type": "ineq", "fun": lambda x: x[1] - x[0] ** 2}),
    "sparse, two-sided": [optimize.LinearConstraint(csr_array([[1.0, 1.0], [1.0, -1.0]]), [-9, -2], [2, 9]), PARABOLA],
    "a ring": [optimize.NonlinearConstraint(lambda x: x @ x, 0.5, 1.0)],
    "only a line": LINE,
    "a lower bound": optimize.LinearConstraint([[1.0, 0.0]], lb=2.5),
    "none": (),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("bounds", [BOUNDS, optimize.Bounds(-4.0, 4.0)], ids=["pairs", "Bounds"])
def test_scipys_forms_and_scipys_answers(form: str, bounds: Any) -> None:
    expected = optimize.minimize(f_at, [0.5, 0.6], bounds=bounds, constraints=FORMS[form], method="SLSQP")
    result = minimize(f_at, [0.5, 0.6], bounds, FORMS[form], method="ZOCEG", maxfev=3000)
    assert expected.success and result.success and result.maxcv <= 1e-6
    assert result.fun == pytest.approx(f_at(result.x))
    assert -1e-5 <= result.fun - expected.fun <= 5e-3
    np.testing.assert_allclose(result.x, expected.x, atol=5e-3)


@pytest.mark.parametrize(
    "equality",
    [
        {"type": "eq", "fun": lambda x: x[0] - 2.0 * x[1] + 1.0},
        optimize.LinearConstraint([1.0, -2.0], -1.0, -1.0),
        optimize.NonlinearConstraint(lambda x: x[0] - 2.0 * x[1], -1.0, -1.0),
    ],
    ids=["dict", "linear", "nonlinear"],
)
def test_an_equality_is_two_rows_that_are_met_as_far_as_the_answer_says(equality: Any) -> None:
    inside = {"type": "ineq", "fun": lambda x: 1.0 - x[0] ** 2 / 4.0 - x[1] ** 2}
    expected = optimize.minimize(f_at, [0.5, 0.6], constraints=[equality, inside], method="SLSQP")
    result = minimize(f_at, [0.5, 0.6], None, [equality, inside], method="ZOCEG", maxfev=4000)
    assert result.h.shape == result.multipliers.shape == (3,)
    assert result.h[0] == pytest.approx(-result.h[1], abs=1e-12) and result.maxcv < 1e-3
    assert result.success == (result.maxcv <= 1e-6) == ("No feasible point was found" not in result.message)
    np.testing.assert_allclose(result.x, expected.x, atol=0.02)


def test_rows_are_what_they_are_said_to_be() -> None:
    x = np.array([3.0, 5.0])
    two_sided = optimize.NonlinearConstraint(lambda x: [x[0], x[1]], [1.0, -np.inf], [2.0, 4.0])
    named_parts = SimpleNamespace(A=[[1.0, 1.0]], lb=1.0, ub=np.inf)
    rows = stacked([two_sided, named_parts, lambda x: x[0] - 9.0, {"type": "EQ", "fun": lambda x: x[1] - 1.0}])
    np.testing.assert_allclose(rows(x), [1 - 3, 3 - 2, 5 - 4, 1 - 8, 3 - 9, -4, 4])
    assert stacked(()) is None and stacked(None) is None and stacked([]) is None
    assert stacked(lambda x: x)(x).tolist() == [3.0, 5.0]


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        (3, "Expected constraints as a LinearConstraint, a NonlinearConstraint, a dict with 'type'.*got 3"),
        ([{"type": "ineq"}], "Expected constraint 1 with 'type' 'ineq' or 'eq' and a callable 'fun', got {'type'"),
        ({"type": "le", "fun": f_at}, "Expected constraint 1 with 'type' 'ineq' or 'eq'"),
        ([f_at, optimize.Bounds(0, 1)], "Expected constraint 2 as a LinearConstraint, .*got Bounds"),
        (SimpleNamespace(A=np.eye(2), lb=[1, 1], ub=[2, 0]), "Expected lb <= ub in constraint 1, got lb ="),
        (SimpleNamespace(A=np.eye(2), lb=[1, 1], ub=[2, 2, 2]), "Expected lb <= ub in constraint 1, got lb ="),
        (SimpleNamespace(A=np.eye(2), lb=np.nan, ub=1), "Expected lb <= ub in constraint 1, got lb = nan"),
    ],
)
def test_constraints_that_make_no_sense_are_refused(constraints: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        minimize(f_at, [0.0, 0.0], constraints=constraints)


@pytest.mark.parametrize(
    ("constraints", "sentence"),
    [
        (optimize.LinearConstraint(np.eye(3), 0, 1), r"Expected A of a LinearConstraint with 2 columns, got \(3, 3\)"),
        (SimpleNamespace(fun=lambda x: x, lb=[0, 0, 0], ub=1), r"Expected 3 values from constraint 1, as it has"),
        ({"type": "ineq", "fun": lambda x: None}, "Expected a number from constraint 1, got None"),
    ],
)
def test_constraints_whose_values_do_not_fit_are_refused(constraints: Any, sentence: str) -> None:
    with pytest.raises(OracleError, match=sentence):
        minimize(f_at, [0.0, 0.0], constraints=constraints)


class Diary:
    """A function that remembers where it was called."""

    def __init__(self, function: Callable[[Array], Any]) -> None:
        self.function, self.points = function, []

    def __call__(self, x: Array) -> Any:
        self.points.append(x.copy())
        return self.function(x)


@pytest.mark.parametrize("maxfev", [41, 200, 1001])
@pytest.mark.parametrize("replicas", [1, 3])
def test_the_budget_is_what_is_called_and_counted(maxfev: int, replicas: int) -> None:
    diary = Diary(f_at)
    result = minimize(diary, [0, 0], BOUNDS, LINE, "ZOCEG", maxfev, options={"replicas": replicas})
    assert result.nfev == result.calls == len(diary.points) <= maxfev
    assert result.nfev > maxfev - 20 * replicas - 20, "and most of it is used"


def test_the_default_budget_is_a_thousand_calls_per_variable_and_one() -> None:
    diary = Diary(f_at)
    result = minimize(diary, [0.0, 0.0], BOUNDS, method="ZOBCEG")
    assert 2900 < result.nfev == len(diary.points) <= 3000


def test_the_answer_is_the_best_feasible_point_that_was_queried_in_the_bounds() -> None:
    diary = Diary(f_at)
    result = minimize(diary, [0.0, 0.0], [(-1, 1.2)] * 2, lambda x: x[0] + x[1] - 2.0, "ZOSPLM", 600)
    points = np.array(diary.points)
    good = (points.sum(axis=1) - 2.0 <= 1e-6) & (np.abs(points - 0.1) <= 1.1).all(axis=1)
    values = np.array([f_at(point) for point in points[good]])
    assert result.fun == values.min() == f_at(result.x)
    np.testing.assert_array_equal(result.x, points[good][values.argmin()])
    np.testing.assert_array_equal(result.best_feasible, result.x)
    assert result.success and result.maxcv == max(0.0, result.x.sum() - 2.0)


def test_where_nothing_is_feasible_the_least_violating_point_is_returned_and_it_is_said() -> None:
    diary = Diary(lambda x: float(x @ x))
    result = minimize(diary, [1.0, 1.0], BOUNDS, [lambda x: x[0] + 1.0, lambda x: 2.0 - x[0]], "ZOCEG", 500)
    points = np.array(diary.points)
    points = points[(np.abs(points) <= 4.0).all(axis=1)]
    violations = np.maximum(points[:, 0] + 1.0, 2.0 - points[:, 0])
    assert not result.success and result.maxcv == violations.min() >= 1.5
    assert result.maxcv == max(result.h) and np.isnan(result.best_feasible).all()
    assert f"No feasible point was found among {len(points)} queried: x is the least violating, by 1.5" in (
        result.message
    )


def test_the_answer_is_sought_between_the_best_point_and_the_last_iterate_too() -> None:
    diary = Diary(lambda x: -float(x[0]))
    # A small dual step: the iterates swing about the boundary, and the last of them lies outside.
    solver = ZOCEG(primal_step=0.1, dual_step=0.1, dual_cap=10.0)
    options = {"maxiter": 15} | ({"scaled": False} if "scaled" in BlackBox.param else {})
    result = minimize(diary, [0.0], [(-5, 5)], lambda x: x[0] ** 3 - 1.0, solver, 1000, options=options)
    points = np.array(diary.points)[:, 0]
    before, after = points[:-20], points[-20:]
    last = result.trace["objective"][-1, 0]
    assert result.nfev == len(points) and last < -1.1 < result.fun, "the last iterate violates"
    assert before[before <= 1.0].max() < after.min() and after.max() < -last, "twenty calls in between"
    assert result.x[0] == pytest.approx(1.0, abs=1e-5) and result.success


def test_a_start_that_is_best_is_kept() -> None:
    result = minimize(lambda x: float(x @ x), [0.0, 0.0], method="ZOSPLM", maxfev=300)
    assert result.fun == 0.0 and (result.x == 0.0).all()


# --- manners ----------------------------------------------------------------------------------------------------------


def test_a_callback_sees_the_course_and_may_stop_it() -> None:
    seen: list[OptimizeResult] = []

    def callback(intermediate_result: OptimizeResult) -> None:
        seen.append(intermediate_result)
        if intermediate_result.nit == 7:
            raise StopIteration

    result = minimize(f_at, [0.0, 0.0], BOUNDS, LINE, "ZOCEG", callback=callback)
    assert [one.nit for one in seen] == list(range(1, 8))
    assert result.status == "stopped" and result.nit == 7 and "Stopped after 7 iterations" in result.message
    assert result.success and result.fun == seen[-1].fun and result.nfev == seen[-1].nfev
    assert all(later.fun <= one.fun and later.nfev > one.nfev for one, later in zip(seen, seen[1:], strict=False))
    np.testing.assert_array_equal(result.x, seen[-1].x)


def test_a_callback_of_x_as_in_older_scipy() -> None:
    seen: list[Array] = []

    def callback(xk: Array) -> None:
        seen.append(xk)
        if len(seen) == 3:
            raise StopIteration

    result = minimize(f_at, [0.0, 0.0], BOUNDS, method="ZOCEG", callback=callback)
    assert result.nit == 3 and np.array_equal(seen[-1], result.x)


def test_what_else_a_callback_raises_goes_through() -> None:
    def callback(xk: Array) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        minimize(f_at, [0.0, 0.0], BOUNDS, method="ZOCEG", callback=callback)


def test_the_same_seed_gives_the_same_result() -> None:
    def result(seed: int | None) -> OptimizeResult:
        return minimize(f_at, None, BOUNDS, LINE, "ZOSPLM", 400, seed)

    first, again, other = result(3), result(np.int64(3)), result(4)
    np.testing.assert_array_equal(first.x, again.x)
    assert first.fun == again.fun and first.message == again.message and first.seed == 3
    assert not np.array_equal(first.x, other.x)
    assert result(None).fun == result(0).fun


def test_arguments_of_the_function_and_a_joint_function() -> None:
    plain = minimize(f_at, [0.0, 0.0], BOUNDS, LINE, "ZOCEG", 500)
    with_arguments = minimize(scaled, [0.0, 0.0], BOUNDS, LINE, "ZOCEG", 500, args=(1.0, 0.0))
    joint = minimize(lambda x: (f_at(x), x[0] + x[1] - 2.0), [0.0, 0.0], BOUNDS, (), "ZOCEG", 500, joint=True)
    for other in (with_arguments, joint):
        np.testing.assert_array_equal(other.x, plain.x)
        assert other.nfev == plain.nfev and other.h.shape == (1,)
    assert minimize(lambda x: (f_at(x), None), [0.0, 0.0], joint=True, method="ZOCEG", maxfev=100).h.shape == (0,)


def test_the_result_is_a_dict_with_attributes_and_can_be_pickled() -> None:
    result = minimize(f_at, [0.0, 0.0], BOUNDS, LINE, "ZOCEG", 300)
    fields = "x fun success status message nfev nit maxcv calls multipliers best_feasible seed trace".split()
    assert set(fields) <= set(result) <= set(dir(result))
    assert result["x"] is result.x and isinstance(result.fun, float) and isinstance(result.success, bool)
    assert "message: '" in repr(result)
    again = pickle.loads(pickle.dumps(result))
    np.testing.assert_array_equal(again.x, result.x)
    np.testing.assert_array_equal(again.trace["calls"], result.trace["calls"])
    with pytest.raises(AttributeError, match="Expected one of message, x, fun"):
        _ = result.minimum


@pytest.mark.parametrize(
    ("name", "cls"),
    [("ZOSPLM", ZOSPLM), ("zo-splm", ZOSPLM), ("Zoceg", ZOCEG), (ZOBCEG, ZOBCEG), (ZOBCEG(), ZOBCEG)],
    ids=str,
)
def test_methods_go_by_name_class_or_instance(name: Any, cls: type[Solver]) -> None:
    assert type(named(name)) is cls
    assert minimize(f_at, [0.0, 0.0], BOUNDS, method=name, maxfev=300).method == cls.__name__


def test_an_instance_is_not_changed() -> None:
    solver = ZOSPLM()
    result = minimize(f_at, [0.0, 0.0], BOUNDS, LINE, solver, 300, options={"estimator.batch_size": 7})
    assert solver.primal_step is None and solver.estimator.batch_size == 50
    assert result.parameters["primal_step"] > 0


def test_options_reach_the_run_the_problem_and_the_solver(capsys: pytest.CaptureFixture[str]) -> None:
    options = {"estimator.batch_size": 7, "primal_step": 0.01, "maxiter": 5, "replicas": 2, "disp": True}
    options |= {"feasibility_tolerance": 0.5, "noise": "deterministic", "optimal_value": 1.0, "scaled": False}
    result = minimize(f_at, [1.0, 1.4], BOUNDS, LINE, "ZOSPLM", options=options)
    assert result.parameters["primal_step"] == 0.01 and result.parameters["dual_step"] > 0.0
    assert result.nit == 5 and result.trace["calls"].shape[1] == 2 and "gap" in result.trace.snapshot().columns
    calls = result.trace["calls"]
    assert (calls[-1] - calls[0] == 5 * 8).all() and result.nfev == 1 + calls[-1].sum(), "one call told m"
    assert result.success and 0.0 < result.maxcv <= 0.5
    assert capsys.readouterr().out.strip() == result.message


def test_time_and_targets_end_a_run() -> None:
    def slow(x: Array) -> float:
        time.sleep(0.002)
        return f_at(x)

    quick = minimize(slow, [0.0, 0.0], BOUNDS, LINE, "ZOCEG", 100_000, options={"seconds": 0.2})
    assert "The budget of 0.2 s is spent" in quick.message and quick.nfev < 500
    options = {"optimal_value": 0.5, "targets": {"gap": 1e-3}, "stop_at_targets": True}
    hit = minimize(f_at, [0.0, 0.0], BOUNDS, LINE, "ZOCEG", options=options)
    assert "hit every target" in hit.message and hit.nfev < 2000 and abs(hit.trace["gap"][-1, 0]) <= 1e-3


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"fun": 3}, "Expected a function as fun, got 3"),
        ({"x0": "middle"}, "Expected x0 as n numbers, got 'middle'"),
        ({"x0": None}, "Expected bounds or x0"),
        ({"x0": [0.0, 9.0], "bounds": BOUNDS}, r"Expected x0 inside the bounds, got x0\[1\] = 9 outside"),
        ({"bounds": [(0, -1), (0, 1)]}, "Expected lower <= upper for each variable, got lower.*did you swap"),
        ({"bounds": optimize.Bounds(1.0, 0.0)}, "Expected lower <= upper for each variable"),
        ({"method": "ZOSPLN"}, "Expected the name of a solver, got 'ZOSPLN': did you mean ZOSPLM"),
        ({"method": "quite another"}, "got 'quite another': the solvers are "),
        ({"method": 3}, "Expected the name of a solver, its class or an instance, got 3"),
        ({"maxfev": 0}, "Expected maxfev a whole number from 1, got 0"),
        ({"maxfev": 1e4}, "Expected maxfev a whole number from 1, got 10000.0"),
        ({"maxfev": 2}, "Expected a budget that covers choosing the steps and evaluating the start, got 1 oracle"),
        ({"maxfev": 3, "options": {"replicas": 8}}, "Expected maxfev to leave a call for each of 8 replicas, got 3"),
        ({"seed": -1}, "Expected seed a whole number from 0, got -1"),
        ({"seed": np.random.default_rng(0)}, "Expected seed a whole number from 0, got Generator"),
        ({"callback": 3}, "Expected a function as callback, got 3"),
        ({"options": {"primal_stop": 1}}, "got 'primal_stop': did you mean primal_step"),
        ({"options": {"estimator.batchsize": 1}}, "got 'estimator.batchsize': did you mean estimator.batch_size"),
        ({"options": {"no.such.thing": 1}}, "Expected an option of the run or of ZOSPLM, got 'no.such.thing': ZOSPLM"),
        ({"options": {"replicas": 0}}, "Expected replicas a whole number from 1, got 0"),
        ({"options": {"noise": "loud"}}, "noise"),
        ({"joint": True, "constraints": f_at}, "Expected the constraints from fun with joint=True, got others too"),
        ({"workers": "two"}, "Expected workers a number, an executor or a map-like callable, got 'two'"),
    ],
)
def test_arguments_that_make_no_sense_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        minimize(**{"fun": f_at, "x0": [0.0, 0.0], "method": "ZOSPLM"} | arguments)


# --- functions that fail ----------------------------------------------------------------------------------------------


def test_a_start_without_a_value_is_said() -> None:
    with pytest.raises(OracleError, match=r"Expected finite values at the start, got f = nan and h = \[\]"):
        minimize(lambda x: np.nan, [0.0, 0.0])
    with pytest.raises(ZeroDivisionError):
        minimize(lambda x: 1 / 0, [0.0, 0.0])
    with pytest.raises(OracleError, match="Expected a value at the start, got none: division by zero"):
        minimize(lambda x: 1 / 0, [0.0, 0.0], on_error="fail")
    with pytest.raises(OracleError, match="Expected a value at the start, got none: Expected a value within 0.2 s"):
        minimize(lambda x: time.sleep(60), [0.0, 0.0], timeout=0.2)


def test_failures_are_counted_and_explained() -> None:
    def fragile(x: Array) -> float:
        if x[0] > 0.0:
            raise ValueError("the mesh is folded")
        return float((x[0] + 1e-4) ** 2 + x[1] ** 2)

    with pytest.raises(ValueError, match="folded"):
        minimize(fragile, [0.0, 1.0], BOUNDS, method="ZOSPLM", maxfev=300)
    result = minimize(fragile, [0.0, 1.0], BOUNDS, method="ZOSPLM", maxfev=300, on_error="fail")
    assert result.success and result.failures > 0 and result.fun < 0.5
    assert f"returned {result.failures} non-finite values. The first failure, at x = [" in result.message
    assert "ValueError: the mesh is folded" in result.message


def test_a_run_that_froze_still_answers_with_what_it_found() -> None:
    def cliff(x: Array) -> float:
        return np.nan if x[0] > 1.0 else -float(x[0])

    result = minimize(cliff, [0.0], [(-9, 9)], method=ZOCEG(primal_step=0.3, dual_step=0.1, dual_cap=1.0), maxfev=200)
    assert result.status == "failed" and "Expected finite values from the black box" in result.message
    assert result.success and 0.0 < result.x[0] <= 1.0 and result.fun == -result.x[0]


@pytest.mark.parametrize("kind", ["threads", "map", "processes"])
def test_workers_give_what_a_single_thread_gives(kind: str) -> None:
    expected = minimize(f_at, [0.0, 0.0], BOUNDS, LINE, "ZOSPLM", 300)
    with ThreadPoolExecutor(2) as pool:
        workers = {"threads": pool, "map": pool.map, "processes": 2}[kind]
        result = minimize(f_at, [0.0, 0.0], BOUNDS, LINE, "ZOSPLM", 300, workers=workers)
    np.testing.assert_array_equal(result.x, expected.x)
    assert (result.fun, result.nfev, result.message) == (expected.fun, expected.nfev, expected.message)


# --- noise and the choice of a method ---------------------------------------------------------------------------------


class Noisy:
    """f_at with normal noise of its own."""

    def __init__(self, scale: float) -> None:
        self.generator, self.scale = np.random.default_rng(0), scale

    def __call__(self, x: Array) -> float:
        return f_at(x) + self.scale * self.generator.standard_normal()


def test_noise_is_found_and_the_answer_is_a_mean_not_the_luckiest_value() -> None:
    diary = Diary(Noisy(0.5))
    result = minimize(diary, [0.0, 0.0], BOUNDS, method="ZOSPLM", maxfev=3000)
    assert result.nfev == len(diary.points) <= 3000
    assert "Values are noisy: x is " in result.message and "means of 8 calls" in result.message
    assert abs(result.fun - f_at(result.x)) < 4 * 0.5 / np.sqrt(8)
    assert f_at(result.x) < 1.0
    assert "Values are noisy" not in minimize(f_at, [0.0, 0.0], BOUNDS, method="ZOSPLM", maxfev=300).message
    declared = minimize(f_at, [0.0, 0.0], BOUNDS, method="ZOSPLM", maxfev=300, options={"noise": "independent"})
    assert "Values are noisy" in declared.message


def test_noise_in_constraints_is_found_too() -> None:
    generator = np.random.default_rng(1)
    result = minimize(
        f_at, [0.0, 0.0], BOUNDS, lambda x: x.sum() - 2.0 + 0.05 * generator.standard_normal(), "ZOSPLM", 3000
    )
    assert "Values are noisy" in result.message and abs(result.x.sum() - 2.0) < 0.2


def test_the_choice_is_made_and_said() -> None:
    result = minimize(f_at, [0.0, 0.0], BOUNDS, LINE, maxfev=600)
    assert result.success and result.fun == pytest.approx(0.5, abs=0.01)
    assert "was chosen for 2 variables, 1 constraint, deterministic values and 577 calls: " in result.message
    assert result.message.startswith(named(result.method).title)
    noisy = minimize(Noisy(0.1), [0.0, 0.0], BOUNDS, maxfev=2000)
    assert "ZO-SPLM was chosen for 2 variables, 0 constraints, noisy values and 1981 calls" in noisy.message


@pytest.mark.parametrize("noise", ["deterministic", "independent"])
@pytest.mark.parametrize("n", [1, 10, 51, 2000])
@pytest.mark.parametrize("calls", [40, 100_000_000])
def test_every_row_of_the_table_names_what_it_says(noise: str, n: int, calls: int) -> None:
    problem = BlackBox(lambda x: 0.0, bounds=[(0, 1)] * n, m=0, noise=noise)
    solver, reason = choose(problem, calls)
    row = next(row for row in TABLE if row.applies(Situation(n, 0, noise != "deterministic", calls / (n + 1))))
    own = [name for name in row.methods if hasattr(zoviz.solvers, name)] or list(TABLE[-1].methods)
    assert reason.startswith(f"{solver.title} was chosen for {n} variable") and reason.endswith(".")
    assert solver.accepts(problem) is None
    assert type(solver).__name__ in (name for row in TABLE for name in row.methods) and own


def test_the_last_row_of_the_table_applies_to_everything_and_is_at_hand() -> None:
    last = TABLE[-1]
    for situation in (Situation(1, 0, False, 0.1), Situation(10**6, 10**3, True, 1e9)):
        assert last.applies(situation)
    assert all(hasattr(zoviz.solvers, name) for name in last.methods)


def test_a_method_that_does_not_accept_the_problem_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = BlackBox(lambda x: 0.0, bounds=[(0, 1)] * 60, m=0)
    assert type(choose(problem, 100)[0]) is ZOBCEG
    problem.domain = Ball(np.zeros(60), 1.0)
    assert type(choose(problem, 100)[0]) is not ZOBCEG


@pytest.mark.parametrize("name", ["zoviz.minimize", "zoviz.runs.ask_tell"])
def test_the_examples_in_the_docstrings_are_true(name: str) -> None:
    failed, attempted = doctest.testmod(importlib.import_module(name))
    assert not failed and attempted >= 3


def test_importing_zoviz_loads_neither_panel_nor_scipy() -> None:
    script = "import sys, zoviz; print(zoviz.minimize.__name__, sorted({'panel', 'bokeh', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "minimize []"
