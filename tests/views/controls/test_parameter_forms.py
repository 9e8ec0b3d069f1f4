"""Forms of solvers and problems: a field shows the state of its parameter, and part names stand above equal labels."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import panel as pn
import param
import pytest

from helpers.every_solver import EVERY, EVERY_PROBLEM
from helpers.waiting import until
from zoviz.core.registry import discover
from zoviz.estimators.base import GradientEstimator
from zoviz.problems import BlackBox, LoadTracking
from zoviz.runs.engine.steering import Change
from zoviz.runs.run import Run
from zoviz.solvers import ZOSOGD, ZOSPLM, ZOSQP
from zoviz.solvers.base import Solver
from zoviz.views.common.form_widget import PENDING
from zoviz.views.common.number_rule import NumberRule
from zoviz.views.common.parameter_row import ParameterRow
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.small_fields import CheckBox
from zoviz.views.controls.parameter_forms import ParameterForm, ProblemForm, SolverForm, editable
from zoviz.views.controls.run_settings import RunSettings


@pytest.mark.parametrize(
    ("solver", "headings"),
    [(ZOSPLM(), []), (ZOSOGD(), ["Estimator in y", "Estimator in x"] * 2), (ZOSQP(), [])],
)
def test_fields_of_the_same_name_stand_below_the_name_of_their_part(solver: Solver, headings: list[str]) -> None:
    form = SolverForm(solver)
    form.fold.button.value = True
    texts = [str(pane.object) for pane in form.__panel__().select(pn.pane.HTML)]
    shown = [text.partition(">")[2].partition("<")[0] for text in texts if "uppercase" in text]
    assert shown == headings, "no heading without a field"


@pytest.mark.parametrize("solver", EVERY.values(), ids=lambda cls: cls.__name__)
def test_five_parameters_at_most_are_seen_at_once_and_every_other_when_asked_for_more(solver: type[Solver]) -> None:
    form = SolverForm(solver())
    kinds = (ParameterRow, SearchList, CheckBox)
    first = [one for one in form.__panel__().select(lambda one: isinstance(one, kinds)) if one.visible]
    form.fold.button.value = True
    every = [one for one in form.__panel__().select(lambda one: isinstance(one, kinds)) if one.visible]
    assert len(first) == min(len(form.solver.live), 5) and len({id(one) for one in every}) == len(every)
    assert {id(field) for field in form.fields.values()} <= {id(one) for one in every}
    assert form.fold.button.visible == (len(every) > len(first))
    assert form.fold.button.spec["label"] == f"structure ({len(every) - len(first)})"


def each_field() -> Iterator[tuple[param.Parameterized, str]]:
    """An object and the name of a parameter of it, for every declaration that a form of the page edits."""
    estimators = discover("zoviz.estimators", GradientEstimator).values()
    seen = set()
    for cls in (RunSettings, *EVERY.values(), *estimators, *EVERY_PROBLEM.values()):
        owner = cls()
        for name in editable(owner):
            parameter = cls.param[name]
            declaration = (name, type(parameter), parameter.default, parameter.allow_None, parameter.doc)
            if declaration not in seen:
                seen.add(declaration)
                yield owner, name


def state(field: Any, parameter: param.Parameter) -> Any:
    """The value that a person reads off a field."""
    if isinstance(field, SearchList):
        return field.choices[field.spec["value"]]
    return NumberRule.of(parameter).read(field.text) if isinstance(field, ParameterRow) else field.value


def test_no_field_shows_a_state_that_is_not_its_parameters() -> None:
    words = {}
    for owner, name in each_field():
        parameter, value = owner.param[name], getattr(owner, name)
        field = ParameterForm(owner, [name]).fields[name]
        assert state(field, parameter) == value, f"{type(owner).__name__}.{name}"
        if value is None and isinstance(field, ParameterRow):
            words.setdefault(field.text, set()).add(name)
        if value is None and hasattr(field, "suggestion"):
            field.suggestion = next(iter(field.options.values())) if isinstance(field, SearchList) else 3.0
            assert state(field, parameter) is None and getattr(owner, name) is None, f"{type(owner).__name__}.{name}"
    assert words["none"] >= {"calls", "gap", "iterations", "phase_length", "samples"}
    assert words["auto"] >= {"primal_step", "restoration", "step_reach", "contraction", "horizon", "initial_points"}
    assert words.keys() == {"auto", "none"} and not words["auto"] & words["none"]


def test_live_fields_show_what_a_run_has_taken_and_what_it_has_not_taken_yet() -> None:
    gate = threading.Event()
    gate.set()

    def cost(x: np.ndarray) -> float:
        gate.wait(60)
        return float(x @ x)

    solver = ZOSPLM(primal_step=1e-3)
    later = Change(2, 0, 0.0, "primal_step", None, 2e-3)
    run = Run(BlackBox(cost, bounds=[(0, 1)] * 2, x0=[1, 1]), solver, replicas=1, schedule=[later], calls=10**6)
    form = SolverForm(solver)
    field = form.fields["primal_step"]
    run.start(steps=3)
    try:
        until(lambda: run.status == "paused")
        form.steer(run)
        assert (field.text, field.value, solver.primal_step) == ("0.002", 1e-3, 1e-3), "as its schedule has it"
        gate.clear()
        run.unpause()
        until(lambda: run.status == "running")
        field.receive({"seq": 1, "value": 3e-3})
        form.steer(run)
        assert field.text == "0.003" and field.spec["note"] == PENDING and len(run.journal) == 1
        gate.set()
        until(lambda: len(run.journal) == 2 and not run.awaited)
        form.steer(run)
        assert field.text == "0.003" and not field.spec["note"]
        run.set({"primal_step": 4e-3})
        until(lambda: len(run.journal) == 3)
        form.steer(run)
        assert field.text == "0.004", "whoever asked for it"
    finally:
        gate.set()
        run.stop()
        run.wait(60)
    form.steer(None)
    assert field.text == "0.004" and solver.primal_step == 4e-3


def test_degrees_of_freedom_are_shown_under_their_law_alone() -> None:
    problem = LoadTracking(n=4, noise="independent")
    form = ProblemForm(problem)
    column = form.__panel__()
    assert isinstance(column, pn.Column)
    holders = [one for part in column if isinstance(part, pn.Column) for one in part if isinstance(one, pn.Column)]
    holder = next(one for one in holders if form.fields["noise_degrees"] in list(one))
    assert not holder.visible
    problem.noise_distribution = "student_t"
    assert holder.visible
    problem.noise_distribution = "normal"
    assert not holder.visible
