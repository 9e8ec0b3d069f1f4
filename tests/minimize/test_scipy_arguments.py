"""``minimize`` in SciPy's place: its documented arguments one by one, its own examples, and as a method of its."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import numpy as np
import pytest
from scipy import optimize
from scipy.optimize import Bounds, LinearConstraint, NonlinearConstraint, rosen, rosen_der, rosen_hess

import zoviz
from zoviz.core.types import Array

START = [1.3, 0.7, 0.8, 1.9, 1.2]


def tutorial(x: Array) -> float:
    """The objective of the last example of SciPy's ``minimize``; its minimum is at (1.4, 1.7)."""
    return float((x[0] - 1) ** 2 + (x[1] - 2.5) ** 2)


ROWS = (
    {"type": "ineq", "fun": lambda x: x[0] - 2 * x[1] + 2},
    {"type": "ineq", "fun": lambda x: -x[0] - 2 * x[1] + 6},
    {"type": "ineq", "fun": lambda x: -x[0] + 2 * x[1] + 2},
)
BOX = ((0, None), (0, None))


def test_the_signature_begins_as_scipys_does() -> None:
    theirs = list(inspect.signature(optimize.minimize).parameters)
    ours = list(inspect.signature(zoviz.minimize).parameters)
    assert ours[: len(theirs)] == theirs


def test_scipys_example_with_constraints_needs_another_import_alone() -> None:
    theirs = optimize.minimize(tutorial, (2, 0), method="SLSQP", bounds=BOX, constraints=ROWS)
    ours = zoviz.minimize(tutorial, (2, 0), method="SLSQP", bounds=BOX, constraints=ROWS)
    auto = zoviz.minimize(tutorial, (2, 0), bounds=BOX, constraints=ROWS)
    for one in (ours, auto):
        np.testing.assert_allclose(one.x, theirs.x, atol=1e-5)
        assert one.fun == pytest.approx(theirs.fun, abs=2e-6)


def test_scipys_method_argument_takes_it_and_gives_the_same_points() -> None:
    options = {"maxfev": 120, "seed": 3}
    seen: list[list[tuple[float, ...]]] = [[], []]

    def recorded(run: int, x: Array) -> float:
        seen[run].append(tuple(x))
        return tutorial(x)

    method: Any = zoviz.scipy_method
    theirs = optimize.minimize(
        lambda x: recorded(0, x), (2, 0), method=method, bounds=BOX, constraints=ROWS, options=options
    )
    ours = zoviz.minimize(lambda x: recorded(1, x), (2, 0), bounds=BOX, constraints=ROWS, options=options)
    assert seen[0] == seen[1] and len(seen[0]) > 10
    np.testing.assert_array_equal(theirs.x, ours.x)
    np.testing.assert_allclose(theirs.x, [1.4, 1.7], atol=1e-4)


def test_the_tutorials_constrained_rosenbrock_runs_as_it_is() -> None:
    bounds = Bounds([0, -0.5], [1.0, 2.0])
    linear = LinearConstraint([[1, 2], [2, 1]], [-np.inf, 1], [1, 1])

    def curved(x: Array) -> list[float]:
        return [x[0] ** 2 + x[1], x[0] ** 2 - x[1]]

    nonlinear = NonlinearConstraint(
        curved, -np.inf, 1, jac=lambda x: [[2 * x[0], 1], [2 * x[0], -1]], hess=optimize.BFGS()
    )
    with pytest.warns(RuntimeWarning, match=r"does not use (gradient|Hessian) information") as warned:
        ours = zoviz.minimize(
            rosen,
            np.array([0.5, 0]),
            jac=rosen_der,
            hess=rosen_hess,
            constraints=[linear, nonlinear],
            bounds=bounds,
        )
    assert len(warned) == 2
    np.testing.assert_allclose(ours.x, [0.41494531, 0.17010937], atol=1e-4)


def test_args_and_a_value_that_is_no_tuple() -> None:
    def shifted(x: Array, a: float, b: float = 0.0) -> float:
        return float(np.square(x - a - b).sum())

    both = zoviz.minimize(shifted, [0.0, 0.0], (1.0, 1.0), options={"maxfev": 60})
    one = zoviz.minimize(shifted, [0.0, 0.0], args=2.0, options={"maxfev": 60})
    np.testing.assert_allclose([both.x, one.x], 2.0, atol=1e-4)


def test_a_function_that_returns_its_gradient_too() -> None:
    with pytest.warns(RuntimeWarning, match=r"gradient information \(jac\)"):
        result = zoviz.minimize(lambda x: (rosen(x), rosen_der(x)), [0.5, 0.5], jac=True, options={"maxfev": 400})
    np.testing.assert_allclose(result.x, 1.0, atol=1e-3)


@pytest.mark.parametrize("jac", [None, False, "2-point", "3-point", "cs"])
def test_differences_by_name_are_no_derivatives(jac: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert zoviz.minimize(tutorial, [2.0, 0.0], jac=jac, options={"maxfev": 40}).calls == 40


def test_hessian_products_are_passed_over() -> None:
    with pytest.warns(RuntimeWarning, match=r"Hessian-vector product information \(hessp\)"):
        zoviz.minimize(tutorial, [2.0, 0.0], hessp=lambda x, p: p, options={"maxfev": 5})


def test_options_that_are_scipys_ours_and_nobodys() -> None:
    few = zoviz.minimize(tutorial, [2.0, 0.0], method="ZOSPLM", options={"maxiter": 4, "maxfev": 900})
    assert few.nit == 4
    with pytest.warns(optimize.OptimizeWarning, match="Unknown solver options: gtol, primal_stop"):
        other = zoviz.minimize(
            tutorial,
            [2.0, 0.0],
            method="ZOSPLM",
            options={"gtol": 1e-3, "primal_stop": 1, "primal_step": 0.125, "maxiter": 4},
        )
    assert other.parameters["primal_step"] == 0.125
    with pytest.warns(optimize.OptimizeWarning, match="did you mean primal_step"):
        zoviz.minimize(tutorial, [2.0, 0.0], method="ZOSPLM", options={"primal_stop": 1, "maxiter": 1})


def test_disp_prints_how_it_ended(capsys: pytest.CaptureFixture[str]) -> None:
    result = zoviz.minimize(tutorial, [2.0, 0.0], options={"disp": True, "maxfev": 40})
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == result.message and [line.split(":")[0].strip() for line in lines[1:]] == [
        "fun",
        "maxcv",
        "calls",
        "iterations",
    ]


def test_every_form_of_callback_is_scipys() -> None:
    seen: list[Any] = []
    zoviz.minimize(tutorial, [2.0, 0.0], callback=lambda x: seen.append(x), options={"maxfev": 40})

    def report(intermediate_result: Any) -> None:
        seen.append(intermediate_result.fun)

    zoviz.minimize(tutorial, [2.0, 0.0], None or (), None, callback=report, options={"maxfev": 40})
    kinds = {type(one) for one in seen}
    assert kinds == {np.ndarray, float}


def test_from_scipy_keywords_of_ours_come_as_options() -> None:
    method: Any = zoviz.scipy_method
    result = optimize.minimize(
        lambda x: (float(x @ x), [1.0 - x[0]]),
        [2.0, 1.0],
        method=method,
        tol=1e-4,
        options={"method": "ZOSQP", "joint": True, "max_calls": 90},
    )
    np.testing.assert_allclose(result.x, [1.0, 0.0], atol=1e-3)
    assert result.method == "ZOSQP"
