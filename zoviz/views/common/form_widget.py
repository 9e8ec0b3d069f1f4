"""What the form's own widgets share: Python says what is drawn, and a person's change comes back as one message."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, ClassVar, NamedTuple

import param
from panel.custom import JSComponent
from panel.widgets.base import WidgetBase

from zoviz.core.threads.rests import RESTS

MOST = 2**53
"""Numbers of messages are whole numbers in a browser up to here."""

PENDING = "Pending: it applies after the current step."


class Steered(NamedTuple):
    """A parameter of a run that is at work, as a field steers it.

    Attributes
    ----------
    value : object
        As the run's journal has it, or as it was asked for last.
    pending : bool
        Whether the run has not taken that yet.
    ask : callable
        Asks the run for another value; raises where that cannot be.
    """

    value: Any
    pending: bool
    ask: Callable[[Any], object]


class FormWidget(JSComponent, WidgetBase):
    """A control of a form, drawn by ``form.js`` from ``spec`` alone.

    A message of the browser has a number, ``seq``, and says what a person did. It is judged in Python, and answered by
    a ``spec`` that has the number as ``ack``: until then the control shows what the person did, from then on what
    ``spec`` says. So nothing that was on its way comes back as a change. One message of a drag is on its way at a time,
    and the latest place of the handle waits for its answer: the server sets the pace.

    A subclass says what is drawn in ``describe``, and takes messages in ``take``. A browser may send anything.

    Attributes
    ----------
    held : object
        The value that is shown: that of a run that is steered, or else the field's own.
    note : str
        The sentence on what is awaited; empty where nothing is.
    """

    description = param.String(default="", doc="What the control is for; shown when its label is pointed at.")
    disabled = param.Boolean(default=False)
    spec: dict[str, Any] = param.Dict(default={}, doc="All that is drawn.")  # type: ignore[assignment]

    _bundle = _esm = "form.js"
    _stylesheets: ClassVar[list[str]] = ["fields.css"]
    # A browser can set what is mapped to a property of its own: the description of what is drawn alone.
    _rename: ClassVar[dict[str, str | None]] = dict.fromkeys(["description", "disabled", "label", "value"])

    __abstract = True

    def __init__(self, **params: Any) -> None:
        super().__init__(**{"sizing_mode": "stretch_width", "margin": (2, 10), **params})
        self._ack, self._taking = 0, False
        self._steered: Steered | None = None
        self.held, self.note = self.value, ""
        self.complaint = ""
        self.draw()
        self.param.watch(self._follow, list(self._rename))

    def _follow(self, *events: param.parameterized.Event) -> None:
        if self._steered is None:
            self.held = self.value
        self.settle({event.name for event in events})
        self.draw()

    def steer(self, steered: Steered | None) -> None:
        """Show what a run has, and ask it for changes; None: the field is that of its parameter again."""
        before, self._steered = (self.held, self.note), steered
        self.held, self.note = (self.value, "") if steered is None else (steered.value, PENDING * steered.pending)
        if (self.held, self.note) != before:
            self.settle({"value"} if self.held != before[0] else ())
            self.draw()

    def commit(self, value: Any) -> None:
        """Set the value, or ask for it the run that is steered."""
        if self._steered is None:
            self.value = value
        else:
            self._steered.ask(value)
            self.held = value

    def settle(self, changed: Collection[str]) -> None:
        """Drop what a change of some parameters has made out of date: a new value takes a refused one's place."""
        if "value" in changed:
            self.complaint = ""

    def describe(self) -> dict[str, Any]:
        """Return the form as data for JSON."""
        raise NotImplementedError

    def take(self, message: dict[str, Any]) -> None:
        """Do what a message says; raise ValueError or TypeError with a sentence where that cannot be."""
        raise NotImplementedError

    def draw(self) -> None:
        """Send the browser what is drawn, where that has changed."""
        if not self._taking:
            words = {"label": str(self.label), "help": self.description, "locked": bool(self.disabled)}
            spec = {**words, "error": self.complaint, "note": self.note, **self.describe(), "ack": self._ack}
            if spec != self.spec:
                self.spec = spec

    def receive(self, message: object) -> None:
        """Take a message of the browser and answer it; what is none is left alone."""
        number = message.get("seq") if isinstance(message, dict) else None
        if not isinstance(message, dict) or type(number) is not int or not 0 <= number <= MOST:
            return
        self._taking, self.complaint = True, ""
        try:
            if not self.disabled:
                self.take(message)
        except (TypeError, ValueError) as error:  # TypeError: the parameter has become constant meanwhile
            self.complaint = str(error)
        finally:
            self._taking, self._ack = False, number
            self.draw()

    def _handle_msg(self, data: object) -> None:
        with RESTS:  # a person waits for the answer; runs in other threads would make it take several times as long
            self.receive(data)
