"""Theorem 3.6 of paper sogd, small: with recursive directions the regret is less than without them."""

from __future__ import annotations

import numpy as np

from zoviz.papers.sogd.theorem_3_6 import LATER_REGRET, RECURSION, WEIGHTS_1, Theorem36, later_regret
from zoviz.problems import QuadraticBilevel
from zoviz.runs.run import Run
from zoviz.solvers import SOGD


def test_the_noise_s_regret_is_smaller_with_the_recursion_than_without_it() -> None:
    experiment = Theorem36(size="quick")
    horizons = experiment.settings["horizons"]
    parts = [part for part in experiment.parts() if "none" in part]
    assert parts == [f"drift none / {method} / {horizons[-1]}" for method in (RECURSION, WEIGHTS_1)]
    measured = {part: experiment.measure(part) for part in parts}
    ours, without = (experiment.fit(measured, "drift none", name, LATER_REGRET) for name in (RECURSION, WEIGHTS_1))
    assert (ours.levels < without.levels).all() and ours.draws.size == experiment.settings["instances"]


def test_a_walk_slows_down_and_has_no_period_in_the_logarithm_of_rounds() -> None:
    problem = QuadraticBilevel(drift="walk")
    places = np.array([problem.vectors(t) for t in range(1, 4096)])
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    early, late = steps[10:20].mean(), steps[1000:2000].mean()
    assert 0.3 < late / early * 100.0 < 3.0, "steps of order 1 / t"
    np.testing.assert_array_equal(problem.vectors(2**14), problem.vectors(2**20), "the walk rests")
    np.testing.assert_array_equal(problem.vectors(7), QuadraticBilevel(drift="walk").vectors(7))


def test_the_later_regret_is_the_mean_over_the_later_half() -> None:
    run = Run(problem=QuadraticBilevel(n=2, d=2), solver=SOGD(), replicas=2, iterations=20)
    slopes: list[np.ndarray] = []
    run.run(lambda: slopes.append(np.square(run.trace["hypergradient"][-1])))
    np.testing.assert_allclose(later_regret(run, 10), np.mean(slopes[5:10], axis=0))
    np.testing.assert_allclose(later_regret(run, 20), np.mean(slopes[10:], axis=0))
