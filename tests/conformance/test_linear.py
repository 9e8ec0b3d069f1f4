"""What every method for linear constraints keeps, in both its forms, on every kind of linear rows that it accepts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from zoviz.estimators import Sphere
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP, StochasticQP
from zoviz.problems.base import Problem
from zoviz.problems.linear import LinearlyConstrained
from zoviz.registry import discover
from zoviz.runs.run import Run
from zoviz.solvers import SampledALM, SmoothedALM, Solver, StormALM
from zoviz.solvers.linear_parts import LinearMethod
from zoviz.streams import Streams
from zoviz.types import Array, Evaluation

SOLVERS = {n: c for n, c in discover("zoviz.solvers", LinearMethod).items() if c.__module__[:6] == "zoviz."}
OTHERS = {
    name: cls
    for name, cls in discover("zoviz.problems", LinearlyConstrained).items()
    if cls.__module__.startswith("zoviz.") and cls is not StochasticQP
}
ROWS: dict[str, dict[str, Any]] = {
    "equations": {},
    "inequalities": {"constraints": "inequalities"},
    "sampled": {"sampled_rows": True},
    "sampled-inequalities": {"sampled_rows": True, "constraints": "inequalities"},
    "free": {"free_variables": 4},
}
FORMS = ("stochastic", "zeroth-order")
K = 3


def made(rows: str, **settings: Any) -> LinearlyConstrained:
    """An instance of modest size."""
    if rows in OTHERS:
        cls = OTHERS[rows]
        return cls(n=8, **settings) if "n" in cls.param else cls(**settings)
    return StochasticQP(n=9, **ROWS[rows], **settings)


def solver_of(name: str, form: str, **settings: Any) -> Solver:
    estimator = Sphere(smoothing_radius=None, batch_size=K)
    return SOLVERS[name](gradients=form, horizon=100, estimator=estimator, **settings)


def marks(name: str, form: str, rows: str) -> list[pytest.MarkDecorator]:
    """Slow, for what need not be tried every time."""
    every_time = {"stochastic": ("equations", "inequalities", "sampled"), "zeroth-order": ("free",)}[form]
    return [] if rows in every_time or (name == "EliminatedSGD" and rows == "free") else [pytest.mark.slow]


TRIPLES = [
    pytest.param(name, form, rows, id=f"{name}-{form}-{rows}", marks=marks(name, form, rows))
    for name, form, rows in itertools.product(SOLVERS, FORMS, [*ROWS, *OTHERS])
    if SOLVERS[name]().accepts(made(rows)) is None
]
EACH = pytest.mark.parametrize("name, form, rows", TRIPLES)
EACH_CLASS = pytest.mark.parametrize("name", SOLVERS)
EACH_FORM = pytest.mark.parametrize("name, form", list(itertools.product(SOLVERS, FORMS)))
NOISE = pytest.mark.parametrize(
    "noise", ["common", "independent", pytest.param("deterministic", marks=pytest.mark.slow)]
)


def takes(name: str, problem: Problem) -> None:
    """Skip what the solver refuses, e.g. a noise contract."""
    reason = SOLVERS[name]().accepts(problem)
    if reason is not None:
        pytest.skip(reason)


class World:
    """A solver at work by hand, as a run's worker does it."""

    def __init__(
        self,
        name: str,
        form: str,
        problem: LinearlyConstrained,
        replicas: int = 3,
        seed: int = 0,
        solver: Solver | None = None,
    ) -> None:
        self.problem, self.solver = problem, solver or solver_of(name, form)
        self.streams = Streams(seed, replicas)
        self.oracle = Oracle(problem, self.streams)
        x0 = problem.initial(self.streams)
        chosen = self.solver.suggest(problem, self.solver.learn(problem, self.oracle, x0, self.streams))
        self.chosen = {key: chosen[key] for key in self.solver.suggestible()}
        for key, value in self.chosen.items():
            self.solver.set(key, value)
        self.state = self.solver.init(x0, self.oracle, self.streams)

    def step(self, times: int = 1) -> Any:
        for _ in range(times):
            self.state, self.info = self.solver.step(self.state, self.oracle, self.streams)
        return self.state


def arrays(state: Any) -> list[Array]:
    found = []
    for part in state:
        if isinstance(part, tuple):
            found += arrays(part)
        elif isinstance(part, np.ndarray):
            found.append(part)
    return found


def finished(
    name: str, form: str, problem: Problem, replicas: int, iterations: int = 8, seed: int = 0, **settings: Any
) -> Run:
    run = Run(
        problem=problem,
        solver=solver_of(name, form, **settings),
        replicas=replicas,
        iterations=iterations,
        seed=seed,
    )
    run.run()
    return run


def free_problem(name: str) -> StochasticQP:
    """Equations that every one of these methods takes."""
    return StochasticQP(n=9, free_variables=4)


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
    assert world.solver.suggestible() == [] and world.chosen
    for key, value in world.chosen.items():
        holder, own = world.solver.owner(key)
        low, high = holder.param[own].bounds
        assert type(value) is float and low <= value <= high and value > 0.0, (key, value)


