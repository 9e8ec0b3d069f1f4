"""Each solver against a hand-written loop, the errata that change the code, calls, and convergence to known optima."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.estimators import Block, Coordinate, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import LoadTracking, NonconvexQCQP, Problem
from zoviz.runs.threads import SingleBlasThread
from zoviz.sets import Box
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOSPLM, Solver
from zoviz.solvers.extragradient import Field
from zoviz.streams import Streams
from zoviz.types import Array, Constants, Evaluation, Optimum

SEED, REPLICAS, ITERATIONS = 7, 3, 3


class TwoConstraints(Problem):
    """f = sum a_i x_i^2 / 2 - x_i; h_1 = sum x - 1, h_2 = x_1^2 + x_2^2 - 1/4; X = [-2, 2]^6."""

    __abstract = True  # a test's own class: the registry must not offer it

    n, m = 6, 2
    domain = Box(np.full(6, -2.0), np.full(6, 2.0))
    weights = np.arange(1.0, 7.0)
    constants = Constants(6.0, 2.0, 30.0, 10.0, 4.0, 0.0)

    def evaluate(self, x: Array, xi: Any = None) -> Evaluation:
        f = (0.5 * self.weights * x * x - x).sum(axis=-1)
        h = np.stack([x.sum(axis=-1) - 1.0, x[..., 0] ** 2 + x[..., 1] ** 2 - 0.25], axis=-1)
        return Evaluation(f, h)


def problems() -> dict[str, Problem]:
    return {
        "qcqp": NonconvexQCQP(n=6, seed=3),
        "load": LoadTracking(n=6, seed=1, curtailment=60.0),
        "two constraints": TwoConstraints(),
    }


def course(solver: Solver, problem: Problem, iterations: int = ITERATIONS, replicas: int = REPLICAS) -> tuple:
    """States of the solver, the first one's included, and the oracle."""
    streams = Streams(SEED, replicas)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    states = [state]
    for _ in range(iterations):
        state, _ = solver.step(state, oracle, streams)
        states.append(state)
    return states, oracle


def phi(problem: Problem, x: Array, y: Array) -> float:
    """The Lagrangian at one point."""
    value = problem.evaluate(x)
    total = float(value.f)
    for j in range(problem.m):
        total += float(y[j]) * float(value.h[j])
    return total


def agree(a: Array, b: Array, tolerance: float = 1e-9) -> None:
    scale = max(float(np.abs(b).max()), 1e-12)
    assert float(np.abs(a - b).max()) <= tolerance * scale


# --- ZO-SPLM ----------------------------------------------------------------------------------------------------------

SPLM = {"primal_step": 0.02, "dual_step": 0.03, "proximal_step": 0.4, "proximal_weight": 0.7, "dual_cap": 1.5}


def splm_by_hand(problem: Problem, k: int, radius: float, estimated: bool) -> list[tuple[Array, Array, Array]]:
    c, alpha, beta, p, cap = SPLM.values()
    streams, lower, upper = Streams(SEED, REPLICAS), problem.domain.lower, problem.domain.upper
    x = problem.initial(streams)
    y, z, n, out = np.zeros((REPLICAS, problem.m)), x.copy(), problem.domain.n, []
    for _ in range(ITERATIONS):
        u = streams.normal("directions", k, n).copy()
        x, y, z = x.copy(), y.copy(), z.copy()
        for r in range(REPLICAS):
            gradient = np.zeros(n)
            for i in range(k):
                direction = u[r, i] / np.sqrt(sum(u[r, i] ** 2))
                there = x[r] + radius * direction
                rise = phi(problem, there, y[r]) - phi(problem, x[r], y[r])
                if estimated:
                    rise += 0.5 * p * (sum((there - z[r]) ** 2) - sum((x[r] - z[r]) ** 2))
                gradient += n / (radius * k) * rise * direction
            if not estimated:
                gradient += p * (x[r] - z[r])
            x[r] = np.clip(x[r] - c * gradient, lower, upper)
            y[r] = np.clip(y[r] + alpha * problem.evaluate(x[r]).h, 0.0, cap)
            z[r] = z[r] + beta * (x[r] - z[r])
        out.append((x, y, z))
    return out


