"""Compares the standing benchmark's results of two versions: which solvers improved, and what is new."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from zoviz.benchmark.paired_comparison import Comparison, compare
from zoviz.benchmark.standard.records import FOLDER, Part, Record, recorded
from zoviz.core.types import Array

_SEED = 0
NEW, OLD = "new", "old"


class Change(NamedTuple):
    """A solver's results in two versions under one noise, with the verdict on the newer one."""

    noise: str
    solver: str
    comparison: Comparison


class VersionComparison(NamedTuple):
    """The results of a version compared with those of another.

    Attributes
    ----------
    new, old : str
        Versions.
    changes : list of Change
        Of every solver that has common problems in both, corrected for their number.
    remarks : list of str
        What only one of them has.
    """

    new: str
    old: str
    changes: list[Change]
    remarks: list[str]


def last_before(record: Record, folder: Path = FOLDER) -> Record | None:
    """Return the record to compare with: the previous version's, else the same version's; None if there is none."""
    records = recorded(record.form, folder)
    others = [one for one in records if one.version != record.version]
    return next(reversed(others or records), None)


def compared_versions(new: Record, old: Record) -> VersionComparison:
    """Compare every solver with itself in another version, by the gap that remains at the end.

    The best is the better one of both, so that both are measured alike. Medians over replicas on the problems that both
    have are pairs; of all solvers and noises together the tests are corrected for their number.
    """
    losses: dict[str, Array] = {}
    pairs, places = list[tuple[str, str]](), list[tuple[str, str]]()
    for noise in new.parts:
        if noise not in old.parts:
            continue
        for solver in _solvers(new.parts[noise]):
            own = _losses(new.parts[noise], old.parts[noise], solver)
            if own:
                names = f"{noise} {solver} {NEW}", f"{noise} {solver} {OLD}"
                losses |= dict(zip(names, map(np.array, zip(*own, strict=True)), strict=True))
                pairs.append(names)
                places.append((noise, solver))
    comparisons = compare(losses, np.random.default_rng(_SEED), pairs) if pairs else []
    changes = [
        Change(noise, solver, one._replace(first=NEW, second=OLD))
        for (noise, solver), one in zip(places, comparisons, strict=True)
    ]
    return VersionComparison(new.version, old.version, changes, _remarks(new, old))


def _solvers(part: Part) -> list[str]:
    return sorted({solver for own in part.cells.values() for solver in own})


def _losses(new: Part, old: Part, solver: str) -> list[tuple[float, float]]:
    """Return what is left of the way at the end, of the new and the old version, on each problem of both."""
    pairs = []
    for problem, cells in new.cells.items():
        if solver not in cells or solver not in old.cells.get(problem, {}):
            continue
        bests = [one.best[problem] for one in (new, old)]
        start = new.starts[problem]
        best = min((one for one in bests if one is not None), default=None)
        if start is None or best is None or not start > best:
            continue
        ends = [cells[solver].merit[-1], old.cells[problem][solver].merit[-1]]
        first, second = (np.inf if end is None else (end - best) / (start - best) for end in ends)
        pairs.append((float(first), float(second)))
    return pairs


def _remarks(new: Record, old: Record) -> list[str]:
    """Return sentences on what only one of two versions has."""
    remarks = []
    for what, first, second in (
        ("problems", list(new.dimensions), list(old.dimensions)),
        ("solvers", _all_solvers(new), _all_solvers(old)),
    ):
        for word, names in (("New", _without(first, second)), ("No longer there", _without(second, first))):
            if names:
                remarks.append(f"{word} {what}: {', '.join(names)}.")
    differing = [name for name, own in new.made_with.items() if old.made_with.get(name) != own]
    if differing:
        remarks.append(f"Made with other versions of {', '.join(differing)}: the last digits may differ.")
    return remarks


def _all_solvers(record: Record) -> list[str]:
    return sorted({solver for part in record.parts.values() for solver in _solvers(part)})


def _without(names: Sequence[str], others: Sequence[str]) -> list[str]:
    return [name for name in names if name not in others]
