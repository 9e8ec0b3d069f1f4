"""The proximal-point chain against a loop written by hand, its calls, known solutions; its nested parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.estimators import Coordinate, Gaussian, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, NonconvexQCQP, Problem
from zoviz.runs.run import Run
from zoviz.runs.script import script
from zoviz.sets import Box
from zoviz.solvers import ZOCEG, ZOEG, ProximalPoint, Solver, SZOConEX
from zoviz.streams import Streams
from zoviz.types import Array, Constants, Evaluation, Optimum

SEED, REPLICAS, STEP, DUAL, CAP = 6, 4, 0.03, 0.05, 100.0
WEIGHTS = {"objective_weight": 0.8, "constraint_weight": 0.3}


class TwoConstraints(Problem):
    """f = sum a_i x_i^2 / 2 - x_i; h_1 = sum x - 1, h_2 = x_1^2 + x_2^2 - 1/4; X = [-2, 2]^5."""

    __abstract = True  # a test's own class: the registry must not offer it

    n, m = 5, 2
    domain = Box(np.full(5, -2.0), np.full(5, 2.0))
    weights = np.arange(1.0, 6.0)
    constants = Constants(6.0, 2.0, 30.0, 10.0, 4.0, 0.0)

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        f = (0.5 * self.weights * x * x - x).sum(axis=-1)
        h = np.stack([x.sum(axis=-1) - 1.0, x[..., 0] ** 2 + x[..., 1] ** 2 - 0.25], axis=-1)
        return Evaluation(f, h)


class Known(Problem):
    """A strongly convex problem made from its solution: two constraints active there, one not, and one bound."""

    __abstract = True

    n, m = 4, 3
    domain = Box(np.full(4, -3.0), np.array([0.8, 3.0, 3.0, 3.0]))
    point, multipliers = np.array([0.8, -0.5, 0.3, 1.0]), np.array([0.7, 0.4, 0.0])
    lines = np.array([[1.0, -1.0, 2.0, 0.5], [0.3, 0.2, -1.0, 1.0]])
    constants = Constants(4.0, 1.0, 40.0, 10.0, 4.0, 0.0)

    @property
    def known_optimum(self) -> Optimum:
        return Optimum(float(self.evaluate(self.point).f), self.point, self.multipliers, "by construction")

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        star = self.point
        slope = -(self.multipliers[0] * star + self.multipliers[1] * self.lines[0])
        slope = slope - np.array([0.5, 0.0, 0.0, 0.0])  # the bound's own multiplier
        f = (0.5 * np.arange(1.0, 5.0) * (x - star) ** 2 + slope * x).sum(axis=-1)
        ball = 0.5 * (x * x).sum(axis=-1) - 0.5 * star @ star
        return Evaluation(f, np.stack([ball, (x - star) @ self.lines[0], (x - star) @ self.lines[1] - 1.0], axis=-1))


class Stage:
    """One replica's subproblem: the black box with its own count of calls, and quadratics around a centre."""

    def __init__(self, problem: Problem, replica: int) -> None:
        self.problem, self.calls = problem, 0
        self._numbers = iter(Streams(SEED, REPLICAS).normal("directions", 20_000)[replica])

    def begin(self, centre: Array, raw: Array) -> None:
        held = (raw[1:] <= 0.0).astype(float)
        self.centre = centre
        self.weights = np.concatenate([[WEIGHTS["objective_weight"]], WEIGHTS["constraint_weight"] * held])

    def normal(self, size: int) -> Array:
        return np.array([next(self._numbers) for _ in range(size)])

    def raw(self, x: Array) -> Array:
        """F_0 .. F_m of the black box."""
        self.calls += 1
        value = self.problem.evaluate(x)
        return np.concatenate([[value.f], value.h])

    def whole(self, x: Array, raw: Array) -> Array:
        return raw + self.weights * np.sum((x - self.centre) ** 2)

    def slopes(self, x: Array) -> Array:
        """Gradients of the quadratics, (m + 1, n)."""
        return 2.0 * self.weights[:, None] * (x - self.centre)


