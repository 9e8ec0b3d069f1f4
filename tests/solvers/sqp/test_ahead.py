"""Parallel calls: batches are filled with what may be needed next, and the course needs fewer of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz import AskTell, Run, Store, minimize
from zoviz.core.sets import Box
from zoviz.core.types import Array
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


def batches(parallel: int, calls: int, function=bent, sd: float = 0.0) -> list[Array]:
    """The points (q, n) of every batch."""
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


def rounds_until(made: list[Array], gap: float, at_once: int, function=bent) -> int:
    """Rounds of so many calls at a time until a feasible point is within a gap of the best value known."""
    least = minimize(function, np.full(N, 0.4), bounds=[(-2, 2)] * N, joint=True, max_calls=3000, stop="budget").fun
    rounds = 0
    for points in made:
        rounds += -(-len(points) // at_once)
        values = [function(x) for x in points]
        if min((f for f, h in values if h[0] <= 1e-6), default=np.inf) <= least + gap:
            return rounds
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
    guesses = ahead.after_step(run, x, run.step.d, 1.0, 8, space)
    np.testing.assert_allclose(guesses[:3], run.x + np.outer([0.3, 0.1, 0.6], x - run.x))
    np.testing.assert_array_equal(guesses[3:], ahead.around(run, x, space)[:4])


def test_batches_are_filled_and_the_optimum_is_reached_in_fewer_rounds() -> None:
    serial, parallel = batches(1, 400), batches(8, 700)
    assert rounds_until(parallel, 1e-6, 8) <= 0.65 * rounds_until(serial, 1e-6, 8)
    assert np.mean([len(points) for points in parallel]) > 5.0 > 3.5 > np.mean([len(points) for points in serial])


def test_calls_ahead_do_not_change_where_whole_steps_lead() -> None:
    serial, parallel = batches(1, 60, bowl), np.concatenate(batches(8, 120, bowl))
    trials = [points[0] for points in serial if len(points) == 1]
    assert all((parallel == x).all(axis=1).any() for x in trials[:6])


@pytest.mark.parametrize("sd", [0.0, 1e-3])
def test_budgets_are_kept_and_used(sd: float) -> None:
    for calls in (7, 30, 75):
        assert sum(len(points) for points in batches(8, calls, sd=sd)) <= calls


def test_under_noise_a_trial_brings_points_of_the_next_design() -> None:
    made = batches(8, 600, sd=1e-3)
    serial = batches(1, 600, sd=1e-3)
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
