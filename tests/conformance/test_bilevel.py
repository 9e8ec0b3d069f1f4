"""What every solver of online bilevel problems keeps, on every such problem that it accepts."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from zoviz import AskTell
from zoviz.estimators import GradientEstimator
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.registry import discover, required
from zoviz.runs.run import Run
from zoviz.sets import Ball, Box
from zoviz.solvers import Solver
from zoviz.streams import Streams
from zoviz.types import Array, MissingExtra, OracleError

FORM = "online bilevel"
# A class that another test defines is no concern of this one.
EVERY_SOLVER = {n: cls for n, cls in discover("zoviz.solvers", Solver).items() if cls.__module__.startswith("zoviz.")}
EVERY_PROBLEM = {n: cls for n, cls in discover("zoviz.problems", Problem).items() if cls.__module__[:6] == "zoviz."}
SOLVERS = {name: cls for name, cls in EVERY_SOLVER.items() if FORM in cls.forms}
EVERY_PROBLEM = {name: cls for name, cls in EVERY_PROBLEM.items() if not required(cls)}
PROBLEMS = {name: cls for name, cls in EVERY_PROBLEM.items() if cls.form == FORM}
# Cheap ones in closed form; the pairs with others are slow tests.
CORE = {"QuadraticBilevel": {"n": 4, "d": 5}, "ToyBilevel": {"variant": "rapid"}}


def accepted(solver: str, problem: str) -> bool:
    """Whether the solver takes the problem; where that needs an extra that is missing, its tests are skipped."""
    try:
        return SOLVERS[solver]().accepts(PROBLEMS[problem]()) is None
    except MissingExtra:
        return True


PAIRS = [pair for pair in itertools.product(SOLVERS, PROBLEMS) if accepted(*pair)]
CORE_PAIRS = [pair for pair in PAIRS if pair[1] in CORE]
EACH_SOLVER = pytest.mark.parametrize("cls", SOLVERS.values(), ids=SOLVERS.keys())
EACH_PROBLEM = pytest.mark.parametrize("cls", PROBLEMS.values(), ids=PROBLEMS.keys())
EACH_PAIR = pytest.mark.parametrize(
    "solver, problem",
    [pytest.param(*pair, id="-".join(pair), marks=() if pair in CORE_PAIRS else pytest.mark.slow) for pair in PAIRS],
)
EACH_CORE_PAIR = pytest.mark.parametrize("solver, problem", CORE_PAIRS, ids=map("-".join, CORE_PAIRS))
EACH_NOISE = pytest.mark.parametrize("noise", ["deterministic", "common"])


def small(name: str, **settings: Any) -> OnlineBilevel:
    """An instance of modest size."""
    return PROBLEMS[name](**CORE.get(name, {}), **settings)


class World:
    """A solver at work by hand, as a run's worker does it."""

    def __init__(self, solver: str, problem: OnlineBilevel, replicas: int = 3, seed: int = 0) -> None:
        self.problem, self.solver = problem, SOLVERS[solver]()
        self.streams = Streams(seed, replicas)
        self.oracle = Oracle(problem, self.streams)
        x0 = problem.initial(self.streams)
        chosen = self.solver.suggest(problem, self.solver.learn(problem, self.oracle, x0, self.streams))
        for name in self.solver.suggestible():
            holder, own = self.solver.owner(name)
            self.solver.set(name, float(np.clip(chosen[name], *holder.param[own].bounds)))
        self.state = self.solver.init(x0, self.oracle, self.streams)

    def step(self, times: int = 1) -> Any:
        for _ in range(times):
            self.state, self.info = self.solver.step(self.state, self.oracle, self.streams)
        return self.state


def arrays(state: Any) -> list[Array]:
    """Every array of a state, those of nested parts and of kept samples included."""
    found = []
    for part in state:
        if isinstance(part, tuple):
            found += arrays(part)
        elif isinstance(part, np.ndarray):
            found.append(part)
        elif hasattr(part, "__dict__"):
            found += arrays(vars(part).values())
    return found


