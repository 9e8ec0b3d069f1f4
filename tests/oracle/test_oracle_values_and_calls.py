"""The oracle counts points, gives the problem's values, and checks their shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from helpers.quadratic_bowl import Bowl, made, points
from zoviz.core.errors import BudgetSpent, OracleError
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import DerivedOracle


class Unconstrained(Bowl):
    __abstract = True

    m = 0

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        return Evaluation(np.square(x).sum(axis=-1), np.empty((*x.shape[:-1], 0)))


def test_calls_are_counted_per_point_and_replica() -> None:
    oracle = made(Bowl())
    assert oracle.calls.tolist() == [0, 0, 0] and oracle.account.spent == 0
    oracle(points(3, 3))
    assert oracle.calls.tolist() == [1, 1, 1]
    oracle(points(3, 7, 3))
    assert oracle.calls.tolist() == [8, 8, 8] and oracle.account.spent == 8


def test_values_are_the_problems_own_without_noise() -> None:
    for problem in (Bowl(), Bowl(noise="independent", noise_scale=0.0), Bowl(noise="common", noise_scale=0.0)):
        x = points(3, 4, 3)
        got, exact = made(problem)(x), Bowl().evaluate(x)
        np.testing.assert_array_equal(got.f, exact.f)
        np.testing.assert_array_equal(got.h, exact.h)


def test_shapes() -> None:
    for noise in ("deterministic", "common", "independent"):
        oracle = made(Bowl(noise=noise))
        single, batch = oracle(points(3, 3)), oracle(points(3, 5, 3))
        assert single.f.shape == (3,) and single.h.shape == (3, 2)
        assert batch.f.shape == (3, 5) and batch.h.shape == (3, 5, 2)


def test_the_budget_is_checked_before_evaluating() -> None:
    problem = Bowl()
    oracle = made(problem, budgets={"calls": 5})
    oracle(points(3, 4, 3))
    count, best = len(problem.points), oracle.best.f.copy()
    with pytest.raises(BudgetSpent):
        oracle(points(3, 2, 3))
    assert len(problem.points) == count and oracle.calls.tolist() == [4, 4, 4] and oracle.account.spent == 4
    np.testing.assert_array_equal(oracle.best.f, best)
    oracle(points(3, 3))
    with pytest.raises(BudgetSpent):
        oracle(points(3, 3))
    assert oracle.calls.tolist() == [5, 5, 5]


class Wrong(Bowl):
    __abstract = True

    def __init__(self, answer: Callable[[Array], tuple[Array, Array]]) -> None:
        super().__init__()
        self.answer = answer

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        return Evaluation(*self.answer(x))


def test_wrong_shapes_get_a_sentence() -> None:
    f_column = made(Wrong(lambda x: (np.zeros((*x.shape[:-1], 1)), np.zeros((*x.shape[:-1], 2)))))
    with pytest.raises(OracleError) as caught:
        f_column(points(3, 3))
    assert str(caught.value) == (
        "Expected f of shape (3,) for x of shape (3, 3), got (3, 1): return one number per point."
    )
    flat = made(Wrong(lambda x: (np.zeros(x.shape[:-1]), np.zeros(x.shape[:-1]))))
    with pytest.raises(OracleError) as caught:
        flat(points(3, 4, 3))
    assert str(caught.value) == (
        "Expected h of shape (3, 4, 2) for x of shape (3, 4, 3), got (3, 4): return one column per constraint."
    )
    assert flat.calls.tolist() == [0, 0, 0]


def test_wrong_shapes_get_a_sentence_with_frozen_replicas_too() -> None:
    oracle = made(Wrong(lambda x: (np.zeros(x.shape[:-1]), np.zeros((*x.shape[:-1], 5)))))
    oracle.freeze(np.array([True, False, False]))
    with pytest.raises(OracleError, match=r"Expected h of shape \(2, 2\)"):
        oracle(points(3, 3))


def test_composed_shares_counts_failures_and_budget() -> None:
    oracle = made(Bowl(), budgets={"calls": 3})
    doubled = DerivedOracle(oracle, lambda x: Evaluation(2.0 * oracle(x).f, np.zeros((*x.shape[:-1], 2))))
    x = points(3, 2, 3)
    np.testing.assert_array_equal(doubled(x).f, 2.0 * Bowl().evaluate(x).f)
    assert oracle.calls.tolist() == [2, 2, 2] and doubled.contract == "deterministic"
    doubled.fail(np.array([True, False, False]))
    assert oracle.failed.tolist() == [True, False, False]
    with pytest.raises(BudgetSpent):
        doubled(x)
