"""The noise-free arm: its first steps against a loop written by hand, its ends, restarts and last calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from helpers.loops import Batch, assert_iterations_can_be_begun_anew, played_until
from zoviz import Run, minimize
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.oracle.quantum import quantum
from zoviz.problems import BlackBox
from zoviz.solvers import ZOSQP
from zoviz.solvers.batches import Loop
from zoviz.solvers.sqp.constants import STANDARD
from zoviz.solvers.sqp.elastic_qp import Linearisation, solve
from zoviz.solvers.sqp.exact import Exact
from zoviz.solvers.sqp.situation import Settings, Space, StepContext, space_of
from zoviz.solvers.sqp.sqp_run import Promise, SQPRun

START = np.array([1.5, -0.5])
SETTINGS = Settings(1.0, 0.7, 1.0, 1.0, 3.0, 0.1)


def joint(x: Array) -> Array:
    """f = (x0 - 2)^2 + 2 (x1 - 1)^2 + x0 x1, h = x0^2 + x1^2 - 2 and x0 - 3 x1."""
    f = (x[..., 0] - 2) ** 2 + 2 * (x[..., 1] - 1) ** 2 + x[..., 0] * x[..., 1]
    return np.stack([f, x[..., 0] ** 2 + x[..., 1] ** 2 - 2, x[..., 0] - 3 * x[..., 1]], axis=-1)


def slopes(x: Array) -> Array:
    of_f = [2 * (x[0] - 2) + x[1], 4 * (x[1] - 1) + x[0]]
    return np.array([of_f, [2 * x[0], 2 * x[1]], [1.0, -3.0]])


def rounded(values: Array, scattered: bool) -> Array:
    return quantum(values, 0.0, scattered)


def batches(
    function: Callable[[Array], Array] = joint,
    *,
    run: SQPRun | None = None,
    start: Array = START,
    half: float = 4.0,
    settings: Callable[[int], Settings] = lambda spent: SETTINGS,
    calls: int = 1000,
    seed: int = 0,
    ablated: bool = False,
    **constants: float,
) -> list[Batch]:
    """The batches of the noise-free arm in a box of this half-width, until its calls are made."""
    space = space_of(Box(np.full(len(start), -half), np.full(len(start), half)), start, np.full(4, 1e-6))
    value = function(start[None])[0]
    space = space._replace(tolerance=space.tolerance[: len(value) - 1], constants=replace(STANDARD, **constants))
    arm = Exact.start(start, value, 1.0)
    arm.run = run or arm.run

    def context(spent: int) -> StepContext:
        if ablated:
            arm.run.curved = np.ones(len(start), dtype=bool)
        return StepContext(settings(spent), calls - spent, calls, 40, False, False, seed + spent)

    return played_until(calls, arm, lambda one: one.loop(space, rounded), function, context, 1)


def first_run(made: list[Batch]) -> list[Batch]:
    return [batch for batch in made if batch.memory.runs == 1]


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
        model = Linearisation(hessian, derivatives[0], derivatives[1:], value[1:], lower, upper)
        step = solve(model, penalty, 1e-13)
        while step.violation > 0.1 * np.maximum(value[1:], 0.0).sum() + 1e-9:  # every linearisation here can be met
            penalty *= 10.0
            step = solve(model, penalty, 1e-13)
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
        assert merit[0] - merit[1] > 0.25 * predicted, "a step of this loop is neither refused nor corrected"
        if np.abs(step.d).max() > 0.7 * radius:
            radius *= 2.5
        after = x + scale * step.d
        change = np.append(1.0, step.multipliers) / size @ (slopes(after) - slopes(x)) * scale
        s, y = (after - x) / scale, change
        if first:
            hessian, first = 0.1 * np.eye(2) * (s @ y) / (s @ s), False
        assert s @ y > 0.2 * s @ hessian @ s, "no damping either"
        hessian = hessian - np.outer(hessian @ s, hessian @ s) / (s @ hessian @ s) + np.outer(y, y) / (s @ y)
        x = after
        points.append(x)
    return points


def test_first_steps_are_those_of_a_loop_by_hand() -> None:
    places = [START]
    for batch in batches(calls=30):
        if not np.array_equal(batch.memory.run.x, places[-1]):
            places.append(batch.memory.run.x)
    expected = by_hand(3)
    np.testing.assert_allclose(places[: len(expected)], expected, atol=2e-5)


def test_a_run_ends_at_the_solution_after_a_second_part_with_central_differences() -> None:
    made = first_run(batches())
    run = made[-1].memory.run
    assert run.central and not made[0].memory.run.central and len(made) < 200
    slope, h = slopes(run.x), joint(run.x)[1:]
    assert h.max() < 1e-7
    active = h > -1e-7
    multipliers = np.linalg.lstsq(slope[1:][active].T, -slope[0], rcond=None)[0]
    assert (multipliers > 0).all()
    np.testing.assert_allclose(slope[0] + multipliers @ slope[1:][active], 0.0, atol=1e-5)


def test_the_scale_of_the_radius_counts_from_the_next_step_on() -> None:
    made = batches(settings=lambda spent: SETTINGS._replace(trust_scale=1.0 if spent < 2 else 1e-3), calls=6)
    assert [batch.purpose for batch in made[:2]] == ["differences", "trial"]
    assert np.abs((made[1].points[0] - START) / [1.5, 1.0]).max() == pytest.approx(1e-3, rel=1e-6)


def test_a_restoration_ends_where_the_constraints_are_met() -> None:
    start = np.array([3.0, -3.0])
    restoring = SQPRun.start(start, joint(start), 2, 1.0, 1.0, restoring=True)
    made = batches(start=start, run=restoring)
    end = first_run(made)[-1].memory.run
    assert end.restoring and len(first_run(made)) < 60
    assert np.maximum(joint(end.x)[1:], 0.0).max() < 1e-9
    after = made[len(first_run(made))].memory.run
    assert not after.restoring and np.array_equal(after.last_x, end.x)


def test_after_a_failed_trial_a_tenth_of_the_step_is_tried() -> None:
    def only_near(x: Array) -> Array:
        return np.where((np.abs(x - START).max(axis=-1) < 1e-3)[:, None], joint(x), np.inf)

    trials = [batch for batch in batches(only_near, calls=30) if batch.purpose == "trial"]
    np.testing.assert_array_equal(trials[2].memory.run.x, START)
    steps = [batch.points[0] - START for batch in trials[:3]]
    np.testing.assert_allclose(steps[1:], [0.1 * steps[0], 0.01 * steps[0]], rtol=1e-6)


def test_a_refused_step_shrinks_the_region_to_it() -> None:
    run, _, promise = one_step()
    whole, share, uphill = run.step.d, 1.0, joint(START) + [1e6, 0.0, 0.0]
    for _ in range(4):
        assert not run.accepts(uphill, share, promise.slope, STANDARD)
        share = run.shorten(uphill, share, promise.slope)
        run.step = run.step._replace(d=share * whole)
    run.refuse(STANDARD)
    assert share == pytest.approx(1e-4) and run.radius == pytest.approx(1e-4 * np.abs(whole).max()) and run.stall == 1


def test_a_shorter_step_is_the_minimiser_of_a_parabola_and_its_region_holds_it_several_times() -> None:
    run, _, promise = one_step()
    run.step, start = run.step._replace(d=np.array([0.2, -0.1])), joint(START)
    worse = start + np.array([promise.slope * run.size[0], 0.0, 0.0])
    assert not run.accepts(worse, 1.0, promise.slope, STANDARD) and run.radius == 1.0
    assert run.shorten(worse, 1.0, promise.slope) == pytest.approx(0.25), "of phi(t) = -s t + 2 s t^2"
    better = start - np.array([0.5 * promise.slope * run.size[0], 0.0, 0.0])
    assert run.accepts(better, 0.25, promise.slope, STANDARD) and run.radius == pytest.approx(0.8)


def test_units_follow_slopes_that_are_far_apart_and_no_others() -> None:
    near, far = (
        batches(lambda x, s=s: joint(START + (x - START) * s), half=1e9, calls=4)[0].memory.run
        for s in ([1.0, 5.0], [1.0, 1e5])
    )
    np.testing.assert_array_equal(near.length, 1.0)
    assert far.length[0] / far.length[1] == pytest.approx(1e5, rel=0.99)
    for one in (near, far):
        steepest = np.abs(one.slopes * (np.array([1.5, 1.0]) * one.length)[:, None]).max(axis=0)
        np.testing.assert_allclose(steepest, 1.0, rtol=1e-3)


def test_hidden_units_do_not_keep_it_from_the_solution() -> None:
    hidden = np.array([1e-3, 1e3])
    plain, disguised = (
        first_run(batches(lambda x, s=s: joint(START + (x - START) / s), half=1e9))[-1].memory.run.x
        for s in (np.ones(2), hidden)
    )
    np.testing.assert_allclose(START + (disguised - START) / hidden, plain, atol=1e-5)


def test_the_last_part_begins_with_the_curvatures_of_the_lagrangian() -> None:
    run, multipliers = SQPRun.start(START, joint(START), 2, 1.0, 1.0, central=True), np.array([0.5, 2.0])
    run.step = run.step._replace(multipliers=multipliers)
    after = batches(run=run, calls=8)[0].memory.run
    second = np.array([[2.0, 4.0], [2.0, 2.0], [0.0, 0.0]])
    weights = np.append(1.0, multipliers) / after.size
    np.testing.assert_allclose(after.hessian, np.diag(weights @ second * np.array([1.5, 1.0]) ** 2), rtol=1e-4)


def epigraph(x: Array) -> Array:
    """f = t + 44 with four rows <= t: the exact penalty function of Rosen and Suzuki's problem; least f: -44."""
    a, b, c, d, t = (x[..., i] for i in range(5))
    squares = a**2 + b**2 + c**2 + d**2
    f = squares + c**2 - 5 * a - 5 * b - 21 * c + 7 * d
    h = [squares + a - b + c - d - 8, squares + b**2 + d**2 - a - d - 10, squares - d**2 + a**2 + 2 * a - b - d - 5]
    return np.stack([t + 44, f - t, *(f + 10 * one - t for one in h)], axis=-1)


