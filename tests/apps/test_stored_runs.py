"""Stored runs on the page: found, drawn, forked, deleted; quick with many."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from helpers.dashboard_page import open_list, tick
from zoviz.problems import NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.runs.storage.schema import RUNS
from zoviz.runs.store import Store
from zoviz.solvers import ZOSPLM


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with two runs, for the server that the test starts."""
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    monkeypatch.setenv("ZOVIZ_STORE", url)
    run_store = Store(url)
    for label in ("narrow", "wide"):
        Run(problem=NonconvexQCQP(n=5), solver=ZOSPLM(), replicas=2, iterations=40, label=label, store=run_store).run()
    return run_store


def multiply(store: Store, count: int) -> None:
    """So many lines more in the list."""
    with store.database.writing() as connection:
        row = dict(connection.execute(select(RUNS).limit(1)).mappings().one())
        rows = [
            row | {"id": f"{i:032x}", "created": row["created"] - i - 1, "label": f"copy {i}"} for i in range(count)
        ]
        connection.execute(insert(RUNS), rows)


def rows(lab: Any) -> list[str]:
    return lab.page.locator(".tabulator-row").all_inner_texts()


@pytest.mark.slow
def test_the_list_takes_what_a_tall_window_has(store: Store, serve: Any, open_lab: Any) -> None:
    lab = open_lab(serve().url)
    lab.page.set_viewport_size({"width": 1920, "height": 1080})
    open_list(lab)
    assert store.count() == 2
    lab.until(lambda: lab.page.locator(".tabulator").bounding_box()["height"] > 600, "the list is high")
    fork = lab.page.get_by_role("button", name="Fork", exact=True).bounding_box()
    assert fork["y"] + fork["height"] < 1080, "the buttons below it are in sight"
    tick(lab)
    lab.press("Open")
    lab.until(lambda: lab.page.locator(".tabulator").bounding_box()["height"] < 400, "it leaves room for details")


@pytest.mark.slow
def test_stored_runs_are_found_drawn_forked_and_brought_back(store: Store, serve: Any, open_lab: Any) -> None:
    lab = open_lab(serve().url)
    open_list(lab)
    assert "wide" in rows(lab)[0] and "narrow" in rows(lab)[1]
    heads = lab.page.locator(".tabulator-col-title").all_inner_texts()
    assert {"Problem", "Gap", "Verdict", "Parameters"} <= set(heads)
    assert "Nonconvex QCQP" in rows(lab)[0]
    lab.until(
        lambda: all(re.search("converging|solved|stalled|budget ended", row) for row in rows(lab)),
        "each has its verdict",
    )
    lab.page.locator(".tabulator-col", has_text="Name").first.click()
    lab.until(lambda: "narrow" in rows(lab)[0] and "wide" in rows(lab)[1], "ordered by the head")
    lab.page.get_by_label("Search", exact=True).fill("narrow")
    lab.page.keyboard.press("Enter")
    lab.until(lambda: len(rows(lab)) == 1, "one line found")
    tick(lab)
    lab.press("Put on the plots")
    lab.page.get_by_text("On the plots now, under Run: narrow.").wait_for()
    lab.press("Open")
    details = lab.page.get_by_text("chosen automatically")
    details.wait_for()
    lab.until(lambda: details.bounding_box()["y"] < 800, "its details are in sight")
    lab.press("Fork")
    lab.until(lambda: lab.status() == "paused", "the fork where it leaves its run")
    lab.press("Start")
    lab.until(lambda: lab.status() == "finished", "the fork at its end")
    assert store.count() == 3 and store.runs()[0].parent == store.runs(text="narrow", sort="created")[0].id
    lab.until(lambda: len(lab.drawn()) >= 2, "both on the plots")
    open_list(lab)
    tick(lab)
    before = store.count()
    lab.press("Delete")
    lab.until(lambda: store.count() == before - 1, "deleted")
    lab.press("Undo delete")
    lab.until(lambda: store.count() == before, "brought back")


@pytest.mark.slow  # tests/runs/test_store_speed.py has the store by itself
def test_ten_thousand_runs_open_as_soon_as_ten(store: Store, serve: Any, open_lab: Any) -> None:
    lab = open_lab(serve().url)
    multiply(store, 8)
    open_list(lab)  # once, for what is made at the first time only
    lab.enter("Run")
    few = min(reopened(lab) for _ in range(3))
    with store.database.writing() as connection:
        row = dict(connection.execute(select(RUNS).limit(1)).mappings().one())
        many = [row | {"id": f"{i:032x}", "created": row["created"] - i - 1} for i in range(100, 10_090)]
        connection.execute(insert(RUNS), many)
    lab.visit(lab.page.url)
    open_list(lab)
    lab.enter("Run")
    assert store.count() == 10_000
    quick = min(reopened(lab) for _ in range(3))
    print(f"10 runs {few:.3f} s, 10,000 runs {quick:.3f} s, ratio {quick / few:.2f}")
    assert quick / few <= 3.0


def reopened(lab: Any) -> float:
    """Seconds to open the list once more."""
    seconds = open_list(lab)
    lab.page.get_by_text(" of ").first.wait_for()
    lab.enter("Run")
    lab.until(lambda: lab.page.locator(".tabulator-row").first.is_hidden(), "the list gone")
    return seconds


@pytest.mark.slow
def test_a_run_of_another_process_is_followed_opened_and_seen_to_its_end(
    store: Store, serve: Any, open_lab: Any, tmp_path: Path
) -> None:
    run = Run(NonconvexQCQP(n=5), ZOSPLM(), replicas=1, label="elsewhere", store=store)
    run.start(steps=5)
    lab = open_lab(serve().url)
    open_list(lab)
    lab.until(lambda: "elsewhere" in rows(lab)[0] and "paused" in rows(lab)[0], "the run is in the list")
    tick(lab)
    lab.press("Open")
    lab.until(lambda: lab.page.get_by_text(f"Run {run.id[:8]}, paused").is_visible(), "what is known of it is shown")
    run.step(60)
    lab.until(lambda: lab.page.get_by_text("65 iterations").is_visible(), "it is followed")
    cell = lab.page.locator(".tabulator-row").nth(1).locator(".tabulator-cell[tabulator-field=notes]")
    editor = lab.page.locator(".tabulator-cell.tabulator-editing input")

    def typed() -> bool:
        """Type; again where the list was drawn anew just then, as it follows the run."""
        cell.click()
        lab.page.keyboard.press("Control+a")
        lab.page.keyboard.insert_text("half typed")
        return editor.count() == 1 and editor.input_value() == "half typed"

    lab.until(typed, "a note is being typed")
    run.stop()
    run.wait()
    lab.page.wait_for_timeout(5000)  # the list is due twice
    lab.page.keyboard.press("Enter")
    lab.until(lambda: "stopped" in rows(lab)[0], "its end is seen")
    lab.until(lambda: lab.page.get_by_text(f"Run {run.id[:8]}, stopped").is_visible(), "there too")
    lab.until(lambda: store.runs()[1].notes, "what was typed meanwhile is kept")
    assert store.runs()[1].notes == "half typed"
