"""What every solver of online bilevel problems keeps: its words, its state, its numbers, and what it refuses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.arrays import assert_first_replicas
from helpers.every_bilevel import (
    DERIVATIVES,
    EACH_NOISE,
    EACH_PAIR,
    EACH_PAIR_IN_TURN,
    EACH_SOLVER,
    FORM,
    PROBLEMS,
    SOLVERS,
    arrays,
    assert_equal_states,
    small,
)
from helpers.every_solver import EVERY as EVERY_SOLVER
from helpers.every_solver import EVERY_PROBLEM, World, finished
from helpers.parameters import assert_documented
from helpers.pure_step import assert_pure_step
from zoviz import AskTell
from zoviz.core.sets import Ball, Box
from zoviz.estimators import GradientEstimator
from zoviz.problems import Problem
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.runs.run import Run
from zoviz.solvers import Solver


@pytest.mark.parametrize("cls", [*SOLVERS.values(), *PROBLEMS.values()], ids=[*SOLVERS.keys(), *PROBLEMS.keys()])
def test_it_says_what_it_is(cls: type) -> None:
    assert cls.title and cls.__doc__
    assert_documented(cls)


@EACH_SOLVER
def test_every_live_name_is_a_parameter_that_can_be_set(cls: type[Solver]) -> None:
    solver = cls()
    assert solver.live and len(set(solver.live)) == len(solver.live)
    for name in solver.live:
        holder, own = solver.owner(name)
        assert own in holder.param and not holder.param[own].constant
        solver.set(name, solver.get(name))
    with pytest.raises(ValueError, match="got 'nonsense': see"):
        solver.owner("nonsense")


@pytest.fixture(scope="module")
def every_problem() -> dict[str, Problem]:
    """One instance of every problem, whose data are made once."""
    return {name: cls() for name, cls in EVERY_PROBLEM.items()}


@pytest.mark.parametrize("cls", EVERY_SOLVER.values(), ids=EVERY_SOLVER.keys())
def test_accepts_gives_none_or_a_sentence_and_no_other_form_is_accepted(
    cls: type[Solver], every_problem: dict[str, Problem]
) -> None:
    for name in EVERY_PROBLEM:
        problem = every_problem[name]
        reason = cls().accepts(problem)
        assert reason is None or (reason[0].isupper() and reason.endswith(".") and " " in reason)
        if problem.form == FORM and FORM not in cls.forms:
            assert reason is not None and "online bilevel" in reason


@EACH_SOLVER
def test_a_clone_is_equal_and_independent(cls: type[Solver]) -> None:
    solver = cls()
    clone = solver.clone()
    assert type(clone) is cls and solver.parts().keys() == clone.parts().keys()
    nested = {"name", *(prefix.rstrip(".").rpartition(".")[2] for prefix in solver.parts())}
    for mine, its in zip(solver.parts().values(), clone.parts().values(), strict=True):
        assert mine is not its
        theirs = its.param.values()
        assert {k: v for k, v in mine.param.values().items() if k not in nested} == {
            k: v for k, v in theirs.items() if k not in nested
        }


@EACH_PAIR
def test_the_rule_fills_in_all_that_is_open(solver: str, problem: str) -> None:
    world = World(solver, small(problem))
    assert world.solver.open_scales() == []
    assert all(np.isfinite(world.solver.get(key)) for key in SOLVERS[solver]().open_scales())
    assert (world.solver.known_constants(world.problem) is None) == (world.problem.bilevel_constants is None)


@EACH_NOISE
@EACH_PAIR
def test_shapes_types_and_ranges_of_the_state(solver: str, problem: str, noise: str) -> None:
    world = World(solver, small(problem, noise=noise))
    n, d = world.oracle.n, world.problem.inner_domain.n
    for times in (0, 1, 7):
        state = world.step(times)
        assert isinstance(state, tuple) and hasattr(state, "_fields")
        iterate = world.solver.iterate(state)
        assert iterate.x.shape == (3, n) and iterate.dual is None, "the follower's y would pass for multipliers"
        assert iterate.inner is not None and iterate.inner.shape == (3, d)
        system = iterate.solved if iterate.system is None else iterate.system
        assert (system is not None) == ("v" in state._fields)
        assert system is None or system.shape == (3, d)
        assert all(a.dtype == np.float64 and len(a) == 3 and np.isfinite(a).all() for a in arrays(state))
        assert world.problem.domain.distance(state.x).max() <= 1e-9
        assert world.problem.inner_domain.distance(state.inner).max() <= 1e-9
    info = world.info
    assert info.variance.shape == (3,) and info.point.shape == (3, n) and info.dual.shape == (3, 0)
    assert (info.radius > 0) == (world.solver.estimator is not None)
    assert all(v.shape == (3,) for v in world.solver.theory(world.problem, info).values())


@EACH_NOISE
@EACH_PAIR_IN_TURN
def test_a_replica_does_not_depend_on_how_many_there_are(solver: str, problem: str, noise: str) -> None:
    many = finished(solver, small(problem, noise=noise), 5).state
    for replicas in (1, 3):
        few = finished(solver, small(problem, noise=noise), replicas).state
        assert_first_replicas(arrays(few), arrays(many), replicas)


@EACH_NOISE
@EACH_PAIR_IN_TURN
def test_two_fresh_runs_agree_to_the_bit(solver: str, problem: str, noise: str) -> None:
    first, again = (finished(solver, small(problem, noise=noise), 3, seed=4) for _ in range(2))
    assert_equal_states(first.state, again.state)
    for name in first.trace.snapshot().columns.keys() - {"seconds"}:
        np.testing.assert_array_equal(first.trace[name], again.trace[name], err_msg=name)
    other = finished(solver, small(problem, noise=noise), 3, seed=5)
    assert any((mine != its).any() for mine, its in zip(arrays(other.state), arrays(first.state), strict=True))


@EACH_PAIR
def test_a_step_depends_on_nothing_but_its_arguments_and_leaves_them_alone(solver: str, problem: str) -> None:
    here, there = (World(solver, small(problem)) for _ in range(2))
    assert_pure_step(here, there, arrays)


OFF_THE_BOOKS = ("solution", "exact", "hypergradient", "evaluate", "gradient")


@EACH_PAIR
def test_nothing_off_the_books_is_asked_for(solver: str, problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a method looked at what it has not paid for")

    zeroth = not getattr(SOLVERS[solver], "first_order", False)
    for name in (*OFF_THE_BOOKS, *(DERIVATIVES if zeroth else ())):
        monkeypatch.setattr(PROBLEMS[problem], name, refuse)
    world = World(solver, small(problem))
    calls = world.oracle.calls.copy()
    world.step(2)
    assert (world.oracle.calls > calls).all()
    assert (world.oracle.calls == sum(world.oracle.account.kinds.values())).all(), "every call has its kind"


def test_estimators_of_a_zeroth_order_method_are_parts_of_it() -> None:
    for cls in SOLVERS.values():
        nested = [part for part in cls().parts().values() if isinstance(part, GradientEstimator)]
        assert bool(nested) == bool(cls.families) and all(isinstance(part, cls.families) for part in nested)


def test_what_a_bilevel_run_cannot_do_is_said_in_a_sentence() -> None:
    problem = small("QuadraticBilevel")
    with pytest.raises(ValueError, match="Expected a method that asks for values, got SOGD, which asks for der"):
        AskTell(problem, SOLVERS["SOGD"]())
    for name in ("SOGD", "ZOSOGD"):
        problem = small("QuadraticBilevel", noise="independent")
        assert "independent noise" in SOLVERS[name]().accepts(problem)
        assert "scaling" in SOLVERS[name]().accepts(small("QuadraticBilevel", scaled=True))

    class ValuesOnly(OnlineBilevel):
        """No derivatives."""

        __abstract = True
        domain = inner_domain = Box.free(2)

    assert "has values only" in SOLVERS["SOGD"]().accepts(ValuesOnly())
    assert SOLVERS["ZOSOGD"]().accepts(ValuesOnly()) is None and ValuesOnly().tally(3) is None
    assert "box only, not on a Ball" in SOLVERS["SOBBO"]().accepts(Round(n=2, d=2))
    assert SOLVERS["SOBBO"](geometry="euclidean").accepts(Round(n=2, d=2)) is None


class Round(PROBLEMS["QuadraticBilevel"]):
    """The quadratic one with a leader in a ball."""

    __abstract = True

    @property
    def domain(self) -> Ball:
        return Ball(np.zeros(self.n), 0.3)


@EACH_SOLVER
def test_a_leader_stays_in_a_ball(cls: type[Solver]) -> None:
    problem = Round(n=3, d=3)
    solver = cls()
    if "geometry" in solver.param:
        solver.geometry = "euclidean"
    if solver.accepts(problem) is not None:
        pytest.skip("not accepted")
    run = Run(problem=problem, solver=solver, replicas=3, iterations=30)
    assert np.linalg.norm(run.run().x, axis=1).max() <= 0.3 + 1e-12
