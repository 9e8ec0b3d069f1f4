"""The oracle counts, hides exact values behind noise, checks shapes, and remembers the best feasible point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from zoviz.oracle import Composed, Oracle
from zoviz.problems.base import Problem
from zoviz.sets import Box
from zoviz.streams import Streams
from zoviz.types import Array, BudgetSpent, Evaluation, OracleError


class Bowl(Problem):
    """f = |x|^2 on [-1, 1]^3 with h = (x1 + x2 - 1, 0.2 - x1); keeps what it was asked."""

    __abstract = True  # keeps it out of the registry

    m = 2

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self.domain = Box(-np.ones(3), np.ones(3))
        self.asked: list[Array] = []

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        self.asked.append(x)
        h = np.stack([x[..., 0] + x[..., 1] - 1.0, 0.2 - x[..., 0]], axis=-1)
        return Evaluation(np.square(x).sum(axis=-1), h)


class Unconstrained(Bowl):
    __abstract = True

    m = 0

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        return Evaluation(np.square(x).sum(axis=-1), np.empty((*x.shape[:-1], 0)))


class Partial(Bowl):
    """NaN, -inf or a NaN constraint according to the third coordinate."""

    __abstract = True

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        f, h = super().evaluate(x)
        third = x[..., 2]
        f = np.where(third > 0.9, np.nan, np.where(third < -0.9, -np.inf, f))
        return Evaluation(f, np.where(((third > 0.8) & (third < 0.85))[..., None], np.nan, h))


def made(problem: Problem, replicas: int = 3, **settings: Any) -> Oracle:
    return Oracle(problem, Streams(0, replicas), **settings)


def points(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).uniform(-0.7, 0.7, shape)


def test_calls_are_counted_per_point_and_replica() -> None:
    oracle = made(Bowl())
    assert oracle.calls.tolist() == [0, 0, 0] and oracle.spent == 0
    oracle(points(3, 3))
    assert oracle.calls.tolist() == [1, 1, 1]
    oracle(points(3, 7, 3))
    assert oracle.calls.tolist() == [8, 8, 8] and oracle.spent == 8
    assert oracle.scalar_evaluations.tolist() == [24, 24, 24]
    assert made(Unconstrained()).scalar_evaluations.tolist() == [0, 0, 0]


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
    oracle = made(problem, limit=5)
    oracle(points(3, 4, 3))
    asked, best = len(problem.asked), oracle.best_f.copy()
    with pytest.raises(BudgetSpent):
        oracle(points(3, 2, 3))
    assert len(problem.asked) == asked and oracle.calls.tolist() == [4, 4, 4] and oracle.spent == 4
    np.testing.assert_array_equal(oracle.best_f, best)
    oracle(points(3, 3))
    with pytest.raises(BudgetSpent):
        oracle(points(3, 3))
    assert oracle.calls.tolist() == [5, 5, 5]


def noise_of(oracle: Oracle, x: Array) -> Array:
    """(..., m + 1) additive noise of one call."""
    got, exact = oracle(x), Bowl().evaluate(x)
    return np.concatenate([(got.f - exact.f)[..., None], got.h - exact.h], axis=-1)


def test_common_noise_is_shared_within_an_iteration_and_new_after_resample() -> None:
    oracle = made(Bowl(noise="common", noise_scale=0.5))
    first = noise_of(oracle, points(3, 3))
    batch = noise_of(oracle, points(3, 6, 3))
    np.testing.assert_allclose(batch, np.repeat(first[:, None], 6, axis=1), atol=1e-14)
    assert np.unique(np.round(first, 12)).size == 9, "replicas and functions have noise of their own"
    oracle.resample()
    second = noise_of(oracle, points(3, 3))
    assert (np.abs(second - first) > 1e-6).all()


def test_independent_noise_differs_at_every_call() -> None:
    oracle = made(Bowl(noise="independent", noise_scale=0.5))
    x = np.zeros((3, 6, 3))
    values = np.concatenate([noise_of(oracle, x), noise_of(oracle, x)], axis=1)
    assert np.unique(np.round(values, 12)).size == values.size


@pytest.mark.parametrize("contract", ["common", "independent"])
def test_noise_has_its_scale_and_law(contract: str) -> None:
    settings = {"noise": contract, "noise_scale": 0.3}
    heavy = {"noise_distribution": "student_t", "noise_degrees": 9.0}
    for law, variance, excess in (({}, 1.0, 0.0), (heavy, 9.0 / 7.0, 6.0 / 5.0)):
        problem = Bowl(**settings, **law)
        oracle = made(problem, 50)
        seen = []
        for _ in range(400):
            seen.append(noise_of(oracle, np.zeros((50, 3))))
            oracle.resample()
        sample = np.stack(seen)
        error = np.sqrt((2.0 + excess) / sample.size) * variance * 0.09
        assert abs(sample.var() - 0.09 * variance) < 4 * error
        assert abs(sample.mean()) < 4 * 0.3 * np.sqrt(variance / sample.size)
        expected = 0.09 * variance if contract == "independent" else 0.0
        assert problem.noise_variance == pytest.approx(expected)
        across = np.corrcoef(sample.reshape(-1, 3).T)[np.triu_indices(3, 1)]
        assert np.abs(across).max() < 4 / np.sqrt(sample.size / 3), "f and each h have noise of their own"


def test_replicas_noise_does_not_depend_on_their_number() -> None:
    x = points(5, 4, 3)
    for noise in ("common", "independent"):
        few, many = (made(Bowl(noise=noise), count) for count in (2, 5))
        np.testing.assert_array_equal(few(x[:2]).f, many(x).f[:2])


class Sampled(Bowl):
    """f = |x|^2 + xi, xi a draw of the problem's own; says for what shapes it was drawn."""

    __abstract = True

    def __init__(self, **params: Any) -> None:
        super().__init__(noise_scale=0.0, **params)
        self.draws: list[tuple[int, tuple[int, ...]]] = []

    def draw(self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: object = 1) -> Array:
        self.draws.append((iteration, shape))
        return streams.normal("xi", *shape)

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        f, h = super().evaluate(x)
        if xi is None:
            return Evaluation(f, h)
        return Evaluation(f + xi.reshape(*xi.shape, *[1] * (f.ndim - xi.ndim)), h)


