"""Start, pause, step, resume, stop, reset; and how far a run has come."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource, CustomJS
from bokeh.models.widgets import Div

from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.views.common.style import amend

_COLOURS = {
    RunStatus.READY: "default",
    RunStatus.RUNNING: "success",
    RunStatus.PAUSED: "warning",
    RunStatus.FINISHED: "primary",
    RunStatus.STOPPED: "default",
    RunStatus.FAILED: "error",
}


class Transport(pn.viewable.Viewer):
    """The buttons; each calls one function of the dashboard.

    Parameters
    ----------
    actions : dict of str to callable
        By button name: start, pause, step, resume, stop, reset.
    """

    def __init__(self, actions: dict[str, Callable[[], None]], **params: Any) -> None:
        super().__init__(**params)
        looks = {
            "start": ("Start", "play_arrow", "primary"),
            "pause": ("Pause", "pause", "default"),
            "step": ("Step", "skip_next", "default"),
            "resume": ("Resume", "play_arrow", "default"),
            "stop": ("Stop", "stop", "default"),
            "reset": ("Reset", "restart_alt", "default"),
        }
        self.buttons = {
            name: pmui.Button(
                label=label,
                icon=icon,
                color=colour,
                variant="contained" if name == "start" else "outlined",
                size="small",
                width=94,
                margin=(3, 3),
                on_click=self._handler(actions[name]),
            )
            for name, (label, icon, colour) in looks.items()
        }
        self._box = pn.Row(*self.buttons.values(), margin=(4, 4))

    def _handler(self, action: Callable[[], None]) -> Callable[[Any], None]:
        return lambda _: action()

    def __panel__(self) -> pn.viewable.Viewable:
        return self._box

    def update(self, status: RunStatus) -> None:
        """Enable what makes sense now."""
        active = status.active
        enabled = {
            "start": not active,
            "pause": status is RunStatus.RUNNING,
            "step": status is not RunStatus.RUNNING,
            "resume": status is RunStatus.PAUSED,
            "stop": active,
            "reset": status is not RunStatus.READY,
        }
        for name, button in self.buttons.items():
            amend(button, disabled=not enabled[name])


_METER = (
    "<div style='font-size:14px'>{text}</div><div role='progressbar' aria-valuenow='{percent}' style='height:6px;"
    "margin-top:6px;border-radius:3px;background:color-mix(in srgb, var(--panel-primary-color) 25%, transparent)'>"
    "<div style='height:6px;width:{percent}%;border-radius:3px;background:var(--panel-primary-color)'></div></div>"
)


# A Div that is told of a change has its page measured and laid out anew; this only replaces its words.
_REPLACE = """
    const [html] = cb_obj.tags, view = cb_context.index.find_one(div);
    div.setv({text: html}, {silent: true});
    if (view?.markup_el) view.markup_el.innerHTML = html;
"""


class Status(pn.viewable.Viewer):
    """Counters, speed, a progress bar against the budget, and what the run has to say.

    Notes
    -----
    The counters change at every look at the run. As a Panel pane they would cost more than all the lines.
    """

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._chip = pmui.Chip(label="ready", size="small", margin=(4, 6))
        self._wire = ColumnDataSource(name="status")
        self._meter = Div(
            css_classes=["zoviz-status"],
            sizing_mode="stretch_width",
            margin=(6, 10),
            stylesheets=["div {width: 100%}"],
            tags=[self._wire],
        )
        self._wire.js_on_change("tags", CustomJS(args={"div": self._meter}, code=_REPLACE))
        self._message = pn.pane.HTML(
            "", css_classes=["zoviz-message"], sizing_mode="stretch_width", margin=(0, 10), min_height=24
        )
        self._column = pn.Column(
            pn.Row(self._chip, pn.pane.Bokeh(self._meter, sizing_mode="stretch_width"), sizing_mode="stretch_width"),
            self._message,
            sizing_mode="stretch_width",
            margin=0,
        )
        self._last = (0.0, 0.0)
        self._rate = 0.0

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def update(self, run: Run | None, error: str = "") -> None:
        """Show the run's counters as they are now; like the figures, only with the document's lock."""
        status = RunStatus.READY if run is None else run.status
        text, percent = self._counters(run, status)
        meter = _METER.format(text=text, percent=f"{percent:.1f}")
        if self._meter.document is None:
            self._meter.text = meter
        if self._wire.tags != [meter]:
            self._wire.tags = [meter]
        amend(self._message, object=error or ("" if run is None else run.message))
        amend(self._chip, label=status, color=_COLOURS[status])

    def _counters(self, run: Run | None, status: str) -> tuple[str, float]:
        """The line of counters, and the percentage of the budget that is used."""
        if run is None:
            return "Choose a problem and a solver, then press Start.", 0.0
        progress = run.progress
        calls = float(progress.calls * run.replicas)
        rate = self._speed(calls, status) if status is RunStatus.RUNNING else calls / max(progress.seconds, 1e-9)
        fraction = progress.fraction
        text = (
            f"iteration <b>{progress.iteration:,}</b> · calls <b>{progress.calls:,}</b> × {run.replicas} · "
            f"<b>{rate:,.0f}</b> calls/s · <b>{progress.seconds:.1f} s</b>"
        )
        if run.frozen:
            text += f" · <b>{run.frozen}</b> frozen"
        if math.isnan(fraction):
            return text, 0.0
        return f"{text} · {100 * fraction:.0f} % of budget", 100 * fraction

    def _speed(self, calls: float, status: str) -> float:
        now = time.perf_counter()
        before, then = self._last
        if calls < before or status is RunStatus.READY:
            self._last, self._rate = (calls, now), 0.0
        elif now - then > 0.8:
            self._rate = (calls - before) / (now - then) if then else 0.0
            self._last = (calls, now)
        return self._rate