def finished(solver: str, problem: OnlineBilevel, replicas: int, iterations: int = 8, seed: int = 0) -> Run:
    run = Run(problem=problem, solver=SOLVERS[solver](), replicas=replicas, iterations=iterations, seed=seed)
    run.run()
    return run


def assert_equal_states(one: Any, other: Any) -> None:
    for mine, its in zip(arrays(one), arrays(other), strict=True):
        np.testing.assert_array_equal(mine, its)


@pytest.mark.parametrize("cls", [*SOLVERS.values(), *PROBLEMS.values()], ids=[*SOLVERS.keys(), *PROBLEMS.keys()])
def test_it_says_what_it_is(cls: type) -> None:
    assert cls.title and cls.__doc__ and getattr(cls, "source", "problem")
    for name, parameter in cls.param.objects().items():
        if name != "name":
            # Param makes up a label where none is given: only the private one tells.
            assert parameter.doc and parameter._label, f"{cls.__name__}.{name} needs a doc and a label"


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


@pytest.mark.parametrize("cls", EVERY_SOLVER.values(), ids=EVERY_SOLVER.keys())
def test_accepts_gives_none_or_a_sentence_and_no_other_form_is_accepted(cls: type[Solver]) -> None:
    for problem in EVERY_PROBLEM.values():
        reason = cls().accepts(problem())
        assert reason is None or (reason[0].isupper() and reason.endswith(".") and " " in reason)
        if problem.form == FORM and FORM not in cls.forms:
            assert reason is not None and "online bilevel" in reason


@EACH_SOLVER
def test_a_clone_is_equal_and_independent(cls: type[Solver]) -> None:
    solver = cls()
    twin = solver.clone()
    assert type(twin) is cls and solver.parts().keys() == twin.parts().keys()
    nested = {"name", *(prefix.rstrip(".").rpartition(".")[2] for prefix in solver.parts())}
    for mine, its in zip(solver.parts().values(), twin.parts().values(), strict=True):
        assert mine is not its
        theirs = its.param.values()
        assert {k: v for k, v in mine.param.values().items() if k not in nested} == {
            k: v for k, v in theirs.items() if k not in nested
        }


@EACH_PAIR
def test_the_rule_fills_in_all_that_is_open(solver: str, problem: str) -> None:
    world = World(solver, small(problem))
    assert world.solver.suggestible() == []
    assert all(np.isfinite(world.solver.get(key)) for key in SOLVERS[solver]().suggestible())
    assert (world.solver.known(world.problem) is None) == (world.problem.magnitudes is None)


@EACH_NOISE
@EACH_PAIR
def test_shapes_types_and_ranges_of_the_state(solver: str, problem: str, noise: str) -> None:
    world = World(solver, small(problem, noise=noise))
    n, d = world.oracle.n, world.problem.inner_domain.n
    for times in (0, 1, 7):
        state = world.step(times)
        assert isinstance(state, tuple) and hasattr(state, "_fields")
        assert state.x.shape == (3, n) and not hasattr(state, "y"), "y would pass for multipliers"
        for name in {"inner", "v"} & set(state._fields):
            assert getattr(state, name).shape == (3, d)
        assert all(a.dtype == np.float64 and len(a) == 3 and np.isfinite(a).all() for a in arrays(state))
        assert world.problem.domain.distance(state.x).max() <= 1e-9
        assert world.problem.inner_domain.distance(state.inner).max() <= 1e-9
    info = world.info
    assert info.variance.shape == (3,) and info.point.shape == (3, n) and info.dual.shape == (3, 0)
    assert (info.radius > 0) == (world.solver.estimator is not None)
    assert all(v.shape == (3,) for v in world.solver.theory(world.problem, info).values())


@EACH_NOISE
@EACH_PAIR
def test_a_replica_does_not_depend_on_how_many_there_are(solver: str, problem: str, noise: str) -> None:
    many = finished(solver, small(problem, noise=noise), 5).state
    for replicas in (1, 3):
        few = finished(solver, small(problem, noise=noise), replicas).state
        for mine, its in zip(arrays(few), arrays(many), strict=True):
            np.testing.assert_allclose(mine, its[:replicas], rtol=1e-6, atol=1e-7)


