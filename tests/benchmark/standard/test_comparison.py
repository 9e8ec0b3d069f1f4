"""Versions against each other: the same is the same, what was spoiled is found worse, what is new is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from zoviz.benchmark.paired_comparison import Decision
from zoviz.benchmark.standard.comparison import compared_versions, last_before
from zoviz.benchmark.standard.records import Cell, Part, Record

NAMES = [f"P{k}" for k in range(14)]


def record(version: str, spoiled: float = 0.0, names: list[str] = NAMES, solvers: str = "AB") -> Record:
    """Of each problem the way is from 1 to 0; A ends at 0.1 or so, with a spoiled share more; B where it ends."""
    ends = np.random.default_rng(3).uniform(0.05, 0.15, len(NAMES))
    cells = {
        name: {
            solver: Cell([0.9, 0.5, float(end + spoiled * (solver == "A"))], [2, 0, 0], [5.0, None, None])
            for solver in solvers
        }
        for name, end in zip(names, ends[: len(names)], strict=True)
    }
    part = Part(dict.fromkeys(names, 1.0), dict.fromkeys(names, 0.0), cells, 0)
    return Record(version, "quick", "", 20.0, 2, {"numpy": "2.0"}, dict.fromkeys(names, 3), {"exact values": part})


def test_a_version_against_itself_has_no_change() -> None:
    told = compared_versions(record("2"), record("1"))
    assert [(one.solver, one.comparison.decision) for one in told.changes] == [
        ("A", Decision.CANNOT_TELL),
        ("B", Decision.CANNOT_TELL),
    ]
    assert all(one.comparison.p_value == 1.0 for one in told.changes) and told.remarks == []


def test_what_was_spoiled_is_worse_and_what_was_mended_is_better() -> None:
    worse, same = compared_versions(record("2", spoiled=0.2), record("1")).changes
    assert (worse.solver, worse.comparison.decision) == ("A", Decision.WORSE)
    assert worse.comparison.difference > 0.19 and same.comparison.decision is Decision.CANNOT_TELL
    better, _ = compared_versions(record("2"), record("1", spoiled=0.2)).changes
    assert better.comparison.decision is Decision.BETTER


def test_a_problem_that_is_solved_no_more_counts_as_the_largest_loss() -> None:
    new = record("2")
    for name in NAMES:
        own = new.parts["exact values"].cells[name]
        own["B"] = own["B"]._replace(merit=[None, None, None])
    _, worse = compared_versions(new, record("1")).changes
    assert worse.comparison.decision is Decision.WORSE and worse.comparison.difference == np.inf


def test_only_common_problems_are_compared_and_the_others_are_said() -> None:
    told = compared_versions(record("2", names=[*NAMES[:12], "Q"], solvers="AC"), record("1"))
    (change,) = told.changes
    assert (change.solver, change.comparison.pairs) == ("A", 12)
    assert told.remarks == [
        "New problems: Q.",
        "No longer there problems: P12, P13.",
        "New solvers: C.",
        "No longer there solvers: B.",
    ]


def test_the_last_version_is_compared_with(tmp_path: Path) -> None:
    assert last_before(record("1.0"), tmp_path) is None
    for version in ("1.0", "0.9", "0.10"):
        record(version).write(tmp_path / f"{version}-quick.json")
    assert last_before(record("1.0"), tmp_path).version == "0.10"
    (tmp_path / "0.9-quick.json").unlink()
    (tmp_path / "0.10-quick.json").unlink()
    assert last_before(record("1.0"), tmp_path).version == "1.0"
