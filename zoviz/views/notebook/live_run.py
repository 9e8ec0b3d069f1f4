"""A run in a notebook's cell: buttons, status, the fields of its parameters, and its plots."""

from __future__ import annotations

import html
from typing import Any

import panel as pn

from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.runs.run_view import RunView
from zoviz.solvers.base import Solver
from zoviz.views.common.design import in_cell
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.common.style import WIDE, section
from zoviz.views.controls.go_back import GoBack
from zoviz.views.controls.parameter_forms import SolverForm
from zoviz.views.controls.run_buttons import RunButtons, StatusBar
from zoviz.views.pictures.base import PictureCard
from zoviz.views.plots.board import Board

PERIOD = 0.25
"""Seconds between two refreshes."""


class _ThisRun:
    """The source of runs of a cell, which has one: that which the cell shows."""

    complaint = ""
    loading = False

    def __init__(self, run: Run) -> None:
        self._run = run

    @property
    def solver(self) -> Solver:
        return self._run.solver

    def check(self) -> str:
        return "" if self._run.worker is None else "This run has ended: replay() repeats it, fork() continues it."

    def make(self) -> Run:
        return self._run

    def load(self, problem: Problem, solver: Solver) -> None:
        """Nothing: the cell's fields are those of its own run."""


class LiveRun(pn.viewable.Viewer):
    """A run that is steered and watched in a cell.

    Parameters
    ----------
    run : Run
        At work, or not begun yet.
    """

    def __init__(self, run: Run, **params: Any) -> None:
        super().__init__(**params)
        self._run = run
        store: Any = run.store
        self.controller = RunController(_ThisRun(run), store)
        self._form = SolverForm(run.solver)
        self._go_back = GoBack(self.controller)
        buttons = RunButtons(self.controller)
        self._status = StatusBar(self.controller, [buttons, self._go_back])
        self._board = Board(self.controller.runs_shown)
        self._pictures = [PictureCard("solver"), PictureCard("problem")]
        for picture in self._pictures:
            self._board.beside(picture)
        controls = self._board.controls()
        fields = pn.Column(section("Parameters"), self._form, width=330, max_height=700, scroll="y-auto", margin=0)
        plots = pn.Column(controls, self._board, **WIDE)
        self._column = in_cell(self._status, pn.Row(fields, plots, **WIDE))
        if run.active:
            self.refresh()  # before it is in a cell: what it changes there is sent one by one

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def refresh(self) -> bool:
        """Show what is new; return whether there may be more: the run has not ended."""
        if self.controller.run is None and self._run.worker is not None:  # begun, here or by another cell
            self.controller.watch_run(self._run)
        self.controller.refresh()
        run = self.controller.run
        self._form.lock(self.controller.active)
        self._form.steer(run if self.controller.active else None)
        self._form.suggest({} if run is None else dict(run.resolved))
        self._status.update()
        self._go_back.update(None if run is None else self.controller.verdict(run))
        if not self._board.refresh():
            for picture in self._pictures:
                picture.update(run)
        pn.io.push_notebook(self._column)
        return run is None or self.controller.active


class EndedRun(pn.viewable.Viewer):
    """The plots of runs that have ended, with nothing that needs a kernel.

    Parameters
    ----------
    shown : ShownRuns
    """

    def __init__(self, shown: ShownRuns, **params: Any) -> None:
        super().__init__(**params)
        self._names, self._board = pn.pane.HTML(legend_html(shown), margin=(4, 10)), Board(shown)
        for _ in range(2):  # lines, then the whole of their data
            self._board.refresh()

    def __panel__(self) -> pn.viewable.Viewable:
        return in_cell(self._names, self._board)


def legend_html(shown: ShownRuns) -> str:
    """Return the names of the visible runs, each behind its colour."""
    return " &emsp; ".join(
        f"<span style='color:{one.colour}' aria-hidden='true'>&#9644;</span> {html.escape(one.name)}"
        for one in shown.runs.values()
        if one.visible
    )


def shown_alone(run: RunView) -> ShownRuns:
    """Return the runs of a board that has one."""
    shown = ShownRuns()
    shown.put(run)
    return shown
