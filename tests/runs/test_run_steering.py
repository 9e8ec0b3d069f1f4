"""A run's parameters while it goes on: which may change, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from helpers.runs import qcqp, small
from helpers.waiting import until
from zoviz.estimators import Block, Coordinate
from zoviz.solvers import ZOBCEG, ZOCEG, ZOSPLM


def test_structural_parameters_are_refused_while_running_and_restored() -> None:
    run = small(solver=ZOBCEG()).start()
    until(lambda: run.progress.iteration > 3)
    fixed = [(run.solver, "dual_block_size", 1), (run.solver, "dual_cap", 5.0), (run.problem, "n", 7)]
    fixed += [
        (run, "replicas", 9),
        (run, "seed", 4),
        (run, "iterations", 10),
        (run.solver.estimator, "differences", "central"),
    ]
    fixed += [(run.solver, "estimator", Block()), (run.problem, "noise", "common")]
    for holder, name, value in fixed:
        before = getattr(holder, name)
        with pytest.raises(ValueError, match=rf"{name} is structural: it is fixed while the run is running"):
            setattr(holder, name, value)
        assert getattr(holder, name) is before or getattr(holder, name) == before
    run.label = "a name for people"
    run.solver.primal_step = 0.02
    run.solver.estimator.block_size = 2
    until(lambda: len(run.journal) == 2)
    assert [change.name for change in run.journal] == ["primal_step", "estimator.block_size"]
    assert run.status == "running"
    run.stop()
    run.wait(120)
    run.problem.n = 7
    run.solver.dual_block_size = 1


def test_bad_values_are_refused_and_the_run_goes_on() -> None:
    run = small(problem=qcqp(), solver=ZOSPLM()).start()
    until(lambda: run.progress.iteration > 3)
    step = run.resolved["primal_step"]
    for value in (0, -1.0, 1e300, float("nan"), float("inf"), "fast", [1.0]):
        for name in ("primal_step", "proximal_step", "estimator.smoothing_radius", "estimator.batch_size"):
            before = run.solver.get(name)
            with pytest.raises(ValueError, match="Expected|must be|only takes"):
                run.solver.set(name, value)
            assert run.solver.get(name) == before
    with pytest.raises(ValueError, match="Expected primal_step a number from 1e-12 to 1e\\+09.*got 'fast'"):
        run.solver.primal_step = "fast"
    at = run.progress.iteration
    until(lambda: run.progress.iteration > at + 3)
    assert run.status == "running" and len(run.journal) == 0 and run.resolved["primal_step"] == step
    run.stop()
    run.wait(120)


def test_back_to_the_rule_is_possible_only_where_a_rule_chose() -> None:
    run = small().start()
    until(lambda: run.progress.iteration > 3)
    run.solver.primal_step = 0.01
    run.solver.primal_step = None
    until(lambda: len(run.journal) == 2)
    assert run.journal[1].new == run.resolved["primal_step"]
    run.stop()
    run.wait(120)
    explicit = ZOCEG(primal_step=0.1, dual_step=0.01, dual_cap=100.0, estimator=Coordinate(smoothing_radius=1e-3))
    run = small(solver=explicit).start()
    until(lambda: run.progress.iteration > 3)
    with pytest.raises(ValueError, match="Expected a value for primal_step, got None"):
        run.solver.primal_step = None
    assert explicit.primal_step == 0.1 and run.status == "running"
    run.stop()
    run.wait(120)


@pytest.mark.parametrize(
    ("name", "value"),
    [("replicas", 0), ("seed", -1), ("iterations", -1), ("calls", 0), ("seconds", -1.0), ("seconds", "x")],
)
def test_bad_settings_of_a_run_are_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        small(**{name: value})
