"""What zoviz replaces inside Bokeh is still there, and still needs it; its effect in a browser: tests/apps."""

from __future__ import annotations

import asyncio
import importlib.metadata
import inspect
import re
from pathlib import Path

import bokeh
import pytest
from bokeh.core.property.visual import Image
from bokeh.document import Document
from bokeh.server.session import ServerSession
from packaging.specifiers import SpecifierSet

from zoviz.core.threads.rests import RESTS
from zoviz.views.common.bokeh_internals import (
    CALL_WITH_DOCUMENT,
    HANDLE_CHANGES,
    TRANSFORM_ANY_IMAGE,
    VERSIONS,
    forget_bounds,
    read_no_named_files,
    rest_while_pages_work,
)

SCRIPT = Path(bokeh.__file__).parent / "server" / "static" / "js" / "bokeh.js"


def test_this_bokeh_was_checked() -> None:
    assert importlib.metadata.version("bokeh") in SpecifierSet(VERSIONS), (
        "check this file's claims, then widen VERSIONS"
    )


@pytest.mark.parametrize("replaced", [True, False])
def test_runs_rest_while_a_session_works_on_its_document(monkeypatch: pytest.MonkeyPatch, replaced: bool) -> None:
    """Bokeh's own method beside it, for which they do not."""
    monkeypatch.setattr(ServerSession, "with_document_locked", CALL_WITH_DOCUMENT)
    monkeypatch.setattr(ServerSession, "_handle_patch", HANDLE_CHANGES)
    if replaced:
        rest_while_pages_work()

    async def work() -> bool:
        session = ServerSession("a session", Document())
        return await session.with_document_locked(lambda: RESTS.due)

    assert asyncio.run(work()) is replaced and not RESTS.due


def test_bokehs_own_icons_are_still_read_from_files() -> None:
    """Once they are not, ``read_no_named_files`` has nothing to do."""
    source = inspect.getsource(TRANSFORM_ANY_IMAGE)
    assert "Path(value)" in source and "path.exists()" in source


def test_text_names_no_file_and_arrays_are_still_images(tmp_path: Path) -> None:
    import numpy as np

    read_no_named_files()
    path = tmp_path / "words.svg"
    path.write_text("<svg/>")
    assert Image().transform(str(path)) == str(path)
    assert Image().transform(np.zeros((2, 2, 3), dtype=np.uint8)).startswith("data:image/png;base64,")


@pytest.mark.parametrize(
    ("module", "name", "method"),
    [
        ("core/dom", "InlineStyleSheet", "_update"),
        ("core/visuals/visual", "VisualProperties", "_get_css_value"),
        ("models/plots/plot_canvas", "PlotView", "base_font_size"),
        ("models/annotations/legend", "LegendView", "_render_items"),
        ("models/annotations/legend", "LegendView", "_toggle_inactive"),
        ("models/ranges/data_range1d", "DataRange1d", "_compute_range"),
        ("models/plots/range_manager", "RangeManager", "update_dataranges"),
    ],
)
def test_what_is_replaced_in_the_browser_stands_where_it_is_looked_for(module: str, name: str, method: str) -> None:
    script = SCRIPT.read_text(encoding="utf-8")
    source = script.partition(f"/* {module}.js */")[2].partition("\n},\n/* ")[0]
    body = re.search(rf"^    class {name}\b.*?^    }}$", source, re.MULTILINE | re.DOTALL)
    head = rf"^        (/\*protected\*/ )?(get )?{method}\("
    assert body and re.search(head, body[0], re.MULTILINE), f"{name} with a method {method}"


def test_a_shared_range_still_keeps_what_each_figure_told_it() -> None:
    """What ``forget_bounds`` empties: once Bokeh has it no more, hidden figures no longer hold a range open."""
    script = SCRIPT.read_text(encoding="utf-8")
    source = script.partition("/* models/ranges/data_range1d.js */")[2].partition("\n},\n/* ")[0]
    assert "this._plot_bounds = new Map()" in source and "_plot_bounds?.clear()" in str(forget_bounds().code)
    assert "get linked_plots()" in script and "this._range_manager.update_dataranges()" in script
