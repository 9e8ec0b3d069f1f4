"""Theorem 3.6 of paper sogd, small: with recursive directions the regret falls faster, without them it does not."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.comparison import compared
from zoviz.papers.sogd.theorem_3_6 import RECURSION, WEIGHTS_1, Theorem36, later_regret
from zoviz.problems import QuadraticBilevel
from zoviz.runs.run import Run
from zoviz.solvers import SOGD


def test_the_noise_s_regret_falls_faster_with_the_recursion_than_without_it() -> None:
    experiment = Theorem36(size="quick")
    horizons = experiment.settings["horizons"]
    rows = [
        [experiment.values("drift none", method, T)["later regret"] for T in horizons]
        for method in (RECURSION, WEIGHTS_1)
    ]
    outcome = compared(-2.0 / 3.0, horizons, np.array(rows))
    assert outcome.discriminates and outcome.ablation_fails
    assert (outcome.levels[:, 0] < outcome.levels[:, 1]).all()


@pytest.mark.slow
def test_under_slow_drift_the_rate_of_theorem_3_6_holds_and_fails_without_the_recursion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Theorem36, "sizes", {"full": {"horizons": [500, 2000, 8000], "replicas": 8}})
    experiment = Theorem36()
    measured = {part: experiment.measure(part) for part in experiment.parts() if "slow" in part}
    claim = experiment.claims()[1]
    assert claim.test(measured, RECURSION).verdict == "reproduced"
    assert claim.test(measured, WEIGHTS_1).verdict == "not reproduced"


def test_the_later_regret_is_the_mean_over_the_later_half() -> None:
    run = Run(problem=QuadraticBilevel(n=2, d=2), solver=SOGD(), replicas=2, iterations=20)
    slopes: list[np.ndarray] = []
    run.run(lambda: slopes.append(np.square(run.trace["hypergradient"][-1])))
    np.testing.assert_allclose(later_regret(run, 10), np.mean(slopes[5:10], axis=0))
    np.testing.assert_allclose(later_regret(run, 20), np.mean(slopes[10:], axis=0))