def field(stage: Stage, inner: Solver, x: Array, y: Array, raw: Array) -> tuple[Array, Array]:
    """What ZOEG or ZOCEG estimates of the gradients in x and y."""
    n, m, r, ones = len(x), len(y), inner.estimator.smoothing_radius, np.concatenate([[1.0], y])
    known, in_x, in_y = ones @ stage.slopes(x), np.zeros(n), stage.whole(x, raw)[1:]
    if isinstance(inner, ZOCEG):
        for i in range(n):
            in_x[i] = ones @ (stage.raw(x + r * np.eye(n)[i]) - raw) / r
        return in_x + known, in_y
    k, joint = inner.estimator.batch_size, inner.dual == "estimated"
    in_y = np.zeros(m) if joint else in_y
    for _ in range(k):
        v = stage.normal(n + m if joint else n)
        v /= np.sqrt(v @ v)
        there = stage.raw(x + r * v[:n])
        if joint:
            rise = (np.concatenate([[1.0], y + r * v[n:]]) @ there - ones @ raw) / r
            in_y = in_y + (n + m) * rise * v[n:] / k
            in_x = in_x + (n + m) * rise * v[:n] / k
        else:
            in_x = in_x + n * (ones @ (there - raw)) / r * v / k
    return in_x + known, in_y + (stage.whole(x, raw) - raw)[1:] * joint


class ByHand:
    """The chain for one replica, step by step."""

    def __init__(self, solver: ProximalPoint, problem: Problem, replica: int, x0: Array) -> None:
        self.solver, self.stage, self.x, self.y = solver, Stage(problem, replica), x0, np.zeros(problem.m)
        self.coins = iter(Streams(SEED, REPLICAS).uniform("stage", 50)[replica])
        self.drawn, self.finished, self.clock = x0, 0, 0
        self.begin(x0, None)

    def begin(self, centre: Array, raw: Array | None) -> None:
        stage = self.stage
        self.base = stage.raw(centre) if raw is None else raw
        stage.begin(centre, self.base)
        self.x, self.average, self.clock = centre, np.zeros_like(centre), 0
        if isinstance(self.solver.inner, SZOConEX):
            self.level = self.previous = self.foretell(centre, centre)

    def step(self) -> None:
        solver = self.solver
        if self.clock >= solver.stage_length:
            self.finished += 1
            averaged = solver.inner.report == "average"
            centre = self.average if averaged else self.x
            if self.finished <= solver.stages and next(self.coins) < 1.0 / self.finished:
                self.drawn = centre
            self.begin(centre, None if averaged else self.base)
            if not solver.warm_duals:
                self.y = np.zeros_like(self.y)
        (self.extrapolate if isinstance(solver.inner, SZOConEX) else self.extra_gradient)()
        self.clock += 1

    def project(self, x: Array) -> Array:
        return np.clip(x, self.stage.problem.domain.lower, self.stage.problem.domain.upper)

    def extra_gradient(self) -> None:
        inner, stage = self.solver.inner, self.stage
        in_x, in_y = field(stage, inner, self.x, self.y, self.base)
        x_half, y_half = self.project(self.x - STEP * in_x), np.clip(self.y + DUAL * in_y, 0.0, CAP)
        in_x, in_y = field(stage, inner, x_half, y_half, stage.raw(x_half))
        self.x, self.y = self.project(self.x - STEP * in_x), np.clip(self.y + DUAL * in_y, 0.0, CAP)
        self.average = self.average + (x_half - self.average) / (self.clock + 1.0)
        self.base = stage.raw(self.x)

    def foretell(self, x: Array, there: Array) -> Array:
        stage, estimator = self.stage, self.solver.inner.estimator
        gradients, values, k = stage.slopes(x), np.zeros(len(self.base)), estimator.batch_size
        for _ in range(k):
            u = stage.normal(len(x))
            found = stage.raw(x + estimator.smoothing_radius * u)
            gradients = gradients + np.outer(found - self.base, u) / (estimator.smoothing_radius * k)
            values += found / k
        return (stage.whole(x, values) + gradients @ (there - x))[1:]

    def extrapolate(self) -> None:
        stage, estimator, x = self.stage, self.solver.inner.estimator, self.x
        self.y = np.clip(self.y + DUAL * (2.0 * self.level - self.previous), 0.0, CAP)
        ones, gradient = np.concatenate([[1.0], self.y]), np.zeros(len(x))
        for _ in range(estimator.batch_size):
            u = stage.normal(len(x))
            rise = ones @ (stage.raw(x + estimator.smoothing_radius * u) - self.base)
            gradient += rise * u / (estimator.smoothing_radius * estimator.batch_size)
        self.x = self.project(x - STEP * (gradient + ones @ stage.slopes(x)))
        self.previous, self.level = self.level, self.foretell(x, self.x)
        self.average = self.average + (self.x - self.average) / (self.clock + 1.0)
        self.base = stage.raw(self.x)


def inner_solvers(**options: Any) -> dict[str, Solver]:
    common = {"primal_step": STEP, "dual_step": DUAL, "dual_cap": CAP} | options
    sphere = {"smoothing_radius": 0.05, "batch_size": 3}
    return {
        "conex": SZOConEX(**common, estimator=Gaussian(**sphere)),
        "zoceg": ZOCEG(**common, estimator=Coordinate(smoothing_radius=0.05)),
        "zoeg": ZOEG(**common, estimator=Sphere(**sphere)),
        "zoeg, exact dual": ZOEG(**common, dual="exact", estimator=Sphere(**sphere)),
    }


