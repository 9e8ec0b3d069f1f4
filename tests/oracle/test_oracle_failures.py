"""The oracle counts values that are not finite, and leaves frozen replicas alone."""

from __future__ import annotations

import numpy as np

from helpers.quadratic_bowl import Bowl, Partial, made, points


def test_failures_are_counted_and_blanked() -> None:
    oracle = made(Partial())
    x = points(3, 5, 3)
    x[..., 2] = [[0.0, 0.95, -0.95, 0.82, 0.0], [0.0] * 5, [0.95, 0.0, 0.0, 0.0, 0.0]]
    value = oracle(x)
    assert oracle.account.failures.tolist() == [3, 0, 1]
    assert oracle.calls.tolist() == [5, 5, 5], "a failed point is paid for"
    bad = np.isnan(value.f)
    assert bad.sum(axis=1).tolist() == [3, 0, 1]
    assert np.isnan(value.h[bad]).all() and np.isfinite(value.h[~bad]).all()
    assert not oracle.any_failed, "failed probes are the estimator's affair"
    assert np.isfinite(oracle.best.f[1]) and (oracle.best.f > 0).sum() == 3


def test_a_base_point_that_fails_marks_its_replica() -> None:
    oracle = made(Partial())
    x = points(3, 3)
    x[:, 2] = [0.95, 0.0, -0.95]
    oracle(x)
    assert oracle.failed.tolist() == [True, False, True] and oracle.any_failed
    oracle(np.where(oracle.failed[:, None], np.nan, x))
    assert oracle.calls.tolist() == [1, 2, 1], "what a step derives from NaN is not shown to the black box"
    assert oracle.account.failures.tolist() == [1, 0, 1]
    oracle.freeze(oracle.failed.copy())
    assert oracle.active.tolist() == [False, True, False]
    assert not oracle.any_failed and not oracle.failed.any() and not oracle.all_active


def test_failures_do_not_touch_the_others_noise() -> None:
    x = points(3, 4, 3)
    holed = x.copy()
    holed[0, 1, 2] = 0.95
    got = made(Partial(noise="independent"))(holed)
    clean = made(Bowl(noise="independent"))(x)
    keep = ~np.isnan(got.f)
    assert keep.sum() == 11
    np.testing.assert_array_equal(got.f[keep], clean.f[keep])


def test_frozen_replicas_are_neither_evaluated_nor_charged() -> None:
    problem = Bowl()
    oracle = made(problem)
    oracle(points(3, 3))
    oracle.freeze(np.array([False, True, False]))
    x = points(3, 4, 3)
    value = oracle(x)
    assert problem.points[-1].shape == (2, 4, 3)
    np.testing.assert_array_equal(problem.points[-1], x[[0, 2]])
    assert oracle.calls.tolist() == [5, 1, 5] and oracle.account.failures.tolist() == [0, 0, 0]
    assert oracle.account.spent == 5
    assert np.isnan(value.f[1]).all() and np.isnan(value.h[1]).all()
    np.testing.assert_array_equal(value.f[[0, 2]], Bowl().evaluate(x).f[[0, 2]])
    oracle.fail(np.array([True, True, False]))
    assert oracle.failed.tolist() == [True, False, False], "a frozen replica does not fail again"
    oracle.freeze(np.array([True, True, True]))
    count = len(problem.points)
    assert np.isnan(oracle(points(3, 3)).f).all()
    assert len(problem.points) == count and oracle.calls.tolist() == [5, 1, 5]
