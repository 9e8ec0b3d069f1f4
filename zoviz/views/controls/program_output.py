"""The output of a user's program or functions in the run's last evaluations, HTML-escaped."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import Any

import panel as pn
import param

from zoviz.core.types import Printed
from zoviz.runs.run import Run
from zoviz.views.common.small_fields import CheckBox
from zoviz.views.common.style import WIDE, section, update_changed

EVERY = 4
"""Refreshes of the page between two of what the run printed: once a second."""
CALLS = 12
"""Evaluations that are shown."""
LENGTH = 2000
"""Characters of each of their streams that are shown, the last ones."""

_CODES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
"""Colours for terminals, and characters that are none."""

_STYLE = """
:host {max-height: 300px; overflow: auto; border-radius: 4px;
  border: 1px solid color-mix(in srgb, currentColor 28%, transparent)}
.call {padding: 5px 10px; border-bottom: 1px solid color-mix(in srgb, currentColor 14%, transparent)}
.call:last-child {border-bottom: none}
.how {font-size: .82rem; opacity: .75; margin-bottom: 2px}
.output {display: grid; grid-template-columns: 46px minmax(0, 1fr); column-gap: 8px}
.output span {font-size: .75rem; opacity: .65; line-height: 1.45}
pre {margin: 0; font: 12px/1.45 ui-monospace, "DejaVu Sans Mono", Consolas, monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; tab-size: 4}
"""


class ProgramOutput(pn.viewable.Viewer):
    """A card with the last calls that printed, newest first: number, ending, seconds, both streams.

    Notes
    -----
    It is hidden for a run of which nothing has been printed. The words come from a program: they reach the page as
    text, whatever they look like.
    """

    follow = param.Boolean(default=True, label="Follow", doc="Show the newest output; switch it off to read or copy.")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._run: Run | None = None
        self._refreshes = 0
        self._calls: tuple[Printed, ...] = ()
        # Of the height of its words up to a bound; the scrolling is the pane's own, so that it outlives a change.
        self.pane = pn.pane.HTML(
            "", stylesheets=[_STYLE], css_classes=["zoviz-printed"], sizing_mode="stretch_width", margin=(0, 10)
        )
        head = pn.Row(
            section("Printed output, newest first"),
            CheckBox.from_param(self.param.follow, margin=(4, 10)),
            margin=0,
        )
        self._parts = [head, self.pane]
        self._column = pn.Column(**WIDE)

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    @property
    def visible(self) -> bool:
        """Whether the card is on the page."""
        return bool(self._column.objects)

    def update(self, run: Run | None, visible: bool = True) -> None:
        """Show new output, once a second at most; called with the document's lock at every refresh.

        Parameters
        ----------
        run : Run or None
        visible : bool
            Whether the card is where somebody can see it.
        """
        other = run is not self._run
        self._refreshes += 1
        if other:
            self._run, self._refreshes = run, 0
        between = run is not None and run.active and self._refreshes % EVERY
        if not other and (between or not (visible and self.follow)):
            return
        calls = () if run is None else run.printed
        if calls != self._calls or other:
            self._calls = calls
            update_changed(self.pane, object=output_html(calls))
        update_changed(self._column, objects=self._parts if calls else [])


def output_html(calls: Sequence[Printed]) -> str:
    """Return the last calls as HTML, newest first, with every printed word escaped."""
    return "".join(_call(one) for one in reversed(calls[-CALLS:]))


def _call(one: Printed) -> str:
    again = f", attempt {one.attempt}" if one.attempt > 1 else ""
    how = html.escape(f"call {one.call:,}{again} · {one.status} · {one.seconds:.3g} s")
    streams = (("stdout", one.output), ("stderr", one.errors))
    output = "".join(
        f"<div class='output'><span>{name}</span><pre>{_text(words)}</pre></div>"
        for name, words in streams
        if words.strip()
    )
    return f"<div class='call'><div class='how'>{how}{'' if output else ' · printed nothing'}</div>{output}</div>"


def _text(words: str) -> str:
    """Return the end of the output as escaped text."""
    plain = _CODES.sub("", words.replace("\r\n", "\n").replace("\r", "\n")).strip("\n")
    excess = len(plain) - LENGTH
    return html.escape(plain if excess <= 0 else f"({excess:,} characters before)\n{plain[excess:]}")