@EACH_FORM
def test_a_clone_is_equal_and_independent(name: str, form: str) -> None:
    solver = solver_of(name, form)
    twin = solver.clone()
    mine, its = solver.param.values(), twin.param.values()
    skip = {"name", "estimator"}
    assert {k: v for k, v in mine.items() if k not in skip} == {k: v for k, v in its.items() if k not in skip}
    twin.estimator.batch_size, twin.horizon = 17, 18
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
        assert all(a.dtype == np.float64 and len(a) == 3 and np.isfinite(a).all() for a in arrays(state))
        assert problem.domain.distance(state.x).max() <= 1e-9
        assert not (state.y < 0.0).any()
        measured = problem.measures(state, world.solver.output(state), world.oracle.sample)
        assert all(column.shape == (3,) and np.isfinite(column).all() for column in measured.values())
        assert "normal_residual" in measured and ("residual" in measured) == (not problem.equations)
    info = world.info
    assert info.variance.shape == (3,) and info.point.shape == (3, n) and info.dual.shape == (3, m)
    assert np.isfinite(info.variance).all() == (form == "zeroth-order") and info.radius > 0.0
    theory = world.solver.theory(problem, info)
    assert all(v.shape == (3,) for v in theory.values()) and (not theory or form == "zeroth-order")


@NOISE
@EACH
def test_a_replica_does_not_depend_on_how_many_there_are(name: str, form: str, rows: str, noise: str) -> None:
    problem = made(rows, noise=noise, noise_scale=0.01)
    takes(name, problem)
    many = finished(name, form, problem, 5)
    for replicas in (1, 3):
        few = finished(name, form, problem, replicas)
        pairs = zip(arrays(few.state), arrays(many.state), strict=True)
        for one, other in (*pairs, (few.result.polished, many.result.polished)):
            if one is not None:
                np.testing.assert_allclose(one, other[:replicas], rtol=1e-6, atol=1e-7)


@EACH
def test_two_fresh_runs_agree_to_the_bit(name: str, form: str, rows: str) -> None:
    first, again = (finished(name, form, made(rows), 3, seed=4) for _ in range(2))
    for mine, its in zip(arrays(first.state), arrays(again.state), strict=True):
        np.testing.assert_array_equal(mine, its)
    for column in first.trace.snapshot().columns.keys() - {"seconds"}:
        np.testing.assert_array_equal(first.trace[column], again.trace[column], err_msg=column)
    np.testing.assert_array_equal(first.result.polished, again.result.polished)
    other = finished(name, form, made(rows), 3, seed=5)
    assert (other.state.x != first.state.x).any()


@EACH_FORM
def test_a_steered_run_replays_to_the_bit(name: str, form: str) -> None:
    run = Run(problem=free_problem(name), solver=solver_of(name, form), replicas=3, iterations=40)
    script = {7: ("primal_step", 1e-3), 20: ("batch_size", 5), 25: ("penalty", 0.5)}

    def steer() -> None:
        change = script.get(run.progress.iteration)
        if change is not None and change[0] in run.solver.live:
            run.change(*change)

    run.run(steer)
    assert len(run.journal) >= 2
    again = Run.replay(run)
    again.run()
    for mine, its in zip(arrays(run.state), arrays(again.state), strict=True):
        np.testing.assert_array_equal(mine, its)


@EACH
def test_a_step_depends_on_nothing_but_its_arguments_and_leaves_them_alone(name: str, form: str, rows: str) -> None:
    here, there = (World(name, form, made(rows)) for _ in range(2))
    state = here.step(3)
    there.step(3)
    kept = [array.copy() for array in arrays(state)]
    fresh = here.solver.clone()
    expected, _ = here.solver.step(state, here.oracle, here.streams)
    found, _ = fresh.step(state, there.oracle, there.streams)
    for before, after in zip(kept, arrays(state), strict=True):
        np.testing.assert_array_equal(before, after)
    for one, other in zip(arrays(expected), arrays(found), strict=True):
        np.testing.assert_array_equal(one, other)


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


