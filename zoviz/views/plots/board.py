"""The plots of several runs side by side: one that is going on, and finished ones kept for comparison."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import panel as pn
import panel_material_ui as pmui
import param
from bokeh.events import DoubleTap
from bokeh.models import ColumnDataSource

from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.runs.run import Run
from zoviz.runs.storage.stored_run import Stored
from zoviz.views.common.colours import free_colour
from zoviz.views.common.style import GRID, amend, at_once
from zoviz.views.plots.base import Look, PlotView, Scales
from zoviz.views.plots.event_marks import MARKS, NO_MARKS
from zoviz.views.plots.line_data import BANDS
from zoviz.views.plots.packed_source import Stream, all_series
from zoviz.views.plots.shared_models import Parts


class Shown:
    """A run on the board."""

    def __init__(self, run: Run | Stored, key: str, name: str, colour: str) -> None:
        self.run, self.key, self.name, self.colour = run, key, name, colour
        self.stream = Stream(key)
        self.visible = True
        self.columns: frozenset[str] = frozenset()
        self.drawn_rows, self.drawn_last, self.settled = -1, -1.0, False


class Board(pn.viewable.Viewer):
    """All plots that the registry finds, for the runs that were put on.

    Parameters
    ----------
    axis, log_x, log_y, band
        What the lines are drawn against, on which scales, and which band over the replicas.

    Notes
    -----
    Every change of a figure waits for ``refresh``: Panel may call a widget's handler without Bokeh's lock on the
    document, and a figure that is changed then is lost to the page.
    """

    axis: param.Selector[str] = param.Selector(
        default="calls",
        objects={"oracle calls": "calls", "iterations": "iteration", "seconds": "seconds"},
        label="Against",
        doc="Horizontal axis of every plot.",
    )
    log_x = param.Boolean(default=False, label="Log x", doc="Logarithmic horizontal axis.")
    log_y = param.Boolean(default=True, label="Log y", doc="Logarithmic vertical axes, drawing magnitudes.")
    band: param.Selector[str] = param.Selector(
        default="std", objects=BANDS, label="Band", doc="Band over the replicas."
    )

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        views = [cls() for cls in discover("zoviz.views.plots.catalogue", PlotView).values()]
        self.views = sorted(views, key=lambda view: view.order)
        self.shown: dict[str, Shown] = {}
        self.on_place: Callable[[str, float], None] | None = None  # told of double clicks: the axis, and where
        self._count = 0
        self._marks = {kind: ColumnDataSource(NO_MARKS, name=kind) for kind in MARKS}
        self._marked: dict[str, tuple[Any, ...]] = {}
        self._panes = [pn.pane.Bokeh(None, sizing_mode="stretch_width", margin=0) for _ in self.views]
        # Each in a column of its own: a figure shows itself whatever its pane says.
        self._cells = [pn.Column(pane, sizing_mode="stretch_width", margin=0) for pane in self._panes]
        self._grid = pn.Column(*self._cells, stylesheets=[GRID], sizing_mode="stretch_width", margin=0)
        self._gone: list[str] = []
        self._stale_figures = self._stale_lines = False
        self._rebuild()
        self.param.watch(lambda *_: self._outdate(figures=True), ["axis", "log_x", "log_y"])
        self.param.watch(lambda *_: self._outdate(), ["band"])

    def __panel__(self) -> pn.viewable.Viewable:
        return self._grid

    def beside(self, view: pn.viewable.Viewable | pn.viewable.Viewer) -> None:
        """Place something of the page's in the cell after the last plot."""
        self._grid.append(view)

    def put(self, run: Run | Stored, name: str | None = None) -> Shown:
        """Put a run on the plots."""
        self._count += 1
        title = type(run.solver).title or type(run.solver).__name__
        colour = free_colour(run.solver, {one.colour: type(one.run.solver) for one in self.shown.values()})
        shown = Shown(run, f"run{self._count}", name or run.label or f"{title} #{self._count}", colour)
        self.shown[shown.key] = shown
        self._outdate()
        return shown

    def take_off(self, key: str) -> None:
        """Remove a run from the plots."""
        if self.shown.pop(key, None) is not None:
            self._gone.append(key)
            self._outdate()

    def rename(self, key: str, name: str) -> None:
        """Give a run another name in the legends."""
        self.shown[key].name = name
        self._outdate()

    def reveal(self, key: str, visible: bool) -> None:
        """Draw a run, or hide it without forgetting it."""
        self.shown[key].visible = visible
        self._outdate()

    def _outdate(self, figures: bool = False) -> None:
        """Have the lines, or the figures too, made anew by the next ``refresh``."""
        self._stale_lines, self._stale_figures = True, self._stale_figures or figures

    def refresh(self) -> bool:
        """Send what is new; whether lines were made anew, which keeps the browser busy. Cheap where nothing is new.

        Called a few times a second, with the document's lock.
        """
        anew = fresh = self._catch_up()
        drawn = []
        for shown in self.shown.values():
            snapshot = shown.run.trace.snapshot()
            if not snapshot.rows or not shown.visible:
                continue
            drawn.append(snapshot)
            last = float(snapshot.columns["iteration"][-1])
            if (snapshot.rows, last) != (shown.drawn_rows, shown.drawn_last):
                shown.drawn_rows, shown.drawn_last, shown.settled = snapshot.rows, last, False
                shown.stream.send(snapshot, self.axis, self.band, self.log_x, self.log_y)
                fresh = True
            elif not shown.settled and not shown.run.active:
                self._settle(shown)
                shown.settled = True
        for view in self.views if fresh else ():
            view.caption(drawn)
        self._mark()
        self._place()
        pn.io.push_notebook(self._grid)  # on a server there is nothing to push
        return anew

    def _catch_up(self) -> bool:
        """Make the figures, or the lines, that are out of date anew; whether there were any."""
        grown = any(
            one.visible and one.run.trace.snapshot().columns.keys() != one.columns for one in self.shown.values()
        )
        if not (self._stale_figures or self._stale_lines or grown):
            return False
        with at_once(self.views[0].figure.document):
            if self._stale_figures:
                self._rebuild()
            else:
                self._dress_all()
        return True

    def _mark(self) -> None:
        """Marks of the newest run, sent only when they changed."""
        newest = next(reversed(self.shown.values()), None)
        for kind, source in self._marks.items():
            found = MARKS[kind].find(newest.run, self.axis) if newest else NO_MARKS
            state = (tuple(found["text"]), tuple(found["x"]))
            if state != self._marked.get(kind):
                self._marked[kind] = state
                source.data = found

    def _place(self) -> None:
        """Keep plots off the page on which no run that has taken a step draws anything."""
        begun = [one.key for one in self.shown.values() if one.visible and len(one.run.trace) > 1]
        for view, cell, pane in zip(self.views, self._cells, self._panes, strict=True):
            needed = view.needed(begun)
            if needed and pane.object is not view.figure:
                pane.object = view.figure
            amend(cell, visible=needed)

    def _arrange(self) -> None:
        """Which runs are on the plots, under which names; the shared horizontal range follows them."""
        visible = [shown for shown in self.shown.values() if shown.visible]
        looks = {
            one.key: Look(one.name, one.colour, 2.2 if one.run.active or len(visible) == 1 else 1.6) for one in visible
        }
        for view in self.views:
            view.arrange(looks)
        self._parts.x_range.renderers = [line for view in self.views for line in view.drawn]

    def _dress(self, shown: Shown, columns: Mapping[str, Array]) -> None:
        """Give a run its lines on every plot."""
        shown.columns = frozenset(columns)
        shown.stream.declare(all_series(columns, self.views))
        self._settle(shown)
        for view in self.views:
            view.add(shown.key, Look(shown.name, shown.colour, 2.2), shown.stream, columns)

    def _dress_all(self) -> None:
        """Bring the plots to the runs that are on the board, and send the visible ones' data again."""
        self._stale_figures = self._stale_lines = False
        while self._gone:
            key = self._gone.pop()
            for view in self.views:
                view.remove(key)
        for shown in self.shown.values():
            snapshot = shown.run.trace.snapshot()
            if snapshot.rows and shown.visible and snapshot.columns.keys() != shown.columns:
                self._dress(shown, snapshot.columns)
            shown.drawn_rows = -1
        self._arrange()

    def _settle(self, shown: Shown) -> None:
        shown.stream.settle(shown.run.trace.snapshot(), self.axis, self.band, self.log_x, self.log_y)

    def _rebuild(self) -> None:
        """New figures, for scales that a figure cannot change."""
        self._parts = Parts(Scales(self.axis, self.log_x, self.log_y), self._marks, self._tap)
        for view in self.views:
            view.build(self._parts)
        for shown in self.shown.values():
            shown.columns = frozenset()
        self._dress_all()
        for view, pane in zip(self.views, self._panes, strict=True):
            # A special plot comes when it is needed: a page with all of them would take twice as long to open.
            pane.object = None if view.special else view.figure
        self._marked = {}
        self._mark()
        self._place()

    def _tap(self, event: DoubleTap) -> None:
        if self.on_place is not None and event.x is not None:
            self.on_place(self.axis, float(event.x))

    def controls(self) -> pn.viewable.Viewable:
        """Widgets for the axes and the band, in one row."""
        return pn.FlexBox(
            pmui.RadioButtonGroup.from_param(
                self.param.axis,
                label="",
                size="small",
                margin=(4, 6),
                width=300,
                sx={"& button": {"text-transform": "none"}},
            ),
            pmui.Select.from_param(self.param.band, size="small", width=130, margin=(4, 6)),
            pmui.Switch.from_param(self.param.log_x, description="", margin=(6, 4)),
            pmui.Switch.from_param(self.param.log_y, description="", margin=(6, 4)),
            align_items="center",
        )