@EACH_NOISE
@EACH_PAIR
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
    state = here.step(3)
    there.step(3)
    kept = [array.copy() for array in arrays(state)]
    # A second solver with no past, at streams that have come equally far, takes the same step from the same state.
    fresh = here.solver.clone()
    expected, _ = here.solver.step(state, here.oracle, here.streams)
    found, _ = fresh.step(state, there.oracle, there.streams)
    for before, after in zip(kept, arrays(state), strict=True):
        np.testing.assert_array_equal(before, after)
    assert_equal_states(expected, found)


DERIVATIVES = ("outer_gradients", "inner_gradient", "inner_hessian_vector", "inner_jacobian_vector")
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
    assert (world.oracle.calls == sum(world.oracle.counts.values())).all(), "every call has its kind"


def spoiled(method: Callable[..., Any], replicas: int, victim: int, after: int, seen: Any) -> Callable[..., Any]:
    """``method`` with NaN for one replica from the ``after``-th use on, by whatever method of the problem."""

    def patched(self: OnlineBilevel, x: Array, *rest: Any) -> Any:
        value = method(self, x, *rest)
        if len(x) == replicas and next(seen) >= after:
            parts = tuple(np.array(part) for part in (value if isinstance(value, tuple) else (value,)))
            for part in parts:
                part[victim] = np.nan
            return parts if isinstance(value, tuple) else parts[0]
        return value

    return patched


