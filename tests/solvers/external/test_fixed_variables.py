"""Variables that the bounds fix are kept from the libraries; where none is left, the start tells everything."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from helpers.peers import EACH
from zoviz import minimize
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.runs.run import Run
from zoviz.solvers import CMAES, TrustConstr
from zoviz.solvers.external.base import ExternalSolver


def bowl(x: Array) -> float:
    return float(x @ x)


@EACH
@pytest.mark.parametrize("m", [0, 2])
def test_where_every_variable_is_fixed_the_run_ends_at_its_start(cls: type[ExternalSolver], m: int) -> None:
    rows = [lambda x: x[0] - 2.0] * m
    run = Run(
        problem=BlackBox(bowl, rows, bounds=[(1.0, 1.0), (-2.0, -2.0)], scaled=False), solver=cls(), calls=9, replicas=2
    )
    run.run()
    result = run.result
    assert "the bounds leave no variable free" in run.message and result.nit == 0
    assert (result.calls == 1).all() and (result.fun == 5.0).all()
    np.testing.assert_array_equal(result.x, [[1.0, -2.0]] * 2)


@EACH
def test_one_free_variable_among_fixed_ones_is_enough_or_refused(cls: type[ExternalSolver]) -> None:
    problem = BlackBox(bowl, None, bounds=[(1.0, 1.0), (-2.0, 3.0)], x0=[1.0, 2.5])
    if cls is CMAES:
        assert "two variables that are not fixed by bounds, got one" in (cls().accepts(problem) or "")
    else:
        assert cls().accepts(problem) is None
        assert minimize(bowl, [1.0, 2.5], bounds=problem.bounds, method=cls).fun < 2.5


def test_trust_constr_ends_where_every_barrier_problem_is_solved_exactly() -> None:
    def parabola(x: Array) -> float:
        return float(2.75 * (x[0] - 0.2075) ** 2)

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=UserWarning, module=r"scipy\.")
        result = minimize(parabola, [0.5], bounds=[(None, 3.0)], method=TrustConstr)
    assert "each barrier problem is solved exactly" in result.message
    assert result.calls < 200 and abs(result.x[0] - 0.2075) < 1e-6
