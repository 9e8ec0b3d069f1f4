"""The list of stored runs has the titles that the page has elsewhere, and finds runs by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.waiting import until
from zoviz import Run, Store
from zoviz.problems import NonconvexQCQP, WeldedBeam
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard

# Panel's Material widgets of Panel's, and libraries of one another
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

    assert not any(verdict() for _ in range(20))
    waits = False
    until(verdict)


def test_a_command_without_a_tick_says_what_to_do(tmp_path: Path) -> None:
    """The button is disabled then; a click may have been under way when its tick went."""
    page = Dashboard(store=Store(f"sqlite:///{tmp_path / 'runs.db'}"))
    page.rooms.open = "runs"
    assert page.stored_runs is not None
    for command in ("resume", "replay", "open"):
        page.controller.say("")
        getattr(page.stored_runs, command)()
        assert page.controller.message == "Expected one ticked run, got 0: tick the box of one.", command