@pytest.mark.parametrize("estimated", [False, True], ids=["exact proximal term", "estimated proximal term"])
@pytest.mark.parametrize("name", problems())
def test_splm_equals_a_hand_written_loop(name: str, estimated: bool) -> None:
    problem = problems()[name]
    solver = ZOSPLM(**SPLM, estimator=Sphere(smoothing_radius=0.05, batch_size=4), estimate_proximal=estimated)
    states, _ = course(solver, problem)
    for state, (x, y, z) in zip(states[1:], splm_by_hand(problem, 4, 0.05, estimated), strict=True):
        agree(state.x, x)
        agree(state.y, y)
        agree(state.z, z)
    assert states[-1].y.max() > 0.0, "the duals never moved: the comparison would not see the dual step"


def test_splm_5A_the_proximal_weight_is_twice_the_weak_convexity_not_a_multiple_of_the_curvature() -> None:
    problem = NonconvexQCQP(n=20)
    rho = problem.constants.weak_convexity
    chosen = ZOSPLM().suggest(problem, problem.constants)["proximal_weight"]
    hessian = problem.data.matrices[:, :20]
    assert rho == pytest.approx(-np.linalg.eigvalsh(hessian)[0])
    assert chosen == pytest.approx(2.0 * rho)
    assert np.linalg.eigvalsh(hessian + chosen * np.eye(20))[0] > 0.0
    convex = LoadTracking()
    assert ZOSPLM().suggest(convex, convex.constants)["proximal_weight"] == 1.0


def test_splm_dual_step_uses_the_new_point() -> None:
    problem = TwoConstraints()
    solver = ZOSPLM(**(SPLM | {"dual_cap": 100.0}), estimator=Sphere(smoothing_radius=1e-3, batch_size=8))
    (before, after), _ = course(solver, problem, iterations=1)
    new, old = problem.evaluate(after.x).h, problem.evaluate(before.x).h
    np.testing.assert_allclose(after.y, np.maximum(SPLM["dual_step"] * new, 0.0), rtol=1e-12)
    assert not np.allclose(after.y, np.maximum(SPLM["dual_step"] * old, 0.0), rtol=1e-3)


# --- the extra-gradient family ----------------------------------------------------------------------------------------

EG = {"primal_step": 0.03, "dual_step": 0.05, "radius_scale": 0.1, "radius_power": 1.1, "dual_cap": 1.5}
RADIUS = 0.05


def joint_field(problem: Problem, x: Array, y: Array, radius: float, u: Array) -> tuple[Array, Array]:
    """ZOEG's field for one replica: slopes of phi along directions in (x, y); grad_y phi with its own sign."""
    n, d = len(x), len(x) + len(y)
    gradient = np.zeros(d)
    for direction in u:
        v = direction / np.sqrt(sum(direction**2))
        rise = phi(problem, x + radius * v[:n], y + radius * v[n:]) - phi(problem, x, y)
        gradient += d / (radius * len(u)) * rise * v
    return gradient[:n], gradient[n:]


def exact_dual_field(problem: Problem, x: Array, y: Array, radius: float, u: Array) -> tuple[Array, Array]:
    n, gradient = len(x), np.zeros(len(x))
    for direction in u:
        v = direction / np.sqrt(sum(direction**2))
        gradient += n / (radius * len(u)) * (phi(problem, x + radius * v, y) - phi(problem, x, y)) * v
    return gradient, problem.evaluate(x).h


def coordinate_field(
    problem: Problem, x: Array, y: Array, radius: float, blocks: tuple[Array, Array]
) -> tuple[Array, Array]:
    """Differences along the coordinates of one block, h on the other."""
    gradient, dual = np.zeros(len(x)), np.zeros(len(y))
    for i in blocks[0]:
        there = x.copy()
        there[i] += radius
        gradient[i] = (phi(problem, there, y) - phi(problem, x, y)) / radius
    for j in blocks[1]:
        dual[j] = problem.evaluate(x).h[j]
    return gradient, dual


