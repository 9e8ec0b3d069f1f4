"""The first steps without noise against a loop written by hand, with exact derivatives."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.solvers.sqp import smooth_phase
from zoviz.solvers.sqp.elastic_qp import Linearisation, solve
from zoviz.solvers.sqp.situation import Settings, Situation, space_of
from zoviz.solvers.sqp.smooth_phase import SmoothRun

START = np.array([1.5, -0.5])
SETTINGS = Settings(1.0, 0.7, 1.0, 1.0, 3.0, 0.1)


def joint(x: Array) -> Array:
    """f = (x0 - 2)^2 + 2 (x1 - 1)^2 + x0 x1, h = x0^2 + x1^2 - 2 and x0 - 3 x1."""
    f = (x[..., 0] - 2) ** 2 + 2 * (x[..., 1] - 1) ** 2 + x[..., 0] * x[..., 1]
    return np.stack([f, x[..., 0] ** 2 + x[..., 1] ** 2 - 2, x[..., 0] - 3 * x[..., 1]], axis=-1)


def slopes(x: Array) -> Array:
    of_f = [2 * (x[0] - 2) + x[1], 4 * (x[1] - 1) + x[0]]
    return np.array([of_f, [2 * x[0], 2 * x[1]], [1.0, -3.0]])


def situation(**settings: float) -> Situation:
    space = space_of(Box([-4.0, -4.0], [4.0, 4.0]), START, np.full(2, 1e-6))
    return Situation(space, SETTINGS._replace(**settings), 1000, 1000, np.random.default_rng(0))


def course(run: SmoothRun, at: Situation, calls: int, function: Callable[[Array], Array] = joint) -> list[SmoothRun]:
    """The run after every request, until it is over or has made so many."""
    runs = []
    for _ in range(calls):
        run, points = smooth_phase.request(run, at)
        if not len(points):
            break
        run = smooth_phase.receive(run, function(points), at)
        runs.append(run)
    return runs


def course_of(run: SmoothRun, function: Callable[[Array], Array], calls: int) -> list[SmoothRun]:
    """The course of a run on another function, far from all bounds."""
    at = Situation(space_of(Box([-1e9] * 2, [1e9] * 2), START, np.full(2, 1e-6)), *situation()[1:])
    return course(run, at, calls, function)


def by_hand(steps: int) -> list[Array]:
    """Accepted points of an l1 SQP method in the units (1.5, 1) of the start; the first steps are all good.

    Each function is in units of its steepest slope at the start.
    """
    scale, x, penalty, radius, points = np.array([1.5, 1.0]), START, 1.0, 1.0, [START]
    hessian, first = np.empty((0, 0)), True
    size = np.abs(slopes(START) * scale).max(axis=1)
    for _ in range(steps):
        value, derivatives = joint(x) / size, slopes(x) / size[:, None] * scale
        if not hessian.size:
            hessian = np.eye(2) * min(1.0, np.abs(derivatives[0]).max())
        lower, upper = np.maximum(-radius, (-4 - x) / scale), np.minimum(radius, (4 - x) / scale)
        step = solve(Linearisation(hessian, derivatives[0], derivatives[1:], value[1:], lower, upper), penalty)
        while step.violation > 0.1 * np.maximum(value[1:], 0.0).sum() + 1e-9:  # every linearisation here can be met
            penalty *= 10.0
            step = solve(Linearisation(hessian, derivatives[0], derivatives[1:], value[1:], lower, upper), penalty)
        largest = step.multipliers[step.multipliers < 0.999 * penalty].max()
        violation = np.maximum(value[1:], 0.0).sum()
        if penalty < 1.1 * largest:
            penalty = 1.5 * largest
        elif penalty > 20 * max(largest, 1e-2) and violation < 1e-8:
            penalty = max(2 * largest, 1e-2, penalty / 2)
        merit = [one[0] + penalty * np.maximum(one[1:], 0.0).sum() for one in (value, joint(x + scale * step.d) / size)]
        predicted = -(derivatives[0] @ step.d + 0.5 * step.d @ hessian @ step.d) + penalty * (
            violation - step.violation
        )
        ratio = (merit[0] - merit[1]) / predicted
        assert ratio > 0.3, "a step of this loop is neither refused nor corrected"
        if ratio > 0.7 and np.abs(step.d).max() > 0.7 * radius:
            radius *= 2.5
        after = x + scale * step.d
        change = np.append(1.0, step.multipliers) / size @ (slopes(after) - slopes(x)) * scale
        s, y = (after - x) / scale, change
        if first:
            hessian, first = np.eye(2) * (y @ y) / (s @ y), False
        assert s @ y > 0.2 * s @ hessian @ s, "no damping either"
        hessian = hessian - np.outer(hessian @ s, hessian @ s) / (s @ hessian @ s) + np.outer(y, y) / (s @ y)
        x = after
        points.append(x)
    return points


def test_first_steps_are_those_of_a_loop_by_hand() -> None:
    at = situation()
    runs = course(smooth_phase.begin(START, joint(START), 2, 1.0, 1.0), at, 12)
    places = [START]
    for run in runs:
        if not np.array_equal(run.next_x, places[-1]):
            places.append(run.next_x)
    expected = by_hand(3)
    np.testing.assert_allclose(places[: len(expected)], expected, atol=2e-5)


def test_a_run_ends_at_the_solution_after_a_second_part_with_central_differences() -> None:
    runs = course(smooth_phase.begin(START, joint(START), 2, 1.0, 1.0), situation(), 300)
    last = runs[-1]
    assert last.polished and last.central and len(runs) < 200
    slope = slopes(last.x)
    h = joint(last.x)[1:]
    assert h.max() < 1e-7
    active = h > -1e-7
    multipliers = np.linalg.lstsq(slope[1:][active].T, -slope[0], rcond=None)[0]
    assert (multipliers > 0).all()
    np.testing.assert_allclose(slope[0] + multipliers @ slope[1:][active], 0.0, atol=1e-5)


def test_the_scale_of_the_radius_counts_from_the_next_step_on() -> None:
    at = situation()
    run = course(smooth_phase.begin(START, joint(START), 2, 1.0, 1.0), at, 1)[-1]
    assert run.phase == "trial"
    small, points = smooth_phase.request(run, situation(trust_scale=1e-3))
    assert np.abs(small.step.d).max() == pytest.approx(1e-3, rel=1e-6)
    assert np.abs((points[0] - START) / at.space.scale).max() == pytest.approx(1e-3, rel=1e-6)


def test_a_restoration_ends_where_the_constraints_are_met() -> None:
    start = np.array([3.0, -3.0])
    run = smooth_phase.begin(start, joint(start), 2, 1.0, 1.0, restoring=True)
    runs = course(run, situation(), 100)
    assert runs[-1].phase == "over" and len(runs) < 60
    assert np.maximum(joint(runs[-1].x)[1:], 0.0).max() < 1e-9


def test_a_failed_trial_shrinks_the_region_and_is_not_accepted() -> None:
    at = situation()
    run = course(smooth_phase.begin(START, joint(START), 2, 1.0, 1.0), at, 1)[-1]
    run, _ = smooth_phase.request(run, at)
    after = smooth_phase.receive(run, np.full((1, 3), np.inf), at)
    np.testing.assert_array_equal(after.x, START)
    assert after.phase == "trial" and after.radius <= 0.2


def test_units_follow_slopes_that_are_far_apart_and_no_others() -> None:
    run = smooth_phase.begin(START, joint(START), 2, 1.0, 1.0)
    near, far = (course_of(run, lambda x, s=s: joint(START + (x - START) * s), 1)[-1] for s in ([1.0, 5.0], [1.0, 1e5]))
    np.testing.assert_array_equal(near.length, 1.0)
    assert far.length[0] / far.length[1] == pytest.approx(1e5, rel=0.99)
    for one in (near, far):
        steepest = np.abs(np.vstack([one.gradient, one.jacobian]) * [1.5, 1.0] * one.length).max(axis=1)
        np.testing.assert_allclose(steepest, 1.0, rtol=1e-3)


def test_hidden_units_do_not_keep_it_from_the_solution() -> None:
    hidden = np.array([1e-3, 1e3])
    start = smooth_phase.begin(START, joint(START), 2, 1.0, 1.0)
    plain, disguised = (
        course_of(start, lambda x, s=s: joint(START + (x - START) / s), 200)[-1] for s in (np.ones(2), hidden)
    )
    np.testing.assert_allclose(START + (disguised.x - START) / hidden, plain.x, atol=1e-5)


def test_the_last_part_begins_with_the_curvatures_of_the_lagrangian() -> None:
    at = situation()
    run = smooth_phase.begin(START, joint(START), 2, 1.0, 1.0, central=True)
    multipliers = np.array([0.5, 2.0])
    run = course(run._replace(step=run.step._replace(multipliers=multipliers)), at, 1)[-1]
    weights = np.append(1.0, multipliers) / run.size
    second = np.array([[2.0, 4.0], [2.0, 2.0], [0.0, 0.0]])
    np.testing.assert_allclose(run.hessian, np.diag(weights @ second * at.space.scale**2), rtol=1e-4)


def epigraph(x: Array) -> Array:
    """f = t + 44 with four rows <= t: the exact penalty function of Rosen and Suzuki's problem; least f: -44."""
    a, b, c, d, t = (x[..., i] for i in range(5))
    squares = a**2 + b**2 + c**2 + d**2
    f = squares + c**2 - 5 * a - 5 * b - 21 * c + 7 * d
    h = [squares + a - b + c - d - 8, squares + b**2 + d**2 - a - d - 10, squares - d**2 + a**2 + 2 * a - b - d - 5]
    return np.stack([t + 44, f - t, *(f + 10 * one - t for one in h)], axis=-1)


