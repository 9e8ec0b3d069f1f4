"""Every column of every trace stands on the page of columns, with its shape."""

from __future__ import annotations

import re

import numpy as np

from helpers.every_pair import EACH_PAIR, run_of
from helpers.project import ROOT
from zoviz import Run
from zoviz.core.registry import discover
from zoviz.oracle import Purpose
from zoviz.problems.base import Problem
from zoviz.runs.engine import columns as names
from zoviz.runs.engine.columns import CALLS, CALLS_FOR

SIZES = {"rows": 1, "rows, R": 2, "rows, R, j": 3}
PAGE = (ROOT / "docs" / "reference" / "trace_columns.md").read_text(encoding="utf-8")
LINES = [
    [cell.strip().strip("`") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    for line in PAGE.splitlines()
    if line.startswith("| `")
]
"""The cells of the page's tables, but for the heads."""
OF_ALL = {line[0]: line[1] for line in LINES if line[1] in SIZES and not line[0].endswith("...")}
"""Shapes of columns that any problem may have, by name."""
KINDS = {line[0].removesuffix("..."): line[1] for line in LINES if line[0].endswith("...")}
"""Shapes of columns of which there are several, by what their names begin with."""
OF_ONE = {(line[0], line[1]): "rows, R" for line in LINES if line[1] not in SIZES}
"""Shapes of columns of one problem, by its name and theirs."""


def shape_of(name: str, problem: str = "") -> int | None:
    """The number of dimensions that the page says of a column; None for one that is not on it."""
    kind = next((own for begin, own in KINDS.items() if name.startswith(begin)), "")
    return SIZES.get(OF_ONE.get((problem, name)) or OF_ALL.get(name) or kind)


@EACH_PAIR
def test_every_column_of_a_pair_is_on_the_page(solver: str, problem: str) -> None:
    run = run_of(solver, problem, iterations=2)
    run.run()
    shapes = {name: np.ndim(values) for name, values in run.trace.snapshot().columns.items()}
    assert shapes == {name: shape_of(name, type(run.problem).__name__) for name in shapes}
    assert_adds_up(run)


def assert_adds_up(run: Run) -> None:
    """Every call stands in the ledger once, in results and in the trace's rows."""
    ledger, columns = run.result.ledger, run.trace.snapshot().columns
    assert np.array_equal(sum(ledger.calls.values()), run.result.calls)
    assert np.array_equal(sum(ledger.failed.values(), np.zeros_like(run.result.failures)), run.result.failures)
    purposes = [values for name, values in columns.items() if name.startswith(CALLS_FOR)]
    assert np.array_equal(np.nan_to_num(purposes).sum(axis=0), columns[CALLS])
    assert set(ledger.calls) <= {str(purpose) for purpose in Purpose}


def test_the_page_has_each_column_once_with_unit_and_meaning() -> None:
    assert len(LINES) == len(OF_ALL) + len(KINDS) + len(OF_ONE) and all(len(line) == 4 and all(line) for line in LINES)
    assert {problem for problem, _ in OF_ONE} <= discover("zoviz.problems", Problem).keys()
    assert not {name for _, name in OF_ONE} & OF_ALL.keys()


def test_every_name_of_the_module_is_on_the_page() -> None:
    known = " ".join([*OF_ALL, *KINDS, *(name for _, name in OF_ONE)])
    assert [value for name, value in vars(names).items() if name.isupper() and value.strip() not in known] == []


def test_a_kind_is_known_by_what_its_names_begin_with() -> None:
    assert shape_of("bound: splm (5)") == 2 and shape_of("weather") is None
