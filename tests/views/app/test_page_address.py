"""A link shows another person the same: what is set on a page goes into its address and comes out of it."""

from __future__ import annotations

from pathlib import Path

import param
import pytest
from bokeh.document import Document
from panel.io.state import set_curdoc

from helpers.waiting import until
from zoviz import Run, Store
from zoviz.estimators import Gaussian, GradientEstimator, Sphere
from zoviz.problems import NonconvexQCQP
from zoviz.problems.learning.loss_tuning import LossTuning
from zoviz.solvers import OGD, ZOSPLM, Solver
from zoviz.studies.live import Live
from zoviz.studies.reproduction import Reproduction, experiment_named
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.app.page_address import apply_query, query_for, query_of, shown_ids
from zoviz.views.controls.run_form import RunForm


def test_problem_solver_parameters_seed_and_budgets_come_back() -> None:
    form = RunForm()
    form.picker.problem_name = "Load tracking (convex)"
    form.picker.suggest()
    form.picker.solver_name = "ZO-SPLM"
    form.picker.problem.n = 7
    form.picker.solver.primal_step = 1.25e-3
    form.picker.solver.set("estimator.batch_size", 33)
    form.settings.param.update(seed=5, seconds=None, iterations=60)
    query, other = query_of(form), RunForm()
    assert apply_query(other, query) == []
    assert other.picker.problem_name == "Load tracking (convex)" and other.picker.problem.n == 7
    solver = other.picker.solver
    assert isinstance(solver, ZOSPLM) and solver.primal_step == 1.25e-3 and solver.get("estimator.batch_size") == 33
    assert (other.settings.seed, other.settings.seconds, other.settings.iterations) == (5, None, 60)
    assert query_of(other) == query
    assert query_of(RunForm()) == "?problem=Nonconvex+QCQP&solver=ZO-SPLM", "what is as usual is left out"


@pytest.mark.parametrize("name", ["WeldedBeam", "welded beam", "welded+beam+design"])
def test_an_address_may_name_a_class_in_any_spelling(name: str) -> None:
    form = RunForm()
    assert apply_query(form, f"?problem={name}&solver=zosqp") == []
    assert (form.picker.problem_name, form.picker.solver_name) == ("Welded beam design", "ZOSQP")


def test_what_an_address_should_not_say_is_left_out_and_told() -> None:
    form = RunForm()
    query = "?problem=Nonsense&solver=ZO-SPLM&solver.primal_step=-1&problem.n=many&run.seed=3&problem.__class__=1"
    complaints = apply_query(form, query)
    assert len(complaints) == 3 and "'Nonsense'" in complaints[0] and "primal_step" in complaints[1]
    assert form.settings.seed == 3 and form.picker.solver.primal_step is None and form.picker.problem.n == 50


def test_a_misspelt_parameter_is_named_with_what_is_near() -> None:
    complaints = apply_query(RunForm(), "?problem=Nonconvex+QCQP&solver=ZO-SPLM&solver.primal_stp=1&utm_source=mail")
    assert len(complaints) == 1
    assert complaints[0].startswith("solver.primal_stp in the address is ignored: did you mean solver.primal_step")
    assert apply_query(RunForm(), "?solver.qqqqqqqqqq=1") == [
        "solver.qqqqqqqqqq in the address is ignored: the problem, the solver and the run have no such parameter."
    ]


@pytest.mark.parametrize("made", [False, True], ids=["a new page", "a page with the room"])
def test_a_page_opens_the_experiment_that_its_address_names(made: bool) -> None:
    """The room is made after the address is read, once the page stands."""
    page = Dashboard()
    with set_curdoc(Document()):
        if made:
            page.rooms.fill("experiments")
        page.read_address("?room=experiments&experiment=splm-fig-1")
        page.rooms.begin()
    assert page.rooms.open == "experiments" and page.experiments is not None
    assert page.experiments.experiment == "splm-fig-1"
    page.read_address("?room=experiments")
    assert page.experiments.experiment == ""


