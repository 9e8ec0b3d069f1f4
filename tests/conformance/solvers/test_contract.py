"""What every solver in the registry keeps on every problem that it accepts: its words, its state, its numbers."""

from __future__ import annotations

import ast
from typing import Any

import numpy as np
import pytest

from helpers.every_solver import (
    EACH_CLASS,
    EACH_OWN_CLASS,
    EACH_PAIR,
    EACH_PAIR_AND_NOISE,
    EACH_PAIR_IN_TURN,
    EVERY,
    PEERS,
    PROBLEMS,
    World,
    arrays,
    final_state,
    finished,
    small,
)
from helpers.parameters import assert_documented
from helpers.pure_step import assert_pure_step
from helpers.sources import SOURCES, parse
from zoviz.core.types import Evaluation
from zoviz.estimators import GradientEstimator
from zoviz.solvers import Solver


@EACH_CLASS
def test_it_says_what_it_is(cls: type[Solver]) -> None:
    solver = cls()
    assert cls.title and cls.__doc__
    assert_documented(cls)
    assert isinstance(solver.estimator, GradientEstimator) or (solver.estimator is None and not cls.families)


@EACH_CLASS
def test_every_live_name_is_a_parameter_that_can_be_set(cls: type[Solver]) -> None:
    solver = cls()
    assert (solver.live or cls.__name__ in PEERS) and len(set(solver.live)) == len(solver.live)
    for name in solver.live:
        holder, own = solver.owner(name)
        assert own in holder.param and not holder.param[own].constant
        solver.set(name, solver.get(name))
    with pytest.raises(ValueError, match="got 'nonsense': see"):
        solver.owner("nonsense")


@EACH_CLASS
def test_accepts_gives_none_or_a_sentence(cls: type[Solver]) -> None:
    for problem in PROBLEMS.values():
        reason = cls().accepts(problem())
        assert reason is None or (reason[0].isupper() and reason.endswith(".") and " " in reason)


def test_a_public_name_that_a_solver_adds_is_asked_for_somewhere() -> None:
    """A hook under a wrong name, as closing_notes for closing_note, would never be called, and nothing would say so."""
    accessed = {node.attr for path in SOURCES for node in ast.walk(parse(path)) if isinstance(node, ast.Attribute)}

    def is_asked_for(base: type, name: str) -> bool:
        return name.startswith("_") or hasattr(Solver, name) or name in base.param or name in accessed

    bases = {base for cls in EVERY.values() for base in cls.__mro__ if issubclass(base, Solver)}
    unused = [f"{base.__name__}.{name}" for base in bases for name in vars(base) if not is_asked_for(base, name)]
    assert not unused, f"expected: hooks of Solver, or names that the package uses; got {sorted(unused)}"


@EACH_PAIR
def test_the_rule_fills_in_all_that_is_open(solver: str, problem: str) -> None:
    world = World(solver, small(problem))
    assert world.solver.open_scales() == []
    for key in EVERY[solver]().open_scales():
        value = world.solver.get(key)
        assert np.isfinite(value) and value > 0


@EACH_OWN_CLASS
def test_a_clone_is_equal_and_independent(cls: type[Solver]) -> None:
    solver = cls()
    solver.estimator.batch_size = 3
    clone = solver.clone()
    assert type(clone) is cls and clone.estimator is not solver.estimator and clone.estimator.batch_size == 3
    assert solver.parts().keys() == clone.parts().keys()
    skip = {"name", *(prefix.rstrip(".").rpartition(".")[2] for prefix in solver.parts())}
    for mine, its in zip(solver.parts().values(), clone.parts().values(), strict=True):
        assert mine is not its
        theirs = its.param.values()
        assert {k: v for k, v in mine.param.values().items() if k not in skip} == {
            k: v for k, v in theirs.items() if k not in skip
        }
    clone.estimator.batch_size = 5
    assert solver.estimator.batch_size == 3


@EACH_PAIR_AND_NOISE
def test_shapes_types_and_ranges_of_the_state(solver: str, problem: str, noise: str) -> None:
    world = World(solver, small(problem, noise=noise, noise_scale=0.1))
    n, m = world.oracle.n, world.oracle.m
    for times in (0, 1, 4):
        state = world.step(times)
        assert isinstance(state, tuple) and hasattr(state, "_fields")
        assert state.x.shape == (3, n) and state.y.shape == (3, m)
        assert isinstance(state.value, Evaluation)
        assert state.value.f.shape == (3,) and state.value.h.shape == (3, m)
        assert all(a.dtype == np.float64 and len(a) == 3 for a in arrays(state))
        untold = np.isnan(state.y).all(axis=1) if solver in PEERS else np.zeros(3, dtype=bool)
        assert np.isfinite(state.y[~untold]).all()
        assert all(np.isfinite(a).all() for a in arrays(state) if a is not state.y)
        assert world.solver.output(state).shape == (3, n)
        iterate = world.solver.iterate(state)
        assert iterate.x is state.x and iterate.dual is state.y and iterate.value is state.value
        assert world.problem.domain.distance(state.x).max() <= 1e-9
        assert not (state.y < 0.0).any()
        caps = [part.dual_cap for part in world.solver.parts().values() if "dual_cap" in part.param]
        assert not (state.y > min(caps, default=np.inf)).any()
    info = world.info
    assert info.variance.shape == (3,) and info.point.shape == (3, n) and info.dual.shape == (3, m)
    assert (np.isfinite(info.radius) and info.radius > 0) or solver in PEERS
    assert all(v.shape == (3,) for v in world.solver.theory(world.problem, info).values())


@EACH_PAIR_AND_NOISE
def test_a_replica_does_not_depend_on_how_many_there_are(solver: str, problem: str, noise: str) -> None:
    many = final_state(finished(solver, small(problem, noise=noise, noise_scale=0.1), 4))
    replicas = 3 if noise == "independent" else 1
    few = final_state(finished(solver, small(problem, noise=noise, noise_scale=0.1), replicas))
    assert few.keys() == many.keys()
    for name, array in few.items():
        np.testing.assert_allclose(array, many[name][:replicas], rtol=1e-6, atol=1e-7, err_msg=name)


@EACH_PAIR_IN_TURN
def test_two_fresh_runs_agree_to_the_bit(solver: str, problem: str) -> None:
    noise = "independent"  # under the other contracts a run that goes on is compared with one that was never stopped
    first, again = (finished(solver, small(problem, noise=noise, noise_scale=0.1), 3, seed=4) for _ in range(2))
    mine, its = final_state(first), final_state(again)
    for name, array in mine.items():
        np.testing.assert_array_equal(array, its[name], err_msg=name)
    for name in first.trace.snapshot().columns.keys() - {"seconds"}:
        np.testing.assert_array_equal(first.trace[name], again.trace[name], err_msg=name)
    other = final_state(finished(solver, small(problem, noise=noise, noise_scale=0.1), 3, seed=5))
    assert (other["x"] != mine["x"]).any()


@EACH_PAIR
def test_a_step_depends_on_nothing_but_its_arguments_and_leaves_them_alone(solver: str, problem: str) -> None:
    here, there = (World(solver, small(problem, noise="independent", noise_scale=0.1)) for _ in range(2))
    assert_pure_step(here, there, arrays)


@EACH_PAIR
def test_no_gradient_is_asked_for(solver: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a zeroth-order method asked for a gradient")

    for name in ("gradient", "value_and_gradient", "metrics"):
        monkeypatch.setattr(PROBLEMS[problem], name, refuse)
    world = World(solver, small(problem))
    calls = world.oracle.calls.copy()
    world.step(2)
    assert (world.oracle.calls > calls).all()
