"""A number of a form: its label, a text field, and a logarithmic slider with the ranges of steps that are stable."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import Any, ClassVar

import param

from zoviz.core.parameters import Scale
from zoviz.core.types import Provenance
from zoviz.solvers.step_limits import StepLimits
from zoviz.views.common.form_widget import FormWidget
from zoviz.views.common.number_rule import NumberRule, Value, format_number, short_number

BELOW, ABOVE = 1e-2, 10.0
"""How far a slider reaches around what a rule chooses: longer steps soon diverge, shorter ones only wait."""
RANGES = {"proven": "#4fae7b", "stable": "#d9a62e", "unstable": "#d8584f"}
"""The ranges of a slider, with their colours in ``fields.css``."""
LONGEST = 64
"""Characters of a text that are read."""
_SOURCES = {Provenance.ANALYTIC: "known", Provenance.MEASURED: "measured", Provenance.ASSUMED: "assumed"}


def limits_words(limits: StepLimits) -> str:
    """Return a parameter's limits in words: the theorem's end with its name, the stable one, and what is known."""
    theorem = "" if limits.theorem is None else f"{limits.source} holds up to {limits.theorem:.2g}. "
    return (
        f"{theorem}Locally stable up to {limits.stable:.2g} at the present multipliers; the constants are "
        f"{_SOURCES[limits.provenance]}."
    )


class ParameterRow(FormWidget):
    """A field for a param.Number or param.Integer, with any bounds and with None, and a slider where that makes sense.

    Text that is no valid value stays in the field, above one sentence that says what was expected; the value stays as
    it was. Where None is a value it has a name, ``auto`` or ``none``, and what a rule takes for it stands beside it. A
    typed value is kept exactly; the slider, for log10 of the value, writes three significant digits, and spans the soft
    bounds, or what a hand can do around a rule's choice: from ``BELOW`` to ``ABOVE`` times that. It widens where the
    value lies outside. In a browser it is ``.logslider-<parameter name> input[type=range]``.

    With ``limits`` the slider has the ranges of steps that are proven to converge, stable, and unstable. A value beyond
    the stable ones, and larger than the present one, is asked about until a person has agreed once.

    Use it as ``ParameterRow.from_param(obj.param.step)``. As a widget of ``pn.Param``, which does not tell it of which
    parameter, it is a text field alone.

    Parameters
    ----------
    edited : param.Number, optional
        The parameter whose value it is, and whose bounds are kept; without it any number and None are passed on.
    """

    value = param.Number(default=None, allow_None=True)
    blank = param.String(default="", doc="What None is called; by default as the parameter's metadata say, or auto.")
    suggestion = param.Number(default=None, allow_None=True, doc="What None stands for, where it is known.")
    limits: param.ClassSelector[StepLimits | None] = param.ClassSelector(
        default=None, class_=StepLimits, allow_None=True, doc="How far it may be moved, where that is known."
    )

    _rename: ClassVar[dict[str, str | None]] = {
        **FormWidget._rename,
        **dict.fromkeys(["blank", "suggestion", "limits"]),
    }

    def __init__(self, edited: param.Number | None = None, **params: Any) -> None:
        self._edited = edited
        self._refused: str | None = None  # the text in the field that is no value
        self._asked: float | None = None  # the value that a person is asked about
        self._consent = False
        super().__init__(**params)

    @classmethod
    def from_param(cls, parameter: param.Parameter, **params: Any) -> ParameterRow:
        """Make a row for `parameter` and link the two both ways."""
        return super().from_param(parameter, **{"edited": parameter, **params})

    @classmethod
    def in_row(cls, parameter: param.Parameter, width: int, **params: Any) -> ParameterRow:
        """Make a row of a fixed width, to stand beside others."""
        return cls.from_param(parameter, **{"width": width, "sizing_mode": None, "margin": (4, 10), **params})

    @property
    def _rule(self) -> NumberRule:
        if self._edited is None:
            return NumberRule(optional=True, blank=self._blank)
        return NumberRule.of(self._edited, self._blank)  # each time: bounds may change

    @property
    def _blank(self) -> str:
        metadata = getattr(self._edited, "metadata", None) or {}
        return str(self.blank or metadata.get("blank", "auto"))

    @property
    def slides(self) -> bool:
        """Whether there is a slider: for a magnitude, or a count whose usual range is known."""
        edited = self._edited
        low, _ = (edited.softbounds or (None, None)) if isinstance(edited, param.Integer) else (None, None)
        return isinstance(edited, Scale) or (low is not None and low > 0)

    @property
    def current(self) -> Value:
        """The value, or what None stands for; None where nobody knows."""
        return self._suggested if self.held is None else self.held

    @property
    def _suggested(self) -> Value:
        """What None stands for, as a number of the parameter's kind."""
        if self.suggestion is None:
            return None
        return round(self.suggestion) if isinstance(self._edited, param.Integer) else float(self.suggestion)

    @property
    def text(self) -> str:
        """The text in the field."""
        return self._canonical() if self._refused is None else self._refused

    def _canonical(self) -> str:
        """Return the text for the present value, and for None what a rule takes, where that is known."""
        if self.held is not None:
            return format_number(self.held)
        return self._blank if self._suggested is None else f"auto · {short_number(self._suggested)}"

    @property
    def question(self) -> str:
        """The question whether a value beyond the stable ones is to be set; empty where none is asked."""
        if self._asked is None or self.limits is None:
            return ""
        return f"{self._asked:.3g} exceeds the stability limit {short_number(self.limits.stable)}. Use it anyway?"

    def settle(self, changed: Collection[str]) -> None:
        if "value" in changed:
            self._refused = self._asked = None
        if "limits" in changed and self.limits is None:  # another run has begun: it is asked anew
            self._consent, self._asked = False, None
        super().settle(changed)

    def span(self) -> tuple[float, float]:
        """Return the ends of the slider, as log10."""
        low, high = (None, None) if self._edited is None else self._edited.get_soft_bounds()
        centre = self.current or 1.0
        if self._suggested:
            low, high = self._suggested * BELOW, self._suggested * ABOVE
        low = low if low and low > 0 else min(centre, high or centre) * 1e-4
        high = high if high and high > low else max(centre, low) * 1e4
        least = None if self._edited is None or self._edited.bounds is None else self._edited.bounds[0]
        low = max(low, least or low)
        places = [math.log10(one) for one in (low, high, centre) if one > 0]
        return min(places), max(places)

    def describe(self) -> dict[str, Any]:
        limits, rule = self.limits, self._rule
        numbers = {"value": self.held, "auto": self._suggested if rule.optional else None}
        words = {"help": " ".join(filter(None, [self.description, "" if limits is None else limits_words(limits)]))}
        keep = "" if self.current is None else short_number(self.current)
        ask = [self.question, f"Use {short_number(self._asked or 0.0)}", f"Keep {keep}"] if self.question else []
        look = {"text": self.text, "blank": self._blank if rule.optional else "", "whole": rule.integer}
        name = getattr(self._edited, "name", "")
        return {"kind": "row", "name": name, "slider": self._slider(), "ask": ask, **numbers, **words, **look}

    def _slider(self) -> dict[str, Any] | None:
        """Return ends and place of the slider as log10, and where the ranges end in whole percents; None without one.

        Limits move all the time with the multipliers: whole percents seldom do.
        """
        if not self.slides:
            return None
        low, high = self.span()

        def percent(value: Value) -> int:
            share = (math.log10(value) - low) / max(high - low, 1e-9) if value and value > 0 else 0.0
            return round(100 * min(max(share, 0.0), 1.0))

        current, limits, ends = self.current, self.limits, []
        if limits is not None:
            stable = percent(limits.stable)
            ends = [min(percent(limits.theorem), stable), stable]
        at = math.log10(current) if current and current > 0 else (low + high) / 2
        tick = percent(self._suggested) if self._suggested and self.held is not None else None
        return {"low": low, "high": high, "at": at, "ends": ends, "tick": tick}

    def take(self, message: dict[str, Any]) -> None:
        asked, text = self._asked, message.get("text")
        self.settle({"value"})
        if message.get("do") == "agree" and asked is not None:
            self._consent = True
            self._commit(asked)
        elif isinstance(text, str):
            self._read(text[:LONGEST])
        elif "value" in message:
            self._commit(self._rule.nearest(message["value"]))

    def _read(self, text: str) -> None:
        if text == self._canonical():
            return
        try:
            value = self._rule.read(text)
        except ValueError as error:
            self._refused = text
            raise ValueError(f"{error}: the value stays {self._canonical()}.") from None
        try:
            self._commit(value)
        except (TypeError, ValueError):
            self._refused = text
            raise

    def _commit(self, value: Value) -> None:
        """Set the value, or ask first."""
        if self.limits is not None and value is not None and not self._consent:
            if value > max(self.limits.stable, self.current or 0.0):
                self._asked = value
                return
        # The owner first: pn.Param's link would lose what the owner says against a value, and it refuses a value that
        # equals a soft bound wherever the hard bound is exclusive.
        if self._edited is not None and self._steered is None:
            self._edited.owner.param.update({self._edited.name: value})
        else:
            self.commit(value)
