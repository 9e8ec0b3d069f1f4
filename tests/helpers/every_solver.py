"""Every solver and every problem that it accepts, and a solver at work by hand."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import numpy as np
import pytest

from zoviz.core.errors import MissingExtra
from zoviz.core.registry import discover, required
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers import Solver

# A class that another test defines is no concern of this one.
EVERY = {name: cls for name, cls in discover("zoviz.solvers", Solver).items() if cls.__module__[:6] == "zoviz."}
# Methods for special kinds of problem have conformance tests of their own; and without the extra that brings its
# library, a solver accepts nothing and says so.
SOLVERS = {name: cls for name, cls in EVERY.items() if cls().accepts(NonconvexQCQP()) is None}
# Other libraries' optimisers: no estimator, no live parameter, duals that may be unknown (NaN), and steps that are not
# comparable; tests/solvers/external asks how far they come.
PEERS = {name for name, cls in EVERY.items() if cls().estimator is None}
EVERY_PROBLEM = {n: cls for n, cls in discover("zoviz.problems", Problem).items() if cls.__module__[:6] == "zoviz."}
# One that asks for something, as a program's does for the program, has tests of its own.
EVERY_PROBLEM = {name: cls for name, cls in EVERY_PROBLEM.items() if not required(cls)}
# tests/conformance/bilevel has those of other forms.
PROBLEMS = {name: cls for name, cls in EVERY_PROBLEM.items() if cls.form == "constrained"}
OWN = {name: cls for name, cls in SOLVERS.items() if name not in PEERS}
# A step of these fits a model once the design of 2 (n + 1) points is complete: what gets there is slow, and asked for
# in tests/solvers/bayesian.
BAYESIAN = {name for name, cls in EVERY.items() if cls.__module__.startswith("zoviz.solvers.bayesian")}
# A step of these is a small part of what others call an iteration (a single coordinate's): so many count as one.
PARTS = {"ZOiALM": 12}
NOISE = ("deterministic", "common", "independent")
# Every solver is tried on these problems, and every problem with this solver, but for those whose calls are costly:
# their own files run them. The other pairs are slow tests.
CORE_PROBLEMS, CORE_SOLVER = ("NonconvexQCQP", "LoadTracking", "BlackBox"), "ZOSPLM"


@functools.cache
def _problem(name: str) -> Problem:
    """One object of each problem, for questions at collection: their data take longer to make than the answers."""
    return PROBLEMS[name]()


def accepted(solver: str, problem: str) -> bool:
    """Whether the solver takes the problem; where that needs an extra that is missing, its tests are skipped."""
    if solver == "NOMAD" and problem != "BlackBox":
        return False  # every replica of it is a process
    try:
        return SOLVERS[solver]().accepts(_problem(problem)) is None
    except MissingExtra:
        return True


def marks(solver: str, problem: str, contract: str | None = None, long: bool = False) -> list[pytest.MarkDecorator]:
    """Slow, for what need not be tried every time: on each of three core problems a solver meets one noise contract,
    and what takes long is asked on one of them."""
    core = problem in CORE_PROBLEMS or (solver == CORE_SOLVER and not PROBLEMS[problem].costly)
    if problem in CORE_PROBLEMS and solver != CORE_SOLVER and (contract is not None or long):
        turn = list(SOLVERS).index(solver) + CORE_PROBLEMS.index(problem)
        core = turn % 3 == 0 if long else contract == NOISE[turn % 3]
    dear = core and solver in BAYESIAN and _problem(problem).domain.n < 4  # built only if its extra is there
    return [pytest.mark.slow] if not core or dear else []


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
# Each solver on one of the core problems, in turn.
EACH_PAIR_IN_TURN = pytest.mark.parametrize(
    "solver, problem", [pytest.param(*pair, id="-".join(pair), marks=marks(*pair, long=True)) for pair in PAIRS]
)
EACH_PAIR_AND_NOISE = pytest.mark.parametrize(
    "solver, problem, noise",
    [
        pytest.param(*pair, noise, id="-".join((*pair, noise)), marks=marks(*pair, noise))
        for pair, noise in itertools.product(PAIRS, NOISE)
    ],
)


# The suite's cheapest one; its own start is one point, and deterministic methods need more to tell seeds apart. And
# short trials of what is tuned.
SMALL: dict[str, dict[str, Any]] = {
    "Suite": {"problem_name": "HS30", "start_spread": 0.1},
    "BBOBConstrained": {"function": 2, "dimension": 3, "start_spread": 0.1},
    "HMCTuning": {"gradients": 200, "rows": 50},
    "NetworkTuning": {"steps": 3, "loss": "log"},
    "QueueingNetwork": {"customers": 5},
}


def small(name: str, **settings: Any) -> Problem:
    """An instance of modest size."""
    cls, settings = PROBLEMS[name], SMALL.get(name, {}) | settings
    return cls(n=8, **settings) if "n" in cls.param else cls(**settings)


class World:
    """A solver at work by hand, as a run's worker does it."""

    def __init__(self, solver: str, problem: Problem, replicas: int = 3, seed: int = 0) -> None:
        self.problem, self.solver = problem, EVERY[solver]()
        self.streams = Streams(seed, replicas)
        self.oracle = Oracle(problem, self.streams)
        x0 = problem.initial(self.streams)
        suggestions = self.solver.from_constants(
            problem, self.solver.measure_constants(problem, self.oracle, x0, self.streams)
        )
        for name in self.solver.open_scales():
            holder, own = self.solver.owner(name)
            self.solver.set(name, float(np.clip(suggestions[name], *holder.param[own].bounds)))
        self.state = self.solver.init(x0, self.oracle, self.streams)

    def step(self, times: int = 1) -> Any:
        for _ in range(times):
            self.state, self.info = self.solver.step(self.state, self.oracle, self.streams)
        return self.state


def arrays(state: Any) -> list[Array]:
    """Every array of a state, the evaluation's included."""
    results = []
    for part in state:
        if isinstance(part, tuple):
            results += arrays(part)
        elif isinstance(part, np.ndarray):
            results.append(part)
    return results


def final_state(run: Run) -> dict[str, Array]:
    return {name: array for name, array in run.state._asdict().items() if isinstance(array, np.ndarray)}


def finished(solver: str, problem: Problem, replicas: int, iterations: int = 8, seed: int = 0) -> Run:
    run = Run(problem=problem, solver=EVERY[solver](), replicas=replicas, iterations=iterations, seed=seed)
    run.run()
    return run