@pytest.mark.parametrize("after", [0, 7])
@EACH
def test_a_replica_that_fails_leaves_the_others_intact(
    name: str, form: str, rows: str, after: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    clean = finished(name, form, made(rows), 5, 12)
    cls, seen = type(made(rows)), itertools.count()
    gradient, evaluate = cls.stochastic_gradient, cls.evaluate

    def spoiled_gradient(self: Any, x: Array, xi: Any = None) -> Array:
        out = gradient(self, x, xi)
        if xi is not None and len(x) == 5 and next(seen) >= after:
            out[2] = np.nan
        return out

    def spoiled(self: Any, x: Array, xi: Any = None) -> Evaluation:
        value = evaluate(self, x, xi)
        if xi is not None and len(x) == 5 and x.ndim == 2 and next(seen) >= after:
            value.f[2] = np.nan
        return value

    if form == "stochastic":
        monkeypatch.setattr(cls, "stochastic_gradient", spoiled_gradient)
    else:
        monkeypatch.setattr(cls, "evaluate", spoiled)
    run = finished(name, form, made(rows), 5, 12)
    result, whole, others = run.result, clean.result, [0, 1, 3, 4]
    assert run.status == "finished" and run.frozen == 1
    np.testing.assert_allclose(result.x[others], whole.x[others], rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(result.calls[others], whole.calls[others])
    assert result.calls[2] < whole.calls[2] and result.failures.tolist() == [0, 0, 1, 0, 0]
    assert not result.success[2] and np.isfinite(result.x).all()
    assert np.isnan(run.trace["objective"][-1][2]) and np.isfinite(run.trace["objective"][-1][others]).all()
    if whole.polished is not None:
        np.testing.assert_allclose(result.polished[others], whole.polished[others], rtol=1e-6, atol=1e-7)


def cost(name: str, form: str) -> int:
    """Calls of one iteration: a gradient, or K + 1 values; twice that for the recursion."""
    return (2 if name == "StormALM" else 1) * (1 if form == "stochastic" else K + 1)


@EACH
def test_calls_are_counted_and_as_documented(name: str, form: str, rows: str, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = made(rows)
    cls, points = type(problem), {"gradient": 0, "value": 0}
    gradient, evaluate = cls.stochastic_gradient, cls.evaluate

    def counted_gradient(self: Any, x: Array, xi: Any = None) -> Array:
        points["gradient"] += x.size // x.shape[-1]
        return gradient(self, x, xi)

    def counted(self: Any, x: Array, xi: Any = None) -> Evaluation:
        points["value"] += x.size // x.shape[-1]
        return evaluate(self, x, xi)

    world = World(name, form, problem)
    before = world.oracle.calls.copy()
    counts = world.oracle.counts.get("gradient", np.zeros(3)).copy()
    monkeypatch.setattr(cls, "stochastic_gradient", counted_gradient)
    monkeypatch.setattr(cls, "evaluate", counted)
    world.step(5)
    assert (world.oracle.calls - before).tolist() == [5 * cost(name, form)] * 3
    assert points == {
        "gradient": 15 * cost(name, form) * (form == "stochastic"),
        "value": 15 * cost(name, form) * (form != "stochastic"),
    }
    taken = world.oracle.counts.get("gradient", np.zeros(3)) - counts
    assert taken.tolist() == [5 * cost(name, form) * (form == "stochastic")] * 3


@EACH_FORM
def test_a_budget_of_calls_is_never_exceeded(name: str, form: str) -> None:
    budget = 61
    run = Run(problem=free_problem(name), solver=solver_of(name, form), replicas=3, calls=budget)
    result = run.run()
    assert budget - cost(name, form) < result.calls.max() <= budget and result.polished is None
    assert result.status == "finished" and "budget of 61 oracle calls" in result.message


@pytest.mark.parametrize("cls", [SmoothedALM, SampledALM, StormALM])
@pytest.mark.parametrize("form", FORMS)
def test_the_last_step_is_charged_where_the_budget_covers_it(cls: type[Solver], form: str) -> None:
    """20 iterations and the last step, or one call too few for it: the run then ends as if there were none."""
    name, problem, single = cls.__name__, free_problem(""), 1 if form == "stochastic" else K + 1
    start = single if cls is StormALM else 0
    whole = start + 20 * cost(name, form)
    for calls, polished in ((whole + single, True), (whole + single - 1, False)):
        run = Run(problem=problem, solver=solver_of(name, form), replicas=3, iterations=20, calls=calls)
        result = run.run()
        assert (result.polished is not None) == polished
        assert result.calls.max() == calls if polished else whole <= result.calls.max() <= calls
        assert "20 iterations" in result.message
        if polished:
            assert result.polished.shape == (3, 9) and problem.domain.distance(result.polished).max() == 0.0


@pytest.mark.parametrize(
    "name, form, rows",
    [
        pytest.param(*triple.values, id=triple.id, marks=[] if "zero" not in triple.id and not triple.marks else slow)
        for slow in [pytest.mark.slow]
        for triple in TRIPLES
        if triple.values[2] not in OTHERS  # how far methods come there is asked by tests of those problems
    ],
)
def test_defaults_converge_visibly(name: str, form: str, rows: str) -> None:
    problem, steps = made(rows), 1000 if form == "stochastic" else 4000
    world = World(name, form, problem, 4, 3, solver=SOLVERS[name](gradients=form, horizon=steps))
    start, end = world.state, world.step(steps)
    near = [problem.near_stationarity(getattr(state, "centre", state.x)).mean() for state in (start, end)]
    assert near[1] <= 0.1 * near[0], near
    violation = [problem.metrics(state.x, None, None)["violation"].mean() for state in (start, end)]
    assert violation[1] <= 0.1 * violation[0] + 1e-9, violation
