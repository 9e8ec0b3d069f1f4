"""What a page sends when a run begins: the state of the buttons first, and no line's data twice."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import ColumnDataSource, Line
from bokeh.plotting import figure
from bokeh.protocol.messages.patch_doc import patch_doc
from panel.io.state import set_curdoc

from helpers.waiting import until
from zoviz import Run
from zoviz.core.threads import refresh_queue
from zoviz.core.threads.rests import RESTS
from zoviz.problems import LoadTracking
from zoviz.runs.engine.stopping import RunStatus
from zoviz.solvers import ZOCEG, ZOSQP
from zoviz.views.app import dashboard as dashboard_module
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.common.style import batched_changes
from zoviz.views.plots.board import Board


def listened(document: Document, change: Callable[[], None]) -> list[patch_doc]:
    """The messages that a server sends for a change: one for each event, at once."""
    messages: list[patch_doc] = []
    document.callbacks.on_change(lambda event: messages.append(patch_doc.create([event])))
    change()
    return messages


def two_lines(document: Document) -> None:
    """Two figures of one document get a line each, both of one new source."""
    source = ColumnDataSource({"x": np.arange(5.0), "y": np.arange(5.0)})
    for plot in document.roots:
        plot.add_glyph(source, Line(x="x", y="y"))


@pytest.mark.parametrize("together", [True, False])
def test_new_data_travel_once(together: bool) -> None:
    document = Document()
    for _ in range(2):
        document.add_root(figure())

    def change() -> None:
        if together:
            with batched_changes(document):
                two_lines(document)
        else:
            with document.models.freeze():
                two_lines(document)

    sent = sum(len(message.buffers) for message in listened(document, change))
    assert (
        (sent == 2) if together else (sent > 2)
    )  # x and y; else Bokeh has changed, and there is no need of batched_changes


def test_without_a_document_changes_are_made_all_the_same() -> None:
    plot = figure()
    with batched_changes(None):
        plot.line([1, 2], [3, 4])
    assert len(plot.renderers) == 1


def test_buttons_answer_before_the_lines_and_the_list_are_made() -> None:
    dashboard = Dashboard(LoadTracking(n=5), ZOCEG())
    dashboard.form.settings.iterations = 2000
    order: list[str] = []

    def note(word: str) -> Callable[[Any], None]:
        return lambda _: order.append(word)

    dashboard.buttons.buttons["start"].param.watch(note("button"), "label")
    dashboard.run_list.param.watch(note("list"), "rows")
    # Bokeh's own models must wait for a look: a handler may lack the document's lock.
    dashboard.status_bar.counters.on_change("tags", lambda attr, old, new: order.append("counters"))
    dashboard.controller.start()
    try:
        assert order[0] == "button" and not {"list", "counters"} & set(order)
        for _ in range(200):
            dashboard.refresh()
            if "list" in order:
                break
        assert {"list", "counters"} <= set(order)
        assert len(dashboard.run_list.rows) == 1
    finally:
        dashboard.controller.stop()
        assert isinstance(dashboard.controller.run, Run)
        dashboard.controller.run.wait()


def test_lines_wait_until_a_new_status_and_the_buttons_are_on_their_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine both came seconds late: in the same message as the lines, or behind them."""
    dashboard, document = Dashboard(LoadTracking(n=5), ZOCEG()), Document()
    order: list[str] = []
    unsent = False
    monkeypatch.setattr(dashboard_module, "messages_wait", lambda document: unsent)
    monkeypatch.setattr(dashboard.board, "refresh", lambda plots: order.append("lines"))
    dashboard.status_bar.counters.on_change("tags", lambda attr, old, new: order.append("status"))
    dashboard.form.settings.iterations = 3
    dashboard.controller.start()
    run = dashboard.controller.run
    assert isinstance(run, Run)
    run.wait()
    with set_curdoc(document):
        dashboard.refresh_if_due()
        assert order == ["status"], "finished"
        unsent = True
        dashboard.refresh_if_due()
        assert order == ["status"], "a button's change is deferred"
        unsent = False
        dashboard.refresh_if_due()
    assert order == ["status", "lines"]


def test_a_look_that_has_something_to_say_draws_the_lines_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    dashboard, document = Dashboard(LoadTracking(n=5), ZOCEG()), Document()
    unsent: list[str] = []
    drawn: list[str] = []
    monkeypatch.setattr(dashboard, "tell", lambda: unsent.append("counters"))
    monkeypatch.setattr(dashboard_module, "messages_wait", lambda document: bool(unsent))
    monkeypatch.setattr(dashboard, "draw", lambda *limits: drawn.append("lines") or True)
    with set_curdoc(document):
        dashboard.refresh_if_due()
    assert (unsent, drawn) == (["counters"], ["lines"])


