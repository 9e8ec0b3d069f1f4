"""Data and performance profiles of a study, drawn anew as runs end and as the level is moved."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from bokeh.events import Tap
from bokeh.models import ColumnDataSource, HoverTool

from zoviz.benchmark.profiles import Profile, band, staircase
from zoviz.views.common.colours import DASHES, PALETTE
from zoviz.views.common.figure_frame import empty_figure

_HEIGHT = 330
_PLACES = 60
"""Places along the axis at which bands are drawn."""
_SEED = 0
_NEAR = 0.05
"""How far beside a curve, in shares, a click still means it."""


class Curves(NamedTuple):
    """What a profile is called, what stands on its axes, and whether the replicas of a problem are runs."""

    title: str
    x_label: str
    y_label: str = "share of problems and replicas"
    within: bool = True


CURVES = {
    "data": Curves("Data profile", "calls / (n + 1)"),
    "performance": Curves("Performance profile", "calls / fewest calls of a solver"),
    "targets": Curves("Targets from 0.32 to 10⁻⁸", "calls / n", "share of targets reached", within=False),
}
"""The profiles of a benchmark, wherever they are shown."""


class ProfilePlot:
    """A figure of a profile, a curve and a band for each solver, on a logarithmic axis.

    Parameters
    ----------
    name : str
        A key of ``CURVES``.
    pick : callable
        Called with a sentence's beginning and pairs (problem, replica) when a person clicks near a step: those runs
        make it.
    legend : bool
        Name the solvers on the figure; no beside another one of the same colours.

    Attributes
    ----------
    figure : figure
    lines, bands : ColumnDataSource
        One row for each solver.
    """

    def __init__(self, name: str, pick: Callable[[str, list[tuple[str, int]]], object], legend: bool = True) -> None:
        self._pick = pick
        title, x_label, y_label, self._within = CURVES[name]
        self._profile: Profile | None = None
        self.lines = ColumnDataSource({"xs": [], "ys": [], "colour": [], "dash": [], "solver": []})
        self.bands = ColumnDataSource({"xs": [], "ys": [], "colour": []})
        self.figure = empty_figure(
            title,
            f"plot-{name}",
            x_label,
            y_label,
            height=_HEIGHT,
            x_axis_type="log",
            x_range=(0.1, 10.0),
            y_range=(-0.03, 1.03),
        )
        self.figure.patches("xs", "ys", fill_color="colour", fill_alpha=0.12, line_color=None, source=self.bands)
        curves = self.figure.multi_line(
            "xs", "ys", color="colour", line_width=2.2, line_dash="dash", legend_field="solver", source=self.lines
        )
        self.figure.add_tools(HoverTool(renderers=[curves], tooltips="@solver: $y{0 %} at $x{0.[0]a}", visible=False))
        names: Any = self.figure.legend[0]
        names.location, names.visible = "bottom_right", legend
        names.update(padding=4, spacing=0)
        self.figure.on_event(Tap, self.tapped)

    def update(self, profile: Profile | None) -> None:
        """Draw the curves; their bands are taken away until ``update_bands``. Called with the document's lock."""
        self._profile = profile
        data: dict[str, list[Any]] = {"xs": [], "ys": [], "colour": [], "dash": [], "solver": []}
        if profile is not None:
            (left, right), solvers = profile.ends, range(len(profile.solvers))
            if self.figure.x_range.reset_end != right or self.figure.x_range.reset_start != left:  # else a zoom is lost
                self.figure.x_range.update(reset_start=left, reset_end=right, start=left, end=right)
            lines = [staircase(profile.x[s], profile.y[s], left, right) for s in solvers]
            data = {
                "xs": [x for x, _ in lines],
                "ys": [y for _, y in lines],
                "colour": [PALETTE[s % len(PALETTE)] for s in solvers],
                "dash": [DASHES[s % len(DASHES)] for s in solvers],
                "solver": list(profile.solvers),
            }
        self.lines.data = data
        self.bands.data = {"xs": [], "ys": [], "colour": []}

    def update_bands(self) -> None:
        """Draw the bands of the profile, of 90 %, by the bootstrap over problems and replicas."""
        if self._profile is None:
            return
        x = np.geomspace(*self._profile.ends, _PLACES)
        lower, upper = band(self._profile, x, np.random.default_rng(_SEED), within=self._within)
        solvers = range(len(self._profile.solvers))
        self.bands.data = {
            "xs": [np.concatenate([x, x[::-1]]) for _ in solvers],
            "ys": [np.concatenate([lower[s], upper[s][::-1]]) for s in solvers],
            "colour": [PALETTE[s % len(PALETTE)] for s in solvers],
        }

    def tapped(self, event: Tap) -> None:
        """Have the runs picked that make the step next to the pointer."""
        step = None if self._profile is None or event.x is None or event.y is None else self.step_near(event.x, event.y)
        if step is not None and self._profile is not None:
            solver, x = step
            self._pick(f"{solver} at {x:.3g}", self._profile.runs_at(solver, x))

    def step_near(self, x: float, y: float) -> tuple[str, float] | None:
        """Return the solver whose curve is next to a place of the plot, and its next step, by ratio; None far off."""
        profile = self._profile
        if profile is None or x <= 0.0:
            return None
        shares = profile.at(np.array([x]))[:, 0]
        off = np.array(
            [abs(share - y) if steps.size else np.inf for share, steps in zip(shares, profile.x, strict=True)]
        )
        s = int(off.argmin())
        steps = profile.x[s]
        # Beside a high step the curve is far below or above at the very place: its step counts, too.
        if not np.isfinite(off[s]) or off[s] > _NEAR + float(np.max(np.diff(profile.y[s], prepend=0.0))):
            return None
        nearest = int(np.abs(np.log(np.maximum(steps, 1e-300)) - np.log(x)).argmin())
        return profile.solvers[s], float(steps[nearest])
