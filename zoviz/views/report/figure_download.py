"""A row of the page with downloads of a figure for print and of a report."""

from __future__ import annotations

import re
from concurrent.futures import Future
from typing import Any

import panel as pn
import param

from zoviz.core.threads.background_work import in_background
from zoviz.views.common.buttons import DownloadButton
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.shown_runs import ShownRun
from zoviz.views.common.style import batched_changes, update_changed
from zoviz.views.plots.board import Board
from zoviz.views.plots.paper_figure import WIDTHS, PaperFigure


class FigureDownload(pn.viewable.Viewer):
    """A choice of plots and width, with buttons that download the visible runs as a figure for print and as a report.

    The figure is a zip of PDF, SVG and PNG, with a caption of the runs' settings and the scripts that remake it, the
    report a page that needs nothing else.

    Parameters
    ----------
    board : Board
        Whose runs, plots, axis and band the figure has.
    """

    plots: param.Selector[str] = param.Selector(
        default="", objects=[""], label="Plots", doc="What the figure shows: one plot, or two beside each other."
    )
    width: param.Selector[str] = param.Selector(
        default=next(iter(WIDTHS)),
        objects=list(WIDTHS),
        label="Width",
        doc="3.5 or 7.16 inches, the columns of IEEE's journals.",
    )

    def __init__(self, board: Board, **params: Any) -> None:
        super().__init__(**params)
        self._board, self._row = board, pn.Row(visible=False, margin=0)
        self._file = ""

    def __panel__(self) -> pn.viewable.Viewable:
        return self._row

    def _widgets(self) -> list[pn.viewable.Viewable]:
        """Return what the row has, made when there is first something to draw: a page opens sooner without."""
        lists = [SearchList.of_room(self.param[name], width) for name, width in (("plots", 330), ("width", 150))]
        makers = {"Figure for print": self.make, "Report": self.make_report}
        self._buttons = [DownloadButton(make, label=label, align="end") for label, make in makers.items()]
        return [*lists, *self._buttons]

    def update(self) -> None:
        """Offer the plots that are on the page, each alone and the first two together; nothing without a run."""
        shown = self._visible_runs()
        names = {type(view).__name__: view.title for view in self._board.visible_plots} if shown else {}
        pair = [name for name in ("Gap", "Objective") if name in names][:1] + ["Violation"] * ("Violation" in names)
        offers = {" + ".join(names[name] for name in pair): "+".join(pair)} if len(pair) > 1 else {}
        offers = {title: name for name, title in names.items()} | offers
        titles = dict.fromkeys(one.problem_title for one in shown)
        file = re.sub(r"[^\w.-]+", "-", "_".join(titles), flags=re.ASCII)
        same = self.param.plots.names == offers and self._file == file
        if self._row.visible == bool(offers) and (same or not offers):  # a batch counts all models of the document
            return
        with batched_changes(pn.state.curdoc):
            if offers:
                self.param.plots.objects = offers
                self.plots = self.plots if self.plots in offers.values() else next(iter(offers.values()))
                new, self._file = not self._file, file
                if new:
                    self._row.objects = self._widgets()
                for button, name in zip(self._buttons, ("figure_{}.zip", "report_{}.html"), strict=True):
                    update_changed(button, filename=f"zoviz_{name.format(file)}")
            update_changed(self._row, visible=bool(offers))

    def _visible_runs(self) -> list[ShownRun]:
        """Return the runs on the plots that have a line to draw."""
        return [one for one in self._board.runs_shown.runs.values() if one.visible and len(one.run.trace) > 1]

    def make(self) -> Future[bytes]:
        """Have a thread make the zip file of the figure, with the axis, band and scale of the board.

        Else every page of the server would wait for two seconds and more.
        """
        board = self._board
        runs = {one.name: one.run for one in self._visible_runs()}
        plots = self.plots.split("+")
        scales = {"axis": board.axis, "band": board.band, "log_x": board.log_x, "log_y": board.log_y}
        figure = PaperFigure(runs, plots, width=self.width, **scales)
        return in_background(figure.archive)

    def make_report(self) -> Future[bytes]:
        """Have a thread make the report of the visible runs."""
        from zoviz.views.report.files import page_of  # with the page's template, which a page opens sooner without

        runs = {one.name: one.run for one in self._visible_runs()}
        return in_background(lambda: page_of(runs))
