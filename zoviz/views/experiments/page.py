"""The page of the papers' experiments: their cards, and of one of them all that is known."""

from __future__ import annotations

import html
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

import panel as pn
import param

from zoviz.core.threads.background_work import in_background
from zoviz.studies.contents import TITLES
from zoviz.studies.live import Live
from zoviz.views.common.buttons import text_button
from zoviz.views.common.run_controller import RunController, say_errors
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.style import WIDE, note, update_changed
from zoviz.views.experiments.cards import Cards, cards_html
from zoviz.views.experiments.overview import STATES, Overview, Record, read_overview
from zoviz.views.experiments.sheet import ExperimentSheet
from zoviz.views.experiments.thumbnail import thumbnail

_HEAD = (
    "What five papers print and claim, beside what zoviz measured. <b>Run it live</b> sets up the experiment and "
    "starts it, with the paper's numbers as lines on the plots."
)
_READING = "Reading the recorded results ..."
_TABLES_ONLY = "Tables only, no figure."


class ExperimentsPage(pn.viewable.Viewer):
    """A page with a card for every experiment, by papers, and a sheet for the one that is opened.

    Results are read in the background, and taken up by ``update``.

    Parameters
    ----------
    controller : RunController
    begin : callable
        Called with the run that a person wants live.
    refusal : callable
        Returns the sentence why this page cannot begin such a run, else "".

    Attributes
    ----------
    overview : Overview or None
        What there is; None until it has been read.
    cards : Cards
    sheet : ExperimentSheet or None
        Of the experiment that is open.
    """

    paper: param.Selector[str] = param.Selector(
        default="",
        objects={"all": "", **{one: one for one in TITLES}},
        label="Paper",
        doc="Show the experiments of one paper.",
    )
    state: param.Selector[str] = param.Selector(
        default="",
        objects={"any": "", **{one: one for one in STATES}},
        label="Verdict",
        doc="Show experiments with a claim of this verdict.",
    )
    experiment = param.String(default="", doc="The name of the experiment whose sheet is open; empty for the cards.")

    def __init__(
        self,
        controller: RunController,
        begin: Callable[[Live], None],
        refusal: Callable[[Live], str],
        **params: Any,
    ) -> None:
        super().__init__(**params)
        self.say, self._begin, self._refusal = controller.say, begin, refusal
        self.overview: Overview | None = None
        self.sheet: ExperimentSheet | None = None
        self.cards = Cards(self.act)
        self._reading: Future[Overview] | None = in_background(read_overview)
        self._waiting = note(_READING)
        filters = [SearchList.of_room(one, 200) for one in (self.param.paper, self.param.state)]
        head = pn.pane.HTML(f"<div style='font-size:14px'>{_HEAD}</div>", sizing_mode="stretch_width", margin=(6, 14))
        self._list = pn.Column(head, pn.Row(*filters, margin=0), self._waiting, self.cards, **WIDE)
        back = text_button("← All experiments", self.close, margin=(6, 10))
        self._sheet_place = pn.Column(**WIDE)
        self._one = pn.Column(back, self._sheet_place, **WIDE, visible=False)
        self.param.watch(lambda *_: self._show_cards(), ["paper", "state"])
        self.param.watch(lambda _: self._show_sheet(), "experiment")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self._list, self._one, **WIDE)

    def close(self) -> None:
        """Go back from a sheet to the cards."""
        self.experiment = ""

    def update(self) -> None:
        """Show the cards once the results have been read; called with the document's lock at every refresh."""
        if self._reading is not None and self._reading.done():
            self._take_up()

    @say_errors("The recorded results cannot be read: ")
    def _take_up(self) -> None:
        reading, self._reading = self._reading, None
        update_changed(self._waiting, visible=False)
        if reading is not None:
            self.overview = reading.result()
        self._show_cards()
        self._show_sheet()

    def _show_cards(self) -> None:
        if self.overview is not None:
            update_changed(self.cards, content=cards_html(self.overview.chosen(self.paper, self.state)))

    @say_errors("The experiment cannot be shown: ")
    def _show_sheet(self) -> None:
        """Show the sheet of the experiment that is open, or the cards."""
        record = None if self.overview is None else self.overview.record(self.experiment)
        if self.overview is not None and record is None and self.experiment:
            unknown, self.experiment = self.experiment, ""
            raise ValueError(
                f"Expected the name of an experiment, as {self.overview.records[0].name}, got {unknown!r}."
            )
        if record is not None and (self.sheet is None or self.sheet.record is not record):
            self.sheet = ExperimentSheet(record, self._begin, self._refusal)
            self._sheet_place.objects = [self.sheet]
        update_changed(self._list, visible=record is None)
        update_changed(self._one, visible=record is not None)

    @say_errors()
    def act(self, does: str, name: str) -> None:
        """Do what a card asks for: draw its picture, open its sheet, or run it live."""
        record = None if self.overview is None else self.overview.record(name)
        if record is None:
            return
        if does == "seen":
            self.cards.draw(name, picture(record))
        elif does == "open":
            self.experiment = name
        else:
            self.run_live(record)

    def run_live(self, record: Record) -> None:
        """Begin the first of the runs that an experiment declares, or say why this page cannot."""
        lives = record.full.live(record.work.measured if record.whole else {})
        if not lives:
            raise ValueError(f"Expected recorded results of {record.full.title}, which give its step sizes, got none.")
        reason = self._refusal(lives[0])
        if reason:
            raise ValueError(reason)
        self._begin(lives[0])


def picture(record: Record) -> str:
    """Return the small drawing of an experiment's first panel as SVG, or the sentence why there is none."""
    work = record.work
    panels = [] if work.missing else work.experiment.panels(work.measured)
    return thumbnail(panels[0]) if panels else html.escape(_TABLES_ONLY)