def course(solver: Solver, problem: Problem, iterations: int) -> tuple[list, Oracle]:
    streams = Streams(SEED, REPLICAS)
    oracle = Oracle(problem, streams)
    states = [solver.init(problem.initial(streams), oracle, streams)]
    for _ in range(iterations):
        states.append(solver.step(states[-1], oracle, streams)[0])
    return states, oracle


OPTIONS = {"default": ({}, {}), "cold": ({"warm_duals": False}, {}), "average": ({}, {"report": "average"})}


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("inner", inner_solvers())
def test_equals_a_hand_written_loop(inner: str, options: tuple[dict, dict]) -> None:
    outer, inside = options
    problem = TwoConstraints()
    solver = ProximalPoint(inner=inner_solvers(**inside)[inner], stage_length=2, stages=2, **WEIGHTS, **outer)
    states, oracle = course(solver, problem, 7)
    kinds = set()
    for r in range(REPLICAS):
        hand = ByHand(solver, problem, r, states[0].x[r])
        for state in states[1:]:
            hand.step()
            for found, expected in (
                (state.x[r], hand.x),
                (state.y[r], hand.y),
                (state.drawn[r], hand.drawn),
                (state.value.f[r], hand.base[0]),
                (state.value.h[r], hand.base[1:]),
            ):
                np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)
            kinds.add(tuple(hand.stage.weights > 0.0))
        assert oracle.calls[r] == hand.stage.calls
    assert states[-1].finished == 3 and states[-1].y.max() > 0.0
    assert len(kinds) > 1, "every centre held or violated the same constraints"


def test_calls_of_a_stage() -> None:
    k, length = 6, 4
    per_step = {"conex": 2 * k + 1, "zoceg": 2 * 6, "zoeg": 2 * (k + 1), "zoeg, exact dual": 2 * (k + 1)}
    for name, inner in inner_solvers().items():
        inner.estimator.batch_size = 1 if name == "zoceg" else k
        solver = ProximalPoint(inner=inner, stage_length=length, **WEIGHTS)
        states, oracle = course(solver, TwoConstraints(), 1)
        before, state, streams = oracle.calls.copy(), states[-1], Streams(1, REPLICAS)
        for _ in range(3 * length):
            state, _ = solver.step(state, oracle, streams)
        start = k if name == "conex" else 0  # the value at the centre is paid for, the first bar draw is not
        assert (oracle.calls - before == 3 * (length * per_step[name] + start)).all(), name


@pytest.mark.parametrize("inner", [SZOConEX, ZOCEG, ZOEG])
def test_exact_gradients_lead_to_the_known_solution(inner: type[Solver]) -> None:
    # Central differences of a quadratic along the coordinates are its gradient, whatever their length.
    exact = Coordinate(smoothing_radius=1.0, differences="central")
    options: dict[str, Any] = {"value": "base"} if inner is SZOConEX else {"dual_cap": CAP, "radius_scale": 1e6}
    problem = Known()
    solver = ProximalPoint(
        inner=inner(primal_step=0.12, dual_step=0.15, estimator=exact, **options),
        objective_weight=0.5,
        constraint_weight=0.2,
        stage_length=30,
    )
    state = course(solver, problem, 800)[0][-1]
    np.testing.assert_allclose(state.x, np.broadcast_to(problem.point, state.x.shape), atol=1e-8)
    np.testing.assert_allclose(state.y, np.broadcast_to(problem.multipliers, state.y.shape), atol=1e-7)


@pytest.mark.parametrize("inner", [SZOConEX, ZOEG, ZOCEG])
def test_defaults_reach_the_certified_optimum_of_a_nonconvex_problem(inner: type[Solver]) -> None:
    run = Run(problem=NonconvexQCQP(n=10, seed=2), solver=ProximalPoint(inner=inner()), replicas=4, iterations=500)
    run.run()
    assert np.abs(run.trace["gap"][-1]).max() <= 0.02 * np.abs(run.trace["gap"][0]).mean()
    assert run.trace["violation"][-1].max() <= 0.02


