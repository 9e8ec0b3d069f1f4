"""Black boxes as they are in practice: they raise, return nonsense, and write into their arguments."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.faulty_black_box import BOX, POINTS, bowl
from zoviz import Run
from zoviz.core.errors import OracleError
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.solvers import ZOCEG, ZOSPLM

# --- what a function returns ------------------------------------------------------------------------------------------

USELESS: dict[str, tuple[Callable[[Array], Any], Any, str]] = {
    "None": (lambda x: None, None, "Expected a number from the objective, got None: does the function end with a"),
    "text": (lambda x: "0.5", None, r"Expected numbers from the objective, got '0.5' \(str\): return a float"),
    "object": (lambda x: object(), None, "Expected numbers from the objective, got <object"),
    "complex": (lambda x: 1.0 + 2.0j, None, r"Expected numbers from the objective, got \(1\+2j\) \(complex\)"),
    "two numbers": (lambda x: x, None, r"Expected f of shape \(\), got \(2,\): return one number per point"),
    "a comparison": (bowl, lambda x: x.sum() <= 1.0, "True_?: a comparison is not a value; return a - b for a <= b"),
    "comparisons": (bowl, lambda x: [x[0] <= 1.0, x[1] > 0.5], "the constraints, got .*: a comparison is not a value"),
    "a pair": (lambda x: (1.0, [x[0] - 1.0]), None, "got a pair: say joint=True where it returns the constraints, too"),
    "no h": (bowl, lambda x: None, "Expected a number from the constraints, got None"),
    "text for h": (bowl, lambda x: ["a", "b"], r"Expected numbers from the constraints, got \['a', 'b'\] \(list\)"),
    "ragged h": (bowl, lambda x: [1.0, [2.0, 3.0]], "Expected numbers from the constraints, got"),
    "wrong length of h": (bowl, lambda x: [1.0, 2.0, 3.0], r"Expected h of shape \(2,\), got \(3,\): return one"),
    "None in a list": (bowl, [bowl, lambda x: None], "Expected a number from constraint 2, got None"),
}


@pytest.mark.parametrize("case", USELESS)
def test_a_useless_value_is_an_error_with_a_sentence_and_its_point(case: str) -> None:
    objective, constraints, sentence = USELESS[case]
    problem = BlackBox(objective, constraints, bounds=BOX, m=0 if constraints is None else 2)
    with pytest.raises(OracleError, match=sentence) as caught:
        problem.evaluate(POINTS)
    assert any("Raised by the black box at x = [0.  0.1]" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("case", USELESS)
def test_with_on_error_fail_it_counts_as_failed(case: str) -> None:
    objective, constraints, sentence = USELESS[case]
    m = 0 if constraints is None else 2
    problem = BlackBox(objective, constraints, bounds=BOX, m=m, on_error="fail")
    value = problem.evaluate(POINTS[None])
    assert value.f.shape == (1, 4) and value.h.shape == (1, 4, m) and np.isnan(value.f).all()
    assert problem.failure_message.startswith("The first failure, at x = [0.  0.1]: Expected ")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "got NoneType"),
        (1.0, "got float"),
        (np.array(1.0), "got ndarray"),
        ((1.0, 2.0, 3.0), "got tuple of length 3"),
        ("ab", "got str"),
        ({"f": 1.0, "h": [2.0]}, "got dict"),
    ],
)
def test_a_joint_function_must_return_a_pair(value: Any, sentence: str) -> None:
    problem = BlackBox(lambda x: value, bounds=BOX, joint=True, m=1)
    with pytest.raises(OracleError, match=rf"Expected \(f, h\) from a joint function, {sentence}: return a pair"):
        problem.evaluate(POINTS)


def test_a_joint_function_without_constraints_may_return_none_for_h() -> None:
    problem = BlackBox(lambda x: (bowl(x), None), bounds=BOX, joint=True, m=0)
    assert problem.evaluate(POINTS).h.shape == (4, 0)


def test_not_a_number_is_a_value_that_failed_not_an_error() -> None:
    problem = BlackBox(lambda x: np.nan if x[0] > 0.5 else np.float32(1.0), lambda x: [np.inf, True], bounds=BOX)
    value = problem.evaluate(POINTS)
    np.testing.assert_array_equal(value.f, [1.0, np.nan, 1.0, 1.0])
    np.testing.assert_array_equal(value.h, [[np.inf, 1.0]] * 4)
    assert problem.failure_message == ""


def test_a_function_that_writes_into_its_argument_does_no_harm() -> None:
    def careless(x: Array) -> float:
        x -= 0.25
        return float(x @ x)

    def vectorised(x: Array) -> Array:
        x -= 0.25
        return (x * x).sum(axis=-1)

    copies = POINTS.copy()
    expected = BlackBox(bowl, lambda x: x[0], bounds=BOX).evaluate(POINTS)
    for problem in (
        BlackBox(careless, lambda x: x[0], bounds=BOX),
        BlackBox(vectorised, lambda x: x[..., 0], bounds=BOX, vectorised=True, m=1),
    ):
        value = problem.evaluate(POINTS)
        np.testing.assert_array_equal(POINTS, copies)
        np.testing.assert_allclose(value.f, expected.f, rtol=1e-12)
        np.testing.assert_array_equal(value.h, expected.h)


# --- what a function raises -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ZeroDivisionError("burnt down"), StopIteration()], ids=repr)
def test_what_it_raises_ends_the_run_or_is_counted(error: BaseException) -> None:
    def fragile(x: Array) -> float:
        if 0.0 < x[0] < 1e-4:  # half of the first directions of a batch
            raise error
        return bowl(x)

    run = Run(problem=BlackBox(fragile, bounds=BOX, x0=[0.0, 0.5]), solver=ZOSPLM(), replicas=1, iterations=30)
    with pytest.raises(type(error)):
        run.run()
    assert run.status == "failed" and run.error is error
    problem = BlackBox(fragile, bounds=BOX, x0=[0.0, 0.5], on_error="fail")
    result = Run(problem=problem, solver=ZOSPLM(), replicas=1, iterations=30).run()
    assert result.status == "finished" and 0 < result.failures[0] < 50 and result.best_fun[0] < 1e-4
    assert "non-finite values. The first failure, at x = [" in result.message
    assert type(error).__name__ in result.message


def test_a_function_cannot_end_the_program() -> None:
    problem = BlackBox(lambda x: sys.exit(3), bounds=BOX)
    with pytest.raises(OracleError, match=r"got SystemExit\(3\) at x = \[0.  0.1\]: a function must not end its"):
        problem.evaluate(POINTS)


def test_all_failures_say_why_in_the_end() -> None:
    def broken(x: Array) -> float:
        raise RuntimeError("no licence for the simulator")

    run = Run(problem=BlackBox(broken, bounds=BOX, on_error="fail"), solver=ZOCEG(), replicas=2, iterations=5)
    with pytest.raises(OracleError, match="got none.*The first failure, at x = .*RuntimeError: no licence"):
        run.run()


def test_with_vectorised_the_batch_fails() -> None:
    def fragile(x: Array) -> Array:
        if (x[..., 0] > 0.5).any():
            raise ValueError("out of range")
        return (x * x).sum(axis=-1)

    problem = BlackBox(fragile, bounds=BOX, vectorised=True, on_error="fail")
    assert np.isnan(problem.evaluate(POINTS).f).all() and np.isfinite(problem.evaluate(POINTS[:1]).f).all()
    assert "at points of shape (4, 2): ValueError: out of range" in problem.failure_message
