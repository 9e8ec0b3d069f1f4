"""What a page needs to run an experiment's method live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import CALLS
from zoviz.runs.references import Reference
from zoviz.solvers.base import Solver


class Live(NamedTuple):
    """A run that a page can start: an experiment's method as it was measured.

    Attributes
    ----------
    title : str
        Method and instance in a few words.
    problem : Problem
    solver : Solver
    settings : mapping of str to object
        Replicas, seed, budgets and targets by the names that a page's form has: replicas, seed, iterations, calls,
        samples, seconds, gap, violation, stationarity, stop_at_targets. There is no budget but those that it names.
    parts : tuple of str
        The parts of the experiment that were measured so.
    references : tuple of Reference
    axis : str
        What the plots are drawn against at the beginning.
    log_x : bool
        Whether on a logarithmic axis.
    note : str
        What a reader must know: where it differs from what was measured, and how to read the paper's lines.
    """

    title: str
    problem: Problem
    solver: Solver
    settings: Mapping[str, Any]
    parts: tuple[str, ...] = ()
    references: tuple[Reference, ...] = ()
    axis: str = CALLS
    log_x: bool = False
    note: str = ""
