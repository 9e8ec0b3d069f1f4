"""Every method for linear constraints, in both its forms, and every kind of linear rows that it accepts."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from zoviz.core.registry import discover
from zoviz.core.streams import Streams
from zoviz.estimators import Sphere
from zoviz.oracle import Oracle
from zoviz.problems import StochasticQP
from zoviz.problems.base import Problem
from zoviz.problems.linear import LinearlyConstrained
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.solvers.linear.base import LinearMethod
from zoviz.solvers.linear.recursive_base import RecursiveMethod

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
    if issubclass(SOLVERS[name], RecursiveMethod) and form == "stochastic":
        # One step serves all of these: the hardest rows that each accepts will do.
        every_time = ("sampled",) if SOLVERS[name].takes_samples else ("inequalities",)
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
        suggestions = self.solver.from_constants(
            problem, self.solver.measure_constants(problem, self.oracle, x0, self.streams)
        )
        self.suggestions = {key: suggestions[key] for key in self.solver.open_scales()}
        for key, value in self.suggestions.items():
            self.solver.set(key, value)
        self.state = self.solver.init(x0, self.oracle, self.streams)

    def step(self, times: int = 1) -> Any:
        for _ in range(times):
            self.state, self.info = self.solver.step(self.state, self.oracle, self.streams)
        return self.state


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