@pytest.mark.parametrize("seed", range(4))
def test_the_region_does_not_hold_a_variable_that_enters_linearly(seed: int) -> None:
    """The bound t on the largest row: where it is taken for curved, as others are, there are more calls."""
    start = np.append(np.random.default_rng(seed).uniform(-2, 2, 4), 0.0)
    at = situation()._replace(space=space_of(Box([-1e9] * 5, [1e9] * 5), start, np.full(4, 1e-6)))
    calls = []
    for ablation in (False, True):
        run, spent = smooth_phase.begin(start, epigraph(start), 4, 1.0, 1.0), 0
        while spent < 600 and max(abs(epigraph(run.next_x)[0]), epigraph(run.next_x)[1:].max()) > 1e-5:
            run, points = smooth_phase.request(run, at)
            run = smooth_phase.receive(run, epigraph(points), at)
            spent += len(points)
            run = run._replace(curved=run.curved | ablation)
        np.testing.assert_array_equal(run.linear, [False] * 4 + [not ablation])
        assert ablation or not run.hessian[4].any()
        calls.append(spent)
    assert calls[0] < 120 and calls[0] < 0.9 * calls[1], calls


def test_no_variable_is_linear_where_no_slope_changed_or_none_has_moved() -> None:
    run = smooth_phase.begin(START, joint(START), 2, 1.0, 1.0)
    assert not course(run, situation(), 12)[-1].linear.any()  # slopes change along both variables
    flat = course_of(run, lambda x: np.stack([x[..., 0] + x[..., 1], x[..., 0], x[..., 1]], axis=-1), 4)[-1]
    assert flat.known and not flat.curved.any() and not flat.linear.any()


