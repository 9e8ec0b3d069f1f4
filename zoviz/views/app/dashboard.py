"""The dashboard, a page on which a person chooses, starts, watches and steers runs, compares and downloads them."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from math import inf
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlencode

import panel as pn
from bokeh.document import Document
from panel.io.callbacks import PeriodicCallback
from panel.io.location import Location

from zoviz.core.registry import title_of
from zoviz.core.threads.refresh_queue import RefreshQueue
from zoviz.core.threads.rests import RESTS
from zoviz.diagnosis.step_limits import limits_of
from zoviz.problems.base import Problem
from zoviz.problems.find import find_problem
from zoviz.runs.live_runs import LiveRuns
from zoviz.runs.references import Reference
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.solvers.base import Solver
from zoviz.studies.live import Live
from zoviz.views.app.gallery import Gallery
from zoviz.views.app.guide import Guide
from zoviz.views.app.header import Header, begins_dark
from zoviz.views.app.page_address import apply_query, apply_view, query_for, query_of, show_runs, shown_ids
from zoviz.views.app.page_template import page_template
from zoviz.views.app.process import prepare
from zoviz.views.app.rooms import Room, Rooms
from zoviz.views.app.set_ups import SET_UPS, SetUp
from zoviz.views.app.thumbnails import thumbnails
from zoviz.views.common.connection import watch_connection
from zoviz.views.common.design import in_cell
from zoviz.views.common.figure_frame import EVERY
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.small_fields import CheckBox
from zoviz.views.common.style import RUN_ROOM, SIDEBAR, STICKY, WIDE, Grid, update_changed, use_own_resources
from zoviz.views.controls.about_problem import typeset_formulas
from zoviz.views.controls.go_back import GoBack
from zoviz.views.controls.program_output import ProgramOutput
from zoviz.views.controls.run_buttons import RunButtons, StatusBar
from zoviz.views.controls.run_form import RunForm
from zoviz.views.diagnosis.best_design_card import BestDesignCard
from zoviz.views.diagnosis.drawer import DiagnosisDrawer
from zoviz.views.pictures.base import PictureCard
from zoviz.views.plots.board import PLOTS_AT_ONCE, Board
from zoviz.views.plots.constraint_rails import ConstraintRails
from zoviz.views.plots.run_list import RunList
from zoviz.views.report.figure_download import FigureDownload
from zoviz.views.upstream.bokeh import keep_styles, know_sent_models
from zoviz.views.upstream.panel import drop_views_with_session, messages_wait

if TYPE_CHECKING:
    from zoviz.views.benchmark.page import BenchmarkPage
    from zoviz.views.compare.page import ComparePage
    from zoviz.views.experiments.page import ExperimentsPage
    from zoviz.views.stored.page import StoredRunsPage

RUN, EXPERIMENTS, COMPARE, BENCHMARK, STORED_RUNS = "run", "experiments", "compare", "benchmark", "runs"
"""Names of the rooms with the plots, with the papers' experiments, with runs side by side, and with studies of many
problems."""
PERIOD = 250
"""Milliseconds between two refreshes."""
LOOK = 0.1
"""Seconds after which a refresh leaves the next list or picture to the one after it: all together take a new run's page
half a second, in which the server does nothing for its other pages."""
FIRST_LINES = 0.5
"""Seconds that lists and pictures wait for a run's first lines: they keep server and browser busy, and are looked at
later. A dear program, whose first step takes longer, is in the lists after that."""
OPENING = 0.1
"""Seconds that the room of the run waits for its first lines: a browser then lays the plots out once, not twice."""
_GRAIN = 4
"""Parts of a period: how soon a refresh that comes late is followed by the next."""


def dashboard(
    problem: Problem | str | None = None, solver: Solver | None = None, store: Store | str | None = None
) -> Dashboard:
    """Make a dashboard, and prepare this process to serve it.

    Its ``servable()`` puts the whole page into an app of ``panel serve``; as the last line of a notebook's cell it
    shows itself.

    Parameters
    ----------
    problem : Problem or str, optional
        A problem of your own (a ``BlackBox``, say), offered first, or its name, ``module:object``. Where that cannot
        be had, the page opens without it and says why.
    solver : Solver, optional
        The solver to begin with.
    store : Store or str, optional
        Where runs are kept, or its URL; None keeps nothing.

    Examples
    --------
    >>> from zoviz.views.app.dashboard import dashboard
    >>> page = dashboard().servable()
    """
    prepare()
    if isinstance(store, str):
        url = store
        store = pn.state.as_cached(f"zoviz store {url}", lambda: Store(url))
    complaint = ""
    if isinstance(problem, str):
        try:
            problem = find_problem(problem).clone()  # a clone for each session: they share the module
        except ValueError as error:
            problem, complaint = None, str(error)
            logging.getLogger("zoviz").exception("The problem was not loaded.")
    # The runs at work in this process's server, which ``panel serve`` keeps beyond single pages' scripts.
    page = Dashboard(problem, solver, store, live_runs=pn.state.as_cached("zoviz live runs", LiveRuns))
    if complaint:
        page.rooms.open = RUN  # whose bar has the sentence, which stays
        page.controller.say(complaint)
    return page


class Dashboard(pn.viewable.Viewer):
    """A dashboard: everything to run solvers on problems and to watch them; one instance for each session.

    Parameters
    ----------
    problem : Problem, optional
        A problem of your own (a ``BlackBox``, say), offered first.
    solver : Solver, optional
        The solver to begin with.
    store : Store, optional
        Where runs are kept, and stored ones are found again.
    live_runs : LiveRuns, optional
        The runs at work in the server, which its pages share, and its limits; by default this page knows its own only.
    person : str
        Whose page it is, for the server's limits.

    Attributes
    ----------
    controller : RunController
        The page's run and the commands to it.
    updates : deque of callable
        What updates the lists and pictures beside the plots, in the order in which they are due.

    Examples
    --------
    >>> from zoviz.views.app.dashboard import Dashboard
    >>> page = Dashboard()  # in a notebook, as the last line of a cell, it shows itself
    """

    def __init__(
        self,
        problem: Problem | None = None,
        solver: Solver | None = None,
        store: Store | None = None,
        live_runs: LiveRuns | None = None,
        person: str = "",
        **params: Any,
    ) -> None:
        super().__init__(**params)
        live_runs = LiveRuns() if live_runs is None else live_runs
        self.form = RunForm(problem, solver, live_runs.limits)
        self.stored_runs: StoredRunsPage | None = None
        self.experiments: ExperimentsPage | None = None
        self.compare: ComparePage | None = None
        self.benchmark: BenchmarkPage | None = None
        self.controller = RunController(self.form, store, live_runs, person)
        self.board = Board(self.controller.runs_shown)
        self.buttons, self.go_back = RunButtons(self.controller), GoBack(self.controller)
        self.figure_download = FigureDownload(self.board)
        self.run_list, self.output = RunList(self.controller), ProgramOutput()
        self.diagnosis = DiagnosisDrawer(self.controller)
        self.status_bar = StatusBar(self.controller, [self.buttons, self.go_back])
        self.pictures = [PictureCard("solver"), PictureCard("problem")]
        self.rails, self.best_design = ConstraintRails(self.board), BestDesignCard(lambda: self.diagnosis.certainty)
        self.board.beside(self.rails, below="Violation")
        for card in (self._keeping(store is not None), self.output):
            self.board.beside(card)
        self.updates = deque(self._beside())
        self.rooms = Rooms(self._rooms())
        if problem is not None or solver is not None:
            self.rooms.open = RUN
        self._address = self._seen_query = self._query
        self._shown, self._experiment = ("", self.rooms.open, ""), ""  # the latter of the address, for its room
        self.controller.param.watch(lambda _: self._show_run(), "run")
        self.controller.param.watch(lambda event: self.form.lock(event.new), "active")
        self.form.picker.param.watch(lambda _: self.controller.param.update(waiting=False), "problem_name")
        self._next_refresh, self._news, self._refreshes, self._refreshing = 0.0, False, 0, False
        self._last_command, self._opens_run = 0.0, False  # the first on the monotonic clock
        self._queue: RefreshQueue = pn.state.as_cached("zoviz refresh queue", RefreshQueue)
        self.diagnosis.param.watch(lambda _: self._hurry(), "open")
        self.board.param.watch(lambda *_: self._draw_soon(), ["axis", "log_x", "log_y", "band"])
        self.controller.param.watch(lambda *_: self._hurry(), ["run", "status", "error"])
        self.refresh()

    def _keeping(self, outlives: bool) -> pn.viewable.Viewable:
        """Return what becomes of runs, and their figures for print."""
        options, look = self.controller.param, {"margin": (4, 10)}
        boxes = pn.FlexBox(
            CheckBox.from_param(options.keep, **look),
            CheckBox.from_param(options.outlive, visible=outlives, **look),
        )
        return pn.Column(boxes, self.figure_download, css_classes=["zoviz-wide"], sizing_mode="stretch_width")

    def _rooms(self) -> list[Room]:
        """Return the parts of the page, in the order of its bar."""
        rooms = [
            Room("gallery", "Gallery", self._make_gallery),
            Room(RUN, "Run", self._make_run),
            Room(EXPERIMENTS, "Experiments", self._make_experiments),
            Room(COMPARE, "Compare", self._make_compare),
        ]
        store = self.controller.store
        if store is not None and store.owner is None:  # a study takes processors that no limit of a person covers
            rooms.append(Room(BENCHMARK, "Benchmark", self._make_benchmark))
        if store is not None:
            rooms.append(Room(STORED_RUNS, "Stored runs", self._make_stored_runs))
        return rooms

    def _beside(self) -> list[Callable[[Run | None], object]]:
        """Return what updates the lists and pictures beside the plots, each a part of a refresh."""
        updates: list[Callable[[Run | None], object]] = [lambda _: self.run_list.update()]
        updates += [lambda _: self.figure_download.update(), self._update_best_design]
        pictured = [self.rails.update, *(update for card in self.pictures for update in (card.prepare, card.update))]
        shown = self.controller.runs_shown
        return updates + [lambda _, update=update: update(*shown.pictured) for update in pictured]

    def _update_best_design(self, run: Run | None) -> None:
        """Show the best design of the page's run, or of the newest stored one on the plots of a page without a run."""
        self.best_design.update(self.controller.runs_shown.newest if run is None else run)

    def _make_gallery(self) -> Gallery:
        picker = self.form.picker
        offered = [one for one in SET_UPS if one.problem in picker.problems and one.solver in picker.solvers]
        return Gallery(offered, thumbnails(), self.begin)

    def _make_run(self) -> pn.viewable.Viewable:
        controls = self.board.controls()
        controls.append(self.diagnosis.switch())
        solver_picture, problem_picture = self.pictures
        plots = pn.Column(self.run_list, controls, self.board, css_classes=["zoviz-plots"], **WIDE)
        beside = pn.Column(self.best_design, problem_picture, solver_picture, css_classes=["zoviz-beside"], margin=0)
        return Grid(plots, beside, self.diagnosis, columns=RUN_ROOM, **WIDE)

    def _make_experiments(self) -> ExperimentsPage:
        from zoviz.views.experiments.page import ExperimentsPage  # with all that the papers' experiments import

        named = {"experiment": self._experiment}
        self.experiments = ExperimentsPage(self.controller, self.begin_live, self._refusal, **named)
        return self.experiments

    def _refusal(self, live: Live) -> str:
        """Return the sentence why this page cannot begin a run that an experiment declares; else ""."""
        picker = self.form.picker
        for kind, one, offered in (("problem", live.problem, picker.problems), ("solver", live.solver, picker.solvers)):
            if title_of(one) not in offered:
                return f"Expected a {kind} that this page has, got {title_of(one)}."
        return live.solver.missing_package

    def _make_compare(self) -> ComparePage:
        from zoviz.views.compare.page import ComparePage  # with SciPy's statistics: most openings never need them

        self.compare = ComparePage(self.controller)
        return self.compare

    def _make_benchmark(self) -> BenchmarkPage:
        from zoviz.views.benchmark.page import BenchmarkPage  # with pandas and statistics: most openings need neither

        self.benchmark = BenchmarkPage(self.controller)
        return self.benchmark

    def _make_stored_runs(self) -> StoredRunsPage:
        from zoviz.views.stored.page import StoredRunsPage  # with pandas: half a second at a process's first opening

        self.stored_runs = StoredRunsPage(self.controller)
        return self.stored_runs

    def begin(self, set_up: SetUp) -> None:
        """Set the form as a set-up says, and start; a run that is going on is left alone, and the page says so."""
        self._begin(set_up.query)

    def begin_live(self, live: Live) -> None:
        """Run what an experiment declares, with the paper's numbers as lines on the plots."""
        if not self.controller.active:
            self.board.param.update(axis=live.axis, log_x=live.log_x)
        self._begin(query_for(live.problem, live.solver, live.settings), live.references)

    def _begin(self, query: str, references: tuple[Reference, ...] = ()) -> None:
        complaints = [] if self.controller.active else apply_query(self.form, query, afresh=True)
        self.controller.start(references=references)
        if complaints:
            self.controller.say(" ".join(complaints))
        if not self._opens_run:
            self.rooms.open = RUN

    def _show_run(self) -> None:
        """Open the room of the run: on a page in a browser with its first lines, if they come soon."""
        if self._refreshing:
            self._opens_run = True
        else:
            self.rooms.open = RUN

    def _hurry(self) -> None:
        """Have the next refresh come at once: it may be a command that a person waits to see obeyed."""
        self._next_refresh, self._news, self._last_command = 0.0, True, time.monotonic()
        self._refresh_next()

    def _refresh_next(self, document: Document | None = None) -> None:
        """Have a refresh come once the server has done what it is at: the ticker's next may be a while."""
        document = document or pn.state.curdoc
        if document is not None and self._refreshing:
            document.add_next_tick_callback(self.refresh_if_due)

    def _draw_soon(self) -> None:
        """Have the next refresh come at once, for a person who waits for other axes."""
        self._next_refresh = 0.0

    def refresh_if_due(self) -> None:
        """Refresh the page where that is due: a late one on a busy machine must not cost the next.

        What is new in the status goes to the browser by itself. Lines keep server and browser busy, for seconds on a
        busy machine: they wait for the next time, and until all that was said before is on its way.
        """
        now, document = time.monotonic(), pn.state.curdoc
        if now < self._next_refresh:
            return
        if not self._news and (
            messages_wait(document)
            or not self._queue.may_refresh(id(self), self._next_refresh, now, partial(self._refresh_next, document))
        ):
            return
        with RESTS:  # runs in other threads would make it take several times as long
            self._show_news(now)

    def _show_news(self, now: float) -> None:
        self.tell()
        if self._news:
            self._news = False
            self._refresh_next()
            return
        run = self.controller.run
        no_line = run is not None and run.active and len(run.trace) < 2  # a line needs two rows
        soon = no_line and now < self._last_command + FIRST_LINES
        whole = self.draw(0.0 if soon else LOOK, PLOTS_AT_ONCE)
        if self._opens_run and not (no_line and now < self._last_command + OPENING):
            self._opens_run, self.rooms.open = False, RUN
        self._queue.refreshed(id(self), now, time.monotonic())
        self._next_refresh = now if no_line or not whole else max(self._next_refresh + 1e-3 * PERIOD, now)

    def refresh(self) -> None:
        """Show what is new in the run; needs the document's lock."""
        self.tell()
        self.draw()

    def tell(self) -> None:
        """Show what is new in the run's status: buttons, counters, verdict, message, diagnosis; needs the lock."""
        self.controller.refresh()
        run = self.controller.run
        self.form.picker.suggest(dict(run.resolved) if run is not None and self.controller.active else None)
        self.form.picker.solver_form.steer(run if self.controller.active else None)
        self.form.update(self.controller.active)
        self.status_bar.update()
        self.go_back.update(None if run is None else self.controller.verdict(run))
        self.diagnosis.offer(run, self.status_bar.put)
        self.diagnosis.update(run)

    def draw(self, seconds: float = inf, plots: int | None = None) -> bool:
        """Show what is new in the lines, then in lists and pictures; needs the document's lock.

        Parameters
        ----------
        seconds : float
            For lists and pictures: what is not reached comes first next time. Nothing for 0.
        plots : int, optional
            As of ``Board.refresh``.

        Returns
        -------
        bool
            Whether nothing was left for the next time.
        """
        run = self.controller.run
        self._limit(run)
        # After new lines the browser has enough to do until the next refresh.
        whole = not self.board.refresh(plots) and seconds > 0.0 and self._update_beside(run, seconds)
        self.output.update(run, visible=self.rooms.open == RUN)
        self.rooms.update()
        self._write_address(run)
        return whole

    def _update_beside(self, run: Run | None, seconds: float) -> bool:
        """Update what stands beside the plots, for at most ``seconds``; return whether all was updated."""
        begun = time.monotonic()
        for done in range(1, len(self.updates) + 1):
            self.updates[0](run)
            self.updates.rotate(-1)
            if time.monotonic() - begun > seconds:
                return done == len(self.updates)
        return True

    def _limit(self, run: Run | None) -> None:
        """Show how far the run's live parameters may be moved; now and then, as its multipliers move."""
        self._refreshes += 1
        if run is None or not self.controller.active:
            self.form.picker.solver_form.limit({})
        elif self._refreshes % EVERY == 0:
            self.form.picker.solver_form.limit(limits_of(run))

    def read_address(self, query: str) -> None:
        """Set the form as the query of an address says, show the runs that it names, and say what cannot be."""
        values = dict(parse_qsl(query.lstrip("?")))
        named = values.keys() & {"problem", "solver", "runs"}
        room = values.get("room", RUN if named else self.rooms.open)
        if room in self.rooms.names:
            self.rooms.open = room
        if room == EXPERIMENTS:
            self._experiment = values.get("experiment", "")
            if self.experiments is not None:
                self.experiments.experiment = self._experiment
        complaints = apply_view(self.board, query)
        if named:
            complaints += [*apply_query(self.form, query), *show_runs(self.controller, query)]
        if named or complaints:
            self.controller.error = " ".join(complaints)
        self._address = self._query

    @property
    def _query(self) -> str:
        """The query of an address that shows what is set, the room, the axes and the runs."""
        room = "" if self.rooms.open == RUN else self.rooms.open
        return query_of(self.form, shown_ids(self.controller), room, self._open_experiment, self.board)

    def _write_address(self, run: Run | None) -> None:
        """Have the browser's address carry what is set: another run or room at once, else once a second.

        What is set has to stand for two refreshes: a drag is one change of the address.
        """
        shown = ("" if run is None else run.id, self.rooms.open, self._open_experiment)
        if shown == self._shown and self._refreshes % EVERY:
            return
        query = self._query
        settled, self._seen_query = query == self._seen_query or shown != self._shown, query
        self._shown = shown
        if settled and query != self._address and pn.state.location is not None:
            self._address = pn.state.location.search = query

    @property
    def _open_experiment(self) -> str:
        """The name of the experiment whose sheet is in sight; "" where none is."""
        if self.rooms.open != EXPERIMENTS:
            return ""
        return self._experiment if self.experiments is None else self.experiments.experiment

    def _header(self) -> tuple[Header, Guide]:
        """The rooms' tabs and what is of use in all of them, and the help with the page's keys."""
        return Header(self.controller, self.rooms, RUN), Guide(self.controller)

    def _main(self) -> pn.viewable.Viewable:
        """The room that is open, and above that of the run its bar, which stays in sight."""
        pn.state.onload(lambda: self.rooms.begin(RUN))
        bar = pn.Column(self.status_bar, visible=self.rooms.open == RUN, stylesheets=[STICKY], **WIDE)
        self.rooms.param.watch(lambda event: update_changed(bar, visible=event.new == RUN), "open")
        return pn.Column(bar, self.rooms, **WIDE)

    def __panel__(self) -> pn.viewable.Viewable:
        self._begin_refreshing()
        forms = pn.Column(self.form, width=SIDEBAR, visible=self.rooms.open == RUN)
        self.rooms.param.watch(lambda event: update_changed(forms, visible=event.new == RUN), "open")
        room = pn.Row(forms, self._main(), sizing_mode="stretch_width")
        return in_cell(pn.Row(*self._header(), sizing_mode="stretch_width"), room)

    def _begin_refreshing(self) -> None:
        """Begin to refresh the page a few times a second, once a page is there; stop with the page."""
        # In the background: else each refresh would tell the page that the server is busy, and idle again.
        ticker = PeriodicCallback(callback=self.refresh_if_due, period=PERIOD // _GRAIN, background=True, log=False)
        pn.state.onload(ticker.start)
        self._refreshing = True
        if pn.state.curdoc is not None:
            keep_styles(pn.state.curdoc)
            know_sent_models(pn.state.curdoc)
            use_own_resources(pn.state.curdoc)
            typeset_formulas(pn.state.curdoc)
            watch_connection(pn.state.curdoc)
        self.controller.count_interrupted()
        values = {name: parts[-1].decode(errors="replace") for name, parts in pn.state.session_args.items()}
        self.read_address(urlencode(values))
        if pn.state.curdoc is not None:  # else, in a notebook's cell, the end of any session would close this page
            drop_views_with_session()
            pn.state.on_session_destroyed(lambda _: self._close())

    def _close(self) -> None:
        """End what works for the page alone, with its session."""
        self._queue.leave(id(self))
        self.controller.close()
        self.diagnosis.close()
        self.best_design.close()

    def page(self) -> pn.Template:
        """Return the whole page, for a server."""
        self._begin_refreshing()
        return page_template(
            *self._header(),
            forms=self.form,
            room=self._main(),
            open_room=self.rooms.open,
            dark=begins_dark(pn.state.cookies),
        )

    def servable(
        self,
        title: str | None = "zoviz",
        location: bool | Location = True,
        area: str = "main",
        target: str | None = None,
    ) -> Any:
        """Put the whole page into the app that ``panel serve`` runs, and return it.

        Parameters
        ----------
        title : str, optional
            Of the browser's window.
        location, area, target
            As of every ``servable`` of Panel's.
        """
        return self.page().servable(title, location, area, target)
