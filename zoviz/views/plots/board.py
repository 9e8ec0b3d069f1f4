"""The board of plots of several runs: one that is at work, and others for comparison."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import panel as pn
import param
from bokeh.document import Document

from zoviz.runs.engine.columns import CALLS, ITERATION, SAMPLES, SECONDS, ZETA_SAMPLES
from zoviz.runs.engine.trace import Snapshot
from zoviz.views.common.log_axis import ZeroStrip, lane
from zoviz.views.common.shown_runs import ShownRun, ShownRuns
from zoviz.views.common.small_fields import CheckBox
from zoviz.views.common.style import WIDE, Grid, batched_changes, update_changed
from zoviz.views.plots.base import PlotView, RunStyle, every_plot
from zoviz.views.plots.event_marks import MARKS, NO_MARKS, STEERING, steering_marks
from zoviz.views.plots.line_data import BANDS, AxisScales, axis_values, span_of, strip_for
from zoviz.views.plots.packed_source import PackedSource, Sources, all_series
from zoviz.views.plots.plot_tools import PlotTools
from zoviz.views.plots.shared_models import SharedModels

PLOTS_AT_ONCE = 2
"""Plots that one refresh of a page gives a run's lines: the first row on most screens, beside the problem's picture."""

_SMALL = """
label {position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%)}
select.bk-input {height: 30px; min-height: 30px; padding: 0 24px 0 8px; font-size: 13px}
"""
"""Of a list whose label is read out and not seen."""
WIDTH = 1.6
"""Of a run's first line on a plot, in pixels."""


class _Drawing:
    """The lines that the board has drawn of one run."""

    def __init__(self, key: str, number: int, sources: Sources) -> None:
        # Zeros of several runs lie above each other, not on each other.
        self.source = PackedSource(key, sources, lane(number))
        self.columns: frozenset[str] = frozenset()
        self.views_to_come: list[PlotView] = []  # which have no lines of these columns yet
        self.rows, self.last_iteration, self.settled = -1, -1.0, False


