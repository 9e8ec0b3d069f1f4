"""The page's fork: it waits where it leaves its run, with the parameters in the forms, and says what to do."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from helpers.waiting import until
from zoviz import Run, Store
from zoviz.core.types import Evaluation
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.steering import Change
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # Bokeh's use of pandas
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A run that was steered at iteration 10."""
    run_store = Store(f"sqlite:///{tmp_path_factory.mktemp('kept') / 'kept.db'}")
    script = (Change(10, 0, 0.0, "primal_step", None, 2e-3),)
    solver = ZOSPLM(primal_step=1e-3)
    Run(problem=NonconvexQCQP(n=4), solver=solver, replicas=2, iterations=1000, schedule=script, store=run_store).run()
    return run_store


@pytest.fixture(scope="module")
def page(store: Store) -> Dashboard:
    """A page's dashboard, whose list begins with that run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries about one another, and there are several
        dashboard = Dashboard(store=store)
        dashboard.rooms.open = "runs"
        dashboard.stored_runs.table.order = "oldest first"
        dashboard.rooms.open = "run"
    return dashboard


@pytest.fixture
def dashboard(page: Dashboard) -> Iterator[Dashboard]:
    """The stored run chosen in the list."""
    page.rooms.open = "runs"
    page.stored_runs.table.tabulator.selection = [0]
    yield page
    for key in tuple(page.controller.runs_shown.runs):
        page.controller.forget(key)
    page.rooms.open = "run"


def message(dashboard: Dashboard) -> str:
    dashboard.refresh()
    return dashboard.status_bar.message


def test_a_fork_waits_for_changes_and_goes_on_with_them(
    dashboard: Dashboard, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = dashboard.stored_runs
    page.fork.at = 700
    # No value comes until the run has been told to pause: else, on a fast machine, the 700 are over by then, and the
    # Start that is meant for the pause ends the fork's waiting.
    evaluate, gate = NonconvexQCQP.evaluate, threading.Event()

    def evaluate_behind_gate(problem: NonconvexQCQP, *args: Any, **kwargs: Any) -> Evaluation:
        assert gate.wait(60)
        return evaluate(problem, *args, **kwargs)

    monkeypatch.setattr(NonconvexQCQP, "evaluate", evaluate_behind_gate)
    page.begin_fork()
    run = dashboard.controller.run
    assert dashboard.rooms.open == "run" and "Replaying 700 iterations" in message(dashboard)
    dashboard.controller.pause()
    gate.set()
    until(lambda: run.status == "paused")
    assert run.progress.iteration < 700
    dashboard.controller.unpause()
    until(lambda: run.progress.iteration == 700 and run.status == "paused")
    assert message(dashboard).startswith("Forked at iteration 700: change parameters, then press Start.")
    field = dashboard.form.picker.solver_form.fields["primal_step"]
    assert field.held == 2e-3 and not field.disabled and dashboard.form.picker.solver is run.solver
    field.value = 3e-3
    dashboard.controller.unpause()
    until(lambda: run.status == "finished")
    assert run.progress.iteration == 1000 and "Forked" not in message(dashboard)
    stored_run = store.load(run.id)
    assert [(c.iteration, c.new) for c in stored_run.journal] == [(10, 2e-3), (700, 3e-3)]
    assert stored_run.record.parent == store.runs(sort="created")[0].id


def test_a_place_that_the_run_did_not_come_to_is_refused_and_budgets_can_be_given(dashboard: Dashboard) -> None:
    page = dashboard.stored_runs
    page.fork.at = 1001
    page.begin_fork()
    assert dashboard.controller.run is None and "from 0 to 1000, got 1001" in dashboard.controller.error
    page.fork.at, page.fork.iterations = 5, 9
    page.begin_fork()
    run = dashboard.controller.run
    until(lambda: run.status == "paused")
    assert (run.progress.iteration, run.iterations, run.seconds) == (5, 9, None)
    dashboard.controller.unpause()
    until(lambda: run.status == "finished")
    assert run.progress.iteration == 9
    dashboard.refresh()
    dashboard.controller.start(steps=1)
    assert "fork" not in message(dashboard), "another run has nothing of the fork"


def test_another_choice_empties_the_fields(dashboard: Dashboard) -> None:
    page = dashboard.stored_runs
    page.fork.at, page.fork.calls = 7, 100
    page.table.tabulator.selection = []
    assert (page.fork.at, page.fork.calls) == (None, None)
    columns = list(page.table.tabulator.value.columns)
    assert columns[-2:] == ["run", "parameters"], "a narrow page leaves these to scrolling first"
