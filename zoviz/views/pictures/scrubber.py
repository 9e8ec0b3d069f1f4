"""A slider through the path that a picture draws: back to what it looked like at an earlier iteration."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
import panel as pn
import param

from zoviz.core.types import Array
from zoviz.runs.engine.columns import ITERATION
from zoviz.runs.run import Run
from zoviz.views.common.small_fields import PlaceSlider
from zoviz.views.common.style import update_changed

WHOLE = 100
"""Per cent of the path."""
ROOM = 32
"""Pixels of the slider's height."""


class PathScrubber(pn.viewable.Viewer):
    """A slider from the start of a path to its newest point, which is followed while the slider is at its end.

    Elsewhere the picture stays at the iteration that the slider was moved to, however long the run goes on.
    """

    share = param.Integer(
        default=WHOLE, bounds=(0, WHOLE), label="Path up to", doc="Drag to the left to see how the path came about."
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._at: float | None = None  # the iteration that is shown, once it is known; None for the newest
        self.moved = False
        self._mark: Hashable = None
        self._slider = PlaceSlider.from_param(self.param.share, height=ROOM, margin=(0, 10))
        self.param.watch(lambda _: self._move(), "share")

    def __panel__(self) -> pn.viewable.Viewable:
        return self._slider

    def _move(self) -> None:
        self._at, self.moved = None, True

    def reset(self) -> None:
        """Follow the newest point, e.g. of another run."""
        update_changed(self, share=WHOLE)

    def cut(self, run: Run, mark: Hashable, path: Array) -> tuple[Hashable, Array]:
        """Return the part of a run's path (rows, n) that is to be drawn, with a mark that changes with it.

        Parameters
        ----------
        run : Run
        mark : Hashable
            Of the whole path.
        path : Array, shape (rows, n)
        """
        self.moved = False
        if self.share == WHOLE:
            update_changed(self._slider, words="")
            self._mark = mark
            return mark, path
        iterations = run.path.snapshot().columns[ITERATION]
        if len(iterations) != len(path):  # the run has moved on since the path was read: at the next refresh
            self.moved = True
            return self._mark, path
        if self._at is None:
            self._at = float(iterations[0] + self.share / WHOLE * (iterations[-1] - iterations[0]))
        rows = max(1, int(np.searchsorted(iterations, self._at, side="right")))
        place = f"iteration {int(iterations[rows - 1]):,} of {run.progress.iteration:,}"
        update_changed(self._slider, words=place)
        self._mark = "up to", self._at
        return self._mark, path[:rows]
