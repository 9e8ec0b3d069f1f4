"""Measures of a run's rows, and the exact values that rows and theory share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.types import Array
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.measures import ExactPoints
from zoviz.solvers import ZOSPLM
from zoviz.solvers.theory import Info


def test_exact_values_are_found_by_the_point_and_not_by_its_array() -> None:
    problem, points = NonconvexQCQP(n=3), ExactPoints()
    places = [np.full((2, 3), 0.1 * i) for i in range(3)]
    first, second, third = (points.take(problem, x) for x in places)
    assert points.find(places[2].copy()) is third and points.take(problem, places[1].copy()) is second
    assert points.find(places[0]) is None and first is not None, "two points are kept, not three"
    assert second is not None and second.gradients is not None
    np.testing.assert_array_equal(second.gradients[0], problem.gradient(places[1])[0])


@pytest.mark.parametrize("copied", [False, True])
def test_theory_asks_for_no_gradient_that_a_row_has_computed(copied: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the step tells the very array that was measured, or a copy of it."""
    points: list[Any] = []
    plain = ZOSPLM.step

    def step(self: ZOSPLM, *args: Any) -> Any:
        state, info = plain(self, *args)
        return state, Info(info.variance, info.point.copy() if copied else info.point, info.dual, info.radius)

    def gradient(self: NonconvexQCQP, x: Array, xi: Any = None) -> Any:
        points.append(x)
        return super(NonconvexQCQP, self).gradient(x, xi)

    monkeypatch.setattr(ZOSPLM, "step", step)
    monkeypatch.setattr(NonconvexQCQP, "gradient", gradient)
    run = Run(problem=NonconvexQCQP(n=3), solver=ZOSPLM(), replicas=2, iterations=5)
    result = run.run()
    assert np.isfinite(result.trace["variance_predicted"][1:]).all() and points == []
