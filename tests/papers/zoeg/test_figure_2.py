"""Fig. 2 of paper zoeg: larger blocks arrive in fewer iterations, and what is said where a run never arrives."""

from __future__ import annotations

from functools import partial

import numpy as np

from zoviz.papers.zoeg.figure_2 import (
    BLOCK_STEPS,
    EVALUATIONS,
    ITERATIONS,
    OTHER_STEPS,
    RELATIVE_GAP,
    VIOLATION,
    ZOEG_STEPS,
    Blocks,
    arrives_sooner,
    distances,
    ends_nearer,
    run_of,
    within_dozens,
)
from zoviz.problems import LoadTracking
from zoviz.studies.experiment import Figures, Measured
from zoviz.studies.verdict import Verdict


def measured_of(**entries: list[float | None]) -> Measured:
    return {name: Figures({"entries": values, "iterations": 100}) for name, values in entries.items()}


def test_who_never_arrives_takes_all_iterations_at_least() -> None:
    sooner = partial(arrives_sooner, Blocks(), EVALUATIONS)
    measured = measured_of(fast=[10.0, 11.0, 12.0], slow=[50.0, 51.0, 52.0], never=[None, None, None])
    assert sooner(measured, "fast", "slow").verdict is Verdict.YES
    assert sooner(measured, "slow", "fast").verdict is Verdict.NO
    assert (
        sooner({**measured, "never": {**measured["never"], "iterations": 101}}, "fast", "never").verdict is Verdict.YES
    )
    late = measured_of(early=[80.0, None, 82.0], later=[150.0, 151.0, 152.0])
    assert sooner(late, "early", "later").reason == "the budget ended too early to tell"
    measured["block 100"] = measured["fast"]
    verdicts = {name: within_dozens(Blocks(), measured, name).verdict for name in ("fast", "slow")}
    assert verdicts == {"fast": Verdict.YES, "slow": Verdict.NO}


def test_iterations_that_cost_unequally_many_calls_are_not_compared() -> None:
    measured = measured_of(fast=[10.0, 11.0, 12.0], slow=[50.0, 51.0, 52.0])
    measured["slow"]["iterations"] = 5000
    evidence = arrives_sooner(Blocks(), ITERATIONS, measured, "fast", "slow")
    assert evidence.verdict is Verdict.OPEN and evidence.reason.startswith("unequal budgets: fast 120, slow 2.4")


def test_nearer_is_both_in_error_and_in_violation() -> None:
    low, high, none = [0.1, 0.11, 0.12], [0.3, 0.31, 0.32], [0.0, 0.01, 0.0]
    measured = {
        "near": {RELATIVE_GAP: low, VIOLATION: none},
        "far": {RELATIVE_GAP: high, VIOLATION: none},
        "outside": {RELATIVE_GAP: low, VIOLATION: high},
    }
    nearer = partial(ends_nearer, Blocks())
    assert nearer(measured, "near", "far").verdict is Verdict.YES
    assert nearer(measured, "far", "near").verdict is Verdict.NO
    assert nearer(measured, "outside", "near").verdict is Verdict.NO


def test_larger_blocks_are_nearer_after_equally_many_iterations_and_grids_are_equal() -> None:
    assert len(BLOCK_STEPS) == len(OTHER_STEPS) == len(ZOEG_STEPS) == Blocks().tuning().settings
    problem = LoadTracking(n=20)
    few, many = (run_of(f"block {size}", (0.1, 1.0), problem, 3, 0, 21 + 80 * (size + 1)) for size in (1, 20))
    assert few.result.nit >= 40 and many.result.nit >= 40
    assert (np.asarray(distances(many)[40]) < np.asarray(distances(few)[40])).all()
