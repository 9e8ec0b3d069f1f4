"""Cheap runs, and whether two of them agree to the bit."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz import Run
from zoviz.core.types import Array
from zoviz.problems import LoadTracking, NonconvexQCQP, Problem
from zoviz.solvers import ZOCEG, Solver


def small(**settings: Any) -> Run:
    """A cheap run: 5 loads, coordinate differences."""
    problem = LoadTracking(n=5, curtailment=40.0)
    return Run(**({"problem": problem, "solver": ZOCEG(), "replicas": 2, "seed": 3} | settings))


def columns(run: Run) -> dict[str, Array]:
    return {name: column for name, column in run.trace.snapshot().columns.items() if name != "seconds"}


def leaves(state: Any) -> list[Any]:
    """The arrays and numbers of a state, those of the value inside it too."""
    return [leaf for part in state for leaf in leaves(part)] if isinstance(state, tuple) else [state]


def assert_same_bits(one: Run, other: Run, calls: bool = True) -> None:
    """Iterates, duals, averages, calls in all and every column of the trace but the clock's."""
    for a, b in zip(leaves(one.state), leaves(other.state), strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(one.result.x, other.result.x)
    if calls:
        np.testing.assert_array_equal(one.result.calls, other.result.calls)
    assert one.progress.iteration == other.progress.iteration
    assert columns(one).keys() == columns(other).keys()
    for name, column in columns(one).items():
        np.testing.assert_array_equal(column, columns(other)[name], err_msg=name)


def assert_replays_and_stands_alone(problem: Problem, solver: Solver, iterations: int, start: Array) -> None:
    """A run of three replicas replays to the bit, and its first is what it would be alone; all have left the start."""
    settings = {"problem": problem, "solver": solver, "iterations": iterations, "seed": 2}
    many, alone = Run(replicas=3, **settings), Run(replicas=1, **settings)
    many.run()
    alone.run()
    again = many.replay()
    again.run()
    np.testing.assert_array_equal(again.result.x, many.result.x)
    np.testing.assert_array_equal(alone.result.x[0], many.result.x[0])
    assert (many.result.x != start).any(axis=1).all()


def qcqp(**noise: Any) -> Problem:
    return NonconvexQCQP(n=8, seed=1, **noise)
