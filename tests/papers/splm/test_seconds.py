"""Seconds of an iteration in paper splm: ratios of given turns, and one estimate against two in real ones."""

from __future__ import annotations

from functools import partial

from zoviz.papers.splm.seconds import (
    OURS,
    TWICE,
    SecondsOfAnIteration,
    iteration_is_cheaper,
    seconds_are_undecided,
    takes_the_printed_multiple,
    timed,
)
from zoviz.problems import NonconvexQCQP
from zoviz.studies.experiment import Figures
from zoviz.studies.verdict import Verdict


def test_cheaper_is_less_than_the_values_say_and_seconds_are_not_decided() -> None:
    turns = {OURS: [1.0, 1.1, 1.05], TWICE: [2.4, 2.5, 2.4], "SZOConEX": [2.4, 2.6, 2.5], "ZOALM": [3.0, 3.1, 3.0]}
    measured = {"n = 50": Figures(turns)}
    cheaper = partial(iteration_is_cheaper, SecondsOfAnIteration(), 50)
    assert cheaper(measured, OURS, "SZOConEX").verdict is Verdict.YES
    assert cheaper({"n = 50": Figures(turns | {"SZOConEX": [1.9, 2.0, 1.95]})}, OURS, "SZOConEX").verdict is Verdict.NO
    assert cheaper(measured, TWICE, "SZOConEX").verdict is not Verdict.NO
    assert takes_the_printed_multiple(50, measured, "ZOALM").verdict is Verdict.NO
    assert seconds_are_undecided(50, measured, OURS).verdict is Verdict.OPEN


def test_no_step_is_left_to_a_rule_while_the_clock_runs() -> None:
    solvers = timed(NonconvexQCQP(n=10), 40)
    assert all(solver.open_scales() == [] for solver in solvers.values())
    assert [solvers[name].estimator.batch_size for name in (OURS, TWICE, "SZOConEX")] == [40, 80, 40]
