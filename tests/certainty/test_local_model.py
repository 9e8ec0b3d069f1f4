"""The regression around a point: its design in the bounds, exact quadratics, and the errors that theory says."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.certainty.calls import Calls
from zoviz.certainty.lengths import MOST_RADIUS
from zoviz.certainty.local_model import REACH, Design, LocalModel, design
from zoviz.core.types import Array

NOTHING = Calls(np.zeros((0, 2)), np.zeros((0, 2)))
X, UNIT, WIDE = np.array([0.3, -0.2]), np.ones(2), np.full(2, 5.0)


def quadratic(x: Array) -> Array:
    """Return f and one row (N, 2) at points (N, 2)."""
    f = 1.0 + x @ [0.5, -1.0] + 0.5 * np.einsum("ki,ij,kj->k", x, np.array([[2.0, 0.5], [0.5, 1.0]]), x)
    return np.stack([f, x[:, 0] - 2.0 * x[:, 1] ** 2], axis=1)


def test_a_design_repeats_the_point_and_calls_pairs_around_it() -> None:
    plan = design(X, UNIT, -WIDE, WIDE, 48, np.random.default_rng(0), NOTHING, 1)
    at_x = (plan.points == X).all(axis=1)
    others = plan.points[~at_x]
    assert len(plan.points) == 48 and 0.4 * 48 <= at_x.sum() <= 24 and (plan.length == MOST_RADIUS * UNIT).all()
    assert np.unique(np.round(others - X, 12), axis=0).shape == (4, 2)
    assert others.mean(axis=0) == pytest.approx(X) and np.abs(others - X).max() == pytest.approx(REACH * MOST_RADIUS)
    assert np.round(plan.axes @ plan.axes.T, 12)[0, 1] == 0.0


def test_a_variable_at_its_bound_is_moved_alone_and_inwards() -> None:
    x = np.array([5.0, 0.0])
    plan = design(x, UNIT, -WIDE, WIDE, 60, np.random.default_rng(0), NOTHING, 1)
    moved = plan.points[plan.points[:, 0] < 5.0]
    assert (moved[:, 1] == 0.0).all() and sorted(set(np.round(5.0 - moved[:, 0], 12))) == [0.225, 0.45]
    assert (np.abs(plan.points) <= WIDE).all()


def test_a_point_near_a_bound_keeps_it() -> None:
    plan = design(np.array([4.95, 0.0]), UNIT, -WIDE, WIDE, 60, np.random.default_rng(0), NOTHING, 2)
    assert (plan.points <= WIDE).all() and plan.centre[0] == pytest.approx(5.0 - REACH * MOST_RADIUS)
    assert plan.axes.shape == (4, 2)


@pytest.mark.parametrize("earlier", [0, 40])
def test_a_quadratic_without_noise_is_told_exactly(earlier: int) -> None:
    random = np.random.default_rng(1)
    plan = design(X, UNIT, -WIDE, WIDE, 48, random, NOTHING, 2)
    before = X + 0.3 * random.uniform(-1, 1, (earlier, 2))
    model = LocalModel(Calls(before, quadratic(before)), Calls(plan.points, quadratic(plan.points)), X, plan)
    assert model.value == pytest.approx(quadratic(X[None])[0], abs=1e-5) and model.calls == 48 + earlier
    slope = np.array([[0.5 + 2 * 0.3 - 0.1, -1.0 + 0.15 - 0.2], [1.0, 0.8]])
    assert model.slope / model.length == pytest.approx(slope, abs=1e-4)
    hessian = np.array([[[2.0, 0.5], [0.5, 1.0]], [[0.0, 0.0], [0.0, -4.0]]])
    assert model.hessian / np.outer(model.length, model.length) == pytest.approx(hessian, abs=1e-2)
    u = np.array([0.2, -0.4])
    assert model.value_at(u) == pytest.approx(quadratic((X + u * model.length)[None])[0], abs=1e-4)


def test_errors_are_those_that_repeated_studies_have() -> None:
    random, sd = np.random.default_rng(3), 0.1
    errors, values = [], []
    for _ in range(200):
        plan = design(X, UNIT, -WIDE, WIDE, 48, random, NOTHING, 2)
        outputs = quadratic(plan.points) + sd * random.standard_normal((48, 2))
        model = LocalModel(NOTHING, Calls(plan.points, outputs), X, plan)
        level = np.zeros((1, 2, len(model.value_row(np.zeros(2)))))
        level[0, 0] = model.value_row(np.zeros(2))
        said = model.errors(level)
        errors.append(said.all[0, 0])
        values.append(model.value[0])
        assert said.all[0, 0] >= said.noise[0, 0] and said.degrees[0] >= 3.0
    true = np.sqrt(np.mean(np.square(np.array(values) - quadratic(X[None])[0, 0])))
    assert np.sqrt(np.mean(errors)) == pytest.approx(true, rel=0.15)
    assert sd / np.sqrt(48) < true < 1.1 * sd / np.sqrt(0.4 * 48)


def test_a_slope_that_two_calls_alone_tell_has_the_error_of_the_repeated_ones() -> None:
    x, wide = np.zeros(1), np.full(1, 5.0)
    points = np.array([REACH * MOST_RADIUS, -REACH * MOST_RADIUS, *np.zeros(8)])[:, None]
    plan = design(x, np.ones(1), -wide, wide, 48, np.random.default_rng(0), Calls(points[:0], points[:0]), 1)
    outputs = np.array([9.0, 5.0, *np.tile([0.1, -0.1], 4)])[:, None]
    model = LocalModel(Calls(points[:0], outputs[:0]), Calls(points, outputs), x, plan, misfit=False)
    rows = np.stack([model.value_row(np.zeros(1)), model.slope_rows(np.zeros(1))[0]])[:, None]
    said = model.errors(rows)
    variance = 8 * 0.1**2 / 7  # of the calls at x, whose mean and slope (y1 - y2) / (2 REACH) these are
    assert model.slope[0, 0] == pytest.approx(4.0 / (2 * REACH), rel=1e-3)
    assert np.diag(said.noise) == pytest.approx([variance / 8, variance / (2 * REACH**2)], rel=0.01)
    assert said.degrees == pytest.approx([7.0, 7.0], rel=0.05)


def test_a_design_of_few_calls_has_its_share_of_them_around_the_point() -> None:
    x, wide, nothing = np.zeros(4), np.full(4, 5.0), Calls(np.zeros((0, 4)), np.zeros((0, 1)))
    plan = design(x, np.ones(4), -wide, wide, 25, np.random.default_rng(0), nothing, 1)
    _, counts = np.unique(plan.points, axis=0, return_counts=True)  # 60 % of 25 calls are 7 pairs along 4 axes
    assert sorted(counts) == [1, 1, 2, 2, 2, 2, 2, 2, 11]


def test_as_many_calls_again_of_values_that_repeat_do_not_lessen_the_error_of_a_model() -> None:
    def said(times: int) -> Array:
        # u^3 at u = -0.9 to 0.9, in which a quadratic leaves a cubic that more calls at these places repeat
        points = np.tile(0.45 * np.linspace(-1.0, 1.0, 7), times)[:, None]
        plan = Design(points, np.zeros(1), np.full(1, 0.5), np.zeros((0, 1)), np.full(1, 0.5))
        fresh = Calls(points, 1e-3 * (points / 0.5) ** 3)
        model = LocalModel(Calls(points[:0], points[:0]), fresh, np.zeros(1), plan, misfit=False)
        return np.sqrt(np.diag(model.errors(model.slope_rows(np.zeros(1))[:, None]).noise))

    assert said(9) == pytest.approx(said(3), rel=0.1) and said(3)[0] > 0.0


def test_slopes_are_the_derivatives_of_values() -> None:
    random = np.random.default_rng(1)
    plan = design(X, UNIT, -WIDE, WIDE, 48, random, NOTHING, 1)
    before = X + 0.3 * random.uniform(-1, 1, (40, 2))
    model = LocalModel(Calls(before, quadratic(before)), Calls(plan.points, quadratic(plan.points)), X, plan)
    u, step = np.array([0.2, -0.4]), 1e-6
    rows = [(model.value_row(u + step * e) - model.value_row(u - step * e)) / (2 * step) for e in np.eye(2)]
    assert model.slope_rows(u) == pytest.approx(np.array(rows), abs=1e-8)
    slopes = [(model.value_at(u + step * e) - model.value_at(u - step * e)) / (2 * step) for e in np.eye(2)]
    assert model.slope_at(u) == pytest.approx(np.array(slopes).T, abs=1e-6)