@pytest.mark.parametrize("rows", [1, 2])
def test_lines_are_made_once_a_run_has_taken_a_step(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """The start alone makes no line and lacks columns: lines made of it would have to be made again."""
    board = Board()
    plot = next(view.figure for view in board.views if type(view).__name__ == "Violation")
    run = Run(problem=LoadTracking(n=5), solver=ZOCEG(), iterations=1)
    run.run()
    whole = run.trace.snapshot()
    columns = {name: values[:rows] for name, values in whole.columns.items()}
    monkeypatch.setattr(run.trace, "snapshot", lambda: whole._replace(columns=columns, rows=rows))
    before = len(plot.renderers)
    board.runs_shown.put(run)
    board.refresh()
    assert (len(plot.renderers) > before) == (rows > 1)


def paused_run(dashboard: Dashboard) -> Run:
    """Start a page's run for one step; return it once it has paused."""
    dashboard.controller.start(steps=1)
    run = dashboard.controller.run
    assert isinstance(run, Run)
    until(lambda: run.status is RunStatus.PAUSED)
    return run


@pytest.mark.parametrize("steps", [0, 1])
def test_looks_follow_at_once_until_a_run_has_a_line(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    dashboard, document, drawn = Dashboard(LoadTracking(n=5), ZOCEG()), Document(), []
    monkeypatch.setattr(dashboard_module, "messages_wait", lambda document: False)
    monkeypatch.setattr(refresh_queue, "SHARE", float("inf"))  # however long a look takes here
    monkeypatch.setattr(dashboard_module, "PERIOD", float("inf"))  # longer than any machine has been on
    run = paused_run(dashboard)
    try:
        with set_curdoc(document):
            dashboard.refresh_if_due()  # of the buttons
            monkeypatch.setattr(dashboard, "draw", lambda *limits: drawn.append(1) or True)
            if not steps:
                monkeypatch.setattr(type(run.trace), "__len__", lambda trace: 1)
            for _ in range(4):
                dashboard.refresh_if_due()
        assert len(drawn) == (1 if steps else 4)
    finally:
        dashboard.controller.stop()
        run.wait()


@pytest.mark.parametrize("patience", [0.0, 1e9])
def test_lists_and_the_room_wait_for_the_first_lines_but_not_for_long(
    monkeypatch: pytest.MonkeyPatch, patience: float
) -> None:
    """Each takes a browser time that a person who has pressed Start waits for the line."""
    dashboard, document, drawn = Dashboard(store=None), Document(), []
    monkeypatch.setattr(dashboard_module, "messages_wait", lambda document: False)
    monkeypatch.setattr(dashboard_module, "FIRST_LINES", patience)
    monkeypatch.setattr(dashboard_module, "OPENING", patience)
    monkeypatch.setattr(refresh_queue, "SHARE", float("inf"))  # however long a look takes here
    monkeypatch.setattr(dashboard.run_list, "update", lambda: drawn.append("list"))
    with set_curdoc(document):
        pn.panel(dashboard)  # as on a page: from now on it looks at its runs
        monkeypatch.setattr(dashboard_module, "PERIOD", 0.0)
        run = paused_run(dashboard)
    try:
        with set_curdoc(document):
            with monkeypatch.context() as start:
                start.setattr(type(run.trace), "__len__", lambda trace: 1)
                for _ in range(4):
                    dashboard.refresh_if_due()
                waits = not drawn and dashboard.rooms.open != "run"
            for _ in range(20):  # plots come two at a time
                dashboard.refresh_if_due()
        assert waits == (patience > 0.0)
        assert (bool(drawn), dashboard.rooms.open) == (True, "run")
    finally:
        dashboard.controller.stop()
        run.wait()


def test_a_figure_that_a_run_needs_is_sent_with_its_lines_not_on_a_way_of_its_own() -> None:
    board, document = Board(), Document()
    document.add_root(board.__panel__().get_root(document))
    run = Run(problem=LoadTracking(n=5), solver=ZOSQP(), replicas=2, iterations=3)
    run.run()
    board.runs_shown.put(run)
    held: list[str | None] = []
    grid = board.__panel__()
    grid.param.watch(lambda _: held.append(document.callbacks.hold_value), "objects")
    before = len(grid.objects)
    board.refresh()
    assert len(grid.objects) >= before + 2, "the radii and the archive"
    assert set(held) == {"combine"}, "they come while changes are collected"
    assert document.callbacks.hold_value is None


@pytest.mark.parametrize("most", [2, None])
def test_a_run_comes_on_the_plots_two_at_a_time(most: int | None) -> None:
    """Two figures are less work for a browser than all; whether lines were made is what lists wait for."""
    board, document = Board(), Document()
    document.add_root(board.__panel__().get_root(document))
    run = Run(problem=LoadTracking(n=5), solver=ZOCEG(), replicas=2, iterations=3)
    run.run()
    board.runs_shown.put(run)

    def look() -> tuple[bool, list[str]]:
        anew = board.refresh(most)
        return anew, [type(view).__name__ for view in board.visible_plots if len(view.renderers) > 1]

    looks = [look()]
    while looks[-1][0]:
        looks.append(look())
    drawn = [plots for _, plots in looks]
    assert drawn[0][:2] == ["Gap", "Violation"] and len(drawn[-1]) > 4 and drawn[-1] == drawn[-2]
    new = [len(plots) - len(before) for before, plots in pairwise([[], *drawn])]
    assert max(new) == (2 if most else len(drawn[-1])) and min(new) == 0


def test_lists_and_pictures_come_as_the_time_of_a_look_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    dashboard, course = Dashboard(LoadTracking(n=5), ZOCEG()), []
    dashboard.updates = deque(partial(lambda number, _: course.append(number), number) for number in range(3))
    now = iter(range(100))
    monkeypatch.setattr(dashboard_module, "time", SimpleNamespace(monotonic=lambda: float(next(now))))
    assert [dashboard.draw(0.0), dashboard.draw(1.5), dashboard.draw(1.5), dashboard.draw()] == [False] * 3 + [True]
    assert course == [0, 1, 2, 0, 1, 2, 0], "what was not reached comes first"


def test_runs_rest_while_a_page_shows_what_is_new(monkeypatch: pytest.MonkeyPatch) -> None:
    page, seen = Dashboard(LoadTracking(n=5), ZOCEG()), list[bool]()
    monkeypatch.setattr(page, "tell", lambda: seen.append(RESTS.due))
    page.refresh_if_due()
    assert seen == [True] and not RESTS.due
