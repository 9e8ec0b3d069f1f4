"""A stage of a run on its own oracle: who is served, up to which limit, what is free, and what is left of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.errors import BudgetSpent, ZovizError
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.oracle import FirstOrder, Oracle
from zoviz.problems import NonconvexQCQP, StochasticQP

ALL = np.ones(3, dtype=bool)
FAR = np.full(3, 100.0)


class Holed(NonconvexQCQP):
    """Values that are not finite where the first variable is above 0.5."""

    __abstract = True

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        value = super().evaluate(x, xi)
        return Evaluation(np.where(x[..., 0] > 0.5, np.nan, value.f), value.h)


def oracle(limit: int | None = None, noise: str = "deterministic") -> Oracle:
    return Oracle(Holed(n=4, noise=noise, noise_scale=0.1), Streams(0, 3), {"calls": limit})


def points(count: int) -> Array:
    return np.random.default_rng(0).uniform(-0.4, 0.4, (3, count, 4))


def test_only_replicas_of_the_stage_that_still_run_are_served() -> None:
    run = oracle()
    run.freeze(np.array([True, False, False]))
    with run.stage(FAR, np.array([True, True, False])) as stage:
        assert run.active.tolist() == [False, True, False] and not run.all_active
        assert run.run_active.tolist() == [False, True, True]
        value = run(points(2))
    assert np.isfinite(value.f[1]).all() and np.isnan(value.f[[0, 2]]).all() and np.isnan(value.h[[0, 2]]).all()
    assert run.calls.tolist() == stage.answered.tolist() == [0, 2, 0]


def test_its_limit_and_the_budget_both_count() -> None:
    run = oracle(limit=10)
    run(points(2))
    with run.stage(np.array([4.0, 7.0, 50.0]), ALL):
        assert run.remaining.tolist() == [2.0, 5.0, 8.0]
        assert run.affords(np.array([2, 6, 8])).tolist() == [True, False, True]
    assert run.remaining.tolist() == [8.0, 8.0, 8.0]
    assert run.affords(np.array([8, 8, 9])).tolist() == [True, True, False]
    endless = oracle()
    with endless.stage(np.array([4.0, 7.0, 50.0]), ALL):
        assert endless.remaining.tolist() == [4.0, 7.0, 50.0] and not endless.affords(np.array([5, 0, 0]))[0]
    assert np.isinf(endless.remaining).all() and endless.affords(np.full(3, 10**6)).all()


def test_who_cannot_pay_for_all_gets_nan_and_the_others_their_values() -> None:
    run, plain = oracle(limit=3), oracle()
    with run.stage(np.array([1.0, 2.0, 9.0]), ALL) as stage:
        value = run(points(2))
        assert np.isnan(value.f).any(axis=1).tolist() == [True, False, False]
        np.testing.assert_array_equal(value.f[1:], plain(points(2)).f[1:])
        assert run.calls.tolist() == stage.answered.tolist() == [0, 2, 2]
        assert run.active.all()  # replicas that ask for less may still be served
        value = run(points(3), np.array([[True, False, False], [False] * 3, [True, True, False]]))
        assert np.isfinite(value.f).sum(axis=1).tolist() == [1, 0, 0]
        assert np.isnan(run(points(1)).f).sum() == 2  # the budget of 3 calls is left to the last alone
        assert run.calls.tolist() == [1, 2, 3]
    with pytest.raises(BudgetSpent):
        run(points(1))
    assert run.calls.tolist() == [1, 2, 3] and run.account.spent == 3


def test_a_base_point_that_cannot_be_paid_ends_the_stage_for_its_replica() -> None:
    run = oracle()
    with run.stage(np.array([0.0, 1.0, 1.0]), ALL) as stage:
        value = run(points(1)[:, 0])
        assert value.f.shape == (3,) and value.h.shape == (3, run.m)
        assert np.isnan(value.f).tolist() == [True, False, False]
        assert stage.failed.tolist() == [True, False, False] and run.active.tolist() == [False, True, True]
    assert run.active.all() and not run.any_failed and run.account.failures.tolist() == [0, 0, 0]


def test_known_points_are_free_and_their_values_are_given() -> None:
    run = oracle(limit=4)
    x = points(3)
    known = Evaluation(np.array([1.0, 2.0, 3.0]), np.tile([[4.0], [5.0], [6.0]], run.m))
    with run.stage(np.array([0.0, 2.0, 9.0]), ALL, (x[:, 1], known)) as stage:
        value = run(x)
        assert value.f[:, 1].tolist() == [1.0, 2.0, 3.0] and (value.h[2, 1] == 6.0).all()
        assert np.isfinite(value.f).sum(axis=1).tolist() == [1, 3, 3]
        assert run.calls.tolist() == [0, 2, 2] and stage.answered.tolist() == [1, 3, 3]
        assert run(x[:, 1]).f.tolist() == [1.0, 2.0, 3.0] and not run.any_failed
        masked = run(x, np.array([[True, False, True]] * 3))
        assert np.isnan(masked.f[:, 1]).all()
        assert run.calls.tolist() == [0, 2, 4] and stage.answered.tolist() == [2, 4, 6]
    np.testing.assert_array_equal(oracle()(x).f[2, [0, 2]], masked.f[2, [0, 2]])


def test_a_failure_ends_the_stage_and_not_the_run() -> None:
    run = oracle()
    bad = points(1)[:, 0]
    bad[0, 0] = 0.9
    with run.stage(FAR, ALL) as stage:
        run(bad)
        assert run.account.failures.tolist() == [1, 0, 0] and run.any_failed and not run.all_active
        run.fail(np.array([False, True, False]))
        assert run.active.tolist() == [False, False, True] and run.failed.tolist() == [True, True, False]
        assert np.isfinite(run(points(1)).f).sum() == 1
    assert stage.failed.tolist() == [True, True, False]
    assert run.active.all() and run.all_active and not run.failed.any() and not run.any_failed
    with run.stage(FAR, ALL) as other:
        assert run.active.all() and not other.failed.any()


def test_the_runs_own_failures_are_as_they_were_before() -> None:
    run = oracle()
    run.fail(np.array([False, True, False]))
    with run.stage(FAR, ALL) as stage:
        assert not run.any_failed and run.active.tolist() == [True, False, True]
        run.fail(ALL)
        assert stage.failed.tolist() == [True, False, True]  # who does not run cannot fail again
    assert run.any_failed and run.failed.tolist() == [False, True, False]
    assert run.active.tolist() == run.run_active.tolist() == [True, False, True] and not run.all_active


def test_an_exception_ends_a_stage_and_another_one_within_is_refused() -> None:
    run = oracle(limit=5)
    with pytest.raises(ZovizError, match="one stage at a time"), run.stage(np.zeros(3), ALL):
        run.fail(ALL)
        with run.stage(FAR, ALL):
            pass
    assert run.active.all() and run.all_active and not run.any_failed and run.remaining.tolist() == [5.0] * 3
    run(points(5))
    with pytest.raises(BudgetSpent):
        run(points(1))


@pytest.mark.parametrize("noise", ["common", "independent"])
def test_noise_best_points_and_counts_are_the_runs(noise: str) -> None:
    inside, outside = oracle(noise=noise), oracle(noise=noise)
    with inside.stage(FAR, ALL):
        values = [inside(points(3)), inside(points(1)[:, 0])]
    for value, expected in zip(values, (outside(points(3)), outside(points(1)[:, 0])), strict=True):
        np.testing.assert_array_equal(value.f, expected.f)
        np.testing.assert_array_equal(value.h, expected.h)
    assert inside.calls.tolist() == outside.calls.tolist() and inside.account.spent == outside.account.spent
    np.testing.assert_array_equal(inside.best.x, outside.best.x)
    inside.resample()
    outside.resample()
    np.testing.assert_array_equal(inside(points(2)).f, outside(points(2)).f)


def test_where_nobody_can_pay_nothing_is_drawn() -> None:
    run, other = oracle(noise="independent"), oracle(noise="independent")
    with run.stage(np.zeros(3), ALL) as stage:
        assert np.isnan(run(points(2)).f).all() and not stage.answered.any()
    np.testing.assert_array_equal(run(points(2)).f, other(points(2)).f)


def test_gradients_heed_the_limit_for_all_or_none() -> None:
    problem = StochasticQP()
    run = Oracle(problem, Streams(0, 3))
    x = np.tile(problem.domain.project(np.zeros(run.n)), (3, 1))
    with run.stage(np.array([9.0, 1.0, 9.0]), ALL) as stage:
        FirstOrder(run).gradient(x)
        with pytest.raises(BudgetSpent):
            FirstOrder(run).gradient(x)
    assert run.calls.tolist() == stage.answered.tolist() == [1, 1, 1]


def test_a_snapshot_that_was_restored_has_stages_too() -> None:
    run, other = oracle(), oracle()
    run.freeze(np.array([False, False, True]))
    other.restore(run.snapshot())
    with other.stage(FAR, np.array([False, True, True])):
        assert other.active.tolist() == [False, True, False]
    assert other.active.tolist() == other.run_active.tolist() == [True, True, False]
