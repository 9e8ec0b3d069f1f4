"""The start of a run: what is asked of a rule, and what that costs."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run, minimize
from zoviz.core.types import Array
from zoviz.estimators import Coordinate, Sphere
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.solvers import ZOALM, ZOCEG, ZOSPLM, Solver
from zoviz.solvers.published_form import FAR

STEPS = {"primal_step": 0.01, "dual_step": 0.01}


def untold() -> BlackBox:
    def plane(x: Array) -> float:
        return float(x.sum() - 1.0)

    return BlackBox(
        lambda x: float(x @ x),
        plane,
        x0=np.full(3, 0.5),
        bounds=[(-1.0, 1.0)] * 3,
        m=1,
        scaled=False,
        noise="deterministic",
    )


def given(cls: type[Solver], **more: float) -> Solver:
    """The solver with every step and radius given, and the cap on multipliers open."""
    solver = cls(**STEPS, **more)
    solver.estimator = (Coordinate if cls is ZOCEG else Sphere)(smoothing_radius=1e-4, batch_size=1)
    return solver


@pytest.mark.parametrize(
    "cls, more, calls",
    [(ZOSPLM, {"proximal_weight": 1.0}, 1 + 2 * 2), (ZOALM, {"penalty": 1.0}, 1 + 2 * 2), (ZOCEG, {}, 1 + 2 * 8)],
)
def test_a_cap_that_alone_is_open_costs_no_call(cls: type[Solver], more: dict[str, float], calls: int) -> None:
    run = Run(problem=untold(), solver=given(cls, **more), replicas=1, iterations=2)
    run.run()
    assert run.result.calls == calls and run.resolved == {"dual_cap": FAR}
    again = run.replay()
    again.run()
    assert again.result.calls == calls and again.resolved == {"dual_cap": FAR}
    np.testing.assert_array_equal(again.result.x, run.result.x)


def test_a_step_that_is_open_too_is_worth_measuring() -> None:
    solver = given(ZOSPLM, proximal_weight=1.0)
    solver.set("dual_step", None)
    run = Run(problem=untold(), solver=solver, replicas=1, iterations=2)
    run.run()
    assert run.result.calls > 5 and run.resolved["dual_cap"] < FAR


def test_where_constants_are_told_the_rules_cap_is_free() -> None:
    run = Run(problem=NonconvexQCQP(n=3), solver=given(ZOSPLM, proximal_weight=1.0), replicas=1, iterations=2)
    run.run()
    assert run.result.calls == 5 and run.resolved["dual_cap"] < FAR


def exponentials(x: Array) -> tuple[float, list[float]]:
    """A distance from a point beyond three rows that grow by orders of magnitude over the box."""
    rows = np.exp(2 * x[0]) + np.exp(x[1]) - x[2] - 5.0, np.exp(x[2] - x[0]) - 8.0, np.exp(x[1] * x[2] / 4.0) - 6.0
    return (x[0] - 3.0) ** 2 + (x[1] - 1.0) ** 2 + (x[2] - 4.0) ** 2, [float(row) for row in rows]


@pytest.mark.parametrize("start", [[12.2, 7.3, 5.0], [40.9, 27.8, 10.9], [3.8, 27.2, 40.3]])
def test_an_answer_is_feasible_by_the_size_that_a_row_has_there_not_at_a_start_where_it_is_huge(
    start: list[float],
) -> None:
    result = minimize(exponentials, start, bounds=[(-5, 50)] * 3, joint=True, max_calls=600)
    assert result.success
    assert max(exponentials(result.x)[1]) < 1e-5
    assert result.fun == pytest.approx(5.5461, abs=1e-3)


def test_no_method_calls_a_large_violation_feasible() -> None:
    result = minimize(exponentials, [12.2, 7.3, 5.0], bounds=[(-5, 50)] * 3, joint=True, method="COBYQA", max_calls=600)
    assert not result.success or max(exponentials(result.x)[1]) < 1e-5
