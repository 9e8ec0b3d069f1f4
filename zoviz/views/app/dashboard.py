"""The dashboard: choose, start, watch, steer, compare, take away."""

from __future__ import annotations

import time
from typing import Any

import panel as pn
import panel_material_ui as pmui
from panel.io.callbacks import PeriodicCallback

from zoviz.problems.base import Problem
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.solvers.base import Solver
from zoviz.views.app.run_controller import Pilot
from zoviz.views.app.stored_runs_toggle import LibraryDoor, live_runs
from zoviz.views.common.bokeh_internals import keep_styles
from zoviz.views.common.lazy_panel import Slot
from zoviz.views.common.panel_internals import harden_page
from zoviz.views.common.style import THEME, section
from zoviz.views.controls.picker import Choice
from zoviz.views.controls.program_output import PrintedCard
from zoviz.views.controls.run_buttons import Status, Transport
from zoviz.views.controls.run_settings import Settings, SettingsForm
from zoviz.views.pictures.base import PictureCard
from zoviz.views.plots.board import Board
from zoviz.views.plots.run_list import Shelf

PERIOD = 250
"""Milliseconds between two looks at the run."""
_GRAIN = 4
"""Parts of a period: how soon a look that comes late is followed by the next."""


class Dashboard(Pilot):
    """Everything to run solvers on problems and watch them; one instance for each session.

    Parameters
    ----------
    problem : Problem, optional
        A problem of your own (a ``BlackBox``, say), offered first.
    solver : Solver, optional
        The solver to begin with.
    store : Store, optional
        Where runs are kept, and stored ones are found again.

    Examples
    --------
    >>> from zoviz.views.app.dashboard import Dashboard
    >>> from zoviz.views.app.server import embed
    >>> frame = embed(lambda: Dashboard())  # in a notebook, the last line of a cell shows it
    """

    def __init__(
        self, problem: Problem | None = None, solver: Solver | None = None, store: Store | None = None, **params: Any
    ) -> None:
        super().__init__(**params)
        self.store = store
        self.choice = Choice(problem, solver)
        self.settings, self.board = Settings(), Board()
        self.run: Run | None = None
        self._key = ""
        self._error, self._was_active, self._due = "", False, 0.0
        self.status = Status()
        self.transport = Transport(
            {
                "start": self.start,
                "pause": self.pause,
                "step": self.step,
                "resume": self.resume,
                "stop": self.stop,
                "reset": self.reset,
            }
        )
        self.shelf = Shelf(self.board, self._forget)
        self.settings_form, self._settings_slot = SettingsForm(self.settings), Slot()
        self._settings_slot.put(self.settings_form)
        runs = pn.Column(
            pn.Row(section("Runs on the plots"), pmui.Switch.from_param(self.param.keep, margin=(8, 10))),
            self.shelf,
            pn.Row(pmui.Switch.from_param(self.param.outlive, margin=(2, 10)), visible=store is not None),
            sizing_mode="stretch_width",
        )
        self.picture = PictureCard()
        self.board.beside(self.picture)
        self.printed = PrintedCard()
        self.board.beside(self.printed)
        self.board.beside(runs)
        self.library = LibraryDoor(self)
        self.board.on_place = self.library.place
        self._tick()

    def _look(self) -> None:
        """A tick where one is due. On a busy machine one that came late would otherwise cost the next."""
        now = time.monotonic()
        if now >= self._due:
            self._due = max(self._due + 1e-3 * PERIOD, now)
            self._tick()

    def _tick(self) -> None:
        """Look at the run and draw what is new."""
        if self.run is not None:
            self.run.follow()
        if not self.board.refresh():  # else the browser has enough to do until the next look
            self.shelf.update()
            self.picture.update(self.run)
        self.printed.update(self.run, seen=not self.library.is_open)
        self._show()
        self.status.update(self.run, self._error or self.choice.doubt or self.advice)

    def _show(self) -> None:
        """Enable what makes sense now, and show what the rule chose."""
        run, status = self.run, RunStatus.READY if self.run is None else self.run.status
        active = status.active
        if self._was_active and not active:
            self._error = ""  # a refused second Start has nothing more to say
            if run is not None:
                run.release()
                live_runs().pop(run.id, None)
        self._was_active = active
        self.transport.update(status)
        self.settings_form.lock(active)
        self.choice.lock(active)
        self.choice.suggest(dict(run.resolved) if run is not None and active else None)

    def sidebar(self) -> pn.viewable.Viewable:
        """Problem, solver and settings."""
        slots = {
            "Solver": self.choice.solver_slot,
            "Problem": self.choice.problem_slot,
            "Run": self._settings_slot,
        }
        tabs = pmui.Tabs(*slots.items(), margin=(4, 0), sizing_mode="stretch_width", dynamic=False)

        def turn(_: Any = None) -> None:
            for at, slot in enumerate(slots.values()):
                slot.reveal(at == tabs.active)

        turn()
        tabs.param.watch(turn, "active")
        return pn.Column(self.choice, tabs, sizing_mode="stretch_width", margin=0)

    def main(self) -> pn.viewable.Viewable:
        """Buttons, status, plots and the list of runs."""
        left = pn.FlexBox(self.transport, self.library.button, align_items="center")
        bar = pn.FlexBox(left, self.board.controls(), justify_content="space-between", align_items="center")
        # They come once the page stands: while its widgets are laid out, each would measure every figure again.
        plots = pn.Column(sizing_mode="stretch_width", min_height=800, margin=0)
        pn.state.onload(lambda: plots.append(self.board))
        return pn.Column(bar, self.status, *self.library.beside(plots), sizing_mode="stretch_width", margin=0)

    def __panel__(self) -> pn.viewable.Viewable:
        self.listen()
        return pn.Row(pn.Column(self.sidebar(), width=340), self.main(), sizing_mode="stretch_width")

    def listen(self) -> None:
        """Begin to look at the run a few times a second, once a page is there; end its thread with the page."""
        # In the background: else each look would tell the page that the server is busy, and idle again.
        ticker = PeriodicCallback(callback=self._look, period=PERIOD // _GRAIN, background=True, log=False)
        pn.state.onload(ticker.start)
        if pn.state.curdoc is not None:
            keep_styles(pn.state.curdoc)
        pn.state.on_session_destroyed(lambda _: self.close())

    def page(self) -> pmui.Page:
        """The whole page, for a server."""
        self.listen()
        page = pmui.Page(
            title="zoviz",
            sidebar=[self.sidebar()],
            main=[self.main()],
            sidebar_width=350,
            theme_config=THEME,
            busy_indicator=None,
        )
        harden_page(page)
        return page
