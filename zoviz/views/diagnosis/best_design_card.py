"""The card with the best design of the run on the page: variables with their bounds, objective and constraints."""

from __future__ import annotations

import html
import json
from collections.abc import Callable

import numpy as np
import panel as pn
from bokeh.models import ColumnDataSource

from zoviz.certainty.certainty import UNKNOWN, Certainty, text_of
from zoviz.certainty.stationarity import Interval
from zoviz.runs.best_design import BestDesign
from zoviz.runs.run_view import RunView
from zoviz.views.common.buttons import DownloadButton
from zoviz.views.common.figure_frame import EVERY
from zoviz.views.common.live_html import LiveHTML
from zoviz.views.common.style import COPY, WIDE, muted_html, section, update_changed
from zoviz.views.diagnosis.run_certainty import RunCertainty, Sureness

UNSAID = Sureness(None)
"""Nothing is known, nor to be said."""
_MOST = 60
"""Rows of variables, and of constraints, that are shown: the files have them all."""
_NONE = muted_html("This card shows the best point of a run with its objective, constraints and bounds.")
"""What is said before there is a point."""
DESIGN_STYLE = """
.zoviz-best {max-height: min(520px, 38vh); overflow-y: auto} /* so that the picture below is in sight */
.zoviz-certainty {font-size: 13px; margin: 2px 0 6px}
.zoviz-best-f {font-size: 20px; line-height: 26px; font-weight: 700; font-variant-numeric: tabular-nums}
.zoviz-best-f small {font-size: 12px; font-weight: 400; margin-left: 6px} .zoviz-best-f .violated {font-weight: 700}
table.zoviz-design {border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums; width: 100%}
.zoviz-design th {text-align: left; font-weight: 600; color: var(--zv-ink-2); padding: 3px 8px 3px 0}
.zoviz-design td {padding: 3px 8px 3px 0; border-top: 1px solid color-mix(in srgb, currentColor 14%, transparent)}
.zoviz-design .number {text-align: right; white-space: nowrap}
.zoviz-design tr.words td {border-top: 0; padding-top: 0; font-size: 12px}
.violated {color: var(--zv-bad); font-weight: 600}
"""


def design_html(design: BestDesign, sureness: Sureness = UNSAID) -> str:
    """Return a design as HTML: f, and a table with a row for each variable, and one for each constraint.

    With a certainty, f*, the minimum's x and what limits are worth stand beside them.
    """
    sure = sureness.certainty
    middle = f" Median f of {design.replicas} replicas: {design.middle:.6g}."
    if np.isnan(design.middle):
        middle = f" Half of {design.replicas} replicas or more have none."
    middle = middle if design.replicas > 1 else ""
    state = "<small>feasible</small>" if design.feasible else "<small class='violated'>not feasible</small>"
    best = f"<div class='zoviz-best-f' title='f'>{design.value}{state}</div>"
    rows = []
    ends = zip(design.variables, design.x, design.lower, design.upper, strict=True)
    for i, (name, value, low, high) in enumerate(list(ends)[:_MOST]):
        cells = "".join(f"<td class='number'>{_end(end)}</td>" for end in (low, high))
        rows.append(f"<tr><td>{html.escape(name)}</td><td class='number'>{value:.8g}</td>{cells}</tr>")
        if sure is not None and sure.tells_minimum:
            rows.append(_words(f"x* {_span(sure.x_star[i])}"))
    lines = () if sure is None else sure.table(design.constraints)
    words_of = {name: row_words(word, worth) for name, _, word, worth in lines}
    for name, value in list(zip(design.constraints, design.h, strict=True))[:_MOST]:
        known = bool(np.isfinite(value))
        words = "unknown" if not known else f"{value:.4g}"
        margin = "" if not known else "met" if value <= 0.0 else "in tolerance" if design.feasible else "violated"
        look = "number violated" if margin == "violated" else "number"
        cells = f"<td class='{look}'>{words}</td><td class='number'>≤ 0</td><td class='number'>{margin}</td>"
        rows.append(f"<tr><td>{html.escape(name)}</td>{cells}</tr>")
        if name in words_of:
            rows.append(_words(words_of[name]))
    more = max(len(design.variables) - _MOST, 0) + max(len(design.constraints) - _MOST, 0)
    rest = f"… and {more} more rows; the files have all of them. " if more else ""
    titles = "".join(f"<th class='number'>{title}</th>" for title in ("value", "lower", "upper"))
    head = f"<thead><tr><th></th>{titles}</tr>"
    note = muted_html(html.escape(f"{rest}{design.kind[:1].upper()}{design.kind[1:]}.{middle}"))
    region = "<div class='zoviz-best' role='region' aria-label='Best design' tabindex='0'>"
    said = sureness.sentence if sure is None else sure.minimum
    certain = f"<div class='zoviz-certainty'>{html.escape(said)}</div>" if said else ""
    table = f"<table class='zoviz-design'>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
    return f"{region}{best}{certain}{table}</div>{note}"


