"""Trials: a study of tasks, methods, budgets, noise and seeds, each combination of which gives a row of figures."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import param

from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Table

Row = Mapping[str, Any]
"""A trial: its place on the axes and its figures, by name."""

_REFERENCE = "reference of "
"""How the names of parts begin that several trials need."""
_NOT_FINITE = ("inf", "-inf", "nan")
"""How JSON, which has no numbers for them, holds what is not finite."""


class Trials(Experiment):
    """A study that tries every combination of its axes and tabulates the results.

    ``sizes`` has the values of each axis. A subclass says by ``trial`` what one combination gives, by ``lines`` which
    axes tell the lines of its table apart, and by ``cells`` what stands in a line. A trial depends on its place alone,
    so that a study goes on where it was interrupted.
    """

    __abstract = True

    printed = ""
    lines: ClassVar[tuple[str, ...]]
    """The axes that tell the lines of the table apart."""
    shared: ClassVar[tuple[str, ...]] = ()
    """The axes that ``reference`` depends on, where trials share one."""

    only: param.Dict = param.Dict(default={}, doc="Values of some axes to try in place of those of the size, by axis.")

    @property
    def axes(self) -> dict[str, Sequence[Any]]:
        """The values of each axis that are tried."""
        return {**self.settings, **self.only}

    def parts(self) -> list[str]:
        """Return the names of the references and the trials: their places on the axes as JSON."""
        own = [_name(place) for place in itertools.product(*self.axes.values())]
        return [*dict.fromkeys(one for part in own for one in self.needs(part)), *own]

    def needs(self, part: str) -> list[str]:
        """Return the reference of a trial."""
        if not self.shared or part.startswith(_REFERENCE):
            return []
        place = self._place(part)
        return [_REFERENCE + _name([place[axis] for axis in self.shared])]

    def measure(self, part: str) -> Figures:
        """Return the figures of a reference, or of a trial that needs none."""
        return self.measure_after(part, {})

    def measure_after(self, part: str, needed: Measured) -> Figures:
        """Return the figures of a reference or a trial; the trial is given those of its reference."""
        if part.startswith(_REFERENCE):
            place = json.loads(f"[{part.removeprefix(_REFERENCE)}]")
            return _stored(self.reference(**dict(zip(self.shared, place, strict=True))))
        known = {name: value for one in needed.values() for name, value in _read(one).items()}
        return _stored(self.trial(**self._place(part), **known))

    def reference(self, *args: Any, **place: Any) -> Figures:
        """Return what all trials at a point of the ``shared`` axes are given in common, such as a best known value."""
        raise NotImplementedError

    def trial(self, *args: Any, **place: Any) -> Figures:
        """Return the figures of the trial at a point: one value per axis, by name."""
        raise NotImplementedError

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        """Return a table line's entries for its trials, by column heading."""
        raise NotImplementedError

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        """Yield further lines: what stands in the columns of ``lines``, and the trials that ``cells`` is given."""
        yield from ()

    def claims(self) -> list[Claim]:
        return []

    def rows(self, measured: Measured) -> list[Row]:
        """Return the trials that have been measured."""
        names = (part for part in self.parts() if part in measured and not part.startswith(_REFERENCE))
        return [{**self._place(name), **_read(measured[name])} for name in names]

    def tables(self, measured: Measured) -> list[Table]:
        rows = self.rows(measured)
        lines = [*grouped(rows, *self.lines), *self.totals(rows)]
        cells = [(place, self.cells(own)) for place, own in lines]
        heads = dict.fromkeys(head for _, own in cells for head in own)
        texts = [
            (*(str(place.get(axis, "")) for axis in self.lines), *(own.get(h, "") for h in heads))
            for place, own in cells
        ]
        return [Table(self.subject, (*self.lines, *heads), texts)]

    def _place(self, part: str) -> dict[str, Any]:
        return dict(zip(self.axes, json.loads(f"[{part}]"), strict=True))


def grouped(rows: Sequence[Row], *axes: str) -> list[tuple[Row, list[Row]]]:
    """Return the trials that agree on some axes together, in the order in which they come."""
    groups: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[axis] for axis in axes), []).append(row)
    return [(dict(zip(axes, place, strict=True)), own) for place, own in groups.items()]


def across(rows: Sequence[Row], axis: str, text: Callable[[Sequence[Row]], str]) -> dict[str, str]:
    """Return a cell for each value of an axis: the text of its trials."""
    return {str(place[axis]): text(own) for place, own in grouped(rows, axis)}


def narrowed(trials: type[Trials], size: str, words: Sequence[str]) -> Trials:
    """Return a study whose axes have the values in words such as "method=ZOSQP,COBYQA".

    Raises
    ------
    ValueError
        For an axis that the study does not have, or a value that is of another kind than its own.
    """
    only, axes = {}, trials.sizes[size]
    for word in words:
        name, _, values = word.partition("=")
        if name not in axes or not values:
            raise ValueError(f"Expected AXIS=VALUE,... with one of the axes {', '.join(axes)}, got {word!r}.")
        only[name] = [_value(text, axes[name], name) for text in values.split(",")]
    return trials(size=size, only=only)


def _value(text: str, own: Sequence[Any], axis: str) -> Any:
    """Return the value of an axis that a word means: one of its own, or another number where they are numbers."""
    named = {str(value): value for value in own}
    numbers = [type(value) for value in own if isinstance(value, (int, float)) and not isinstance(value, bool)]
    if text in named:
        return named[text]
    if all(isinstance(value, str) for value in own):
        return text
    if not numbers and None not in own:
        raise ValueError(f"Expected one of {', '.join(named)} for {axis}, got {text!r}.")
    try:
        return numbers[0](text) if numbers else float(text)
    except ValueError as error:
        raise ValueError(f"Expected a number for {axis}, as {', '.join(named)}, got {text!r}.") from error


def _name(place: Sequence[Any]) -> str:
    return json.dumps(place, ensure_ascii=False)[1:-1]


def _stored(value: Any) -> Any:
    """Return a figure as JSON holds it, what is not finite as a word."""
    if isinstance(value, dict):
        return {name: _stored(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_stored(one) for one in value]
    return repr(value) if isinstance(value, float) and not math.isfinite(value) else value


def _read(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _read(one) for name, one in value.items()}
    if isinstance(value, list):
        return [_read(one) for one in value]
    return float(value) if value in _NOT_FINITE else value