def spoil(problem: str, replicas: int, victim: int, after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    cls, seen = PROBLEMS[problem], itertools.count()
    monkeypatch.setattr(cls, "tally", lambda self, replicas: None)
    monkeypatch.setattr(cls, "measures", lambda self, state, x, xi: {"objective": x[:, 0], "violation": 0 * x[:, 0]})
    for name in ("outer", "inner", *DERIVATIVES):
        monkeypatch.setattr(cls, name, spoiled(getattr(cls, name), replicas, victim, after, seen))


@pytest.mark.parametrize("after", [0, 30])
@EACH_CORE_PAIR
def test_a_replica_that_fails_leaves_the_others_intact(
    solver: str, problem: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = finished(solver, small(problem), 5, 20)
    spoil(problem, 5, 2, after, monkeypatch)
    run = finished(solver, small(problem), 5, 20)
    result, whole = run.result, clean.result
    assert run.status == "finished" and run.frozen == 1
    others = [0, 1, 3, 4]
    np.testing.assert_allclose(result.x[others], whole.x[others], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(result.calls[others], whole.calls[others])
    assert result.calls[2] < whole.calls[2] and result.failures[2] >= 1 and (result.failures[others] == 0).all()
    assert not result.success[2] and np.isfinite(result.x).all(), "a frozen replica keeps its last good iterate"
    assert all(np.isfinite(a).all() for a in arrays(run.state._replace(samples=()) if solver == "OAGD" else run.state))
    assert np.isnan(run.trace["objective"][-1][2]) and np.isfinite(run.trace["objective"][-1][others]).all()


@EACH_CORE_PAIR
def test_a_problem_never_sees_a_point_that_is_not_finite(
    solver: str, problem: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    spoil(problem, 1, 0, 25, monkeypatch)
    cls, seen = PROBLEMS[problem], []
    for name in ("outer", "inner", *DERIVATIVES):

        def watched(*places: Any, method: Callable[..., Any]) -> Any:
            seen.extend(np.isfinite(place).all() for place in places[1:-1])
            return method(*places)

        monkeypatch.setattr(cls, name, functools.partialmethod(watched, method=getattr(cls, name)))
    run = Run(problem=small(problem), solver=SOLVERS[solver](), replicas=1, iterations=60)
    with pytest.raises(OracleError, match="Expected finite values from the black box"):
        run.run()
    assert run.frozen == 1 and np.isfinite(run.result.x).all() and all(seen)


@EACH_CORE_PAIR
def test_budgets_and_kinds_of_calls_are_kept(solver: str, problem: str) -> None:
    run = Run(problem=small(problem), solver=SOLVERS[solver](), replicas=2, calls=700)
    result = run.run()
    assert result.status == "finished" and (result.calls <= 700).all() and (result.calls > 350).all()
    kinds = [name for name in run.trace.snapshot().columns if name.startswith("calls: ")]
    np.testing.assert_array_equal(sum(run.trace[name][-1] for name in kinds), run.trace["calls"][-1])
    assert {"regret", "average_regret", "hypergradient", "inner_error"} <= run.trace.snapshot().columns.keys()


@EACH_CORE_PAIR
def test_a_run_is_steered_replayed_and_forked_bit_for_bit(solver: str, problem: str) -> None:
    run = Run(problem=small(problem), solver=SOLVERS[solver](), replicas=3, iterations=40, seed=2)
    names = [name for name in SOLVERS[solver].live if name.endswith(("outer_batch", "batch_size", "step"))]
    run.start(steps=5)
    while run.status == "running":
        pass
    assert run.status == "paused" and run.progress.iteration == 5
    for name in names:
        run.change(name, 3 if "batch" in name else 0.013)
    run.step(7)
    run.resume()
    result = run.wait(60.0)
    assert [change.iteration for change in run.journal] == [5] * len(names) and names
    again = Run.replay(run)
    np.testing.assert_array_equal(again.run().x, result.x)
    assert_equal_states(again.state, run.state)
    for name in run.trace.snapshot().columns.keys() - {"seconds"}:
        np.testing.assert_array_equal(again.trace[name], run.trace[name], err_msg=name)
    fork = run.fork(at=20, changes={names[0]: 3 if "batch" in names[0] else 0.02})
    fork.run()
    here, there = run.trace.snapshot().columns, fork.trace.snapshot().columns
    np.testing.assert_array_equal(here["objective"][:21], there["objective"][:21])
    assert (here["objective"][21:] != there["objective"][21:]).any()


@EACH_SOLVER
def test_defaults_follow_a_problem_that_stands_still(cls: type[Solver]) -> None:
    if "QuadraticBilevel" not in [p for s, p in CORE_PAIRS if s == cls.__name__]:
        pytest.skip("not a method for it")
    problem = PROBLEMS["QuadraticBilevel"](n=4, d=4, drift="none", sampling_noise=0.02)
    run = finished(cls.__name__, problem, 8, 500, seed=3)
    trace = run.trace
    assert trace["inner_error"][-1].mean() <= 0.1 * trace["inner_error"][1].mean()
    if hasattr(run.state, "v"):  # else the method is blind to the follower's answer
        assert trace["hypergradient"][-1].mean() <= 0.1 * trace["hypergradient"][1].mean()
        assert trace["system_error"][-1].mean() <= 0.1 * trace["system_error"][1].mean()


def inside(problem: OnlineBilevel, *shape: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Points x, y and v."""
    rng, d = np.random.default_rng(seed), problem.inner_domain.n
    x = problem.domain.sample(rng.random((*shape, problem.domain.n)))
    return x, problem.inner_domain.sample(rng.random((*shape, d))), rng.standard_normal((*shape, d))


def instance(cls: type[OnlineBilevel], **settings: Any) -> OnlineBilevel:
    """Of modest size; where the package that it needs is missing, the test is skipped."""
    if cls.__name__ not in CORE:
        pytest.skip("its own tests look at it")
    return small(cls.__name__, **settings)


@EACH_PROBLEM
def test_batch_shapes_agree(cls: type[OnlineBilevel]) -> None:
    problem = instance(cls)
    xi = problem.draw(3, Streams(0, 3), size=(2, 4))
    x, y, v = inside(problem, 3, 6)
    for name in ("outer", "inner", *DERIVATIVES):
        more = (v,) if "vector" in name else ()
        batch, rows = (
            getattr(problem, name)(*(place[index] for place in (x, y, *more)), xi)
            for index in (slice(None), (slice(None), 2))
        )
        one = getattr(problem, name)(*(place[1:2, 2] for place in (x, y, *more)), xi[np.array([1])])
        pairs = zip(*(part if isinstance(part, tuple) else (part,) for part in (batch, rows, one)), strict=True)
        for several, flat, single in pairs:
            assert several.shape[:2] == (3, 6) and several.dtype == np.float64
            np.testing.assert_allclose(flat, several[:, 2], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(single[0], several[1, 2], rtol=1e-12, atol=1e-12)


@EACH_PROBLEM
def test_the_solution_solves_and_the_hypergradient_is_the_slope(cls: type[OnlineBilevel]) -> None:
    problem = instance(cls)
    for t in (1, 7):
        xi = problem.draw(t, Streams(0, 3), size=(2, 4))
        exact, (x, _, _) = problem.exact(xi), inside(problem, 3)
        y, v = problem.solution(x, xi)
        assert np.abs(problem.inner_gradient(x, y, exact)).max() < 1e-10
        system = problem.outer_gradients(x, y, exact)[1] + problem.inner_hessian_vector(x, y, v, exact)
        assert np.abs(system).max() < 1e-10
        np.testing.assert_allclose(problem.evaluate(x, xi).f, problem.outer(x, y, exact), rtol=1e-12)
        h = 1e-5 * np.eye(problem.domain.n)
        rises = [(problem.evaluate(x + e, xi).f - problem.evaluate(x - e, xi).f) / 2e-5 for e in h]
        np.testing.assert_allclose(problem.hypergradient(x, y, v, xi), np.stack(rises, axis=-1), rtol=1e-6, atol=1e-6)


@EACH_PROBLEM
def test_samples_are_unbiased_and_their_noise_falls_with_the_batch(cls: type[OnlineBilevel]) -> None:
    problem = instance(cls, sampling_noise=0.5)
    streams, spread = Streams(0, 4000), []
    x, y, v = (np.repeat(place, 4000, axis=0) for place in inside(problem, 1))
    for size in ((1, 1), (16, 16)):
        xi = problem.draw(4, streams, size=size)
        found = [*problem.outer_gradients(x, y, xi), problem.inner_gradient(x, y, xi)]
        exact = problem.exact(xi)
        wanted = [*problem.outer_gradients(x, y, exact), problem.inner_gradient(x, y, exact)]
        errors = np.concatenate([a - b for a, b in zip(found, wanted, strict=True)], axis=-1)
        assert (np.abs(errors.mean(axis=0)) <= 5.0 * errors.std(axis=0) / np.sqrt(4000)).all()
        spread.append(np.square(errors).sum(axis=-1).mean())
    assert spread[0] / spread[1] == pytest.approx(16.0, rel=0.15)


@EACH_PROBLEM
def test_problems_are_rebuilt_cloned_and_start_alike(cls: type[OnlineBilevel]) -> None:
    problem = instance(cls)
    twins = problem.clone(), instance(cls)
    x, y, _ = inside(problem, 3)
    value = problem.outer(x, y, problem.draw(2, Streams(0, 3)))
    for twin in twins:
        np.testing.assert_array_equal(twin.outer(x, y, twin.draw(2, Streams(0, 3))), value)
    x0 = problem.initial(Streams(3, 50))
    assert x0.shape == (50, problem.domain.n) and problem.domain.distance(x0).max() == 0.0
    np.testing.assert_array_equal(x0[:4], problem.initial(Streams(3, 4)))
    assert problem.initial_inner(Streams(3, 50)).shape == (50, problem.inner_domain.n)
    assert all(isinstance(text, str) and 0 < at <= 50 for at, text in problem.phases(50))


def test_estimators_of_a_zeroth_order_method_are_parts_of_it() -> None:
    for cls in SOLVERS.values():
        nested = [part for part in cls().parts().values() if isinstance(part, GradientEstimator)]
        assert bool(nested) == bool(cls.families) and all(isinstance(part, cls.families) for part in nested)


def test_what_a_bilevel_run_cannot_do_is_said_in_a_sentence() -> None:
    problem = small("QuadraticBilevel")
    with pytest.raises(ValueError, match="Expected a problem of joint values f and h, got one that is online bilevel"):
        AskTell(SOLVERS["SOGD"](), problem)
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
