"""The design of everything that zoviz shows: Panel's widgets in its ink, and figures for a light and a dark page."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import panel as pn
import param
from bokeh.themes import Theme as FigureTheme
from panel.theme.base import DefaultTheme, Design, Inherit, Theme
from panel.viewable import Viewable
from panel.widgets.base import Widget

from zoviz.views.common.style import WIDE

TOKENS = (Path(__file__).parent / "tokens.css").read_text(encoding="utf-8")
"""Colours and fonts as CSS variables: of a page, and of a part in a notebook with the class ``zoviz-cell``."""


def _figures(ink: str, faint: str, line: str, grid: str) -> dict[str, dict[str, Any]]:
    """Return how figures look on a ground: no box, small plain letters, and lines that stay behind the data."""
    letters: dict[str, Any] = {"text_font_size": "11px", "text_font_style": "normal", "text_color": faint}

    def small(*parts: str) -> dict[str, Any]:
        return {f"{part}_{name}": value for part in parts for name, value in letters.items()}

    lines = {"axis_line_color": line, "major_tick_line_color": line, "minor_tick_line_color": None}
    standoffs = {"axis_label_standoff": 2, "major_label_standoff": 3}
    no_box = {"background_fill_alpha": 0.0, "border_line_alpha": 0.0}
    return {
        "Plot": {"background_fill_alpha": 0.0, "border_fill_alpha": 0.0, "outline_line_color": None},
        "Title": {"text_color": ink, "text_font_size": "12px", "text_font_style": "bold", "standoff": 4},
        "Axis": {**small("axis_label", "major_label"), **lines, **standoffs},
        "Grid": {"grid_line_color": grid},
        "Legend": {**small("label", "title"), **no_box, "label_text_color": ink},
        "ColorBar": {**small("title", "major_label"), "background_fill_alpha": 0.0},
        "Text": {"text_color": ink},
    }


FIGURES = {
    "light": _figures(ink="#15191F", faint="#5F6874", line="#C6CCD4", grid="#E9ECF0"),
    "dark": _figures(ink="#E8ECF1", faint="#939DAA", line="#3D4753", grid="#232A33"),
}
"""How figures look on a light and on a dark ground: values of properties by the names of Bokeh's models."""
LIGHT, DARK = (FigureTheme(json={"attrs": look}) for look in FIGURES.values())


# Of a figure that fills the screen: by itself it is as dark as the browser has what lies behind it. Without a padding,
# as Bokeh draws as if there were none, and the axis below would be off the screen.
FULL_SCREEN = ":host(:fullscreen) {background: var(--zv-surface, #fff)}"


class _Light(DefaultTheme):
    bokeh_theme = param.Parameter(default=LIGHT)


class PageDesign(Design):
    """Panel's own widgets in zoviz's ink, for ``design=`` of a template.

    Colours are CSS variables, and figures have the document's theme: a page changes both while it is open, and what is
    made later follows.
    """

    # Without the first, Panel's default design would stay, whose style sheets say colours of their own.
    modifiers: ClassVar[dict[type[Viewable], dict[str, Any]]] = {
        Viewable: {"stylesheets": [Inherit]},
        Widget: {"stylesheets": [Inherit, "widgets.css"]},
        pn.pane.Bokeh: {"stylesheets": [Inherit, FULL_SCREEN]},
    }


class CellDesign(PageDesign):
    """The design of what a notebook's cell shows, in whose document figures are light."""

    _themes: ClassVar[dict[str, type[Theme]]] = {"default": _Light, "dark": _Light}


def in_cell(*parts: Any) -> pn.Column:
    """Return a column of these parts that looks as on a page, for a notebook's cell."""
    return pn.Column(*parts, design=CellDesign, stylesheets=[TOKENS], css_classes=["zoviz-cell"], **WIDE)
