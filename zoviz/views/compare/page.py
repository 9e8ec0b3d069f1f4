"""The page that sets the runs on the plots side by side: a table, distributions over replicas, paired differences."""

from __future__ import annotations

import csv
import html
import io
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np
import panel as pn
import param

from zoviz.benchmark.run_comparison import BEST_GAP, CALLS, MEASURES, SIGNED, ComparedRun, Quartiles, compared, paired
from zoviz.views.common.buttons import download_row, text_button
from zoviz.views.common.figure_frame import EVERY
from zoviz.views.common.run_controller import RunController, say_errors
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.style import WIDE, batched_changes, muted_html, note, scrolling_html, section, update_changed
from zoviz.views.compare.distributions import Distributions, Sample, capitalised
from zoviz.views.compare.paired_sentences import TABLE_STYLE, paired_html

_SWATCH = "<span style='color:{colour}' aria-hidden='true'>&#9644;</span> {name}"
_EMPTY = (
    "<b>Compare runs side by side</b>: a table of what differs and how far they got, distributions over replicas, and "
    "tests of paired replicas. It shows the runs on the plots; add stored ones under Stored runs."
)
_HINT = (
    "Medians over replicas, quartiles in brackets. A best point may lie below f* within the feasibility tolerance; its "
    "gap then counts as 0. Replica r of two runs with the same problem and seed starts at the same point and meets the "
    "same noise, so their differences are paired: Wilcoxon signed-rank test at 1 %, corrected by Holm. At least eight "
    "differing pairs are needed."
)
_SEVERAL = "These runs are on {} different problems. Figures and comparison show one problem at a time."


def spread_html(quartiles: Quartiles, form: str = ".3g") -> str:
    """Return a median, and below it the quartiles; "none" stands for replicas without a value."""
    lower, median, upper = ("none" if np.isinf(value) else f"{value:{form}}" for value in quartiles)
    return median if lower == median == upper else f"{median}<small>({lower} to {upper})</small>"


def measure_html(run: ComparedRun, measure: str) -> str:
    """Return a measure of a run as HTML, and below it how many replicas' best point lies below f*; "" without it."""
    if measure not in run.measures:
        return ""
    of = len(run.measures[measure])
    below = f"<small class='words'>{run.below} of {of} below f*, by tolerance</small>" if run.below else ""
    form = ",.0f" if measure == CALLS else ".7g" if measure in SIGNED else ".3g"  # objectives differ by little
    spread = spread_html(run.quartiles(measure), form)
    return spread + (below if measure == BEST_GAP else "")


def measures_among(runs: Sequence[ComparedRun]) -> list[str]:
    """Return the measures that one of the runs has, the most telling first."""
    present = dict.fromkeys(name for one in runs for name in one.measures)
    return [*(name for name in MEASURES if name in present), *(name for name in present if name not in MEASURES)]


def table_html(runs: Sequence[ComparedRun], colours: dict[str, str]) -> str:
    """Return the runs as rows of a table, grouped by problem: what differs, verdict, calls, and all other measures."""
    measures = [CALLS, *(name for name in measures_among(runs) if name != CALLS)]
    heads = ["Run", "What differs", "Verdict", *map(capitalised, measures)]
    head = "".join(f"<th{' class=number' if at > 2 else ''}>{html.escape(one)}</th>" for at, one in enumerate(heads))
    rows = []
    for problem in problems_of(runs):
        rows.append(f"<tr class='group'><th colspan='{len(heads)}' scope='rowgroup'>{html.escape(problem)}</th></tr>")
        for one in runs:
            if one.problem == problem:
                numbers = "".join(f"<td class='number'>{measure_html(one, name)}</td>" for name in measures)
                name = _SWATCH.format(colour=colours[one.name], name=html.escape(one.name))
                words = f"<td class='text'>{html.escape(differences_of(one))}</td><td>{html.escape(one.verdict)}</td>"
                rows.append(f"<tr><td>{name}</td>{words}{numbers}</tr>")
    return f"<table class='zoviz-compare'><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


def problems_of(runs: Sequence[ComparedRun]) -> list[str]:
    """Return the problems of runs, each once."""
    return list(dict.fromkeys(one.problem for one in runs))


def differences_of(run: ComparedRun) -> str:
    """Return what differs from the other runs, as text."""
    return ", ".join(f"{name} = {value}" for name, value in run.parameters.items())


def table_csv(runs: Sequence[ComparedRun]) -> bytes:
    """Return a line for each run, with the quartiles of every measure."""
    measures = measures_among(runs)
    heads = [f"{name}, {part}" for name in measures for part in Quartiles._fields]
    lines = [["run", "problem", "solver", "verdict", "what differs", "replicas", *heads]]
    for one in runs:
        known = [one.quartiles(name) if name in one.measures else ("", "", "") for name in measures]
        replicas = str(max(map(len, one.measures.values())))
        words = [one.name, one.problem, one.solver, one.verdict, differences_of(one), replicas]
        lines.append([*words, *(str(value) for three in known for value in three)])
    return _written(lines)


def replicas_csv(runs: Sequence[ComparedRun]) -> bytes:
    """Return a line for each replica, with every measure: what the figures show."""
    measures = measures_among(runs)
    lines = [["run", "problem", "replica", *measures]]
    for one in runs:
        columns = [one.measures.get(name) for name in measures]
        for r in range(max(map(len, one.measures.values()))):
            values = ["" if column is None else str(column[r]) for column in columns]
            lines.append([one.name, one.problem, str(r), *values])
    return _written(lines)


def _written(lines: Sequence[Sequence[str]]) -> bytes:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(lines)
    return file.getvalue().encode()


