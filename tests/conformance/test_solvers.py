"""What every solver in the registry keeps, on every problem that it accepts."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from zoviz.estimators import Block, Coordinate, GradientEstimator
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.problems.base import Problem
from zoviz.registry import discover, required
from zoviz.runs.run import Run
from zoviz.sets import Ball
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOSPLM, Solver
from zoviz.solvers.constants import constants_of
from zoviz.streams import Streams
from zoviz.types import Array, Evaluation, MissingExtra, OracleError

# A class that another test defines is no concern of this one.
EVERY = {name: cls for name, cls in discover("zoviz.solvers", Solver).items() if cls.__module__[:6] == "zoviz."}
# Methods for special kinds of problem have conformance tests of their own; and without the extra that brings its
# library, a solver accepts nothing and says so.
SOLVERS = {name: cls for name, cls in EVERY.items() if cls().accepts(NonconvexQCQP()) is None}
# Other libraries' optimisers: no estimator, no live parameter, duals that may be unknown (NaN), and steps that are not
# comparable; tests/solvers/test_peers.py asks how far they come.
PEERS = {name for name, cls in EVERY.items() if cls().estimator is None}
ESTIMATORS = {
    name: cls
    for name, cls in discover("zoviz.estimators", GradientEstimator).items()
    if cls.__module__.startswith("zoviz.")
}
PROBLEMS = {name: cls for name, cls in discover("zoviz.problems", Problem).items() if cls.__module__[:6] == "zoviz."}
# One that asks for something, as a program's does for the program, has tests of its own.
PROBLEMS = {name: cls for name, cls in PROBLEMS.items() if not required(cls)}
PROBLEMS = {name: cls for name, cls in PROBLEMS.items() if cls.form == "constrained"}
OWN = {name: cls for name, cls in SOLVERS.items() if name not in PEERS}
# A step of these is a small part of what others call an iteration (a single coordinate's): so many count as one.
PARTS = {"ZOiALM": 12}
NOISE = ("deterministic", "common", "independent")
# Every solver is tried on these problems, and every problem with this solver; the other pairs are slow tests.
CORE_PROBLEMS, CORE_SOLVER = ("NonconvexQCQP", "LoadTracking", "BlackBox"), "ZOSPLM"


def accepted(solver: str, problem: str) -> bool:
    """Whether the solver takes the problem; where that needs an extra that is missing, its tests are skipped."""
    if solver == "NOMAD" and problem != "BlackBox":
        return False  # every replica of it is a process
    try:
        return SOLVERS[solver]().accepts(PROBLEMS[problem]()) is None
    except MissingExtra:
        return True


def marks(solver: str, problem: str, noise: str = "deterministic", long: bool = False) -> list[pytest.MarkDecorator]:
    """Slow, for what need not be tried every time: on a core problem a solver meets one kind of noise, and none."""
    core = problem in CORE_PROBLEMS or solver == CORE_SOLVER
    if problem in CORE_PROBLEMS and solver != CORE_SOLVER and noise != "deterministic":
        turn = list(SOLVERS).index(solver) + CORE_PROBLEMS.index(problem)
        core = noise == NOISE[1 + turn % 2]
    return [pytest.mark.slow] if not core or ((long or noise != "deterministic") and PROBLEMS[problem].costly) else []


PAIRS = [pair for pair in itertools.product(SOLVERS, PROBLEMS) if accepted(*pair)]
OWN_PAIRS = [pair for pair in PAIRS if pair[0] not in PEERS]
EACH_CLASS = pytest.mark.parametrize("cls", EVERY.values(), ids=EVERY.keys())
EACH_OWN_CLASS = pytest.mark.parametrize("cls", OWN.values(), ids=OWN.keys())
EACH_PAIR = pytest.mark.parametrize(
    "solver, problem", [pytest.param(*pair, id="-".join(pair), marks=marks(*pair)) for pair in PAIRS]
)
EACH_OWN_PAIR = pytest.mark.parametrize(
    "solver, problem", [pytest.param(*pair, id="-".join(pair), marks=marks(*pair)) for pair in OWN_PAIRS]
)
EACH_PAIR_AND_NOISE = pytest.mark.parametrize(
    "solver, problem, noise",
    [
        pytest.param(*pair, noise, id="-".join((*pair, noise)), marks=marks(*pair, noise))
        for pair, noise in itertools.product(PAIRS, NOISE)
    ],
)


# The suite's cheapest one; its own start is one point, and deterministic methods need more to tell seeds apart.
SMALL = {"Suite": {"problem_name": "HS30", "start_spread": 0.1}}


def small(name: str, **settings: Any) -> Problem:
    """An instance of modest size."""
    cls, settings = PROBLEMS[name], SMALL.get(name, {}) | settings
    return cls(n=8, **settings) if "n" in cls.param else cls(**settings)


class World:
    """A solver at work by hand, as a run's worker does it."""

    def __init__(self, solver: str, problem: Problem, replicas: int = 3, seed: int = 0) -> None:
        self.problem, self.solver = problem, SOLVERS[solver]()
        self.streams = Streams(seed, replicas)
        self.oracle = Oracle(problem, self.streams)
        x0 = problem.initial(self.streams)
        chosen = self.solver.suggest(problem, constants_of(problem, self.oracle, x0, self.streams))
        for name in self.solver.suggestible():
            holder, own = self.solver.owner(name)
            self.solver.set(name, float(np.clip(chosen[name], *holder.param[own].bounds)))
        self.state = self.solver.init(x0, self.oracle, self.streams)

    def step(self, times: int = 1) -> Any:
        for _ in range(times):
            self.state, self.info = self.solver.step(self.state, self.oracle, self.streams)
        return self.state


