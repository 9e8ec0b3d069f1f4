"""LB-SGD against a loop written out, on a known solution, and that no call is outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.optimize import OptimizeResult

from zoviz import minimize
from zoviz.core.types import Array
from zoviz.estimators import Coordinate
from zoviz.problems import BlackBox
from zoviz.runs.run import Run
from zoviz.solvers import LogBarrier

RADIUS = 1e-6


def by_hand(x: Array, steps: int) -> Array:
    """Return the iterate of min c'x under a'x <= 1 and x'x <= 4: all gradients by hand, no bound in the way."""
    c, a = np.array([-1.0, -2.0]), np.array([1.0, 1.0])
    curvature, weight, count, before, slopes = np.zeros(3), 0.0, 0, x, np.zeros((3, 2))
    for t in range(steps):
        now, room = np.array([c, a, 2.0 * x]), np.array([1.0 - a @ x, 4.0 - x @ x])
        if t == 0:
            curvature = np.linalg.norm(now, axis=1) / (0.05 * 20.0)
            weight = np.linalg.norm(c) / np.linalg.norm(now[1] / room[0] + now[2] / room[1])
        else:
            seen = np.linalg.norm(now - slopes, axis=1) / np.linalg.norm(x - before)
            curvature = seen if t == 1 else np.maximum(curvature, seen)
            g = c + weight * (now[1] / room[0] + now[2] / room[1])
            if np.linalg.norm(g) <= 0.1 * np.linalg.norm(c) or count >= 2:
                weight, count = 0.5 * weight, 0
        g = c + weight * (now[1] / room[0] + now[2] / room[1])
        size = np.linalg.norm(g)
        theta = np.abs(now[1:] @ g) / size
        bend = curvature[0] + sum(
            2.0 * weight / room[i] * curvature[1 + i] + 4.0 * weight * theta[i] ** 2 / room[i] ** 2 for i in range(2)
        )
        inside = min(room[i] / (2.0 * theta[i] + np.sqrt(room[i] * curvature[1 + i])) for i in range(2))
        before, slopes, count = x, now, count + 1
        x = x - min(inside / size, 1.0 / bend) * g
    return x


def test_steps_are_those_of_a_loop_written_out() -> None:
    start = np.array([0.1, -0.3])
    problem = BlackBox(
        lambda x: (-x[0] - 2.0 * x[1], [x[0] + x[1] - 1.0, x @ x - 4.0]),
        joint=True,
        m=2,
        bounds=[(-10, 10)] * 2,
        x0=start,
        scaled=False,
    )
    solver = LogBarrier(patience=2, estimator=Coordinate(smoothing_radius=RADIUS))
    for steps in (1, 2, 3, 9):
        result = Run(problem, solver, seed=0, iterations=steps, replicas=1).run()
        np.testing.assert_allclose(result.x[0], by_hand(start, steps), rtol=1e-4)


OUTSIDE: list[bool] = []


def solved(start: list[float], **given: Any) -> OptimizeResult:
    """Minimise |x - (1, 1)|^2 under x_1 + x_2 <= 1, whose solution is (1/2, 1/2), and record the calls outside."""
    OUTSIDE.clear()

    def watched(x: Array) -> tuple[float, list[float]]:
        OUTSIDE.append(bool(x[0] + x[1] > 1.0))
        return float(np.square(x - 1.0).sum()), [x[0] + x[1] - 1.0]

    bounds, settings = [(-2, 2)] * 2, {"max_calls": 400, "stop": "budget", "seed": 0}
    return minimize(watched, start, bounds=bounds, joint=True, method="LogBarrier", **settings, **given)


def test_the_known_solution_is_approached_from_inside() -> None:
    result = solved([-0.5, 0.2], keep="while searching")
    np.testing.assert_allclose(result.x, [0.5, 0.5], atol=1e-2)
    assert result.calls > 350 and not any(OUTSIDE)


def test_a_start_outside_is_led_inside() -> None:
    result = solved([1.9, 1.5])
    np.testing.assert_allclose(result.x, [0.5, 0.5], atol=1e-2)
    assert OUTSIDE[0] and result.feasible
