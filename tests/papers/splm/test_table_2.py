"""Table 2 of paper splm: methods reach the target by rule and on the grid, and what is said where they do not."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from zoviz.papers.splm.table_2 import (
    PAPER,
    RULE,
    TUNED,
    Iterations,
    iterations_are_printed,
    mean,
    rival_takes_the_multiple,
)
from zoviz.runs.engine.columns import CALLS
from zoviz.studies.experiment import Figures, Measured
from zoviz.studies.verdict import Verdict


@pytest.mark.parametrize("method", PAPER)
def test_methods_reach_the_target_by_their_rule_and_on_the_grid(method: str) -> None:
    one = Iterations(size="quick")
    ruled, other, short = (
        one.run(method, 10, steps, 300, 3, 0, limit)
        for steps, limit in ((None, 600), ((1.0, 0.3), 600), ((0.01, 0.3), 5))
    )
    assert np.isfinite(ruled.hits[0].iteration).all() and np.isfinite(other.hits[0].iteration).all()
    assert (ruled.hits[0].iteration != other.hits[0].iteration).any()
    spent = ruled.trace[CALLS][-1] - ruled.trace[CALLS][0]
    assert spent.max() / ruled.result.nit == {"SZOConEX": 601}.get(method, 301)
    assert np.isnan(short.hits[0].iteration).all() and mean(short.hits[0].iteration) == np.inf


def test_the_search_takes_the_fewest_iterations_and_cuts_short_who_falls_behind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = []

    class Hit:
        def __init__(self, count: float) -> None:
            self.iteration = np.full(4, count)

    class Fake:
        def __init__(self, count: float) -> None:
            self.hits = [Hit(count)]

    def run(self: Any, method: str, n: int, steps: Any, batch: int, replicas: int, seed: int, limit: int) -> Fake:
        assert (batch, replicas, seed) == (500, 16, 1), "a twentieth of k, other starts"
        limits.append(limit)
        count = 100.0 * abs(np.log(steps[0] / 1.4)) + 10.0 * abs(np.log(steps[1] / 0.3)) + 20.0
        return Fake(count if count <= limit else np.nan)

    monkeypatch.setattr(Iterations, "run", run)
    one = Iterations()
    assert one.search("ZOSPLM", 10) == (1.4, 0.3) and one.tuning().settings == len(limits) == 25
    assert limits[0] == 300 and limits[-1] == 30


def figures_of(ours: list[float | None], other: list[float | None]) -> Measured:
    return {
        "n = 50 / ZOSPLM": Figures({RULE: ours, TUNED: ours}),
        "n = 50 / ZOALM": Figures({RULE: other, TUNED: other}),
    }


def test_a_mean_over_replicas_of_which_one_had_no_hit_is_infinite() -> None:
    missing = figures_of([40.0, 50.0, None], [400.0, 500.0, 600.0])
    assert partial(iterations_are_printed, 50, "ZOSPLM")(missing, RULE).verdict is Verdict.OPEN
    assert partial(rival_takes_the_multiple, 50, "ZOALM")(missing, TUNED).verdict is Verdict.OPEN


def test_counts_and_ratios_are_the_printed_ones_within_their_factors() -> None:
    printed = figures_of([490.0, 500.0, 510.0], [2266.0, 2260.0, 2270.0])
    assert partial(iterations_are_printed, 50, "ZOSPLM")(printed, RULE).verdict is Verdict.YES
    assert partial(rival_takes_the_multiple, 50, "ZOALM")(printed, TUNED).verdict is Verdict.YES
    alike = figures_of([46.0, 47.0, 46.5], [50.0, 60.0, 53.0])
    assert partial(iterations_are_printed, 50, "ZOSPLM")(alike, RULE).verdict is Verdict.NO
    assert partial(rival_takes_the_multiple, 50, "ZOALM")(alike, TUNED).verdict is Verdict.NO


def test_a_ratio_that_the_starts_leave_open_is_undecided() -> None:
    few = {
        f"n = 10 / {name}": Figures({RULE: counts, TUNED: counts})
        for name, counts in (("ZOSPLM", [10.0, 20.0, 12.0]), ("ZOALM", [18.0, 14.0, 16.0]))
    }
    assert partial(rival_takes_the_multiple, 10, "ZOALM")(few, TUNED).verdict is Verdict.OPEN
