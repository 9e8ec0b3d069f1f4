"""An empty figure in the page's style, for what stands beside the plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from bokeh.models import ColorMapper, CustomJSTickFormatter
from bokeh.models.annotations import ColorBar, Title
from bokeh.plotting import figure

# 1.5M, 20k: Bokeh's numeral format writes a small m for million. As many digits as tell each tick from the next.
SHORT = """const a = Math.abs(tick);
const steps = ticks.slice(1).map((one, i) => Math.abs(one - ticks[i])).filter(step => step);
const digits = Math.min(Math.max(Math.ceil(Math.log10(a / Math.min(...steps))) + 1, 4), 15);
const [size, unit] = a >= 1e9 ? [1e9, "G"] : a >= 1e6 ? [1e6, "M"] : a >= 1e3 ? [1e3, "k"] : [1, ""];
return +(tick / size).toPrecision(digits) + unit"""

EVERY = 8
"""Looks at the run between two looks at its pictures: they move every other second."""
HEIGHT = 240
"""Height of a picture in pixels."""
LABELLED = 60
"""Pixels on the left of a frame for ticks of five letters and a label."""
LEGEND = 260
"""Pixels of a legend's width on the narrowest figure."""


def empty_figure(title: str, name: str, x_label: str, y_label: str, height: int = HEIGHT, **options: Any) -> Any:
    """Return a figure without renderers, with the page's tools, fonts and short labels of ticks.

    Parameters
    ----------
    title, x_label, y_label : str
    name : str
        By which scripts and tests find it in the document.
    height : int
        In pixels.
    **options
        Further arguments of ``bokeh.plotting.figure``.
    """
    fig: Any = figure(
        title=title,
        height=height,
        sizing_mode="stretch_width",
        x_axis_label=x_label,
        y_axis_label=y_label,
        tools="pan,box_zoom,xwheel_zoom,reset,fullscreen,save",
        active_scroll=None,
        name=name,
        **options,
    )
    fig.toolbar.autohide, fig.toolbar.logo = True, None
    if y_label:  # one that is first drawn beyond the left edge leaves half a pixel there: Bokeh never clears it
        fig.min_border_left = LABELLED
    for axis in (fig.xaxis[0], fig.yaxis[0]):
        axis.formatter = CustomJSTickFormatter(code=SHORT)
    return fig


def subtitle(fig: Any, place: Literal["above", "below"] = "above") -> Title:
    """Return an empty line in small letters below the title of a figure, or below the figure."""
    line = Title(text="", standoff=2)
    line.update(text_font_size="11px", text_font_style="normal")
    fig.add_layout(line, place)
    return line


def colour_bar(fig: Any, mapper: ColorMapper, title: str, **options: Any) -> None:
    """Lay a bar of a mapper's colours below a figure: beside it a column has no room."""
    bar = ColorBar(color_mapper=mapper, height=8, title=title, padding=2, title_standoff=2, **options)
    fig.add_layout(bar, "below")


def columns_of(labels: Sequence[str]) -> int:
    """Return in how many columns a legend with these entries fits on the narrowest figure."""
    # A letter takes some 6.5 pixels, the sample of the line and the space beside it 34.
    widest = max(map(len, labels), default=1)
    return max(1, min(len(labels), int(LEGEND / (6.5 * widest + 34))))


def legend_above(fig: Any, columns: int | str = "auto", spacing: int = 10) -> None:
    """Move the legend of a figure above it, in a row or in ``columns``, with ``spacing`` pixels between entries."""
    legend = fig.legend[0]
    legend.ncols = columns
    legend.update(orientation="horizontal", location="left", padding=0, spacing=spacing, label_standoff=4, margin=2)
    fig.add_layout(legend, "above")
