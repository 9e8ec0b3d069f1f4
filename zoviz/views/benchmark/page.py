"""The page on which solvers are set against each other on many problems, live while their runs go on."""

from __future__ import annotations

import html
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, TypeVar

import numpy as np
import panel as pn
import param

from zoviz.benchmark.stored_study import StoredStudy, StudySnapshot
from zoviz.benchmark.study_process import StudyProcess, cost_of_command, stop_study
from zoviz.core.durations import duration
from zoviz.core.errors import ZovizError
from zoviz.core.threads.background_work import in_background
from zoviz.studies.cell import DONE
from zoviz.views.benchmark.heat_map import FILLS, HeatMap, solved_counts
from zoviz.views.benchmark.results import BenchmarkResults
from zoviz.views.benchmark.set_up_form import SetUpForm
from zoviz.views.common.buttons import text_button
from zoviz.views.common.figure_frame import EVERY
from zoviz.views.common.run_controller import RunController, say_errors, store_of
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.style import WIDE, batched_changes, muted_html, note, update_changed

_Result = TypeVar("_Result")
_SHOWN = 12
"""Runs that are put on the plots at once."""
_NEW = "New study"
_EMPTY = (
    "<b>Which solver solves most problems for its calls?</b> A study runs every solver on every problem with the same "
    "budget, and draws data profiles: the share of problems solved against calls."
)
EXAMPLE = ("WeldedBeam", "PressureVessel", "SpeedReducer", "Spring")
"""Problems of the study that an empty room offers: engineering designs of a few variables."""
_HINT = (
    "A run solves a problem to the level once at most this share of the initial gap is left: to the known optimum, or "
    "to the best point of these runs. Violations count as a gap, too. Click a cell, or near a curve, for the runs "
    "behind it. A study continues when this page is closed, and when its server ends."
)


def cost_html(cost: dict[str, Any]) -> str:
    """Return what a benchmark costs, in sentences, with the pairs that are left out."""
    if not cost["runs"]:
        return "All runs of this study are done."
    seconds = np.nan if cost["seconds"] is None else cost["seconds"] / cost["processes"]
    sentence = (
        f"{cost['runs']} runs to do, {cost['calls']:,} calls in all: about {duration(seconds)} on "
        f"{cost['processes']} processors, estimated from short trials of {cost['tried']} runs."
    )
    refusals = cost["refusals"]
    if refusals:
        sentence += f" {len(refusals)} pairs cannot be run, for example: {html.escape(refusals[0])}"
    return sentence


def seconds_left(snapshot: StudySnapshot, processes: int) -> float:
    """Return the time that the rest of a study takes by the runs that have ended; NaN before the first has."""
    ended = [one.seconds for one in snapshot.records.values() if one.status in DONE]
    begun = sum(one.seconds for one in snapshot.records.values() if one.status not in DONE)
    if not ended:
        return float("nan")
    rest = (len(snapshot.definition.runs) - len(ended)) * float(np.mean(ended))
    return max(rest - begun, 0.0) / processes


def progress_html(snapshot: StudySnapshot, processes: int = 1) -> str:
    """Return how far a study is, as a bar and a sentence, and how long the rest takes."""
    whole, begun = len(snapshot.definition.runs), len(snapshot.records)
    ended = len(snapshot.outcomes) + snapshot.unread
    word = "running" if snapshot.active else ("complete" if ended == whole else "stopped")
    going = f", {begun - ended} started" if begun > ended else ""
    left = seconds_left(snapshot, processes) if snapshot.active and ended < whole else float("nan")
    rest = f" About {duration(left)} left." if np.isfinite(left) else ""
    return f"{_bar(ended, whole)}<b>{ended} of {whole}</b> runs have ended{going}: {word}.{rest}"


def _bar(ended: int | None = None, whole: int = 1) -> str:
    """Return a bar of progress as HTML, one that only moves where nothing is known yet."""
    value = "" if ended is None else f" value='{ended}' max='{whole}'"
    return f"<progress aria-label='Progress of the study'{value} style='width:180px;margin-right:10px'></progress>"


