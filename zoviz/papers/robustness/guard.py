"""The guard on trial: runs that are made to diverge, which it has to stop, and good ones, which it must not touch.

50 bad runs of every family: steps 100 and 1000 times too long, without noise and with much of it, and an objective
without a lower bound in a space without bounds. 200 good ones: the defaults of every solver, with and without noise, on
problems on which they converge, from several starts.

    zoviz reproduce robustness-guard-diverging robustness-guard-converging --full     # ten minutes or so
    zoviz reproduce robustness-guard-diverging --full --only run=0,1,2                # the first three alone

A bad run's delay is counted from the first of its last rows at which a size is beyond its bound, or objective and
violation both are exactly worse than at the start by three times that, to the iteration at which the guard stopped it;
the slowest replica's counts. Of good runs those are named too that are said to end far from feasible.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.core import defaults
from zoviz.core.errors import OracleError
from zoviz.core.types import Array
from zoviz.problems import BlackBox, ConexQCQP, LoadTracking, NonconvexQCQP, QuadraticBilevel, StochasticQP
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import DUAL_NORM, INNER_ERROR, ITERATION, OBJECTIVE, RESIDUAL, SYSTEM_ERROR, VIOLATION
from zoviz.runs.engine.guard import WORSE
from zoviz.runs.run import Run
from zoviz.solvers import (
    ALSPG,
    DSZOG,
    OAGD,
    OGD,
    OGDARR,
    SOBBO,
    SOBOW,
    SOGD,
    ZOALM,
    ZOBCEG,
    ZOCEG,
    ZOEG,
    ZOGD,
    ZOGDA,
    ZOSOGD,
    ZOSPLM,
    ZOSQP,
    LinearisedALM,
    PenaltySGD,
    SampledALM,
    SmoothedALM,
    Solver,
    StormALM,
    SZOConEX,
    ZOConservSGD,
    ZOiALM,
)
from zoviz.studies.experiment import Figures, Measured, Table
from zoviz.studies.trials import Trials

REPLICAS, ITERATIONS = 2, 500
CONSTRAINED: tuple[type[Solver], ...] = (ZOSPLM, ZOCEG, ZOBCEG, ZOEG, SZOConEX, ZOALM, ZOGDA, OGDARR, DSZOG, ZOiALM)
LINEAR: tuple[type[Solver], ...] = (SmoothedALM, StormALM, LinearisedALM, SampledALM, PenaltySGD)
BILEVEL: tuple[type[Solver], ...] = (SOGD, ZOSOGD, OGD, OAGD, SOBOW, SOBBO, ZOGD, ZOConservSGD)
TESTING = (ZOiALM, ZOConservSGD)
"""Those that shorten a step which is too long, or bound it: they do not diverge by their steps."""
_STEPS = ("primal_step", "dual_step", "inner_step", "system_step", "outer_step")


class Case(NamedTuple):
    """A run on trial: what it is called, problem and solver, by how much its steps are lengthened, and its seed."""

    name: str
    problem: Problem
    solver: Solver
    factor: float
    seed: int

    def run(self) -> Run:
        """Return the run, at its end."""
        run = Run(
            problem=self.problem,
            solver=lengthened(self.solver, self.problem, self.factor),
            replicas=REPLICAS,
            seed=self.seed,
            iterations=ITERATIONS,
        )
        try:
            run.run()
        except OracleError:  # every replica is frozen: the run tells by its status
            if run.error is None:
                raise
        return run


def lengthened(solver: Solver, problem: Problem, factor: float) -> Solver:
    """Return a clone of the solver whose steps are ``factor`` times those that its rule chooses."""
    solver = solver.clone()
    if factor == 1.0:
        return solver
    run = Run(problem=problem, solver=solver, replicas=1, iterations=1)
    run.run()
    steps = {name: run.resolved.get(name, getattr(solver, name, None)) for name in _STEPS}
    for name, step in steps.items():
        if step is not None:
            solver.set(name, min(factor * step, 1e6))
    return solver


def falling(x: Array) -> float:
    """Return the value of an objective without a lower bound at x (n,)."""
    return -float(np.square(x) @ np.square(x)) - float(x.sum())


def idle(x: Array) -> list[float]:
    """Return the value of a constraint that holds at every x (n,)."""
    return [-1.0 - float(x @ x)]


def bad() -> Iterator[Case]:
    """Yield the runs that are made to diverge."""
    for (factor, name), cls in itertools.product(((100.0, "steps x 100"), (1000.0, "steps x 1000")), CONSTRAINED):
        if cls in TESTING:
            continue
        yield Case(f"{name}: {cls.__name__}", NonconvexQCQP(n=10), cls(), factor, 1)
    for cls in CONSTRAINED:
        if cls in TESTING:
            continue
        noisy = ConexQCQP(n=10, noise="independent", noise_scale=1.0)
        yield Case(f"noise and steps x 100: {cls.__name__}", noisy, cls(), 100.0, 2)
    for cls in LINEAR:
        yield Case(f"steps x 1000: {cls.__name__}", StochasticQP(n=10, free_variables=10), cls(), 1000.0, 3)
    for cls in BILEVEL:
        if cls in TESTING:
            continue
        yield Case(f"steps x 1000: {cls.__name__}", QuadraticBilevel(n=4, d=5), cls(), 1000.0, 4)
    every: list[type[Solver]] = [*(one for one in CONSTRAINED if one not in TESTING), ALSPG, ZOSQP]
    for cls in every:
        problem = BlackBox(falling, idle, x0=np.full(4, 1.0), bounds=[(None, None)] * 4, noise="deterministic")
        yield Case(f"no lower bound: {cls.__name__}", problem, cls(), 1.0, 5)


def good() -> Iterator[Case]:
    """Yield the runs that converge by their defaults."""
    quiet = (NonconvexQCQP(n=10), LoadTracking(n=10, curtailment=80.0), ConexQCQP(n=10))
    for seed, problem, cls in itertools.product((1, 2, 3, 4), quiet, CONSTRAINED):
        yield Case(f"{type(problem).__name__}: {cls.__name__}", problem, cls(), 1.0, seed)
    noisy = (NonconvexQCQP(n=10, noise="independent", noise_scale=0.01), ConexQCQP(n=10, noise="common"))
    for seed, problem, cls in itertools.product((5, 6), noisy, CONSTRAINED):
        yield Case(f"{type(problem).__name__}, noise: {cls.__name__}", problem, cls(), 1.0, seed)
    for seed, cls in itertools.product((1, 2, 3, 4), LINEAR):
        yield Case(f"StochasticQP: {cls.__name__}", StochasticQP(n=10), cls(), 1.0, seed)
    for seed, cls in itertools.product((1, 2, 3), BILEVEL[:7]):
        yield Case(f"QuadraticBilevel: {cls.__name__}", QuadraticBilevel(n=4, d=5), cls(), 1.0, seed)


def delay(run: Run) -> float:
    """Return the iterations from the blow-up to the stop, the slowest replica's; infinite where one went on."""
    if len(run.divergences) < run.replicas:
        return np.inf
    return float(max(one.iteration - _blow_up(run, one.replica, one.iteration) for one in run.divergences))


