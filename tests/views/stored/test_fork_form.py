"""The page's fork: it waits where it leaves its run, with the parameters in the forms, and says what to do."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import pytest

from helpers.waiting import until
from zoviz import Run, Store
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.journal import Change
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # Bokeh's use of pandas
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A run that was steered at iteration 10."""
    kept = Store(f"sqlite:///{tmp_path_factory.mktemp('kept') / 'kept.db'}")
    script = (Change(10, 0, 0.0, "primal_step", None, 2e-3),)
    solver = ZOSPLM(primal_step=1e-3)
    Run(problem=NonconvexQCQP(n=4), solver=solver, replicas=2, iterations=1000, script=script, store=kept).run()
    return kept


@pytest.fixture(scope="module")
def page(store: Store) -> Dashboard:
    """A page's dashboard, whose list begins with that run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of libraries about one another, and there are several
        made = Dashboard(store=store)
        made.library.toggle()
        made.library.library.archive.order = "oldest first"
        made.library.close()
    return made


@pytest.fixture
def dashboard(page: Dashboard) -> Iterator[Dashboard]:
    """The stored run chosen in the list."""
    page.library.toggle()
    page.library.library.archive.table.selection = [0]
    yield page
    page.reset()
    page.library.close()


def message(dashboard: Dashboard) -> str:
    dashboard._tick()
    return dashboard.status._message.object


def test_a_fork_waits_for_changes_and_goes_on_with_them(dashboard: Dashboard, store: Store) -> None:
    library = dashboard.library.library
    library.fork.at = 700
    library._fork()
    run = dashboard.run
    assert not dashboard.library.is_open and "Repeating the first 700 iterations" in message(dashboard)
    dashboard.pause()
    until(lambda: run.status == "paused")
    held = run.progress.iteration
    dashboard.resume()
    until(lambda: run.progress.iteration == 700 and run.status == "paused")
    assert held < 700 and message(dashboard).startswith(
        "Forked at iteration 700: change parameters, then press Resume."
    )
    field = dashboard.choice.solver_form.fields["primal_step"]
    assert field.value == 2e-3 and not field.disabled and dashboard.choice.solver is run.solver
    field.value = 3e-3
    dashboard.resume()
    until(lambda: run.status == "finished")
    assert run.progress.iteration == 1000 and "Forked" not in message(dashboard)
    kept = store.load(run.id)
    assert [(c.iteration, c.new) for c in kept.journal] == [(10, 2e-3), (700, 3e-3)]
    assert kept.record.parent == store.runs(sort="created")[0].id


def test_a_place_that_the_run_did_not_come_to_is_refused_and_budgets_can_be_given(dashboard: Dashboard) -> None:
    library = dashboard.library.library
    library.fork.at = 1001
    library._try(library._fork)
    assert dashboard.run is None and "from 0 to 1000, got 1001" in dashboard._error
    library.fork.at, library.fork.iterations = 5, 9
    library._fork()
    run = dashboard.run
    until(lambda: run.status == "paused")
    assert (run.progress.iteration, run.iterations, run.seconds) == (5, 9, None)
    dashboard.resume()
    until(lambda: run.status == "finished")
    assert run.progress.iteration == 9
    dashboard._tick()
    dashboard.start(steps=1)
    assert dashboard.advice == "", "another run has nothing of the fork"


def test_another_choice_empties_the_fields(dashboard: Dashboard) -> None:
    library = dashboard.library.library
    library.fork.at, library.fork.calls = 7, 100
    library.archive.table.selection = []
    assert (library.fork.at, library.fork.calls) == (None, None)
    widths, shown = library.archive.table.widths, list(library.archive.table.value.columns)
    assert list(widths) == shown
    first = shown[: 1 + max(shown.index(name) for name in ("label", "tags", "notes"))]
    assert 40 + sum(widths[name] for name in first) <= 700, "no scrolling on a page of 1100 pixels"
