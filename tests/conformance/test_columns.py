"""Every column of every trace is declared, with its shape."""

from __future__ import annotations

import numpy as np

from helpers.every_pair import EACH_PAIR, run_of
from helpers.every_problem import EACH_CLASS
from zoviz import Run
from zoviz.core.types import Column
from zoviz.oracle import Purpose
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import CALLS, CALLS_FOR, COLUMNS, FAMILIES

SIZES = {"rows": 1, "rows, R": 2, "rows, R, j": 3}


def declared(name: str, problem: Problem | None = None) -> Column | None:
    """The declaration of a column by its full name; None for an unknown one."""
    own = () if problem is None else problem.columns
    exact = next((one for one in (*COLUMNS, *own) if one.name == name), None)
    return exact or next((one for one in FAMILIES if name.startswith(one.name)), None)


@EACH_PAIR
def test_every_column_of_a_pair_is_declared(solver: str, problem: str) -> None:
    run = run_of(solver, problem, iterations=2)
    run.run()
    shapes = {name: np.ndim(values) for name, values in run.trace.snapshot().columns.items()}
    known = {name: declared(name, run.problem) for name in shapes}
    assert not [name for name, one in known.items() if one is None]
    assert shapes == {name: SIZES[one.shape] for name, one in known.items() if one is not None}
    assert_adds_up(run)


def assert_adds_up(run: Run) -> None:
    """Every call stands in the ledger once, in results and in the trace's rows."""
    ledger, columns = run.result.ledger, run.trace.snapshot().columns
    assert np.array_equal(sum(ledger.calls.values()), run.result.calls)
    assert np.array_equal(sum(ledger.failed.values(), np.zeros_like(run.result.failures)), run.result.failures)
    purposes = [values for name, values in columns.items() if name.startswith(CALLS_FOR)]
    assert np.array_equal(np.nan_to_num(purposes).sum(axis=0), columns[CALLS])
    assert set(ledger.calls) <= {str(purpose) for purpose in Purpose}


@EACH_CLASS
def test_a_problem_s_own_columns_are_no_others(cls: type[Problem]) -> None:
    names = [one.name for one in (*COLUMNS, *cls.columns)]
    assert len(names) == len(set(names)) and all(
        one.unit and one.meaning for one in (*COLUMNS, *FAMILIES, *cls.columns)
    )


def test_a_family_is_known_by_what_its_names_begin_with() -> None:
    bound = declared("bound: splm (5)")
    assert bound is not None and "bound" in bound.meaning
    assert declared("weather") is None
