"""A first look at an own problem says what its values are like and what a run costs, by a few calls."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.diagnosis.first_look import CALLS, first_look
from zoviz.problems import BlackBox, Executable

BOX = [(0.0, 4.0), (-1.0, 1.0)]


def rows(x: Array) -> Array:
    return x - np.array([3.0, 0.5])


def test_a_start_that_works_and_what_calls_cost() -> None:
    points: list[Array] = []

    def fun(x: Array) -> float:
        points.append(x.copy())
        return float(np.exp(x).sum())

    problem = BlackBox(fun, rows, bounds=BOX, x0=[1.0, 0.0])
    seen = first_look(problem)
    assert len(points) == seen.calls == CALLS and (np.array(points) >= [0.0, -1.0]).all()
    assert (seen.n, seen.m, seen.bounded, seen.noisy, seen.feasible) == (2, 2, 2, False, True)
    said = seen.sentences(300)
    assert said.startswith(
        "2 variables, all bounded; 2 constraints; the start is feasible, f = 3.71828. Values repeat;"
    )
    assert "so 300 calls take about" in said


@pytest.mark.parametrize(
    ("fun", "words"),
    [
        (lambda x: round(float(np.exp(x).sum()), 2), "Values repeat, with about 3 digits"),
        (lambda x: float(np.float32(np.exp(x).sum())), "Values repeat, with about"),
    ],
)
def test_printed_digits_are_seen(fun, words: str) -> None:
    assert words in first_look(BlackBox(fun, bounds=BOX, x0=[1.0, 0.3])).sentences(None)


def test_noise_is_seen_and_its_size() -> None:
    draws = np.random.default_rng(3)
    problem = BlackBox(lambda x: float(x @ x + 0.1 * draws.normal()), rows, bounds=BOX, x0=[1.0, 0.0])
    seen = first_look(problem)
    assert seen.noisy and 0.02 < seen.values[:, 0].std(ddof=1) < 0.3
    assert "Values are noisy, with a standard deviation of about 0." in seen.sentences(None)


def test_a_start_outside_and_one_without_a_value_are_said() -> None:
    outside = first_look(BlackBox(lambda x: float(x @ x), rows, bounds=BOX, x0=[3.5, 0.0]))
    assert not outside.feasible and "the start is not feasible, its largest h is 0.5" in outside.sentences(None)

    def broken(x: Array) -> float:
        raise RuntimeError("no licence")

    seen = first_look(BlackBox(broken, bounds=[(0.0, None)], x0=[3.5], on_error="fail"))
    assert seen.calls == 1 and "the start has no value: RuntimeError: no licence" in seen.sentences(None)
    assert "0 of them bounded on both sides" in seen.sentences(None)
    nothing = first_look(BlackBox(lambda x: np.nan, bounds=BOX, x0=[1.0, 0.0]))
    assert nothing.calls == 1 and "no value: f = nan" in nothing.sentences(None)


def test_a_program_is_tried_too_and_the_problem_is_left_as_it_is() -> None:
    problem = Executable(["sh", "-c", "read x; read y; echo $x; echo -1"], bounds=BOX, x0=[1.0, 0.0], m=1)
    before = problem.param.values()
    seen = first_look(problem)
    assert seen.m == 1 and seen.feasible and seen.seconds > 1e-4 and problem.param.values() == before
