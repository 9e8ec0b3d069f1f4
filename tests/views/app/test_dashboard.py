"""The dashboard as a user makes it, and what it shows of a run that fails."""

from __future__ import annotations

from typing import Any

import numpy as np
import panel as pn
from bokeh.document import Document
from bokeh.models import ImportedStyleSheet
from panel.io.state import set_curdoc

from helpers.waiting import until
from zoviz import Store
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
from zoviz.views.app.dashboard import Dashboard, dashboard


class Unmeasurable(NonconvexQCQP):
    """A problem whose measures raise from the third row on."""

    __abstract = True
    rows = 0

    def metrics(self, *args: Any, **kwargs: Any) -> dict[str, np.ndarray]:
        self.rows += 1
        if self.rows > 2:
            raise RuntimeError("the meter has no battery")
        return super().metrics(*args, **kwargs)


def message(page: Dashboard) -> str:
    page.refresh()
    return page.status_bar.message


def test_a_run_whose_measures_raise_ends_as_failed_with_its_sentence_and_start_is_open_again() -> None:
    page = Dashboard(Unmeasurable(n=4), ZOSPLM(primal_step=1e-3))
    page.controller.start()
    until(lambda: page.refresh() or not page.controller.active)
    assert page.controller.status == "failed" and "the meter has no battery" in message(page)
    buttons = page.buttons.buttons
    assert not buttons["start"].disabled and buttons["stop"].disabled and buttons["start"].label == "Start"
    page.controller.stop()
    assert page.controller.status == "failed", "Stop has nothing to do, and says nothing"
    page.controller.forget("run1")
    assert page.controller.status == "ready"


def test_the_function_makes_a_page_of_what_it_is_given() -> None:
    problem = NonconvexQCQP(n=4)
    with set_curdoc(Document()):
        view = dashboard(problem, ZOSPLM(primal_step=1e-3))
        page = view.servable()
    assert view.controller.store is None and isinstance(page, pn.Template)
    assert view.form.picker.problem is problem and view.form.picker.solver.primal_step == 1e-3


def test_pages_of_one_server_share_a_store_by_its_url_and_their_runs(tmp_path: Any) -> None:
    url = f"sqlite:///{tmp_path / 'pages.db'}"
    first, second = dashboard(store=url), dashboard(store=url)
    assert isinstance(first.controller.store, Store) and first.controller.store is second.controller.store
    first.controller.start(steps=1)
    run = first.controller.run
    assert run is not None
    try:
        assert second.controller.join(run.id) and second.controller.run is run
    finally:
        run.stop()
        run.wait()


def test_a_session_without_a_written_page_asks_nothing_of_the_internet() -> None:
    """A websocket whose session was discarded before it came makes another, for which Panel writes no page."""
    document = Document()
    with set_curdoc(document):
        Dashboard().page().server_doc(document)
    models = {model for root in document.roots for model in root.references()}
    urls = [model.url for model in models if isinstance(model, ImportedStyleSheet)]
    assert urls and all(url.startswith("static/extensions/panel/") for url in urls), urls


def test_start_waits_for_a_field_that_cannot_be_taken() -> None:
    page = Dashboard(NonconvexQCQP(n=4), ZOSPLM(primal_step=1e-3))
    field = page.form.picker.solver_form.fields["estimator.batch_size"]
    field.receive({"seq": 1, "text": "many"})
    page.controller.start(steps=1)
    assert page.controller.run is None and message(page).startswith("Batch size k: Expected a whole number")
    field.receive({"seq": 2, "text": "7"})
    page.controller.start(steps=1)
    assert page.controller.run is not None and page.controller.run.solver.get("estimator.batch_size") == 7
    page.controller.stop()


def test_undo_puts_changes_back_from_the_last_to_the_first() -> None:
    page = Dashboard(NonconvexQCQP(n=4), ZOSPLM(primal_step=1e-3, dual_step=1e-2))
    undo = page.buttons.buttons["undo"]
    page.form.settings.seconds = None
    page.controller.start()
    run = page.controller.run
    assert run is not None and undo.disabled
    try:
        for name, value in (("primal_step", 2e-3), ("dual_step", 3e-2)):
            before = len(run.journal)
            run.set({name: value})
            until(lambda before=before: len(run.journal) > before)
        for name, value, left in (("dual_step", 1e-2, True), ("primal_step", 1e-3, False)):
            until(lambda: page.refresh() or not undo.disabled)
            page.controller.undo()
            until(lambda name=name, value=value: page.refresh() or run.solver.get(name) == value)
            until(lambda left=left: page.refresh() or undo.disabled is not left)
        assert [change.new for change in run.journal] == [2e-3, 3e-2, 1e-2, 1e-3]
        page.controller.undo()
        assert len(run.journal) == 4, "there is nothing more to put back"
    finally:
        page.controller.stop()