class BenchmarkPage(pn.viewable.Viewer):
    """A page for studies of solvers on problems: what they cost, how they go, and profiles, tables and comparisons.

    Parameters
    ----------
    controller : RunController
        Has the store, and the plots on which a study's runs can be put.

    Attributes
    ----------
    controller : RunController
    form : SetUpForm
    snapshot : StudySnapshot or None
        Of the study that is shown, as it was at the last refresh.
    results : BenchmarkResults
        Curves and tables of its runs that had ended then, and of what is imported beside them.
    heat_map : HeatMap or None
    picked_ids : list of str
        The runs behind the cell or the step that was clicked last.
    """

    study: param.Selector[str] = param.Selector(
        default=_NEW, objects=[_NEW], label="Study", doc="A stored study, or a new one."
    )

    def __init__(self, controller: RunController, **params: Any) -> None:
        super().__init__(**params)
        self.controller, self._store, self.say = controller, store_of(controller), controller.say
        self.form = SetUpForm()
        self.snapshot: StudySnapshot | None = None
        self.heat_map: HeatMap | None = None
        self._process: StudyProcess | None = None
        self._stored: StoredStudy | None = None
        self._work: Future[Any] | None = None
        self._take_up: Callable[[Any], None] = self._take_snapshot
        self._refreshes, self._drawn = 0, ""
        self._started_at = 0.0
        self.buttons = {
            "cost": text_button("Cost", self.tell_cost),
            "start": text_button("Start study", self.start, first=True),
            "stop": text_button("Stop study", self.stop, visible=False),
        }
        self.sentence, self.progress = note(""), pn.pane.HTML("", margin=(4, 10))
        self.hint = pn.Column(
            note(_EMPTY),
            text_button("Start an example study", self.start_example, first=True, margin=(4, 10)),
            margin=(8, 0),
        )
        self.picked = pn.pane.HTML("", margin=(4, 10), sizing_mode="stretch_width")
        self.show_button = text_button("Put on the plots", self.put_on_plots, visible=False)
        self.picked_ids: list[str] = []
        self.results = BenchmarkResults(self.say, self.pick_step)
        self._map = pn.Column(sizing_mode="stretch_width", scroll=True, max_height=620, margin=0)
        self._results = pn.Column(*self._parts(), **WIDE, visible=False)
        self.param.watch(lambda event: self._open(event.new), "study")
        self.results.param.watch(lambda _: self._draw_map(), "level")

    def _parts(self) -> list[pn.viewable.Viewable]:
        picked = pn.Row(self.picked, self.show_button, margin=0)
        return [self._map, legend(), picked, *self.results.rows(), note(_HINT)]

    def __panel__(self) -> pn.viewable.Viewable:
        select = SearchList.of_room(self.param.study, 300)
        bar = pn.FlexBox(select, *self.buttons.values(), align_items="end")
        self.read()
        parts = (self.form, bar, self.sentence, self.progress, self.hint, self._results)
        return pn.Column(*parts, **WIDE)

    # What a person asks for

    @say_errors()
    def tell_cost(self) -> None:
        """Say what the benchmark costs, after short trials in a process of its own."""
        command = self.form.command()
        self.sentence.object = muted_html("Running short trials to estimate the time ...")
        self._begin(lambda: cost_of_command(self._store, command), self._tell)

    def _tell(self, cost: dict[str, Any]) -> None:
        self.sentence.object = muted_html(cost_html(cost))

    @say_errors()
    def start(self) -> None:
        """Run what is missing of the benchmark, in a process of its own."""
        command = self.form.command()
        name = self.form.name_of_study
        record = self._store.study(name)
        if record is not None and record.active:
            raise ZovizError(f"Expected a study that is not running, got {name!r}: stop it first.")
        self._process, self._started_at = StudyProcess(self._store, command), time.monotonic()
        self.sentence.object = ""  # the estimate of what it costs is of no interest from now on
        self._follow(name)
        self._show_state(True)
        self._tell_start()

    @say_errors()
    def start_example(self) -> None:
        """Run the form's solvers on a few engineering designs."""
        self.form.problems = list(EXAMPLE)
        self.start()

    def _tell_start(self) -> None:
        """Say that a study starts, and for how long: its process first loads the solvers."""
        seconds = time.monotonic() - self._started_at
        text = f"{_bar()}Starting {html.escape(self._name)}: {seconds:.0f} s. The first results take about 15 s."
        update_changed(self.progress, object=text)

    def _show_state(self, running: bool) -> None:
        """Show the one button that makes sense."""
        update_changed(self.buttons["start"], visible=not running)
        update_changed(self.buttons["stop"], visible=running)

    @say_errors()
    def stop(self) -> None:
        """End the study's process; its runs go on from their checkpoints when it is started again."""
        stop_study(self._store, self._name)
        self.sentence.object = muted_html("Stopped. Start study continues with the remaining runs.")

    @say_errors()
    def put_on_plots(self) -> None:
        """Put the runs that were picked on the plots."""
        for id in self.picked_ids[:_SHOWN]:
            stored = self._store.load(id)
            self.controller.runs_shown.put(stored, f"{stored.label or id[:6]}")
        self.sentence.object = muted_html("Now on the plots, under Run.")

    # What the page sees by itself

    @property
    def _name(self) -> str:
        return "" if self._stored is None else self._stored.name

    def read(self) -> None:
        """List the store's studies; the one that is at work, else the last, is shown where none is."""
        records = self._store.studies()
        self.param.study.objects = [_NEW, *(record.name for record in records)]
        if self._stored is None and records:
            self.study = next((record.name for record in records if record.active), records[0].name)

    def _open(self, name: str) -> None:
        """Show another study, and what it consists of."""
        if name == _NEW:
            return
        if name != self._name:
            self._follow(name)

    def _follow(self, name: str) -> None:
        self._stored, self.snapshot, self._drawn = StoredStudy(self._store, name), None, ""
        update_changed(self.hint, visible=False)
        self._take_pick("", [])
        self.read_soon()

    def read_soon(self) -> None:
        """Have the next refresh read the study."""
        self._refreshes = -1

    def update(self) -> None:
        """Look at the study now and then; called with the document's lock at every look of the page."""
        self._refreshes += 1
        self.results.imports.update()
        if self._process is not None and self.snapshot is None and self._process.active:
            self._tell_start()
        if self._work is not None:
            if self._work.done():
                work, self._work = self._work, None
                self._finish(work)
        elif self._stored is not None and (
            self._refreshes % EVERY == 0 or (self.snapshot is not None and self.snapshot.unread)
        ):
            stored = self._stored
            self._begin(lambda: self._read_study(stored), self._take_snapshot)

    def _read_study(self, stored: StoredStudy) -> tuple[str, StudySnapshot] | None:
        """Read a study; None where its process has not written it yet."""
        return None if self._store.study(stored.name) is None else (stored.name, stored.read())

    def _begin(self, task: Callable[[], _Result], take_up: Callable[[_Result], None]) -> None:
        self._work, self._take_up = in_background(task), take_up

    @say_errors()
    def _finish(self, work: Future[Any]) -> None:
        """Take up what a thread has done."""
        if self._process is not None and not self._process.active:
            complaint, self._process = self._process.complaint, None
            if complaint:
                self.sentence.object = muted_html(html.escape(complaint))
            if self.snapshot is None:
                update_changed(self.progress, object="")
        self._take_up(work.result())

    def _take_snapshot(self, read: tuple[str, StudySnapshot] | None) -> None:
        """Show how the study stands now."""
        busy = self._process is not None and self._process.active
        if read is None or read[0] != self._name:
            self._show_state(busy)
            return
        name, snapshot = read
        first, self.snapshot = self.snapshot is None, snapshot
        if first:
            self.form.set_command(snapshot.definition.command)
            names = [_NEW, *(record.name for record in self._store.studies())]
            self.param.study.objects = names
            self.study = name
        self._show_state(busy or snapshot.active)
        update_changed(self.progress, object=progress_html(snapshot, self.form.workers))
        marks = (
            f"{name} {len(snapshot.outcomes)} {sorted((id, str(one.status)) for id, one in snapshot.records.items())}"
        )
        update_changed(self._results, visible=True)
        if marks != self._drawn:
            self._drawn = marks
            self.results.show(snapshot)
            self._draw_map()

    # Drawing

    def _draw_map(self) -> None:
        """Draw the map, with what was reached at the level."""
        snapshot, whole = self.snapshot, self.results.whole
        if snapshot is None:
            return
        problems, solvers = list(snapshot.definition.problems), snapshot.definition.solvers
        new_map = self.heat_map is None or (self.heat_map.problems, self.heat_map.solvers) != (problems, solvers)
        with batched_changes(pn.state.curdoc if new_map else None):
            if new_map or self.heat_map is None:
                self.heat_map = HeatMap(problems, solvers, self.pick_cell)
                self._map.objects = [pn.pane.Bokeh(self.heat_map.figure, sizing_mode="stretch_width")]
            read = whole is not None and bool(snapshot.outcomes)
            self.heat_map.update(snapshot, solved_counts(whole.hits(self.results.tau)) if whole and read else {})

    # What a click leads to

    def pick_cell(self, problem: str, solver: str) -> None:
        """Say how a solver fared on a problem, and offer the runs for the plots."""
        if self.snapshot is not None:
            ids = [run.id for run in self.snapshot.definition.runs if (run.problem, run.solver) == (problem, solver)]
            outcomes = [self.snapshot.outcomes[id] for id in ids if id in self.snapshot.outcomes]
            words = [one.verdict.sentence for one in outcomes if one.verdict is not None]
            self._take_pick(
                f"{solver} on {problem}", [id for id in ids if id in self.snapshot.records], " ".join(words)
            )

    def pick_step(self, what: str, problems: Sequence[str], solver: str, sentence: str) -> None:
        """Say what makes a step of a curve, and offer the runs behind it for the plots; what is imported has none."""
        if self.snapshot is not None:
            planned = self.snapshot.definition.runs
            ids = [run.id for run in planned if run.problem in problems and run.solver == solver]
            self._take_pick(what, [id for id in ids if id in self.snapshot.records], sentence)

    def _take_pick(self, what: str, ids: Sequence[str], sentence: str = "") -> None:
        self.picked_ids = list(ids)
        text = f"<b>{html.escape(what)}</b> {html.escape(sentence)}" if what else ""
        update_changed(self.picked, object=text)
        update_changed(self.show_button, visible=bool(ids))


def legend() -> pn.pane.HTML:
    """Return the legend of the map's colours."""
    chips = "".join(
        f"<span style='display:inline-block;margin-left:14px'><span style='background:{fill};width:14px;height:14px;"
        f"border-radius:3px;display:inline-block;margin-right:5px;vertical-align:-2px'></span>{word}</span>"
        for word, fill in FILLS.items()
    )
    return pn.pane.HTML(f"<div style='font-size:12px;line-height:1.8'>{chips}</div>", margin=(0, 0, 6, 0))
