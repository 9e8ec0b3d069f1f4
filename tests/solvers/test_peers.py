"""Other libraries' optimisers: the same course as by themselves, exact counts, pure steps, and nothing left behind."""

from __future__ import annotations

import gc
import importlib.util
import itertools
import pickle
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest

from zoviz.oracle import Oracle
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.sets import Ball
from zoviz.solvers import CMAES, COBYLA, COBYQA, NOMAD, SLSQP, Solver, TrustConstr
from zoviz.solvers.peers.base import Peer
from zoviz.solvers.peers.course import Course, Ended, Request, Task
from zoviz.streams import Streams
from zoviz.types import Array, Evaluation, OracleError

ROOT = Path(__file__).resolve().parents[2]
FIXED: dict[type[Peer], dict[str, Any]] = {
    COBYLA: {"initial_radius": 0.8, "final_radius": 1e-6},
    COBYQA: {"initial_radius": 0.8, "final_radius": 1e-6},
    SLSQP: {"difference": 1e-7, "tolerance": 1e-10},
    TrustConstr: {"difference": 1e-7, "tolerance": 1e-8, "initial_radius": 1.0, "keep_feasible": True},
    CMAES: {"initial_width": 0.2, "population_factor": 1.0},
    NOMAD: {"initial_radius": 0.8, "models": False},  # its models take most of its time
}
BOUNDS = ((-4.0, 4.0), (-4.0, 4.0))
START = [-2.5, 1.2]


def mark(cls: type[Peer]) -> Any:
    missing = [name for name in cls.needs if importlib.util.find_spec(name) is None]
    reason = f'{", ".join(missing)} missing: python -m pip install "zoviz[{cls.extra}]"'
    return pytest.param(cls, id=cls.__name__, marks=pytest.mark.skipif(bool(missing), reason=reason))


