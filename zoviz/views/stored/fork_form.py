"""The form of a fork: where it leaves the stored run that it repeats, and its budgets."""

from __future__ import annotations

from typing import Any

import panel as pn
import param

from zoviz.runs import repeat
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.views.common.parameter_row import ParameterRow
from zoviz.views.common.style import update_changed

_BUDGET = "Budget of the fork."


class ForkForm(pn.viewable.Viewer):
    """A form with the button that forks a stored run, the place, and the budgets.

    Parameters
    ----------
    button : Button
    """

    at = param.Integer(
        default=None, allow_None=True, bounds=(0, None), label="at iteration", doc="The run is repeated up to here."
    )
    iterations = param.Integer(default=None, allow_None=True, bounds=(1, None), label="iterations", doc=_BUDGET)
    calls = param.Integer(default=None, allow_None=True, bounds=(1, None), label="calls", doc=_BUDGET)

    def __init__(self, button: pn.widgets.Button, **params: Any) -> None:
        super().__init__(**params)
        self._button = button

    def __panel__(self) -> pn.viewable.Viewable:
        looks = {"at": ("the last", 234), "iterations": ("as before", 218), "calls": ("as before", 188)}
        fields = [
            ParameterRow.in_row(self.param[name], width, blank=blank, description="")
            for name, (blank, width) in looks.items()
        ]
        return pn.FlexBox(self._button, *fields, align_items="center")

    def reset(self) -> None:
        """Empty every field, for another run."""
        update_changed(self, at=None, iterations=None, calls=None)

    def make(self, store: Store, id: str) -> tuple[Run, int]:
        """Make the fork of a stored run, not started, and return it with the iteration where it leaves that run.

        Parameters
        ----------
        store : Store
        id : str

        Raises
        ------
        ValueError
            For a place that the run did not come to.
        """
        source = store.load(id)
        last = source.progress.iteration
        at = last if self.at is None else self.at
        if at > last:
            raise ValueError(f"Expected an iteration that the run has reached, from 0 to {last}, got {at}.")
        budgets = {name: value for name in ("iterations", "calls") if (value := getattr(self, name)) is not None}
        return source.fork(at, **repeat.onward(source, at) | budgets), at