def test_the_region_does_not_hold_a_variable_that_enters_linearly() -> None:
    """The bound t on the largest row: where it is taken for curved, as others are, there are more calls."""
    calls = np.zeros((6, 2), dtype=int)
    for seed, ablated in np.ndindex(calls.shape):
        start = np.append(np.random.default_rng(seed).uniform(-2, 2, 4), 0.0)
        for batch in batches(epigraph, start=start, half=1e9, calls=600, ablated=bool(ablated)):
            calls[seed, ablated], run = calls[seed, ablated] + len(batch.points), batch.memory.run
            if max(abs(run.value[0]), run.value[1:].max()) < 1e-5:
                break
        np.testing.assert_array_equal(run.linear, [False] * 4 + [not ablated])
        assert ablated or not run.hessian[4].any()
    assert (calls[:, 0] < 120).all() and (calls[:, 0] < calls[:, 1]).all(), calls
    assert calls[:, 0].sum() < 0.5 * calls[:, 1].sum(), calls


@pytest.mark.parametrize("keep", ["", "while searching"])
@pytest.mark.parametrize("x0", [[0.0, 0.0], [-1.0, 1.0], [0.5, 0.25]])
def test_a_start_at_the_bottom_of_a_valley_does_not_stretch_a_variable(x0: list[float], keep: str) -> None:
    """There f has no slope along x2, and by that of x1 alone its length was 1e5: 3000 calls led nowhere."""
    found = minimize(
        lambda x: (1.0 - x[0]) ** 2 + 100.0 * (x[1] - x[0] ** 2) ** 2,
        x0,
        constraints=lambda x: x[0] + x[1] - 3.0,
        keep=keep,
        max_calls=400,
    )
    assert found.fun < 1e-6


