"""The guard leaves runs alone that find a peak or a wall beside a flat start: in a box that is no divergence."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zoviz import minimize
from zoviz.core.types import Array

METHODS = ["auto", "ZOSQP", "ALSPG", "COBYLA", "COBYQA", "CMAES"]


def gaussian(x: Array) -> float:
    return -math.exp(-float(np.square(x - 5.0).sum()))


def logistic(x: Array) -> float:
    return -1.0 / (1.0 + math.exp(4.0 * (float(np.linalg.norm(x - 5.0)) - 1.0)))


def line(x: Array) -> float:
    """Hold where the sum of x is 9.5 at most: the peak at 10 is outside."""
    return float(x.sum()) - 9.5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("peak", "rows", "best"), [(gaussian, (), -1.0), (gaussian, line, -math.exp(-0.125))])
def test_a_peak_is_found_from_a_flat_start(method: str, peak: object, rows: object, best: float) -> None:
    result = minimize(peak, [0.0, 0.0], bounds=[(-10.0, 10.0)] * 2, constraints=rows, method=method, max_calls=650)
    assert result.feasible and "iverged" not in result.message
    assert result.fun == pytest.approx(best, abs=0.1)


@pytest.mark.parametrize("method", ["auto", "CMAES"])
def test_a_peak_of_more_variables_is_found(method: str) -> None:
    result = minimize(logistic, [0.0] * 4, bounds=[(-10.0, 10.0)] * 4, method=method, max_calls=800)
    assert result.feasible and result.fun == pytest.approx(-0.982, abs=0.02)


def test_a_peak_without_bounds_is_found() -> None:
    result = minimize(gaussian, [0.0, 0.0], max_calls=400)
    assert result.feasible and result.fun == pytest.approx(-1.0, abs=0.02)


@pytest.mark.parametrize("method", ["auto", "ZOSQP"])
def test_a_wall_around_the_feasible_set_is_no_divergence(method: str) -> None:
    """f is 1e20 outside a ball, and the constraint, 0 or 1, tells nothing of a slope."""

    def walled(x: Array) -> float:
        return float(np.square(x - 1.0).sum()) if float(x @ x) < 16.0 else 1e20

    def row(x: Array) -> float:
        return float(x[0] < 0.5)

    result = minimize(walled, [0.0] * 3, bounds=[(-10.0, 10.0)] * 3, constraints=row, method=method, max_calls=600)
    assert result.feasible and result.fun < 0.01 and "iverged" not in result.message
