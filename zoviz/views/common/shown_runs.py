"""The runs on a page's plots, each with its name, colour and visibility."""

from __future__ import annotations

from typing import NamedTuple

import param

from zoviz.runs.run import Run
from zoviz.runs.stored_run import StoredRun
from zoviz.views.common.colours import free_colour


class ShownRun(NamedTuple):
    """A run on the plots, with its key, name, colour and visibility."""

    run: Run | StoredRun
    key: str
    name: str
    colour: str
    visible: bool = True


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

    def put(self, run: Run | StoredRun, name: str | None = None) -> ShownRun:
        """Add a run to the plots, in a colour that is free."""
        self._count += 1
        title = type(run.solver).title or type(run.solver).__name__
        colour = free_colour(run.solver, {one.colour: type(one.run.solver) for one in self.runs.values()})
        entry = ShownRun(run, f"run{self._count}", name or run.label or f"{title} #{self._count}", colour)
        self.runs = {**self.runs, entry.key: entry}
        return entry

    def take_off(self, key: str) -> None:
        """Remove a run from the plots, if it is there."""
        self.runs = {name: entry for name, entry in self.runs.items() if name != key}

    def rename(self, key: str, name: str) -> None:
        """Give a run another name in the legends."""
        self.runs = {**self.runs, key: self.runs[key]._replace(name=name)}

    def reveal(self, key: str, visible: bool) -> None:
        """Show or hide a run's lines."""
        self.runs = {**self.runs, key: self.runs[key]._replace(visible=visible)}
