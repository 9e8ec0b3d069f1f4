"""Theorem 3.6 of paper sogd, small: with recursive directions the regret falls faster, without them it does not."""

from __future__ import annotations

import numpy as np

from zoviz.papers.sogd.theorem_3_6 import RECURSION, WEIGHTS_1, Theorem36, later_regret
from zoviz.problems import QuadraticBilevel
from zoviz.runs.run import Run
from zoviz.solvers import SOGD
from zoviz.studies.verdict import fit


def test_the_noise_s_regret_falls_faster_with_the_recursion_than_without_it() -> None:
    experiment = Theorem36(size="quick")
    horizons = experiment.settings["horizons"]
    rows = [
        [experiment.values("drift none", method, T)["later regret"] for T in horizons]
        for method in (RECURSION, WEIGHTS_1)
    ]
    ours, without = (fit(horizons, np.array(one)) for one in rows)
    assert ours.value < without.value and (ours.levels < without.levels).all()


def test_the_later_regret_is_the_mean_over_the_later_half() -> None:
    run = Run(problem=QuadraticBilevel(n=2, d=2), solver=SOGD(), replicas=2, iterations=20)
    slopes: list[np.ndarray] = []
    run.run(lambda: slopes.append(np.square(run.trace["hypergradient"][-1])))
    np.testing.assert_allclose(later_regret(run, 10), np.mean(slopes[5:10], axis=0))
    np.testing.assert_allclose(later_regret(run, 20), np.mean(slopes[10:], axis=0))