def test_a_page_shows_the_stored_runs_that_its_address_names(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    run = Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), replicas=1, iterations=3, store=store)
    run.run()
    page = Dashboard(store=store)
    page.read_address(f"?runs={run.id},00000000")
    assert [entry.run.id for entry in page.controller.runs_shown.runs.values()] == [run.id]
    assert "Run 00000000 of the address is ignored" in page.controller.error
    page.read_address("")
    page.controller.runs_shown.put(run, number=7)
    again = Dashboard(store=store)
    again.read_address(f"?runs={','.join(shown_ids(page.controller))},{run.id}.x")
    shown = [tuple((one.name, one.colour) for one in it.controller.runs_shown.runs.values()) for it in (page, again)]
    assert shown[0] == shown[1][:2] and shown[0][1][0].endswith("#7"), "names and colours outlive a reload"
    bare = Dashboard()
    bare.read_address(f"?runs={run.id}")
    assert "no store" in bare.controller.error


def test_axes_and_band_of_the_plots_come_back() -> None:
    page, other = Dashboard(), Dashboard()
    page.board.param.update(axis="seconds", log_x=True, band="none")
    query = query_of(page.form, board=page.board)
    other.read_address(query)
    assert (other.board.axis, other.board.log_x, other.board.log_y, other.board.band) == ("seconds", True, True, "none")
    other.read_address("?plots.axis=%22parsecs%22")
    assert other.board.axis == "seconds" and "axis in the address is ignored" in other.controller.error


def test_an_estimator_of_another_class_comes_back_with_its_values() -> None:
    form = RunForm()
    form.picker.solver.set("estimator", Gaussian(batch_size=7))
    query, other = query_of(form), RunForm()
    assert "solver.estimator=%22Gaussian%22" in query
    shown = other.picker.solver_form
    assert apply_query(other, query) == [] and other.picker.solver_form is not shown, "the form has its fields"
    estimator = other.picker.solver.get("estimator")
    assert type(estimator) is Gaussian and estimator.batch_size == 7
    assert apply_query(other, "?solver.estimator=3&run.seed=4") != [] and other.settings.seed == 4
    assert type(other.picker.solver.get("estimator")) is Gaussian, "what it should not say is left out"
    apply_query(other, "?solver=ZO-SPLM", afresh=True)
    assert type(other.picker.solver.get("estimator")) is Sphere


def described(owner: param.Parameterized) -> tuple[str, dict[str, object]]:
    """The class of an object and all its values, those of its parts described alike."""
    values = {name: value for name, value in owner.param.values().items() if name != "name"}
    nested = (Solver, GradientEstimator)
    return type(owner).__name__, {
        name: described(value) if isinstance(value, nested) else repr(value) for name, value in values.items()
    }


def assert_set_up(form: RunForm, live: Live) -> None:
    """What an experiment declares is on the form to the last parameter, and would be run so."""
    assert apply_query(form, query_for(live.problem, live.solver, live.settings), afresh=True) == []
    until(lambda: not (form.check() and form.loading), pause=0.05)
    assert form.complaint == "", live.title
    run = form.make()
    assert described(run.solver) == described(live.solver) and described(run.problem) == described(live.problem)
    budgets = {name: live.settings.get(name) for name in ("iterations", "calls", "samples", "seconds")}
    assert {name: getattr(run, name) for name in budgets} == budgets and run.replicas == live.settings["replicas"]


def declared(name: str) -> list[Live]:
    full = experiment_named(name)(size="full")
    return full.live(Reproduction.recorded(full).measured)


@pytest.mark.parametrize("name", ["splm-table-2", "zoeg-table-2", "conex-fig-1", "conex-fig-2", "salm-theorem-5-7"])
def test_a_page_is_set_up_as_an_experiment_declares(name: str) -> None:
    form, lives = RunForm(), declared(name)[:3]
    assert lives
    for live in lives:
        assert_set_up(form, live)


@pytest.mark.slow  # images are loaded, and a classifier is trained
@pytest.mark.parametrize(
    "name",
    ["conex-table-1", "conex-table-2", "salm-fair-classification", "salm-multipliers", "salm-theorem-3-1"]
    + ["sogd-fig-1", "sogd-fig-2", "splm-5", "splm-fig-1", "zoeg-fig-1"],
)
def test_a_page_is_set_up_as_every_other_experiment_declares(name: str) -> None:
    form, lives = RunForm(), declared(name)
    assert lives
    for live in lives:
        assert_set_up(form, live)


def test_what_no_field_sets_is_refused() -> None:
    with pytest.raises(ValueError, match="LossTuning that a page can set, got ratios"):
        query_for(LossTuning(ratios=[0.5, 0.6]), OGD(), {})
