"""The archive's means and spreads against those of all calls at once; pairs of opposite rows."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.solvers.sqp import archive as archives
from zoviz.solvers.sqp.archive import Pairs
from zoviz.solvers.sqp.constants import STANDARD


def test_counts_means_and_noise_are_those_of_all_calls() -> None:
    generator = np.random.default_rng(0)
    points = generator.integers(0, 3, (60, 2)).astype(float)
    values = generator.standard_normal((60, 3))
    whole = archives.empty(2, np.zeros(3), STANDARD)
    for part in np.split(np.arange(60), [7, 8, 30]):
        whole, good = archives.add(whole, points[part], values[part])
        assert good.all()
    assert whole.counts.sum() == 60 and len(whole.points) == len(np.unique(points, axis=0))
    spread = np.zeros(3)
    for point, count, mean, square in zip(whole.points, whole.counts, whole.means, whole.squares, strict=True):
        mine = values[(points == point).all(axis=1)]
        assert count == len(mine)
        np.testing.assert_allclose(mean, mine.mean(axis=0), atol=1e-12)
        np.testing.assert_allclose(square, np.square(mine - mine.mean(axis=0)).sum(axis=0), atol=1e-12)
        spread += square
    degrees = 60 - len(whole.points)
    assert whole.degrees == degrees
    np.testing.assert_allclose(whole.noise, np.sqrt(spread / degrees))


def test_an_archive_is_never_changed_in_place() -> None:
    one, _ = archives.add(archives.empty(1, np.zeros(1), STANDARD), np.zeros((1, 1)), np.array([[1.0]]))
    archives.add(one, np.zeros((1, 1)), np.array([[3.0]]))
    assert one.means[0, 0] == 1.0 and one.counts[0] == 1.0


def test_failed_calls_and_common_noise_tell_nothing() -> None:
    values = np.array([[1.0], [np.inf], [2.0], [1e13]])
    one, good = archives.add(archives.empty(1, np.zeros(1), STANDARD), np.zeros((4, 1)), values)
    assert good.tolist() == [True, False, True, False] and one.counts.tolist() == [2.0]
    common, _ = archives.add(archives.empty(1, np.zeros(1), STANDARD), np.zeros((4, 1)), values, common=True)
    assert common.counts.tolist() == [1.0] and common.degrees == 0.0 and common.means[0, 0] == 1.5


def test_what_counts_as_a_failure_follows_from_the_values_at_the_start() -> None:
    values = np.array([[1e20], [1e40]])
    _, good = archives.add(archives.empty(1, np.array([1e20]), STANDARD), np.zeros((2, 1)), values)
    assert good.tolist() == [True, False]
    assert archives.empty(1, np.array([np.inf]), STANDARD).largest == 1e12


def test_the_noise_where_it_differs_is_that_of_the_region() -> None:
    generator = np.random.default_rng(1)
    points = np.repeat([[0.0], [5.0]], 40, axis=0)
    size = np.where(points[:, 0] > 1.0, 10.0, 0.1)
    whole, _ = archives.add(
        archives.empty(1, np.zeros(1), STANDARD), points, (size * generator.standard_normal(80))[:, None]
    )
    assert whole.noise[0] > 5.0
    assert whole.local_noise(whole.points[:, 0] < 1.0, STANDARD)[0] == pytest.approx(0.1, rel=0.4)


def test_the_farthest_points_leave_first_and_the_noise_stays_known() -> None:
    generator = np.random.default_rng(1)
    points = generator.uniform(-1, 1, (100, 2))
    whole, _ = archives.add(
        archives.empty(2, np.zeros(1), STANDARD), np.repeat(points, 2, axis=0), generator.standard_normal((200, 1))
    )
    less = archives.trim(whole, np.zeros(2), np.ones(2), 80)
    assert len(less.points) == 60 and less.degrees == whole.degrees
    gone = {tuple(one) for one in whole.points} - {tuple(one) for one in less.points}
    assert min(np.abs(one).max() for one in gone) >= np.abs(less.points).max()
    assert archives.trim(less, np.zeros(2), np.ones(2), 80) is less


def opposite_rows(seed: int, opposite: bool, ratio: float = 1.0) -> archives.Archive:
    generator = np.random.default_rng(seed)
    points = np.repeat(generator.uniform(-1, 1, (30, 2)), 3, axis=0)
    h = points @ [1.0, 2.0] + 1.0
    other = (-h if opposite else -h + 0.1 * np.square(points[:, 0])) / ratio
    rows = np.stack([points[:, 0], h, points[:, 1], other], axis=1)
    return archives.add(
        archives.empty(2, np.zeros(4), STANDARD), points, rows + 0.01 * generator.standard_normal(rows.shape)
    )[0]


def test_two_opposite_rows_are_a_pair_and_two_that_nearly_are_not() -> None:
    found = archives.detected_pairs(opposite_rows(0, True), STANDARD)
    assert found.rows.tolist() == [[0, 2]]
    assert archives.detected_pairs(opposite_rows(0, False), STANDARD).rows.tolist() == []
    assert archives.tested_pairs(opposite_rows(1, True)._replace(pairs=found), STANDARD).rows.tolist() == [[0, 2]]


def test_a_pair_whose_rows_have_other_units_is_one() -> None:
    """Scaling under noise measures a unit for each row, and these differ by some per cent."""
    noisy = opposite_rows(0, True, 0.93)
    pairs = archives.tested_pairs(noisy._replace(pairs=archives.detected_pairs(noisy, STANDARD)), STANDARD)
    assert pairs.rows.tolist() == [[0, 2]] and pairs.ratios == pytest.approx([0.93], rel=3e-3)
    equal = Pairs(np.array([[0, 2]]), np.empty((0, 2), dtype=np.int64))
    (off, off_too), (right, right_too) = (
        np.abs(one.joined(noisy.means, noisy.noise)[0][:, [1 + i, 1 + j]] - noisy.means[:, [1 + i, 1 + j]]).max(axis=0)
        for one in (equal, pairs)
        for i, j in one.rows
    )
    assert max(right, right_too) < 0.02 < min(off, off_too)
    assert archives.detected_pairs(opposite_rows(0, True, 3.0), STANDARD).rows.tolist() == []


def test_slack_rows_of_opposite_sign_that_hardly_change_are_no_pair() -> None:
    generator = np.random.default_rng(2)
    points = np.repeat(generator.uniform(-1, 1, (30, 2)), 3, axis=0)
    rows = np.stack([points[:, 0], 1.0 + 1e-3 * points[:, 0], -1.1 + 1e-3 * points[:, 1]], axis=1)
    noisy = rows + 0.01 * generator.standard_normal(rows.shape)
    archive, _ = archives.add(archives.empty(2, np.zeros(3), STANDARD), points, noisy)
    assert archives.detected_pairs(archive, STANDARD).rows.tolist() == []


def test_a_false_pair_is_dropped_and_never_comes_back() -> None:
    false = archives.detected_pairs(opposite_rows(0, True), STANDARD)
    dropped = archives.tested_pairs(opposite_rows(0, False)._replace(pairs=false), STANDARD)
    assert dropped.rows.tolist() == [] and dropped.banned.tolist() == [[0, 2]]
    assert archives.detected_pairs(opposite_rows(0, True)._replace(pairs=dropped), STANDARD).rows.tolist() == []


def test_both_rows_of_a_pair_become_half_their_difference() -> None:
    pairs = Pairs(np.array([[0, 2]]), np.empty((0, 2), dtype=np.int64))
    values, noise = pairs.joined(np.array([[9.0, 1.0, 5.0, -1.4]]), np.array([1.0, 3.0, 1.0, 4.0]))
    np.testing.assert_allclose(values, [[9.0, 1.2, 5.0, -1.2]])
    np.testing.assert_allclose(noise, [1.0, 2.5, 1.0, 2.5])
    assert pairs.paired(3).tolist() == [True, False, True]


def test_the_lowest_point_that_is_surely_inside_counts_its_calls_and_not_the_rows_of_a_pair() -> None:
    points = np.arange(4.0)[:, None]
    # f, a constraint, and an equality in two rows; noise of 1, known from 100 calls at each point but the last.
    values = np.array([[3.0, -1.0, 0.1, -0.1], [1.0, -0.2, 0.1, -0.1], [2.0, -1.0, -0.1, 0.1], [0.0, -1.0, 0.0, 0.0]])
    archive, _ = archives.add(archives.empty(1, values[0], STANDARD), points, values)
    ones = np.ones(4)
    archive = archive._replace(counts=np.array([100.0, 100.0, 100.0, 4.0]), spread=ones * 300.0, degrees=300.0)
    pairs, tolerance = Pairs(np.array([[1, 2]]), np.empty((0, 2), dtype=np.int64)), np.full(3, 1e-6)
    assert archives.surely_inside(archive._replace(pairs=pairs), tolerance, 3.0).tolist() == [[2.0]]
    assert archives.surely_inside(archive, tolerance, 3.0).shape == (0, 1)


def test_calls_that_share_noise_are_kept_by_batches() -> None:
    points, values = np.array([[0.0], [1.0], [0.0]]), np.array([[1.0, 5.0], [3.0, 6.0], [1.0, 5.0]])
    one, _ = archives.add(archives.empty(1, values[0], STANDARD), points, values, common=True)
    one, _ = archives.add(one, points[:2], values[:2] + np.array([10.0, -2.0]), common=True)
    one, _ = archives.add(one, points[1:2], np.array([[99.0, 99.0]]), common=True)
    assert one.batches is not None and list(one.batches.numbers) == [0, 0, 1, 1, 2]
    difference, count = one.batches.difference(points[1], points[0])
    np.testing.assert_array_equal(difference, [2.0, 1.0])
    assert count == 2, "only batches that have both points count"
    assert one.batches.difference(points[1], np.array([7.0]))[1] == 0
    np.testing.assert_array_equal(one.counts, [2.0, 3.0])
    half = archives.with_sizes(one, np.array([2.0, 1.0]))
    assert half.batches is not None
    np.testing.assert_array_equal(half.batches.difference(points[1], points[0])[0], [1.0, 1.0])


def test_the_batches_of_far_points_are_dropped_too() -> None:
    one = archives.empty(1, np.zeros(1), STANDARD)
    for i in range(8):
        place = np.array([[float(i)], [float(i) + 0.5]])
        one, _ = archives.add(one, place, place, common=True)
    near = archives.trim(one, np.zeros(1), np.ones(1), 8)
    assert near.batches is not None and len(near.batches.points) == 6
    assert near.batches.points.max() < 4.0 and len(near.batches.numbers) == len(near.batches.values) == 6
