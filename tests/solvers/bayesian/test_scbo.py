"""SCBO's region: it grows after three successes, shrinks after five failures, and begins anew."""

from __future__ import annotations

import numpy as np

from zoviz.solvers.bayesian.base import Evidence, exact_evidence
from zoviz.solvers.bayesian.scbo import SCBO


def data(*values: tuple[float, float]) -> Evidence:
    return exact_evidence(np.zeros((len(values), 2)), np.array(values), 0.0)


def test_successes_and_failures_change_the_region() -> None:
    solver, seen = SCBO(), [(3.0, 1.0)]
    memory = solver.remember(data(*seen), np.zeros(6))
    assert memory.tolist() == [0.8, 0.0, 0.0, 3.0, 1.0, 0.0]
    for value in ((9.0, 0.5), (5.0, -1.0), (4.0, -1.0)):  # less violation, feasible, better
        seen.append(value)
        memory = solver.remember(data(*seen), memory)
    assert memory.tolist() == [1.6, 0.0, 0.0, 4.0, 0.0, 0.0]
    for _ in range(5):
        seen.append((6.0, -1.0))
        memory = solver.remember(data(*seen), memory)
    assert memory[:3].tolist() == [0.8, 0.0, 0.0]


def test_a_vanished_region_begins_anew() -> None:
    memory = np.array([2.0**-7, 0.0, 4.0, 1.0, 0.0, 0.0])
    assert SCBO().remember(data((1.0, -1.0), (2.0, -1.0)), memory)[0] == 0.8
