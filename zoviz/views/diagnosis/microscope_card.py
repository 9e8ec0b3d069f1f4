"""A card with the microscope: errors of gradient estimators over the radii at the page's run, and a radius to use."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import panel as pn
import param
from bokeh.models import ColumnDataSource, LogTicker, LogTickFormatter
from bokeh.models.annotations import BoxAnnotation, Legend, LegendItem, Span
from bokeh.models.renderers import GlyphRenderer

from zoviz.core.types import Array
from zoviz.diagnosis.microscope import Curve, Magnified, Microscope, families, microscope_of
from zoviz.estimators import GradientEstimator
from zoviz.runs.run import Run
from zoviz.views.common.buttons import text_button
from zoviz.views.common.colours import EVENT, PALETTE, REFERENCE, TARGET
from zoviz.views.common.figure_frame import empty_figure
from zoviz.views.common.number_rule import format_number
from zoviz.views.common.parameter_row import ParameterRow
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.small_fields import CheckBox
from zoviz.views.common.style import WIDE, muted_html, note, section, update_changed
from zoviz.views.diagnosis.background_task import Offer, TaskControl

RADIUS = "estimator.smoothing_radius"
CALLS = 200_000
"""Budget of calls that is offered first."""
_NOTHING = {name: np.array([]) for name in ("radius", "error", "variance", "bias", "ceiling", "theory", "bound")}


def drawn(curve: Curve) -> dict[str, Array]:
    """Return what a figure with logarithmic axes draws of a curve: NaN where there is no positive number.

    A squared bias that noise hides is a ceiling and no point.
    """
    columns = {
        "radius": curve.radii,
        "error": curve.error,
        "variance": curve.variance,
        "bias": np.where(curve.bias_hidden, np.nan, curve.bias_square),
        "ceiling": np.where(curve.bias_hidden, curve.bias_ceiling, np.nan),
        "theory": curve.predicted_variance,
        "bound": curve.bias_bound,
    }
    return {name: np.where(np.isfinite(values) & (values > 0), values, np.nan) for name, values in columns.items()}


class MicroscopeCard(pn.viewable.Viewer):
    """A card with bias, variance and error of the estimate over the smoothing radii, at a paused or a going run.

    Parameters
    ----------
    controller : RunController
        Its run is looked at, and is given the radius.

    Attributes
    ----------
    control : TaskControl
    magnified : Magnified or None
        The newest look at the page's run.
    source : ColumnDataSource
        What is drawn of it.
    plot : Column
        The figure, to stand beside the card; hidden before the first look.
    """

    every_family = param.Boolean(
        default=False, label="All families", doc="Also measure other families with the same batch size."
    )
    curve: param.Selector[str] = param.Selector(default="", objects=[""], label="Family", doc="Estimator family shown.")

    def __init__(self, controller: RunController) -> None:
        super().__init__()
        self._controller, self._microscope = controller, Microscope(calls=CALLS)
        self._run: Run | None = None
        self.magnified: Magnified | None = None
        self._stale = False
        self._radius: float | None = None  # the run's, as drawn
        self.source = ColumnDataSource(_NOTHING, name="microscope")
        every = CheckBox.from_param(self.param.every_family)
        fields = [ParameterRow.from_param(self._microscope.param[name]) for name in ("count", "calls")]
        self.control = TaskControl("Measure", self._offer, self._show, while_running=True, fields=[*fields, every])
        self.use_button = text_button("Use this radius", self.use, visible=False, margin=(4, 10))
        self._summary = note("", visible=False, sizing_mode="stretch_width")
        self._family = SearchList.of_room(self.param.curve, 220)
        self._family.visible = False
        self._figure = pn.pane.Bokeh(self._make(), **WIDE)
        # Without the figure as long as its ranges have nothing to follow.
        self.plot = pn.Column(visible=False, **WIDE)
        self.param.watch(lambda _: self._outdate(), "curve")

    def __panel__(self) -> pn.viewable.Viewable:
        title = section("Microscope: is the estimate good at this radius?")
        row = pn.FlexBox(self.use_button, self._family, align_items="center", margin=0)
        return pn.Column(title, self.control, self._summary, row, **WIDE)

    def _outdate(self) -> None:
        """Have the next refresh at the run draw: a widget's handler may lack the document's lock."""
        self._stale = True

    def _offer(self, run: Run) -> Offer[Magnified]:
        microscope, subjects = self._microscope.clone(), self._estimators(run)
        least, most = microscope.cost(run.problem, subjects)

        def take(proceed: Callable[[], None]) -> Magnified:
            return microscope_of(run, 0, microscope, subjects, proceed)

        return Offer(least, most, take)

    def _estimators(self, run: Run) -> list[GradientEstimator]:
        """Return the run's own estimator, and those of other families where they are asked for; all without one."""
        own = run.solver.estimator
        if own is None:
            return list(families(1))
        others = [one for one in families(own.batch_size) if type(one) is not type(own)]
        return [own.clone(), *(others if self.every_family else [])]

    def _show(self, run: Run, outcome: Magnified) -> None:
        self.magnified = outcome
        titles = [one.title for one in outcome.curves]
        self.param.curve.objects = titles
        self.curve = self.curve if self.curve in titles else titles[0]
        self._stale = True

    def update(self, run: Run | None) -> None:
        """Show what is new; called with the document's lock at every refresh."""
        if run is not self._run:
            self._run, self.magnified, self._stale = run, None, True
        self.control.update(run)
        radius = None if run is None or self.magnified is None else run.parameters.get(RADIUS)
        if self._stale or radius != self._radius:
            self._stale, self._radius = False, radius
            self._draw()

    @property
    def shown(self) -> Curve | None:
        """The curve that is drawn; None before the first look."""
        curves = () if self.magnified is None else self.magnified.curves
        return next((one for one in curves if one.title == self.curve), None)

    @property
    def usable(self) -> float | None:
        """The radius that the run's own estimator can be given; None where there is none, or it is another family's."""
        run, magnified, curve = self._run, self.magnified, self.shown
        if run is None or magnified is None or curve is None or RADIUS not in run.solver.live:
            return None
        return float(f"{curve.radius:.2e}") if curve is magnified.curves[0] and math.isfinite(curve.radius) else None

    def use(self) -> None:
        """Give the run the radius of least error."""
        if self.usable is not None:
            self._controller.steer({RADIUS: self.usable})

    def _draw(self) -> None:
        curve = self.shown
        update_changed(self.plot, visible=curve is not None)
        update_changed(self._family, visible=self.magnified is not None and len(self.magnified.curves) > 1)
        update_changed(self._summary, visible=curve is not None)
        update_changed(self.use_button, visible=self.usable is not None)
        if self.usable is not None:
            update_changed(self.use_button, label=f"Use radius {format_number(self.usable)}")
        if curve is None or self.magnified is None:
            return
        update_changed(self._summary, object=muted_html(self._words(curve)))
        self.source.data = drawn(curve)
        update_changed(self.plot, objects=[self._figure])
        self._here.location = self._radius or math.nan
        self._best.location = curve.radius
        self._floor.update(top=self.magnified.floor, visible=self.magnified.floor > 0)

    def _words(self, curve: Curve) -> str:
        """Return the sentences on the radii: the one of least error, that of theory, and the present one."""
        best = f"Smallest error at r = {curve.radius:.2g}" if math.isfinite(curve.radius) else "No radius is best"
        others = {"theory": curve.predicted_radius, "current": math.nan if self._radius is None else self._radius}
        beside = ", ".join(f"{name} {radius:.2g}" for name, radius in others.items() if math.isfinite(radius))
        calls = "" if self.magnified is None else f" {self.magnified.calls:,} calls."
        return f"{best}{f' ({beside})' if beside else ''}.{calls}"

    def _make(self) -> Any:
        """Return the figure of one family's errors."""
        fig = empty_figure(
            "Squared error of the estimate",
            "plot-Microscope",
            "smoothing radius, in the solver's units",
            "",
            x_axis_type="log",
            y_axis_type="log",
        )
        for axis in (fig.xaxis[0], fig.yaxis[0]):
            axis.ticker, axis.formatter = LogTicker(desired_num_ticks=5), LogTickFormatter(min_exponent=1)
        blue, orange, green = PALETTE[:3]

        def line(name: str, **look: Any) -> GlyphRenderer:
            return fig.line("radius", name, source=self.source, **look)

        # The error first and wide: where variance is all of it, both are seen.
        parts: dict[str, list[GlyphRenderer]] = {
            "error": [line("error", color=blue, line_width=5, line_alpha=0.45)],
            "variance": [line("variance", color=orange, line_width=1.5)],
            "bias²": [line("bias", color=green, line_width=1.5)],
            "variance, theory": [line("theory", color=orange, line_dash="dashed")],
            "bias², bound": [line("bound", color=green, line_dash="dotted", line_width=1.5)],
        }
        for label, name, colour in (("variance", "variance", orange), ("bias²", "bias", green)):
            parts[label].append(fig.scatter("radius", name, source=self.source, color=colour, size=5))
        hidden = {"marker": "inverted_triangle", "size": 7, "fill_alpha": 0.0, "line_color": green}
        parts["bias², at most"] = [fig.scatter("radius", "ceiling", source=self.source, **hidden)]
        items = [LegendItem(label=label, renderers=renderers) for label, renderers in parts.items()]
        self._here = Span(location=math.nan, dimension="height", line_color=EVENT, line_dash="dotted")
        self._best = Span(location=math.nan, dimension="height", line_color=TARGET, line_dash="dotdash", line_width=2)
        self._floor = BoxAnnotation(top=0.0, fill_color=REFERENCE, fill_alpha=0.15, visible=False)
        for mark in (self._floor, self._here, self._best):
            fig.add_layout(mark)
        legend = Legend(orientation="horizontal", location="left", click_policy="hide", ncols=3, items=items)
        legend.update(spacing=2, padding=0, margin=0, glyph_width=16)
        fig.add_layout(legend, "above")
        return fig