@pytest.mark.parametrize("lower", [-np.inf, 0.0])
@pytest.mark.parametrize("near", [1e-12, 1e-8, 1e-6, 1e-3])
def test_a_start_next_to_zero_is_left_in_few_steps(near: float, lower: float) -> None:
    """It is meant to be inside, or not to be 0: lengths of 1e-8 led nowhere with 4000 calls, of 1e-6 with 700."""
    found = minimize(lambda x: ((x - 1.0) ** 2).sum(), [near] * 3, bounds=[(lower, np.inf)] * 3, max_calls=200)
    assert found.fun < 1e-10


def test_no_differences_are_made_beside_the_start_where_no_value_is_known() -> None:
    """They would tell nothing, and cost n calls."""

    def valley(x: Array) -> Array:
        value = np.stack([(1.0 - x[..., 0]) ** 2 + 100.0 * (x[..., 1] - x[..., 0] ** 2) ** 2, x.sum(axis=-1)], axis=-1)
        return np.where(np.abs(x).max(axis=-1, keepdims=True) < 1e-3, value, np.nan)

    around, aside, then = batches(valley, start=np.zeros(2), calls=60)[:3]
    assert (around.purpose, aside.purpose, then.purpose) == ("differences", "trial", "trial")
    assert np.isnan(valley(aside.points)).all()


