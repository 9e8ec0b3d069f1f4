"""The table of all methods on load tracking: its arithmetic on made-up figures, and a small one by hand."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.errors import BudgetSpent
from zoviz.core.streams import Streams
from zoviz.oracle import Oracle
from zoviz.papers.zoeg import load_tracking as table
from zoviz.papers.zoeg.load_tracking import Outcome
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG
from zoviz.solvers.external.slsqp_trust_constr import SLSQP


def outcome(error: list[float], violation: list[float], best: list[float], hits: list[float]) -> Outcome:
    errors = np.array(error)
    calls, never = np.full(errors.size, 100), np.full(errors.size, np.inf)
    outside = np.array(violation)
    return Outcome((np.array(hits), never), errors, outside, errors + outside, np.array(best), calls, "", 1.0)


def test_a_row_has_the_medians_and_counts() -> None:
    result = outcome([0.01, 0.02, 0.03], [0.5, 2.0, 1.0], [0.1, np.inf, 0.3], [40.0, np.inf, 60.0])
    np.testing.assert_array_equal(result.joint, [0.01, np.inf, 0.03])
    row = table.line("ZOEG", result)
    assert row.split() == "ZOEG 60 (2/3) - (0/3) 2 % 1.00 kW 2/3 3 % 103 % 30 % 100".split()
    most_outside = outcome([0.01, 0.02, 0.03], [2.0, 2.0, 1.0], [0.1] * 3, [1.0] * 3)
    assert table.share(most_outside.joint) == "-"


def test_verdicts_name_the_best_default_and_the_peers_it_does_not_beat(capsys: pytest.CaptureFixture[str]) -> None:
    result = {
        "A": outcome([0.02, 0.02, 0.02], [0.0] * 3, [0.5] * 3, [1.0] * 3),
        "B": outcome([0.01, 0.01, 0.04], [0.0] * 3, [0.3] * 3, [1.0] * 3),
        "outside": outcome([0.0, 0.0, 0.0], [1.1, 1.1, 0.0], [0.4] * 3, [1.0] * 3),
        "near": outcome([0.02, 0.005], [0.0] * 2, [0.2, 0.2], [1.0] * 2),
    }
    lost = table.verdicts(result, {"outside", "near"})
    assert lost == {"joint": [], "loss": [], "best": ["near"]}
    printed = capsys.readouterr().out
    assert "our best default is B with 1 %" in printed and "near NOT beaten: 30 % against 20 %" in printed
    assert "outside beaten: 1 % against -, smaller in 2 and larger in 1 of 3" in printed
    assert "near beaten: 1 % against 1.25 %, smaller in 1 and larger in 1 of 2" in printed


@pytest.mark.parametrize("noisy", [False, True])
def test_a_row_agrees_with_a_loop_by_hand(noisy: bool) -> None:
    problem = table.instance(1, 4, noisy)
    optimum, replicas, budget = problem.known_optimum, 3, 700
    np.testing.assert_allclose(problem.noise_scales, [1e-3 * optimum.value if noisy else 1.0, 1.0])
    result = table.solve(ZOCEG, problem, replicas, budget)
    solver, streams = ZOCEG(), Streams(0, replicas)
    oracle = Oracle(problem, streams, budget)
    x0 = problem.initial(streams)
    for name, value in solver.suggest(problem, solver.learn(problem, oracle, x0, streams)).items():
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
    np.testing.assert_allclose(result.best, np.abs(oracle.best_f / optimum.value - 1.0), rtol=1e-9, atol=1e-13)


def test_the_table_runs_solvers_and_peers(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("greenlet", reason="peers need the extra")
    methods = {"ZOEG": ZOEG, "ZOBCEG": ZOBCEG, "SLSQP": SLSQP}
    result = table.table(methods, table.instance(0, 5, True), (3, 2), 120, None)
    printed = capsys.readouterr().out
    assert list(result) == list(methods) and all(name in printed for name in methods)
    assert (result["ZOEG"].calls <= 120).all() and result["ZOEG"].joint.shape == (3,)
