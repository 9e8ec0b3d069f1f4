"""A report as two pages of PDF: outcome, plots and best design; then settings, calls, steering and script."""

from __future__ import annotations

import io
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any

from zoviz.views.plots.base import every_plot
from zoviz.views.plots.paper_figure import PaperFigure
from zoviz.views.report.report import Report, RunReport, compared, counted, design_rows, in_order

PAGE = (8.27, 11.69)
"""A4, in inches."""
MOST_PLOTS = 4
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.07, 0.95, 0.955, 0.04
"""Ends of what is printed, as shares of the page."""
_LINE = 0.0118
"""Height of a line of small print, as a share of the page's."""
_LETTERS = 130
"""Letters of a fixed width in a line of small print across the page."""


def pdf(report: Report) -> bytes:
    """Return a report as a PDF file; needs the extra ``figures``.

    Parameters
    ----------
    report : Report

    Raises
    ------
    MissingExtra
        Where Matplotlib is not installed.
    """
    file = io.BytesIO()
    with PaperFigure.settings_for_print():
        from matplotlib.backends.backend_pdf import PdfPages
        from matplotlib.figure import Figure

        first, second = Figure(figsize=PAGE), Figure(figsize=PAGE)
        _outcome(first, report)
        _details(second, report.runs[0])
        with PdfPages(file, metadata={"CreationDate": None, "Title": report.title}) as pages:
            pages.savefig(first)
            pages.savefig(second)
    return file.getvalue()


def _outcome(page: Any, report: Report) -> None:
    """Print what came out: verdicts, plots, and the best design."""
    one = report.runs[0]
    _heading(page, _TOP, report.title, 13)
    about = f"{one.solver_title} on {one.shown.problem_title}, {one.run.replicas} replicas, seed {one.run.seed}"
    lines = [f"{about}, run {one.run.id[:8]}. Made {report.made} with zoviz {report.zoviz}.", ""]
    lines += _wrapped(f"{one.judged} {one.run.message}")
    lines += ["", *_columns(*compared(report))] if len(report.runs) > 1 else []
    top = _print(page, lines, _TOP - 0.025, _LEFT)
    bottom = top - 0.4
    traces = [each.trace for each in report.runs]
    shown = [v for v in every_plot() if v.fits(report.shown.problems) and v.has_values(traces)][:MOST_PLOTS]
    if shown:
        figure = PaperFigure({each.shown.name: each.run for each in report.runs}, [type(v).__name__ for v in shown])
        room = {"left": 0.11, "right": _RIGHT, "top": top - 0.02, "bottom": bottom}
        grid = page.add_gridspec(-(-len(shown) // 2), 2, wspace=0.3, hspace=0.35, **room)
        figure.draw_on([page.add_subplot(grid[at // 2, at % 2]) for at in range(len(shown))])
    _heading(page, bottom - 0.055, "Best design", 9)
    said = one.sureness.sentence if one.sureness.certainty is None else one.sureness.certainty.sentence
    head = "It has no point yet." if one.design is None else f"f = {one.design.value}, {one.design.kind}. {said}"
    rows = [] if one.design is None else design_rows(one.design)
    _print(page, [*_wrapped(head), "", *_columns(["", "value", "lower", "upper"], rows)], bottom - 0.07, _LEFT)


def _details(page: Any, one: RunReport) -> None:
    """Print what repeats a run: settings and script, and what its calls were for."""
    left = ["Counts", *_pairs((name, counted(count)) for name, count in one.counts.items()), ""]
    purposes = [(name, f"{mean:,.0f} · {100 * share:.0f} %") for name, (mean, share) in one.ledger.items()]
    left += ["Calls by purpose, per replica", *_pairs(purposes), "", "Environment"]
    left += [*_pairs(in_order(one.versions)[:5]), "", "Steering"]
    left += [f"  {each.iteration:,}: {one.change_words(each)}" for each in one.changes] or ["  none"]
    right = [line for group, values in one.settings.items() for line in (group, *_pairs(values.items()), "")]
    most = int(0.5 * (_TOP - _BOTTOM) / _LINE)
    _heading(page, _TOP, f"Settings and script of {one.shown.name}", 11)
    ends = [_print(page, _cut(half, most, 54), _TOP - 0.025, x) for half, x in ((left, _LEFT), (right, 0.52))]
    top = min(ends) - 0.02
    source = [part for line in one.source.splitlines() for part in textwrap.wrap(line, _LETTERS - 4) or [""]]
    _heading(page, top, "Script that repeats it", 9)
    _print(page, _cut(source, int((top - _BOTTOM) / _LINE) - 2, _LETTERS), top - 0.015, _LEFT)


def _heading(page: Any, y: float, text: str, size: float) -> None:
    words = textwrap.shorten(text, 90, placeholder=" …")
    page.text(_LEFT, y, words, fontsize=size, fontweight="bold", va="top", parse_math=False)


def _print(page: Any, lines: Sequence[str], top: float, left: float) -> float:
    """Print lines in letters of one width, as many as the page has room for, and return where they end."""
    shown = _cut(lines, int((top - _BOTTOM) / _LINE), _LETTERS)
    look = {"family": "DejaVu Sans Mono", "fontsize": 6.6, "va": "top", "parse_math": False}
    for at, line in enumerate(shown):
        page.text(left, top - at * _LINE, line, **look)
    return top - len(shown) * _LINE


def _cut(lines: Sequence[str], most: int, letters: int) -> list[str]:
    """Return lines no longer and no more than there is room for; the last one then says how many are left out."""
    short = [line if len(line) <= letters else f"{line[: letters - 1]}…" for line in lines]
    return short if len(short) <= most else [*short[: most - 1], f"… and {len(short) - most + 1} more lines"]


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(text, _LETTERS)


def _pairs(rows: Iterable[tuple[str, str]]) -> list[str]:
    return [f"  {name:<24} {words}" for name, words in rows]


def _columns(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Return a table as lines: the first column at most 28 letters wide, the others as wide as they must be."""
    cells = [[f"{row[0][:28]}", *(cell[:26] for cell in row[1:])] for row in [heads, *rows]]
    widths = [max(len(row[k]) for row in cells) for k in range(len(heads))]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
