"""A field for a file of past points of an own problem, and the sentence on what becomes of them."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping
from typing import Any

import panel as pn

from zoviz.problems.base import Problem
from zoviz.problems.past_points import past_points
from zoviz.runs.engine.start import usage_of_past
from zoviz.views.common.buttons import text_button
from zoviz.views.common.style import WIDE, muted_html, note, update_changed

_DOC = (
    "Points that you have evaluated already need not be paid for again: a table with columns x1, x2, ..., f, h1, h2, "
    "..., or NOMAD's cache. Drop the file here or choose it."
)


class PastPointsCard(pn.viewable.Viewer):
    """A field for a file of past points, which the next runs of an own problem begin with.

    Attributes
    ----------
    points : mapping or None
        Setting ``past`` of the next run.
    complaint : str
        Why the file cannot be used; empty where it can, and without one.
    field : FileInput
    away : Button
    note : HTML
    """

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._problem: Problem | None = None
        self.points: Mapping[str, Any] | None = None
        self.complaint = ""
        look = {"sizing_mode": "stretch_width", "margin": (4, 10)}
        self.field = pn.widgets.FileInput(label="Past points", accept=".csv,.parquet,.txt", description=_DOC, **look)
        self.away = text_button("Without past points", self.take_away, visible=False, margin=(2, 10))
        self.note = note("", margin=(2, 10, 6, 10), sizing_mode="stretch_width")
        self._column = pn.Column(self.field, self.note, self.away, **WIDE)
        self.field.param.watch(lambda _: self.read(), "value")

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def follow(self, problem: Problem) -> None:
        """Follow the problem that is picked: a file is that of one problem."""
        if problem is not self._problem:
            self._problem = problem
            self.take_away()

    def read(self) -> None:
        """Read the file that was chosen, and say how many of its points are used or why none can be."""
        if not self.field.value or self._problem is None:
            return
        file = io.BytesIO(self.field.value)
        file.name = self.field.filename
        self.points, self.complaint = None, ""
        try:
            points = past_points(file, self._problem) or {}
            said, self.points = usage_of_past(points, self._problem), points
        except (ValueError, ImportError) as error:
            said = self.complaint = str(error)
        update_changed(self.note, object=muted_html(html.escape(said)))
        update_changed(self.away, visible=True)

    def take_away(self) -> None:
        """Begin the next run without past points."""
        self.points, self.complaint = None, ""
        self.field.clear()
        update_changed(self.note, object="")
        update_changed(self.away, visible=False)

    def lock(self, locked: bool) -> None:
        """Disable or enable what is fixed while a run is at work."""
        for one in (self.field, self.away):
            update_changed(one, disabled=locked)
