"""Other libraries' optimisers, each where its library is installed, at work by hand and looked after."""

from __future__ import annotations

import gc
import importlib.util
from typing import Any

import numpy as np
import pytest

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.solvers import CMAES, COBYLA, COBYQA, NOMAD, SLSQP, TrustConstr
from zoviz.solvers.external.base import ExternalSolver

FIXED: dict[type[ExternalSolver], dict[str, Any]] = {
    COBYLA: {"initial_radius": 0.8, "final_radius": 1e-6},
    COBYQA: {"initial_radius": 0.8, "final_radius": 1e-6},
    SLSQP: {"difference": 1e-7, "tolerance": 1e-10},
    TrustConstr: {"difference": 1e-7, "tolerance": 1e-8, "initial_radius": 1.0, "keep_feasible": True},
    CMAES: {"initial_width": 0.2, "population_factor": 1.0},
    NOMAD: {"initial_radius": 0.8, "models": False},  # its models take most of its time
}
BOUNDS = ((-4.0, 4.0), (-4.0, 4.0))
START = [-2.5, 1.2]


def mark(cls: type[ExternalSolver], slow: bool = False) -> Any:
    missing = [name for name in cls.needs if importlib.util.find_spec(name) is None]
    reason = f'{", ".join(missing)} missing: python -m pip install "zoviz[{cls.extra}]"'
    marks = [pytest.mark.skipif(bool(missing), reason=reason), *([pytest.mark.slow] if slow else [])]
    return pytest.param(cls, id=cls.__name__, marks=marks)


def each(*classes: type[ExternalSolver], slow: tuple[type[ExternalSolver], ...] = ()) -> pytest.MarkDecorator:
    """Each of the classes; those that are ``slow`` are tried by the slow tests alone."""
    return pytest.mark.parametrize("cls", [mark(cls, cls in slow) for cls in classes])


EACH = each(*FIXED)
IN_PROCESS = each(COBYLA, COBYQA, SLSQP, TrustConstr, CMAES)


class Simulation:
    """Problem 22 of Hock and Schittkowski as one joint simulation that notes every point."""

    def __init__(self) -> None:
        self.points: list[Array] = []

    def __call__(self, x: Array) -> tuple[float, Array]:
        self.points.append(np.array(x))
        f = (x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2
        return float(f), np.array([x[0] + x[1] - 2.0, x[0] ** 2 - x[1]])


class World:
    """A peer at work by hand."""

    def __init__(self, solver: ExternalSolver, problem: Any, replicas: int = 2) -> None:
        self.solver, self.streams = solver, Streams(0, replicas)
        self.oracle = Oracle(problem, self.streams)
        self.state = solver.init(problem.initial(self.streams), self.oracle, self.streams)

    def step(self, times: int = 1) -> Any:
        for _ in range(times):
            self.state, self.info = self.solver.step(self.state, self.oracle, self.streams)
        return self.state


def assert_same_states(one: Any, other: Any) -> None:
    for mine, its in zip([*one[:2], *one.value, one.ended], [*other[:2], *other.value, other.ended], strict=True):
        np.testing.assert_array_equal(mine, its)


def alive() -> list[Any]:
    import greenlet

    gc.collect()
    greenlets = [o for o in gc.get_objects() if isinstance(o, greenlet.greenlet)]
    return [o for o in greenlets if not o.dead and o.parent is not None]
