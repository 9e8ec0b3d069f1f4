"""Problems of 20 to 310 variables with known optima, which the studies of ``minimize`` show as black boxes."""

from __future__ import annotations

from collections.abc import Callable

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import ConexQCQP, LoadTracking, NonconvexQCQP
from zoviz.problems.base import Problem

LARGE: dict[str, Callable[[], Problem]] = {
    "LoadTracking20": lambda: LoadTracking(n=20),
    "LoadTracking100": lambda: LoadTracking(n=100),
    "LoadTracking310": lambda: LoadTracking(n=310),
    "ConexQCQP20": lambda: ConexQCQP(n=20),
    "ConexQCQP50": lambda: ConexQCQP(n=50),
    "ConexQCQP100": lambda: ConexQCQP(n=100),
    "ConexQCQP310": lambda: ConexQCQP(n=310),
    "NonconvexQCQP20": lambda: NonconvexQCQP(n=20),
    "NonconvexQCQP50": lambda: NonconvexQCQP(n=50),
    "NonconvexQCQP100": lambda: NonconvexQCQP(n=100),
    "NonconvexQCQP310": lambda: NonconvexQCQP(n=310),
}
"""Makers of the problems, by a name that ends with the number of variables."""


def posed_large(name: str) -> tuple[Problem, Box, Array]:
    """Return a problem of ``LARGE``, its box, and its start (n,): one draw with seed 0, moved into the box."""
    problem = LARGE[name]()
    box = Box.of(problem.domain)
    return problem, box, box.project(problem.initial(Streams(0, 1)))[0]
