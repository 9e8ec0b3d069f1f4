"""Parallel calls: workers begin with what may be needed next, and the optimum is reached sooner."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz import AskTell, Run, Store, minimize
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.papers.minimize.simulated_workers import Course, equal, simulated, tenfold
from zoviz.problems import BlackBox
from zoviz.solvers import ZOSQP
from zoviz.solvers.sqp import ahead
from zoviz.solvers.sqp.ahead import Ahead
from zoviz.solvers.sqp.situation import space_of
from zoviz.solvers.sqp.sqp_run import SQPRun

N = 5
CENTRE = np.linspace(-1.0, 1.0, N)


def bent(x: Array) -> tuple[float, list[float]]:
    """A valley along a parabola, and a disc: the minimum is known from a run of its own."""
    f = float(((x - CENTRE) ** 2).sum() + 20.0 * (x[1] - x[0] ** 2) ** 2)
    return f, [float((x**2).sum() - 1.0)]


def bowl(x: Array) -> tuple[float, list[float]]:
    """A bowl, ten times as steep along the first variable, where first steps lead."""
    return float(np.array([50.0, 5.0, 4.0, 3.0, 2.0]) @ (x - CENTRE) ** 2), [float(x.sum() - 1.0)]


def problem(function=bent, **options) -> BlackBox:
    options = {"noise": "deterministic"} | options
    return BlackBox(function, bounds=[(-2, 2)] * N, x0=np.full(N, 0.4), joint=True, m=1, **options)


def by_workers(parallel: int, workers: int, calls: int, seconds=equal, function=bent, sd: float = 0.0) -> Course:
    """What so many workers make of a session whose batches are for ``parallel`` of them."""
    noise = "independent" if sd else "deterministic"
    session = AskTell(problem(function, noise=noise), ZOSQP(parallel_calls=parallel), calls=calls, seed=3)

    def values(number: int, x: Array) -> tuple[float, Array]:
        error = sd * np.random.default_rng([4, number]).standard_normal(2)
        f, h = function(x)
        return f + error[0], np.array(h) + error[1:]

    return simulated(session, values, seconds, workers)


def asked(parallel: int, calls: int, function=bent, sd: float = 0.0) -> list[Array]:
    """The points (q, n) of every batch, where nobody begins with those ahead."""
    generator = np.random.default_rng(4)
    noise = "independent" if sd else "deterministic"
    session = AskTell(problem(function, noise=noise), ZOSQP(parallel_calls=parallel), calls=calls, seed=3)
    made = []
    while not session.done:
        batch = session.ask()
        made.append(batch.x)
        f, h = (np.array(column) for column in zip(*map(function, batch.x), strict=True))
        session.tell(batch, f + sd * generator.standard_normal(f.shape), h + sd * generator.standard_normal(h.shape))
    return made


def seconds_until(course: Course, gap: float, function=bent) -> float:
    """Seconds until the point to be returned is feasible and within a gap of the best value known."""
    least = minimize(function, np.full(N, 0.4), bounds=[(-2, 2)] * N, joint=True, max_calls=3000, stop="budget").fun
    for seconds, x in zip(course.times, course.points, strict=True):
        f, h = function(x)
        if h[0] <= 1e-6 and f <= least + gap:
            return seconds
    raise AssertionError("not reached")


def test_what_is_known_is_found_by_its_point_and_the_oldest_is_forgotten() -> None:
    known = Ahead(np.empty((0, 2)), np.empty((0, 3)))
    points = np.arange(8.0).reshape(4, 2)
    assert not known.at(points)[0].any()
    known = known.add(points[:2], np.array([[1.0, 2.0, 3.0], [np.nan, 0.0, 0.0]]))
    found, values = known.at(points)
    np.testing.assert_array_equal(found, [True, False, False, False])  # what failed is not taken for known
    np.testing.assert_array_equal(values[0], [1.0, 2.0, 3.0])
    for k in range(4):
        known = known.add(100.0 + points[:2] + k, np.zeros((2, 3)))
    assert not known.at(points[:1])[0].any() and len(known.points) == 8


def test_after_a_whole_step_differences_come_first_and_after_a_short_one_shorter_steps() -> None:
    space = space_of(Box(np.full(N, -2.0), np.full(N, 2.0)), np.full(N, 0.4), np.full(1, 1e-6))
    run = SQPRun.start(np.full(N, 0.4), np.zeros(2), 1, 1.0, 1.0)
    run.step = run.step._replace(d=np.full(N, 0.1))
    x = run.ahead(space)
    guesses = ahead.after_step(run, x, run.step.d, 1.0, 8, space)
    np.testing.assert_array_equal(guesses[:N], ahead.around(run, x, space))
    np.testing.assert_allclose(guesses[N:], run.x + np.outer([0.3, 0.1], x - run.x))
    run.whole = False
    np.testing.assert_array_equal(ahead.after_step(run, x, run.step.d, 1.0, 8, space), guesses)  # workers for all
    guesses = ahead.after_step(run, x, run.step.d, 1.0, 5, space)
    np.testing.assert_allclose(guesses[:3], run.x + np.outer([0.3, 0.1, 0.6], x - run.x))
    np.testing.assert_array_equal(guesses[3:], ahead.around(run, x, space)[:1])


def test_the_optimum_is_reached_in_fewer_rounds() -> None:
    serial, parallel = by_workers(1, 8, 400), by_workers(8, 8, 700)
    assert seconds_until(parallel, 1e-6) <= 0.65 * seconds_until(serial, 1e-6)
    assert parallel.idle < 0.45 < 0.5 < serial.idle


def test_a_step_that_fails_does_not_wait_for_what_would_have_followed() -> None:
    session = AskTell(problem(), ZOSQP(parallel_calls=8), calls=200, seed=3)
    while len(session.ask().ids) > 1 or len(session.ahead().ids) != 7:
        batch = session.ask()
        session.tell(batch, *zip(*map(bent, batch.x), strict=True))
    trial, guesses = session.ask(), session.ahead()
    assert len(trial.ids) == 1 and len(guesses.ids) == 7
    session.tell(trial, [1e6], [[1e6]])
    after, later = session.ask(), session.ahead()
    assert after.ids[0] not in guesses.ids, "another step, while differences around the refused one are under way"
    assert np.isin(guesses.ids, after.ids).all(), "what may have begun is charged"
    assert not np.isin(later.ids, guesses.ids).any() and len(later.ids) == 7


@pytest.mark.slow
def test_with_unequal_durations_the_optimum_is_reached_three_times_as_fast_as_by_one_worker() -> None:
    one, many = ([seconds_until(by_workers(k, k, 700, tenfold(seed)), 1e-6) for seed in range(3)] for k in (1, 8))
    assert sum(one) > 3.0 * sum(many)


def test_calls_ahead_do_not_change_where_whole_steps_lead() -> None:
    serial, parallel = asked(1, 60, bowl), np.concatenate(asked(8, 120, bowl))
    trials = [points[0] for points in serial if len(points) == 1]
    assert all((parallel == x).all(axis=1).any() for x in trials[:6])


@pytest.mark.parametrize("sd", [0.0, 1e-3])
def test_budgets_are_kept_and_used(sd: float) -> None:
    for calls in (7, 30, 75):
        assert sum(len(points) for points in asked(8, calls, sd=sd)) <= calls


def test_under_noise_a_trial_brings_points_of_the_next_design() -> None:
    made = asked(8, 600, sd=1e-3)
    serial = asked(1, 600, sd=1e-3)
    assert sum(-(-len(points) // 8) for points in made) < 0.8 * sum(-(-len(points) // 8) for points in serial)


def test_a_stored_course_goes_on_as_it_would_have(tmp_path: Path) -> None:
    whole = Run(problem(), ZOSQP(parallel_calls=8), replicas=2, calls=200, seed=1)
    whole.run()
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        for calls in (20, 90):
            part = Run(problem(), ZOSQP(parallel_calls=8), replicas=2, calls=200, seed=1, store=store)
            part.run(lambda part=part, calls=calls: part.stop() if part.progress.calls >= calls else None)
            rest = store.load(part.id).resume(problem=problem())
            rest.run()
            np.testing.assert_array_equal(rest.trace["objective"], whole.trace["objective"], err_msg=f"{calls} calls")


def test_workers_set_the_option_and_nothing_else_does() -> None:
    options = {"joint": True, "bounds": [(-2, 2)] * N, "max_calls": 240, "method": "ZOSQP"}
    filled = minimize(bent, np.full(N, 0.4), workers=3, **options)
    same = minimize(bent, np.full(N, 0.4), options={"parallel_calls": 3}, **options)
    np.testing.assert_array_equal(filled.x, same.x)
    serial = minimize(bent, np.full(N, 0.4), **options)
    assert filled.calls / filled.nit == same.calls / same.nit > serial.calls / serial.nit
