"""The cost of a study before it is run: its calls, and its time by short trials of its runs."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

from zoviz.runs.engine.spec import RunSpec
from zoviz.runs.run import Run
from zoviz.studies.study import Study

_SHORT, _LONG = 1, 4
"""Sweeps of n + 1 calls of the two trials of a run: what they differ by is the time of calls and steps alone."""
_LONGEST = 20.0
"""Seconds for all trials together; what is not tried by then counts with the mean of the others."""


class Cost(NamedTuple):
    """The runs that a study has still to do, and their cost.

    Attributes
    ----------
    runs : int
    calls : int
        Of all replicas together; 0 where a run has no budget of calls.
    seconds : float
        Processor time of all runs; NaN where nothing could be tried.
    tried : int
        Runs that were tried for it.
    """

    runs: int
    calls: int
    seconds: float
    tried: int


def cost_of(study: Study) -> Cost:
    """Return the cost of a study's missing runs, estimated by trials that are neither stored nor counted.

    A trial costs calls of the black box: four sweeps of n + 1 for each replica of each run, at most.
    """
    specs = [study.spec(cell.id) for cell in study.missing]
    calls = sum((one.calls or 0) * one.replicas for one in specs)
    seconds = list(_estimates(specs))
    mean = sum(seconds) / len(seconds) if seconds else float("nan")
    whole = sum(seconds) + mean * (len(specs) - len(seconds)) if specs else 0.0
    return Cost(len(specs), calls, whole, len(seconds))


def _estimates(specs: Iterable[RunSpec]) -> Iterator[float]:
    """Return the estimated seconds of runs with a budget of calls, as many as there is time for."""
    began = time.perf_counter()
    for spec in specs:
        if time.perf_counter() - began > _LONGEST:
            return
        budget = spec.calls
        if budget is None:
            continue
        sweep = spec.problem.domain.n + 1
        short, long = (min(sweeps * sweep, budget) for sweeps in (_SHORT, _LONG))
        first = _seconds(spec, short)
        each = (_seconds(spec, long) - first) / (long - short) if long > short else 0.0
        yield first + max(each, 0.0) * (budget - short)


def _seconds(spec: RunSpec, calls: int) -> float:
    """Return how long a run with ``calls`` takes; a run that fails is timed until then."""
    trial = spec.replaced(problem=spec.problem.clone(), solver=spec.solver.clone(), calls=calls)
    began = time.perf_counter()
    with suppress(Exception):  # a black box may raise anything; the study's own run will say it
        Run.of(trial).run()
    return time.perf_counter() - began
