"""What the list of stored runs says of each: gap, verdict, and the parameters that differ from their defaults."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.waiting import until
from zoviz import Run, Store
from zoviz.core.ranking import quartile
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.stored.summary import summary_of

# Bokeh's use of pandas
pytestmark = [
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    problem = LoadTracking(n=4, noise_scale=0.5)
    Run(problem, ZOSPLM(primal_step=1e-3), replicas=2, iterations=9, store=store, label="b").run()
    Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=2e-3), replicas=1, iterations=2, store=store, label="a").run()
    return store


def test_gap_verdict_and_parameters_of_a_stored_run(store: Store) -> None:
    run = store.load(store.runs(sort="created")[0].id)
    summary = summary_of(run)
    assert summary.gap == pytest.approx(quartile(run.trace["gap"][-1])) and summary.verdict
    assert summary.parameters.split(", ") == ["n=4", "noise_scale=0.5", "primal_step=0.001"]


def test_a_run_without_an_optimum_has_no_gap(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'other.db'}")
    problem = BlackBox(np.linalg.norm, x0=[1.0, 2.0])
    Run(problem, ZOSPLM(primal_step=1e-3), replicas=1, iterations=2, store=store).run()
    summary = summary_of(store.load(store.runs()[0].id))
    assert np.isnan(summary.gap) and all(len(word) < 60 for word in summary.parameters.split(", "))


def test_values_read_as_a_person_writes_them(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'own.db'}")
    problem = BlackBox(np.linalg.norm, bounds=[(0, 1), (0, np.inf)], x0=[0.5, 0.5])
    Run(problem, ZOSPLM(primal_step=1e-3), replicas=1, iterations=2, store=store).run()
    parameters = summary_of(store.load(store.runs()[0].id)).parameters
    assert (
        "bounds=[[0, 1], [0, inf]]" in parameters and "x0=[0.5, 0.5]" in parameters and "objective=norm" in parameters
    )
    assert "{" not in parameters and "constants" not in parameters, "an empty default is no difference"


def test_the_list_is_completed_once_a_thread_has_read_the_runs_and_sorted_by_its_heads(store: Store) -> None:
    page = Dashboard(store=store)
    page.rooms.open = "runs"
    assert page.stored_runs is not None
    table = page.stored_runs.table
    table.read()
    until(lambda: table.update() or "…" not in set(table.tabulator.value["verdict"]))
    assert list(table.tabulator.value["parameters"])[0] == "n=3, primal_step=0.002"
    for clicks, labels in ((1, ["a", "b"]), (1, ["b", "a"])):
        for _ in range(clicks):
            table.tabulator.sorters = [{"field": "label", "dir": "asc"}]
        assert list(table.tabulator.value["label"]) == labels and table.tabulator.sorters == []
    assert "…" not in set(table.tabulator.value["verdict"]), "what was read once is known"