class Board(pn.viewable.Viewer):
    """A board of all plots that the registry finds, of the runs on the page; ``board.runs_shown.put(run)`` adds a run.

    Parameters
    ----------
    runs : ShownRuns, optional
        The runs on the plots; by default the board has its own.
    axis, log_x, log_y, band
        What the lines are drawn against, on which scales, and which band over the replicas.

    Notes
    -----
    Every change of a figure waits for ``refresh``: Panel may call a widget's handler without Bokeh's lock on the
    document, and a figure that is changed then is lost to the page.
    """

    axis: param.Selector[str] = param.Selector(
        default=CALLS,
        objects={
            "calls": CALLS,
            "samples": SAMPLES,
            "ζ samples": ZETA_SAMPLES,
            "iterations": ITERATION,
            "seconds": SECONDS,
        },
        label="Against",
        doc="Horizontal axis of every plot.",
    )
    log_x = param.Boolean(default=False, label="Log x", doc="Logarithmic horizontal axis.")
    log_y = param.Boolean(default=True, label="Log y", doc="Logarithmic vertical axes, of magnitudes.")
    band: param.Selector[str] = param.Selector(
        default="quartiles", objects=BANDS, label="Band", doc="Middle and spread of the replicas."
    )

    def __init__(self, runs: ShownRuns | None = None, **params: Any) -> None:
        super().__init__(**params)
        self._views = every_plot()
        self._built = False  # whether there are figures, their places on the page, and ``_shared``
        self.runs_shown = ShownRuns() if runs is None else runs
        self._drawings: dict[str, _Drawing] = {}
        self._sources = Sources()
        self._marks = {kind: self._sources.make(NO_MARKS, kind) for kind in MARKS}
        self._marked: dict[str, tuple[Any, ...]] = {}
        self._marks_shown: set[str] = set()
        self._strips: dict[str, ZeroStrip | None] = {}  # of zeros, by the keys of lines
        self._panes: dict[PlotView, pn.pane.Bokeh] = {}
        self._columns: dict[PlotView, pn.viewable.Viewable] = {}
        self._visible: list[PlotView] = []
        self._others: list[tuple[pn.viewable.Viewable | pn.viewable.Viewer, str]] = []
        self._grid, self._tools = Grid(**WIDE), PlotTools()
        self._stale_figures = self._stale_lines = False
        self._axes: pn.widgets.RadioButtonGroup | None = None
        self.param.watch(lambda *_: self._outdate(figures=True), ["log_x", "log_y"])
        self.param.watch(lambda *_: self._outdate(), ["axis", "band"])
        self.runs_shown.param.watch(lambda _: self._outdate(), "runs")

    @property
    def views(self) -> list[PlotView]:
        """The plots, whose figures are made when they are first asked for: a page opens without them."""
        if not self._built:
            self._build()
        return self._views

    @property
    def shared(self) -> SharedModels:
        """What all figures of the plots share now: other scales have others."""
        self.views  # noqa: B018  # makes the figures
        return self._shared

    def __panel__(self) -> pn.viewable.Viewable:
        self.views  # noqa: B018  # makes the figures
        return self._grid

    def beside(self, view: pn.viewable.Viewable | pn.viewable.Viewer, below: str = "") -> None:
        """Place another view: below the plot of a class of this name, in its cell, else in a cell after the last."""
        self._others.append((view, below))
        self._columns = {}
        if self._built:
            self._fill()

    def _fill(self) -> None:
        """Put the plots on the page and the other views in the order in which they stand there."""
        cells = [self._cell(view) for view in self._visible]
        self._grid.objects = [*cells, self._tools, *(view for view, below in self._others if not below)]

    def _cell(self, view: PlotView) -> pn.viewable.Viewable:
        """Return the place of a plot, a column where something stands below it."""
        if view not in self._panes:
            self._panes[view] = pn.pane.Bokeh(None, **WIDE)
        if view not in self._columns:
            under = [other for other, below in self._others if below == type(view).__name__]
            self._columns[view] = pn.Column(self._panes[view], *under, **WIDE) if under else self._panes[view]
        update_changed(self._panes[view], object=view.figure)
        return self._columns[view]

    def _outdate(self, figures: bool = False) -> None:
        """Have the lines, or the figures too, made anew by the next ``refresh``; figures take a moment, and say so."""
        self._stale_lines, self._stale_figures = True, self._stale_figures or figures
        if self._built and self._stale_figures:
            update_changed(self._grid, loading=True)

    def refresh(self, most: int | None = None) -> bool:
        """Send what is new to the browser; return whether lines were made anew, which keeps the browser busy.

        Called a few times a second, with the document's lock.

        Parameters
        ----------
        most : int, optional
            Plots at most on which a run's lines are made, those in front first; the others come with the next calls. A
            page that makes all at once holds up its browser, and the other pages of its server, for half a second.
        """
        if not self._built:
            if not self.runs_shown.runs:
                return False
            self._build()
        anew = fresh = self._catch_up(most)
        snapshots, news = [], []
        for entry in self.runs_shown.runs.values():
            snapshot, drawing = entry.run.trace.snapshot(), self._drawings[entry.key]
            if not snapshot.rows or not entry.visible:
                continue
            snapshots.append(snapshot)
            last = float(snapshot.columns[ITERATION][-1])
            if (snapshot.rows, last) != (drawing.rows, drawing.last_iteration):
                drawing.rows, drawing.last_iteration, drawing.settled = snapshot.rows, last, False
                self._read(entry, snapshot)
                news.append(entry.key)
                fresh = True
            elif not drawing.settled and not entry.run.active:
                drawing.source.settle(self._strips)
                drawing.settled = True
        if fresh:
            self._send(news)
        for view in self.views if fresh else ():
            view.caption(snapshots)
        self._mark()
        self._place()
        self._offer_axes()
        pn.io.push_notebook(self._grid)  # on a server there is nothing to push
        return anew

    def _read(self, entry: ShownRun, snapshot: Snapshot) -> None:
        self._drawings[entry.key].source.read(snapshot, self.axis, self.band, self.log_x, self.log_y)

    def _send(self, news: list[str]) -> None:
        """Send what was read of some runs, and of all where a strip of zeros moved."""
        visible = (self._drawings[key].source for key, one in self.runs_shown.runs.items() if one.visible)
        shown = [one for one in visible if one.data.values.size]
        before, self._strips = self._strips, {}
        strips: dict[PlotView, ZeroStrip | None] = {}
        for view in self.views:
            keys = view.keys_with_zeros
            zeros = [(one.data, [line for line in one.series if line.key in keys]) for one in shown]
            strips[view] = strip_for(zeros) if keys else None
            self._strips |= dict.fromkeys(keys, strips[view])
        self._complete(strips)
        drawn = {key: self._drawings[key].source.data for key, one in self.runs_shown.runs.items() if one.visible}
        for view in self.views:
            view.label({key: data for key, data in drawn.items() if data.values.size})
        for key, one in self.runs_shown.runs.items():
            if one.visible and (key in news or self._strips != before):
                self._drawings[key].source.send(self._strips)
                self._drawings[key].settled = False

    def _complete(self, strips: Mapping[PlotView, ZeroStrip | None]) -> None:
        """Draw what lines have now that they had not before, with the strips of zeros of the plots."""
        entries = [one for one in self.runs_shown.runs.values() if one.visible]
        lacking = {
            view: [part for one in entries for part in view.lacks(one.key, self._drawings[one.key].source.data)]
            for view in self.views
        }
        new = any(lacking.values()) or any(strips.values())
        with batched_changes(self.document if new else None):
            for view in self.views:
                view.complete(lacking[view])
                view.show_strip(strips[view])

    def _catch_up(self, most: int | None) -> bool:
        """Make figures or lines anew that are out of date; return whether there were any."""
        grown = any(
            key not in self._drawings or (entry.visible and self._lacks_lines(entry))
            for key, entry in self.runs_shown.runs.items()
        )
        if not (self._stale_figures or self._stale_lines or grown):
            return False
        with batched_changes(self.document):
            if self._stale_figures:
                self._rebuild()
            else:
                self._relabel()
                self._dress_all(most)
        return True

    def _lacks_lines(self, entry: ShownRun) -> bool:
        """Return whether lines of a run are to be made: of new columns, or on plots that others went before."""
        waiting = self._drawings[entry.key].views_to_come
        return bool(waiting) or self._has_new_columns(entry.key, entry.run.trace.snapshot())

    def _has_new_columns(self, key: str, snapshot: Snapshot) -> bool:
        """Return whether a run has columns without lines; its start alone has few of them, and makes no line."""
        return snapshot.rows > 1 and snapshot.columns.keys() != self._drawings[key].columns

    def _relabel(self) -> None:
        """Bring the figures to the axis: they need not be made anew for it, which takes a browser a second."""
        if self._shared.scales.axis == self.axis:
            return
        self._shared.relabel(self.axis)
        for view in self._views:
            view.relabel()

    def _mark(self) -> None:
        """Send the marks that changed: changes of all visible runs, targets and phases of the newest."""
        newest = next(reversed(self.runs_shown.runs.values()), None)
        visible = [one for one in self.runs_shown.runs.values() if one.visible]
        span = span_of((axis_values(one.run.trace.snapshot(), self.axis) for one in visible), self.log_x)
        for kind, source in self._marks.items():
            if kind == STEERING:
                runs = [(one.run, one.colour) for one in visible]
                marks = steering_marks(runs, self.axis, span)
            else:
                marks = MARKS[kind].find(newest.run, self.axis) if newest else NO_MARKS
            state = tuple(map(tuple, marks.values()))
            if state != self._marked.get(kind):
                self._marked[kind] = state
                source.data = marks
                if marks["x"]:
                    self._show_marks(kind)

    def _show_marks(self, kind: str) -> None:
        """Have the plots show a kind of marks from now on, of which there were none before."""
        with batched_changes(None if kind in self._marks_shown else self.document):
            for view in self.views:
                view.show_marks(kind)
        self._marks_shown.add(kind)

    def _place(self) -> None:
        """Keep plots off the page on which no run that has taken a step draws anything."""
        begun = [one for one in self.runs_shown.runs.values() if one.visible and len(one.run.trace) > 1]
        snapshots = [one.run.trace.snapshot() for one in begun]
        keys, problems = [one.key for one in begun], self.runs_shown.problems
        needed = [
            view for view in self._views if view.needed(keys, problems) and (not begun or view.has_values(snapshots))
        ]
        if needed != self._visible:
            self._visible = needed
            # A new figure goes to the browser as its lines do: Panel's own message could overtake theirs, or come
            # after it, and each has models that the other refers to.
            with batched_changes(self.document):
                self._fill()

    @property
    def document(self) -> Document | None:
        """The document of the page that the plots are on; None before there is one."""
        return self.views[0].figure.document

    @property
    def visible_plots(self) -> list[PlotView]:
        """The plots that are on the page now."""
        self.views  # noqa: B018  # makes the figures
        return self._visible

    def _arrange(self) -> None:
        """Show the visible runs on the plots, under their names; the shared horizontal range follows them."""
        visible = [entry for entry in self.runs_shown.runs.values() if entry.visible]
        problems = self.runs_shown.problems
        styles = {}
        for one in visible:
            name = one.name if problems < 2 else f"{one.name} · {one.problem_title}"
            styles[one.key] = RunStyle(name, one.colour, WIDTH)
        for view in self.views:
            view.arrange(styles if view.fits(problems) else {}, self.runs_shown.references)

    def _dress(self, entry: ShownRun, snapshot: Snapshot, most: int | None) -> None:
        """Make a run's lines on every plot that has none of its columns yet, or on at most ``most`` of these."""
        drawing, columns = self._drawings[entry.key], snapshot.columns
        if self._has_new_columns(entry.key, snapshot):
            drawing.columns, drawing.views_to_come = frozenset(columns), list(self.views)
            drawing.source.declare(all_series(columns, self.views))
            self._read(entry, snapshot)
            drawing.source.settle(self._strips)
        views = drawing.views_to_come
        if most is not None:
            problems = self.runs_shown.problems
            views = sorted(views, key=lambda view: not (view.fits(problems) and view.has_values([snapshot])))[:most]
        for view in views:
            view.add(entry.key, RunStyle(entry.name, entry.colour, WIDTH), drawing.source, columns)
        drawing.views_to_come = [view for view in drawing.views_to_come if view not in views]

    def _dress_all(self, most: int | None = None) -> None:
        """Bring the plots to the runs on the page, and have the visible ones' data sent again."""
        self._stale_figures = self._stale_lines = False
        for key in self._drawings.keys() - self.runs_shown.runs.keys():
            del self._drawings[key]
            for view in self.views:
                view.remove(key)
        for entry in self.runs_shown.runs.values():
            drawing = self._drawings.setdefault(entry.key, _Drawing(entry.key, len(self._drawings), self._sources))
            if entry.visible:
                self._dress(entry, entry.run.trace.snapshot(), most)
            drawing.rows = -1
        self._arrange()

    def _build(self) -> None:
        """Make the first figures, before whatever stands beside them."""
        self._built = True
        self._rebuild()

    def _rebuild(self) -> None:
        """Make new figures, for scales that a figure cannot change."""
        scales = AxisScales(self.axis, self.log_x, self.log_y)
        self._shared = SharedModels(scales, self._sources, self._marks, self.runs_shown)
        for view in self._views:
            view.build(self._shared)
        for drawing in self._drawings.values():
            drawing.columns, drawing.views_to_come = frozenset(), []
        self._dress_all()
        self._visible, self._marked, self._marks_shown = [], {}, set()
        self._mark()
        self._place()
        update_changed(self._grid, loading=False)

    def controls(self) -> pn.FlexBox:
        """Return widgets for the axes and the band, in one row, to which others may be added."""
        self._axes = pn.widgets.RadioButtonGroup.from_param(self.param.axis, margin=(4, 8, 4, 10))
        self._offer_axes()
        box: dict[str, Any] = {"margin": (7, 6)}
        return pn.FlexBox(
            self._axes,
            pn.widgets.Select.from_param(self.param.band, width=160, margin=(4, 6), stylesheets=[_SMALL]),
            CheckBox.from_param(self.param.log_x, **box),
            CheckBox.from_param(self.param.log_y, **box),
            align_items="center",
        )

    def _offer_axes(self) -> None:
        """Offer the horizontal axes that some run has: samples of runs with noise only."""
        if self._axes is None:
            return
        known = {name for one in self.runs_shown.runs.values() for name in one.run.trace.snapshot().columns}
        offered = {
            words: axis
            for words, axis in self.param.axis.names.items()
            if axis in known or axis not in (SAMPLES, ZETA_SAMPLES) or axis == self.axis
        }
        update_changed(self._axes, options=offered)
