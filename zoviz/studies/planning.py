"""Estimates how long experiments take on this machine now, from the recorded seconds of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zoviz.studies.pace import reference_seconds
from zoviz.studies.reproduction import Reproduction

_REPEATS = 5
"""Of the piece of work that machines are compared by, whose median is taken."""


class Plan(NamedTuple):
    """What remains to be measured of an experiment, and how long that takes.

    Attributes
    ----------
    experiment : str
        Its name on the command line.
    missing, parts : int
        Parts to measure, and all parts.
    seconds : float
        Of the missing parts; NaN where no part was ever measured.
    """

    experiment: str
    missing: int
    parts: int
    seconds: float


def plans(works: Sequence[Reproduction], records: Sequence[Reproduction], workers: int = 1) -> list[Plan]:
    """Return a plan for each experiment.

    A part takes its seconds over those of the piece of work that was timed with it, times what that takes here and now;
    where parts of the experiment are in the folder, the others are as much slower than recorded as these were.

    Parameters
    ----------
    works, records : sequence of Reproduction
        The results of a folder, and the recorded ones of the same experiments.
    workers : int
        Processes that share the parts of an experiment.
    """
    now = float(np.median([reference_seconds() for _ in range(_REPEATS)]))
    return [
        Plan(
            work.experiment.slug(),
            len(work.missing),
            len(work.experiment.parts()),
            now * _shared(_costs(work, record), workers),
        )
        for work, record in zip(works, records, strict=True)
    ]


def _costs(work: Reproduction, record: Reproduction) -> list[float]:
    """Return the costs of the missing parts, in units of the piece of work; of those never measured, the mean's."""
    here, there = (
        {part: entry["seconds"] / entry["reference"] for part, entry in one.parts.items()} for one in (work, record)
    )
    both = here.keys() & there.keys()
    before = sum(there[part] for part in both)
    pace = sum(here[part] for part in both) / before if before else 1.0
    known = {part: pace * cost for part, cost in there.items()} | here
    mean = sum(known.values()) / len(known) if known else float("nan")
    return [known.get(part, mean) for part in work.missing]


def _shared(costs: Sequence[float], workers: int) -> float:
    """Return how long parts take that several processes share: no less than the longest."""
    return max(sum(costs) / workers, max(costs, default=0.0))