def test_no_variable_is_linear_where_no_slope_changed_or_none_has_moved() -> None:
    assert not batches(calls=30)[-1].memory.run.linear.any()  # slopes change along both variables
    flat = batches(lambda x: np.stack([x[..., 0] + x[..., 1], x[..., 0], x[..., 1]], axis=-1), half=1e9, calls=10)
    run = flat[-1].memory.run
    assert run.slopes.size and not run.curved.any() and not run.linear.any()


def one_step() -> tuple[SQPRun, Space, Promise]:
    """A run with derivatives at the start and its first step, the space in its units, and what the step promises."""
    space = space_of(Box([-4.0] * 2, [4.0] * 2), START, np.full(2, 1e-6))
    run = SQPRun.start(START, joint(START), 2, 1.0, 1.0)
    run.set_units(slopes(START).T, np.ones(2), space)
    run.measure_constants(slopes(START).T, None, space)
    return run, space, run.solve(space, 1.0)


@pytest.mark.parametrize("gain", [-1e-9, 1.0])
def test_a_correction_that_leads_back_does_not_take_the_steps_place(gain: float) -> None:
    run, space, promise = one_step()
    bad = np.array([1e3, 5.0, -1.0])
    assert run.is_poor(bad, promise.decrease, STANDARD)
    run.correct(space, 1.0, bad)
    back = joint(START) - np.array([gain * promise.decrease * run.size[0], 0.0, 0.0])
    assert run.serves(back, bad, promise.decrease, STANDARD) == (gain > 0.0)  # one that gains is taken, however short


def test_a_constraint_whose_slope_vanishes_at_the_start_is_in_units_of_its_value() -> None:
    run = SQPRun.start(START, np.array([0.0, 1.5, 0.0]), 2, 1.0, 1.0)
    space = space_of(Box([-4.0] * 2, [4.0] * 2), START, np.full(2, 1e-6))
    run.set_units(np.array([[1.0, 1.0], [0.0, 0.0], [1.0, -3.0]]).T, np.ones(2), space)
    np.testing.assert_allclose(run.size, [1.5, 1.5, 3.0])


LINE = np.array([-2.0])


def two_minima(x: Array) -> Array:
    """f = (x^2 - 1)^2 + 0.3 x, lowest near -1.04, and h = -1."""
    return np.stack([(x[:, 0] ** 2 - 1.0) ** 2 + 0.3 * x[:, 0], np.full(len(x), -1.0)], axis=-1)


def trap(x: Array) -> Array:
    """f = x^2 and an h that falls from the start to 0.1 at the bound -3, and is below 0 around 2 only."""
    return np.stack([x[:, 0] ** 2, 0.1 + 0.3 * (x[:, 0] + 3.0) - 3.0 * np.exp(-((x[:, 0] - 2.0) ** 2))], axis=-1)


def on_the_line(calls: int, function: Callable[[Array], Array] = two_minima, **constants: float) -> list[Batch]:
    far = SETTINGS._replace(restart_share=1.0)
    return batches(function, start=LINE, half=3.0, settings=lambda spent: far, calls=calls, **constants)


def polished(made: list[Batch]) -> set[bool]:
    """On which sides of zero runs after the first were polished."""
    arms = [batch.memory for batch in made]
    return {bool(arm.run.last_x[0] > 0.0) for arm in arms if arm.runs > 1 and arm.run.central}


def test_the_budget_is_spent_on_runs_and_the_best_point_is_the_lowest_minimum() -> None:
    made = on_the_line(1000)
    roots = np.roots([4.0, 0.0, -4.0, 0.3]).real
    lowest = roots[np.argmin(two_minima(roots[:, None])[:, 0])]
    assert made[-1].memory.runs > 5 and sum(len(batch.points) for batch in made) == 999
    assert made[-1].memory.best[0] == pytest.approx(lowest, abs=1e-6)


def test_only_runs_that_end_near_the_best_value_are_polished() -> None:
    assert polished(on_the_line(1000)) == {False}
    assert polished(on_the_line(1000, near_best=np.inf)) == {False, True}


def test_a_start_beside_the_least_violation_around_is_left() -> None:
    best = on_the_line(200, trap)[-1].memory.best
    assert best[0] > 0.0 and trap(best[None])[0, 1] == pytest.approx(0.0, abs=1e-5)
    # It restores again and again, as if that had gained something.
    assert on_the_line(200, trap, progress=np.inf)[-1].memory.best[0] == pytest.approx(-3.0)


