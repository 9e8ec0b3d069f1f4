"""The race between candidates: what counts as sure, who is dropped, who leads."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.solvers.sqp.race import Race, SharedNoise
from zoviz.solvers.sqp.situation import Space

SPACE = Space(np.zeros(1), np.ones(1), np.ones(1), np.zeros(1), np.full(1, 1e-4))
PAIR = SPACE._replace(tolerance=np.full(2, 1e-4))


def race(f: list[float], h: list[float], error: float, noise: float = 1.0) -> Race:
    """Candidates 0, 1, ... on a line, known by a model of this standard error, with one constraint."""
    k = len(f)
    values, errors = np.stack([f, h], axis=1), np.full((k, 2), error)
    points, nothing = np.arange(k, dtype=float)[:, None], np.zeros((k, 2))
    alive = np.ones(k, dtype=bool)
    return Race(points, values, errors, np.zeros(k), nothing, alive, np.full(2, noise), np.zeros(1, dtype=bool))


def test_the_lowest_f_among_those_that_are_sure_leads() -> None:
    assert race([1.0, 2.0, 0.5], [-0.1, -0.1, 0.5], 1e-3).leader(SPACE) == 0


def test_a_point_in_doubt_never_beats_one_that_is_sure() -> None:
    # The second is better, and 0.5 standard errors inside only.
    assert race([1.0, 0.0], [-0.1, -0.0005], 1e-3).leader(SPACE) == 0


def test_a_point_that_surely_violates_never_beats_one_in_doubt() -> None:
    # The first violates by 5 standard errors; the second has the larger doubt, but may be feasible.
    doubtful = race([0.0, 1.0], [0.005, 0.0], 1e-3)
    errors = doubtful.errors.copy()
    errors[1] = 0.01
    assert doubtful._replace(errors=errors).leader(SPACE) == 1


def test_where_all_violate_the_least_violation_leads() -> None:
    assert race([0.0, 1.0, 2.0], [0.5, 0.2, 0.3], 1e-3).leader(SPACE) == 1


def equality(f: list[float], h: list[float], errors: list[float]) -> Race:
    """Candidates with an equality in two rows, h and -h, known by a model of these standard errors."""
    one = race(f, h, 1e-3)
    both = np.stack([f, h, [-value for value in h]], axis=1)
    doubts = np.repeat(np.array(errors)[:, None], 3, axis=1)
    k = len(f)
    return one._replace(
        predicted=both,
        errors=doubts,
        means=np.zeros((k, 3)),
        noise=np.ones(3),
        equal=np.ones(2, dtype=bool),
        penalty=2.0,
    )


def test_an_equality_that_is_known_worse_than_elsewhere_is_not_met() -> None:
    # The second cannot be told to violate for its errors alone, and has the lower f.
    known = equality([1.0, 0.9], [1e-4, 0.05], [1e-3, 0.1])
    assert known.leader(PAIR) == 0
    possible, certain = known.excess(PAIR)
    assert possible[0] <= 0.0 < possible[1] and (certain <= 0.0).all()


def test_the_candidate_that_misses_an_equality_by_the_most_that_noise_hides_does_not_lead() -> None:
    known = equality([1.0, 1.0 - 1.5e-3], [0.0, 1.5e-3], [1e-3, 1e-3])
    assert known.leader(PAIR) == 0
    by_f_alone = known._replace(penalty=0.0)
    assert by_f_alone.leader(PAIR) == 1


def test_model_and_calls_are_weighted_by_their_precision() -> None:
    one = race([1.0], [0.0], 0.1)
    after = one.take_values(np.zeros((100, 1)), np.tile([1.2, 0.2], (100, 1)))
    estimate, error = after.estimates(SPACE)
    np.testing.assert_allclose(estimate, [[1.1, 0.1]])  # 100 calls of noise 1 are as good as the model's 0.1
    np.testing.assert_allclose(error, 0.1 / np.sqrt(2))


def test_a_model_at_odds_with_the_calls_does_not_count() -> None:
    one = race([1.0], [0.0], 0.1)
    after = one.take_values(np.zeros((100, 1)), np.tile([1.2, 0.9], (100, 1)))
    estimate, error = after.estimates(SPACE)
    np.testing.assert_allclose(estimate, [[1.1, 0.9]])
    np.testing.assert_allclose(error[0, 1], 0.1)


def test_calls_in_two_parts_are_one_mean_and_failed_ones_are_left_out() -> None:
    generator = np.random.default_rng(0)
    values, points = generator.standard_normal((30, 2)), np.repeat([[0.0], [1.0]], 15, axis=0)
    values[3] = np.inf
    after = race([0.0, 0.0], [0.0, 0.0], 1.0)
    for part in (slice(0, 9), slice(9, 30)):
        after = after.take_values(points[part], values[part])
    assert after.counts.tolist() == [14.0, 15.0]
    np.testing.assert_allclose(after.means[0], np.delete(values[:15], 3, axis=0).mean(axis=0))
    np.testing.assert_allclose(after.means[1], values[15:].mean(axis=0))


def test_losers_are_dropped_and_the_others_share_half_of_what_is_left() -> None:
    known = race([1.0, 2.0, 0.5, 1.0005], [-0.1, -0.1, 0.5, -0.1], 1e-3)
    alive = known.eliminate(SPACE)
    assert alive.alive.tolist() == [True, False, False, True]
    points = alive.calls(40)
    assert len(points) == 20 and sorted(np.unique(points)) == [0.0, 3.0]
    assert len(alive.calls(3)) == 3


@pytest.mark.parametrize("seed", range(3))
def test_a_race_finds_the_feasible_one_under_noise(seed: int) -> None:
    generator = np.random.default_rng(seed)
    truth = np.array([[0.0, 0.02], [0.1, -0.05], [0.3, -0.05]])
    one, remaining = race([0.0] * 3, [0.0] * 3, np.inf, 0.1), 2000
    while remaining:
        points = one.calls(remaining)
        values = truth[points[:, 0].astype(int)] + 0.1 * generator.standard_normal((len(points), 2))
        one = one.take_values(points, values).eliminate(SPACE)
        remaining = remaining - len(points) if one.alive.sum() > 1 else 0
    assert one.leader(SPACE) == 1


def test_a_compromise_lies_where_the_interpolated_constraint_holds_by_its_errors() -> None:
    # Noise 0.1 and a third of 300 calls: two standard errors are 0.02.
    known = race([0.0, 1.0], [0.5, -1.0], 1e-3, noise=0.1)._replace(counts=np.ones(2))
    known = known._replace(means=known.predicted)
    (point,) = known.compromise(SPACE, 300)
    assert 0.5 - 1.5 * point[0] == pytest.approx(1e-4 - 0.02)
    assert known.is_over(SPACE, 300)


@pytest.mark.parametrize(
    "f, h",
    [([0.0, 1.0], [0.5, 0.2]), ([1.0, 0.0], [0.5, -1.0]), ([0.0, 1e-3], [0.5, -1.0])],
    ids=["no leader is confirmed", "the leader is better", "as good but for noise"],
)
def test_else_there_is_no_compromise(f: list[float], h: list[float]) -> None:
    known = race(f, h, 1e-3, noise=0.1)._replace(counts=np.ones(2))
    assert known._replace(means=known.predicted).compromise(SPACE, 300) == []


def leader_after(rounds: int, tried: bool) -> float:
    """Return f = x at the leader of rounds of 50 calls at two points and, if ``tried``, at compromises."""
    noise, points = np.random.default_rng(0), np.array([[0.0], [1.0]])
    for turn in range(rounds):
        k = len(points)
        known = race([0.0] * k, [0.0] * k, np.inf, noise=0.1)._replace(points=points)
        for point in points:
            exact = np.array([point[0], 0.4 - np.sqrt(point[0])])
            known = known.take_values(np.tile(point, (50, 1)), exact + 0.1 * noise.standard_normal((50, 2)))
        best = known.leader(SPACE)
        more = known.compromise(SPACE, 150) if tried and turn < rounds - 1 else []
        points = np.array([points[0], points[best], *more])
    return float(known.points[best, 0])


def test_compromises_lead_the_answer_to_the_boundary() -> None:
    assert leader_after(6, False) == 1.0
    assert 0.16 < leader_after(6, True) < 0.35  # the boundary is at 0.16


def shared_race(rounds: int, level: float = 1.0, error: float = 1.0) -> Race:
    """Two candidates, the second 0.1 lower in f, after rounds of calls that share noise of size 1 each."""
    generator, noise, one = np.random.default_rng(3), 0.01, race([0.0, -0.1], [-9.0, -9.0], error, 0.01)
    one = one._replace(shared=SharedNoise.start(2, np.full(2, 1e4), np.full(2, level**2)))
    for _ in range(rounds):
        values = np.array([[0.0, -9.0], [-0.1, -9.0]]) + generator.standard_normal(2)
        one = one.take_values(one.points, values + noise * generator.standard_normal((2, 2)))
    return one


def test_candidates_that_share_noise_are_compared_by_their_differences() -> None:
    after = shared_race(4)
    _, error = after.estimates(SPACE)
    assert after.merit_errors(SPACE, 1)[0] < 0.01, "differences are known to the noise of their own"
    assert (error > 0.3).all(), "their level is known to that of four batches"
    assert list(after.eliminate(SPACE).alive) == [False, True] and after.leader(SPACE) == 1


def test_a_level_is_known_to_the_root_of_the_number_of_batches() -> None:
    errors = [shared_race(rounds, level=100.0).estimates(SPACE)[1][0, 0] for rounds in (4, 16)]
    np.testing.assert_allclose(errors, [0.5, 0.25], rtol=0.02)


def test_a_level_that_the_models_know_counts_beside_the_calls() -> None:
    assert shared_race(4, level=0.01, error=1e-3).estimates(SPACE)[1].max() < 0.02


def test_batches_without_shared_noise_are_plain_means() -> None:
    plain = race([0.0, 0.0], [-1.0, -1.0], 0.5)
    batched = plain._replace(shared=SharedNoise.start(2, np.zeros(2), np.zeros(2)))
    values = np.random.default_rng(0).standard_normal((5, 2, 2))
    for one in values:
        plain, batched = plain.take_values(plain.points, one), batched.take_values(batched.points, one)
    for ours, theirs in zip(batched.estimates(SPACE), plain.estimates(SPACE), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)
    np.testing.assert_allclose(batched.merit_errors(SPACE, 0)[1], plain.merit_errors(SPACE, 0)[1], rtol=1e-9)


def test_a_candidate_that_dropped_out_is_not_moved_by_later_batches() -> None:
    after, dropped = shared_race(4), shared_race(4)
    for shift in (5.0, -3.0, 4.0):
        dropped = dropped.take_values(dropped.points[1:], np.array([[shift - 0.1, -9.0]]))
    estimate, before = dropped.estimates(SPACE)[0], after.estimates(SPACE)[0]
    assert estimate[0, 0] - estimate[1, 0] == pytest.approx(before[0, 0] - before[1, 0], abs=1e-3)