def test_the_solution_drawn_is_uniform_among_the_first_stages() -> None:
    problem, stages, replicas = NonconvexQCQP(n=3), 5, 600
    solver = ProximalPoint(inner=inner_solvers()["zoceg"], stage_length=1, stages=stages, **WEIGHTS)
    streams = Streams(SEED, replicas)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    assert solver.output(state) is state.x
    chain = []
    for _ in range(stages + 4):
        state, _ = solver.step(state, oracle, streams)
        chain.append(state.x)
    solver.report = "random"
    which = np.array([(solver.output(state) == x).all(axis=1) for x in chain[:stages]])
    assert (which.sum(axis=0) == 1).all()
    assert np.abs(which.mean(axis=1) - 1.0 / stages).max() < 4.0 * np.sqrt(0.16 / replicas)


def test_the_inner_solver_is_steered_replayed_and_written_out_like_an_estimator() -> None:
    solver = ProximalPoint(inner=ZOEG(estimator=Sphere(smoothing_radius=None, batch_size=4)))
    run = Run(problem=NonconvexQCQP(n=6), solver=solver, replicas=2, iterations=60)
    run.start(steps=20)
    while run.status != "paused" or run.progress.iteration < 20:
        pass
    with pytest.raises(ValueError, match="inner is structural"):
        solver.inner = SZOConEX()
    with pytest.raises(ValueError, match="inner.dual is structural"):
        solver.inner.dual = "exact"
    assert solver.inner.dual == "estimated" and isinstance(solver.inner, ZOEG)
    solver.stage_length = 7
    solver.inner.primal_step = 0.004
    solver.inner.estimator.batch_size = 9
    run.resume()
    run.wait()
    assert [change.name for change in run.journal] == [
        "stage_length",
        "inner.primal_step",
        "inner.estimator.batch_size",
    ]
    again = Run.replay(run)
    np.testing.assert_array_equal(again.run().x, run.result.x)
    source = script(run)
    assert "inner=ZOEG(estimator=Sphere(" in source and "'inner.primal_step'" in source
    scope: dict[str, Any] = {}
    exec(source, scope)
    np.testing.assert_array_equal(scope["result"].x, run.result.x)
    twin = solver.clone()
    twin.inner.estimator.batch_size = 2
    assert solver.inner.estimator.batch_size == 9 and twin.live == solver.live


def test_the_form_has_the_inner_solver_s_widgets_and_follows_another_choice() -> None:
    from zoviz.views.forms import SolverForm

    solver = ProximalPoint()
    form = SolverForm(solver)
    names = set(form.fields)
    assert {"stage_length", "inner.primal_step", "inner.extrapolation", "inner.estimator.smoothing_radius"} <= names
    assert solver.kinds("inner") == (SZOConEX, ZOEG, ZOCEG) and solver.kinds("inner.estimator") == SZOConEX.families
    form.lock(True)
    assert form.fields["inner.directions"].disabled and not form.fields["inner.primal_step"].disabled
    form.lock(False)
    form._kinds[0].value = ZOCEG
    assert isinstance(solver.inner, ZOCEG) and "inner.extrapolation" not in form.fields
    assert {"inner.schedule", "inner.estimator.differences"} <= set(form.fields)
    form.fields["inner.schedule"].value = "diminishing"
    assert solver.inner.schedule == "diminishing"
    problem = NonconvexQCQP(n=6)
    form.suggest(solver.suggest(problem, problem.constants))
    assert (
        form.fields["inner.primal_step"].suggestion == solver.suggest(problem, problem.constants)["inner.primal_step"]
    )


def test_weights_may_change_within_a_stage() -> None:
    solver = ProximalPoint(inner=inner_solvers()["zoceg"], stage_length=100, **WEIGHTS)
    problem, streams = TwoConstraints(), Streams(SEED, 2)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    for weight in (0.8, 0.8, 5.0):
        solver.objective_weight = weight
        state, _ = solver.step(state, oracle, streams)
        np.testing.assert_allclose(state.value.f, problem.evaluate(state.x).f, rtol=1e-12)
        offset = weight * np.square(state.x - state.centre).sum(axis=1)
        np.testing.assert_allclose(state.inner.value.f, state.value.f + offset, rtol=1e-12)


def test_a_stage_around_a_violated_centre_still_has_feasible_points() -> None:
    x, weight = np.linspace(-4.0, 4.0), 0.1
    assert (3.0 - x + weight * (x + 3.0) ** 2 > 0.0).all(), "with its quadratic the constraint would hold nowhere"
    box = BlackBox(lambda x: float(x @ x), lambda x: 3.0 - float(x[0]), bounds=[(-4.0, 4.0)] * 2, x0=[-3.0, 1.0])
    solver = ProximalPoint(constraint_weight=weight, inner=ZOCEG())
    result = Run(problem=box, solver=solver, replicas=1, iterations=600).run()
    np.testing.assert_allclose(result.x, [[3.0, 0.0]], atol=2e-2)
