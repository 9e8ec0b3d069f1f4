"""Every column of every trace is declared, with its shape."""

from __future__ import annotations

import numpy as np

from helpers.every_pair import EACH_PAIR, run_of
from helpers.every_problem import EACH_CLASS
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import COLUMNS, FAMILIES, column

SIZES = {"rows": 1, "rows, R": 2, "rows, R, j": 3}


@EACH_PAIR
def test_every_column_of_a_pair_is_declared(solver: str, problem: str) -> None:
    run = run_of(solver, problem, iterations=2)
    run.run()
    shapes = {name: np.ndim(values) for name, values in run.trace.snapshot().columns.items()}
    declared = {name: column(name, run.problem) for name in shapes}
    assert not [name for name, one in declared.items() if one is None]
    assert shapes == {name: SIZES[one.shape] for name, one in declared.items() if one is not None}


@EACH_CLASS
def test_a_problem_s_own_columns_are_no_others(cls: type[Problem]) -> None:
    names = [one.name for one in (*COLUMNS, *cls.columns)]
    assert len(names) == len(set(names)) and all(
        one.unit and one.meaning for one in (*COLUMNS, *FAMILIES, *cls.columns)
    )


def test_a_family_is_known_by_what_its_names_begin_with() -> None:
    bound = column("bound: splm (5)")
    assert bound is not None and bound.name == "bound: splm (5)" and "bound" in bound.meaning
    assert column("weather") is None
