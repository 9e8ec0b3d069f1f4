"""The runs on a page's plots, each with its name, colour and visibility."""

from __future__ import annotations

from collections.abc import Hashable
from typing import NamedTuple

import numpy as np
import param

from zoviz.core.registry import title_of
from zoviz.problems.base import Problem
from zoviz.runs.references import Reference
from zoviz.runs.run import Run
from zoviz.runs.run_view import RunView
from zoviz.views.common.colours import PALETTE


class ShownRun(NamedTuple):
    """A run on the plots, with its key, name, colour, visibility, and what its problem is told apart by.

    ``references`` are the numbers of a paper that stand beside it; ``number`` is its place among all of the page.
    """

    run: RunView
    key: str
    name: str
    colour: str
    visible: bool = True
    problem: Hashable = None
    references: tuple[Reference, ...] = ()
    number: int = 0

    @property
    def problem_title(self) -> str:
        """The title of the run's problem."""
        return title_of(self.run.problem)


def problem_identity(problem: Problem) -> Hashable:
    """Return what is equal for problems whose values can share an axis: the class and all parameters."""
    values = {name: value for name, value in problem.param.values().items() if name != "name"}
    written = ((name, v.tobytes() if isinstance(v, np.ndarray) else repr(v)) for name, v in values.items())
    return type(problem), tuple(sorted(written, key=lambda pair: pair[0]))


class ShownRuns(param.Parameterized):
    """The runs on a page's plots by key, in the order in which they were added.

    The plots, the list beside them and the stored runs share one of these. Each change makes ``runs`` anew, so that all
    who watch it hear of it.
    """

    runs: param.Dict = param.Dict(default={}, doc="ShownRun by key.")
    picked: param.Tuple = param.Tuple(
        default=None, allow_None=True, length=2, doc="Axis and place of the last double click on a plot."
    )

    _count = 0

    def put(
        self,
        run: RunView,
        name: str | None = None,
        references: tuple[Reference, ...] = (),
        number: int | None = None,
    ) -> ShownRun:
        """Add a run to the plots, in a colour that it keeps; runs of other problems are hidden.

        ``reveal`` shows them again: values of different problems share an axis only where a person asks for it.

        Parameters
        ----------
        run : Run or StoredRun
        name : str, optional
            In the list of runs; by default its label, or its solver's title with a number.
        references : tuple of Reference
            A paper's numbers that stand beside it, while it is the newest of the visible ones.
        number : int, optional
            Which it had on this page before a reload: it has the same name and colour again.
        """
        if number is None or f"run{number}" in self.runs:
            number = self._count + 1
        self._count = max(self._count, number)
        used = {one.colour for one in self.runs.values()}
        turn = [PALETTE[(number - 1 + step) % len(PALETTE)] for step in range(len(PALETTE))]
        colour = next((colour for colour in turn if colour not in used), turn[0])
        key, name = f"run{number}", name or run.label or f"{title_of(run.solver)} #{number}"
        identity = problem_identity(run.problem if run.initial is None else run.initial.problem)
        entry = ShownRun(run, key, name, colour, True, identity, references, number)
        others = {old: one._replace(visible=one.visible and one.problem == identity) for old, one in self.runs.items()}
        self.runs = {**others, key: entry}
        return entry

    @property
    def problems(self) -> int:
        """The number of different problems among the visible runs."""
        return len({one.problem for one in self.runs.values() if one.visible})

    @property
    def references(self) -> tuple[Reference, ...]:
        """A paper's numbers that stand on the plots: those of the newest visible run."""
        return next((one.references for one in reversed(self.runs.values()) if one.visible), ())

    @property
    def newest(self) -> RunView | None:
        """The newest visible run; None without one."""
        return next((one.run for one in reversed(self.runs.values()) if one.visible), None)

    @property
    def pictured(self) -> tuple[Run | None, str]:
        """The run of which pictures stand beside the plots, the newest visible one that is not stored, and its name."""
        runs = [(one.run, one.name) for one in self.runs.values() if one.visible and isinstance(one.run, Run)]
        return runs[-1] if runs else (None, "")

    def take_off(self, key: str) -> None:
        """Remove a run from the plots, if it is there."""
        self.runs = {name: entry for name, entry in self.runs.items() if name != key}

    def rename(self, key: str, name: str) -> None:
        """Give a run another name."""
        self.runs = {**self.runs, key: self.runs[key]._replace(name=name)}

    def reveal(self, key: str, visible: bool) -> None:
        """Show or hide a run's lines."""
        self.runs = {**self.runs, key: self.runs[key]._replace(visible=visible)}
