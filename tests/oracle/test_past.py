"""Past points: which of them are whole, which is the best, and when they are trusted."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.sets import Box
from zoviz.oracle.past import PastPoints

BOX = Box(np.zeros(2), np.ones(2))
X = np.array([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.4, 0.4], [2.0, 0.5]])
VALUES = np.array([[1.0, 1.0], [3.0, -1.0], [2.0, -1.0], [np.nan, np.nan], [0.0, -1.0]])


def past(values: np.ndarray = VALUES, m: int = 1) -> PastPoints:
    points = PastPoints.of({"x": X, "values": values}, BOX, m)
    assert points is not None
    return points


def test_points_outside_the_bounds_are_left_out_and_the_best_is_feasible() -> None:
    points = past()
    assert len(points.x) == 4
    assert points.best is not None
    assert points.best.tolist() == [0.3, 0.3]


def test_columns_of_constraints_that_are_missing_are_not_known() -> None:
    points = past(VALUES[:, :1])
    assert not points.whole.any()
    assert points.best is None
    assert "none has all values" in points.sentence


def test_more_constraints_than_the_problem_has_are_refused() -> None:
    with pytest.raises(ValueError, match="f and 0 constraints"):
        past(m=0)


def test_nothing_is_known_where_there_is_no_table_or_none_of_it_in_the_bounds() -> None:
    assert PastPoints.of(None, BOX, 1) is None
    assert PastPoints.of({"x": X[4:], "values": VALUES[4:]}, BOX, 1) is None


def test_a_fresh_value_that_differs_ends_the_trust_and_shifts_the_others() -> None:
    points = past()
    points.compare(np.array([2.0, -1.0]))
    assert points.judge()
    points.compare(np.array([2.5, -1.0]))
    assert not points.judge()
    assert points.corrected[0].tolist() == [1.5, 1.0]
    assert "none of them counts as a value" in points.sentence


def test_a_fresh_call_that_fails_contradicts_a_value() -> None:
    points = past()
    points.compare(np.array([np.nan, -1.0]))
    assert not points.judge() and not points.used
    assert points.corrected[0].tolist() == [1.0, 1.0]


def test_under_noise_a_value_may_differ_by_some_standard_deviations() -> None:
    points = past()
    points.compare(np.array([2.5, -1.0]))
    assert points.judge(np.array([0.1, 0.1]))
    assert not points.judge(np.array([0.01, 0.01]))


def test_repeats_at_the_best_point_count_by_their_mean() -> None:
    repeated = PastPoints.of({"x": X[[2, 2]], "values": np.array([[1.0, -1.0], [3.0, -1.0]])}, BOX, 1)
    assert repeated is not None
    repeated.compare(np.array([2.0, -1.0]))
    assert repeated.judge()


def test_a_row_that_grows_by_orders_of_magnitude_hides_no_violation() -> None:
    """Beside violations of e^50 one of e^20 is none, but no start either: the feasible point is better."""
    x = np.linspace(0.01, 0.99, 50)
    table = np.column_stack([-10.0 * x, np.exp(100.0 * x - 5.0) - 1.0])
    points = PastPoints.of({"x": np.column_stack([x, x]), "values": table}, BOX, 1)
    assert points is not None
    assert points.best is not None
    assert points.best[0] == pytest.approx(0.05, abs=0.02)
    assert points.merit(np.array([[0.0, -1.0]])) < points.merit(np.array([[-9.0, np.exp(20.0)]]))


def test_slight_violations_of_a_run_near_its_optimum_are_weighed_as_ever() -> None:
    steps = 0.5 ** np.arange(50)
    table = np.column_stack([1.0 + steps, 1e-9 + 0.1 * steps])
    points = PastPoints.of({"x": np.column_stack([steps, steps]), "values": table}, BOX, 1)
    assert points is not None
    assert points.sizes == pytest.approx(np.subtract(*np.quantile(table, [0.75, 0.25], axis=0)))


def test_of_points_that_lie_evenly_the_best_is_no_place_where_a_search_ended() -> None:
    for n in (1, 2, 6):
        for seed in range(40):
            rng = np.random.default_rng(seed)
            x = rng.uniform(size=(60, n))
            even = PastPoints(x, rng.uniform(size=(60, 1)))
            assert not even.gathered
            ended = PastPoints(np.concatenate([x, even.best + 1e-5 * x[: n + 1]]), np.arange(61.0 + n)[::-1, None])
            assert ended.gathered


def test_rows_that_are_too_few_to_lie_densely_were_chosen() -> None:
    x = np.array([[0.1, 0.1, 0.5], [0.9, 0.2, 0.5], [0.4, 0.7, 0.5]])
    few = PastPoints(np.repeat(x, 3, axis=0), np.repeat([[1.0], [2.0], [3.0]], 3, axis=0))
    assert few.gathered, "repeats are one point, and a variable that does not vary is none"
