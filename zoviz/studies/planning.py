"""How long experiments take, by the recorded seconds of their parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from zoviz.studies.reproduction import Reproduction


class Plan(NamedTuple):
    """What is still to be measured of an experiment, and how long it takes.

    Attributes
    ----------
    experiment : str
        Its name on the command line.
    missing, parts : int
        Parts to measure, and all parts.
    seconds : float
        Of the missing parts; NaN where one of them was never recorded.
    """

    experiment: str
    missing: int
    parts: int
    seconds: float


def plans(works: Sequence[Reproduction], records: Sequence[Reproduction], workers: int = 1) -> list[Plan]:
    """Return a plan for each experiment, at the pace of what this folder's results took beside the recorded ones.

    Parameters
    ----------
    works, records : sequence of Reproduction
        The results of a folder, and the recorded ones of the same experiments.
    workers : int
        Processes that share the parts of an experiment.
    """
    pace = _pace(works, records)
    return [
        Plan(
            work.experiment.slug(),
            len(work.missing),
            len(work.experiment.parts()),
            pace * _shared([_seconds(record, part) for part in work.missing], workers),
        )
        for work, record in zip(works, records, strict=True)
    ]


def _seconds(work: Reproduction, part: str) -> float:
    return float(work.parts[part]["seconds"]) if part in work.parts else float("nan")


def _shared(seconds: Sequence[float], workers: int) -> float:
    """Return how long parts take that several processes share: no less than the longest."""
    return max(sum(seconds) / workers, max(seconds, default=0.0))


def _pace(works: Sequence[Reproduction], records: Sequence[Reproduction]) -> float:
    """Return how long parts took here over how long they took when they were recorded; 1 where none is in both."""
    both = [
        (_seconds(work, part), _seconds(record, part))
        for work, record in zip(works, records, strict=True)
        for part in work.parts.keys() & record.parts.keys()
    ]
    here, there = (sum(column) for column in zip(*both, strict=True)) if both else (1.0, 1.0)
    return here / there if here > 0.0 and there > 0.0 else 1.0