def arrays(state: Any) -> list[Array]:
    """Every array of a state, the evaluation's included."""
    found = []
    for part in state:
        if isinstance(part, tuple):
            found += arrays(part)
        elif isinstance(part, np.ndarray):
            found.append(part)
    return found


def final_state(run: Run) -> dict[str, Array]:
    return {name: array for name, array in run.state._asdict().items() if isinstance(array, np.ndarray)}


def finished(solver: str, problem: Problem, replicas: int, iterations: int = 8, seed: int = 0) -> Run:
    run = Run(problem=problem, solver=SOLVERS[solver](), replicas=replicas, iterations=iterations, seed=seed)
    run.run()
    return run


@EACH_CLASS
def test_it_says_what_it_is(cls: type[Solver]) -> None:
    solver = cls()
    assert cls.title and cls.source and cls.__doc__
    for name, parameter in cls.param.objects().items():
        if name != "name":
            # Param makes up a label where none is given: only the private one tells.
            assert parameter.doc and parameter._label, f"{cls.__name__}.{name} needs a doc and a label"
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


@EACH_CLASS
def test_the_rule_fills_in_all_that_is_open(cls: type[Solver]) -> None:
    for name in (p for s, p in PAIRS if s == cls.__name__):
        world = World(cls.__name__, small(name))
        assert world.solver.suggestible() == []
        for key in cls().suggestible():
            value = world.solver.get(key)
            assert np.isfinite(value) and value > 0


@EACH_OWN_CLASS
def test_a_clone_is_equal_and_independent(cls: type[Solver]) -> None:
    solver = cls()
    solver.estimator.batch_size = 3
    twin = solver.clone()
    assert type(twin) is cls and twin.estimator is not solver.estimator and twin.estimator.batch_size == 3
    assert solver.parts().keys() == twin.parts().keys()
    skip = {"name", *(prefix.rstrip(".").rpartition(".")[2] for prefix in solver.parts())}
    for mine, its in zip(solver.parts().values(), twin.parts().values(), strict=True):
        assert mine is not its
        theirs = its.param.values()
        assert {k: v for k, v in mine.param.values().items() if k not in skip} == {
            k: v for k, v in theirs.items() if k not in skip
        }
    twin.estimator.batch_size = 5
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
        unknown = solver in PEERS and np.isnan(state.y).all()
        assert all(np.isfinite(a).all() for a in arrays(state) if not (unknown and a is state.y))
        assert world.solver.output(state).shape == (3, n)
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
    many = final_state(finished(solver, small(problem, noise=noise, noise_scale=0.1), 5))
    for replicas in (1, 3):
        few = final_state(finished(solver, small(problem, noise=noise, noise_scale=0.1), replicas))
        assert few.keys() == many.keys()
        for name, array in few.items():
            np.testing.assert_allclose(array, many[name][:replicas], rtol=1e-6, atol=1e-7, err_msg=name)


@EACH_PAIR_AND_NOISE
def test_two_fresh_runs_agree_to_the_bit(solver: str, problem: str, noise: str) -> None:
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
    state = here.step(3)
    there.step(3)
    kept = [array.copy() for array in arrays(state)]
    # A second solver with no past, at streams that have come equally far, takes the same step from the same state.
    fresh = here.solver.clone()
    expected, _ = here.solver.step(state, here.oracle, here.streams)
    found, _ = fresh.step(state, there.oracle, there.streams)
    for before, after in zip(kept, arrays(state), strict=True):
        np.testing.assert_array_equal(before, after)
    for one, other in zip(arrays(expected), arrays(found), strict=True):
        np.testing.assert_array_equal(one, other)


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


