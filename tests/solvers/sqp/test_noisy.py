"""The end of the noisy arm: an answer outside the constraints is led back among them, as far as it takes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from helpers.loops import assert_iterations_can_be_begun_anew, played, played_until
from zoviz import Run
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.solvers import ZOSQP
from zoviz.solvers.batches import Loop
from zoviz.solvers.sqp import archive as archives
from zoviz.solvers.sqp.constants import STANDARD
from zoviz.solvers.sqp.descent import Descent
from zoviz.solvers.sqp.noisy import Noisy
from zoviz.solvers.sqp.race import Race
from zoviz.solvers.sqp.situation import Settings, Space, StepContext

NOISE, WAY = 1e-3, 0.03
SPACE = Space(-np.ones(2), np.ones(2), np.ones(2), np.zeros(2), np.full(1, 1e-6))
SETTINGS = Settings(1.0, 0.7, 1.0, 1.0, 3.0, 0.1)


def truth(x: Array) -> Array:
    """Return f = x_1 + x_2^2 and h = 0.03 - x_1 at points (q, 2), as (q, 2)."""
    return np.stack([x[..., 0] + np.square(x[..., 1]), WAY - x[..., 0]], axis=-1)


def noisy(x: Array, generator: np.random.Generator) -> Array:
    """Return the same with noise of sd 1e-3."""
    return truth(x) + NOISE * generator.standard_normal((len(x), 2))


def context(left: int, budget: int) -> StepContext:
    return StepContext(SETTINGS, left, budget, 40, False, True, left)


def begin(arm: Noisy) -> Loop:
    return arm.loop(SPACE, lambda values, scattered: np.zeros(2))


def stranded(generator: np.random.Generator) -> Noisy:
    """Return an arm before its race: outside by 0.03, in a trust region of 0.005, with calls around it."""
    start = np.zeros((2, 2))
    arm = Noisy.start(start, noisy(start, generator), context(400, 4000), SPACE)
    near = np.concatenate([generator.uniform(-size, size, (60, 2)) for size in (0.008, 0.05)])
    points = np.repeat(near, 2, axis=0)
    arm.archive, _ = archives.add(arm.archive, points, noisy(points, generator))
    arm.descent = Descent.start(np.zeros(2), 1, 0.005, 1.0, False, 3600)
    arm.repeats, arm.racing = 0, True
    return arm


def answer(seed: int) -> Array:
    """Return the true f and h (2,) where the arm ends, of its last 400 calls."""
    generator = np.random.default_rng(seed)
    arm = stranded(generator)
    played_until(400, arm, begin, lambda x: noisy(x, generator), lambda spent: context(400 - spent, 4000))
    return truth(arm.x)


@pytest.mark.parametrize("seed", range(3))
def test_an_answer_that_no_call_confirms_is_led_back_among_the_constraints(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    f, h = answer(seed)
    assert h <= 0.0 and f <= WAY + 5.0 * NOISE
    monkeypatch.setattr(Race, "is_confirmed", lambda race, tolerance: True)
    assert answer(seed)[1] > 20.0 * NOISE, "without it, every call is spent on the same points outside"


def cone(x: Array) -> tuple[float, Array]:
    """The 1-norm, least at the start, where the constraint is -1."""
    return float(np.abs(x).sum()), np.array([np.exp(4.0 * x[0]) - 2.0 + 3.0 * np.square(x).sum()])


def ends_of_the_cone() -> Array:
    """Return f at what four runs with noise of 0.1 report that begin at the optimum."""
    problem = BlackBox(
        cone,
        joint=True,
        m=1,
        x0=[0.0] * 10,
        bounds=[(-3.0, 3.0)] * 10,
        scaled=False,
        noise="independent",
        noise_scale=0.1,
        noise_constraint_scale=0.1,
    )
    runs = [Run(problem=problem, solver=ZOSQP(), replicas=1, calls=300, seed=seed) for seed in range(4)]
    return np.array([cone(run.run().x[0])[0] for run in runs])


def test_a_start_that_is_surely_feasible_is_a_candidate_for_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    with_start = ends_of_the_cone()
    monkeypatch.setattr(Noisy, "start_f", property(lambda arm: np.inf, lambda arm, value: None))
    without = ends_of_the_cone()
    assert (with_start == 0.0).any() and (without > 0.0).all()
    assert with_start.mean() < 0.8 * without.mean()


def test_a_quiet_start_tells_nothing_of_the_noise_elsewhere() -> None:
    start, value = np.zeros((2, 2)), truth(np.zeros((1, 2)))
    for values, calls in ((np.tile(value, (8, 1)), 2), (noisy(np.zeros((8, 2)), np.random.default_rng(1)), 1)):
        arm = Noisy.start(start, values[:2], context(398, 400), SPACE)

        def function(x: Array, values: Array = values) -> Array:
            return values[2:] if (x == 0.0).all() and len(x) == 6 else truth(x)

        made = played(arm, begin(arm), function, lambda spent: context(398 - spent, 400))
        first = next(made)
        assert first.purpose == "replicate" and (first.memory.archive.degrees == 0.0) == (calls == 2)
        trial = next(batch for batch in made if batch.purpose == "trial")
        assert len(trial.points) == calls and (trial.points == trial.points[0]).all()


def test_the_loop_of_a_memory_goes_on_where_an_iteration_of_another_began() -> None:
    """From every beginning of an iteration of several descents and of the race."""
    generator = np.random.default_rng(0)
    values = {}  # a call's values are those of its ordinal

    def function(x: Array) -> Array:
        for one in x:
            values.setdefault(one.tobytes(), noisy(one[None], generator)[0])
        return np.array([values[one.tobytes()] for one in x])

    def at(spent: int) -> StepContext:
        return context(900 - spent, 900)

    start = np.zeros((2, 2))
    arm = Noisy.start(start, noisy(start, generator), at(2), SPACE)
    made = played_until(900, arm, begin, function, at, 2)
    assert {batch.purpose for batch in made} == {"replicate", "design", "trial", "race"} and arm.starts > 1
    assert_iterations_can_be_begun_anew(made, begin, function, at, 2)


def common(left: int) -> StepContext:
    return StepContext(SETTINGS, left, 300, 40, True, True, left)


class Shared:
    """An arm of 300 calls, whose batches have noise of size 1 in common."""

    def __init__(self, space: Space = SPACE) -> None:
        self.generator, start = np.random.default_rng(5), np.zeros((2, 2))
        arm = Noisy.start(start, truth(start) + [[0.1], [-0.1]], common(298), space)

        def begin(arm: Noisy) -> Loop:
            return arm.loop(space, lambda values, scattered: np.zeros(2))

        self.batches = played_until(298, arm, begin, self.values, lambda spent: common(298 - spent))

    def values(self, x: Array) -> Array:
        return truth(x) + self.generator.standard_normal(2) + 0.01 * self.generator.standard_normal((len(x), 2))


def test_no_point_comes_twice_in_a_batch_of_shared_noise() -> None:
    batches = Shared().batches
    assert all(len(np.unique(one.points, axis=0)) == len(one.points) for one in batches)
    assert {len(one.points) for one in batches if one.purpose == "replicate"} == {1}
    sizes = {word: max(len(one.points) for one in batches if one.purpose == word) for word in ("trial", "race")}
    assert sizes["trial"] == 2 and sizes["race"] > 2, "trials are called with the centre, candidates together"
    assert sum(len(one.points) for one in batches) == 298


def test_after_some_sweeps_each_call_has_noise_of_its_own_but_those_of_a_round_between_candidates() -> None:
    late = SPACE._replace(constants=replace(STANDARD, shared_sweeps=30))
    whole = Shared(late)
    spent = np.cumsum([len(one.points) for one in whole.batches])
    after = [one for one, calls in zip(whole.batches, spent, strict=True) if calls > 30 * 3 + 40]
    sizes = {word: {len(one.points) for one in after if one.purpose == word} for word in ("design", "trial", "race")}
    assert sizes["design"] == sizes["trial"] == {1} and max(sizes["race"]) > 2
    assert whole.batches[-1].memory.archive.batches is None


def test_an_arm_of_shared_noise_is_begun_anew_at_every_iteration() -> None:
    start = np.zeros((2, 2))
    arm = Noisy.start(start, truth(start) + [[0.1], [-0.1]], common(298), SPACE)

    def values(x: Array) -> Array:
        return truth(x) + np.sin(1e4 * x.sum()) + 0.01 * np.sin(1e5 * x)

    made = played_until(250, arm, begin, values, lambda spent: common(298 - spent))
    assert_iterations_can_be_begun_anew(made, begin, values, lambda spent: common(298 - spent))
