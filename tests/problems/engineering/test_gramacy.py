"""The toy of Gramacy and others: its printed values, its optimum among all local minima, and its picture's facts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize

from zoviz.problems import Gramacy


def test_values_are_those_of_the_formula_written_out() -> None:
    a, b = 0.3, 0.7
    value = Gramacy().evaluate(np.array([a, b]))
    assert value.f == pytest.approx(a + b)
    assert value.h[0] == pytest.approx(1.5 - a - 2 * b - 0.5 * math.sin(2 * math.pi * (a * a - 2 * b)))
    assert value.h[1] == pytest.approx(a * a + b * b - 1.5)


def test_the_optimum_is_the_best_of_the_local_minima() -> None:
    problem = Gramacy()
    grid = np.linspace(0.05, 0.95, 7)
    found = []
    for start in np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2):
        answer = minimize(
            lambda x: float(problem.evaluate(x).f),
            start,
            jac=lambda x: problem.gradient(x)[0],
            bounds=[(0.0, 1.0)] * 2,
            constraints={
                "type": "ineq",
                "fun": lambda x: -problem.evaluate(x).h,
                "jac": lambda x: -problem.gradient(x)[1],
            },
            method="SLSQP",
            options={"ftol": 1e-12},
        )
        if answer.success and problem.evaluate(answer.x).h.max() <= 1e-9:
            found.append(answer.fun)
    optimum = problem.known_optimum
    assert optimum.value == pytest.approx(0.5997881, abs=5e-8)
    np.testing.assert_allclose(optimum.point, [0.195123, 0.404665], atol=1e-6)
    assert min(found) == pytest.approx(optimum.value, abs=1e-9)
    for local in (0.75, 0.8609):
        assert np.abs(np.array(found) - local).min() < 1e-4
