"""Other libraries' optimisers: the same course as by themselves, the known optima, pure steps, forks."""

from __future__ import annotations

import contextlib
import pickle
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from helpers.peers import BOUNDS, EACH, FIXED, START, Simulation, World, assert_same_states
from zoviz.core.types import Array
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.solvers import CMAES, COBYLA, COBYQA, NOMAD, SLSQP, TrustConstr
from zoviz.solvers.external.base import ExternalSolver


class Simulator:
    """A simulation whose values are kept by the bytes of x, and its differences, written out by hand."""

    def __init__(self, step: float = 1e-7) -> None:
        self.simulation, self.values, self.step = Simulation(), {}, step

    def __call__(self, x: Array) -> tuple[float, Array]:
        key = np.asarray(x, dtype=float).tobytes()
        if key not in self.values:
            self.values[key] = self.simulation(np.asarray(x, dtype=float))
        return self.values[key]

    def f(self, x: Array) -> float:
        return self(x)[0]

    def h(self, x: Array) -> Array:
        return self(x)[1]

    def slopes(self, x: Array) -> tuple[Array, Array]:
        of_f, of_h = np.zeros(2), np.zeros((2, 2))
        f, h = self(x)
        for i in range(2):
            probe = x.copy()
            probe[i] += self.step if x[i] + self.step <= 4.0 else -self.step
            there = self(probe)
            of_f[i] = (there[0] - f) / (probe[i] - x[i])
            of_h[:, i] = (there[1] - h) / (probe[i] - x[i])
        return of_f, of_h


def by_scipy(cls: type[ExternalSolver], simulation: Simulator) -> None:
    from scipy.optimize import BFGS, Bounds, NonlinearConstraint, minimize

    box, h = Bounds([-4, -4], [4, 4]), NonlinearConstraint(simulation.h, -np.inf, 0.0)
    if cls is COBYLA:
        minimize(simulation.f, START, method="COBYLA", bounds=box, constraints=h, options={"rhobeg": 0.8, "tol": 1e-6})
    elif cls is COBYQA:
        radii = {"initial_tr_radius": 0.8, "final_tr_radius": 1e-6}
        minimize(simulation.f, START, method="COBYQA", bounds=box, constraints=h, options=radii)
    elif cls is SLSQP:
        above = {"type": "ineq", "fun": lambda x: -simulation.h(x), "jac": lambda x: -simulation.slopes(x)[1]}
        slope, options = (lambda x: simulation.slopes(x)[0]), {"ftol": 1e-10}
        minimize(simulation.f, START, method="SLSQP", jac=slope, bounds=box, constraints=above, options=options)
    else:
        assert cls is TrustConstr
        h = NonlinearConstraint(simulation.h, -np.inf, 0.0, jac=lambda x: simulation.slopes(x)[1], hess=BFGS())
        box = Bounds([-4, -4], [4, 4], keep_feasible=True)
        slope, options = (lambda x: simulation.slopes(x)[0]), {"gtol": 0, "xtol": 1e-8, "barrier_tol": 1e-8}
        minimize(simulation.f, START, method="trust-constr", jac=slope, bounds=box, constraints=h, options=options)


def by_pycma(simulation: Simulator, seed: int) -> None:
    import cma

    generator = np.random.default_rng(seed)
    settings = {
        "CMA_stds": [8.0, 8.0],
        "bounds": [[-4.0] * 2, [4.0] * 2],
        "randn": lambda *shape: generator.standard_normal(shape),
        "seed": np.nan,
        "tolstagnation": 0,
        "verbose": -9,
        "verb_log": 0,
    }
    simulation.f(np.array(START))  # charged here, not asked for by pycma
    fitness = cma.ConstrainedFitnessAL(simulation.f, lambda x: simulation.h(x).tolist(), logging=0, archives=False)
    strategy = cma.CMAEvolutionStrategy(START, 0.2, settings)
    strategy.optimize(fitness, iterations=25, callback=fitness.update)


def by_nomad(simulation: Simulator, seed: int) -> None:
    import PyNomad

    def evaluate(point: Any) -> int:
        f, h = simulation(np.array([point.get_coord(i) for i in range(2)]))
        point.setBBO(f"{f!r} {float(h[0])!r} {float(h[1])!r}".encode())
        return 1

    lines = ["DIMENSION 2", "BB_OUTPUT_TYPE OBJ PB PB", "DISPLAY_DEGREE 0", "QUAD_MODEL_SEARCH no"]
    lines += ["EVAL_QUEUE_SORT DIR_LAST_SUCCESS"]
    lines += ["INITIAL_FRAME_SIZE ( 0.8 0.8 )", f"SEED {seed % 10_000}"]
    PyNomad.optimize(evaluate, START, [-4.0, -4.0], [4.0, 4.0], lines)


def alone(cls: type[ExternalSolver], seed: int) -> Array:
    """The points that the library evaluates by itself."""
    simulation = Simulator()
    if cls is CMAES:
        with TemporaryDirectory() as folder, contextlib.chdir(folder):  # pycma itself leaves one where it works
            by_pycma(simulation, seed)
    elif cls is NOMAD:
        by_nomad(simulation, seed)
    else:
        by_scipy(cls, simulation)
    return np.stack(simulation.simulation.points)


