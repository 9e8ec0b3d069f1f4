"""What a run's result has in it, several runs of one solver, and runs under noise."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.runs import assert_same_bits, qcqp
from helpers.waiting import until
from zoviz import Run
from zoviz.core.errors import ZovizError
from zoviz.problems import LoadTracking
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOSPLM, Solver


def test_result_fields() -> None:
    problem = qcqp()
    run = Run(problem=problem, solver=ZOSPLM(), replicas=3, iterations=200, seed=5)
    result = run.run()
    assert result.x.shape == result.best_x.shape == (3, 8) and result.multipliers.shape == (3, 1)
    for name in ("fun", "violation", "maxcv", "success", "calls", "best_fun", "failures"):
        assert getattr(result, name).shape == (3,), name
    assert result.seed == 5 and result.trace is run.trace and result.nit == 200
    value = problem.evaluate(result.x)
    np.testing.assert_allclose(result.fun, value.f)
    np.testing.assert_allclose(result.violation, np.maximum(value.h[:, 0], 0.0))
    best = problem.evaluate(result.best_x)
    np.testing.assert_allclose(best.f, result.best_fun, rtol=1e-9)
    assert (best.h <= result.tolerance.max() + 1e-9).all() and (
        result.success == (result.maxcv <= result.tolerance.max())
    ).all()
    assert (problem.domain.distance(result.best_x) <= result.tolerance.max()).all()
    assert "feasible point" not in result.message
    np.testing.assert_array_equal(run.trace["best_objective"][-1], result.best_fun)


# --- one public solver, many runs; noise ------------------------------------------------------------------------------


def test_two_runs_on_one_public_solver_do_not_disturb_one_another() -> None:
    solver, problem = ZOSPLM(), qcqp()
    alone = [Run(problem=problem.clone(), solver=solver.clone(), seed=s, iterations=400).run().x for s in (1, 2)]
    runs = [Run(problem=problem, solver=solver, seed=s, iterations=400).start() for s in (1, 2)]
    with pytest.raises(ZovizError):
        runs[0].start()
    for run, expected in zip(runs, alone, strict=True):
        np.testing.assert_array_equal(run.wait(120).x, expected)
    assert solver.primal_step is None, "what the rule chose stays with the run"
    first, second = (Run(problem=problem, solver=solver, seed=s).start() for s in (1, 2))
    first.stop()
    first.wait(120)
    solver.primal_step = 0.001
    until(lambda: len(second.journal) == 1)
    second.stop()
    second.wait(120)
    assert len(first.journal) == 0


@pytest.mark.parametrize("law", ["normal", "student_t"])
@pytest.mark.parametrize("contract", ["deterministic", "common", "independent"])
@pytest.mark.parametrize("solver", [ZOSPLM, ZOEG, ZOCEG, ZOBCEG])
def test_noise_contracts_run_end_to_end(solver: type[Solver], contract: str, law: str) -> None:
    """Common noise cancels in differences; independent noise shows in the measured variance."""
    settings = {"noise_scale": 0.5, "noise_distribution": law, "n": 6, "curtailment": 60.0}
    problem = LoadTracking(noise=contract, **settings)
    run = Run(problem=problem, solver=solver(), replicas=4, iterations=30, seed=2)
    result = run.run()
    assert result.status == "finished" and np.isfinite(result.x).all()
    np.testing.assert_allclose(result.fun, problem.evaluate(result.x).f)
    other = Run(problem=problem, solver=solver(), replicas=4, iterations=30, seed=3).run()
    assert not np.array_equal(other.x, result.x)
    quiet = Run(problem=LoadTracking(**settings), solver=solver(), replicas=4, iterations=30, seed=2).run()
    assert np.array_equal(quiet.x, result.x) == (contract == "deterministic")
    if solver is ZOCEG and contract != "independent":
        assert (run.trace["variance"][1:] == 0.0).all()
    again = run.replay()
    again.run()
    assert_same_bits(run, again)
