"""The room for studies, without a browser: what it shows of a study, live or ended, and what its buttons do."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest
from bokeh.events import Tap

from helpers.project import ROOT
from zoviz.benchmark.report import latex
from zoviz.problems import LoadTracking, NonconvexQCQP, Suite
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.store import Store
from zoviz.solvers import COBYLA, ZOCEG, ZOSPLM
from zoviz.studies.study import Study
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.benchmark.page import BenchmarkPage, cost_html, progress_html, seconds_left

RESULTS = ROOT / "tests" / "data" / "optiprofiler_hs.h5"


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


def refresh_until(page: BenchmarkPage, condition: Callable[[], object], seconds: float = 240.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        page.update()
        time.sleep(0.02)
        assert time.monotonic() < end, "the page never came to show it"


def test_an_ended_study_is_shown_and_leads_to_its_runs(store: Store, open_page: Callable[[], BenchmarkPage]) -> None:
    run_study(store)
    page = open_page()
    refresh_until(page, lambda: page.snapshot is not None and not page.snapshot.unread)
    assert "<b>4 of 4</b> runs have ended: complete" in page.progress.object and page.study == "s"
    assert page.heat_map is not None and len(page.heat_map.source.data["x"]) == 4
    assert (
        page.results.curves["data"].lines.data["solver"] == ["ZOCEG", "ZOSPLM"]
        and page.results.curves["data"].bands.data["xs"]
    )
    assert "ZOSPLM" in page.results.table.object and not page.buttons["stop"].visible and page.buttons["start"].visible
    assert not page.show_button.visible
    page.pick_cell("qcqp", "ZOCEG")
    assert "ZOCEG on qcqp" in page.picked.object and page.show_button.visible
    page.put_on_plots()
    assert [entry.run.id for entry in page.controller.runs_shown.runs.values()] == page.picked_ids
    assert page.results.runs_file(".csv").count(b"\n") == 1 + 8
    assert r"\begin{tabular}{lrrrr}" in page.results.table_text(latex).decode()


def test_the_level_moves_curves_and_table(store: Store, open_page: Callable[[], BenchmarkPage]) -> None:
    run_study(store)
    page = open_page()
    refresh_until(page, lambda: page.snapshot is not None)
    bench = page.results.benchmark
    before = page.results.table.object, [list(own) for own in page.results.curves["data"].lines.data["ys"]]
    page.results.level = -10.0
    assert page.results.table.object != before[0] and "1.0e-10" in page.results.table.object
    assert [list(own) for own in page.results.curves["data"].lines.data["ys"]] != before[1]
    assert page.results.benchmark is bench, "courses are put together when runs end, not while a slider moves"


def test_a_part_of_the_problems_is_shown_and_exported(store: Store, open_page: Callable[[], BenchmarkPage]) -> None:
    run_study(store)
    page = open_page()
    results = page.results
    refresh_until(page, lambda: page.snapshot is not None and not page.snapshot.unread)
    assert list(results.param.kind.names) == ["all kinds", "Power grids (1)", "Quadratic (1)"]
    assert list(results.param.dimension.names) == ["all", "n = 3 (1)", "n = 4 (1)"]
    assert "qcqp" in results.running_times.object and results.curves["targets"].lines.data["solver"]
    results.kind = "Power grids"
    assert results.benchmark.problems == ("LoadTracking:n=3",) and "qcqp" not in results.running_times.object
    assert results.runs_file(".csv").count(b"\n") == 1 + 4
    results.dimension = "n = 4"
    assert results.benchmark.problems == () and not results.curves["data"].lines.data["solver"]
    assert page.heat_map is not None and page.heat_map.problems == ["LoadTracking:n=3", "qcqp"], "the map has all"


def test_simulated_restarts_reach_what_a_run_of_several_reaches(
    store: Store, open_page: Callable[[], BenchmarkPage]
) -> None:
    run_study(store, replicas=4)
    page = open_page()
    refresh_until(page, lambda: page.snapshot is not None and not page.snapshot.unread)
    curve = page.results.curves["targets"].lines
    before = [float(own[-1]) for own in curve.data["ys"]]
    page.results.restarts = True
    after = [float(own[-1]) for own in curve.data["ys"]]
    assert all(old <= new for old, new in zip(before, after, strict=True)) and before != after


def test_imported_results_join_the_curves_until_they_are_taken_away(
    store: Store, open_page: Callable[[], BenchmarkPage]
) -> None:
    pytest.importorskip("h5py")
    problems = {"Suite:problem_name=HS43": Suite(problem_name="HS43"), "load": LoadTracking(n=3)}
    Study("s", problems, [COBYLA(), ZOCEG()], sweeps=16, replicas=2, store=store).run(progress=False)
    page = open_page()
    refresh_until(page, lambda: page.snapshot is not None and not page.snapshot.unread)
    imports, curves = page.results.imports, page.results.curves["data"]
    imports.field.filename, imports.field.value = [RESULTS.name], [RESULTS.read_bytes()]
    refresh_until(page, lambda: len(curves.lines.data["solver"]) == 4)
    assert curves.lines.data["solver"][2:] == ["COBYLA (imported)", "SLSQP (imported)"]
    assert "COBYLA, imported: 1 of the file&#x27;s 3 problems" in imports.remarks.object
    assert page.heat_map is not None and page.heat_map.solvers == ["COBYLA", "ZOCEG"]
    page.results.curves["targets"].tapped(
        Tap(None, x=1e9, y=float(page.results.curves["targets"].lines.data["ys"][3][-1]))
    )
    assert "targets of Suite:problem_name=HS43" in page.picked.object
    imports.take_away()
    assert curves.lines.data["solver"] == ["COBYLA", "ZOCEG"] and not imports.away.visible
    imports.field.filename, imports.field.value = ["a.txt"], [b"nothing"]
    refresh_until(page, lambda: "Expected OptiProfiler's data_for_loading.h5" in page.controller.error)
    assert curves.lines.data["solver"] == ["COBYLA", "ZOCEG"]


def test_a_study_that_grows_is_shown_as_it_grows(store: Store, open_page: Callable[[], BenchmarkPage]) -> None:
    run_study(store)
    page = open_page()
    refresh_until(page, lambda: page.snapshot is not None)
    Study("s", {"other": LoadTracking(n=4)}, [ZOCEG(), ZOSPLM()], sweeps=40, replicas=2, store=store).run(
        progress=False
    )
    page.read_soon()
    refresh_until(page, lambda: "<b>6 of 6</b>" in page.progress.object)
    assert page.heat_map is not None and page.heat_map.problems == ["LoadTracking:n=3", "qcqp", "other"]


def test_an_empty_room_offers_a_study_which_says_at_once_how_it_goes(
    store: Store, open_page: Callable[[], BenchmarkPage], monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []

    class Process:
        active, complaint = True, ""

        def __init__(self, store: Store, command: list[str]) -> None:
            started.append(command)

    monkeypatch.setattr("zoviz.views.benchmark.page.StudyProcess", Process)
    page = open_page()
    assert page.hint.visible and page.progress.object == "" and page.buttons["start"].visible
    page.hint.objects[1].clicks += 1
    assert "PressureVessel" in started[0] and "ZOSQP" in started[0] and not page.hint.visible
    assert "<progress" in page.progress.object and "Starting benchmark: 0 s" in page.progress.object
    assert page.buttons["stop"].visible and not page.buttons["start"].visible, "one of the two at a time"
    assert page.sentence.object == ""


def test_the_time_that_is_left_falls_with_what_is_done(store: Store, open_page: Callable[[], BenchmarkPage]) -> None:
    run_study(store)
    page = open_page()
    refresh_until(page, lambda: page.snapshot is not None and not page.snapshot.unread)
    snapshot = page.snapshot
    assert snapshot is not None
    ids = list(snapshot.records)
    ended = {id: one._replace(seconds=100.0) for id, one in snapshot.records.items()}
    left = []
    for count in range(1, 5):
        some = snapshot._replace(active=True, records={id: ended[id] for id in ids[:count]}, outcomes={})
        left.append(seconds_left(some, 2))
        assert ("left." in progress_html(some, 2)) == (count < 4)
    assert left == [150.0, 100.0, 50.0, 0.0]
    going = ended | {ids[3]: ended[ids[3]]._replace(status=RunStatus.RUNNING, seconds=40.0)}
    assert seconds_left(snapshot._replace(records=going), 1) == 60.0
    assert "left" not in progress_html(snapshot._replace(active=True, records={}, outcomes={}))


def test_what_cannot_be_run_is_said(store: Store, open_page: Callable[[], BenchmarkPage]) -> None:
    page = open_page()
    page.start()
    assert "at least one problem" in page.controller.error
    page.form.problems = ["PressureVessel"]
    page.form.more_solvers = "ZOCEG:bogus=1"
    page.tell_cost()
    refresh_until(page, lambda: "parameters of ZOCEG" in page.controller.error)


def test_a_store_with_owners_has_no_such_room(store: Store) -> None:
    assert "benchmark" in Dashboard(store=store).rooms.names
    assert "benchmark" not in Dashboard(store=store.of_owner("ann")).rooms.names


def test_costs_in_words() -> None:
    cost = {"runs": 3, "calls": 1200, "seconds": 240.0, "processes": 2, "tried": 3, "refusals": ["A <b> does not."]}
    assert "3 runs to do, 1,200 calls in all: about 2 minutes on 2 processors" in cost_html(cost)
    assert "1 pairs cannot be run, for example: A &lt;b&gt; does not." in cost_html(cost)
    assert "All runs of this study are done" in cost_html(cost | {"runs": 0})