def _blow_up(run: Run, replica: int, stop: int) -> int:
    """Return the iteration from which on a replica is beyond a bound, or far worse than its start in everything."""
    columns = run.trace.snapshot().columns
    iterations = columns[ITERATION]
    until = iterations <= stop
    bad = np.zeros(int(until.sum()), dtype=bool)
    for name in (OBJECTIVE, VIOLATION, DUAL_NORM, INNER_ERROR, SYSTEM_ERROR, RESIDUAL):
        if name in columns:
            size = np.abs(columns[name][until, replica])
            bad |= ~(size <= defaults.LARGEST_GROWTH * max(1.0, size[0]))
    if VIOLATION in columns:
        pair = np.stack([columns[name][until, replica] for name in (OBJECTIVE, VIOLATION)])
        bad |= (pair - pair[:, :1] > WORSE * np.maximum(np.abs(pair[:, :1]), 1.0)).all(axis=0)
    before = np.flatnonzero(~bad)
    return int(iterations[until][min(before[-1] + 1, len(bad) - 1)]) if before.size else 0


class Guarded(Trials):
    """Runs on trial, by their numbers."""

    __abstract = True

    protocol = f"{REPLICAS} replicas, {ITERATIONS} iterations; the runs on which the guard erred, and the sums."
    lines = ("run",)
    diverging: ClassVar[bool]

    @staticmethod
    def cases() -> Iterator[Case]:
        """Yield the runs."""
        raise NotImplementedError

    def trial(self, run: int) -> Figures:
        case = next(itertools.islice(self.cases(), run, None))
        ended = case.run()
        stopped = len(ended.divergences) == REPLICAS and ended.status == "diverged" and not ended.result.success.any()
        return {
            "name": f"{case.name}, seed {case.seed}",
            "message": f"{ended.status}. {ended.message}",
            "wrong": bool(self.diverging != stopped or (not self.diverging and ended.divergences)),
            "far": not self.diverging and "far from feasible" in ended.message,
            "delay": delay(ended) if self.diverging else 0.0,
        }

    def tables(self, measured: Measured) -> list[Table]:
        rows = self.rows(measured)
        late = [one["delay"] for one in rows if np.isfinite(one["delay"])]
        sums = f"{sum(one['wrong'] for one in rows)} wrong, {sum(one['far'] for one in rows)} far from feasible"
        if self.diverging and late:
            sums += f"; the others at most {max(late):.0f} iterations late, {np.mean(late):.0f} on average"
        lines = [(one["name"], one["message"]) for one in rows if one["wrong"] or one["far"]]
        return [Table(self.subject, ("run", "what became of it"), [*lines, (f"{len(rows)} runs", sums)])]


class Diverging(Guarded):
    """The runs that are made to diverge."""

    title = "robustness guard diverging"
    subject = "Runs that are made to diverge, which the guard has to stop"
    sizes: ClassVar = {"quick": {"run": (0,)}, "full": {"run": tuple(range(50))}}
    diverging = True
    cases = staticmethod(bad)


class Converging(Guarded):
    """The runs that converge by their defaults."""

    title = "robustness guard converging"
    subject = "Runs that converge by their defaults, which the guard must not touch"
    sizes: ClassVar = {"quick": {"run": (0,)}, "full": {"run": tuple(range(201))}}
    diverging = False
    cases = staticmethod(good)
