"""Runs that fail, replicas that are frozen, and runs that find nothing feasible."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import param
import pytest

from helpers.runs import assert_same_bits
from helpers.waiting import until
from zoviz import Run, Store
from zoviz.core.errors import MissingExtra, OracleError, ZovizError
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import Block, Coordinate, Sphere
from zoviz.problems import BlackBox, NonconvexQCQP, Problem
from zoviz.solvers import ZOBCEG, ZOCEG, ZOSPLM, Solver

# --- failures ---------------------------------------------------------------------------------------------------------


def test_an_oracle_that_raises_ends_the_run_as_failed_and_keeps_the_trace() -> None:
    points: list[Array] = []

    def fragile(x: Array) -> float:
        points.append(x.copy())
        if len(points) > 200:
            raise ZeroDivisionError("the simulator has burnt down")
        return float(x @ x)

    run = Run(problem=BlackBox(fragile, bounds=[(-1, 1)] * 2), solver=ZOCEG(), replicas=2).start()
    with pytest.raises(ZeroDivisionError, match="burnt down") as caught:
        run.wait(120)
    assert caught.value is run.error
    assert f"Raised by the black box at x = {points[-1]}" in caught.value.__notes__[0]
    assert run.status == "failed" and not run.active
    assert "burnt down. Raised by the black box at x = [" in run.message, "where"
    assert 'With on_error="fail" such a point counts as failed.' in run.message, "and what to do"
    assert len(run.trace) > 5 and run.result.status == "failed"
    assert np.isfinite(run.trace["objective"]).all()


class Cliff(Problem):
    """f = -x_1^2 + x_2^2 pushes outwards; it is not defined for x_1 > 1/2 (every replica that starts right of 0)."""

    __abstract = True  # a test's own class: the registry must not offer it

    n, m = 2, 1
    domain = Box([-2.0, -2.0], [2.0, 2.0])
    starts = np.array([[-0.1, 0.5], [0.1, 0.5], [-0.2, 0.1], [1.5, 0.0]])

    def initial(self, streams: Streams) -> Array:
        return self.starts[: streams.replicas]

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        f = np.where(x[..., 0] > 0.5, np.nan, x[..., 1] ** 2 - x[..., 0] ** 2)
        return Evaluation(f, x[..., :1] - 5.0)


STEPS = {"primal_step": 0.05, "dual_step": 0.05, "dual_cap": 10.0}


@pytest.mark.parametrize(
    "solver",
    [
        ZOCEG(**STEPS, estimator=Coordinate(smoothing_radius=1e-4)),
        ZOBCEG(**STEPS, estimator=Block(smoothing_radius=1e-4, block_size=2, scaled=False)),
        ZOSPLM(**STEPS, proximal_weight=0.1, estimator=Sphere(smoothing_radius=1e-4, batch_size=20)),
    ],
    ids=lambda solver: solver.title,
)
def test_a_replica_that_meets_nan_is_frozen_and_the_others_go_on(solver: Solver) -> None:
    run = Run(problem=Cliff(), solver=solver, replicas=4, iterations=200, seed=1)
    result = run.run()
    assert result.status == "finished" and run.frozen == 2
    assert result.success.tolist() == [True, False, True, False]
    assert (result.failures > 0).tolist() == [False, True, False, True]
    assert "non-finite values" in result.message
    assert (result.calls[[0, 2]] == run.progress.calls).all() and (result.calls[[1, 3]] < run.progress.calls).all()
    assert np.isfinite(run.state.x).all() and 0.1 < run.state.x[1, 0] <= 0.5, "the last good iterate stays"
    np.testing.assert_array_equal(run.state.x[3], Cliff.starts[3])
    trace = run.trace["objective"]
    assert np.isfinite(trace[:, [0, 2]]).all() and np.isnan(trace[-1, [1, 3]]).all()
    assert trace[-1, 0] < trace[0, 0] - 1.0
    alone = Run(problem=Cliff(), solver=solver.clone(), replicas=1, iterations=200, seed=1)
    np.testing.assert_allclose(alone.run().x[0], result.x[0], rtol=1e-9)
    again = run.replay()
    again.run()
    assert_same_bits(run, again)


def test_a_run_whose_replicas_are_all_frozen_fails_with_a_sentence() -> None:
    problem = BlackBox(lambda x: float("nan") if x.any() else 0.0, bounds=[(-1, 1)], x0=[0.0])
    run = Run(problem=problem, solver=ZOCEG(**STEPS), replicas=3, iterations=10)
    with pytest.raises(OracleError, match="Expected finite values from the black box, got NaN or Inf.*every replica"):
        run.run()
    assert run.status == "failed" and run.frozen == 3 and len(run.trace) >= 1


def test_no_feasible_point_is_said() -> None:
    problem = BlackBox(lambda x: float(x @ x), lambda x: 1.0 + float(x @ x), bounds=[(-1, 1)] * 2)
    result = Run(problem=problem, solver=ZOCEG(), replicas=1, iterations=20).run()
    assert "No feasible point was found." in result.message
    assert not result.success.any() and np.isnan(result.best_fun).all() and np.isnan(result.best_x).all()
    assert (result.violation > 0).all()


# --- measures that raise ----------------------------------------------------------------------------------------------


class Unmeasurable(NonconvexQCQP):
    """Its measures fail from the call ``first`` on: 1 is the start, 2 to 4 are steps, 5 is the end."""

    __abstract = True

    first = param.Integer(default=1)

    calls = 0

    def measures(self, *arguments: Any) -> dict[str, Array]:
        self.calls += 1
        if self.calls >= self.first:
            raise MissingExtra("Expected torch, got none: install it.")
        return super().measures(*arguments)


@pytest.mark.parametrize("first", [1, 3, 5])
@pytest.mark.parametrize("stored", [False, True])
def test_a_run_that_cannot_be_measured_ends_as_failed_with_its_sentence(
    first: int, stored: bool, tmp_path: Path
) -> None:
    store = Store(f"sqlite:///{tmp_path / 'zoviz.db'}") if stored else None
    run = Run(problem=Unmeasurable(n=3, first=first), solver=ZOCEG(), replicas=2, iterations=3, store=store)
    run.start()
    until(lambda: not run.active)
    run.stop()  # as a person does who sees nothing move
    assert run.status == "failed" and run.message == "Expected torch, got none: install it."
    with pytest.raises(MissingExtra, match="Expected torch"):
        run.wait(120)
    assert run.result.nit == min(first - 1, 3) and np.isnan(run.result.fun).all()
    listed = [(record.status, record.message) for record in store.runs()] if store else [(run.status, run.message)]
    assert listed == [("failed", "Expected torch, got none: install it.")]


class Sticky(ZOCEG):
    """Its end raises."""

    __abstract = True

    def close(self) -> None:
        raise OSError("cannot be let go of")


def test_what_raises_while_a_run_closes_is_its_error_unless_it_had_one() -> None:
    run = Run(problem=NonconvexQCQP(n=3), solver=Sticky(), replicas=1, iterations=3)
    with pytest.raises(OSError, match="cannot be let go of"):
        run.run()
    assert run.status == "failed" and run.message == "OSError: cannot be let go of"
    run = Run(problem=Unmeasurable(n=3, first=2), solver=Sticky(), replicas=1, iterations=3)
    with pytest.raises(MissingExtra):
        run.run()
    assert run.message.startswith("Expected torch")


def test_steps_that_no_rule_can_choose_are_a_sentence() -> None:
    problem = BlackBox(lambda x: 1e200 * (x @ x), None, bounds=[(-2.0, 3.0)], x0=[0.5], scaled=False)
    with pytest.raises(ZovizError, match="Expected slopes and curvatures whose powers are finite"):
        Run(problem=problem, solver=ZOBCEG(), replicas=1, calls=100).run()
