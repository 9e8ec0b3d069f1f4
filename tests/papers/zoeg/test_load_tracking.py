"""The table of all methods on load tracking: its arithmetic on made-up figures, and a small one by hand."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.errors import BudgetSpent
from zoviz.core.streams import Streams
from zoviz.oracle import Oracle
from zoviz.papers.zoeg import load_tracking as table
from zoviz.papers.zoeg.load_tracking import Outcome
from zoviz.solvers import ZOCEG


def outcome(error: list[float], violation: list[float], best: list[float], hits: list[float]) -> Outcome:
    errors = np.array(error)
    calls, never = np.full(errors.size, 100), np.full(errors.size, np.inf)
    outside = np.array(violation)
    return Outcome((np.array(hits), never), errors, outside, errors + outside, np.array(best), calls, "")


def test_a_row_has_the_medians_and_counts() -> None:
    result = outcome([0.01, 0.02, 0.03], [0.5, 2.0, 1.0], [0.1, np.inf, 0.3], [40.0, np.inf, 60.0])
    np.testing.assert_array_equal(result.joint, [0.01, np.inf, 0.03])
    cells = list(table.line(result).values())
    assert cells == ["60 (2/3)", "- (0/3)", "2 %", "1.00 kW", "2/3", "3 %", "103 %", "30 %", "100"]
    most_outside = outcome([0.01, 0.02, 0.03], [2.0, 2.0, 1.0], [0.1] * 3, [1.0] * 3)
    assert table.share(most_outside.joint) == "-"


def test_verdicts_name_the_best_default_and_the_peers_it_does_not_beat() -> None:
    result = {
        "A": outcome([0.02, 0.02, 0.02], [0.0] * 3, [0.5] * 3, [1.0] * 3),
        "B": outcome([0.01, 0.01, 0.04], [0.0] * 3, [0.3] * 3, [1.0] * 3),
        "outside": outcome([0.0, 0.0, 0.0], [1.1, 1.1, 0.0], [0.4] * 3, [1.0] * 3),
        "near": outcome([0.02, 0.005], [0.0] * 2, [0.2, 0.2], [1.0] * 2),
    }
    lines = {(words, name): rest for words, _, name, *rest in table.verdicts(result, {"outside", "near"})}
    assert {key for key, (beaten, _) in lines.items() if beaten == "no"} == {("best feasible point queried", "near")}
    assert {line[1] for line in table.verdicts(result, {"outside", "near"})} == {"B"}
    assert lines["best feasible point queried", "near"][1].startswith("30 % against 20 %")
    within = "error within 1 kW"
    assert lines[within, "outside"][1].startswith("1 % against -, smaller in 2 and larger in 1 of 3")
    assert lines[within, "near"][1].startswith("1 % against 1.25 %, smaller in 1 and larger in 1 of 2")


@pytest.mark.parametrize("noisy", [False, True])
def test_a_row_agrees_with_a_loop_by_hand(noisy: bool) -> None:
    problem = table.posed(1, 4, noisy)
    optimum, replicas, budget = problem.known_optimum, 3, 700
    np.testing.assert_allclose(problem.noise_scales, [1e-3 * optimum.value if noisy else 1.0, 1.0])
    result = table.solve(ZOCEG, problem, replicas, budget)
    solver, streams = ZOCEG(), Streams(0, replicas)
    oracle = Oracle(problem, streams, {"calls": budget})
    x0 = problem.initial(streams)
    for name, value in solver.from_constants(problem, solver.measure_constants(problem, oracle, x0, streams)).items():
        if solver.get(name) is None:
            solver.set(name, value)
    state = solver.init(x0, oracle, streams)
    hits = np.full((2, replicas), np.inf)
    while True:
        exact = problem.evaluate(solver.output(state))
        error, violation = np.abs(exact.f / optimum.value - 1.0), np.maximum(exact.h[:, 0], 0.0)
        for i, level in enumerate((0.05, 0.01)):
            new = np.isinf(hits[i]) & (error <= level) & (violation <= 1.0)
            hits[i, new] = oracle.calls[new]
        try:
            state, _ = solver.step(state, oracle, streams)
        except BudgetSpent:
            break
    assert np.isfinite(hits[0]).all(), "a budget with hits to compare"
    np.testing.assert_array_equal(result.hits, hits)
    np.testing.assert_allclose(result.error, error, rtol=1e-9, atol=1e-13)
    np.testing.assert_allclose(result.violation, violation, atol=1e-9)
    loss = exact.f / optimum.value - 1.0 + optimum.multipliers * violation / optimum.value
    np.testing.assert_allclose(result.loss, loss, atol=1e-9)
    assert (result.loss > -1e-9).all()
    np.testing.assert_allclose(result.best, np.abs(oracle.best.f / optimum.value - 1.0), rtol=1e-9, atol=1e-13)


def test_the_table_runs_solvers_and_peers() -> None:
    pytest.importorskip("greenlet", reason="peers need the extra")
    study = table.LoadTrackingTable(size="quick")
    lines, comparison = study.tables({part: study.measure(part) for part in study.parts()})
    assert [row[3] for row in lines.rows] == ["ZOEG", "SLSQP"] and lines.rows[0][4].endswith("/3)")
    assert {row[1] for row in comparison.rows} >= {"loss", "calls to 5 %"}
    assert {row[3] for row in comparison.rows} == {"SLSQP"}
    every = table.LoadTrackingTable(size="full").axes["method"]
    assert list(every[-4:]) == list(table.SLOW) and "ZOCEG" in every


def test_a_method_that_refuses_is_left_out() -> None:
    study = table.LoadTrackingTable(size="quick", only={"method": ["OGDARR", "SOGD"]})
    lines, comparison = study.tables({part: study.measure(part) for part in study.parts()})
    assert "left out: " in lines.rows[1][-1] and comparison.rows == []
