"""Parameter kinds that zoviz adds to Param."""

from __future__ import annotations

import math
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar, cast

import param

T = TypeVar("T")

ABSENT: dict[str, str] = {"blank": "none"}
"""The metadata of a parameter whose None means that there is no such thing (a limit, a known optimum), and forms call
it so; of all others None leaves the choice to a rule or to the problem, and forms call it auto."""

UP_TO_N: dict[str, str] = {"most": "n"}
"""The metadata of a count of which no more than the number of variables is used, however large it is."""


def value_words(value: Any, digits: int = 3) -> str:
    """Return a value of a parameter as captions and lists have it, a fraction with a number of significant digits."""
    if value is None or isinstance(value, bool):
        return {None: "auto", True: "on", False: "off"}[value]
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


class Scale(param.Number[Any]):
    """A positive magnitude (step, radius, penalty) that lives on a logarithmic axis.

    The value is a finite number within the hard ``bounds`` (by default [1e-12, 1e9]); ``softbounds`` are the ends of
    its slider. None, where allowed, means "chosen by the solver's rule when the run starts".

    Raises
    ------
    ValueError
        For anything that is not a finite number within the bounds: the sentence says what was expected and got.
    """

    def __init__(
        self,
        default: float | None = 1.0,
        *,
        bounds: tuple[float, float] = (1e-12, 1e9),
        softbounds: tuple[float, float] = (1e-6, 1e2),
        allow_None: bool = False,  # noqa: N803 - Param's own spelling
        doc: str | None = None,
        label: str | None = None,
    ) -> None:
        super().__init__(
            default=default,
            bounds=bounds,
            softbounds=softbounds,
            allow_None=allow_None or default is None,
            doc=doc,
            label=label,
        )

    if not TYPE_CHECKING:
        # A number of Param's may be a generator of numbers, which every reading asks after, three calls deep. A scale
        # is none, and solvers read some in every step.
        __get__ = param.Parameter.__get__

    def _validate_value(self, val: Any, allow_None: bool) -> None:  # noqa: N803
        if val is None and allow_None:
            return
        low, high = self.bounds or (0.0, math.inf)
        good = isinstance(val, Real) and not isinstance(val, bool) and math.isfinite(val)
        if not good or not low <= val <= high:
            automatic = ", or None for the solver's own rule" if allow_None else ""
            raise ValueError(f"Expected {self.name} a number from {low:g} to {high:g}{automatic}; got {val!r}.")


class PlainNumber(param.Number[T]):
    """A number that is no generator of numbers, and is read without asking whether it is, like a ``Scale``."""

    if not TYPE_CHECKING:
        __get__ = param.Parameter.__get__


class PlainInteger(param.Integer[T]):
    """An integer that is no generator of integers, and is read without asking whether it is, like a ``Scale``."""

    if not TYPE_CHECKING:
        __get__ = param.Parameter.__get__


class Interval(param.Parameter[Any]):
    """A positive number of seconds, or one of the ``words`` that stand for a rule.

    Raises
    ------
    ValueError
        For anything else: the sentence says what was expected and got.
    """

    __slots__ = ["words"]

    def __init__(
        self,
        default: float | str = 1.0,
        *,
        words: tuple[str, ...] = (),
        doc: str | None = None,
        label: str | None = None,
        precedence: float | None = None,
        metadata: dict[str, str] | None = None,
    ) -> None:
        self.words = words
        super().__init__(default=default, doc=doc, label=label, precedence=precedence, metadata=metadata)
        self._validate(default)

    def _validate(self, val: Any) -> None:
        number = isinstance(val, Real) and not isinstance(val, bool)
        if (number and math.isfinite(val) and val > 0) or (isinstance(val, str) and val in self.words):
            return
        words = "".join(f" or {word!r}" for word in self.words)
        raise ValueError(f"Expected {self.name} a positive number of seconds{words}, got {val!r}.")


class Part(param.ClassSelector[T]):
    """An object of ``class_`` that its owner works with, e.g. a solver's estimator.

    Every owner gets a copy of ``default`` of its own, so that no two of them share a part. Other than Param's own
    selector of objects it cannot be set to None, and a type checker knows that it is there.

    Parameters
    ----------
    class_ : type, or tuple of types
        What the part may be.
    default : object, optional
        What is copied for an owner that is made without a part; by default that of the parameter that this one
        overrides. Without any, the owner's constructor must see to it that there is a part.

    Raises
    ------
    ValueError
        For anything that is not an object of the class: the sentence says what was expected and got.
    """

    def __init__(
        self,
        class_: type[T] | tuple[type[T], ...],
        *,
        default: T | None = None,
        label: str | None = None,
        doc: str | None = None,
    ) -> None:
        # What is left open is not passed on: Param then takes it from the parameter that this one overrides.
        stated: dict[str, Any] = {"default": default, "label": label, "doc": doc}
        stated = {name: value for name, value in stated.items() if value is not None}
        super().__init__(class_=cast(Any, class_), allow_None=param.parameters.NoNone, instantiate=True, **stated)

    def _validate_class_(self, val: Any, class_: Any, is_instance: bool) -> None:
        declared_without = val is None and self.owner is None
        if not declared_without and not isinstance(val, class_):
            names = " or ".join(one.__name__ for one in (class_ if isinstance(class_, tuple) else (class_,)))
            raise ValueError(f"Expected {self.name} an object of {names}, got {val!r}.")
