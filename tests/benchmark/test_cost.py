"""The cost of a study: what is missing of it, and nothing is stored or counted for the estimate."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from zoviz.benchmark.cost import cost_of
from zoviz.core.types import Array
from zoviz.problems import BlackBox, LoadTracking
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.studies.study import Study


def test_calls_are_those_of_what_is_missing_and_nothing_is_stored(tmp_path: Path) -> None:
    study = Study(
        "s", LoadTracking(n=3), [ZOCEG(), ZOSPLM()], sweeps=10, replicas=2, store=f"sqlite:///{tmp_path}/a.db"
    )
    cost = cost_of(study)
    assert (cost.runs, cost.calls, cost.tried) == (2, 2 * 2 * 40, 2) and cost.seconds > 0.0
    assert study.store.count() == 0
    study.run(progress=False)
    assert cost_of(study) == (0, 0, 0.0, 0)


def test_a_trial_takes_four_sweeps_at_most_and_failures_are_left_to_the_run(tmp_path: Path) -> None:
    points = []

    def function(x: Array) -> float:
        points.append(x)
        if len(points) > 6:
            raise RuntimeError("no licence")
        return float(x @ x)

    problem = BlackBox(function, bounds=[(-1.0, 1.0)] * 2)
    study = Study("s", {"own": problem}, ZOCEG(), sweeps=1000, replicas=1, store=f"sqlite:///{tmp_path}/a.db")
    assert np.isfinite(cost_of(study).seconds) and len(points) <= (1 + 4) * 3 + 2
