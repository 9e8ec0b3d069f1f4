"""What every method for linear constraints keeps, in both its forms, on every kind of linear rows that it accepts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.arrays import assert_first_replicas, assert_same_arrays
from helpers.every_linear import (
    EACH,
    EACH_CLASS,
    EACH_FORM,
    NOISE,
    OTHERS,
    SOLVERS,
    K,
    World,
    finished,
    free_problem,
    made,
    solver_of,
    takes,
)
from helpers.every_solver import arrays
from helpers.pure_step import assert_pure_step
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.problems import DistributedConsensus, NetworkSlicing, NonconvexQCQP, StochasticQP
from zoviz.problems.base import Problem
from zoviz.problems.linear import LinearlyConstrained
from zoviz.runs.run import Run


@EACH_CLASS
def test_it_refuses_what_it_is_not_made_for(name: str) -> None:
    solver = SOLVERS[name]()
    assert "choose another solver." in solver.accepts(NonconvexQCQP())
    assert "scaling" in solver.accepts(StochasticQP(free_variables=4, scaled=True))
    assert (solver.accepts(made("sampled")) is None) == SOLVERS[name].takes_samples
    assert solver.accepts(free_problem(name)) is None


@EACH
def test_the_rule_fills_in_all_that_is_open(name: str, form: str, rows: str) -> None:
    world = World(name, form, made(rows))
    assert world.solver.open_scales() == [] and world.suggestions
    for key, value in world.suggestions.items():
        holder, own = world.solver.owner(key)
        low, high = holder.param[own].bounds
        assert type(value) is float and low <= value <= high and value > 0.0, (key, value)


@EACH_FORM
def test_a_clone_is_equal_and_independent(name: str, form: str) -> None:
    solver = solver_of(name, form)
    clone = solver.clone()
    mine, its = solver.param.values(), clone.param.values()
    skip = {"name", "estimator"}
    assert {k: v for k, v in mine.items() if k not in skip} == {k: v for k, v in its.items() if k not in skip}
    clone.estimator.batch_size, clone.horizon = 17, 18
    assert solver.estimator.batch_size == K and solver.horizon == 100


@NOISE
@EACH
def test_shapes_types_and_ranges_of_the_state(name: str, form: str, rows: str, noise: str) -> None:
    problem = made(rows, noise=noise, noise_scale=0.01)
    takes(name, problem)
    world = World(name, form, problem)
    n, m, p = world.oracle.n, world.oracle.m, problem.rows
    for times in (0, 1, 4):
        state = world.step(times)
        assert isinstance(state, tuple) and hasattr(state, "_fields")
        assert state.x.shape == (3, n) and state.y.shape == (3, m) and state.dual.shape == (3, p)
        assert state.slack.shape == (3, 0 if problem.equations else p) and not (state.slack > 0.0).any()
        assert all(a.dtype == np.float64 and len(a) == 3 and np.isfinite(a).all() for a in replicated(state))
        assert problem.domain.distance(state.x).max() <= 1e-9
        assert not (state.y < 0.0).any()
        iterate = world.solver.iterate(state)
        assert iterate.x.shape == (3, n) and iterate.row_dual is not None and iterate.row_dual.shape == (3, p)
        measured = problem.measures(iterate, world.oracle.sample)
        assert all(column.shape == (3,) and np.isfinite(column).all() for column in measured.values())
        assert "normal_residual" in measured and ("residual" in measured) == (not problem.equations)
    info = world.info
    assert info.variance.shape == (3,) and info.point.shape == (3, n) and info.dual.shape == (3, m)
    assert np.isfinite(info.variance).all() == (form == "zeroth-order") and info.radius > 0.0
    theory = world.solver.theory(problem, info)
    assert all(v.shape == (3,) for v in theory.values()) and (not theory or form == "zeroth-order")


def replicated(state: Any) -> list[Array]:
    """The arrays of a state that have a replica axis: equations that were solved once serve all replicas."""
    return arrays(state._replace(elimination=()) if "elimination" in state._fields else state)


@NOISE
@EACH
def test_a_replica_does_not_depend_on_how_many_there_are(name: str, form: str, rows: str, noise: str) -> None:
    problem = made(rows, noise=noise, noise_scale=0.01)
    takes(name, problem)
    many = finished(name, form, problem, 5)
    for replicas in (1, 3):
        few = finished(name, form, problem, replicas)
        assert_first_replicas(replicated(few.state), replicated(many.state), replicas)
        if many.result.polished is None:
            assert few.result.polished is None
        else:
            assert_first_replicas(list(few.result.polished), list(many.result.polished), replicas)


@EACH
def test_two_fresh_runs_agree_to_the_bit(name: str, form: str, rows: str) -> None:
    first, again = (finished(name, form, made(rows), 3, seed=4) for _ in range(2))
    assert_same_arrays(arrays(first.state), arrays(again.state))
    for column in first.trace.snapshot().columns.keys() - {"seconds"}:
        np.testing.assert_array_equal(first.trace[column], again.trace[column], err_msg=column)
    assert (first.result.polished is None) == (again.result.polished is None)
    for one, other in zip(first.result.polished or (), again.result.polished or (), strict=True):
        np.testing.assert_array_equal(one, other)
    other = finished(name, form, made(rows), 3, seed=5)
    assert (other.state.x != first.state.x).any()


@EACH_FORM
def test_a_steered_run_replays_to_the_bit(name: str, form: str) -> None:
    run = Run(problem=free_problem(name), solver=solver_of(name, form), replicas=3, iterations=40)
    script = {7: ("primal_step", 1e-3), 20: ("batch_size", 5), 25: ("penalty", 0.5)}

    def steer() -> None:
        change = script.get(run.progress.iteration)
        if change is not None and change[0] in run.solver.live:
            run.set(dict([change]))

    run.run(steer)
    assert len(run.journal) >= 2
    again = run.replay()
    again.run()
    assert_same_arrays(arrays(run.state), arrays(again.state))


@EACH
def test_a_step_depends_on_nothing_but_its_arguments_and_leaves_them_alone(name: str, form: str, rows: str) -> None:
    here, there = (World(name, form, made(rows)) for _ in range(2))
    assert_pure_step(here, there, arrays)


@EACH
def test_nothing_exact_is_asked_for(name: str, form: str, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cls = type(made(rows))

    def refuse(*_: Any) -> None:
        raise AssertionError("a method asked for what it must not see")

    for forbidden in ("gradient", "value_and_gradient", "metrics", "measures"):
        monkeypatch.setattr(cls, forbidden, refuse)
    if made(rows).sampled_rows:
        monkeypatch.setattr(cls, "matrix", refuse)
    world = World.__new__(World)
    gradient, evaluate = cls.stochastic_gradient, cls.evaluate

    def only_sampled(self: Any, x: Array, xi: Any = None) -> Array:
        assert xi is not None and form == "stochastic", "an exact gradient, or one beside values"
        return gradient(self, x, xi)

    def values(self: Any, x: Array, xi: Any = None) -> Evaluation:
        assert xi is not None and form == "zeroth-order", "exact values, or values beside gradients"
        return evaluate(self, x, xi)

    monkeypatch.setattr(cls, "operator_norm", 1.0)
    constants = made(rows).constants
    if constants is None:
        pytest.skip("constants are measured from values")
    monkeypatch.setattr(cls, "stochastic_gradient", only_sampled)
    monkeypatch.setattr(cls, "evaluate", values)
    world.__init__(name, form, made(rows))  # type: ignore[misc]
    calls = world.oracle.calls.copy()
    world.step(2)
    world.solver.polish(world.state, world.oracle, world.streams)
    assert (world.oracle.calls > calls).all()


SAMPLED = {
    "StochasticQP": StochasticQP(n=9, sampled_rows=True),
    "DistributedConsensus": DistributedConsensus(nodes=4, node_points=5),
    "NetworkSlicing": NetworkSlicing(demand_spread=0.5),
}


def test_every_problem_whose_rows_may_be_sampled_is_among_these() -> None:
    """A class that says so by a property or a parameter of its own; FairClassification's rows are known."""
    assert {name for name, cls in (OTHERS | {"StochasticQP": StochasticQP}).items() if says_sampled(cls)} == set(
        SAMPLED
    )


def says_sampled(cls: type[LinearlyConstrained]) -> bool:
    return any("sampled_rows" in vars(base) for base in cls.__mro__ if base not in (LinearlyConstrained, Problem))


@pytest.mark.parametrize("name", SAMPLED)
def test_a_mini_batch_averages_its_rows(name: str) -> None:
    """The variance of A_zeta x - b_zeta and of A_zeta^T y falls as 1 / B, in each independent copy."""
    problem, replicas, spread = SAMPLED[name], 600, {}
    x = np.repeat(problem.initial(Streams(1, 1)), replicas, axis=0)
    y = np.ones((replicas, problem.rows))
    for size in (1, 16):
        xi = problem.draw(0, Streams(0, replicas), size=size)
        values = [problem.residual(x, xi, copy) for copy in range(3)] + [problem.adjoint(y, xi, 1)]
        np.testing.assert_allclose(values[0].mean(axis=0), problem.residual(x[0]), atol=0.3)
        spread[size] = np.array([one.var(axis=0).sum() for one in values])
        assert abs(np.corrcoef(values[0].sum(axis=1), values[1].sum(axis=1))[0, 1]) < 0.2
    np.testing.assert_allclose(spread[1] / spread[16], 16.0, rtol=0.35)
