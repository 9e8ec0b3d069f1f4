"""SZO-ConEX against a loop written by hand, its calls by another counter, known solutions, and theory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from zoviz.estimators import CentralSphere, Coordinate, Gaussian, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP, Problem
from zoviz.runs.run import Run
from zoviz.sets import Box
from zoviz.solvers import Solver, SZOConEX
from zoviz.solvers import conex as module
from zoviz.streams import Streams
from zoviz.types import Array, Constants, Evaluation, Optimum

SEED, REPLICAS = 5, 3
STEPS = {"primal_step": 0.03, "dual_step": 0.05}


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

    def gradient(self, x: Array, xi: Any = None) -> tuple[Array, Array]:
        of_h = np.zeros((*x.shape[:-1], 2, 5))
        of_h[..., 0, :] = 1.0
        of_h[..., 1, :2] = 2.0 * x[..., :2]
        return self.weights * x - 1.0, of_h


class Known(Problem):
    """A strongly convex problem made from its solution: two constraints active there, one not, and one bound."""

    __abstract = True

    n, m = 4, 3
    domain = Box(np.full(4, -3.0), np.array([0.8, 3.0, 3.0, 3.0]))
    point, multipliers = np.array([0.8, -0.5, 0.3, 1.0]), np.array([0.7, 0.4, 0.0])
    curvatures = np.array([1.0, 2.0, 3.0, 4.0])
    lines = np.array([[1.0, -1.0, 2.0, 0.5], [0.3, 0.2, -1.0, 1.0]])
    constants = Constants(4.0, 1.0, 40.0, 10.0, 4.0, 0.0)

    @property
    def known_optimum(self) -> Optimum:
        return Optimum(float(self.evaluate(self.point).f), self.point, self.multipliers, "by construction")

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        star = self.point
        slope = -(self.multipliers[0] * star + self.multipliers[1] * self.lines[0])
        slope = slope - np.array([0.5, 0.0, 0.0, 0.0])  # the bound's own multiplier
        f = (0.5 * self.curvatures * (x - star) ** 2 + slope * x).sum(axis=-1)
        ball = 0.5 * (x * x).sum(axis=-1) - 0.5 * star @ star
        return Evaluation(f, np.stack([ball, (x - star) @ self.lines[0], (x - star) @ self.lines[1] - 1.0], axis=-1))


class Counted:
    """One replica's black box, with its noise and its own count of calls."""

    def __init__(self, problem: Problem, replica: int) -> None:
        self.problem, self.calls, self.contract = problem, 0, problem.noise
        rows = Streams(SEED, REPLICAS).normal("noise", 5000, problem.m + 1)[replica]
        self._rows = iter(problem.noise_scale * rows)
        self._normals = iter(Streams(SEED, REPLICAS).normal("directions", 5000, problem.n)[replica])
        self.shared = np.zeros(problem.m + 1)
        self.resample()

    def resample(self) -> None:
        if self.contract == "common":
            self.shared = next(self._rows)

    def direction(self) -> Array:
        return next(self._normals)

    def __call__(self, x: Array) -> Array:
        """F_0 .. F_m."""
        self.calls += 1
        value = self.problem.evaluate(x)
        noise = next(self._rows) if self.contract == "independent" else self.shared
        return np.concatenate([[value.f], value.h]) + noise


def draw(box: Counted, x: Array, base: Array, solver: SZOConEX, functions: range) -> tuple[Array, Array]:
    """Gradients (m + 1, n) and mean perturbed values (m + 1) of the functions asked for, direction by direction."""
    estimator = solver.estimator
    k, r, n = estimator.batch_size, estimator.smoothing_radius, len(x)
    gradients, values = np.zeros((len(base), n)), np.zeros(len(base))
    for _ in range(k):
        for group in [functions] if solver.directions == "shared" else [range(i, i + 1) for i in functions]:
            u = box.direction()
            unit = u / np.sqrt(u @ u)
            there = box(x + r * (u if isinstance(estimator, Gaussian) else unit))
            for i in group:
                rise = (there[i] - base[i]) / r
                gradients[i] += (rise * u if isinstance(estimator, Gaussian) else n * rise * unit) / k
                values[i] += there[i] / k
    return gradients, values


