"""Paper sogd's rates, small: with recursive directions they hold or are nearer, without them they do not."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.sogd.theorems import first_order, later_regret, zeroth_order
from zoviz.problems import QuadraticBilevel
from zoviz.runs.run import Run
from zoviz.solvers import SOGD


def test_the_noise_s_regret_falls_faster_with_the_recursion_than_without_it() -> None:
    outcome = first_order("none", [200, 800], 5)
    assert outcome.discriminates and outcome.ablation_fails
    assert (outcome.levels[:, 0] < outcome.levels[:, 1]).all()


def test_recursion_and_batches_each_lower_what_zo_sogd_regrets() -> None:
    outcomes = zeroth_order("none", [60, 240], 12)
    assert outcomes["weights 1"].lower and outcomes["batches of 1"].lower


@pytest.mark.slow
def test_under_slow_drift_the_rate_of_theorem_3_6_holds_and_fails_without_the_recursion() -> None:
    outcome = first_order("slow", [500, 2000, 8000], 8)
    assert outcome.holds and outcome.discriminates and outcome.ablation_fails


def test_the_later_regret_is_the_mean_over_the_later_half() -> None:
    run = Run(problem=QuadraticBilevel(n=2, d=2), solver=SOGD(), replicas=2, iterations=20)
    slopes: list[np.ndarray] = []
    run.run(lambda: slopes.append(np.square(run.trace["hypergradient"][-1])))
    np.testing.assert_allclose(
        later_regret(run, [10, 20]), [np.mean(slopes[5:10], axis=0), np.mean(slopes[10:], axis=0)]
    )
