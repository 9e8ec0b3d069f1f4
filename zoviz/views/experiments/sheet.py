"""All that is known of one experiment: figures, claims, tables, what each curve was made of, and its runs live."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
import param

from zoviz.studies.experiment import Panel, Table
from zoviz.studies.live import Live
from zoviz.studies.reports import sentences
from zoviz.views.common.buttons import text_button
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.style import WIDE, Grid, note, scrolling_html, section, update_changed
from zoviz.views.experiments.figures import PanelFigure
from zoviz.views.experiments.overview import NOT_RECORDED, Record
from zoviz.views.experiments.words import TABLE_STYLE, VERDICT_STYLE, claims_html, states_html, table_html

_QUICK = "No results of the full size are recorded. Figures and tables show the quick size, a trial."
_NOTHING = "No results are recorded."
_CURVES = "Click a curve, or its name, for the runs behind it."
_MOST_PARTS = 40
"""Of a curve, that are listed."""


class ExperimentSheet(pn.viewable.Viewer):
    """A sheet with what a paper prints, how it was measured here, what came out, and a button for each run live.

    Parameters
    ----------
    record : Record
    begin : callable
        Called with the run that a person wants live.
    refusal : callable
        Returns the sentence why this page cannot begin such a run, else "".

    Attributes
    ----------
    figures : list of PanelFigure
    lives : list of Live
    picked : HTML
        What the chosen curve was made of.
    """

    curve: param.Selector[tuple[int, str] | tuple[()]] = param.Selector(
        default=(), objects=[()], label="Curve", doc="Curve whose runs are listed below."
    )

    def __init__(
        self, record: Record, begin: Callable[[Live], None], refusal: Callable[[Live], str], **params: Any
    ) -> None:
        super().__init__(**params)
        self.record, self._begin, self._refusal = record, begin, refusal
        work = record.work
        there = bool(work.parts) and not work.missing
        self.lives = record.full.live(work.measured if record.whole else {})
        self._panels: Sequence[Panel] = work.experiment.panels(work.measured) if there else []
        self.figures = [PanelFigure(panel, number, self.pick) for number, panel in enumerate(self._panels)]
        self._tables: Sequence[Table] = work.experiment.tables(work.measured) if there else []
        self.picked = pn.pane.HTML("", stylesheets=[TABLE_STYLE], sizing_mode="stretch_width", margin=(2, 10))
        self._offers = pn.FlexBox(margin=(0, 6))
        curves = {
            f"{name}: {panel.heading}, {panel.y}": (number, name)
            for number, panel in enumerate(self._panels)
            for name in panel.lines
        }
        self.param.curve.objects = {"none": ()} | curves
        self.param.watch(lambda _: self._tell(), "curve")

    def __panel__(self) -> pn.viewable.Viewable:
        parts: list[Any] = [self._head(), self._buttons()]
        if self.figures:
            panes = [pn.pane.Bokeh(one.figure, **WIDE) for one in self.figures]
            grid = Grid(*panes, sizing_mode="stretch_width", margin=(4, 10))
            select = SearchList.of_room(self.param.curve, 420)
            parts += [grid, note(_CURVES), select, self.picked, self._offers]
        parts += [self._table(text, f"Table {number}") for number, text in enumerate(self._texts(), 1)]
        return pn.Column(*parts, **WIDE)

    def _head(self) -> pn.pane.HTML:
        """Return title, verdicts, and what is printed and was measured."""
        one, work = self.record.full, self.record.work
        lines = [f"<h2>{html.escape(one.title)}: {html.escape(one.subject)}</h2>", states_html(self.record.states)]
        if not self.record.whole:
            lines.append(f"<p><b>{_QUICK if work.parts else _NOTHING}</b></p>")
        if work.parts and not work.missing:
            printed, measured, command = sentences(work)
        else:
            printed, measured, command = f"The paper prints: {one.printed}", f"Protocol: {one.protocol}", work.command
        lines += [f"<p>{html.escape(sentence)}</p>" for sentence in (printed, measured)]
        lines.append(f"<p><code>{html.escape(command)}</code></p>")
        style = VERDICT_STYLE + "h2 {font-size: 17px; margin: 8px 0} p {margin: 6px 0; max-width: 110ch} "
        return pn.pane.HTML("".join(lines), stylesheets=[style], sizing_mode="stretch_width", margin=(0, 10))

    def _buttons(self) -> pn.viewable.Viewable:
        """Return a button for each run that a page can begin, with what must be known of them."""
        if not self.lives:
            return pn.Column(margin=0)
        reasons = [self._refusal(one) for one in self.lives]
        notes = dict.fromkeys(text for text in (*(one.note for one in self.lives), *reasons) if text)
        buttons = [self._button(one, first=not number) for number, one in enumerate(self.lives)]
        parts = [
            section("Run it live"),
            pn.FlexBox(*buttons, margin=(0, 6)),
            *(note(html.escape(text)) for text in notes),
        ]
        return pn.Column(*parts, **WIDE)

    def _button(self, live: Live, first: bool = False) -> pn.widgets.Button:
        barred = bool(self._refusal(live))
        return text_button(f"Run live: {live.title}", lambda: self._begin(live), first=first, disabled=barred)

    def _texts(self) -> list[str]:
        """Return the tables: claims with their verdicts, then what was measured."""
        judged = [claims_html(self.record.work.judged)] if self.record.whole else [self._claims()]
        return [*judged, *(table_html(table) for table in self._tables)]

    def _claims(self) -> str:
        """Return the claims without verdicts: those of the quick size decide nothing."""
        rows = [(claim.place, claim.says, NOT_RECORDED) for claim in self.record.full.claims()]
        return table_html(Table("Claims", ("Place", "Claim", "Verdict"), rows))

    def _table(self, text: str, name: str) -> pn.pane.HTML:
        look = {"stylesheets": [TABLE_STYLE + VERDICT_STYLE], "sizing_mode": "stretch_width", "margin": (4, 10)}
        return pn.pane.HTML(scrolling_html(text, name), **look)

    @property
    def offers(self) -> list[pn.widgets.Button]:
        """The buttons of the runs that repeat the chosen curve."""
        return list(self._offers.objects)

    @property
    def text(self) -> str:
        """All that is written on the sheet but what the chosen curve was made of, as HTML."""
        return "".join([self._head().object, *self._texts()])

    def pick(self, number: int, name: str) -> None:
        """Show the runs behind a curve of a panel."""
        self.curve = (number, name)

    def _tell(self) -> None:
        """Show the parts of the chosen curve, and offer those runs live that repeat one of them."""
        if not self.curve:
            update_changed(self.picked, object="")
            self._offers.objects = []
            return
        number, name = self.curve
        parts = [one for one in self._panels[number].parts.get(name, ()) if one in self.record.work.parts]
        update_changed(self.picked, object=self._parts_html(name, parts))
        own = [one for one in self.lives if self.record.whole and set(one.parts) & set(parts)]
        self._offers.objects = [self._button(one) for one in own]

    def _parts_html(self, name: str, parts: Sequence[str]) -> str:
        """Return what a curve was made of as a table: seeds, seconds, day and commit of each part."""
        if not parts:
            return f"<b>{html.escape(name)}</b> was not measured: it shows the claim."
        work, rows = self.record.work, []
        for part in parts[:_MOST_PARTS]:
            entry, seeds = work.parts[part], work.experiment.seeds(part)
            span = f"{seeds[0]} to {seeds[-1]}" if len(seeds) > 3 else ", ".join(map(str, seeds))
            rows.append((part, span, f"{entry['seconds']:g}", entry["date"], entry["commit"]))
        more = f"; the first {_MOST_PARTS} are listed" if len(parts) > _MOST_PARTS else ""
        heading = f"{name}: made of {len(parts)} part{'s' if len(parts) > 1 else ''} of {work.command}{more}"
        return table_html(Table(heading, ("Part", "Seed", "Seconds", "Day", "Commit"), rows))