def extragradient_by_hand(problem: Problem, field: Any, draw: Any, diminish: bool = False) -> list[tuple]:
    """States after each iteration, from ``field(problem, x, y, radius, numbers)`` and ``draw(streams)[r]``."""
    streams, lower, upper = Streams(SEED, REPLICAS), problem.domain.lower, problem.domain.upper
    x = problem.initial(streams)
    y, average, out = np.zeros((REPLICAS, problem.m)), np.zeros_like(x), []
    for k in range(ITERATIONS):
        eta, eta_y, a, b, cap = EG.values()
        if diminish:
            eta, eta_y = eta / np.sqrt(k + 1), eta_y / np.sqrt(k + 1)
        radius = min(a / (k + 1) ** b, RADIUS)
        first, second = draw(streams), draw(streams)
        x, y, average = x.copy(), y.copy(), average.copy()
        for r in range(REPLICAS):
            gx, gy = field(problem, x[r], y[r], radius, first[r])
            xp, yp = np.clip(x[r] - eta * gx, lower, upper), np.clip(y[r] + eta_y * gy, 0.0, cap)
            gx, gy = field(problem, xp, yp, radius, second[r])
            x[r], y[r] = np.clip(x[r] - eta * gx, lower, upper), np.clip(y[r] + eta_y * gy, 0.0, cap)
            average[r] = (k * average[r] + xp) / (k + 1)
        out.append((x, y, average))
    return out


def assert_same_course(solver: Solver, problem: Problem, expected: list[tuple]) -> None:
    states, _ = course(solver, problem)
    for state, (x, y, average) in zip(states[1:], expected, strict=True):
        agree(state.x, x)
        agree(state.y, y)
        agree(state.average, average)
    assert states[-1].y.max() > 0.0, "the duals never moved: the comparison would not see them"


@pytest.mark.parametrize("schedule", ["constant", "diminishing"])
@pytest.mark.parametrize("dual", ["estimated", "exact"])
@pytest.mark.parametrize("name", problems())
def test_zoeg_equals_a_hand_written_loop(name: str, dual: str, schedule: str) -> None:
    problem, k = problems()[name], 2
    solver = ZOEG(**EG, dual=dual, schedule=schedule, estimator=Sphere(smoothing_radius=RADIUS, batch_size=k))
    d = problem.domain.n + (problem.m if dual == "estimated" else 0)
    field = joint_field if dual == "estimated" else exact_dual_field
    expected = extragradient_by_hand(
        problem, field, lambda streams: streams.normal("directions", k, d).copy(), schedule == "diminishing"
    )
    assert_same_course(solver, problem, expected)


@pytest.mark.parametrize("name", problems())
def test_zoceg_equals_a_hand_written_loop(name: str) -> None:
    problem = problems()[name]
    everything = (np.arange(problem.domain.n), np.arange(problem.m))
    expected = extragradient_by_hand(problem, coordinate_field, lambda streams: [everything] * REPLICAS)
    assert_same_course(ZOCEG(**EG, estimator=Coordinate(smoothing_radius=RADIUS)), problem, expected)


@pytest.mark.parametrize(("size", "dual_size"), [(1, 1), (2, 1), (3, None), (6, 1)])
def test_zobceg_equals_a_hand_written_loop(size: int, dual_size: int | None) -> None:
    problem = TwoConstraints()

    def draw(streams: Streams) -> list[tuple[Array, Array]]:
        index = streams.subset("blocks", problem.n, size)
        if dual_size is None:
            return [(index[r, 0], np.arange(2)) for r in range(REPLICAS)]
        dual = streams.subset("dual blocks", problem.m, dual_size)
        return [(index[r, 0], dual[r, 0]) for r in range(REPLICAS)]

    estimator = Block(smoothing_radius=RADIUS, block_size=size, scaled=False)
    solver = ZOBCEG(**EG, dual_block_size=dual_size, estimator=estimator)
    assert_same_course(solver, problem, extragradient_by_hand(problem, coordinate_field, draw))


