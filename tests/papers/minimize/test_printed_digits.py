"""The study of rounded values: its optima are optima, and more calls are no worse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize as reference

from zoviz.papers.minimize.printed_digits import PROBLEMS, PrintedBox, PrintedDigits

FEW = 3.0
"""What the rounding hides: more or less of it is luck."""


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_better_point_is_known_than_the_optimum(name: str) -> None:
    box = PrintedBox(PROBLEMS[name])
    assert box.true(box.optimum)[0] == 0.0 and box.true(box.optimum)[1].max() <= 1e-12
    rows = {"type": "ineq", "fun": lambda x: -box.true(x)[1]}
    found = reference(lambda x: box.true(x)[0], box.start(0), constraints=rows, method="SLSQP", tol=1e-12)
    assert found.fun == pytest.approx(0.0, abs=1e-5)


@pytest.mark.parametrize("name", PROBLEMS)
def test_values_are_rounded_as_the_problem_says(name: str) -> None:
    printed, box = PROBLEMS[name], PrintedBox(PROBLEMS[name])
    f, h = box(box.optimum + 0.01)
    exact_f, exact_h = box.true(box.optimum + 0.01)
    assert abs(f - exact_f - printed.offset) <= 0.5 * printed.grain_f + 1e-9
    assert np.abs(h - exact_h).max() <= 0.5 * printed.grain_h + 1e-12


def test_the_table_has_a_line_for_every_method_and_a_column_for_every_budget() -> None:
    study = PrintedDigits(size="quick", only={"calls": [40, 60], "start": [0, 1]})
    (table,) = study.tables({part: study.measure(part) for part in study.parts()})
    assert table.heads == ("problem", "method", "40", "60")
    assert [row[:2] for row in table.rows] == [("one decimal", "COBYQA"), ("one decimal", "ZOSQP")]
    assert all(len(cell.split()) == 2 for row in table.rows for cell in row[2:])


def trial(name: str, method: str, calls: int | None) -> float:
    return PrintedDigits().trial(name, method, calls, 0)["loss"]


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_more_calls_are_no_worse_beyond_the_rounding(name: str) -> None:
    losses = [trial(name, "auto", calls) for calls in (600, 2000, None)]
    assert all(max(after, FEW) <= max(before, FEW) for before, after in zip(losses[:-1], losses[1:], strict=True))
    others = min(trial(name, method, None) for method in ("COBYQA", "CMAES"))
    assert losses[-1] <= 3.0 * max(others, 1.0)
