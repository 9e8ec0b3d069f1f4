"""The list of stored runs has the titles that the page has elsewhere, and finds runs by them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import panel as pn
import pytest

from helpers.waiting import until
from zoviz import Run, Store
from zoviz.diagnosis.verdict import Word
from zoviz.problems import NonconvexQCQP, WeldedBeam
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.stored.grid_keys import GridKeys
from zoviz.views.stored.table import AGAIN, DRAWING, StoredRunsTable

# Bokeh's use of pandas
pytestmark = [
    pytest.mark.filterwarnings("ignore::PendingDeprecationWarning"),
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]


def test_titles_search_and_a_sign_that_runs_are_on_the_plots(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    for problem in (NonconvexQCQP(n=3), WeldedBeam()):
        Run(problem, ZOSPLM(primal_step=1e-3), replicas=1, iterations=2, store=store, label="<b>").run()
    page = Dashboard(store=store)
    page.rooms.open = "runs"
    assert page.stored_runs is not None
    table = page.stored_runs.table
    table.read()
    assert list(table.tabulator.value["problem"]) == ["Welded beam design", "Nonconvex QCQP"]
    assert set(table.tabulator.value["solver"]) == {"ZO-SPLM"}
    for text, count in (("welded beam", 1), ("WeldedBeam", 1), ("ZO-SPLM", 2), ("nothing of it", 0)):
        table.text = text
        assert len(table.records) == count, text
    table.text = ""
    table.tabulator.selection = [0, 1]
    page.stored_runs.put_on_plots()
    sign = " ".join(str(one.object) for one in page.stored_runs.__panel__() if hasattr(one, "object"))
    assert "On the plots now, under Run: &lt;b&gt;, &lt;b&gt;." in sign and len(page.controller.runs_shown.runs) == 2


def test_a_tick_stays_with_its_run_while_the_list_is_read_again(tmp_path: Path) -> None:
    """Others have come before it by then; a tick that came while the list was on its way would be lost else."""
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")

    def add(label: str) -> None:
        Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), replicas=1, iterations=2, store=store, label=label).run()

    add("first")
    page = Dashboard(store=store)
    page.rooms.open = "runs"
    assert page.stored_runs is not None
    table = page.stored_runs.table
    table.read()
    table.tabulator.selection = [0]
    add("second")
    table.read()
    assert table.tabulator.selection == [1] and [one.label for one in table.selection] == ["first"]
    store.annotate(table.selection[0].id, notes="seen")
    table.read()
    assert table.selection[0].notes == "seen", "the record is the store's present one"
    page.stored_runs.delete()
    assert (
        table.tabulator.selection == [] and table.selection == [] and [one.label for one in table.records] == ["second"]
    )
    table.tabulator.selection = [0]
    page.stored_runs.replay()
    assert table.selection == [], "what was chosen has been done"
    page.controller.stop()


def test_the_list_is_not_completed_while_a_tick_is_on_its_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), replicas=1, iterations=2, store=store).run()
    page = Dashboard(store=store)
    page.rooms.open = "runs"
    assert page.stored_runs is not None
    table = page.stored_runs.table
    waits = True
    monkeypatch.setattr("zoviz.views.stored.table.changes_wait", lambda _: waits)

    def verdict() -> str:
        table.update()
        return str(table.tabulator.value["verdict"][0])

    assert {verdict() for _ in range(20)} == {"…"}
    waits = False
    until(lambda: verdict() != "…")


def test_an_empty_room_says_what_it_is_for_and_offers_a_run(tmp_path: Path) -> None:
    page = Dashboard(store=Store(f"sqlite:///{tmp_path / 'runs.db'}"))
    page.rooms.open = "runs"
    room = page.stored_runs
    assert room is not None
    room.table.read()
    assert room.hint.visible and room.table.empty
    room.hint.objects[1].clicks += 1
    assert page.controller.run is not None
    page.controller.stop()
    until(lambda: not room.table.read() and bool(room.table.records))
    assert not room.hint.visible
    room.table.text = "nothing of it"
    assert not room.table.records and not room.hint.visible, "the search is at fault, not the store"


def test_a_sign_stands_until_a_browser_shows_the_list(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), replicas=1, iterations=2, store=store).run()
    page = Dashboard(store=store)
    page.rooms.open = "runs"
    assert page.stored_runs is not None
    column = page.stored_runs.table.__panel__()
    assert isinstance(column, pn.Column)

    def said() -> str:
        return " ".join(str(one.object) for one in column.select(pn.pane.HTML))

    page.stored_runs.table.read()
    assert "Reading the list" in said() and "1 to 1 of 1" not in said()
    (keys,) = column.select(GridKeys)
    for nonsense in ({"drawn": 1}, {"drawn": False}, "drawn"):
        keys.press(nonsense)
    assert "Reading the list" in said()
    keys.press({"drawn": True})
    assert "1 to 1 of 1" in said() and "Reading the list" not in said()


@pytest.mark.parametrize("live", [True, False])
def test_a_name_given_on_the_page_is_the_stored_run_s(tmp_path: Path, live: bool) -> None:
    store = Store(f"sqlite:///{tmp_path / 'runs.db'}")
    page = Dashboard(store=store)
    run = Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), replicas=1, iterations=2, store=store)
    run.run()
    shown = page.controller.runs_shown
    entry = shown.put(run if live else store.load(run.id))
    assert store.runs()[0].label == "", "the page's own numbering is no name"
    shown.rename(entry.key, "first <try>, noisy")
    assert store.runs()[0].label == "first <try>, noisy" and page.controller.error == ""
    away = Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), replicas=1, iterations=2)
    away.run()
    shown.rename(shown.put(away).key, "not kept")
    assert len(store.runs()) == 1 and page.controller.error == ""


def test_what_was_typed_is_kept_where_the_list_is_due_before_panel_tells_of_it(tmp_path: Path) -> None:
    store, clock = Store(f"sqlite:///{tmp_path / 'runs.db'}"), [0.0]
    Run(NonconvexQCQP(n=3), ZOSPLM(), replicas=1, iterations=2, store=store).run()
    table = StoredRunsTable(Dashboard(store=store).controller, clock=lambda: clock[0])
    table.read()
    typed = {"notes": "half typed", "tags": "a, b", "label": "first"}
    for name, text in typed.items():
        table.tabulator.value.loc[0, name] = text  # as Panel takes on what a browser sends, before it calls anybody
    clock[0] += 1e6
    table.update()
    (line,) = store.runs()
    assert (line.notes, line.tags, line.label) == ("half typed", ("a", "b"), "first")
    assert [table.tabulator.value[name][0] for name in typed] == ["half typed", "a b", "first"]


def test_columns_are_as_wide_as_their_words(tmp_path: Path) -> None:
    table = StoredRunsTable(Dashboard(store=Store(f"sqlite:///{tmp_path / 'runs.db'}")).controller)
    columns = list(table.tabulator.value.columns)
    assert table.tabulator.layout == "fit_data_stretch" and columns[-1] == "parameters", "the longest has what is left"
    longest = {"verdict": max(Word, key=len), "gap": "-1.4e-07"}  # known once their columns are laid out
    assert all(table.tabulator.widths[name] >= 7 * len(word) + 12 for name, word in longest.items())
    assert columns[:2] == ["label", "problem"] and table.tabulator.titles["label"] == "Name"


def test_a_command_without_a_tick_says_what_to_do(tmp_path: Path) -> None:
    """The button is disabled then; a click may have been under way when its tick went."""
    page = Dashboard(store=Store(f"sqlite:///{tmp_path / 'runs.db'}"))
    page.rooms.open = "runs"
    assert page.stored_runs is not None
    for command in ("resume", "replay", "open"):
        page.controller.say("")
        getattr(page.stored_runs, command)()
        assert page.controller.message == "Expected one selected run, got 0: select one.", command


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Run]:
    """A run that is at work and kept in a store which the page has opened by itself, as another process's is."""
    run = Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), replicas=1, store=f"sqlite:///{tmp_path / 'runs.db'}")
    run.start(steps=3)
    until(lambda: run.status == "paused")
    yield run
    run.stop()
    run.wait()


