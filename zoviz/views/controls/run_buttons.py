"""The buttons that command the page's run, and the bar that shows its progress."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Callable, Collection
from typing import Any

import panel as pn
import panel_material_ui as pmui
from bokeh.models import ColumnDataSource, CustomJS
from bokeh.models.widgets import Div

from zoviz.diagnosis.verdict import Verdict, Word
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.views.common.connection import STATUS
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.style import (
    CLOSER_BUTTON,
    CLOSER_ROW,
    NARROW,
    NARROW_BAR,
    SMALLER,
    narrower,
    tooltip,
    update_changed,
)

_COLOURS = {
    RunStatus.READY: "#5f6368",
    RunStatus.RUNNING: "#1b7a3d",
    RunStatus.PAUSED: "#8a5a00",
    RunStatus.FINISHED: "#1d5c96",
    RunStatus.DIVERGED: "#b3261e",
    RunStatus.STOPPED: "#5f6368",
    RunStatus.FAILED: "#b3261e",
    RunStatus.INTERRUPTED: "#5f6368",
}
"""Behind the white word of a status: each with a contrast of at least 4.5 to it."""


_LOOKS = {
    "start": ("Start", "play_arrow", "primary"),
    "pause": ("Pause", "pause", "default"),
    "step": ("Step", "skip_next", "default"),
    "unpause": ("Continue", "play_arrow", "default"),
    "stop": ("Stop", "stop", "default"),
    "undo": ("Undo", "undo", "default"),
    "reset": ("Reset", "restart_alt", "default"),
}
"""Label, icon and colour of each button, by the command of ``RunController`` that it gives."""


class RunButtons(pn.viewable.Viewer):
    """The buttons of a page's run, one for each command; those without sense at its status are disabled.

    Parameters
    ----------
    controller : RunController
    names : collection of str
        Of the commands that have a button; by default all.
    icons : bool
        Whether the buttons have icons, whose font a page's server must have.

    Attributes
    ----------
    buttons : dict of str to Button
        By the name of the command.
    """

    def __init__(
        self, controller: RunController, names: Collection[str] = tuple(_LOOKS), icons: bool = True, **params: Any
    ) -> None:
        super().__init__(**params)
        commands: dict[str, Callable[[], None]] = {
            "start": controller.start,
            "pause": controller.pause,
            "step": controller.step,
            "unpause": controller.unpause,
            "stop": controller.stop,
            "undo": controller.undo,
            "reset": controller.reset,
        }
        self.buttons = {name: self._button(name, command, icons) for name, command in commands.items() if name in names}
        self._row = pn.Row(
            *self.buttons.values(), margin=(4, 4), css_classes=["zoviz-buttons"], stylesheets=[CLOSER_ROW]
        )
        self.buttons["undo"].description = tooltip("Put the parameter that was changed last back to where it was.")
        self._enable(controller)
        controller.param.watch(lambda *_: self._enable(controller), ["status", "waiting", "undoable"])

    def __panel__(self) -> pn.viewable.Viewable:
        return self._row

    @staticmethod
    def _button(name: str, command: Callable[[], None], icons: bool) -> pmui.Button:
        label, icon, colour = _LOOKS[name]
        return pmui.Button(
            label=label,
            icon=icon if icons else None,
            color=colour,
            variant="contained" if name == "start" else "outlined",
            size="small",
            width=86,
            margin=(3, 2),
            stylesheets=[narrower(78, NARROW_BAR), narrower(11 + 7 * len(label)), CLOSER_BUTTON],
            sx={NARROW_BAR: SMALLER, NARROW: {"min-width": "0", "& .MuiButton-icon": {"display": "none"}}},
            on_click=lambda _: command(),
        )

    def _enable(self, controller: RunController) -> None:
        """Enable the buttons that make sense at the run's status, or while it waits for its problem's data."""
        status, waiting, active = controller.status, controller.waiting, controller.status.active
        enabled = {
            "start": not active and not waiting,
            "pause": status is RunStatus.RUNNING,
            "step": status is not RunStatus.RUNNING and not waiting,
            "unpause": status is RunStatus.PAUSED,
            "stop": active or waiting,
            "undo": controller.undoable,
            "reset": status is not RunStatus.READY,
        }
        for name, button in self.buttons.items():
            update_changed(button, disabled=not enabled[name])


_RED, _AMBER, _GREEN, _GREY = "#b3261e", "#8a5a00", "#1b7a3d", "#5f6368"
_TONES = dict.fromkeys(Word, _AMBER) | {
    Word.EARLY: _GREY,
    Word.SETTLED: _GREY,
    Word.BUDGET_ENDED: _GREY,
    Word.SOLVED: _GREEN,
    Word.CONVERGING: _GREEN,
    Word.NOISE_FLOOR: _GREEN,
    Word.DIVERGING: _RED,
    Word.FAILED: _RED,
}
"""Behind the white word of a verdict: green for nothing but what goes well."""


_METER = (
    "<div class='zoviz-line'><span class='zoviz-chip' style='background:{colour}'>{status}</span>"
    "<span class='zoviz-counters'>{text}</span></div>"
    "<div role='progressbar' aria-label='Share of the budget' aria-valuenow='{percent}' class='zoviz-track'>"
    "<div style='width:{percent}%'></div></div>"
    "<div class='zoviz-said'>{verdict}<span class='zoviz-message'>{message}</span></div>"
)
_VERDICT = "<span class='zoviz-verdict' style='background:{colour}'>{word}</span>{sentence} "
_STYLE = """div {width: 100%} .zoviz-line, .zoviz-said {font-size: 14px; line-height: 1.4}
.zoviz-said {min-height: 24px; margin-top: 5px}
.zoviz-chip, .zoviz-verdict {color: #fff; border-radius: 11px; padding: 2px 10px; margin-right: 10px; font-size: 13px}
.zoviz-track {height: 6px; margin-top: 6px; border-radius: 3px;
  background: color-mix(in srgb, var(--panel-primary-color) 25%, transparent)}
.zoviz-track div {height: 6px; border-radius: 3px; background: var(--panel-primary-color)}
"""


# A Div that is told of a change has its page measured and laid out anew; this only replaces its words.
_REPLACE = """
    const [html] = cb_obj.tags, view = cb_context.index.find_one(div);
    div.setv({text: html}, {silent: true});
    if (view?.markup_el) view.markup_el.innerHTML = html;
"""


class StatusBar(pn.viewable.Viewer):
    """A bar with the run's status, counters, speed, share of the budget, and message.

    Parameters
    ----------
    controller : RunController

    Attributes
    ----------
    counters : ColumnDataSource
        Its tags are the HTML of the bar, as the browser is told of it.
    message : str
        The sentence that is shown.

    Notes
    -----
    The counters change at every look at the run. As a Panel pane they would cost more than all the lines. Status,
    counters and message travel as one text: they are always those of the same run.
    """

    def __init__(self, controller: RunController, **params: Any) -> None:
        super().__init__(**params)
        self._controller = controller
        self.counters = ColumnDataSource(name="status")
        self._meter = Div(
            name=STATUS,
            css_classes=["zoviz-status"],
            sizing_mode="stretch_width",
            margin=(6, 10),
            stylesheets=[_STYLE],
            tags=[self.counters],
        )
        self.counters.js_on_change("tags", CustomJS(args={"div": self._meter}, code=_REPLACE))
        self.message = ""
        self._column = pn.Column(pn.pane.Bokeh(self._meter, sizing_mode="stretch_width"), sizing_mode="stretch_width")
        self._last = (0.0, 0.0)
        self._rate = 0.0

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def update(self) -> None:
        """Show the run's present counters; needs the document's lock."""
        run, status = self._controller.run, self._controller.status
        text, percent = self._counters(run, status)
        self.message = self._controller.message
        judged = None if run is None else self._controller.verdict(run)
        lost = judged is not None and judged.word is Word.DIVERGING
        meter = _METER.format(
            colour=_RED if lost else _COLOURS[status],
            status=status,
            verdict="" if judged is None else _spoken(judged),
            text=text,
            percent=f"{percent:.1f}",
            message=html.escape(self.message, quote=False),
        )
        if self._meter.document is None:
            self._meter.text = meter
        if self.counters.tags != [meter]:
            self.counters.tags = [meter]

    def _counters(self, run: Run | None, status: RunStatus) -> tuple[str, float]:
        """Return the line of counters, and the percentage of the budget that is used."""
        if run is None:
            return "Choose a problem and a solver, then press Start.", 0.0
        progress = run.progress
        calls = float(progress.calls * run.replicas)
        mean = calls / max(progress.seconds, 1e-9)
        rate = self._speed(calls, mean) if status is RunStatus.RUNNING else mean
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

    def _speed(self, calls: float, mean: float) -> float:
        """Return the calls per second of the last second or so; of a run's first, their mean over the run."""
        now = time.perf_counter()
        before, then = self._last
        if calls < before or not then:
            self._last, self._rate = (calls, now), math.nan
        elif now - then > 0.8:
            self._last, self._rate = (calls, now), (calls - before) / (now - then)
        return mean if math.isnan(self._rate) else self._rate


def _spoken(judged: Verdict) -> str:
    """Return a verdict as HTML: its word on a coloured ground, then its sentence."""
    return _VERDICT.format(
        colour=_TONES[judged.word], word=judged.word, sentence=html.escape(judged.sentence, quote=False)
    )
