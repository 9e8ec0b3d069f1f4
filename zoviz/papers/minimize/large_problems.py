"""Problems of 20 to 310 variables with known optima, which the studies of ``minimize`` show as black boxes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import ConexQCQP, LoadTracking, NonconvexQCQP
from zoviz.problems.base import Problem

LARGE: dict[str, Callable[[], Problem]] = {
    f"{cls.__name__}{n}": partial(cls, n=n)
    for cls in (LoadTracking, ConexQCQP, NonconvexQCQP)
    for n in (20, 50, 70, 100, 140, 200, 310)
}
"""Makers of the problems, by a name that ends with the number of variables."""


def posed_large(name: str) -> tuple[Problem, Box, Array]:
    """Return a problem of ``LARGE``, its box, and its start (n,): one draw with seed 0, moved into the box."""
    problem = LARGE[name]()
    box = Box.of(problem.domain)
    return problem, box, box.project(problem.initial(Streams(0, 1)))[0]
