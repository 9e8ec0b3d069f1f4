"""Subsets of a benchmark's problems: by kind, and by number of variables."""

from __future__ import annotations

from collections.abc import Mapping

from zoviz.studies.definition import ProblemFacts

_MOST = 6
"""Numbers of variables that are each a part; of more, ranges are."""
_RANGES = ((1, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, 1000), (1001, None))
"""First and last number of variables of the ranges."""
_OTHER = "other"


def by_kind(facts: Mapping[str, ProblemFacts]) -> dict[str, list[str]]:
    """Return the problems of each kind, in the order in which kinds appear."""
    parts: dict[str, list[str]] = {}
    for name, one in facts.items():
        parts.setdefault(one.kind or _OTHER, []).append(name)
    return parts


def by_dimension(facts: Mapping[str, ProblemFacts]) -> dict[str, list[str]]:
    """Return the problems of each number of variables, in growing order; where there are many numbers, of ranges."""
    numbers = sorted({one.n for one in facts.values()})
    ends = [(n, n) for n in numbers] if len(numbers) <= _MOST else _RANGES
    parts = {
        _title(low, high): [name for name, one in facts.items() if low <= one.n <= (one.n if high is None else high)]
        for low, high in ends
    }
    return {title: names for title, names in parts.items() if names}


def _title(low: int, high: int | None) -> str:
    if low == high:
        return f"n = {low}"
    return f"n ≥ {low}" if high is None else f"n = {low} to {high}"
