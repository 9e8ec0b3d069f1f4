"""The step schedule that all methods on the Lagrangian share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOALM, ZOCEG, ZOEG, ZOGDA, ZOSPLM, SZOConEX
from zoviz.solvers.saddle.method import SaddleMethod

METHODS: list[type[Any]] = [ZOSPLM, ZOALM, ZOGDA, SZOConEX, ZOEG, ZOCEG]
OPEN = {"estimator.smoothing_radius": 1e-3, "dual_cap": 50.0, "proximal_weight": 2.0, "penalty": 1.0}


def course(solver: SaddleMethod, power: float | None) -> Array:
    """Iterates of 12 steps; with a power the steps are set by hand before each."""
    problem, streams = NonconvexQCQP(n=4), Streams(3, 2)
    oracle = Oracle(problem, streams)
    state, out = solver.init(problem.initial(streams), oracle, streams), []
    for t in range(12):
        if power is not None:
            solver.set("primal_step", 0.05 / (t + 1.0) ** power)
            solver.set("dual_step", 0.2 / (t + 1.0) ** power)
        state, _ = solver.step(state, oracle, streams)
        out.append(solver.iterate(state).x)
    return np.array(out)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("power", [0.25, 0.5, 1.0])
def test_diminishing_steps_are_the_first_over_a_power_of_t(method: type[Any], power: float) -> None:
    def made(**options: Any) -> SaddleMethod:
        solver = method.published(primal_step=0.05, dual_step=0.2, **options)
        for name, value in OPEN.items():
            if name in solver.open_scales():
                solver.set(name, value)
        return solver

    scheduled = made(schedule="diminishing", step_power=power)
    np.testing.assert_allclose(course(scheduled, None), course(made(), power), rtol=1e-9, atol=1e-12)
    assert made().steady and not scheduled.steady and {"schedule", "step_power"} <= set(scheduled.live)
    assert not np.allclose(course(scheduled, None), course(made(), 0.0))
