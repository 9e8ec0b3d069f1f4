"""The style sheets of the pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import zoviz.views
from zoviz.views.common.style import Grid

SOURCES = sorted(Path(zoviz.views.__file__).parent.rglob("*.py"))
HOST_SHOWN = re.compile(r":host[^{}]*\{[^{}]*\bdisplay:(?! *none)")
"""A rule that says how a part itself is displayed, and so shows it where Bokeh hides it."""


@pytest.mark.parametrize("visible", [True, False])
def test_a_grid_is_hidden_by_its_last_style_sheet(visible: bool) -> None:
    grid = Grid(visible=visible)
    for now in (visible, not visible, visible):
        grid.visible = now
        assert ("display: none !important" in grid.stylesheets[-1]) == (not now)
        assert "display: grid" in grid.stylesheets[0]


def test_no_other_style_sheet_shows_what_is_hidden() -> None:
    found = {path.name: HOST_SHOWN.findall(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {name: rules for name, rules in found.items() if rules} == {"style.py": [":host {display:"]}
