"""Values as black boxes return them: numbers, missing values in every dress, and what is no number."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest

from zoviz import AskTell, minimize
from zoviz.core.errors import OracleError
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.evaluation.real_numbers import real_numbers
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox
from zoviz.problems.base import Problem

NAN = float("nan")
MISSING: dict[str, Any] = {
    "NaN": NAN,
    "NumPy's masked": np.ma.masked,
    "a masked array": np.ma.array(1.0, mask=True),
    "NaT": np.datetime64("NaT"),
    "a NaT duration": np.timedelta64("NaT"),
    "pandas's NA": pd.NA,
    "pandas's NaT": pd.NaT,
    "a decimal NaN": Decimal("NaN"),
    "a signalling NaN": Decimal("sNaN"),
    "None in an array": np.array(None),
}
PARTLY: dict[str, tuple[Any, list[float]]] = {
    "masked array": (np.ma.array([1.0, 2.0], mask=[False, True]), [1.0, NAN]),
    "masked integers": (np.ma.array([1, 2], mask=[True, False]), [NAN, 2.0]),
    "masked in a list": ([1.0, np.ma.masked], [1.0, NAN]),
    "masked in a tuple of arrays": ((np.ma.array(3.0), np.ma.array(4.0, mask=True)), [3.0, NAN]),
    "None in a list": ([1.0, None], [1.0, NAN]),
    "pandas's integers": (pd.array([1, None], dtype="Int64"), [1.0, NAN]),
    "pandas's objects": (pd.Series([2.0, pd.NA], dtype=object), [2.0, NAN]),
    "NaT among objects": (np.array([1.0, np.timedelta64("NaT")], dtype=object), [1.0, NAN]),
}
NO_NUMBERS: dict[str, Any] = {
    "None": None,
    "a duration": np.timedelta64(5, "s"),
    "a date": np.datetime64("2026-01-01"),
    "Python's duration": datetime.timedelta(seconds=5),
    "Python's date": datetime.datetime(2026, 1, 1),
    "pandas's durations": pd.Series(pd.to_timedelta([1, 2], unit="s")),
    "a date beside NaT": np.array(["2026-01-01", "NaT"], dtype="datetime64[D]"),
    "a duration among objects": np.array([1.0, np.timedelta64(5, "s")], dtype=object),
    "text among objects": np.array(["1.5"], dtype=object),
    "a comparison among objects": np.array([True, 1.0], dtype=object),
    "pandas's comparisons": pd.array([True, None], dtype="boolean"),
    "complex": 1.0 + 2.0j,
    "a record": np.array([(1.0, 2)], dtype=[("a", float), ("b", int)]),
    "a generator": (i for i in (1.0, 2.0)),
    "a set": {1.0},
}


class Unreadable:
    """An object of another library that cannot become an array, as a tensor that requires a gradient."""

    def __array__(self, *arguments: Any, **options: Any) -> Array:
        raise RuntimeError("detach it first")


@pytest.mark.parametrize("case", MISSING)
def test_no_value_in_whatever_dress_is_nan(case: str) -> None:
    assert np.isnan(real_numbers(MISSING[case], "f"))


@pytest.mark.parametrize("case", PARTLY)
def test_what_is_missing_among_numbers_is_nan_there(case: str) -> None:
    value, expected = PARTLY[case]
    np.testing.assert_array_equal(real_numbers(value, "h"), expected)


@pytest.mark.parametrize("case", NO_NUMBERS)
def test_what_is_no_real_number_is_refused_in_a_sentence(case: str) -> None:
    with pytest.raises(OracleError, match="^Expected .*numbers? from f, got "):
        real_numbers(NO_NUMBERS[case], "f")


def test_an_object_that_cannot_become_an_array_is_refused_with_its_reason() -> None:
    with pytest.raises(OracleError, match=r"Expected numbers from f, got .*\(Unreadable\): detach it first; return a"):
        real_numbers(Unreadable(), "f")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (10**400, [np.inf]),
        ([-(10**400), 1], [-np.inf, 1.0]),
        (Fraction(10**400, 3), [np.inf]),
        (Decimal("-1e400"), [-np.inf]),
        (np.longdouble("1e300") * np.longdouble("1e300"), [np.inf]),
        (Fraction(1, 4), [0.25]),
        (np.float32(0.5), [0.5]),
        (np.uint8(3), [3.0]),
    ],
    ids=str,
)
def test_a_number_beyond_floats_is_infinite_and_any_other_is_itself(value: Any, expected: list[float]) -> None:
    np.testing.assert_array_equal(np.atleast_1d(real_numbers(value, "f")), expected)


def _away(missing: Any) -> Callable[[Array], Any]:
    """Return a bowl that has no value around its minimum."""
    return lambda x: missing if abs(x[0] - 0.3) < 0.1 else (x[0] - 0.3) ** 2


@pytest.mark.parametrize("case", ["NumPy's masked", "NaT", "a NaT duration", "pandas's NA", "None in an array"])
def test_minimize_never_returns_a_point_without_a_value(case: str) -> None:
    result = minimize(_away(MISSING[case]), [0.9], bounds=[(0.0, 1.0)], max_calls=60)
    assert result.failures > 0 and result.fun == (result.x[0] - 0.3) ** 2 and abs(result.x[0] - 0.3) >= 0.1


@pytest.mark.parametrize("case", ["a duration", "a date", "pandas's durations"])
def test_minimize_refuses_what_is_no_number(case: str) -> None:
    with pytest.raises(OracleError, match="Expected numbers from the objective, got "):
        minimize(lambda x: NO_NUMBERS[case], [0.9], bounds=[(0.0, 1.0)], max_calls=60)


def test_missing_constraints_are_failed_calls_too() -> None:
    problem = BlackBox(lambda x: x[0], lambda x: np.ma.array([x[0], 1.0], mask=[False, x[0] > 0.5]), bounds=[(0, 1)])
    value = problem.evaluate(np.array([[0.25], [0.75]]))
    np.testing.assert_array_equal(value.h, [[0.25, 1.0], [0.75, NAN]])


def test_values_of_ask_and_tell_go_by_the_same_rule() -> None:
    session = AskTell(solver="ZOCEG", bounds=[(0, 1)] * 2, x0=[0.5, 0.5], calls=40)
    while not session.done:
        batch = session.ask()
        with pytest.raises(ValueError, match="Expected numbers from f, got .*a date or a duration is no number"):
            session.tell(batch, np.full(len(batch.x), np.timedelta64(5, "s")))
        session.tell(batch, np.ma.array((batch.x**2).sum(axis=1), mask=batch.x[:, 0] > 0.6))
    assert np.isfinite(session.result.best_fun).all()


class Masked(Problem):
    """A problem of one's own whose values are masked arrays, integers and lists."""

    analytic = False

    def __init__(self, values: Callable[[Array], tuple[Any, Any]]) -> None:
        super().__init__()
        self._values, self.domain = values, BlackBox(abs, bounds=[(0, 1)] * 2).domain

    @property
    def m(self) -> int:
        return 1

    def clone(self) -> Masked:
        return Masked(self._values)

    def evaluate(self, x: Array, xi: object = None) -> Evaluation:
        return Evaluation(*self._values(x))


@pytest.mark.parametrize(
    "values",
    [
        lambda x: (np.ma.array((x**2).sum(-1), mask=x[..., 0] < 0.2), x[..., :1] - 2.0),
        lambda x: (np.where(x[..., 0] < 0.2, None, (x**2).sum(-1)), x[..., :1] - 2.0),
    ],
    ids=["masked", "objects"],
)
def test_values_of_a_problem_class_go_by_the_same_rule(values: Callable[[Array], tuple[Any, Any]]) -> None:
    points = np.array([[[0.1, 0.5], [0.6, 0.5]]])
    oracle = Oracle(Masked(values), Streams(0, 1))
    value = oracle(points)
    np.testing.assert_allclose(value.f, [[NAN, 0.61]])
    assert oracle.account.failures.tolist() == [1] and value.f.dtype == float