def by_hand(box: Counted, x: Array, solver: SZOConEX, iterations: int) -> Iterator[tuple[Array, Array, Array]]:
    """x, y and the average after each iteration: paper conex, Algorithm 1, each bar draw taken one iteration early."""
    m, theta, lower, upper = box.problem.m, solver.extrapolation, box.problem.domain.lower, box.problem.domain.upper
    noisy, constraints = box.contract != "deterministic", range(1, m + 1)
    here, y, points = box(x), np.zeros(m), []
    _, values = draw(box, x, here, solver, constraints)
    level = values[1:] if solver.value == "perturbed" else here[1:]
    previous = level
    if noisy:
        box.resample()
        here = box(x)
    for t in range(iterations):
        damp = 1.0 if solver.schedule == "constant" else 1.0 / np.sqrt(t + 1.0)
        s = (1.0 + theta) * level - theta * previous
        y = np.minimum(np.maximum(y + damp * solver.dual_step * s, 0.0), solver.dual_cap)
        gradients, _ = draw(box, x, here, solver, range(m + 1))
        gradient = gradients[0] + sum(y[i] * gradients[i + 1] for i in range(m))
        x_next = np.clip(x - damp * solver.primal_step * gradient, lower, upper)
        base = here
        if noisy:
            box.resample()
            base = box(x)
        bar, values = draw(box, x, base, solver, constraints)
        value = values if solver.value == "perturbed" else base
        previous = level
        level = np.array([value[i] + bar[i] @ (x_next - x) for i in constraints])
        box.resample()
        x, here = x_next, box(x_next)
        points.append(x)
        yield x, y, np.mean(points, axis=0)


def course(solver: Solver, problem: Problem, iterations: int) -> tuple[list, Oracle]:
    streams = Streams(SEED, REPLICAS)
    oracle = Oracle(problem, streams)
    states = [solver.init(problem.initial(streams), oracle, streams)]
    for _ in range(iterations):
        states.append(solver.step(states[-1], oracle, streams)[0])
    return states, oracle


PROBLEMS = {
    "qcqp": lambda **noise: NonconvexQCQP(n=5, seed=3, **noise),
    "load": lambda **noise: LoadTracking(n=6, seed=1, curtailment=60.0, **noise),
    "two": lambda **noise: TwoConstraints(**noise),
}
OPTIONS = {
    "default": {},
    "separate": {"directions": "separate"},
    "base": {"value": "base"},
    "separate, base": {"directions": "separate", "value": "base"},
    "diminishing": {"schedule": "diminishing"},
    "no extrapolation": {"extrapolation": 0.0},
    "half, capped": {"extrapolation": 0.5, "dual_cap": 0.03},
    "sphere": {"estimator": Sphere(smoothing_radius=0.05, batch_size=3)},
    "sphere, separate": {"directions": "separate", "estimator": Sphere(smoothing_radius=0.05, batch_size=3)},
}