@pytest.mark.parametrize("name", problems())
def test_zobceg_with_full_blocks_is_zoceg(name: str) -> None:
    problem = problems()[name]
    n, m = problem.domain.n, problem.m
    block = Block(smoothing_radius=RADIUS, block_size=n, scaled=False)
    one, _ = course(ZOBCEG(**EG, dual_block_size=m, estimator=block), problem, iterations=20)
    other, _ = course(ZOCEG(**EG, estimator=Coordinate(smoothing_radius=RADIUS)), problem, iterations=20)
    for a, b in zip(one, other, strict=True):
        assert np.array_equal(a.x, b.x) and np.array_equal(a.y, b.y) and np.array_equal(a.average, b.average)


class Spied(ZOBCEG):
    """ZOBCEG that notes where each half step estimated the field, and the field."""

    __abstract = True

    def field(self, x: Array, y: Array, *rest: Any) -> Field:
        found = super().field(x, y, *rest)
        self.__dict__.setdefault("notes", []).append((x, y, found))
        return found


def spied(size: int, dual_size: int, iterations: int, replicas: int = REPLICAS) -> tuple[list, list]:
    estimator = Block(smoothing_radius=1e-3, block_size=size, scaled=False)
    solver = Spied(**EG, dual_block_size=dual_size, estimator=estimator)
    states, _ = course(solver, TwoConstraints(), iterations, replicas)
    return states, solver.notes


def test_zoeg_1A_the_second_half_step_draws_blocks_of_its_own_for_x_and_for_y() -> None:
    replicas = 3000
    _, notes = spied(2, 1, 1, replicas)
    (_, _, first), (_, _, second) = notes
    blocks = [(field.x != 0.0) for field in (first, second)]
    assert all((block.sum(axis=1) == 2).all() for block in blocks)
    for share, chance in (
        ((blocks[0] == blocks[1]).all(axis=1).mean(), 1.0 / 15.0),
        (((first.y != 0.0) == (second.y != 0.0)).all(axis=1).mean(), 0.5),
    ):
        assert abs(share - chance) < 4.0 * np.sqrt(chance * (1.0 - chance) / replicas)
    # Uniform blocks: each coordinate of x is in a third of them, each of y in half.
    assert np.abs(blocks[1].mean(axis=0) - 1.0 / 3.0).max() < 4.0 * np.sqrt(2.0 / 9.0 / replicas)
    assert np.abs((second.y != 0.0).mean(axis=0) - 0.5).max() < 4.0 * np.sqrt(0.25 / replicas)


def test_zoeg_2A_the_average_is_that_of_the_half_step_points() -> None:
    states, notes = spied(3, 2, 5)
    halves = [x for x, _, _ in notes[1::2]]
    np.testing.assert_allclose(states[-1].average, np.mean(halves, axis=0), rtol=1e-12)
    assert not np.allclose(states[-1].average, np.mean([state.x for state in states[:-1]], axis=0), rtol=1e-6)
    assert not np.allclose(states[-1].average, np.mean([state.x for state in states[1:]], axis=0), rtol=1e-6)
    solver = ZOBCEG(report="average")
    np.testing.assert_array_equal(solver.output(states[-1]), states[-1].average)
    np.testing.assert_array_equal(solver.output(states[0]), states[0].x)


def test_zoeg_3A_unsampled_coordinates_stay_exactly_at_the_base_point() -> None:
    states, notes = spied(2, 1, 4)
    moved = 0
    for k, (before, after) in enumerate(zip(states, states[1:], strict=False)):
        (_, _, first), (x_half, y_half, second) = notes[2 * k : 2 * k + 2]
        for field, x, y in ((first, x_half, y_half), (second, after.x, after.y)):
            assert (x[field.x == 0.0] == before.x[field.x == 0.0]).all()
            assert (y[field.y == 0.0] == before.y[field.y == 0.0]).all()
        moved += int((x_half != after.x).sum())
    assert moved > 0


