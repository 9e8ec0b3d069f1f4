"""A link shows another person the same: what is set on a page goes into its address and comes out of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from zoviz import Run, Store
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.app.page_address import apply_query, query_of
from zoviz.views.controls.run_form import RunForm

# Panel's Material widgets of Panel's
pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")


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


def test_what_an_address_should_not_say_is_left_out_and_told() -> None:
    form = RunForm()
    query = "?problem=Nonsense&solver=ZO-SPLM&solver.primal_step=-1&problem.n=many&run.seed=3&problem.__class__=1"
    complaints = apply_query(form, query)
    assert len(complaints) == 3 and "'Nonsense'" in complaints[0] and "primal_step" in complaints[1]
    assert form.settings.seed == 3 and form.picker.solver.primal_step is None and form.picker.problem.n == 50


def test_a_page_shows_the_stored_runs_that_its_address_names(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    run = Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), replicas=1, iterations=3, store=store)
    run.run()
    page = Dashboard(store=store)
    page.read_address(f"?runs={run.id},00000000")
    assert [entry.run.id for entry in page.controller.runs_shown.runs.values()] == [run.id]
    assert "Run 00000000 of the address is left out" in page.controller.error
    page.read_address("")
    bare = Dashboard()
    bare.read_address(f"?runs={run.id}")
    assert "no store" in bare.controller.error
