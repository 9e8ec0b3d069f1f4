"""A map of a study: a cell for each problem and solver, with the verdict on its run and the share that it solved."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from bokeh.events import Tap
from bokeh.models import CategoricalTickFormatter, ColumnDataSource, FactorRange, HoverTool

from zoviz.benchmark.courses import Hits
from zoviz.benchmark.stored_study import StudySnapshot
from zoviz.diagnosis.verdict import Word
from zoviz.runs.engine.stopping import RunStatus
from zoviz.studies.cell import DONE
from zoviz.views.common.figure_frame import empty_figure

_ROW = 24
"""Height of a row in pixels."""
_MARGIN = 120
"""Height of all but the rows."""
_NAMED = 6
"""Columns, up to which a cell has room for its word."""
WAITING, AT_WORK, ENDED = "waiting", "running", "ended; reading its results"
NOT_THERE = "level not reached"
"""Solved by the verdict, but not as closely as the level wants."""
FILLS = {
    Word.SOLVED: "#2e9e5b",
    NOT_THERE: "#8fcfae",
    Word.CONVERGING: "#7cc39a",
    Word.NOISE_FLOOR: "#a3cfa0",
    Word.SETTLED: "#9fb8cf",
    Word.BUDGET_ENDED: "#b4c3c9",
    Word.EARLY: "#c9d3dd",
    Word.STALLED: "#e6b95a",
    Word.OSCILLATING: "#e09a3e",
    Word.INFEASIBLE: "#d5691e",
    Word.DIVERGING: "#b3261e",
    Word.FAILED: "#7a1f5c",
    AT_WORK: "#1d5c96",
    ENDED: "#b9c7d6",
    WAITING: "rgba(128,128,128,0.12)",
}
"""Colours of cells by their word."""
_LIGHT_INK = (Word.DIVERGING, Word.FAILED, AT_WORK)
"""Words that are written in white: in each ink the contrast is at least 4.5."""
_COLUMNS = ("x", "y", "fill", "ink", "text", "word", "detail", "ids")


class CellState(NamedTuple):
    """A cell of the map: its word, what is written in it, a sentence, and the ids of its runs that have begun."""

    word: str
    text: str
    detail: str
    ids: list[str]


def cell_of(snapshot: StudySnapshot, problem: str, solver: str, solved: str) -> CellState:
    """Return what a cell shows; ``solved`` is written in it once its runs are read."""
    planned = [run for run in snapshot.definition.runs if (run.problem, run.solver) == (problem, solver)]
    begun = [run.id for run in planned if run.id in snapshot.records]
    if not planned:
        return CellState("refused", "", "The solver does not accept this problem.", [])
    if not begun:
        return CellState(WAITING, "", "", [])
    going = [snapshot.records[id] for id in begun if snapshot.records[id].status not in DONE]
    if going:
        word = AT_WORK if going[0].status is RunStatus.RUNNING else str(going[0].status)
        return CellState(word, "…", f"{going[0].calls} calls so far", begun)
    read = [snapshot.outcomes[id] for id in begun if id in snapshot.outcomes]
    if len(read) < len(planned):
        return CellState(ENDED if len(begun) == len(planned) else AT_WORK, "…", "", begun)
    verdict = read[0].verdict
    if verdict is None:
        return CellState(ENDED, solved, read[0].record.message, begun)
    return CellState(_word_of(verdict.word, solved), solved, verdict.sentence, begun)


def _word_of(verdict: Word, solved: str) -> str:
    """Return the word of a cell by the rule of its count, the best points: the verdict is on the last iterates."""
    reached, _, replicas = solved.partition("/")
    if solved and reached == replicas:
        return str(Word.SOLVED)
    return NOT_THERE if verdict is Word.SOLVED and solved else str(verdict)


def solved_counts(hits: Hits) -> dict[tuple[str, str], str]:
    """Return how many of a pair's replicas reached the level, such as "3/5"; nothing where there is no run."""
    there, reached = np.isfinite(hits.spent).sum(axis=-1), np.isfinite(hits.calls).sum(axis=-1)
    return {
        (problem, solver): f"{reached[p, s]}/{there[p, s]}"
        for p, problem in enumerate(hits.problems)
        for s, solver in enumerate(hits.solvers)
        if there[p, s]
    }


class HeatMap:
    """A figure with problems as rows and solvers as columns.

    Parameters
    ----------
    problems, solvers : sequence of str
    pick : callable
        Called with (problem, solver) when a person clicks on a cell.

    Attributes
    ----------
    figure : figure
    source : ColumnDataSource
        One row for each cell.
    """

    def __init__(self, problems: Sequence[str], solvers: Sequence[str], pick: Callable[[str, str], None]) -> None:
        self.problems, self.solvers = list(problems), list(solvers)
        self._pick = pick
        self.source = ColumnDataSource({name: [] for name in _COLUMNS})
        self.figure = empty_figure(
            "Verdicts, and replicas that reached the level",
            "plot-Verdicts",
            "",
            "",
            height=_MARGIN + _ROW * len(self.problems),
            x_range=FactorRange(factors=self.solvers),
            y_range=FactorRange(factors=self.problems[::-1]),
        )
        fig = self.figure
        rectangles = fig.rect("x", "y", width=0.96, height=0.92, fill_color="fill", line_color=None, source=self.source)
        fig.text(
            "x", "y", text="text", text_color="ink", text_align="center", text_baseline="middle",
            text_font_size="12px", source=self.source,
        )  # fmt: skip
        fig.add_tools(
            HoverTool(renderers=[rectangles], tooltips="@y, @x: <b>@word</b> @text<br>@detail", visible=False)
        )
        fig.xaxis[0].major_label_orientation = 0.5
        for axis in (fig.xaxis[0], fig.yaxis[0]):
            axis.formatter = CategoricalTickFormatter()
        fig.grid.grid_line_color = None
        fig.on_event(Tap, self.tapped)

    def update(self, snapshot: StudySnapshot, counts: dict[tuple[str, str], str]) -> None:
        """Show how the study stands; called with the document's lock."""
        data: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        named = len(self.solvers) <= _NAMED
        for problem in self.problems:
            for solver in self.solvers:
                cell = cell_of(snapshot, problem, solver, counts.get((problem, solver), ""))
                row = (
                    solver,
                    problem,
                    FILLS.get(cell.word, "rgba(128,128,128,0.04)"),
                    "#ffffff" if cell.word in _LIGHT_INK else "#10161c",
                    f"{cell.word} {cell.text}" if named and cell.text else cell.text,
                    cell.word,
                    cell.detail,
                    " ".join(cell.ids),
                )
                for name, value in zip(_COLUMNS, row, strict=True):
                    data[name].append(value)
        if data != dict(self.source.data):
            self.source.data = data

    def tapped(self, event: Tap) -> None:
        """Have the cell under the pointer picked: categories stand at 0.5, 1.5, ... of their axes."""
        if event.x is None or event.y is None:
            return
        column, row = int(np.floor(event.x)), int(np.floor(event.y))
        if 0 <= column < len(self.solvers) and 0 <= row < len(self.problems):
            self._pick(self.problems[len(self.problems) - 1 - row], self.solvers[column])
