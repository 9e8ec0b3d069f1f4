"""Every (solver, problem) pair of the registry, of all kinds of task, as small runs."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from helpers.every_solver import BAYESIAN, EVERY, EVERY_PROBLEM, PEERS, SMALL
from zoviz import Run
from zoviz.core.errors import MissingExtra
from zoviz.estimators import Sphere
from zoviz.problems.base import Problem
from zoviz.solvers import Solver
from zoviz.solvers.linear.base import LinearMethod

ZEROTH = "zeroth-order "
"""Before a linear method's name: the form that sees values only."""
FREE = "StochasticQP with free variables"
"""The only problem from which rows can be eliminated."""
SETTINGS: dict[str, dict[str, Any]] = SMALL | {
    "QuadraticBilevel": {"n": 4, "d": 5},
    "ToyBilevel": {"variant": "rapid"},
    "StochasticQP": {"n": 9},
    FREE: {"n": 9, "free_variables": 4},
}
LINEAR = [name for name, cls in EVERY.items() if issubclass(cls, LinearMethod)]
SOLVERS = [*EVERY, *(ZEROTH + name for name in LINEAR)]
PROBLEMS = [*EVERY_PROBLEM, FREE]
CORE = {"constrained": ("NonconvexQCQP", "BlackBox"), "linear": ("StochasticQP", FREE), "rounds": ("QuadraticBilevel",)}
"""Problems that every solver of their kind is tried on; of the constrained ones each meets one."""
CORE_SOLVERS = ("ZOSPLM", "SmoothedALM", ZEROTH + "SmoothedALM", "SOGD", "ZOSOGD")
"""Solvers that every problem is tried with, but for those that are slow to make."""
HEAVY = {"BlackBoxAttack", "FairClassification", "NetworkSlicing"}
HEAVY |= {name for name, cls in EVERY_PROBLEM.items() if cls.costly}
ALIKE = {"PressureVessel", "SpeedReducer", "Spring"}
"""Designs that differ from the welded beam in their formulas alone."""
BY_VALUES = tuple(ZEROTH + name for name in ("SmoothedALM", "StormALM", "EliminatedSGD"))
"""Linear methods that are tried by values, too, every time: the others take their gradients from the same code."""


def solver_of(name: str) -> Solver:
    if name.startswith(ZEROTH):
        estimator = Sphere(smoothing_radius=None, batch_size=3)
        return EVERY[name.removeprefix(ZEROTH)](gradients="zeroth-order", horizon=100, estimator=estimator)
    return EVERY[name]()


@functools.cache
def _problem(name: str) -> Problem:
    cls, settings = EVERY_PROBLEM[name.split(" ")[0]], SETTINGS.get(name, {})
    return cls(**({"n": 8} if "n" in cls.param and "n" not in settings else {}), **settings)


def problem_of(name: str) -> Problem:
    """A clone; its data are made once, as they take longer than the runs."""
    original = _problem(name)
    try:
        _ = original.domain, original.data
    except MissingExtra as error:
        pytest.skip(str(error))
    return original.clone()


def _accepted(solver: str, problem: str) -> bool:
    if solver == "NOMAD" and problem != "BlackBox":
        return False  # every replica of it is a process
    try:
        return solver_of(solver).accepts(_problem(problem)) is None
    except MissingExtra:
        return True


def _marks(solver: str, problem: str) -> list[pytest.MarkDecorator]:
    if solver in BAYESIAN:
        every_time = problem == "NonconvexQCQP"
    elif solver in PEERS:
        every_time = problem == "BlackBox"
    elif problem in CORE["constrained"]:
        every_time = solver in CORE_SOLVERS or problem == CORE["constrained"][SOLVERS.index(solver) % 2]
    elif problem in CORE["linear"]:
        linear = "linearly constrained" in solver_of(solver).forms
        linear = linear and (solver in BY_VALUES or not solver.startswith(ZEROTH))
        every_time = linear and (problem != FREE or solver in CORE_SOLVERS or solver.endswith("EliminatedSGD"))
    else:
        every_time = problem in CORE["rounds"] or (solver in CORE_SOLVERS and problem not in HEAVY | ALIKE)
    return [] if every_time else [pytest.mark.slow]


PAIRS = [(solver, problem) for solver in SOLVERS for problem in PROBLEMS if _accepted(solver, problem)]
EACH_PAIR = pytest.mark.parametrize(
    "solver, problem", [pytest.param(*pair, id="-".join(pair), marks=_marks(*pair)) for pair in PAIRS]
)


def run_of(solver: str, problem: str, iterations: int = 4, **settings: Any) -> Run:
    """A run of two replicas; the same one whenever it is called."""
    return Run(
        problem=problem_of(problem), solver=solver_of(solver), replicas=2, iterations=iterations, seed=1, **settings
    )
