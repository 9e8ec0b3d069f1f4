"""The buttons that command the page's run, and the bar that shows its progress."""

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
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.style import update_changed

_COLOURS = {
    RunStatus.READY: "default",
    RunStatus.RUNNING: "success",
    RunStatus.PAUSED: "warning",
    RunStatus.FINISHED: "primary",
    RunStatus.DIVERGED: "error",
    RunStatus.STOPPED: "default",
    RunStatus.FAILED: "error",
}


_LOOKS = {
    "start": ("Start", "play_arrow", "primary"),
    "pause": ("Pause", "pause", "default"),
    "step": ("Step", "skip_next", "default"),
    "unpause": ("Continue", "play_arrow", "default"),
    "stop": ("Stop", "stop", "default"),
    "reset": ("Reset", "restart_alt", "default"),
}
"""Label, icon and colour of each button, by the command of ``RunController`` that it gives."""


class RunButtons(pn.viewable.Viewer):
    """The buttons of a page's run, one for each command; those without sense at its status are disabled.

    Parameters
    ----------
    controller : RunController

    Attributes
    ----------
    buttons : dict of str to Button
        By the name of the command.
    """

    def __init__(self, controller: RunController, **params: Any) -> None:
        super().__init__(**params)
        commands: dict[str, Callable[[], None]] = {
            "start": controller.start,
            "pause": controller.pause,
            "step": controller.step,
            "unpause": controller.unpause,
            "stop": controller.stop,
            "reset": controller.reset,
        }
        self.buttons = {name: self._button(name, command) for name, command in commands.items()}
        self._row = pn.Row(*self.buttons.values(), margin=(4, 4))
        self._enable(controller.status)
        controller.param.watch(lambda event: self._enable(event.new), "status")

    def __panel__(self) -> pn.viewable.Viewable:
        return self._row

    @staticmethod
    def _button(name: str, command: Callable[[], None]) -> pmui.Button:
        label, icon, colour = _LOOKS[name]
        return pmui.Button(
            label=label,
            icon=icon,
            color=colour,
            variant="contained" if name == "start" else "outlined",
            size="small",
            width=94,
            margin=(3, 3),
            on_click=lambda _: command(),
        )

    def _enable(self, status: RunStatus) -> None:
        """Enable the buttons that make sense at this status."""
        active = status.active
        enabled = {
            "start": not active,
            "pause": status is RunStatus.RUNNING,
            "step": status is not RunStatus.RUNNING,
            "unpause": status is RunStatus.PAUSED,
            "stop": active,
            "reset": status is not RunStatus.READY,
        }
        for name, button in self.buttons.items():
            update_changed(button, disabled=not enabled[name])


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


class StatusBar(pn.viewable.Viewer):
    """A bar with the run's counters, speed, share of the budget, and message.

    Parameters
    ----------
    controller : RunController

    Attributes
    ----------
    counters : ColumnDataSource
        Its tags are the HTML of the counters, as the browser is told of it.

    Notes
    -----
    The counters change at every look at the run. As a Panel pane they would cost more than all the lines.
    """

    def __init__(self, controller: RunController, **params: Any) -> None:
        super().__init__(**params)
        self._controller = controller
        self._chip = pmui.Chip(label="ready", size="small", margin=(4, 6))
        self.counters = ColumnDataSource(name="status")
        self._meter = Div(
            css_classes=["zoviz-status"],
            sizing_mode="stretch_width",
            margin=(6, 10),
            stylesheets=["div {width: 100%}"],
            tags=[self.counters],
        )
        self.counters.js_on_change("tags", CustomJS(args={"div": self._meter}, code=_REPLACE))
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

    @property
    def message(self) -> str:
        """The sentence that is shown."""
        return str(self._message.object)

    def update(self) -> None:
        """Show the run's present counters; needs the document's lock."""
        run, status = self._controller.run, self._controller.status
        text, percent = self._counters(run, status)
        meter = _METER.format(text=text, percent=f"{percent:.1f}")
        if self._meter.document is None:
            self._meter.text = meter
        if self.counters.tags != [meter]:
            self.counters.tags = [meter]
        update_changed(self._message, object=self._controller.message)
        update_changed(self._chip, label=str(status), color=_COLOURS[status])

    def _counters(self, run: Run | None, status: RunStatus) -> tuple[str, float]:
        """Return the line of counters, and the percentage of the budget that is used."""
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

    def _speed(self, calls: float, status: RunStatus) -> float:
        now = time.perf_counter()
        before, then = self._last
        if calls < before or status is RunStatus.READY:
            self._last, self._rate = (calls, now), 0.0
        elif now - then > 0.8:
            self._rate = (calls - before) / (now - then) if then else 0.0
            self._last = (calls, now)
        return self._rate
