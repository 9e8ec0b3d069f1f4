"""A run's budget of samples, first hits in samples, and what a store keeps of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz.problems import LoadTracking, StochasticQP
from zoviz.runs.repeat import onward
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, PenaltySGD, SampledALM, SmoothedALM, StormALM, StormSampledALM
from zoviz.solvers.linear.base import LinearMethod
from zoviz.views.plots.event_marks import event_marks, target_marks


def run_of(**settings: object) -> Run:
    solver = SmoothedALM(batch_size=5, polish_batch=20, horizon=100)
    return Run(problem=StochasticQP(n=9), solver=solver, replicas=2, **settings)


def test_the_budget_ends_it_and_leaves_out_a_last_step_that_it_does_not_cover() -> None:
    run = run_of(samples=52)
    result = run.run()
    assert result.message.startswith("The budget of 52 samples is spent.") and result.nit == 10
    assert result.samples.tolist() == [50, 50] and result.polished is None and run.spent_calls
    assert run.progress.counts["samples"] == 50 and run.progress.fraction == pytest.approx(50 / 52)


def test_a_budget_that_is_spent_together_with_another_leaves_the_last_step() -> None:
    result = run_of(samples=70, iterations=10).run()
    assert result.samples.tolist() == [70, 70] and result.polished is not None


def test_too_small_a_budget_is_refused_in_a_sentence() -> None:
    run = Run(problem=StochasticQP(n=9), solver=StormALM(horizon=1000), replicas=1, samples=9)
    with pytest.raises(ValueError, match=r"covers choosing the steps .* got 9 samples: raise it"):
        run.run()


@pytest.mark.parametrize("solver", [SampledALM(batch_size=2), PenaltySGD(batch_size=2), StormSampledALM()])
def test_a_budget_of_zeta_ends_it_and_sizes_its_steps(solver: LinearMethod) -> None:
    solver.polish_batch = 1000
    copies = 2 if isinstance(solver, PenaltySGD) else 3
    run = Run(problem=StochasticQP(n=9, sampled_rows=True), solver=solver, replicas=2, zeta_samples=100)
    result = run.run()
    assert result.message.startswith("The budget of 100 samples of zeta is spent.") and run.spent_calls
    assert run.resolved["horizon"] == 100 // (copies * solver.batch_size)
    assert (result.zeta_samples <= 100).all() and result.zeta_samples.tolist() == [
        run.progress.counts["zeta_samples"]
    ] * 2
    assert run.progress.fraction == pytest.approx(run.progress.counts["zeta_samples"] / 100)


def test_a_store_keeps_zeta_and_a_fork_has_as_much_again(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/runs.db") as store:
        problem, solver = StochasticQP(n=9, sampled_rows=True), SampledALM(horizon=100)
        run = Run(problem, solver, replicas=2, zeta_samples=30, targets={"violation": 1e3}, store=store)
        run.run()
        stored = store.load(run.id)
        assert (stored.record.samples, stored.record.zeta_samples) == (10, 30)
        assert stored.progress == run.progress and stored.limits["zeta_samples"] == 30
        assert stored.hits[0].hit["zeta_samples"].tolist() == [0, 0]
        assert onward(stored, 10)["zeta_samples"] == 60
        again = stored.resume(zeta_samples=45).run()
    assert again.zeta_samples.tolist() == [45, 45]
    np.testing.assert_array_equal(again.x, Run(problem, solver, replicas=2, iterations=15).run().x)


def test_first_hits_and_marks_are_told_in_samples() -> None:
    run = run_of(iterations=40, targets={"violation": 1e3}, schedule=[(20, 0, 0.0, "primal_step", None, 1e-3)])
    run.run()
    assert run.hits[0].hit["samples"].tolist() == [0, 0]
    assert event_marks(run, "samples")["x"] == [100.0] and target_marks(run, "samples")["x"] == [0.0]
    assert event_marks(run, "zeta_samples")["x"] == [], "its rows are known"
    exact = Run(problem=LoadTracking(n=3), solver=ZOCEG(), replicas=1, iterations=3, targets={"violation": 1e9})
    exact.run()
    assert target_marks(exact, "samples")["x"] == [0.0] and event_marks(exact, "samples")["x"] == []


def test_a_store_keeps_them_and_a_run_that_goes_on_has_counted_all(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/runs.db") as store:
        run = run_of(samples=33, targets={"violation": 1e3}, store=store)
        run.run()
        stored = store.load(run.id)
        assert stored.record.samples == stored.progress.counts["samples"] == 30 and stored.limits["samples"] == 33
        assert stored.result.samples.tolist() == [30, 30] and stored.result.zeta_samples.tolist() == [0, 0]
        assert stored.hits[0].hit["samples"].tolist() == [0, 0]
        np.testing.assert_array_equal(stored.trace["samples"], run.trace["samples"])
        again = stored.resume(samples=70).run()
    assert again.samples.tolist() == [70, 70]
    whole = run_of(samples=70).run()
    np.testing.assert_array_equal(again.x, whole.x)


@pytest.mark.parametrize(
    ("budgets", "solver", "horizon"),
    [
        ({"iterations": 500}, SmoothedALM(), 500),
        ({"iterations": 500, "calls": 600}, StormALM(), 300),
        ({"samples": 60, "iterations": 500}, SmoothedALM(batch_size=4), 15),
        ({"calls": 55}, SmoothedALM(gradients="zeroth-order"), 5),
        ({"iterations": 5}, SmoothedALM(horizon=77), 77),
    ],
    ids=["iterations", "two gradients", "samples", "values", "given"],
)
def test_steps_are_sized_for_the_budget(budgets: dict[str, int], solver: SmoothedALM, horizon: int) -> None:
    run = Run(problem=StochasticQP(n=9), solver=solver, replicas=1, **budgets)
    run.run()
    assert run.resolved.get("horizon", 77) == horizon == run.parameters.get("horizon", 77)


def test_a_fork_with_another_budget_keeps_the_steps_of_the_run_that_it_repeats() -> None:
    first = Run(problem=StochasticQP(n=9), solver=SmoothedALM(), replicas=2, iterations=500)
    first.run()
    fork = first.fork(at=20, iterations=30)
    fork.run()
    assert fork.resolved["primal_step"] == first.resolved["primal_step"]
    np.testing.assert_array_equal(fork.trace["objective"][:30], first.trace["objective"][:30])


def test_a_stored_result_has_the_polished_answer(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path}/runs.db") as store:
        run = run_of(iterations=5, store=store)
        run.run()
        stored = store.load(run.id)
    assert run.result.polished is not None and stored.result.polished is not None
    for one, other in zip(run.result.polished, stored.result.polished, strict=True):
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(stored.trace["polished_violation"][-1], run.result.polished.violation)