def test_refused_steps_shrink_the_region_and_do_not_end_the_run() -> None:
    at = situation()
    run = course(smooth_phase.begin(START, joint(START), 2, 1.0, 1.0), at, 1)[-1]
    for _ in range(10):
        run, points = smooth_phase.request(run, at)
        run = smooth_phase.receive(run, np.array([[1e6, -1.0, -1.0]] * len(points)), at)
    assert run.phase == "trial" and not run.polished and run.stall == 0 and run.radius < 1e-2


@pytest.mark.parametrize(("gain", "share"), [(-1e-9, 0.5), (1.0, None)])
def test_a_correction_that_leads_back_does_not_shrink_the_region_to_nothing(gain: float, share: float | None) -> None:
    at = situation()
    run = course(smooth_phase.begin(START, joint(START), 2, 1.0, 1.0), at, 1)[-1]
    run, points = smooth_phase.request(run, at)
    bad = np.array([[1e3, 5.0, -1.0]])
    run = smooth_phase.receive(run, bad, at)
    assert run.phase == "correction"
    length = float(np.abs(run.step.d).max())
    run, _ = smooth_phase.request(run, at)
    run = run._replace(step=run.step._replace(d=np.full(2, 1e-8)))  # next to x: better than the step, and no gain
    value = joint(START) - np.array([gain * run.predicted * run.size[0], 0.0, 0.0])
    after = smooth_phase.receive(run, value[None], at)
    if share is None:
        assert after.phase == "gradient"  # one that gains is taken, however short it is
    else:
        assert after.phase == "trial" and after.radius == pytest.approx(share * min(run.radius, length))
        np.testing.assert_array_equal(after.x, START)


def test_a_constraint_whose_slope_vanishes_at_the_start_is_in_units_of_its_value() -> None:
    def flat(x: Array) -> Array:
        """f = x0 + x1, h = 1.5 - x0 x1 from the origin, whose slope is zero there, and x0 - 3 x1."""
        z = x - START
        return np.stack([z.sum(axis=-1), 1.5 - z[..., 0] * z[..., 1], z[..., 0] - 3 * z[..., 1]], axis=-1)

    run = smooth_phase.begin(START, flat(START), 2, 1.0, 1.0)
    size = course_of(run, flat, 1)[-1].size
    np.testing.assert_allclose(size, [1.5, 1.5, 3.0], rtol=1e-6)
