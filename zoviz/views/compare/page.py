"""The page that sets the runs on the plots side by side: a table, distributions over replicas, paired differences."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any

import numpy as np
import panel as pn
import panel_material_ui as pmui
import param

from zoviz.benchmark.run_comparison import BEST_GAP, MEASURES, SIGNED, ComparedRun, Quartiles, compared, paired
from zoviz.views.common.figure_frame import EVERY
from zoviz.views.common.run_controller import RunController, say_errors
from zoviz.views.common.style import batched_changes, note, section, tooltip, update_changed
from zoviz.views.compare.distributions import Distributions, Sample, capitalised
from zoviz.views.compare.paired_sentences import TABLE_STYLE, paired_html

_SWATCH = "<span style='color:{colour}' aria-hidden='true'>&#9644;</span> {name}"
_EMPTY = (
    "There is nothing to compare yet. Start a run, or tick some under Stored runs and put them on the plots: the runs "
    "on the plots stand side by side here."
)
_HINT = (
    "Medians, and in brackets the quartiles, over replicas. A best point that is feasible within the tolerance may lie "
    "below f*: its gap counts as 0. Replica r of two runs on one problem with one seed begins "
    "at the same point and meets the same noise, so that their differences are paired: Wilcoxon's signed ranks at 1 %, "
    "corrected by Holm for the number of comparisons. At least eight differing pairs are needed."
)


def spread_words(quartiles: Quartiles) -> str:
    """Return a median with its quartiles in words; "none" stands for replicas without a value."""
    lower, median, upper = ("none" if np.isinf(value) else f"{value:.3g}" for value in quartiles)
    return median if lower == median == upper else f"{median} ({lower} to {upper})"


def measure_html(run: ComparedRun, measure: str) -> str:
    """Return a measure of a run as HTML, and below it how many replicas' best point lies below f*; "" without it."""
    if measure not in run.measures:
        return ""
    below = f"<br>{run.below} of {len(run.measures[measure])} below f*, by tolerance" if run.below else ""
    return spread_words(run.quartiles(measure)) + (below if measure == BEST_GAP else "")


def measures_among(runs: Sequence[ComparedRun]) -> list[str]:
    """Return the measures that one of the runs has, the most telling first."""
    present = dict.fromkeys(name for one in runs for name in one.measures)
    return [*(name for name in MEASURES if name in present), *(name for name in present if name not in MEASURES)]


def table_html(runs: Sequence[ComparedRun], colours: dict[str, str]) -> str:
    """Return the runs as rows of a table: verdict, parameters that differ, and every measure that one of them has."""
    measures = measures_among(runs)
    parameters = any(one.parameters for one in runs)
    heads = ["Run", "Problem", "Verdict", *(["What differs"] if parameters else []), *map(capitalised, measures)]
    head = "".join(f"<th>{html.escape(title)}</th>" for title in heads)
    rows = []
    for one in runs:
        differs = ", ".join(f"{name} = {value}" for name, value in one.parameters.items())
        words = [one.problem, one.verdict, *([differs] if parameters else [])]
        numbers = [measure_html(one, name) for name in measures]
        rows.append(
            f"<tr><td>{_SWATCH.format(colour=colours[one.name], name=html.escape(one.name))}</td>"
            + "".join(f"<td{' class=text' if word is differs else ''}>{html.escape(word)}</td>" for word in words)
            + "".join(f"<td class='number'>{word}</td>" for word in numbers)
            + "</tr>"
        )
    return f"<table class='zoviz-compare'><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"


class ComparePage(pn.viewable.Viewer):
    """A page with the runs on the plots side by side, whether they go on or have ended.

    Parameters
    ----------
    controller : RunController
        Has the runs on the plots.

    Attributes
    ----------
    runs : list of ComparedRun
        As they were at the last look.
    table, differences : HTML
    figures : Distributions or None
    body, hint : Column, HTML
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
        self._looks = 0
        self._state: tuple[Any, ...] = ()
        self._drawn: tuple[Any, ...] = ()
        self.figures: Distributions | None = None
        self.table = pn.pane.HTML("", stylesheets=[TABLE_STYLE], sizing_mode="stretch_width", margin=(4, 10))
        self.differences = pn.pane.HTML("", styles={"font-size": "14px"}, sizing_mode="stretch_width", margin=(4, 10))
        self._select = pmui.Select.from_param(
            self.param.measure, size="small", width=280, margin=(4, 10), description=tooltip(self.param.measure.doc)
        )
        self._select_problem = pmui.Select.from_param(
            self.param.problem,
            size="small",
            width=280,
            margin=(4, 10),
            description=tooltip(self.param.problem.doc),
            visible=False,
        )
        self._row = pn.Row(sizing_mode="stretch_width")
        self.hint = note(_EMPTY)
        self.body = pn.Column(
            pn.Column(self.table, sizing_mode="stretch_width", scroll=True, margin=0),
            pn.Row(self._select, self._select_problem, margin=0),
            self._row,
            section("Paired differences"),
            self.differences,
            note(_HINT),
            sizing_mode="stretch_width",
            margin=0,
            visible=False,
        )
        self.param.watch(lambda *_: self._draw(), ["measure", "problem"])

    def __panel__(self) -> pn.viewable.Viewable:
        self.read()
        return pn.Column(self.hint, self.body, sizing_mode="stretch_width", margin=0)

    def update(self) -> None:
        """Compare anew, now and then, where a run has moved on; called with the document's lock at every look."""
        self._looks += 1
        if self._looks % EVERY == 0:
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
        update_changed(self.table, object=table_html(self.runs, self._colours) if self.runs else "")
        problems = list(dict.fromkeys(one.problem for one in self.runs))
        update_changed(self._select_problem, visible=len(problems) > 1)
        self.param.measure.objects, self.param.problem.objects = offered or [None], problems or [None]
        measure = self.measure if self.measure in offered else offered[0] if offered else None
        # The newest run's, where the one before is gone.
        problem = self.problem if self.problem in problems else problems[-1] if problems else None
        if (measure, problem) == (self.measure, self.problem):
            self._draw()
        else:
            self.param.update(measure=measure, problem=problem)

    def _draw(self) -> None:
        """Draw the measure that is chosen."""
        if self.measure is None:
            return
        samples = [
            Sample(one.name, self._colours[one.name], one.measures.get(self.measure, np.full(1, np.inf)))
            for one in self.runs
            if one.problem == self.problem  # values of different problems have no common axis
        ]
        signed = self.measure in SIGNED and any(bool((one.values <= 0.0).any()) for one in samples)
        wanted = (self.measure, signed, tuple(one.name for one in samples))
        with batched_changes(pn.state.curdoc if wanted != self._drawn else None):
            if wanted != self._drawn or self.figures is None:
                self._drawn, self.figures = wanted, Distributions(self.measure, not signed, wanted[2])
                figures = self.figures.violins, self.figures.shares
                panes = [pn.pane.Bokeh(one, sizing_mode="stretch_width") for one in figures]
                self._row.objects = panes
            self.figures.update(samples)
        comparisons = paired(self.runs, self.measure, np.random.default_rng(0))
        update_changed(self.differences, object=paired_html(comparisons))
