"""What a page offers first: the method that is made for the kind of problem, whatever the alphabet says."""

from __future__ import annotations

import pytest

from zoviz.problems import (
    BlackBox,
    DistributedConsensus,
    HMCTuning,
    LoadTracking,
    NonconvexQCQP,
    PressureVessel,
    Problem,
    QuadraticBilevel,
    StochasticQP,
)
from zoviz.solvers import ZOSPLM, Solver
from zoviz.views.app.page_address import query_of
from zoviz.views.controls.default_solver import default_solver, family
from zoviz.views.controls.picker import Picker
from zoviz.views.controls.run_form import RunForm


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


def test_where_values_are_simulations_few_are_asked_at_a_time(solvers: dict[str, Solver]) -> None:
    """A batch of probes for each of twenty replicas would take minutes a step: no line, no verdict, no answer."""
    problem = HMCTuning()
    offered = [name for name, solver in solvers.items() if solver.accepts(problem) is None]
    assert default_solver(problem, offered) == "ZOSQP"
    form = RunForm(problem)
    assert form.settings.replicas == 2
    assert "replicas" not in query_of(form)
    form.picker.pick("Nonconvex QCQP")
    assert form.settings.replicas == 20
    form.settings.replicas = 7
    form.picker.pick(next(iter(form.picker.problems)))
    assert form.settings.replicas == 7, "what a person chose stays"
    assert "run.replicas=7" in query_of(form)


def test_what_the_rule_chose_for_a_run_is_not_said_of_the_next() -> None:
    """Its values were found by charged calls, of that run's problem: the form of the next has none yet."""
    picker = Picker(BlackBox(lambda x: float(x @ x), bounds=[(-1, 1)] * 2), ZOSPLM())
    picker.suggest({"primal_step": 0.0035})
    field = picker.solver_form.fields["primal_step"]
    assert field.suggestion == 0.0035
    picker.suggest(None)
    assert field.suggestion is None