def spoiled(evaluate: Callable[..., Evaluation], replicas: int, victim: int, after: int) -> Callable[..., Evaluation]:
    """``evaluate`` with NaN for one replica, from the ``after``-th call on whole base points."""
    seen = itertools.count()

    def patched(self: Problem, x: Array, xi: Any = None) -> Evaluation:
        value = evaluate(self, x, xi)
        if len(x) == replicas and (x.ndim > 2 or next(seen) >= after):
            f = np.array(value.f)
            if x.ndim == 2:
                f[victim] = np.nan
            return Evaluation(f, value.h)
        return value

    return patched


@pytest.mark.parametrize("after", [0, 7])
@EACH_OWN_PAIR
def test_a_replica_that_fails_leaves_the_others_intact(
    solver: str, problem: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = finished(solver, small(problem), 5, 10)
    monkeypatch.setattr(PROBLEMS[problem], "evaluate", spoiled(PROBLEMS[problem].evaluate, 5, 2, after))
    run = finished(solver, small(problem), 5, 10)
    result, whole = run.result, clean.result
    assert run.status == "finished" and run.frozen == 1
    others = [0, 1, 3, 4]
    np.testing.assert_allclose(result.x[others], whole.x[others], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(result.calls[others], whole.calls[others])
    np.testing.assert_allclose(result.best_value[others], whole.best_value[others], rtol=1e-7)
    assert result.calls[2] < whole.calls[2] and result.failures.tolist() == [0, 0, 1, 0, 0]
    assert not result.success[2]
    assert np.isfinite(result.x).all(), "a frozen replica keeps its last good iterate"
    assert np.isnan(run.trace["objective"][-1][2]) and np.isfinite(run.trace["objective"][-1][others]).all()


@EACH_OWN_CLASS
def test_a_black_box_never_sees_a_point_that_is_not_finite(cls: type[Solver]) -> None:
    seen = []

    def objective(x: Array) -> float:
        seen.append(x.copy())
        return float("nan") if len(seen) > 300 and len(seen) % 13 == 0 else float(((x - 0.3) ** 2).sum())

    box = BlackBox(objective, lambda x: 0.5 - x[0], bounds=[(-1.0, 1.0)] * 3)
    run = Run(problem=box, solver=cls(), replicas=4, iterations=300)
    with pytest.raises(OracleError, match="Expected finite values from the black box"):
        run.run()
    assert run.frozen == 4 and np.isfinite(run.result.x).all()
    assert np.isfinite(np.stack(seen)).all()


@pytest.mark.parametrize(
    "constraints",
    [None, lambda x: -1.0, lambda x: 1e-6 * (0.2 - x[0]), lambda x: 1e7 * (0.2 - x[0])],
    ids=["none", "flat", "tiny", "huge"],
)
@EACH_OWN_CLASS
def test_the_rule_stays_within_bounds_whatever_the_constraints_scale(cls: type[Solver], constraints: Any) -> None:
    def objective(x: Array) -> float:
        return float(((x - 0.3) ** 2).sum())

    problem, steps = BlackBox(objective, constraints, bounds=[(-1.0, 1.0)] * 3), 100 * PARTS.get(cls.__name__, 1)
    run = Run(problem=problem, solver=cls(), iterations=steps)
    result = run.run()
    assert np.isfinite(result.x).all()
    if constraints is None or constraints(np.full(3, 0.3)) == -1.0:
        assert all(value < 1000.0 for name, value in run.resolved.items() if name.endswith("dual_step"))
        assert result.fun.max() < 0.05 and (result.maxcv == 0.0).all()


@EACH_OWN_PAIR
def test_a_first_replica_that_fails_at_its_start_leaves_the_others_intact(
    solver: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first replica is the one whose start the unknown constants are measured at.
    evaluate = PROBLEMS[problem].evaluate

    def patched(self: Problem, x: Array, xi: Any = None) -> Evaluation:
        f, h = evaluate(self, x, xi)
        f = np.array(f)
        if len(x) == 5:
            f[0] = np.nan
        return Evaluation(f, h)

    monkeypatch.setattr(PROBLEMS[problem], "evaluate", patched)
    run = finished(solver, small(problem), 5, 10)
    assert run.status == "finished" and run.frozen == 1
    assert np.isfinite(run.result.x).all()
    assert np.isfinite(run.trace["objective"][-1][1:]).all()


# Gap and violation, each of its mean over 3 seeds and 8 replicas at the start: the random-direction methods level off
# where bounds are active (the gradient, and with it their variance, is not zero there), so this asks for no more.
ITERATIONS, GAP_SHARE, VIOLATION_SHARE = 500, 0.1, 0.5


# Their constraints are not convex, which these methods' theory and rules ask for: the last iterate may stay outside.
NOT_CONVEX = ("PressureVessel", "Spring", "WeldedBeam")
# Where f curves down along the rows of its equations, the Lagrangian has no saddle point without a penalty.
NO_SADDLE, WITH_PENALTY = ("StochasticQP",), ("DSZOG", "ZOiALM")


def fails(solver: str, problem: str) -> bool:
    """Whether the defaults are known not to converge."""
    return problem in NOT_CONVEX or (problem in NO_SADDLE and solver not in WITH_PENALTY)


EXPECTED = [pytest.mark.xfail(reason="constraints that are not convex, or no saddle point", strict=True)]


@pytest.mark.parametrize(
    "solver, problem",
    [pytest.param(s, p, id=f"{s}-{p}", marks=marks(s, p, long=True) + EXPECTED * fails(s, p)) for s, p in OWN_PAIRS],
)
def test_defaults_converge_visibly(solver: str, problem: str) -> None:
    if PROBLEMS[problem]().known_optimum is None:
        pytest.skip("no known optimum")
    starts, ends = [], []
    costly, steps = PROBLEMS[problem].costly, ITERATIONS * PARTS.get(solver, 1)
    for seed in (3,) if costly else (3, 4, 5):
        run = finished(solver, PROBLEMS[problem](), 4 if costly else 8, steps, seed)
        assert run.frozen == 0
        columns = [np.abs(run.trace[name]) for name in ("gap", "violation")]
        starts.append([column[0].mean() for column in columns])
        ends.append([column[-1].mean() for column in columns])
    share = np.mean(ends, axis=0) / np.mean(starts, axis=0)
    assert share[0] <= GAP_SHARE and share[1] <= VIOLATION_SHARE, share


def takes(cls: type[Solver], estimator: type[GradientEstimator]) -> bool:
    if cls is ZOBCEG:
        return False
    solver = cls()
    try:
        solver.estimator = estimator()
    except ValueError:
        return False
    return solver.accepts(NonconvexQCQP(n=10)) is None


@pytest.mark.parametrize(
    "cls, estimator",
    [
        pytest.param(cls, name, id=f"{cls.__name__}-{name}")
        for cls, name in itertools.product(OWN.values(), ESTIMATORS)
        if takes(cls, ESTIMATORS[name])
    ],
)
def test_the_rule_serves_every_estimator(cls: type[Solver], estimator: str) -> None:
    solver = cls()
    solver.estimator = ESTIMATORS[estimator](smoothing_radius=None, batch_size=3)
    run = Run(problem=NonconvexQCQP(n=10), solver=solver, replicas=4, iterations=400 * PARTS.get(cls.__name__, 1))
    run.run()
    stationarity = run.trace["stationarity"]
    assert stationarity[-1].mean() <= 0.1 * stationarity[0].mean()


@EACH_OWN_CLASS
def test_defaults_reach_stationarity_on_the_nonconvex_problem(cls: type[Solver]) -> None:
    ends, starts = [], []
    for seed in (3, 4, 5):
        steps = 400 * PARTS.get(cls.__name__, 1)
        stationarity = finished(cls.__name__, NonconvexQCQP(), 8, steps, seed).trace["stationarity"]
        starts.append(stationarity[0].mean())
        ends.append(stationarity[-1].mean())
    assert np.mean(ends) <= 0.03 * np.mean(starts)


@pytest.mark.parametrize(
    "solver, calls",
    [
        (ZOSPLM, lambda n, m, s: s.estimator.batch_size + 1),
        (ZOEG, lambda n, m, s: 2 * (s.estimator.batch_size + 1)),
        (ZOCEG, lambda n, m, s: 2 * (n + 1)),
        (ZOBCEG, lambda n, m, s: 2 * (s.estimator.block_size + 1)),
    ],
    ids=lambda value: value.__name__ if isinstance(value, type) else "",
)
def test_calls_per_iteration_are_as_documented(solver: type[Solver], calls: Callable[..., int]) -> None:
    world = World(solver.__name__, NonconvexQCQP(n=9))
    before = world.oracle.calls.copy()
    world.step(3)
    expected = 3 * calls(9, 1, world.solver)
    assert (world.oracle.calls - before == expected).all()


EXACT = {"smoothing_radius": 1e-3, "differences": "central"}  # central differences of a quadratic along coordinates
STEPS = {"primal_step": 0.02, "dual_step": 0.03}


def slope(problem: Problem, x: Array, y: Array) -> Array:
    of_f, of_h = problem.gradient(x)
    return of_f + (y[..., None] * of_h).sum(axis=1)


def hand_over(solver: Solver, problem: Problem, steps: int) -> Any:
    streams = Streams(0, 3)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    for _ in range(steps):
        state, _ = solver.step(state, oracle, streams)
    return state


@pytest.mark.parametrize("schedule", ["constant", "diminishing"])
@pytest.mark.parametrize(
    "solver",
    [
        ZOCEG(estimator=Coordinate(**EXACT)),
        ZOBCEG(estimator=Block(block_size=6, scaled=False, **EXACT)),
        ZOEG(estimator=Coordinate(**EXACT)),
        ZOEG(estimator=Coordinate(**EXACT), dual="exact"),
    ],
    ids=["ZOCEG", "ZOBCEG", "ZOEG", "ZOEG-exact-dual"],
)
def test_extra_gradient_written_out_with_exact_gradients(solver: Solver, schedule: str) -> None:
    problem, cap = NonconvexQCQP(n=6, half_width=1.5), 0.4
    solver = solver.clone()
    solver.param.update(**STEPS, dual_cap=cap, schedule=schedule)
    x, y, halves = problem.initial(Streams(0, 3)), np.zeros((3, 1)), []
    for k in range(6):
        factor = 1.0 if schedule == "constant" else 1.0 / np.sqrt(k + 1.0)
        eta, eta_y = 0.02 * factor, 0.03 * factor
        x_half = np.clip(x - eta * slope(problem, x, y), -1.5, 1.5)
        y_half = np.clip(y + eta_y * problem.evaluate(x).h, 0.0, cap)
        x = np.clip(x - eta * slope(problem, x_half, y_half), -1.5, 1.5)
        y = np.clip(y + eta_y * problem.evaluate(x_half).h, 0.0, cap)
        halves.append(x_half)
    state = hand_over(solver, problem, 6)
    np.testing.assert_allclose(state.x, x, atol=1e-6)
    np.testing.assert_allclose(state.y, y, atol=1e-6)
    np.testing.assert_allclose(state.value.h, problem.evaluate(x).h, atol=1e-5)
    assert solver.output(state) is state.x
    solver.report = "average"
    np.testing.assert_allclose(solver.output(state), np.mean(halves, axis=0), atol=1e-6)


@pytest.mark.parametrize("literal", [False, True])
def test_splm_written_out_with_exact_gradients(literal: bool) -> None:
    problem, beta, p, cap = NonconvexQCQP(n=6, half_width=1.5), 0.3, 2.0, 0.4
    solver = ZOSPLM(
        estimator=Coordinate(**EXACT),
        proximal_step=beta,
        proximal_weight=p,
        dual_cap=cap,
        estimate_proximal=literal,
        **STEPS,
    )
    x = z = problem.initial(Streams(0, 3))
    y = np.zeros((3, 1))
    for _ in range(6):
        x = np.clip(x - 0.02 * (slope(problem, x, y) + p * (x - z)), -1.5, 1.5)
        y = np.clip(y + 0.03 * problem.evaluate(x).h, 0.0, cap)
        z = z + beta * (x - z)
    state = hand_over(solver, problem, 6)
    for found, expected in zip(state[:3], (x, y, z), strict=True):
        np.testing.assert_allclose(found, expected, atol=1e-6)


class Round(NonconvexQCQP):
    """The same on a ball."""

    __abstract = True  # keeps it out of the registry

    @property
    def domain(self) -> Ball:
        return Ball(np.zeros(self.n), 3.0)


def test_block_method_refuses_a_domain_that_does_not_project_by_coordinates() -> None:
    reason = ZOBCEG().accepts(Round(n=4))
    assert reason is not None and "a Ball: choose ZOCEG or ZOEG." in reason
    with pytest.raises(ValueError, match="needs a box as domain"):
        Run(problem=Round(n=4), solver=ZOBCEG(), iterations=1).run()


@pytest.mark.parametrize("solver", [name for name in SOLVERS if SOLVERS[name]().accepts(Round(n=4)) is None])
def test_iterates_stay_in_a_ball(solver: str) -> None:
    world = World(solver, Round(n=4))
    assert np.linalg.norm(world.step(20).x, axis=1).max() <= 3.0 + 1e-12
