"""Widgets for numbers: a text field that explains what it refuses, and a log slider.

A value moves both ways: from the handle through the widget and the public solver to the run's worker, and from the
worker's journal back (a schedule, a replay, another page). Five guards keep it from echoing:

1. ``Steering`` ignores changes that its own ``follow`` makes, which come from the journal: they are the worker's.
2. ``Steering.follow`` waits while something is on its way to the worker: the journal is then behind the public solver.
3. ``LogSlider`` takes a handle that stands where the value belongs for its own doing: a typed value keeps its digits.
4. ``LogSlider`` leaves a handle alone that is less than a tenth of a step off: the value has three digits only, and
   moving the handle to it would fight the pointer.
5. ``update_changed`` sends the browser nothing that it has already.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

import numpy as np
import panel as pn
import panel_material_ui as pmui
import param
from bokeh.models import CustomJSTickFormatter
from panel.custom import PyComponent
from panel.widgets.base import WidgetBase

from zoviz.core.parameters import Scale
from zoviz.core.types import Provenance
from zoviz.solvers.step_limits import StepLimits
from zoviz.views.common.panel_internals import linked_parameter
from zoviz.views.common.search_list import SearchList
from zoviz.views.common.style import FIELD, muted_html, note, tooltip, update_changed

Value: TypeAlias = int | float | None
BELOW, ABOVE = 1e-2, 10.0
"""How far a slider reaches around what a rule chooses: longer steps soon diverge, shorter ones only wait."""

STYLE: dict[str, Any] = {"stylesheets": [FIELD], "size": "small", "sizing_mode": "stretch_width"}


def format_number(value: Value) -> str:
    """Return the shortest text that reads back as exactly `value`; ``"auto"`` for None."""
    if value is None:
        return "auto"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return np.format_float_positional(value, trim="-")
    return np.format_float_scientific(value, trim="-", exp_digits=1).replace("e+", "e")


@dataclass(frozen=True)
class NumberRule:
    """A rule for numbers in a text field: type, bounds, and whether None is allowed and under which name."""

    low: float | None = None
    high: float | None = None
    closed: tuple[bool, bool] = (True, True)
    integer: bool = False
    optional: bool = False
    blank: str = "auto"

    @classmethod
    def of(cls, parameter: param.Number, blank: str = "auto") -> NumberRule:
        """Read the rule of a param.Number or param.Integer: its hard bounds, not the soft ones."""
        (low, high), (floor, ceiling) = parameter.bounds or (None, None), parameter.inclusive_bounds
        return cls(low, high, (floor, ceiling), isinstance(parameter, param.Integer), bool(parameter.allow_None), blank)

    def expected(self) -> str:
        """Say in words what is accepted, as in ``a whole number from 1 to 4096``."""
        low, high = format_number(self.low), format_number(self.high)
        floor = f"of at least {low}" if self.closed[0] else f"above {low}"
        ceiling = f"of at most {high}" if self.closed[1] else f"below {high}"
        if self.low is not None and self.high is not None and all(self.closed):
            bounds = f"from {low} to {high}"
        else:
            limits = ((floor, self.low), (ceiling, self.high))
            bounds = " and ".join(words for words, limit in limits if limit is not None)
        kind, blank = "a whole number" if self.integer else "a number", f"or '{self.blank}'" if self.optional else ""
        return " ".join(words for words in (kind, bounds, blank) if words)

    def read(self, text: str) -> Value:
        """Read ``"1e-5"``, ``"10000"``, ``"1_000"``; where None is a value, it is empty, ``"auto"`` or ``"none"``.

        Raises ValueError if the text is not what :meth:`expected` says.
        """
        if self.optional and text.strip().lower().partition(":")[0] in ("", "auto", "none"):
            return None
        value = self._number(text)
        above = self.low is None or value > self.low or (self.closed[0] and value == self.low)
        below = self.high is None or value < self.high or (self.closed[1] and value == self.high)
        if not (math.isfinite(value) and above and below):
            raise ValueError(f"Expected {self.expected()}, got {repr(text) if text else 'nothing'}")
        return value

    def _number(self, text: str) -> int | float:
        try:
            if not self.integer:
                return float(text)
            whole = Decimal(text)
            return int(whole) if whole % 1 == 0 else math.nan
        except (ValueError, ArithmeticError):
            return math.nan


class NumberField(PyComponent, WidgetBase):
    """A text field for a param.Number or param.Integer, with any bounds and with None.

    Text that is no valid value stays in the field, above one sentence that says what was expected; the value stays
    as it was. Use it as ``pn.Param(obj, widgets={"n": NumberField})`` or ``NumberField.from_param(obj.param.n)``.
    Without a Parameter it takes any finite number and None.
    """

    value = param.Number(default=None, allow_None=True)
    description = param.String(default="", doc="Tooltip of the label.")
    disabled = param.Boolean(default=False)
    blank = param.String(default="auto", doc="What None is called.")
    suggestion = param.Number(default=None, allow_None=True, doc="What None stands for, where it is known.")
    start = param.Number(default=None, allow_None=True, doc="Soft lower bound.")
    end = param.Number(default=None, allow_None=True, doc="Soft upper bound.")

    _parameter: param.Parameter | None = None

    def __init__(self, **params: Any) -> None:
        super().__init__(**{"sizing_mode": "stretch_width", **params})
        self.text_input = pmui.TextInput(variant="standard", margin=0, **STYLE)
        self._show()
        self.text_input.param.watch(lambda event: self._read(event.new), "value")
        self.param.watch(self._show, ["value", "label", "description", "disabled", "suggestion"])

    @classmethod
    def from_param(cls, parameter: param.Parameter, **params: Any) -> NumberField:
        """Make a field for `parameter` and link the two both ways."""
        widget = super().from_param(parameter, **params)
        widget._parameter = parameter
        return widget

    def _edited(self) -> param.Parameter | None:
        """Find the Parameter late: pn.Param names it after construction, and its bounds may change."""
        return linked_parameter(self) if self._parameter is None else self._parameter

    def _rule(self) -> NumberRule:
        edited = self._edited()
        return NumberRule.of(edited, self.blank) if isinstance(edited, param.Number) else NumberRule(optional=True)

    def _read(self, text: str) -> None:
        if text == self._canonical():
            return self._say("")
        try:
            value = self._rule().read(text)
        except ValueError as error:
            return self._say(f"{error}: the value stays {self._canonical()}.")
        return self._commit(value)

    def _commit(self, value: Value) -> None:
        edited = self._edited()
        try:
            # The owner first: pn.Param's link would lose what the owner says against a value, and it refuses a
            # value that equals a soft bound wherever the hard bound is exclusive.
            if edited is not None:
                edited.owner.param.update({edited.name: value})
            self.value = value
        except (TypeError, ValueError) as error:  # TypeError: it became constant meanwhile
            return self._say(str(error))
        return self._show()

    def _canonical(self) -> str:
        """Return the text for the present value, and for None what a rule takes, where that is known."""
        if self.value is None and self.suggestion is not None:
            return f"auto: {self.suggestion:.3g}"
        return self.blank if self.value is None else format_number(self.value)

    @property
    def _explanation(self) -> str:
        """What the tooltip of the label says."""
        return str(self.description)

    @property
    def complaint(self) -> str:
        """The sentence why the text in the field is no value of its parameter; empty where it is one."""
        return str(self.text_input.helper_text) if self.text_input.error_state else ""

    def _say(self, complaint: str) -> None:
        self.text_input.param.update(error_state=bool(complaint), helper_text=complaint)

    def _show(self, *events: param.parameterized.Event) -> None:
        self.text_input.param.update(label=self.label, description=tooltip(self._explanation), disabled=self.disabled)
        if not events or any(event.name in ("value", "suggestion") for event in events):
            self.text_input.param.update(value=self._canonical(), error_state=False, helper_text="")

    def __panel__(self) -> pn.viewable.Viewable:
        return pn.Column(self.text_input, margin=(2, 10), sizing_mode="stretch_width")


_SOURCES = {Provenance.ANALYTIC: "known", Provenance.MEASURED: "measured", Provenance.ASSUMED: "assumed"}


def limits_words(limits: StepLimits) -> str:
    """Return a parameter's limits in words: the theorem's end with its name, the stable one, and what is known."""
    theorem = "" if limits.theorem is None else f"{limits.source} holds up to {limits.theorem:.2g}. "
    return (
        f"{theorem}Locally stable up to {limits.stable:.2g} at the present multipliers; the constants are "
        f"{_SOURCES[limits.provenance]}."
    )


def bands(limits: StepLimits, start: float, end: float) -> str:
    """Return the colours of a slider's rail from 10^start to 10^end, with the limits' bands in whole percents."""

    def place(value: float) -> int:
        share = (math.log10(value) - start) / max(end - start, 1e-9) if value > 0 else 0.0
        return round(100 * min(max(share, 0.0), 1.0))

    stable = place(limits.stable)
    theorem = 0 if limits.theorem is None else min(place(limits.theorem), stable)
    return f"linear-gradient(to right, #2e9e5b 0 {theorem}%, #b48a00 {theorem}% {stable}%, #b3261e {stable}% 100%)"


_RAIL = """
.MuiSlider-rail {height: 6px; opacity: 1; background: var(--zoviz-bands)}
.MuiSlider-track {height: 2px; border: none}
"""


class StepQuestion(pn.viewable.Viewer):
    """A question under a field, whether a value beyond the stable end is to be set; asked until it was once agreed to.

    Parameters
    ----------
    agree : callable
        Is given the value where a person wants it.
    decline : callable
        Called where not.

    Attributes
    ----------
    consent : bool
        Whether a person has agreed since ``forget``.
    """

    def __init__(self, agree: Callable[[float], object], decline: Callable[[], object]) -> None:
        super().__init__()
        self._agree, self._decline, self.consent = agree, decline, False
        self._value = math.nan
        self._column = pn.Column(visible=False, sizing_mode="stretch_width", margin=0)
        self._words: pn.pane.HTML | None = None

    def __panel__(self) -> pn.viewable.Viewable:
        return self._column

    @property
    def open(self) -> bool:
        """Whether it is being asked."""
        return bool(self._column.visible)

    def ask(self, value: float, stable: float) -> None:
        """Ask whether a value is to be set."""
        self._value = value
        sentence = muted_html(f"{value:.3g} is beyond {stable:.2g}, where the iteration ceases to be stable. Set it?")
        if self._words is None:  # most fields never ask: a page opens without their buttons
            self._words = note(sentence, margin=0, sizing_mode="stretch_width")
            look: dict[str, Any] = {"size": "small", "variant": "outlined", "margin": (2, 6, 2, 0)}
            yes = pmui.Button(label="Set it", on_click=lambda _: self.agree(), **look)
            no = pmui.Button(label="Keep the old", on_click=lambda _: self.decline(), **look)
            self._column.objects = [self._words, pn.Row(yes, no, margin=0)]
        update_changed(self._words, object=sentence)
        update_changed(self._column, visible=True)

    def agree(self) -> None:
        """Set the value, and ask no more."""
        self.consent = True
        self.close()
        self._agree(self._value)

    def decline(self) -> None:
        """Leave the value as it is."""
        self.close()
        self._decline()

    def close(self) -> None:
        """Take the question away."""
        update_changed(self._column, visible=False)

    def forget(self) -> None:
        """Ask anew from now on: another run has begun."""
        self.consent = False
        self.close()


class LogSlider(NumberField):
    """A NumberField above a slider for log10 of the value, for positive magnitudes.

    The slider spans the soft bounds (else four decades either side of the value), and where a rule has a ``suggestion``
    what a hand can do around it: from ``BELOW`` to ``ABOVE`` times it, so that no drag throws a run off. It widens
    where a value lies outside, and writes three significant digits. A typed value is kept exactly. The handle is
    ``.logslider-<parameter name> input[type=range]``.

    With ``limits`` the rail is green up to the theorem's end, amber up to the stable one and red beyond it; a value
    beyond that, and larger than the present one, is asked about once before it is set.

    Attributes
    ----------
    question : StepQuestion
    """

    limits: param.ClassSelector[StepLimits | None] = param.ClassSelector(
        default=None, class_=StepLimits, allow_None=True, doc="How far it may be moved, where that is known."
    )
    per_decade = param.Integer(default=20, bounds=(1, None), doc="Slider steps per decade.")

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        low, high = self._span()
        # A neutral label: the parameter's own must lead to one control only, the number field.
        options = {"label": "Log scale", "show_value": False, "tooltips": False, "step": 1 / self.per_decade}
        self.slider = pmui.FloatSlider(start=low, end=high, value=(low + high) / 2, margin=0, **options, **STYLE)
        self.slider.format = CustomJSTickFormatter(code="return (10**tick).toPrecision(3)")
        self.question = StepQuestion(super()._commit, self._take_back)
        self._parts = pn.Column(self.text_input, self.slider, margin=(2, 10), sizing_mode="stretch_width")
        self._fit()
        self.slider.param.watch(lambda event: self._slide(event.new), "value")
        self.param.watch(self._fit, ["value", "start", "end", "disabled", "suggestion"])
        self.param.watch(lambda event: self._limit(event.new), "limits")

    def _limit(self, limits: StepLimits | None) -> None:
        """Draw the limits, and say them in the tooltip."""
        if limits is None:
            self.question.forget()
        self._draw_bands()
        update_changed(self.text_input, description=tooltip(self._explanation))

    @property
    def _explanation(self) -> str:
        return " ".join(filter(None, [super()._explanation, "" if self.limits is None else limits_words(self.limits)]))

    def _draw_bands(self) -> None:
        """Colour the rail by the limits.

        The bands move by a property of its style: for a new style sheet all models of the page are counted anew.
        """
        styles = {"opacity": "0.45" if self.value is None else "1"}
        if self.limits is not None:
            styles["--zoviz-bands"] = bands(self.limits, self.slider.start, self.slider.end)
        sheets = [FIELD] if self.limits is None else [FIELD, _RAIL]
        update_changed(self.slider, styles=styles, stylesheets=sheets)

    def _commit(self, value: Value) -> None:
        current = self.suggestion if self.value is None else self.value
        stable = math.inf if self.limits is None else max(self.limits.stable, current or 0.0)
        if value is not None and value > stable and not self.question.consent:
            if len(self._parts) < 3:  # most fields never ask: a page opens without its place
                self._parts.append(self.question)
            return self.question.ask(value, stable)
        self.question.close()
        return super()._commit(value)

    def _take_back(self) -> None:
        """Show the value that stays, in the field and at the handle."""
        self._show()
        self.slider.value = self._place()

    def _span(self) -> tuple[float, float]:
        if self.suggestion is not None and self.suggestion > 0:
            return math.log10(self.suggestion * BELOW), math.log10(self.suggestion * ABOVE)
        centre = self.value or 1.0
        low = self.start if self.start and self.start > 0 else min(centre, self.end or centre) * 1e-4
        high = self.end if self.end and self.end > low else max(centre, low) * 1e4
        return math.log10(low), math.log10(high)

    def _place(self) -> float:
        """Return where the handle belongs: log10 of the value, or where it is without a positive value."""
        value = self.suggestion if self.value is None else self.value
        return math.log10(value) if value and value > 0 else self.slider.value

    def _fit(self, *events: param.parameterized.Event) -> None:
        """Move the slider to value and range, and leave alone what already agrees with them."""
        slider, place = self.slider, self._place()
        new_span = any(event.name in ("start", "end", "suggestion") for event in events)
        low, high = self._span() if new_span else (slider.start, slider.end)
        # Guard 4: a dragged handle gives a rounded value.
        place = slider.value if abs(place - slider.value) < 0.1 / self.per_decade else place
        slider.param.update(start=min(low, place), end=max(high, place), value=place, disabled=self.disabled)
        self._draw_bands()

    def _slide(self, place: float) -> None:
        current = self.suggestion if self.value is None else self.value
        if current is not None and place == self._place():  # guard 3: set by _fit
            return
        place = min(max(place, -300.0), 300.0)  # a browser may send any integer, whose power would take for ever
        rule, value = self._rule(), float(f"{10**place:.2e}")
        value = value if rule.low is None else max(value, rule.low)
        self._commit(value if rule.high is None else min(value, rule.high))

    def __panel__(self) -> pn.viewable.Viewable:
        name = getattr(self._edited(), "name", None)
        self.slider.css_classes = ["logslider", f"logslider-{name}"] if name else ["logslider"]
        return self._parts


def widget_for(parameter: param.Parameter) -> dict[str, Any]:
    """Return the entry for `widgets` of pn.Param: ``{"type": class, option: value, ...}``; empty for Panel's choice."""
    common = {"margin": (2, 10), "description": tooltip(parameter.doc), **STYLE}
    if isinstance(parameter, param.Selector) and not isinstance(parameter, param.ListSelector):
        return {"type": SearchList, "wide": False}
    if isinstance(parameter, param.Boolean) and parameter.allow_None:  # a switch would show None as off
        return {"type": SearchList, "wide": False}
    if isinstance(parameter, param.Boolean):
        return {"type": pmui.Switch, **common}
    if isinstance(parameter, param.Number):
        blank = (parameter.metadata or {}).get("blank", "auto")
        return {"type": LogSlider} if isinstance(parameter, Scale) else {"type": NumberField, "blank": blank}
    if isinstance(parameter, param.String):
        return {"type": pmui.TextInput, "variant": "standard", **common}
    return {}
