"""The guard on trial: runs that are made to diverge, which it has to stop, and good ones, which it must not touch.

50 bad runs of every family: steps 100 and 1000 times too long, without noise and with much of it, and an objective
without a lower bound in a space without bounds. 200 good ones: the defaults of every solver, with and without noise, on
problems on which they converge, from several starts.

    python -m zoviz.papers.robustness.guard              # both, ten minutes or so
    python -m zoviz.papers.robustness.guard --bad 10     # the first ten bad runs alone
    python -m zoviz.papers.robustness.guard --good 20

A bad run's delay is counted from the first of its last rows at which a size is beyond its bound, or objective and
violation both are exactly worse than at the start by three times that, to the iteration at which the guard stopped it;
the slowest replica's counts. Of good runs those are named too that are said to end far from feasible.
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator
from typing import Any, NamedTuple

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


def judge(cases: list[Case], diverging: bool) -> int:
    """Print a line for every run on which the guard erred, and the table's line; return how many there were."""
    wrong, far, delays = 0, 0, []
    for case in cases:
        run = case.run()
        stopped = len(run.divergences) == REPLICAS and run.status == "diverged" and not run.result.success.any()
        if diverging:
            delays.append(delay(run))
        elif "far from feasible" in run.message:
            far += 1
            print(f"  {case.name}, seed {case.seed}: {run.message}", flush=True)
        if diverging != stopped or (not diverging and run.divergences):
            wrong += 1
            print(f"  {case.name}, seed {case.seed}: {run.status}. {run.message}", flush=True)
    finite = [one for one in delays if np.isfinite(one)]
    kind, mistake = ("bad", "not stopped") if diverging else ("good", "touched")
    late = f"; the others at most {max(finite):.0f} iterations late, {np.mean(finite):.0f} on average" if finite else ""
    said = "" if diverging else f", {far} said to end far from feasible"
    print(f"{len(cases)} {kind} runs: {wrong} {mistake}{said}{late}.")
    return wrong


def main(arguments: list[str] | None = None) -> None:
    """Try the guard, and print what it did."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bad", type=int, default=None, help="so many bad runs, and no good ones unless asked for")
    parser.add_argument("--good", type=int, default=None, help="so many good runs")
    options: Any = parser.parse_args(arguments)
    both = options.bad is None and options.good is None
    if both or options.bad:
        judge(list(bad())[: options.bad], diverging=True)
    if both or options.good:
        judge(list(good())[: options.good], diverging=False)


if __name__ == "__main__":
    main()