def row_words(word: str, worth: str) -> str:
    """Return what is said of a constraint below its value: whether it is active, and what its limit is worth, if it is.

    Parameters
    ----------
    word, worth : str
        As of ``Certainty.table``.
    """
    return word if worth in (UNKNOWN, "0") else f"{word}; a unit of this limit is worth {worth}"


def _words(text: str) -> str:
    """Return a row below a variable's or a constraint's, whose column the words would make too wide."""
    return f"<tr class='words'><td></td><td colspan='3'>{html.escape(text)}</td></tr>"


def _span(place: Interval) -> str:
    """Return the ends of an interval, to the digits in which they differ."""
    known = np.isfinite(place.low) and np.isfinite(place.high)
    return text_of(place).partition(" (")[2].rstrip(")") or text_of(place) if known else "cannot tell"


def _end(value: float) -> str:
    return f"{value:.6g}" if np.isfinite(value) else "none"


class BestDesignCard(pn.viewable.Viewer):
    """A card with the best design of a run, which can be copied and downloaded once there is a point.

    Parameters
    ----------
    certified : callable
        Returns the certainty of the point that a person had certified last; None without one.

    Attributes
    ----------
    design : BestDesign or None
        What is shown.
    table : LiveHTML
    """

    def __init__(self, certified: Callable[[], Certainty | None] = lambda: None) -> None:
        super().__init__()
        self._certified, self._certainty = certified, RunCertainty()
        self.design: BestDesign | None = None
        self.table = LiveHTML(_NONE, stylesheets=[DESIGN_STYLE], sizing_mode="stretch_width", margin=(2, 10))
        self._run: RunView | None = None
        self._refreshes = 0
        self._settled: RunView | None = None  # a run at rest whose design is known
        self._row = pn.Row(section("Best design"), margin=0)
        self._buttons: list[pn.viewable.Viewable] = []
        self._text = ColumnDataSource()  # its tag is what Copy copies: a button's own values would be asked for
        self._column = pn.Column(
            self._row,
            self.table,
            css_classes=["zoviz-best-design"],
            **WIDE,
        )

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def _make_buttons(self) -> list[pn.viewable.Viewable]:
        copy = pn.widgets.Button(label="Copy", description="Copy the design as JSON.", color="light", margin=(4, 0))
        copy.js_on_click(args={"source": self._text}, code=f"const text = source.tags[0] ?? ''; {COPY}")
        files = {"CSV": ("best_design.csv", self.csv), "JSON": ("best_design.json", self.json)}
        downloads = [
            DownloadButton(make, label=label, filename=name, margin=(4, 2)) for label, (name, make) in files.items()
        ]
        return [copy, *downloads]

    def _offer(self, offered: bool) -> None:
        for button in self._buttons:
            update_changed(button, visible=offered)

    def csv(self) -> bytes:
        """Return the design as a table, empty without one."""
        return b"" if self.design is None else self.design.csv().encode()

    def json(self) -> bytes:
        """Return the design as JSON, empty without one."""
        return b"" if self.design is None else json.dumps(self.design.plain(), indent=1).encode()

    def close(self) -> None:
        """Call off what is at work, with the page's session."""
        self._certainty.close()

    def _sureness(self, run: RunView, design: BestDesign) -> Sureness:
        """Return how sure the design is: by more calls where a person asked for them at this very point."""
        certified = self._certified()
        if certified is not None and np.array_equal(certified.x, design.x):
            return Sureness(certified)
        return self._certainty.of(run)

    def update(self, run: RunView | None) -> None:
        """Show the run's best design so far; called with the document's lock at every refresh."""
        self._refreshes = 0 if run is not self._run else self._refreshes + 1
        self._run = run
        if run is None or not run.has_result:
            update_changed(self.table, object=_NONE)
            self._offer(False)
        elif not run.active or self._refreshes % EVERY == 0:
            if self.design is None or run.active or run is not self._settled:
                self.design, self._settled = run.best_design, None if run.active else run
            if not self._buttons:  # a page opens sooner without those that nobody needs yet
                self._buttons = self._make_buttons()
                self._row.extend(self._buttons)
            update_changed(self.table, object=design_html(self.design, self._sureness(run, self.design)))
            if self._text.tags != [text := json.dumps(self.design.plain(), indent=1)]:
                self._text.tags = [text]
            self._offer(True)