def test_the_problems_own_sample_is_pinned_under_common_noise() -> None:
    problem = Sampled(noise="common")
    oracle, x = made(problem), np.zeros((3, 4, 3))
    first = oracle(x[:, 0]).f
    np.testing.assert_array_equal(oracle(x).f, np.repeat(first[:, None], 4, axis=1))
    oracle.resample()
    assert (oracle(x[:, 0]).f != first).all()
    assert problem.draws == [(0, ()), (1, ())]


def test_the_problems_own_sample_is_drawn_per_point_under_independent_noise() -> None:
    problem = Sampled(noise="independent")
    oracle = made(problem)
    assert np.unique(oracle(np.zeros((3, 4, 3))).f).size == 12
    assert np.unique(oracle(np.zeros((3, 3))).f).size == 3
    assert problem.draws == [(0, (4,)), (0, ())]
    assert made(Sampled())(np.zeros((3, 3))).f.tolist() == [0.0] * 3, "no sample where values are deterministic"


@pytest.mark.parametrize("noise", ["common", "independent"])
def test_samples_of_frozen_replicas_are_left_out(noise: str) -> None:
    frozen, whole = (made(Sampled(noise=noise)) for _ in range(2))
    frozen.freeze(np.array([False, True, False]))
    x = points(3, 4, 3)
    got, expected = frozen(x).f, whole(x).f
    np.testing.assert_array_equal(got[[0, 2]], expected[[0, 2]])
    assert np.isnan(got[1]).all()


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


def test_failures_are_counted_and_blanked() -> None:
    oracle = made(Partial())
    x = points(3, 5, 3)
    x[..., 2] = [[0.0, 0.95, -0.95, 0.82, 0.0], [0.0] * 5, [0.95, 0.0, 0.0, 0.0, 0.0]]
    value = oracle(x)
    assert oracle.failures.tolist() == [3, 0, 1]
    assert oracle.calls.tolist() == [5, 5, 5], "a failed point is paid for"
    bad = np.isnan(value.f)
    assert bad.sum(axis=1).tolist() == [3, 0, 1]
    assert np.isnan(value.h[bad]).all() and np.isfinite(value.h[~bad]).all()
    assert not oracle.any_failed, "failed probes are the estimator's affair"
    assert np.isfinite(oracle.best_f[1]) and (oracle.best_f > 0).sum() == 3