def test_zoeg_5A_schedules_count_from_one() -> None:
    problem = TwoConstraints()
    own = ZOCEG(**EG, schedule="diminishing", estimator=Coordinate(smoothing_radius=RADIUS))
    states, _ = course(own, problem, iterations=4)
    assert np.isfinite(states[1].x).all()
    steps = ZOCEG(**EG, estimator=Coordinate(smoothing_radius=RADIUS))
    streams = Streams(SEED, REPLICAS)
    oracle = Oracle(problem, streams)
    state = steps.init(problem.initial(streams), oracle, streams)
    for k in range(4):
        steps.primal_step, steps.dual_step = (EG[name] / np.sqrt(k + 1.0) for name in ("primal_step", "dual_step"))
        state, info = steps.step(state, oracle, streams)
        assert info.radius == pytest.approx(min(EG["radius_scale"] / (k + 1.0) ** EG["radius_power"], RADIUS))
        np.testing.assert_allclose(state.x, states[k + 1].x, rtol=1e-12)


@pytest.mark.parametrize("dual", ["estimated", "exact"])
def test_zoeg_9B_the_field_descends_in_x_and_ascends_in_y(dual: str) -> None:
    problem, replicas = TwoConstraints(), 300
    streams = Streams(1, replicas)
    oracle = Oracle(problem, streams)
    x = np.tile([0.9, 0.8, -0.3, 0.2, 0.1, 0.4], (replicas, 1))
    y = np.tile([0.6, 0.3], (replicas, 1))
    solver = ZOEG(**EG, dual=dual, estimator=Sphere(smoothing_radius=1e-6, batch_size=100))
    field = solver.field(x, y, oracle(x), 1e-6, oracle, streams)
    h = problem.evaluate(x[0]).h
    gradient = problem.weights * x[0] - 1.0 + y[0, 0]
    gradient[:2] += 2.0 * y[0, 1] * x[0, :2]
    for found, expected in ((field.x, gradient), (field.y, h)):
        error = found.std(axis=0) / np.sqrt(replicas)
        assert (np.abs(found.mean(axis=0) - expected) <= 4.0 * error + 1e-5).all()
    solver = ZOEG(**EG, dual=dual, estimator=Sphere(smoothing_radius=1e-6, batch_size=2000))
    states, _ = course(solver, problem, iterations=1, replicas=50)
    assert (states[1].y[problem.evaluate(states[0].x).h > 0.5] > 0.0).all()


@pytest.mark.parametrize(
    "solver",
    [
        ZOSPLM(**(SPLM | {"dual_step": 10.0, "dual_cap": 0.25})),
        ZOEG(**(EG | {"dual_step": 10.0, "dual_cap": 0.25})),
        ZOCEG(**(EG | {"dual_step": 10.0, "dual_cap": 0.25})),
        ZOBCEG(**(EG | {"dual_step": 10.0, "dual_cap": 0.25})),
    ],
    ids=lambda solver: solver.title,
)
def test_duals_stay_between_zero_and_their_cap(solver: Solver) -> None:
    solver.estimator.smoothing_radius = 1e-4
    states, _ = course(solver, TwoConstraints(), 30, replicas=20)
    duals = np.array([state.y for state in states])
    assert duals.min() == 0.0 and duals.max() == 0.25


# --- calls ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("solver", "per_iteration"),
    [
        (ZOSPLM(**SPLM, estimator=Sphere(batch_size=9)), 10),
        (ZOSPLM(**SPLM, estimator=Sphere(batch_size=9), estimate_proximal=True), 10),
        (ZOEG(**EG, estimator=Sphere(batch_size=1)), 4),
        (ZOEG(**EG, estimator=Sphere(batch_size=1), dual="exact"), 4),
        (ZOCEG(**EG, estimator=Coordinate()), 2 * (6 + 1)),
        (ZOBCEG(**EG, estimator=Block(block_size=2, scaled=False)), 2 * (2 + 1)),
        (ZOBCEG(**EG, estimator=Block(block_size=2, scaled=False), dual_block_size=1), 2 * (2 + 1)),
        (ZOBCEG(**EG, estimator=Block(block_size=1000, scaled=False)), 2 * (6 + 1)),
    ],
    ids=lambda value: value.title if isinstance(value, Solver) else str(value),
)
def test_calls_per_iteration(solver: Solver, per_iteration: int) -> None:
    for iterations in (0, 1, 5):
        _, oracle = course(solver, TwoConstraints(), iterations)
        assert (oracle.calls == 1 + per_iteration * iterations).all()
        assert (oracle.scalar_evaluations == 3 * oracle.calls).all()