def test_runs_of_others_are_followed_to_their_end(tmp_path: Path, elsewhere: Run) -> None:
    page = Dashboard(store=Store(f"sqlite:///{tmp_path / 'runs.db'}"))
    page.rooms.open = "runs"
    assert page.stored_runs is not None
    now = 0.0
    table = StoredRunsTable(page.controller, lambda: now)
    table.read()
    first = table.tabulator.value
    table.tabulator.selection = [0]
    elsewhere.step(40)
    until(lambda: elsewhere.status == "paused" and elsewhere.progress.iteration == 43)
    until(lambda: Store(f"sqlite:///{tmp_path / 'runs.db'}").runs()[0].iterations == 43)
    table.update()
    assert list(table.tabulator.value["calls"]) == list(first["calls"]), "it is not due yet"
    now = AGAIN + 0.1
    table.update()
    calls = f"{elsewhere.progress.calls:,}"
    assert list(table.tabulator.value["calls"]) == [calls] and table.selection[0].iterations == 43
    elsewhere.stop()
    elsewhere.wait()
    Run(NonconvexQCQP(n=3), ZOSPLM(primal_step=1e-3), iterations=2, store=f"sqlite:///{tmp_path / 'runs.db'}").run()
    now += DRAWING + 60.0
    table.update()
    assert list(table.tabulator.value["status"]) == ["finished", "stopped"]
    assert [one.status for one in table.selection] == ["stopped"], "the tick stays with its run"


