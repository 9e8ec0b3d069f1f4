"""The front door: SciPy's forms of constraints, SciPy's answers, and what makes no sense."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import optimize
from scipy.sparse import csr_array

from helpers.black_box import f_at
from helpers.minimizing import BOUNDS, LINE
from zoviz import AskTell, minimize
from zoviz.core.errors import OracleError
from zoviz.evaluation.scipy_constraints import stacked
from zoviz.problems import BlackBox

PARABOLA = optimize.NonlinearConstraint(lambda x: x[0] ** 2 - x[1], -np.inf, 0.0)
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


@pytest.mark.parametrize(
    "form, bounds",
    [*((form, BOUNDS) for form in FORMS), *((form, optimize.Bounds(-4.0, 4.0)) for form in ("dicts", "none"))],
)
def test_scipys_forms_and_scipys_answers(form: str, bounds: Any) -> None:
    expected = optimize.minimize(f_at, [0.5, 0.6], bounds=bounds, constraints=FORMS[form], method="SLSQP")
    result = minimize(f_at, [0.5, 0.6], bounds=bounds, constraints=FORMS[form], method="ZOSQP", max_calls=150)
    assert expected.success and result.feasible and (result.h <= result.tolerance).all()
    assert result.fun == pytest.approx(f_at(result.x))
    assert -1e-5 <= result.fun - expected.fun <= 1e-4
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
    result = minimize(f_at, [0.5, 0.6], bounds=None, constraints=[equality, inside], method="ZOCEG", max_calls=4000)
    assert result.h.shape == result.multipliers.shape == (3,)
    assert result.h[0] == pytest.approx(-result.h[1], abs=1e-12) and result.maxcv < 1e-3
    feasible = bool((result.h <= result.tolerance).all())
    assert result.feasible == feasible == ("No feasible point was found" not in result.message)
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


# --- iterators, tables, arguments and callables in every form ---------------------------------------------------------

PAIRS = [(-4.0, 4.0), (-4.0, 4.0)]
ONCE: dict[str, Callable[[], Any]] = {
    "zip": lambda: zip([-4.0, -4.0], [4.0, 4.0], strict=True),
    "generator": lambda: (pair for pair in PAIRS),
    "iterator": lambda: iter(PAIRS),
    "map": lambda: map(tuple, PAIRS),
    "view of a dict": lambda: {"a": (-4.0, 4.0), "b": (-4.0, 4.0)}.values(),
    "array": lambda: np.array(PAIRS),
    "table": lambda: pd.DataFrame({"lo": [-4.0, -4.0], "hi": [4.0, 4.0]}, index=["a", "b"]),
}


@pytest.mark.parametrize("form", ONCE)
def test_bounds_in_any_iterable_are_the_same_box(form: str) -> None:
    result = minimize(f_at, [0.5, 0.6], bounds=ONCE[form](), method="COBYLA", max_calls=60)
    expected = minimize(f_at, [0.5, 0.6], bounds=PAIRS, method="COBYLA", max_calls=60)
    np.testing.assert_array_equal(result.x, expected.x)
    problem = BlackBox(f_at, bounds=ONCE[form](), x0=iter([0.5, 0.6]))
    for one in (problem, problem.clone()):
        assert one.domain.lower.tolist() == [-4.0, -4.0] and one.start.tolist() == [0.5, 0.6]
    session = AskTell(solver="ZOCEG", bounds=ONCE[form](), x0={"a": 0.5, "b": 0.6}.values(), calls=10)
    assert session.ask().x.shape[1] == 2


@pytest.mark.parametrize(
    "x0",
    [(0.5, 0.6), iter([0.5, 0.6]), pd.Series([0.5, 0.6]), {"a": 0.5, "b": 0.6}.values()],
    ids=lambda x0: type(x0).__name__,
)
def test_a_start_in_any_iterable_is_the_same_start(x0: Any) -> None:
    first: list[Any] = []
    minimize(lambda x: (first.append(x), f_at(x))[1], x0, bounds=PAIRS, method="COBYLA", max_calls=30)
    assert first[0].tolist() == [0.5, 0.6]


@pytest.mark.parametrize(
    "args",
    [np.array([1.0, 2.0]), pd.Series([1.0, 2.0]), [1.0, 2.0], {"a": 1.0}, 0, "text", None],
    ids=lambda args: type(args).__name__,
)
def test_arguments_that_are_no_tuple_are_one_argument_as_in_scipy(args: Any) -> None:
    ours: list[Any] = []
    theirs: list[Any] = []

    def fun(x: Any, *more: Any, seen: list[Any]) -> float:
        seen.append(more)
        return f_at(x)

    minimize(functools.partial(fun, seen=ours), [0.5, 0.6], args=args, bounds=BOUNDS, method="COBYLA", max_calls=20)
    optimize.minimize(
        functools.partial(fun, seen=theirs), [0.5, 0.6], args=args, method="Nelder-Mead", options={"maxfev": 5}
    )
    assert len(ours[0]) == len(theirs[0]) == 1 and ours[0][0] is args and theirs[0][0] is args


@pytest.mark.parametrize(
    ("args", "expected"),
    [(0, (0,)), (2.5, (2.5,)), ((), ()), ([3.0, 4.0], (3.0, 4.0)), (np.array([3.0, 4.0]), (3.0, 4.0)), ("ab", ("ab",))],
    ids=str,
)
def test_the_arguments_of_a_dict_reach_its_function(args: Any, expected: tuple[Any, ...]) -> None:
    seen: list[Any] = []
    rows = stacked({"type": "ineq", "fun": lambda x, *more: (seen.append(more), x[0])[1], "args": args})
    assert rows is not None and rows(np.array([2.0, 3.0])).tolist() == [-2.0] and seen == [expected]


@pytest.mark.parametrize("form", [form for form in FORMS if form != "none"])
def test_a_black_box_takes_scipys_forms_of_constraints(form: str) -> None:
    x = np.array([0.5, 0.6])
    rows = stacked(FORMS[form])
    problem = BlackBox(f_at, FORMS[form], bounds=PAIRS)
    assert rows is not None and problem.evaluate(x).h.tolist() == rows(x).tolist()
    assert (
        BlackBox(f_at, iter(np.atleast_1d(FORMS[form]).tolist()), bounds=PAIRS).evaluate(x).h.tolist()
        == rows(x).tolist()
    )


def test_scipys_forms_are_about_one_point() -> None:
    with pytest.raises(ValueError, match=r"Expected constraints as functions of points .* with vectorised=True"):
        BlackBox(f_at, LINE, bounds=PAIRS, vectorised=True)
    with pytest.raises(ValueError, match="Expected constraint 1 as a LinearConstraint"):
        BlackBox(f_at, [3], bounds=PAIRS)


@pytest.mark.parametrize("integrality", [1, [0, 1], np.array([True, False])], ids=str)
def test_integer_variables_are_refused_in_a_sentence(integrality: Any) -> None:
    with pytest.raises(ValueError, match="Expected continuous variables, got integrality"):
        minimize(f_at, [0.5, 0.6], bounds=PAIRS, integrality=integrality)
    assert minimize(f_at, [0.5, 0.6], bounds=PAIRS, integrality=[0, 0], max_calls=20).nit > 0


def test_bounds_that_say_keep_feasible_are_kept_as_all_are() -> None:
    result = minimize(square_root, [0.5], bounds=optimize.Bounds(0.0, 1.0, keep_feasible=True), max_calls=60)
    assert result.failures == 0 and result.fun == pytest.approx(0.0, abs=1e-3)


def square_root(x: np.ndarray) -> float:
    return math.sqrt(1.0 - x[0])


DISC = optimize.NonlinearConstraint(lambda x: x @ x, -np.inf, 1.0, keep_feasible=True)
BAND = optimize.LinearConstraint([[1.0, 0.0], [1.0, 1.0]], [-np.inf, -0.5], [0.5, 1.2], keep_feasible=[False, True])


def test_constraints_that_say_keep_feasible_hold_for_every_call() -> None:
    asked = []

    def f(x: np.ndarray) -> float:
        asked.append(x.copy())
        return float(-x[0] - 0.5 * x[1])

    result = minimize(f, [0.1, 0.1], bounds=[(-2, 2)] * 2, constraints=[DISC, BAND], max_calls=200, stop="budget")
    points = np.array(asked)
    sums = points.sum(axis=1)
    assert (np.square(points).sum(axis=1) <= 1.0).all() and (sums >= -0.5).all() and (sums <= 1.2).all()
    assert (points[:, 0] > 0.5).any(), "the first row of the band is not kept"
    assert result.x[0] == pytest.approx(0.5, abs=1e-4) and result.x[1] == pytest.approx(0.7, abs=1e-4)


def test_which_rows_are_kept_follows_from_the_sizes_of_bounds() -> None:
    free = optimize.NonlinearConstraint(lambda x: x, -1.0, [1.0, np.inf])
    problem = BlackBox(f_at, [BAND, DISC, free], bounds=PAIRS, x0=[0.1, 0.1])
    assert problem.m == 3 + 1 + 3
    assert problem.kept_rows.tolist() == [True, False, True, True, False, False, False]
    unsized = optimize.NonlinearConstraint(lambda x: x, -np.inf, 1.0)
    with pytest.raises(ValueError, match="Expected lb or ub as an array in constraint 1, got numbers"):
        assert BlackBox(f_at, [unsized, DISC], bounds=PAIRS, x0=[0.1, 0.1]).kept_rows.size
    both = optimize.NonlinearConstraint(lambda x: x, -np.inf, 1.0, keep_feasible=True)
    assert BlackBox(f_at, [both, DISC], bounds=PAIRS, x0=[0.1, 0.1]).kept_rows.all()
