"""The room for studies, without a browser: what it shows of a study, live or ended, and what its buttons do."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from zoviz.problems import LoadTracking, NonconvexQCQP
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.studies.study import Study
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.benchmark.page import BenchmarkPage, cost_html, minutes

pytestmark = pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")  # Panel's Material widgets of Panel's


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(f"sqlite:///{tmp_path}/a.db")


@pytest.fixture
def open_page(store: Store) -> Callable[[], BenchmarkPage]:
    """Open the room on a page of its own."""

    def open_one() -> BenchmarkPage:
        dashboard = Dashboard(store=store)
        dashboard.rooms.open = "benchmark"
        assert dashboard.benchmark is not None
        dashboard.benchmark.__panel__()
        return dashboard.benchmark

    return open_one


def run_study(store: Store, **settings: object) -> None:
    problems = {"LoadTracking:n=3": LoadTracking(n=3), "qcqp": NonconvexQCQP(n=4)}
    Study("s", problems, [ZOCEG(), ZOSPLM()], **({"sweeps": 40, "replicas": 2, "store": store} | settings)).run(
        progress=False
    )


def look_until(page: BenchmarkPage, condition: Callable[[], object], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        page.update()
        time.sleep(0.02)
        assert time.monotonic() < end, "the page never came to show it"


def test_an_ended_study_is_shown_and_leads_to_its_runs(store: Store, open_page: Callable[[], BenchmarkPage]) -> None:
    run_study(store)
    page = open_page()
    look_until(page, lambda: page.snapshot is not None and not page.snapshot.unread)
    assert "<b>4 of 4</b> runs have ended: complete" in page.progress.object and page.study == "s"
    assert page.heat_map is not None and len(page.heat_map.source.data["x"]) == 4
    assert page.profiles["data"].lines.data["solver"] == ["ZOCEG", "ZOSPLM"] and page.profiles["data"].bands.data["xs"]
    assert "ZOSPLM" in page.table.object and page.buttons["stop"].disabled and not page.buttons["start"].disabled
    assert not page.show_button.visible
    page.pick_cell("qcqp", "ZOCEG")
    assert "ZOCEG on qcqp" in page.picked.object and page.show_button.visible
    page.put_on_plots()
    assert [entry.run.id for entry in page.controller.runs_shown.runs.values()] == page.picked_ids
    assert page.csv().getvalue().count("\n") == 1 + 8
    assert r"\begin{tabular}{lrrrr}" in page.latex_table().getvalue()


def test_the_level_moves_curves_and_table(store: Store, open_page: Callable[[], BenchmarkPage]) -> None:
    run_study(store)
    page = open_page()
    look_until(page, lambda: page.snapshot is not None)
    bench = page.benchmark
    before = page.table.object, [list(own) for own in page.profiles["data"].lines.data["ys"]]
    page.level = -10.0
    assert page.table.object != before[0] and "1.0e-10" in page.table.object
    assert [list(own) for own in page.profiles["data"].lines.data["ys"]] != before[1]
    assert page.benchmark is bench, "courses are put together when runs end, not while a slider moves"


def test_a_study_that_grows_is_shown_as_it_grows(store: Store, open_page: Callable[[], BenchmarkPage]) -> None:
    run_study(store)
    page = open_page()
    look_until(page, lambda: page.snapshot is not None)
    Study("s", {"other": LoadTracking(n=4)}, [ZOCEG(), ZOSPLM()], sweeps=40, replicas=2, store=store).run(
        progress=False
    )
    page.read_soon()
    look_until(page, lambda: "<b>6 of 6</b>" in page.progress.object)
    assert page.heat_map is not None and page.heat_map.problems == ["LoadTracking:n=3", "qcqp", "other"]


def test_what_cannot_be_run_is_said(store: Store, open_page: Callable[[], BenchmarkPage]) -> None:
    page = open_page()
    page.start()
    assert "at least one problem" in page.controller.error
    page.form.problems = ["PressureVessel"]
    page.form.more_solvers = "ZOCEG:bogus=1"
    page.tell_cost()
    look_until(page, lambda: "parameters of ZOCEG" in page.controller.error)


def test_a_store_with_owners_has_no_such_room(store: Store) -> None:
    assert "benchmark" in Dashboard(store=store).rooms.names
    assert "benchmark" not in Dashboard(store=store.of_owner("ann")).rooms.names


def test_costs_in_words() -> None:
    cost = {"runs": 3, "calls": 1200, "seconds": 240.0, "processes": 2, "tried": 3, "refusals": ["A <b> does not."]}
    assert "3 runs are missing, 1,200 calls in all: about 2 minutes on 2 processors" in cost_html(cost)
    assert "1 pairs are left out, one because: A &lt;b&gt; does not." in cost_html(cost)
    assert "nothing is missing" in cost_html(cost | {"runs": 0})
    assert [minutes(s) for s in (0.2, 80.0, 600.0, 7200.0)] == ["1 s", "80 s", "10 minutes", "2.0 hours"]
