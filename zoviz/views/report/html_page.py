"""A report as one HTML file that asks for nothing: plots that zoom and hover, a player of the course, all figures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from bokeh.document import Document
from bokeh.embed.elements import html_page_for_render_items
from bokeh.embed.util import standalone_docs_json_and_render_items
from bokeh.embed.wrappers import wrap_in_script_tag
from bokeh.models import ColumnDataSource, ResetTool, SaveTool, VSpan
from bokeh.models.renderers import GlyphRenderer
from bokeh.resources import Resources
from jinja2 import Environment

from zoviz.views.common.colours import TONES
from zoviz.views.common.design import FIGURES, LIGHT, TOKENS
from zoviz.views.common.style import COPY, muted_html
from zoviz.views.controls.run_buttons import verdict_html
from zoviz.views.diagnosis.best_design_card import DESIGN_STYLE, design_html
from zoviz.views.diagnosis.ledger_bars import BARS_STYLE, bars_html
from zoviz.views.plots.board import Board
from zoviz.views.report.player import picture_of
from zoviz.views.report.report import Report, RunReport, compared, counted, in_order

_HERE = Path(__file__).parent
_HTML, _CSS, _JS = ((_HERE / f"page.{suffix}").read_text(encoding="utf-8") for suffix in ("html", "css", "js"))
_NO_FRAMES = '{"calls": [], "targets": [], "at": [], "values": []}'


def html_page(report: Report) -> str:
    """Return a report as the text of an HTML file.

    Parameters
    ----------
    report : Report
    """
    figures, drawn = _figures(report), picture_of(report.runs[0].run)
    models = figures if drawn is None else [*figures, drawn[0].figure]
    data, views = report.plain(), [_view(one, report.runs[0]) for one in report.runs]
    heads, rows = compared(report)
    parts = {
        "report": report,
        "views": views,
        "heads": heads,
        "rows": list(zip(rows, views, strict=True)),
        "pictured": drawn is not None,
        "css": f"{TOKENS}{DESIGN_STYLE}{BARS_STYLE}{_CSS}",
        "js": _JS.replace("COPY_TEXT", COPY),
        "blocks": {
            "zoviz-report": _in_page(json.dumps(data, allow_nan=False)),
            "zoviz-frames": _in_page(_NO_FRAMES if drawn is None else drawn[1].text),
            "zoviz-themes": _in_page(json.dumps(FIGURES)),
        },
    }
    page = Environment(autoescape=True).from_string(_HTML)
    # Its text alone: whatever else Bokeh would add, models of Panel's ask for, to be fetched.
    library = Resources(mode="inline", components=["bokeh"], log_level="error").js_raw
    document = Document(theme=LIGHT)
    with document.models.freeze():
        for model in models:
            document.add_root(model)
    documents, places = standalone_docs_json_and_render_items([document], suppress_callback_warning=True)
    title = f"{report.title} · zoviz"
    return html_page_for_render_items(
        (wrap_in_script_tag("\n".join(library)), ""), documents, places, title, page, parts
    )


def _in_page(text: str) -> str:
    """Return JSON that ends no element of a page, whatever the names in it."""
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _figures(report: Report) -> list[Any]:
    """Return the page's plots of a report's runs, each with a line at the player's place."""
    board = Board(report.shown)
    for _ in range(2):  # lines, then the whole of their data
        board.refresh()
    cursor = ColumnDataSource({"x": []}, name="zoviz-cursor")
    figures = [view.figure for view in board.visible_plots]
    for fig in figures:
        line = VSpan(x="x", line_color="#dd7c0a", line_width=1.5)
        fig.renderers = [*fig.renderers, GlyphRenderer(data_source=cursor, glyph=line)]
        fig.toolbar.update(tools=[*fig.toolbar.tools, ResetTool(), SaveTool()], autohide=True, logo=None)
        fig.toolbar_location = "right"
    return figures


def _view(one: RunReport, first: RunReport) -> dict[str, Any]:
    """Return what the page shows of a run beside the first, as HTML where it is more than words."""
    design = muted_html("It has no point yet.") if one.design is None else design_html(one.design, one.sureness)
    return {
        "part": one,
        "shown": one.shown,
        "tone": TONES[one.verdict.word],
        "verdict": verdict_html(one.verdict, one.remedies),
        "design": design,
        "bars": bars_html(one.trace.columns),
        "counts": [(name, counted(count)) for name, count in one.counts.items()],
        "settings": one.settings_beside(first),
        "versions": in_order(one.versions) if one is first or one.versions != first.versions else [],
    }
