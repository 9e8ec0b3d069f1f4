"""A run's budget of samples, first hits in samples, and what a store keeps of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz.problems import LoadTracking, StochasticQP
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, SmoothedALM, StormALM
from zoviz.views.plots.event_marks import event_marks, target_marks


def run_of(**settings: object) -> Run:
    solver = SmoothedALM(batch_size=5, polish_batch=20, horizon=100)
    return Run(problem=StochasticQP(n=9), solver=solver, replicas=2, **settings)


def test_the_budget_ends_it_and_leaves_out_a_last_step_that_it_does_not_cover() -> None:
    run = run_of(samples=52)
    result = run.run()
    assert result.message.startswith("The budget of 52 samples is spent.") and result.nit == 10
    assert result.samples.tolist() == [50, 50] and result.polished is None and run.spent_calls
    assert run.progress.samples == 50 and run.progress.fraction == pytest.approx(50 / 52)


def test_a_budget_that_is_spent_together_with_another_leaves_the_last_step() -> None:
    result = run_of(samples=70, iterations=10).run()
    assert result.samples.tolist() == [70, 70] and result.polished is not None


def test_too_small_a_budget_is_refused_in_a_sentence() -> None:
    run = Run(problem=StochasticQP(n=9), solver=StormALM(horizon=1000), replicas=1, samples=9)
    with pytest.raises(ValueError, match=r"covers choosing the steps .* got 9 samples: raise it"):
        run.run()


def test_first_hits_and_marks_are_told_in_samples() -> None:
    run = run_of(iterations=40, targets={"violation": 1e3}, schedule=[(20, 0, 0.0, "primal_step", None, 1e-3)])
    run.run()
    assert run.hits[0].samples.tolist() == [0, 0]
    assert event_marks(run, "samples")["x"] == [100.0] and target_marks(run, "samples")["x"] == [0.0]
    exact = Run(problem=LoadTracking(n=3), solver=ZOCEG(), replicas=1, iterations=3, targets={"violation": 1e9})
    exact.run()
    assert target_marks(exact, "samples")["x"] == [0.0] and event_marks(exact, "samples")["x"] == []


def test_a_store_keeps_them_and_a_run_that_goes_on_has_counted_all(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/runs.db") as store:
        run = run_of(samples=33, targets={"violation": 1e3}, store=store)
        run.run()
        stored = store.load(run.id)
        assert stored.record.samples == stored.progress.samples == 30 and stored.limits.samples == 33
        assert stored.result.samples.tolist() == [30, 30] and stored.result.zeta_samples.tolist() == [0, 0]
        assert stored.hits[0].samples.tolist() == [0, 0]
        np.testing.assert_array_equal(stored.trace["samples"], run.trace["samples"])
        again = stored.resume(samples=70).run()
    assert again.samples.tolist() == [70, 70]
    whole = run_of(samples=70).run()
    np.testing.assert_array_equal(again.x, whole.x)