class ComparePage(pn.viewable.Viewer):
    """A page with the runs on the plots side by side, whether they go on or have ended.

    Parameters
    ----------
    controller : RunController
        Has the runs on the plots.

    Attributes
    ----------
    runs : list of ComparedRun
        As they were at the last refresh.
    table, differences : HTML
    figures : Distributions or None
    body, hint : Column
        What is shown where there are runs, and where there are none.
    """

    measure: param.Selector[str] = param.Selector(
        default=None, objects=[None], label="Measure", doc="Measure in the figures and the comparison."
    )

    problem: param.Selector[str] = param.Selector(
        default=None, objects=[None], label="Problem", doc="Problem whose runs are shown in the figures."
    )

    def __init__(self, controller: RunController, **params: Any) -> None:
        super().__init__(**params)
        self._controller, self.say = controller, controller.say
        self.runs: list[ComparedRun] = []
        self._refreshes = 0
        self._state: tuple[Any, ...] = ()
        self._drawn: tuple[Any, ...] = ()
        self._suggested: str | None = None  # a problem that nobody has chosen
        self.figures: Distributions | None = None
        self.table = pn.pane.HTML("", stylesheets=[TABLE_STYLE], sizing_mode="stretch_width", margin=(4, 10))
        self.differences = pn.pane.HTML("", styles={"font-size": "14px"}, sizing_mode="stretch_width", margin=(4, 10))
        self._select = SearchList.of_room(self.param.measure, 260)
        self._select_problem = SearchList.of_room(self.param.problem, 320)
        self._select_problem.visible = False
        self._row = pn.Row(sizing_mode="stretch_width")
        start = text_button("Start a run", controller.start, first=True, margin=(6, 10))
        self.hint = pn.Column(note(_EMPTY), start, margin=(8, 0))
        self.several = note("", visible=False)
        files = {
            "Table, CSV": ("compare.csv", lambda: table_csv(self.runs)),
            "Replicas, CSV": ("compare_replicas.csv", lambda: replicas_csv(self.runs)),
        }
        self.body = pn.Column(
            self.table,
            self.several,
            pn.FlexBox(self._select, self._select_problem, download_row(files), align_items="end", margin=0),
            self._row,
            section("Paired comparison"),
            self.differences,
            note(_HINT),
            **WIDE,
            visible=False,
        )
        self.param.watch(lambda *_: self._draw(), ["measure", "problem"])

    def __panel__(self) -> pn.viewable.Viewable:
        self.read()
        return pn.Column(self.hint, self.body, **WIDE)

    def update(self) -> None:
        """Compare anew, now and then, where a run has moved on; called with the document's lock at every refresh."""
        self._refreshes += 1
        if self._refreshes % EVERY == 0:
            self.read()

    @say_errors("The runs cannot be compared: ")
    def read(self) -> None:
        """Compare the runs on the plots as they are now."""
        entries = [entry for entry in self._controller.runs_shown.runs.values() if len(entry.run.trace)]
        names = [entry.name for entry in entries]
        shown = {one.name if names.count(one.name) == 1 else f"{one.name} ({one.key})": one for one in entries}
        state = tuple((name, entry.run.id, entry.run.status, len(entry.run.trace)) for name, entry in shown.items())
        if state == self._state:
            return
        self._state = state
        self.runs = compared({name: entry.run for name, entry in shown.items()}, self._controller.verdict)
        self._colours = {name: entry.colour for name, entry in shown.items()}
        update_changed(self.hint, visible=not self.runs)
        update_changed(self.body, visible=bool(self.runs))
        offered = measures_among(self.runs)
        text = scrolling_html(table_html(self.runs, self._colours), "Runs side by side") if self.runs else ""
        update_changed(self.table, object=text)
        problems = problems_of(self.runs)
        update_changed(self._select_problem, visible=len(problems) > 1)
        update_changed(self.several, object=muted_html(_SEVERAL.format(len(problems))), visible=len(problems) > 1)
        self.param.measure.objects, self.param.problem.objects = offered or [None], problems or [None]
        measure = self.measure if self.measure in offered else offered[0] if offered else None
        counts = Counter(one.problem for one in self.runs)
        chosen = self.problem if self.problem in problems and self.problem != self._suggested else None
        # Else the one with most runs, of equally many the newest.
        self._suggested = None if chosen else max(reversed(problems), key=counts.__getitem__, default=None)
        problem = chosen or self._suggested
        if (measure, problem) == (self.measure, self.problem):
            self._draw()
        else:
            self.param.update(measure=measure, problem=problem)

    def _draw(self) -> None:
        """Draw the measure that is chosen."""
        if self.measure is None:
            return
        runs = [one for one in self.runs if one.problem == self.problem]  # other problems' values have no common axis
        samples = [
            Sample(one.name, self._colours[one.name], one.measures.get(self.measure, np.full(1, np.inf)))
            for one in runs
        ]
        signed = self.measure in SIGNED and any(bool((one.values <= 0.0).any()) for one in samples)
        wanted = (self.measure, signed, tuple(one.name for one in samples))
        with batched_changes(pn.state.curdoc if wanted != self._drawn else None):
            if wanted != self._drawn or self.figures is None:
                self._drawn, self.figures = wanted, Distributions(self.measure, not signed, wanted[2])
                figures = self.figures.replicas, self.figures.shares
                panes = [pn.pane.Bokeh(one, sizing_mode="stretch_width") for one in figures]
                self._row.objects = panes
            self.figures.update(samples)
        comparisons = paired(runs, self.measure, np.random.default_rng(0))
        update_changed(self.differences, object=paired_html(comparisons))