@EACH
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0:UserWarning")  # SciPy by itself; the peer is quiet
def test_the_course_is_the_librarys_own_point_by_point(cls: type[ExternalSolver]) -> None:
    simulation = Simulation()
    box = BlackBox(simulation, scaled=False, bounds=BOUNDS, x0=START, m=2, joint=True, noise="deterministic")
    run = Run(problem=box, solver=cls(**FIXED[cls]), replicas=1, iterations=25 if cls is CMAES else 2000)
    result = run.run()
    mine, its = np.stack(simulation.points), alone(cls, int(run.state.history.seeds[0]))
    assert result.calls[0] == len(mine) == len(its)
    np.testing.assert_array_equal(mine, its)
    if cls is not CMAES:  # which was cut short
        assert run.status == "finished" and "has ended in every replica" in run.message
        assert result.fun[0] == pytest.approx(1.0, abs=1e-5)


@EACH
def test_the_optimum_of_known_problems_with_the_rules_own_values(cls: type[ExternalSolver]) -> None:
    slow = {"models": False} if cls is NOMAD else {}
    run = Run(problem=BlackBox(scaled=False), solver=cls(**slow), replicas=2, calls=350 if cls is NOMAD else 700)
    result = run.run()
    np.testing.assert_allclose(result.best_fun, 1.0, atol=1e-3 if cls is NOMAD else 1e-4)
    np.testing.assert_allclose(result.fun, result.best_fun, atol=1e-5)
    qcqp = NonconvexQCQP(n=2 if cls is NOMAD else 4, seed=2)
    run = Run(problem=qcqp, solver=cls(**slow), replicas=2, calls=200 if cls is NOMAD else 1500)
    result = run.run()
    optimum = qcqp.known_optimum
    np.testing.assert_allclose(result.fun - optimum.value, 0.0, atol=2e-3)
    assert (result.violation <= 1e-6).all() and result.success.all()
    if cls in (SLSQP, TrustConstr, CMAES):
        np.testing.assert_allclose(result.multipliers, np.broadcast_to(optimum.multipliers, (2, 1)), rtol=0.05)
    else:
        assert np.isnan(result.multipliers).all(), "unknown, not zero"


@EACH
def test_a_step_is_pure_and_replays_at_no_call(cls: type[ExternalSolver]) -> None:
    world = World(cls(**FIXED[cls]), NonconvexQCQP(n=3))
    early = world.step(4)
    late = world.step(5)
    before = world.oracle.calls.copy()
    again, _ = world.solver.step(early, world.oracle, world.streams)
    cost = world.oracle.calls - before
    stored = pickle.loads(pickle.dumps(early))
    assert len(stored.history) == len(early.history)
    clone = cls(**FIXED[cls])
    for solver, state in ((clone, early), (clone, stored), (world.solver, stored)):
        before = world.oracle.calls.copy()
        other, _ = solver.step(state, world.oracle, world.streams)
        assert_same_states(other, again)
        np.testing.assert_array_equal(world.oracle.calls - before, cost)
    for _ in range(4):
        again, _ = world.solver.step(again, world.oracle, world.streams)
    assert_same_states(again, late)
    world.solver.close()
    clone.close()


@EACH
def test_a_fork_and_a_replay_take_the_same_course(cls: type[ExternalSolver]) -> None:
    run = Run(problem=NonconvexQCQP(n=3), solver=cls(**FIXED[cls]), replicas=2, iterations=12)
    run.run()
    again = run.replay()
    again.run()
    assert_same_states(run.state, again.state)
    fork = run.fork(at=5, iterations=12)
    fork.run()
    assert_same_states(run.state, fork.state)


@EACH
def test_unbounded_and_unconstrained(cls: type[ExternalSolver]) -> None:
    box = BlackBox(lambda x: float(((x - [0.3, 0.7]) ** 2).sum()), bounds=[(None, 3.0), (-1.0, None)], x0=[1.0, 1.5])
    slow = {"models": False} if cls is NOMAD else {}
    result = Run(problem=box, solver=cls(**slow), replicas=2, calls=600).run()
    np.testing.assert_allclose(result.x, np.broadcast_to([0.3, 0.7], (2, 2)), atol=2e-2)


@EACH
def test_a_coordinate_that_the_bounds_fix_stays_where_it_is(cls: type[ExternalSolver]) -> None:
    """SciPy's COBYLA and COBYQA would hand out shorter points, and cma refuse."""
    problem = BlackBox(
        lambda x: float(np.square(x - 1.0).sum()),
        lambda x: x.sum() - 2.0,
        [(0.0, 2.0), (0.5, 0.5), (0.0, 2.0)],
        x0=[0.3, 0.5, 0.6],
    )
    result = Run(problem=problem, solver=cls(**FIXED[cls]), replicas=2, calls=200).run()
    assert np.all(result.x[:, 1] == 0.5) and result.best_fun == pytest.approx(0.375, abs=0.02)
