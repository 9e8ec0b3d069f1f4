"""The report of the standing benchmark in Markdown: all solvers, weak spots, and the last version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from zoviz.benchmark.courses import LEVELS
from zoviz.benchmark.paired_comparison import Decision
from zoviz.benchmark.standard.comparison import VersionComparison
from zoviz.benchmark.standard.records import Cell, Part, Record
from zoviz.core.registry import discover
from zoviz.solvers.base import Solver

OWN = ("ZOSQP", "Portfolio")
"""Our methods for any black box, whose weak spots are listed."""
_MIDDLE = 1
"""The level of ``LEVELS`` that running times are told of."""


def report(record: Record, comparison: VersionComparison | None = None) -> str:
    """Return the report of a version's results, with what is better or worse than in another version."""
    made_with = ", ".join(f"{name} {version}" for name, version in record.made_with.items())
    lines = [
        f"Version {record.version}, the {record.form} form; made with {made_with}.",
        "",
        record.rule,
        "",
    ]
    for noise, part in record.parts.items():
        failed = f" {part.failures} runs failed and count with their results up to then." if part.failures else ""
        lines += [f"### {noise.capitalize()}", "", f"{len(part.cells)} problems.{failed}", ""]
        lines += [*_table(*solver_table(part, record.replicas)), ""]
        lines += [f"#### Weak spots, {noise}", "", *_weak_spots(part, record.replicas), ""]
    return "\n".join([*lines, *_comparison(comparison)]).rstrip() + "\n"


def solver_table(part: Part, replicas: int) -> tuple[list[str], list[list[str]]]:
    """Return headings and one row per solver, sorted by the number solved to the middle level.

    A peer is another library's. Shares are of the replicas of the problems that it takes.
    """
    cells: dict[str, list[Cell]] = {}
    for own in part.cells.values():
        for solver, cell in own.items():
            cells.setdefault(solver, []).append(cell)
    fastest = _fastest(part)
    peers = {name for name, cls in discover("zoviz.solvers", Solver).items() if cls.external}
    order = sorted(cells, key=lambda name: (-_share(cells[name], _MIDDLE, replicas), name))
    heads = ["Solver", "Problems", *(f"Solved to {tau:g}" for tau in LEVELS), f"Fastest to {LEVELS[_MIDDLE]:g} on"]
    rows = [
        [
            f"{name} (peer)" if name in peers else name,
            str(len(cells[name])),
            *(f"{100 * _share(cells[name], k, replicas):.0f} %" for k in range(len(LEVELS))),
            str(sum(name == one for one in fastest.values())),
        ]
        for name in order
    ]
    return heads, rows


def _share(cells: Sequence[Cell], level: int, replicas: int) -> float:
    return float(np.mean([cell.solved[level] / replicas for cell in cells]))


def _fastest(part: Part) -> dict[str, str]:
    """Return by problem the solver of the least running time to the middle level, where one reached it."""
    times = {problem: _times(own) for problem, own in part.cells.items()}
    return {problem: min(own, key=lambda name: own[name]) for problem, own in times.items() if own}


def _times(own: Mapping[str, Cell]) -> dict[str, float]:
    return {name: ert for name, cell in own.items() if (ert := cell.ert[_MIDDLE]) is not None}


def _weak_spots(part: Part, replicas: int) -> list[str]:
    """Return a table of the problems that another method solved and one of ours did not, or in a fifth of the time."""
    heads = ["Problem", "Fastest", "Sweeps", *(f"{name}: sweeps, solved" for name in OWN)]
    rows = []
    for problem, fastest in _fastest(part).items():
        own, times = part.cells[problem], _times(part.cells[problem])
        weak = [
            name
            for name in OWN
            if name in own and (own[name].solved[_MIDDLE] < replicas or times[name] > 5.0 * times[fastest])
        ]
        if weak:
            words = [
                f"{times[name]:.3g}, {own[name].solved[_MIDDLE]}/{replicas}" if name in times else "never"
                for name in OWN
            ]
            rows.append([problem, fastest, f"{times[fastest]:.3g}", *words])
    nobody = [problem for problem, own in part.cells.items() if not _times(own)]
    lines = [
        f"Problems that one of {' and '.join(OWN)} did not bring to {LEVELS[_MIDDLE]:g} in every replica, or for which "
        "it took more than five times the sweeps of the fastest:",
        "",
        *_table(heads, rows),
    ]
    lines = lines if rows else ["None."]
    return lines + (["", f"No solver reached it on {', '.join(nobody)}."] if nobody else [])


def _comparison(comparison: VersionComparison | None) -> list[str]:
    if comparison is None:
        return []
    lines = [f"### Against version {comparison.old}", ""]
    told = [one for one in comparison.changes if one.comparison.decision in (Decision.BETTER, Decision.WORSE)]
    same = sum(
        one.comparison.difference == one.comparison.lower == one.comparison.upper == 0.0 for one in comparison.changes
    )
    lines += [
        f"Of {len(comparison.changes)} solvers and noises {len(told)} are better or worse, by signed ranks over "
        f"problems corrected by Holm; of {same} most results are the same.",
        "",
    ]
    if told:
        rows = [[one.noise, one.solver, str(one.comparison.decision), f"{one.comparison.p_value:.2g}"] for one in told]
        lines += [*_table(["Noise", "Solver", "Now", "p"], rows), ""]
    return lines + [f"- {remark}" for remark in comparison.remarks]


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [heads, ["---"] * len(heads), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
