"""The study of rounded values: its optima are optima, and more calls are no worse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize as reference

from zoviz.papers.minimize.printed_digits import PROBLEMS, PrintedBox, main, trial

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


def test_the_table_has_a_line_for_every_method(capsys: pytest.CaptureFixture[str]) -> None:
    main(
        [
            "--problems",
            "one decimal",
            "--methods",
            "COBYQA",
            "ZOSQP",
            "--budgets",
            "60",
            "--starts",
            "1",
            "--no-default",
        ]
    )
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 3 and lines[1].startswith("one decimal      COBYQA")


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_more_calls_are_no_worse_beyond_the_rounding(name: str) -> None:
    losses = [trial(name, "auto", calls, 0)[0] for calls in (600, 2000, None)]
    assert all(max(after, FEW) <= max(before, FEW) for before, after in zip(losses[:-1], losses[1:], strict=True))
    others = min(trial(name, method, None, 0)[0] for method in ("COBYQA", "CMAES"))
    assert losses[-1] <= 3.0 * max(others, 1.0)