def hyperbola(x: Array) -> tuple[float, list[float]]:
    """f = x_1 + 2 x_2 is least, 4, at (2, 1) on x_1 x_2 = 2: steps along tangents end outside."""
    return float(x[0] + 2.0 * x[1]), [2.0 / float(x[0] * x[1]) - 1.0]


def answers(budgets: Sequence[int]) -> dict[int, float]:
    """The objective of what ZOSQP reports from a start well inside, by the calls that it had; each is feasible."""
    out = {}
    for calls in budgets:
        problem = BlackBox(hyperbola, bounds=[(0.2, 10.0)] * 2, x0=[5.0, 5.0], joint=True, m=1)
        result = Run(problem, ZOSQP(), replicas=1, calls=calls, seed=0).run()
        f, h = hyperbola(result.x[0])
        assert h[0] <= 1e-6
        out[calls] = f
    return out


def test_whatever_the_budget_the_answer_is_feasible_and_far_better_than_the_start(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    objectives = answers(range(12, 40, 2))
    assert max(objectives.values()) < 10.0 and max(objectives[calls] for calls in objectives if calls >= 26) < 4.2
    monkeypatch.setattr(SQPRun, "is_outside", lambda *_: False)
    assert max(answers(range(12, 40, 2)).values()) == 15.0, "some budgets ended with an iterate outside, and the start"


def test_the_loop_of_a_memory_goes_on_where_an_iteration_of_another_began() -> None:
    """In a course with mirrored differences, restarts and last calls."""
    space = space_of(Box([-4.0] * 2, [4.0] * 2), START, np.full(2, 1e-6))

    def half(x: Array) -> Array:
        return np.where((x[..., 0] > 1.50000001)[..., None], np.inf, joint(x))

    def begin(arm: Exact) -> Loop:
        return arm.loop(space, rounded)

    def context(spent: int) -> StepContext:
        return StepContext(SETTINGS, 417 - spent, 417, 40, False, False, spent)

    made = played_until(417, Exact.start(START, joint(START), 1.0), begin, half, context, 1)
    assert {batch.purpose for batch in made} >= {"differences", "trial", "start", "last calls"}
    assert_iterations_can_be_begun_anew(made, begin, half, context, 1)


def test_a_run_where_a_violated_row_shows_no_slope_is_not_polished(monkeypatch: pytest.MonkeyPatch) -> None:
    def plateau(x: Array) -> Array:
        row = np.where(x[:, 0] > -1.0, x[:, 0] - 1.0, 1e3)
        return np.stack([np.square(x - 2.0).sum(axis=1), row], axis=-1)

    start = np.array([-3.0, 0.0])
    first = first_run(batches(plateau, start=start, calls=200))
    assert not any(batch.memory.run.central for batch in first)
    monkeypatch.setattr(SQPRun, "is_lost", lambda *_: False)
    assert len(first_run(batches(plateau, start=start, calls=200))) > 1.2 * len(first)


def test_a_smooth_function_is_not_rough_where_its_slopes_vanish() -> None:
    """Beside slopes of round-off alone, round-off of values would look rough."""
    run, space, _ = one_step()
    arm = Exact.start(START, joint(START), 1.0)
    arm.run, arm.steepest = run, np.ones(3)
    run.size = np.full(3, 1e-9)

    def measured() -> str:
        context = StepContext(SETTINGS, 100, 100, 40, False, False, 3)
        loop = arm.measure_roughness(context, space)
        request = next(loop)
        with pytest.raises(StopIteration):
            while True:
                values = joint(request[1]) + 1e-15 * np.random.default_rng(0).standard_normal((len(request[1]), 3))
                request = loop.send(values)
                request = loop.send(context) if request is None else request
        return arm.verdict

    assert measured() == "smooth"
    arm.steepest = run.size
    assert measured() == "rough"


def test_a_restart_far_above_the_best_point_goes_on_until_it_ends() -> None:
    made = batches(calls=400, seed=5)
    least = made[-1].memory.best_value[0]
    ends = {batch.memory.runs: batch.memory.run.value for batch in made[:-1]}
    last = max(ends)
    reached = [value[0] - least < 1e-6 * abs(least) for number, value in ends.items() if 1 < number < last]
    assert len(reached) > 5 and all(reached), "the problem is convex: every run leads to its solution"
