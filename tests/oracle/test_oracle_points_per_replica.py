"""An oracle asked for different numbers of points per replica: charges, budgets, failures, noise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.errors import BudgetSpent
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP, Problem

WANTED = np.array([[True, True, True], [True, False, False], [False, False, False]])
NOISES = pytest.mark.parametrize("noise", ["deterministic", "common", "independent"])


def problem(noise: str = "deterministic") -> Problem:
    return NonconvexQCQP(n=4, noise=noise, noise_scale=0.1)


def points() -> Array:
    return np.random.default_rng(0).standard_normal((3, 3, 4))


@NOISES
def test_only_wanted_points_are_evaluated_and_charged(noise: str) -> None:
    some, every = (Oracle(problem(noise), Streams(0, 3)) for _ in range(2))
    value, whole = some(points(), WANTED), every(points())
    np.testing.assert_allclose(value.f[WANTED], whole.f[WANTED], rtol=1e-12)
    np.testing.assert_allclose(value.h[WANTED], whole.h[WANTED], rtol=1e-12)
    assert np.isnan(value.f[~WANTED]).all() and np.isnan(value.h[~WANTED]).all()
    assert some.calls.tolist() == [3, 1, 0] and some.account.spent == 3
    assert some.account.failures.tolist() == [0, 0, 0] and some.active.all()
    # Who asked for less has drawn as much noise: what follows is the same.
    np.testing.assert_array_equal(some(points()).f, every(points()).f)


def test_the_budget_is_each_replicas_own() -> None:
    oracle = Oracle(problem(), Streams(0, 3), budgets={"calls": 4})
    oracle(points(), WANTED)
    assert oracle.affords(np.array([2, 3, 4])).tolist() == [False, True, True]
    assert oracle.remaining.tolist() == [1.0, 3.0, 4.0]
    with pytest.raises(BudgetSpent):
        oracle(points(), WANTED)
    assert oracle.calls.tolist() == [3, 1, 0]
    oracle(points(), ~WANTED & [[False], [True], [True]])
    assert oracle.calls.tolist() == [3, 3, 3] and oracle.account.spent == 3
    oracle(points()[:, 0])
    with pytest.raises(BudgetSpent):
        oracle(points()[:, 0])


def test_the_best_point_and_failures_are_of_wanted_points() -> None:
    class Holes(NonconvexQCQP):
        __abstract = True

        def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
            value = super().evaluate(x, xi)
            return Evaluation(np.where(x[..., 0] > 0.5, np.nan, value.f), value.h - 1e3)

    oracle = Oracle(Holes(n=4), Streams(0, 3))
    x = np.zeros((3, 3, 4))
    x[0, 1, 0], x[1, 1, 0], x[0, 2, 1], x[2, 2, 1] = 1.0, 1.0, 0.1, 0.1
    value = oracle(x, WANTED)
    assert oracle.account.failures.tolist() == [1, 0, 0] and oracle.active.all()
    best = int(np.nanargmin(value.f[0]))
    np.testing.assert_array_equal(oracle.best.x[0], x[0, best])
    assert np.isfinite(oracle.best.f[:2]).all() and oracle.best.f[2] == np.inf


def test_a_frozen_replica_is_neither_evaluated_nor_charged() -> None:
    oracle = Oracle(problem(), Streams(0, 3))
    oracle.freeze(np.array([True, False, False]))
    value = oracle(points(), WANTED)
    assert oracle.calls.tolist() == [0, 1, 0] and np.isnan(value.f[0]).all() and np.isfinite(value.f[1, 0])
