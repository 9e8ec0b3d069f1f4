"""What zoviz replaces and reads inside Panel is still there, and still needs it."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import pandas as pd
import panel as pn
import pytest
from bokeh.document import Document
from bokeh.models import ColumnDataSource
from panel.io import document as panel_document
from panel.io.resources import DIST_DIR, LOCAL_DIST
from panel.io.server import ComponentResourceHandler
from panel.io.state import state

from zoviz.views.app.process import prepare
from zoviz.views.upstream import panel as panel_internals
from zoviz.views.upstream.panel import (
    COLLECT,
    DESTROY,
    PARSE_ANY_PATH,
    TYPESETTER,
    changes_wait,
    collect_seldom,
)


def test_panel_brings_what_sets_formulas() -> None:
    file = DIST_DIR / TYPESETTER.removeprefix(LOCAL_DIST)
    assert file.is_file() and "mathml" in file.read_text(encoding="utf-8")


def test_panels_own_route_still_imports_what_an_address_names() -> None:
    """Once it does not, ``import_no_addressed_modules`` has nothing to do."""
    source = inspect.getsource(PARSE_ANY_PATH)
    assert "importlib.import_module(mod)" in source and "self._resource_attrs" in source
    assert list(inspect.signature(ComponentResourceHandler.parse_url_path).parameters)[1:] == ["path"]


@pytest.mark.parametrize("each", [True, False])
def test_what_closed_pages_have_left_is_collected_seldom(monkeypatch: pytest.MonkeyPatch, each: bool) -> None:
    """Panel's own function beside ours: once it is as sparing, ``collect_seldom`` has nothing to do."""
    now, collections, planned = 100.0, [], []

    def collect() -> None:
        nonlocal now
        collections.append(now)
        now += 2.0

    for module in (panel_internals, panel_document):
        monkeypatch.setattr(module, "gc", SimpleNamespace(collect=collect))
        monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: now))
    monkeypatch.setattr(type(state), "schedule_task", lambda _, name, task, at: planned.append(task))
    monkeypatch.setattr(panel_document, "_garbage_collect", COLLECT)
    if not each:
        collect_seldom()
    for _ in range(30):
        document: Any = Document()
        document.destroy = None  # as Panel sets it on a page's document, to its own function
        DESTROY(document, None)
        now += 10.0
        planned.pop()()
    assert len(collections) == (30 if each else 3)
    assert len(planned) == (0 if each else 27), "and a collection is due for those that have none"


def test_a_second_page_keeps_what_the_first_has_found() -> None:
    """Replaced anew for each page, each page's garbage would be collected by itself."""
    prepare()
    function = panel_document._garbage_collect
    prepare()
    assert function is panel_document._garbage_collect is not COLLECT


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::PendingDeprecationWarning")  # pandas', of Panel
def test_what_is_sent_undoes_a_browsers_change_that_is_not_taken_on_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it does not, nobody needs to ask ``changes_wait``."""
    table, document = pn.widgets.Tabulator(pd.DataFrame({"run": ["a", "b"]}), selectable="checkbox"), Document()
    table.server_doc(document)
    (selected,) = [model.selected for model in document.models if isinstance(model, ColumnDataSource)]
    with monkeypatch.context() as served:
        served.setattr(Document, "session_context", property(lambda _: SimpleNamespace()))
        assert not changes_wait(table)
        selected.indices = [1]
    assert changes_wait(table) and table.selection == []
    table.value = pd.DataFrame({"run": ["a", "c"]})
    assert not changes_wait(table) and selected.indices == []
