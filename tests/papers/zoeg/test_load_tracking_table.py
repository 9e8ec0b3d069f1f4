"""The table of load tracking where it ends early, and its standard errors."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.zoeg import load_tracking as table
from zoviz.papers.zoeg import load_tracking_table as rows
from zoviz.papers.zoeg.load_tracking_table import Outcome
from zoviz.solvers import COBYLA, ZOCEG, ZOEG


@pytest.mark.parametrize("case", ["noiseless", "noisy"])
def test_without_noise_a_slow_peer_ends_where_it_has_met_both_levels(case: str) -> None:
    pytest.importorskip("greenlet", reason="peers need the extra")
    study = table.LoadTrackingTable(size="quick")
    own, whole = (
        Outcome.of(study.trial(case, "known", 0, 5, 300, 3, 60.0, "COBYLA")),
        table.solve(COBYLA, table.posed(0, 5, case == "noisy"), 3, 300),
    )
    for mine, its in zip(own.hits, whole.hits, strict=True):
        np.testing.assert_array_equal(mine, its)
    assert (own.message == "Every replica hit every target.") == (case == "noiseless")
    if case == "noisy":
        np.testing.assert_array_equal(own.error, whole.error)
    else:
        assert np.isfinite(whole.hits).all() and (own.spent < whole.spent).all()


def test_what_it_is_given_of_time_cuts_a_method_short() -> None:
    result = table.solve(ZOEG, table.posed(0, 4, False), 2, 10_000_000, 0.05)
    assert result.message.startswith("The budget of 0.05 s is spent") and (result.spent < 10_000_000).all()


def outcome(calls: list[float], loss: list[float]) -> Outcome:
    hits, values = np.array(calls), np.array(loss)
    return Outcome((hits, hits), values, np.zeros(hits.size), values, values, hits, "")


def test_a_comparison_has_the_mean_difference_and_its_standard_error() -> None:
    mine, its = np.array([0.01, 0.02, 0.03, 0.02]), np.array([0.02, 0.05, 0.03, 0.04])
    # Differences -1, -3, 0, -2 %: mean -1.5, variance 5/3, standard error sqrt(5/12) = 0.6455.
    assert rows.compare(mine, its).endswith("larger in 0 of 4, on average by -1.5 % +- 0.645 %")
    assert rows.compare(mine, np.array([0.02, np.inf, 0.03, 0.04])).endswith("larger in 0 of 4")
    assert rows.compare(mine[:1], its).endswith("larger in 0 of 1")


def test_the_verdict_on_calls_names_who_is_faster() -> None:
    result = {
        "ours": outcome([300.0, 500.0, 400.0], [0.0] * 3),
        "fast": outcome([30.0, 50.0, 40.0], [0.0] * 3),
        "never": outcome([20.0, np.inf, np.inf], [0.0] * 3),
    }
    lines = {(words, name): rest for words, _, name, *rest in rows.verdicts(result, {"fast", "never"}, rows.ON_THE_WAY)}
    assert [key[1] for key, (beaten, _) in lines.items() if beaten == "no"] == ["fast", "fast"]
    fast, never = (lines["calls to 5 %", name][1] for name in ("fast", "never"))
    assert fast.startswith("400 against 40, smaller in 0 and larger in 3 of 3, on average by 360 +- 52")
    assert never.startswith("400 against -, smaller in 2 and larger in 1 of 3")


def test_what_methods_see_of_the_problem_changes_no_figure_of_it() -> None:
    informed, hidden, scaled = (table.posed(1, 4, True, view) for view in table.VIEWS)
    assert informed.constants is not None and hidden.constants is None and scaled.constants is None
    assert scaled.scaled and not hidden.scaled
    point = informed.known_optimum.point
    for problem in (hidden, scaled):
        np.testing.assert_array_equal(problem.evaluate(point).h, informed.evaluate(point).h)
        np.testing.assert_array_equal(problem.noise_scales, informed.noise_scales)
        result = table.solve(ZOCEG, problem, 2, 150)
        assert (result.spent <= 150).all() and np.isfinite(result.loss).all() and (result.loss > -1e-9).all()
