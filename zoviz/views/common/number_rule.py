"""Numbers as text: how they are written, what a text field takes, and why it takes no other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeAlias

import numpy as np
import param

Value: TypeAlias = int | float | None


def format_number(value: Value) -> str:
    """Return the shortest text that reads back as exactly `value`; ``"auto"`` for None."""
    if value is None:
        return "auto"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if value == 0 or 1e-3 <= abs(value) < 1e6:
        return np.format_float_positional(value, trim="-")
    return np.format_float_scientific(value, trim="-", exp_digits=1).replace("e+", "e")


def short_number(value: float) -> str:
    """Return a number with three significant digits, as few characters as that takes."""
    return format_number(value if isinstance(value, int) else float(f"{value:.3g}"))


def _is_finite(value: int | float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # a whole number that is too large for a float
        return False


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
        word = text.strip().lower()
        if self.optional and (word in ("", "none", self.blank) or word.partition(" ")[0] == "auto"):
            return None
        return self.judge(self._number(text), text)

    def judge(self, value: int | float, text: str) -> int | float:
        """Return a number that is within the bounds.

        Raises ValueError if it is not what :meth:`expected` says, for which `text` was given.
        """
        above = self.low is None or value > self.low or (self.closed[0] and value == self.low)
        below = self.high is None or value < self.high or (self.closed[1] and value == self.high)
        if not (_is_finite(value) and above and below):
            raise ValueError(f"Expected {self.expected()}, got {repr(text) if text else 'nothing'}")
        return value

    def nearest(self, value: object) -> Value:
        """Return the number within the bounds that is nearest to what a browser sent for the place of a handle.

        Raises ValueError where that is no finite number.
        """
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not _is_finite(value):
            raise ValueError(f"Expected {self.expected()}, got a {type(value).__name__} that is none")
        value = round(value) if self.integer else float(value)
        value = value if self.low is None else max(value, self.low)
        value = value if self.high is None else min(value, self.high)
        return self.judge(value, format_number(value))

    def _number(self, text: str) -> int | float:
        try:
            if not self.integer:
                return float(text)
            whole = Decimal(text)
            return int(whole) if whole % 1 == 0 else math.nan
        except (ValueError, ArithmeticError):
            return math.nan
