"""The front door: arguments that make no sense, functions that fail, and workers."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from helpers.black_box import f_at
from helpers.minimizing import BOUNDS, LINE
from zoviz import minimize
from zoviz.core.errors import OracleError
from zoviz.core.types import Array
from zoviz.runs.engine.stopping import Ending
from zoviz.solvers import ZOCEG


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"fun": 3}, "Expected a function or a problem as fun, got 3"),
        ({"x0": "middle"}, "Expected x0 as n numbers, got 'middle'"),
        ({"x0": []}, r"Expected x0 as n numbers, got \[\]"),
        ({"x0": None}, "Expected bounds or x0"),
        ({"x0": [0.0, 9.0], "bounds": BOUNDS}, r"Expected x0 inside the bounds, got x0\[1\] = 9.0 outside"),
        ({"bounds": [(0, -1), (0, 1)]}, "Expected lower <= upper for each variable, got lower.*did you swap"),
        (
            {"bounds": optimize.Bounds([0.0] * 3, [1.0] * 3)},
            r"Expected bounds whose lb and ub are.* x0 of shape \(2,\)",
        ),
        ({"bounds": optimize.Bounds(1.0, 0.0)}, "Expected lower <= upper for each variable"),
        ({"method": "ZOSPLN"}, "Expected the name of a solver, got 'ZOSPLN': did you mean ZOSPLM"),
        ({"method": "no such thing"}, "got 'no such thing': the solvers are "),
        ({"method": 3}, "Expected the name of a solver, its class or an instance, got 3"),
        ({"max_calls": 0}, "Expected max_calls a whole number from 1, got 0"),
        ({"max_calls": 1e4}, "Expected max_calls a whole number from 1, got 10000.0"),
        ({"max_calls": 3, "replicas": 8}, "Expected max_calls to leave a call for each of 8 replicas, got 3"),
        ({"seed": -1}, "Expected seed a whole number from 0, got -1"),
        ({"seed": np.random.default_rng(0)}, "Expected seed a whole number from 0, got Generator"),
        ({"callback": 3}, "Expected a function as callback, got 3"),
        ({"options": {"maxfev": 5}, "max_calls": 5}, r"Expected max_calls= or options\['maxfev'\], got both"),
        ({"options": {"estimator.batch_size": -1}}, "batch_size"),
        ({"replicas": 0}, "Expected replicas a whole number from 1, got 0"),
        ({"noise": "loud"}, "noise"),
        ({"joint": True, "constraints": f_at}, "Expected the constraints from fun with joint=True, got others too"),
        ({"workers": "two"}, "Expected workers a number, an executor or a map-like callable, got 'two'"),
        ({"keep": 3}, 'Expected keep as "while searching" or names of constraints, got 3'),
        ({"options": 3}, 'Expected options such as {"maxiter": 100}, got 3'),
        ({"targets": 3}, "'targets' value must be an instance of dict, not 3"),
        ({"tol": -1.0}, "'tol' must be at least 0, not -1.0"),
        ({"stop": "frist"}, "'stop' does not accept 'frist'; valid options include: '.confident, budget, first"),
        ({"seconds": "1 h"}, "'seconds' only takes numeric values"),
        ({"tolerance": "tight"}, "'tolerance' only takes numeric values"),
        ({"options": {"maxiter": 1.5}}, "'iterations' must be an integer"),
        ({"targets": {"gap": "small"}}, "Expected the target 'gap' a positive number or several, got 'small'"),
    ],
)
def test_arguments_that_make_no_sense_are_refused_before_a_call(arguments: dict[str, Any], sentence: str) -> None:
    points: list[Array] = []

    def told(x: Array) -> float:
        points.append(x)
        return f_at(x)

    with pytest.raises(ValueError, match=sentence):
        minimize(**{"fun": told, "x0": [0.0, 0.0], "method": "ZOSPLM"} | arguments)
    assert not points


# --- functions that fail ----------------------------------------------------------------------------------------------


def test_a_start_without_a_value_is_said() -> None:
    with pytest.raises(OracleError, match=r"Expected finite values at the start, got f = nan and h = \[\]"):
        minimize(lambda x: np.nan, [0.0, 0.0])
    with pytest.raises(ZeroDivisionError):
        minimize(lambda x: 1 / 0, [0.0, 0.0])
    with pytest.raises(OracleError, match="Expected a value at the start, got none: ZeroDivisionError: division by"):
        minimize(lambda x: 1 / 0, [0.0, 0.0], on_error="fail")
    with pytest.raises(OracleError, match="at the start, got none: Expected a value within 0.2 s"):
        minimize(lambda x: time.sleep(60), [0.0, 0.0], timeout=0.2, max_calls=3)


def test_failures_are_counted_and_explained() -> None:
    def fragile(x: Array) -> float:
        if x[0] > 0.0:
            raise ValueError("the mesh is folded")
        return float((x[0] + 1e-4) ** 2 + x[1] ** 2)

    with pytest.raises(ValueError, match="folded"):
        minimize(fragile, [0.0, 1.0], bounds=BOUNDS, method="ZOSPLM", max_calls=300)
    result = minimize(fragile, [0.0, 1.0], bounds=BOUNDS, method="ZOSPLM", max_calls=300, on_error="fail")
    assert result.feasible and result.failures > 0 and result.fun < 0.5
    assert f"returned {result.failures} non-finite values. The first failure, at x = [" in result.message
    assert "ValueError: the mesh is folded" in result.message


def test_a_run_that_froze_still_answers_with_what_it_found() -> None:
    def cliff(x: Array) -> float:
        return np.nan if x[0] > 1.0 else -float(x[0])

    result = minimize(
        cliff, [0.0], bounds=[(-9, 9)], method=ZOCEG(primal_step=0.3, dual_step=0.1, dual_cap=1.0), max_calls=200
    )
    assert result.status is Ending.FAILED and "Expected finite values from the black box" in result.message
    assert result.feasible and 0.0 < result.x[0] <= 1.0 and result.fun == -result.x[0]


@pytest.mark.parametrize("kind", ["threads", "map", "processes"])
def test_workers_give_what_a_single_thread_gives(kind: str) -> None:
    expected = minimize(f_at, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, method="ZOSPLM", max_calls=300)
    with ThreadPoolExecutor(2) as pool:
        workers = {"threads": pool, "map": pool.map, "processes": 2}[kind]
        result = minimize(
            f_at, [0.0, 0.0], bounds=BOUNDS, constraints=LINE, method="ZOSPLM", max_calls=300, workers=workers
        )
    np.testing.assert_array_equal(result.x, expected.x)
    assert (result.fun, result.calls, result.message) == (expected.fun, expected.calls, expected.message)
