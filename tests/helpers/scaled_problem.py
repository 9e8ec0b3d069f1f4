"""One problem in any units, and short runs of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.types import Array
from zoviz.problems import BlackBox, Problem
from zoviz.solvers import ZOBCEG, ZOCEG, ZOEG, ZOSPLM, Solver

SOLVERS = [ZOCEG, ZOBCEG, ZOSPLM, ZOEG]
EACH_SOLVER = pytest.mark.parametrize("solver", SOLVERS, ids=lambda c: c.__name__)


# --- what a run does with it ------------------------------------------------------------------------------------------


def f_of(x: Array) -> Array:
    return ((x - np.array([0.3, -0.2, 0.6])) ** 2 * np.array([1.0, 2.0, 4.0])).sum(axis=-1) + 0.5 * x[..., 0] * x[
        ..., 1
    ]


def h_of(x: Array) -> Array:
    return np.stack([x.sum(axis=-1) - 0.4, np.square(x).sum(axis=-1) - 0.5], axis=-1)


def in_units(size: Any, f: float, h: Any, level: float = 0.0, **settings: Any) -> BlackBox:
    """The same problem in any units: x_i in ``size``, f in ``f`` above a ``level``, h_i in ``h``."""
    size, h = np.array(size), np.array(h)
    return BlackBox(
        lambda x: level + f * f_of(x / size),
        lambda x: h * h_of(x / size),
        bounds=[(-s, 1.5 * s) for s in size],
        vectorised=True,
        **settings,
    )


def course(problem: Problem, solver: Solver, **settings: Any) -> Run:
    run = Run(problem=problem, solver=solver, **({"replicas": 3, "seed": 2, "iterations": 60} | settings))
    run.run()
    return run
