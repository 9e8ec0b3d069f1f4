"""The buttons that command the page's run, and the bar that shows its progress."""

from __future__ import annotations

import html
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import panel as pn
from bokeh.models import ColumnDataSource, CustomJS
from bokeh.models.widgets import Div

from zoviz.diagnosis.remedies import Remedy, advice
from zoviz.diagnosis.verdict import Verdict, Word
from zoviz.runs.engine.stopping import RunStatus
from zoviz.runs.run import Run
from zoviz.views.common.buttons import text_button
from zoviz.views.common.colours import AMBER, GREEN, GREY, RED, TONES
from zoviz.views.common.connection import STATUS
from zoviz.views.common.run_controller import RunController
from zoviz.views.common.style import WIDE, update_changed

_COLOURS = dict.fromkeys(RunStatus, GREY) | {
    RunStatus.RUNNING: GREEN,
    RunStatus.PAUSED: AMBER,
    RunStatus.FINISHED: "#1d5c96",
    RunStatus.DIVERGED: RED,
    RunStatus.FAILED: RED,
}
"""Behind the white word of a status."""
DOUBLE_CLICK = 0.4
"""Seconds within which a second click belongs to the first."""


class RunButtons(pn.viewable.Viewer):
    """The buttons of a page's run: the first starts, pauses and goes on; those without sense now are disabled.

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
            "start": lambda: self._start_or_pause(controller),
            "step": controller.step,
            "stop": controller.stop,
            "undo": controller.undo,
        }
        self._pressed = -DOUBLE_CLICK
        look: dict[str, Any] = {"width": 64, "margin": (0, 3)}
        self.buttons = {
            name: text_button(name.capitalize(), command, first=name == "start", **look)
            for name, command in commands.items()
        }
        self._row = pn.Row(*self.buttons.values(), margin=0, css_classes=["zoviz-buttons"])
        self.buttons["undo"].description = "Undo the last parameter change."
        self._enable(controller)
        controller.param.watch(lambda *_: self._enable(controller), ["status", "waiting", "undoable"])

    def __panel__(self) -> pn.viewable.Viewable:
        return self._row

    def _start_or_pause(self, controller: RunController) -> None:
        """Start, pause or go on; the second click of a double click is no Pause of the run that the first began."""
        now, before = time.monotonic(), self._pressed
        self._pressed = now
        if now - before >= DOUBLE_CLICK:
            controller.start_or_pause()

    def _enable(self, controller: RunController) -> None:
        """Enable the buttons that make sense at the run's status, or while it waits for its problem's data."""
        status, waiting, active = controller.status, controller.waiting, controller.status.active
        running = status is RunStatus.RUNNING
        update_changed(self.buttons["start"], label="Pause" if running else "Start")
        enabled = {
            "start": not waiting and (running or not active or status is RunStatus.PAUSED),
            "step": not running and not waiting,
            "stop": active or waiting,
            "undo": controller.undoable,
        }
        for name, button in self.buttons.items():
            update_changed(button, disabled=not enabled[name])


_LINE = (
    "<div class='zoviz-line'><span class='zoviz-chip' style='background:{colour}'>{status}</span>"
    "<span class='zoviz-counters'>{text}</span></div>"
)
_BELOW = (
    "<div role='progressbar' aria-label='Share of the budget' aria-valuenow='{percent}' class='zoviz-track'>"
    "<div style='width:{percent}%'></div></div>"
    "<div class='zoviz-said'>{verdict}<span class='zoviz-message'>{message}</span></div>"
)
_VERDICT = "<span class='zoviz-verdict' style='background:{colour}'>{word}</span>{sentence} "
_CUT = "white-space: nowrap; overflow: hidden; text-overflow: ellipsis"
_LINE_STYLE = f""".zoviz-line {{font-size: 13px; line-height: 28px; {_CUT}}}
.zoviz-chip {{color: #fff; border-radius: 6px; padding: 3px 10px; margin-right: 10px}}
"""
# One line of a fixed height, so that no word moves the plots; the whole of it opens above them.
_BELOW_STYLE = f""":host > div {{width: 100%}}
.zoviz-said {{font-size: 13px; line-height: 28px; height: 28px; padding: 0 10px;
  box-sizing: border-box; border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent); {_CUT}}}
.zoviz-said:hover, .zoviz-said:active {{position: absolute; left: 0; right: 0; z-index: 2; height: auto;
  white-space: normal; background: var(--panel-background-color, Canvas)}}
.zoviz-verdict {{color: #fff; border-radius: 6px; padding: 3px 8px; margin-right: 10px; font-size: 12px}}
.zoviz-track {{height: 3px; background: color-mix(in srgb, currentColor 14%, transparent)}}
.zoviz-track div {{height: 3px; background: var(--panel-primary-color)}}
"""


# A Div that is told of a change has its page measured and laid out anew; this only replaces its words.
_REPLACE = """
    cb_obj.tags.forEach((html, i) => {
        const view = cb_context.index.find_one(divs[i]);
        divs[i].setv({text: html}, {silent: true});
        if (view?.markup_el && view.markup_el.innerHTML !== html) view.markup_el.innerHTML = html;
    });
"""


class StatusBar(pn.viewable.Viewer):
    """The run's status, counters, speed and share of the budget, and below them its verdict and message.

    Parameters
    ----------
    controller : RunController
    beside : sequence of Viewable
        What stands before the counters, in their line.

    Attributes
    ----------
    counters : ColumnDataSource
        Its tags are the HTML of both lines, as the browser gets it.
    message : str
        The sentence that is shown.

    Notes
    -----
    The counters change at every refresh. As a Panel pane they would cost more than all the lines. Status,
    counters and message travel together: they are always those of the same run.
    """

    def __init__(self, controller: RunController, beside: Sequence[Any] = (), **params: Any) -> None:
        super().__init__(**params)
        self._controller = controller
        self.counters = ColumnDataSource(name="status")
        common: dict[str, Any] = {"sizing_mode": "stretch_width", "margin": 0, "tags": [self.counters]}
        self._divs = (
            Div(name=STATUS, css_classes=["zoviz-status"], **common),
            Div(css_classes=["zoviz-judged"], **common),
        )
        self.counters.js_on_change("tags", CustomJS(args={"divs": list(self._divs)}, code=_REPLACE))
        self.message = ""
        line, below = (
            pn.pane.Bokeh(div, stylesheets=[style], **WIDE)
            for div, style in zip(self._divs, (_LINE_STYLE, _BELOW_STYLE), strict=True)
        )
        line.margin = (0, 8)
        self._head = pn.Row(*beside, line, sizing_mode="stretch_width", margin=(7, 6, 6, 6), align="center")
        self._column = pn.Column(self._head, below, **WIDE, css_classes=["zoviz-run-bar"])
        self._last = (0.0, 0.0)
        self._rate = 0.0

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    def put(self, button: pn.viewable.Viewable) -> None:
        """Give a button a place before the counters."""
        self._head.insert(-1, button)

    def update(self) -> None:
        """Show the run's present counters; needs the document's lock."""
        run, status = self._controller.run, self._controller.status
        text, percent = self._counters(run, status)
        self.message = self._controller.message
        judged = None if run is None else self._controller.verdict(run)
        lost = judged is not None and judged.word is Word.DIVERGING
        line = _LINE.format(colour=RED if lost else _COLOURS[status], status=status, text=text)
        below = _BELOW.format(
            verdict="" if run is None or judged is None else verdict_html(judged, self._controller.remedies(run)),
            percent=f"{percent:.1f}",
            message=html.escape(self.message, quote=False),
        )
        if self._divs[0].document is None:
            self._divs[0].text, self._divs[1].text = line, below
        if self.counters.tags != [line, below]:
            self.counters.tags = [line, below]

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
        percent = 0.0 if math.isnan(fraction) else 100 * fraction
        text += "" if math.isnan(fraction) else f" · {percent:.0f} % of budget"
        workers = run.workers
        if run.active and workers.sentence:
            text += f" · <span title='{html.escape(str(workers))}'>{workers.sentence}</span>"
        return text, percent

    def _speed(self, calls: float, mean: float) -> float:
        """Return the calls per second of the last second or so; of a run's first, their mean over the run."""
        now = time.perf_counter()
        before, then = self._last
        if calls < before or not then:
            self._last, self._rate = (calls, now), math.nan
        elif now - then > 0.8:
            self._last, self._rate = (calls, now), (calls - before) / (now - then)
        return mean if math.isnan(self._rate) else self._rate


def verdict_html(judged: Verdict, named: Sequence[Remedy] = ()) -> str:
    """Return a verdict as HTML: its word on a coloured ground, its sentence, and the remedies for it."""
    said = " ".join(filter(None, [judged.sentence, advice(named)]))
    return _VERDICT.format(colour=TONES[judged.word], word=judged.word, sentence=html.escape(said, quote=False))
