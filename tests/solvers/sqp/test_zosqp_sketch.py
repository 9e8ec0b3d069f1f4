"""ZOSQP's region and last batch as they are at a step."""

from __future__ import annotations

import numpy as np

from zoviz.problems import BlackBox
from zoviz.runs.run import Run
from zoviz.solvers import ZOSQP


def bowl() -> BlackBox:
    return BlackBox(
        lambda x: float(x @ x) * 1e3, bounds=[(-3.0, 3.0), (-3.0, 3.0), (2.0, 2.0)], x0=[1.0, 1.0, 2.0],
        scaled=False,
    )  # fmt: skip


def test_the_region_is_the_next_step_s_and_a_fixed_variable_has_no_width() -> None:
    run = Run(problem=bowl(), solver=ZOSQP(trust_scale=0.5), replicas=1, iterations=4)
    run.run()
    sketch, radius = run.sketch, run.trace["trust_radius"][-1, 0]
    assert run.trace["trust_radius"][0, 0] == 0.5
    np.testing.assert_allclose(sketch.reach, radius * np.array([1.0, 1.0, 0.0]))
    assert sketch.centre[2] == 2.0 and (sketch.points[:, 2] == 2.0).all() and len(sketch.points)