def each(*classes: type[Peer]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("cls", [mark(cls) for cls in classes])


EACH = each(*FIXED)
POINTWISE = each(COBYLA, COBYQA, NOMAD)
IN_PROCESS = each(COBYLA, COBYQA, SLSQP, TrustConstr, CMAES)


class Simulation:
    """Problem 22 of Hock and Schittkowski as one joint simulation that notes every point."""

    def __init__(self) -> None:
        self.seen: list[Array] = []

    def __call__(self, x: Array) -> tuple[float, Array]:
        self.seen.append(np.array(x))
        f = (x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2
        return float(f), np.array([x[0] + x[1] - 2.0, x[0] ** 2 - x[1]])


class Kept:
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


def alone(cls: type[Peer], seed: int) -> Array:
    """The points that the library evaluates by itself."""
    from scipy.optimize import BFGS, Bounds, NonlinearConstraint, minimize

    box, kept, options = Bounds([-4, -4], [4, 4]), Kept(), FIXED[cls]
    h = NonlinearConstraint(kept.h, -np.inf, 0.0)
    if cls is COBYLA:
        minimize(kept.f, START, method="COBYLA", bounds=box, constraints=h, options={"rhobeg": 0.8, "tol": 1e-6})
    elif cls is COBYQA:
        radii = {"initial_tr_radius": 0.8, "final_tr_radius": 1e-6}
        minimize(kept.f, START, method="COBYQA", bounds=box, constraints=h, options=radii)
    elif cls is SLSQP:
        above = {"type": "ineq", "fun": lambda x: -kept.h(x), "jac": lambda x: -kept.slopes(x)[1]}
        slope, options = (lambda x: kept.slopes(x)[0]), {"ftol": 1e-10}
        minimize(kept.f, START, method="SLSQP", jac=slope, bounds=box, constraints=above, options=options)
    elif cls is TrustConstr:
        h = NonlinearConstraint(kept.h, -np.inf, 0.0, jac=lambda x: kept.slopes(x)[1], hess=BFGS())
        box = Bounds([-4, -4], [4, 4], keep_feasible=True)
        slope, options = (lambda x: kept.slopes(x)[0]), {"gtol": 0, "xtol": 1e-8, "barrier_tol": 1e-8}
        minimize(kept.f, START, method="trust-constr", jac=slope, bounds=box, constraints=h, options=options)
    elif cls is CMAES:
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
        kept.f(np.array(START))  # charged here, not asked for by pycma
        fitness = cma.ConstrainedFitnessAL(kept.f, lambda x: kept.h(x).tolist(), logging=0, archives=False)
        strategy = cma.CMAEvolutionStrategy(START, 0.2, settings)
        strategy.optimize(fitness, iterations=25, callback=fitness.update)
    else:
        import PyNomad

        def evaluate(point: Any) -> int:
            f, h = kept(np.array([point.get_coord(i) for i in range(2)]))
            point.setBBO(f"{f!r} {float(h[0])!r} {float(h[1])!r}".encode())
            return 1

        lines = ["DIMENSION 2", "BB_OUTPUT_TYPE OBJ PB PB", "DISPLAY_DEGREE 0", "QUAD_MODEL_SEARCH no"]
        lines += ["EVAL_QUEUE_SORT DIR_LAST_SUCCESS"]
        lines += ["INITIAL_FRAME_SIZE ( 0.8 0.8 )", f"SEED {seed % 10_000}"]
        PyNomad.optimize(evaluate, START, [-4.0, -4.0], [4.0, 4.0], lines)
    return np.stack(kept.simulation.seen)


@EACH
@pytest.mark.filterwarnings("ignore:delta_grad == 0.0:UserWarning")  # SciPy by itself; the peer is quiet
def test_the_course_is_the_librarys_own_point_by_point(cls: type[Peer]) -> None:
    simulation = Simulation()
    box = BlackBox(simulation, scaled=False, bounds=BOUNDS, x0=START, m=2, joint=True)
    run = Run(problem=box, solver=cls(**FIXED[cls]), replicas=1, iterations=25 if cls is CMAES else 2000)
    result = run.run()
    mine, its = np.stack(simulation.seen), alone(cls, int(run.state.history.seeds[0]))
    assert result.calls[0] == len(mine) == len(its)
    np.testing.assert_array_equal(mine, its)
    if cls is not CMAES:  # which was cut short
        assert run.status == "finished" and "has ended in every replica" in run.message
        assert result.fun[0] == pytest.approx(1.0, abs=1e-5)


@EACH
def test_the_optimum_of_known_problems_with_the_rules_own_values(cls: type[Peer]) -> None:
    slow = {"models": False} if cls is NOMAD else {}
    run = Run(problem=BlackBox(scaled=False), solver=cls(**slow), replicas=2, calls=350 if cls is NOMAD else 700)
    result = run.run()
    np.testing.assert_allclose(result.best_value, 1.0, atol=1e-3 if cls is NOMAD else 1e-4)
    np.testing.assert_allclose(result.fun, result.best_value, atol=1e-5)
    qcqp = NonconvexQCQP(n=2 if cls is NOMAD else 4, seed=2)
    run = Run(problem=qcqp, solver=cls(**slow), replicas=2, calls=200 if cls is NOMAD else 1500)
    result = run.run()
    optimum = qcqp.known_optimum
    np.testing.assert_allclose(result.fun - optimum.value, 0.0, atol=2e-3)
    assert (result.maxcv <= 1e-6).all() and result.success.all()
    if cls in (SLSQP, TrustConstr, CMAES):
        np.testing.assert_allclose(result.multipliers, np.broadcast_to(optimum.multipliers, (2, 1)), rtol=0.05)
    else:
        assert np.isnan(result.multipliers).all(), "unknown, not zero"


@EACH
@pytest.mark.parametrize("calls", [9, 13])
def test_the_budget_ends_it_and_every_call_is_counted(cls: type[Peer], calls: int) -> None:
    simulation = Simulation()
    run = Run(
        problem=BlackBox(simulation, scaled=False, bounds=BOUNDS, m=2, joint=True), solver=cls(**FIXED[cls]), replicas=3
    )
    run.calls = calls
    result = run.run()
    assert run.status == "finished" and f"budget of {calls} oracle calls is spent" in run.message
    assert result.calls.sum() == len(simulation.seen)
    widest = cls(**FIXED[cls]).width(2)
    assert (result.calls <= calls).all() and (result.calls > calls - widest).all()
    if widest == 1:
        assert (result.calls == calls).all()


@EACH
def test_the_rule_costs_no_call_where_there_is_no_noise_to_measure(cls: type[Peer]) -> None:
    calls = {}
    for noise in ("deterministic", "independent"):
        simulation = Simulation()
        box = BlackBox(
            simulation, scaled=False, bounds=BOUNDS, x0=START, m=2, joint=True, noise=noise, noise_scale=1e-3
        )
        run = Run(problem=box, solver=cls(), replicas=1, iterations=0)
        calls[noise] = int(run.run().calls[0])
        assert calls[noise] == len(simulation.seen)
        assert set(run.resolved) == set(cls().suggestible())
    assert calls["deterministic"] == 1 and (calls["independent"] == 1 or cls.measures)


@IN_PROCESS
def test_a_replica_that_ends_early_is_not_charged_any_more(cls: type[Peer]) -> None:
    # Every replica by itself ends after as many calls as among others.
    together = Run(problem=BlackBox(scaled=False), solver=cls(**FIXED[cls]), replicas=3, iterations=900)
    result = together.run()
    assert together.status == "finished" and "has ended in every replica" in together.message
    assert len(set(result.calls)) > 1
    one = Run(problem=BlackBox(scaled=False), solver=cls(**FIXED[cls]), replicas=1, iterations=900).run()
    assert one.calls[0] == result.calls[0]
    np.testing.assert_array_equal(one.x[0], result.x[0])
    assert np.isfinite(together.trace["objective"][-1]).all(), "a replica that has ended still has a value"


class World:
    """A peer at work by hand."""

    def __init__(self, solver: Peer, problem: Any, replicas: int = 2) -> None:
        self.solver, self.streams = solver, Streams(0, replicas)
        self.oracle = Oracle(problem, self.streams)
        self.state = solver.init(problem.initial(self.streams), self.oracle, self.streams)

    def step(self, times: int = 1) -> Any:
        for _ in range(times):
            self.state, self.info = self.solver.step(self.state, self.oracle, self.streams)
        return self.state


def same(one: Any, other: Any) -> None:
    for mine, its in zip([*one[:2], *one.value, one.ended], [*other[:2], *other.value, other.ended], strict=True):
        np.testing.assert_array_equal(mine, its)


@EACH
def test_a_step_is_pure_and_replays_at_no_call(cls: type[Peer]) -> None:
    world = World(cls(**FIXED[cls]), NonconvexQCQP(n=3))
    early = world.step(4)
    late = world.step(5)
    before = world.oracle.calls.copy()
    again, _ = world.solver.step(early, world.oracle, world.streams)
    cost = world.oracle.calls - before
    stored = pickle.loads(pickle.dumps(early))
    assert len(stored.history) == len(early.history)
    twin = cls(**FIXED[cls])
    for solver, state in ((twin, early), (twin, stored), (world.solver, stored)):
        before = world.oracle.calls.copy()
        other, _ = solver.step(state, world.oracle, world.streams)
        same(other, again)
        np.testing.assert_array_equal(world.oracle.calls - before, cost)
    for _ in range(4):
        again, _ = world.solver.step(again, world.oracle, world.streams)
    same(again, late)
    world.solver.close()
    twin.close()


def until(condition: Any, seconds: float = 20.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.01)


def alive() -> list[Any]:
    import greenlet

    gc.collect()
    found = [o for o in gc.get_objects() if isinstance(o, greenlet.greenlet)]
    return [o for o in found if not o.dead and o.parent is not None]


@EACH
def test_start_step_pause_resume_and_stop_leave_nothing_behind(cls: type[Peer]) -> None:
    here = psutil.Process()
    known = alive(), here.children()
    run = Run(problem=NonconvexQCQP(n=3), solver=cls(**FIXED[cls]), replicas=2).start(steps=3)
    until(lambda: run.status == "paused")
    assert run.progress.iteration == 3
    run.step(2)
    until(lambda: run.status == "paused" and run.progress.iteration == 5)
    run.resume()
    until(lambda: run.progress.iteration > 6 or not run.active)
    run.stop()
    result = run.wait(20)
    assert run.status in ("stopped", "finished") and np.isfinite(result.x).all()
    assert (alive(), here.children()) == known


@EACH
def test_a_solver_that_is_forgotten_leaves_nothing_behind(cls: type[Peer]) -> None:
    known = alive(), psutil.Process().children()
    world = World(cls(**FIXED[cls]), NonconvexQCQP(n=3))
    world.step(2)
    assert len(alive()) == len(known[0]) + 2
    del world
    assert (alive(), psutil.Process().children()) == known


@each(NOMAD)
def test_a_child_ends_with_its_parent(cls: type[Peer]) -> None:
    script = """
import os, psutil
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import NOMAD
from zoviz.streams import Streams
problem, streams = NonconvexQCQP(n=3), Streams(0, 2)
oracle, solver = Oracle(problem, streams), NOMAD(initial_radius=0.8)
state = solver.init(problem.initial(streams), oracle, streams)
print(*[child.pid for child in psutil.Process().children()], flush=True)
os._exit(0)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, cwd=ROOT)
    pids = [int(pid) for pid in done.stdout.split()]
    assert len(pids) == 2, done.stderr
    until(lambda: not any(psutil.pid_exists(pid) and psutil.Process(pid).status() != "zombie" for pid in pids))


@EACH
def test_a_fork_and_a_replay_take_the_same_course(cls: type[Peer]) -> None:
    run = Run(problem=NonconvexQCQP(n=3), solver=cls(**FIXED[cls]), replicas=2, iterations=12)
    run.run()
    again = Run.replay(run)
    again.run()
    same(run.state, again.state)
    fork = run.fork(at=5, iterations=12)
    fork.run()
    same(run.state, fork.state)


def test_what_the_black_box_raises_ends_the_run_and_unwinds_the_stacks() -> None:
    pytest.importorskip("greenlet", reason='python -m pip install "zoviz[peers]"')
    known, count = alive(), itertools.count()

    def breaks(x: Array) -> tuple[float, Array]:
        if next(count) > 20:
            raise RuntimeError("the mesh is tangled")
        return Simulation()(x)

    box = BlackBox(breaks, scaled=False, bounds=BOUNDS, m=2, joint=True)
    run = Run(problem=box, solver=COBYLA(**FIXED[COBYLA]), replicas=2, calls=50)
    with pytest.raises(Exception, match="the mesh is tangled"):
        run.run()
    assert run.status == "failed" and alive() == known


@pytest.mark.skipif(importlib.util.find_spec("greenlet") is None, reason='python -m pip install "zoviz[peers]"')
class TestCourse:
    TASK = Task(np.zeros(2), -np.ones(2), np.ones(2), 1, "deterministic", 0)

    def test_a_forgotten_one_takes_its_stack_with_it(self) -> None:
        unwound = []

        def play(task: Task, ask: Any) -> Ended:
            try:
                while True:
                    ask(task.start[None])
            finally:
                unwound.append(True)

        course = Course(play, self.TASK)
        assert course.wanted.shape == (1, 2)
        del course
        gc.collect()
        assert unwound == [True]

    def test_it_is_held_and_ends(self) -> None:
        def play(task: Task, ask: Any) -> Ended:
            f, h = ask(task.start[None], np.array([-1.0]))
            ask(None)
            return Ended(f"{f[0]} {h[0, 0]}", np.array([2.0]))

        course = Course(play, self.TASK)
        assert course.dual.tolist() == [0.0] and isinstance(Request(course.wanted, None), Request)
        course.answer(Evaluation(np.array([3.0]), np.array([[4.0]])))
        assert course.wanted is None and course.message == ""
        course.settle()
        assert course.wanted is None and course.message == "3.0 4.0" and course.dual.tolist() == [2.0]


class Faulty(COBYLA):
    """Raises in its second replica, or in every one."""

    __abstract = True
    everywhere = False

    def play(self, task: Task, ask: Any) -> Ended:
        ask(task.start[None])
        if self.everywhere or task.start[0] > 0.0:
            raise ArithmeticError("singular")
        return Ended("done")


@each(COBYLA)
def test_an_error_of_a_library_ends_its_replica_and_all_of_them_the_run(cls: type[Peer]) -> None:
    starts = NonconvexQCQP(n=2).initial(Streams(0, 8))[:, 0]
    assert (starts > 0).any() and (starts < 0).any()
    run = Run(problem=NonconvexQCQP(n=2), solver=Faulty(**FIXED[cls]), replicas=8, calls=5)
    run.run()
    assert run.status == "finished" and "ArithmeticError: singular" in run.message and "done" in run.message

    class Worse(Faulty):
        __abstract = True
        everywhere = True

    run = Run(problem=NonconvexQCQP(n=2), solver=Worse(**FIXED[cls]), replicas=2, calls=5)
    with pytest.raises(ArithmeticError, match="singular"):
        run.run()


@each(SLSQP)
def test_repeats_are_charged_under_independent_noise_only(cls: type[Peer]) -> None:
    repeats = {}
    for noise in ("deterministic", "common", "independent"):
        simulation = Simulation()
        box = BlackBox(
            simulation, scaled=False, bounds=BOUNDS, x0=START, m=2, joint=True, noise=noise, noise_scale=1e-6
        )
        run = Run(problem=box, solver=cls(difference=1e-2, tolerance=1e-4), replicas=1, iterations=9)
        calls = int(run.run().calls[0])
        assert calls == len(simulation.seen)
        repeats[noise] = calls - len({x.tobytes() for x in simulation.seen})
    assert repeats["deterministic"] == 0
    assert repeats["independent"] == 1, "SciPy asks for h at the start twice; bases of differences are used again"
    assert repeats["common"] >= 2, "a sweep has a base of its own, which shares its noise"


@each(COBYQA)
def test_constraints_asked_for_again_are_free_without_noise_and_charged_with_it(cls: type[Peer]) -> None:
    counts = {}
    for noise in ("deterministic", "independent"):
        simulation = Simulation()
        box = BlackBox(simulation, scaled=False, bounds=BOUNDS, x0=START, m=2, joint=True, noise=noise, noise_scale=0.0)
        counts[noise] = Run(problem=box, solver=cls(**FIXED[cls]), replicas=1, calls=500).run().calls[0]
        assert counts[noise] == len(simulation.seen)
    assert counts["independent"] > counts["deterministic"]


@EACH
def test_a_value_that_is_not_finite(cls: type[Peer]) -> None:
    count = itertools.count()

    def holes(x: Array) -> tuple[float, Array]:
        f, h = Simulation()(x)
        return (float("nan") if next(count) in (14, 15, 16, 17) else f), h

    box = BlackBox(holes, scaled=False, bounds=BOUNDS, m=2, joint=True)
    run = Run(problem=box, solver=cls(**FIXED[cls]), replicas=2, calls=120)
    if not cls.survives:
        with pytest.raises(OracleError, match="Expected finite values"):
            run.run()
        assert run.frozen == 2 and np.isfinite(run.result.x).all()
        return
    result = run.run()
    assert run.frozen == 0 and (result.failures > 0).any() and np.isfinite(result.fun).all()
    assert (result.fun < 1.3).all()


@each(SLSQP, TrustConstr)
@pytest.mark.parametrize("fails", [0, 1, 5])
def test_a_replica_that_fails_is_frozen_and_leaves_the_others_intact(cls: type[Peer], fails: int) -> None:
    starts = BlackBox().initial(Streams(0, 3))
    count = itertools.count()

    def spoiled(x: Array) -> tuple[float, Array]:
        f, h = Simulation()(x)
        return (float("nan") if abs(x - starts[1]).max() < 1e-6 and next(count) >= fails else f), h

    def late(x: Array) -> tuple[float, Array]:
        f, h = Simulation()(x)
        return (float("nan") if abs(x - reached).max() < 1e-6 else f), h

    def run_of(function: Any, iterations: int) -> Run:
        box = BlackBox(function, scaled=False, bounds=BOUNDS, m=2, joint=True)
        return Run(problem=box, solver=cls(**FIXED[cls]), replicas=3, iterations=iterations)

    reached = run_of(Simulation(), 4).run().x[1]
    whole = run_of(Simulation(), 9).run()
    run = run_of(late if fails == 5 else spoiled, 9)
    result = run.run()
    assert run.frozen == 1 and result.success.tolist()[1] is False and result.failures[1] > 0
    assert result.calls[1] < whole.calls[1]
    assert np.isfinite(result.x).all(), "a frozen replica keeps its last good point"
    for other in (0, 2):
        np.testing.assert_array_equal(result.x[other], whole.x[other])
        assert result.calls[other] == whole.calls[other]


@each(CMAES)
def test_pycma_leaves_the_global_random_numbers_alone(cls: type[Peer]) -> None:
    before = np.random.get_state()[1].copy()  # noqa: NPY002 - that it is left alone is the point
    Run(problem=NonconvexQCQP(n=3), solver=cls(**FIXED[cls]), replicas=2, iterations=20).run()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@EACH
def test_what_it_refuses(cls: type[Peer], monkeypatch: pytest.MonkeyPatch) -> None:
    class Round(NonconvexQCQP):
        __abstract = True

        @property
        def domain(self) -> Ball:
            return Ball(np.zeros(self.n), 3.0)

    assert cls().accepts(NonconvexQCQP(n=3)) is None
    assert "needs a box as domain, got a Ball" in cls().accepts(Round(n=3))
    line = BlackBox(lambda x: float(x[0] ** 2), bounds=[(-1.0, 1.0)])
    assert ("needs at least two variables" in (cls().accepts(line) or "")) == (cls is CMAES)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    reason = cls().accepts(NonconvexQCQP(n=3))
    assert "not installed" in reason and f'python -m pip install "zoviz[{cls.extra}]"' in reason


@EACH
def test_unbounded_and_unconstrained(cls: type[Peer]) -> None:
    box = BlackBox(lambda x: float(((x - [0.3, 0.7]) ** 2).sum()), bounds=[(None, 3.0), (-1.0, None)], x0=[1.0, 1.5])
    slow = {"models": False} if cls is NOMAD else {}
    result = Run(problem=box, solver=cls(**slow), replicas=2, calls=600).run()
    np.testing.assert_allclose(result.x, np.broadcast_to([0.3, 0.7], (2, 2)), atol=2e-2)


@EACH
def test_the_rule_widens_what_noise_blurs(cls: type[Peer]) -> None:
    problem = NonconvexQCQP(n=3)
    quiet = cls().suggest(problem, problem.constants)
    loud = cls().suggest(problem, problem.constants._replace(noise=0.1))
    assert set(quiet) == set(cls().suggestible())
    wider = [name for name in quiet if loud[name] > quiet[name]]
    assert all(loud[name] >= quiet[name] for name in quiet) and (wider or cls is NOMAD)
    if "difference" in loud:
        curvature = max(problem.constants.curvature, problem.constants.constraint_curvature)
        assert loud["difference"] == pytest.approx(8**0.25 * np.sqrt(0.1 / curvature))


def test_every_peer_is_in_the_registry_and_has_no_estimator() -> None:
    from zoviz.registry import discover

    found = {c for c in discover("zoviz.solvers", Solver).values() if c.__module__.startswith("zoviz.solvers.peers.")}
    assert found == set(FIXED)
    assert all(cls().estimator is None and cls().live == () for cls in found)


def test_a_run_of_a_peer_has_no_variance_to_show_and_refuses_steering() -> None:
    pytest.importorskip("scipy", reason='python -m pip install "zoviz[peers]"')
    pytest.importorskip("greenlet", reason='python -m pip install "zoviz[peers]"')
    solver = COBYLA(**FIXED[COBYLA])
    run = Run(problem=NonconvexQCQP(n=3), solver=solver, replicas=2).start(steps=4)
    until(lambda: run.status == "paused")
    with pytest.raises(ValueError, match=r"fixed while the run is paused. Stop the run first\.$"):
        solver.final_radius = 1e-3
    run.stop()
    run.wait(20)
    assert {"variance", "dual", "objective"} & set(run.trace.snapshot().columns) == {"objective"}


@pytest.mark.parametrize("cls", FIXED)
def test_a_coordinate_that_the_bounds_fix_stays_where_it_is(cls: type[Peer]) -> None:
    """SciPy's COBYLA and COBYQA would hand out shorter points, and cma refuse."""
    problem = BlackBox(
        lambda x: float(np.square(x - 1.0).sum()),
        lambda x: x.sum() - 2.0,
        [(0.0, 2.0), (0.5, 0.5), (0.0, 2.0)],
        x0=[0.3, 0.5, 0.6],
    )
    result = Run(problem=problem, solver=cls(**FIXED[cls]), replicas=2, calls=200).run()
    assert np.all(result.x[:, 1] == 0.5) and result.best_value == pytest.approx(0.375, abs=0.02)
