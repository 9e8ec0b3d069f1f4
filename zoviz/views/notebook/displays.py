"""What an object of zoviz shows of itself as the last line of a notebook's cell."""

from __future__ import annotations

from collections.abc import Callable
from functools import singledispatch
from typing import Any

import numpy as np
import panel as pn
from IPython.display import display

from zoviz.core.registry import title_of
from zoviz.diagnosis.trial import Trial
from zoviz.problems.base import Problem
from zoviz.runs.engine.result import Result
from zoviz.runs.run import Run
from zoviz.runs.run_view import RunView
from zoviz.runs.stored_run import StoredRun
from zoviz.solvers.base import Solver
from zoviz.studies.study import Study
from zoviz.views.app.dashboard import Dashboard
from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.common.style import WIDE
from zoviz.views.controls.about_problem import equation, facts, sentence, source
from zoviz.views.controls.parameter_forms import SolverForm
from zoviz.views.notebook.cells import load, put, replace
from zoviz.views.notebook.live_run import PERIOD, EndedRun, LiveRun, shown_alone
from zoviz.views.notebook.page_thread import page_thread
from zoviz.views.notebook.tables import result_html, study_html, trial_html
from zoviz.views.pictures.base import Picture


@singledispatch
def show(thing: Any) -> None:
    """Show an object in the present cell: a run with its controls, a result's table and figure, a problem's formula.

    Parameters
    ----------
    thing : Run, StoredRun, Result, Study, Trial, Problem, Solver or Dashboard
    """
    display({"text/plain": repr(thing)}, raw=True)


@show.register
def _(run: Run) -> None:
    if run.worker is not None and not run.active:
        _put(lambda: _ended(run, shown_alone(run)), repr(run))
        return
    load()
    thread = page_thread()
    live = thread.do(lambda: LiveRun(run))
    handle = put(live, repr(run))

    def refresh() -> bool:
        if live.refresh():
            return True
        # What the cell shows at the end is what the notebook is saved with: it must need no kernel.
        last = live.controller.run or run
        replace(handle, _ended(last, live.controller.runs_shown), repr(last))
        return False

    thread.every(PERIOD, refresh)


@show.register
def _(run: StoredRun) -> None:
    _put(lambda: _ended(run, shown_alone(run)), repr(run))


def _put(make: Callable[[], pn.viewable.Viewable], text: str) -> None:
    """Show what the thread of cells makes; ``text`` where a front end has no HTML."""
    load()
    put(page_thread().do(make), text)


def _ended(run: RunView, shown: ShownRuns) -> pn.Column:
    """Return the outcome of a run, and the plots of all that its cell has shown."""
    board = EndedRun(ShownRuns(runs=shown.runs))
    try:
        outcome = result_html(run.result)
    except ValueError as error:  # it has no iterate yet
        outcome = str(error)
    return pn.Column(pn.pane.HTML(outcome, sizing_mode="stretch_width"), board, **WIDE)


@show.register
def _(result: Result) -> None:
    from zoviz.views.plots.static import course  # with HoloViews: seconds that a run's first refresh need not wait for

    def view() -> pn.Column:
        parts: list[Any] = [pn.pane.HTML(result_html(result), sizing_mode="stretch_width")]
        parts += [pn.pane.HoloViews(course(result.trace))] if len(result.trace) > 1 else []
        return pn.Column(*parts, **WIDE)

    _put(view, repr(result))


@show.register
def _(study: Study) -> None:
    display({"text/html": study_html(study), "text/plain": repr(study)}, raw=True)


@show.register
def _(trial: Trial) -> None:
    _put(lambda: _tried(trial), str(trial))


def _tried(trial: Trial) -> pn.Column:
    """Return what each remedy of a trial came to, and the plots of its forks beside the one without a remedy."""
    shown = ShownRuns()
    for run in dict.fromkeys((trial.unchanged, *(one.run for one in trial.outcomes))):
        shown.put(run)
    for key in list(shown.runs):
        shown.reveal(key, visible=True)
    return pn.Column(pn.pane.HTML(trial_html(trial), sizing_mode="stretch_width"), EndedRun(shown), **WIDE)


@show.register
def _(problem: Problem) -> None:
    try:
        known = facts(problem)
    except ValueError as error:  # its own complaint on its parameters
        known = str(error)
    _describe(problem, f"{known[:1].upper()}{known[1:]}.")
    kind = Picture.of(problem)
    # One that can be drawn of a point by itself, without a run.
    if kind is not None and kind.follows_path() and kind.follows == "x" and not kind.slow:
        _put(lambda: _drawn(kind(), problem), repr(problem))


def _drawn(picture: Picture, problem: Problem) -> pn.pane.Bokeh:
    """Draw a problem at its optimum where that is known, else at the point of its set that is nearest to the origin."""
    known = problem.known_optimum
    point = problem.domain.project(np.zeros(problem.domain.n)) if known is None else known.point
    picture.update(problem, picture.prepare(problem, point[None]))
    return pn.pane.Bokeh(picture.figure, sizing_mode="stretch_width", max_width=700)


@show.register
def _(solver: Solver) -> None:
    _describe(solver, "")
    _put(lambda: pn.Column(SolverForm(solver), width=420), repr(solver))


def _describe(subject: Problem | Solver, known: str) -> None:
    """Show title, sentence, formula, what else is known, and the source, as Markdown."""
    tex, origin = equation(subject), source(subject)
    parts = [f"**{title_of(subject)}**. {sentence(subject)}", f"$$ {tex} $$" if tex else "", known]
    parts += [f"Source: {origin}"] if origin else []
    display({"text/markdown": "\n\n".join(part for part in parts if part), "text/plain": repr(subject)}, raw=True)


@show.register
def _(dashboard: Dashboard) -> None:
    load()
    put(dashboard, repr(dashboard))
