"""Methods with and without a problem's constants: the hidden problem is the same, and figures are counted by hand."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.registry import discover
from zoviz.core.streams import Streams
from zoviz.core.types import Optimum
from zoviz.papers.robustness import known_constants
from zoviz.papers.robustness.known_constants import KnownConstants, calls_to_level, losses, without_constants
from zoviz.problems import LoadTracking
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import CALLS, GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import ZOCEG


def test_a_problem_without_constants_is_the_same_but_for_them() -> None:
    known = LoadTracking(n=5, seed=3)
    for scaled in (False, True):
        hidden = without_constants(known, scaled)
        assert hidden.constants is None and hidden.scaled == scaled and known.constants is not None
        starts = [problem.initial(Streams(1, 2)) for problem in (known, hidden)]
        assert (starts[0] == starts[1]).all()
        for one, two in zip(known.evaluate(starts[0]), hidden.evaluate(starts[0]), strict=True):
            assert (one == two).all()
        assert hidden.known_optimum.value == known.known_optimum.value
        assert discover("zoviz.problems", Problem)["LoadTracking"] is LoadTracking, "the registry does not offer it"


def test_a_loss_is_the_gap_and_the_priced_violation_over_the_optimal_value() -> None:
    optimum = Optimum(-4.0, np.zeros(2), np.array([3.0, 4.0]), "by hand")
    assert losses(np.array([-2.0, 1.0]), np.array([0.0, 2.0]), optimum) == pytest.approx([0.5, 11.0 / 4.0])


def test_calls_are_counted_until_the_loss_stays_low_for_good() -> None:
    problem = LoadTracking(n=5)
    run = Run(problem, ZOCEG(), replicas=known_constants.REPLICAS, seed=known_constants.SEED, calls=2000)
    run.run()
    low = losses(run.trace[GAP], run.trace[VIOLATION], problem.known_optimum) <= known_constants.LEVEL
    first = []
    for replica in range(known_constants.REPLICAS):
        row = len(low)
        while row and low[row - 1, replica]:
            row -= 1
        first.append(run.trace[CALLS][row, replica] if row < len(low) else np.inf)
    assert calls_to_level(problem, "ZOCEG", 2000) == np.median(first) < 2000
    assert calls_to_level(problem, "ZOCEG", 30) == np.inf


def test_the_table_has_every_way_and_the_least_of_them() -> None:
    study = KnownConstants(size="quick", only={"method": ["ZOCEG", "ZOSPLM"]})
    figures = iter([300.0, 200.0, np.inf, 0.5, 100.0, 250.0, np.inf, 0.25])
    (table,) = study.tables({part: {"figure": next(figures)} for part in study.parts()})
    assert table.heads == ("problem", "method", "known", "measured", "black box", "minimize")
    assert table.rows[-1] == ("LoadTracking", "the least", "100", "200", "inf", "0.25") and len(table.rows) == 3


def test_a_trial_is_what_its_way_says() -> None:
    study, place = KnownConstants(size="quick"), {"problem": "LoadTracking", "method": "ZOCEG", "calls": 300}
    ways = {way: study.trial(way=way, **place)["figure"] for way in study.axes["way"]}
    assert ways["known"] == np.inf and 0.0 < ways["minimize"] < np.inf and len(ways) == 4
