"""What a page offers first: the method that is made for the kind of problem, whatever the alphabet says."""

from __future__ import annotations

import pytest

from zoviz.problems import (
    BlackBox,
    DistributedConsensus,
    LoadTracking,
    NonconvexQCQP,
    PressureVessel,
    Problem,
    QuadraticBilevel,
    StochasticQP,
)
from zoviz.solvers import Solver
from zoviz.views.controls.default_solver import default_solver, family
from zoviz.views.controls.picker import Picker


class Mine(NonconvexQCQP):
    """A user's own form of a problem of zoviz."""

    __abstract = True


@pytest.fixture(scope="module")
def solvers() -> dict[str, Solver]:
    return Picker().solvers


@pytest.mark.parametrize(
    ("problem", "title"),
    [
        (NonconvexQCQP(), "ZO-SPLM"),
        (Mine(), "ZO-SPLM"),
        (LoadTracking(), "ZOBCEG"),
        (StochasticQP(), "Smoothed ALM"),
        (DistributedConsensus(), "Smoothed ALM, sampled constraints"),
        (QuadraticBilevel(), "ZO-SOGD"),
        (PressureVessel(), "ZOSQP"),
        (BlackBox(lambda x: float(x @ x), bounds=[(-1, 1)] * 2), "ZOSQP"),
    ],
)
def test_the_first_is_made_for_the_problem(problem: Problem, title: str, solvers: dict[str, Solver]) -> None:
    offered = [name for name, solver in solvers.items() if solver.accepts(problem) is None]
    assert default_solver(problem, offered) == title


def test_where_it_is_not_offered_the_first_of_the_list_is_taken() -> None:
    assert default_solver(StochasticQP(), ["DSZOG", "COBYLA (SciPy)"]) == "DSZOG"
    assert family(Mine()) == "quadratic" and family(PressureVessel()) == "engineering"
