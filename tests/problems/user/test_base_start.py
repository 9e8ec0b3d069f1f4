"""Starts and bounds that round-off alone takes apart, on every road."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from helpers.programs import PYTHON
from zoviz import AskTell, Run, minimize
from zoviz.problems import BlackBox, Executable
from zoviz.solvers import COBYLA

OVER = 0.1 + 0.2
"""The next number above 0.3."""
ECHO = "import sys; x = [float(w) for w in sys.stdin.read().split()]; print(sum(x), x[0] - 2)"


def objective(x: Any) -> float:
    return float(sum(x))


def program(**params: Any) -> Executable:
    return Executable([*PYTHON, "-c", ECHO], m=1, **params)


@pytest.mark.parametrize(
    "make", [lambda **params: BlackBox(objective, **params), program], ids=["black box", "program"]
)
@pytest.mark.parametrize(
    "bounds, start, place",
    [
        ((0.0, 0.3), OVER, 0.3),
        ((OVER, 1.0), 0.3, OVER),
        ((0.0, math.nextafter(0.3, 0.0)), OVER, math.nextafter(0.3, 0.0)),
        ((-1.0, 0.0), 1e-16, 0.0),
        ((1e6 + 0.1, 1e6 + 0.2), np.nextafter(1e6 + 0.1, 0.0), 1e6 + 0.1),
        ((0.3, 0.3), OVER, 0.3),
        ((OVER, 0.3), 0.3, OVER),
        ((0.3, OVER), OVER, 0.3),
        ((0.3, None), math.nextafter(0.3, 0.0), 0.3),
    ],
)
def test_a_start_outside_by_round_off_is_put_on_the_bound(make: Any, bounds: Any, start: float, place: float) -> None:
    problem = make(bounds=[bounds, (0.0, 1.0)], x0=[start, 0.5])
    assert problem.start.tolist() == [place, 0.5]
    assert problem.domain.lower[0] <= problem.start[0] <= problem.domain.upper[0]


@pytest.mark.parametrize(
    "bounds, start, words",
    [
        ((0.0, 0.3), 0.3000000001, r"x0\[0\] = 0\.3000000001 outside \[0\.0, 0\.3\]"),
        ((0.1234567890123, 1.0), 0.12345678901, r"x0\[0\] = 0\.12345678901 outside \[0\.1234567890123, 1\.0\]"),
        ((1e6, 1e6), 1e6 + 1e-6, r"x0\[0\] = 1000000\.000001 outside \[1000000\.0, 1000000\.0\]"),
        ((0.0, 1.0), math.nan, r"x0\[0\] = nan outside \[0\.0, 1\.0\]"),
    ],
)
def test_a_start_that_is_outside_is_refused_with_all_digits(bounds: Any, start: float, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        BlackBox(objective, bounds=[bounds], x0=[start])
    with pytest.raises(ValueError, match=words):
        minimize(objective, [start], bounds=[bounds], max_calls=20)
    with pytest.raises(ValueError, match=words):
        AskTell(solver="ZOSPLM", bounds=[bounds], x0=[start])


def test_every_road_begins_on_the_bound() -> None:
    seen: list[float] = []

    def record(x: Any) -> float:
        seen.append(float(x[0]))
        return float(sum(x))

    minimize(record, [OVER, 0.5], bounds=[(0.0, 0.3), (0.0, 1.0)], method="ZOSPLM", max_calls=60)
    assert seen[0] == 0.3
    problem = program(bounds=[(0.0, 0.3), (0.0, 1.0)], x0=[OVER, 0.5])
    run = Run(problem=problem, solver=COBYLA(initial_radius=0.1, final_radius=0.01), replicas=1, calls=9)
    run.run()
    assert run.result.x[0, 0] <= 0.3 and run.result.failures.tolist() == [0]
    session = AskTell(solver="ZOSPLM", bounds=[(0.0, 0.3)], x0=[OVER])
    assert session.ask().x.max() <= 0.3


def test_reversed_bounds_are_still_refused() -> None:
    with pytest.raises(ValueError, match="did you swap"):
        BlackBox(objective, bounds=[(0.3 + 1e-9, 0.3)])
