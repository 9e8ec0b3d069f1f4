"""SafeOpt: which candidates it takes, by a posterior written out, and that its calls are inside."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from zoviz import minimize
from zoviz.core.types import Array
from zoviz.solvers.bayesian.base import exact_evidence
from zoviz.solvers.bayesian.safe_opt import SafeOpt

POINTS = np.array([[0.1], [0.2], [0.3], [0.4]])


def chosen(f: list[float], h: list[float], deviations: list[float], between: float = 0.0) -> float:
    """Return what is evaluated next, where f and h of the candidates are as given, with the same deviations."""
    covariance = np.diag(np.square(deviations))
    covariance[2, 3] = covariance[3, 2] = between
    surrogate: Any = SimpleNamespace(
        joint=lambda points: (np.array([f, h]), np.stack([covariance, covariance])), limits=np.zeros(1)
    )
    evidence = exact_evidence(POINTS[:1], np.array([[0.0, -1.0]]), 0.0)
    numbers: Any = SimpleNamespace(candidates=lambda best: POINTS)
    taken: Array = SafeOpt().acquire(surrogate, evidence, np.zeros(1), numbers)
    return float(taken[0])


def test_the_least_known_of_the_possible_minimisers_is_taken_among_those_that_are_safe() -> None:
    assert chosen([0.0, 0.1, 5.0, 0.0], [-1.0, -1.0, -1.0, -0.1], [0.1, 0.2, 0.4, 0.4]) == 0.2


def test_a_candidate_that_would_make_another_safe_is_taken_though_it_cannot_be_the_minimiser() -> None:
    safe = ([0.0, 0.1, 5.0, 0.0], [-1.0, -1.0, -1.0, 0.1], [0.1, 0.2, 0.4, 0.4])
    assert chosen(*safe) == 0.2
    assert chosen(*safe, between=0.155) == 0.3


def test_the_candidate_nearest_to_being_safe_is_taken_where_none_is() -> None:
    assert chosen([0.0] * 4, [1.0, 0.5, 0.7, 2.0], [0.1] * 4) == 0.2


def test_most_calls_are_inside() -> None:
    outside = []

    def plant(x: Array) -> tuple[float, Array]:
        h = np.array([x @ x - 1.0])
        outside.append(bool(h[0] > 0.0))
        return float(x[0] + 0.5 * x[1]), h

    result = minimize(
        plant,
        [0.3, 0.1],
        bounds=[(-2, 2)] * 2,
        joint=True,
        method="SafeOpt",
        keep="while searching",
        max_calls=40,
        stop="budget",
        seed=0,
        options={"candidates": 100},
    )
    assert result.feasible and result.fun < -0.9
    assert sum(outside) <= 4 and len(outside) >= 35