def hold(problem: Problem, options: dict[str, Any], iterations: int = 4) -> None:
    """The class and the hand-written loop agree on every replica, and on the number of calls."""
    options = {"estimator": Gaussian(smoothing_radius=0.05, batch_size=3)} | options
    solver = SZOConEX(**(STEPS | options))
    states, oracle = course(solver, problem, iterations)
    for r in range(REPLICAS):
        box = Counted(problem, r)
        found = by_hand(box, states[0].x[r], solver, iterations)
        for state, (x, y, average) in zip(states[1:], found, strict=True):
            np.testing.assert_allclose(state.x[r], x, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(state.y[r], y, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(state.average[r], average, rtol=1e-12, atol=1e-12)
        assert oracle.calls[r] == box.calls
    assert states[-1].y.max() > 0.0, "the duals never moved: the comparison would not see the dual step"


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("name", PROBLEMS)
def test_equals_a_hand_written_loop(name: str, options: dict[str, Any]) -> None:
    hold(PROBLEMS[name](), options)


@pytest.mark.parametrize("directions", ["shared", "separate"])
@pytest.mark.parametrize("value", ["perturbed", "base"])
@pytest.mark.parametrize("noise", ["common", "independent"])
def test_equals_a_hand_written_loop_under_noise(noise: str, value: str, directions: str) -> None:
    hold(TwoConstraints(noise=noise, noise_scale=0.02), {"value": value, "directions": directions})


@pytest.mark.parametrize("noise, extra", [("deterministic", 1), ("common", 2), ("independent", 2)])
def test_calls_per_iteration(noise: str, extra: int) -> None:
    k, m = 7, 2
    for directions, draws in (("shared", 2), ("separate", 2 * m + 1)):
        for value in ("perturbed", "base"):
            estimator = Gaussian(smoothing_radius=0.01, batch_size=k)
            solver = SZOConEX(**STEPS, estimator=estimator, directions=directions, value=value)
            streams = Streams(0, 2)
            oracle = Oracle(TwoConstraints(noise=noise, noise_scale=0.1), streams)
            state = solver.init(np.zeros((2, 5)), oracle, streams)
            before = oracle.calls.copy()
            for _ in range(5):
                state, _ = solver.step(state, oracle, streams)
            assert (oracle.calls - before == 5 * (draws * k + extra)).all()


def test_one_direction_costs_what_the_comparators_say() -> None:
    # 8.3, 2A and 3.3: 3 calls with a cached base, 4 without; 2m + 2 with a direction for each function.
    for noise, directions, calls in [("deterministic", "shared", 3), ("common", "shared", 4)]:
        solver = SZOConEX(**STEPS, directions=directions, estimator=Gaussian(smoothing_radius=0.01, batch_size=1))
        states, oracle = course(solver, TwoConstraints(noise=noise, noise_scale=0.1), 1)
        start = oracle.calls.copy()
        solver.step(states[-1], oracle, Streams(1, REPLICAS))
        assert (oracle.calls - start == calls).all()
    solver = SZOConEX(**STEPS, directions="separate", estimator=Gaussian(smoothing_radius=0.01, batch_size=1))
    states, oracle = course(solver, TwoConstraints(), 1)
    start = oracle.calls.copy()
    solver.step(states[-1], oracle, Streams(1, REPLICAS))
    assert (oracle.calls - start == 2 * 2 + 2).all()


EXACT = {"smoothing_radius": 1.0, "differences": "central"}
"""Central differences of a quadratic along the coordinates are its gradient, whatever their length."""


@pytest.mark.parametrize("directions", ["shared", "separate"])
def test_exact_gradients_lead_to_the_known_solution(directions: str) -> None:
    problem = Known()
    solver = SZOConEX(
        primal_step=0.15, dual_step=0.2, value="base", directions=directions, estimator=Coordinate(**EXACT)
    )
    state = course(solver, problem, 600)[0][-1]
    np.testing.assert_allclose(state.x, np.broadcast_to(problem.point, state.x.shape), atol=1e-9)
    np.testing.assert_allclose(state.y, np.broadcast_to(problem.multipliers, state.y.shape), atol=1e-8)


def test_extrapolation_is_what_keeps_a_bilinear_problem_from_circling() -> None:
    box = BlackBox(lambda x: float(x[0]), lambda x: -float(x[0]), bounds=[(-4.0, 4.0)], x0=[1.0])
    ends = {}
    for theta in (0.0, 1.0):
        solver = SZOConEX(
            primal_step=0.3, dual_step=0.3, extrapolation=theta, value="base", estimator=Coordinate(**EXACT)
        )
        state = course(solver, box, 700)[0][-1]
        ends[theta] = np.hypot(state.x[0, 0], state.y[0, 0] - 1.0)
    assert ends[1.0] < 1e-3 < 0.1 < ends[0.0]


@pytest.mark.parametrize("directions", ["shared", "separate"])
@pytest.mark.parametrize("family", [Gaussian, Sphere, CentralSphere])
def test_the_measured_variance_is_what_theory_says(family: type, directions: str) -> None:
    problem, replicas = TwoConstraints(), 4000
    streams = Streams(2, replicas)
    solver = SZOConEX(**STEPS, directions=directions, estimator=family(smoothing_radius=1e-6, batch_size=4))
    x = np.broadcast_to(np.array([0.5, -0.3, 0.2, 0.7, -0.1]), (replicas, 5)).copy()
    level = np.full((replicas, 2), 8.0)
    oracle = Oracle(problem, streams)
    state = module.ConEXState(x, np.full((replicas, 2), 0.2), oracle(x), level, level, x, 0)
    after, info = solver.step(state, oracle, streams)
    predicted = solver.theory(problem, info)["variance_predicted"]
    assert np.allclose(predicted, predicted[0])
    gradients = (x - after.x) / STEPS["primal_step"]
    assert np.isclose(np.trace(np.cov(gradients.T)), predicted[0], rtol=0.06)
    assert np.isclose(info.variance.mean(), predicted[0], rtol=0.06)
    exact = problem.gradient(x[:1])
    expected = exact[0] + (after.y[:1, :, None] * exact[1]).sum(axis=1)
    np.testing.assert_allclose(gradients.mean(axis=0), expected[0], atol=6.0 * np.sqrt(predicted[0] / replicas))


def test_big_batches_in_pieces_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from zoviz.estimators import base

    for directions in ("shared", "separate"):
        solver = SZOConEX(**STEPS, directions=directions, estimator=Gaussian(smoothing_radius=0.05, batch_size=9))
        problem = TwoConstraints(noise="independent", noise_scale=0.01)
        whole = course(solver, problem, 3)[0][-1]
        with monkeypatch.context() as patch:
            patch.setattr(base, "CHUNK_BYTES", 700)
            pieces = course(solver, problem, 3)[0][-1]
        np.testing.assert_allclose(pieces.x, whole.x, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(pieces.level, whole.level, rtol=1e-9, atol=1e-11)


def test_the_average_is_reported_where_asked_for() -> None:
    run = Run(problem=NonconvexQCQP(n=6), solver=SZOConEX(report="average"), replicas=2, iterations=7)
    result = run.run()
    np.testing.assert_array_equal(result.x, run.state.average)
    assert (result.x != run.state.x).any()


def test_separate_directions_are_noisier_at_a_solution() -> None:
    # comparators 0.3: what the shared directions see dies at a KKT point, the paper's own does not.
    problem, ends = Known(), {}
    for directions in ("shared", "separate"):
        solver = SZOConEX(
            primal_step=0.02,
            dual_step=0.02,
            directions=directions,
            estimator=Gaussian(smoothing_radius=1e-6, batch_size=2),
        )
        state = course(solver, problem, 700)[0][-1]
        ends[directions] = np.linalg.norm(state.x[:, 1:] - problem.point[1:], axis=1).mean()
    assert ends["shared"] < 0.5 * ends["separate"]