def test_a_base_point_that_fails_marks_its_replica() -> None:
    oracle = made(Partial())
    x = points(3, 3)
    x[:, 2] = [0.95, 0.0, -0.95]
    oracle(x)
    assert oracle.failed.tolist() == [True, False, True] and oracle.any_failed
    oracle(np.where(oracle.failed[:, None], np.nan, x))
    assert oracle.calls.tolist() == [1, 2, 1], "what a step derives from NaN is not shown to the black box"
    assert oracle.failures.tolist() == [1, 0, 1]
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
    assert problem.asked[-1].shape == (2, 4, 3)
    np.testing.assert_array_equal(problem.asked[-1], x[[0, 2]])
    assert oracle.calls.tolist() == [5, 1, 5] and oracle.failures.tolist() == [0, 0, 0]
    assert oracle.spent == 5
    assert np.isnan(value.f[1]).all() and np.isnan(value.h[1]).all()
    np.testing.assert_array_equal(value.f[[0, 2]], Bowl().evaluate(x).f[[0, 2]])
    oracle.fail(np.array([True, True, False]))
    assert oracle.failed.tolist() == [True, False, False], "a frozen replica does not fail again"
    oracle.freeze(np.array([True, True, True]))
    asked = len(problem.asked)
    assert np.isnan(oracle(points(3, 3)).f).all()
    assert len(problem.asked) == asked and oracle.calls.tolist() == [5, 1, 5]


def brute_force(problem: Problem, queries: list[Array], replica: int, tolerance: float) -> tuple[float, Array]:
    best, where = np.inf, np.full(3, np.nan)
    for x in queries:
        for point in x[replica].reshape(-1, 3):
            f, h = problem.evaluate(point)
            if f < best and (h <= tolerance).all() and np.abs(point).max() <= 1.0 + 1e-9:
                best, where = float(f), point
    return best, where


@pytest.mark.parametrize("noise", ["deterministic", "common", "independent"])
@pytest.mark.parametrize("tolerance", [1e-6, 0.3])
def test_the_best_feasible_point_is_that_of_a_search_over_all_queries(noise: str, tolerance: float) -> None:
    rng = np.random.default_rng(4)
    oracle = made(Bowl(noise=noise, noise_scale=3.0), 6, feasibility_tolerance=tolerance)
    queries = [rng.uniform(-1.6, 1.6, (6, 3) if i % 3 == 0 else (6, 4, 3)) for i in range(40)]
    for i, x in enumerate(queries):
        oracle(x)
        if i in (0, 1, 7, 39):
            for replica in range(6):
                best, where = brute_force(Bowl(), queries[: i + 1], replica, tolerance)
                assert oracle.best_f[replica] == pytest.approx(best, rel=1e-12)
                np.testing.assert_array_equal(oracle.best_x[replica], where)


def test_points_outside_the_domain_or_infeasible_never_count_as_best() -> None:
    oracle = made(Bowl(), 3)
    x = np.array([[0.3, 0.0, 1.5], [0.3, 0.0, 0.0], [0.0, 0.0, 0.0]])
    oracle(x)
    assert oracle.best_f.tolist() == [np.inf, 0.3**2, np.inf]
    assert np.isnan(oracle.best_x[[0, 2]]).all()
    oracle(x[:, None])
    assert oracle.best_f.tolist() == [np.inf, 0.3**2, np.inf]
    oracle(np.array([[0.4, 0.0, 1.0 + 1e-10]] * 3))
    assert np.isfinite(oracle.best_f).all(), "the tolerance covers round-off"


def test_what_is_remembered_is_a_copy() -> None:
    oracle = made(Bowl(), 1)
    x = np.array([[0.3, 0.0, 0.0]])
    oracle(x)
    x[:] = 9.0
    assert oracle.best_x.tolist() == [[0.3, 0.0, 0.0]]


def test_composed_shares_counts_failures_and_budget() -> None:
    oracle = made(Bowl(), limit=3)
    doubled = Composed(oracle, lambda x: Evaluation(2.0 * oracle(x).f, np.zeros((*x.shape[:-1], 2))))
    x = points(3, 2, 3)
    np.testing.assert_array_equal(doubled(x).f, 2.0 * Bowl().evaluate(x).f)
    assert oracle.calls.tolist() == [2, 2, 2] and doubled.contract == "deterministic"
    doubled.fail(np.array([True, False, False]))
    assert oracle.failed.tolist() == [True, False, False]
    with pytest.raises(BudgetSpent):
        doubled(x)