# --- convergence to known optima --------------------------------------------------------------------------------------


def solve(solver: Solver, problem: Problem, iterations: int, replicas: int = 4) -> tuple[dict[str, Array], Any]:
    """Run with the solver's own rule for what is None; measures of the last iterate, and its state."""
    chosen = solver.suggest(problem, problem.constants)
    for name in solver.suggestible():
        solver.set(name, chosen[name])
    with SingleBlasThread():  # as a run does: the products are small
        states, _ = course(solver, problem, iterations, replicas)
    return problem.metrics(states[-1].x, states[-1].y, None), states[-1]


def assert_solved(solver: Solver, problem: Problem, iterations: int, tolerance: float) -> None:
    measured, state = solve(solver, problem, iterations)
    optimum = problem.known_optimum
    assert isinstance(optimum, Optimum)
    scale = np.abs(optimum.point).max()
    assert measured["relative_gap"].max() < tolerance
    assert measured["violation"].max() < tolerance * max(1.0, np.abs(optimum.value))
    assert np.abs(state.x - optimum.point).max() < 100.0 * tolerance * scale
    assert np.abs(state.y / optimum.multipliers - 1.0).max() < 100.0 * tolerance


@pytest.mark.parametrize("solver", [ZOCEG, ZOBCEG])
def test_coordinate_methods_reach_the_optimum_of_load_tracking(solver: type[Solver]) -> None:
    block = Block(smoothing_radius=1e-5, block_size=10, scaled=False)
    estimator = {ZOCEG: Coordinate(smoothing_radius=1e-5), ZOBCEG: block}[solver]
    assert_solved(solver(estimator=estimator), LoadTracking(n=50), 3000 if solver is ZOCEG else 6000, 1e-6)


@pytest.mark.parametrize("solver", [ZOCEG, ZOBCEG])
def test_coordinate_methods_reach_the_optimum_of_the_qcqp(solver: type[Solver]) -> None:
    block = Block(smoothing_radius=1e-6, block_size=5, scaled=False)
    estimator = {ZOCEG: Coordinate(smoothing_radius=1e-6), ZOBCEG: block}[solver]
    assert_solved(solver(estimator=estimator), NonconvexQCQP(n=10), 6000, 1e-5)


def test_splm_reaches_a_stationary_point_of_the_qcqp() -> None:
    solver = ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=400))
    measured, _ = solve(solver, NonconvexQCQP(n=20), 1500)
    assert measured["stationarity"].max() < 1e-2
    assert np.abs(measured["relative_gap"]).max() < 1e-3


@pytest.mark.parametrize(
    ("solver", "iterations"),
    [
        (ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=50)), 2000),
        (ZOEG(schedule="constant"), 8000),
        (ZOEG(schedule="constant", dual="exact"), 8000),
    ],
    ids=["ZOSPLM", "ZOEG", "ZOEG exact dual"],
)
def test_random_directions_reach_an_optimum_inside_the_box(solver: Solver, iterations: int) -> None:
    """The gradient of the Lagrangian vanishes there, and the variance of the directions with it."""
    problem = LoadTracking(n=10, seed=1, curtailment=60.0)
    point = problem.known_optimum.point
    assert (point > 0.0).all() and (point < problem.domain.upper).all()
    measured, _ = solve(solver, problem, iterations)
    assert measured["relative_gap"].max() < 1e-3
    assert measured["violation"].max() < 5e-2


def test_zoeg_with_a_diminishing_step_goes_on_where_a_constant_one_stalls() -> None:
    """Half of the loads are at their bounds: the directions' variance stays there, and only smaller steps help."""
    medians = {}
    for schedule in ("constant", "diminishing"):
        measured, _ = solve(ZOEG(schedule=schedule), LoadTracking(n=20), 5000, replicas=32)
        medians[schedule] = np.median(measured["relative_gap"])
    assert medians["diminishing"] < 0.03
    assert medians["diminishing"] < 0.5 * medians["constant"]