def test_only_cells_are_sent_where_the_runs_are_the_same(tmp_path: Path, elsewhere: Run) -> None:
    """What is typed in another cell, and ticks, would be lost else."""
    page = Dashboard(store=Store(f"sqlite:///{tmp_path / 'runs.db'}"))
    now = 0.0
    table = StoredRunsTable(page.controller, lambda: now)
    table.read()
    whole: list[object] = []
    table.tabulator.param.watch(lambda event: whole.append(event), "value", onlychanged=False)
    elsewhere.step(5)
    until(lambda: Store(f"sqlite:///{tmp_path / 'runs.db'}").runs()[0].iterations == 8)
    now = DRAWING + 60.0
    table.update()
    frames = {id(event.new) for event in whole}
    assert frames <= {id(table.tabulator.value)} and table.records[0].iterations == 8
    assert list(table.tabulator.value["calls"]) == [f"{elsewhere.progress.calls:,}"]


def test_what_is_open_of_a_run_follows_it_and_a_fork_s_place_stays(tmp_path: Path, elsewhere: Run) -> None:
    page = Dashboard(store=Store(f"sqlite:///{tmp_path / 'runs.db'}"))
    page.rooms.open = "runs"
    stored_runs = page.stored_runs
    assert stored_runs is not None
    stored_runs.table.read()
    stored_runs.table.tabulator.selection = [0]
    stored_runs.open()

    def text() -> str:
        return " ".join(str(one.object) for one in stored_runs.__panel__() if hasattr(one, "object"))

    assert f"Run {elsewhere.id[:8]}, paused" in text() and "3 iterations" in text()
    stored_runs.fork.at = 2
    elsewhere.step(5)
    until(lambda: stored_runs.table.read() or "8 iterations" in text())
    assert stored_runs.fork.at == 2
    elsewhere.stop()
    elsewhere.wait()
    stored_runs.table.read()
    assert f"Run {elsewhere.id[:8]}, stopped" in text()
    stored_runs.table.tabulator.selection = []
    assert f"Run {elsewhere.id[:8]}, stopped" in text(), "a browser that draws the list anew drops its ticks"
    stored_runs.table.tabulator.selection = [0]
    stored_runs.delete()
    assert f"Run {elsewhere.id[:8]}, stopped" not in text()
