"""Formats a point for a program, and parses the numbers that the program wrote: text, JSON, or NOMAD's convention."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zoviz.core.errors import OracleError
from zoviz.core.types import Array, Evaluation

OBJECTIVE = ("OBJ",)
CONSTRAINTS = ("PB", "EB", "CSTR", "PEB", "F")
IGNORED = ("CNT_EVAL", "EXTRA_O", "NOTHING", "-", "BBO_UNDEFINED", "STAT_AVG", "STAT_SUM")
"""NOMAD's names of outputs."""
MISSING = ("NA", "N/A", "#N/A", "NAT", "NULL", "NIL", "NONE", "MISSING", "--")
"""Words for no value, as R, spreadsheets, pandas, databases, Python and NumPy print them; in any case of letters."""


@dataclass(frozen=True)
class Outputs:
    """The meaning of a program's outputs, in their order: objective, constraint, or none.

    Attributes
    ----------
    count : int
        How many there are.
    f : int
        Which is the objective.
    h : tuple of int
        Which are the constraints.
    """

    count: int
    f: int
    h: tuple[int, ...]

    @property
    def spelt(self) -> str:
        """The expected outputs, for sentences."""
        return (
            f"{self.count} numbers (f, then {len(self.h)} of h)"
            if self.count == len(self.h) + 1
            else f"{self.count} numbers"
        )


def outputs(types: str | Sequence[str] | None, m: int | None) -> Outputs:
    """Parse NOMAD's names of the outputs; without names f comes first, then h.

    Raises
    ------
    ValueError
        For other names, none or several objectives, another m, or neither names nor m.
    """
    if types is None:
        if m is None:
            raise ValueError(
                "Expected m, the number of constraints, or output_types, got neither: Executable(..., m=2) reads f and "
                "two numbers h, Executable(..., m=0) reads f alone."
            )
        return Outputs(m + 1, 0, tuple(range(1, m + 1)))
    names = [name.upper() for name in (types.split() if isinstance(types, str) else types)]
    unknown = [name for name in names if name not in OBJECTIVE + CONSTRAINTS + IGNORED]
    if unknown or names.count("OBJ") != 1:
        raise ValueError(
            f"Expected output_types with one OBJ, and {', '.join(CONSTRAINTS)} for h <= 0 or {', '.join(IGNORED)} for "
            f"what is ignored, got {' '.join(names)!r}."
        )
    h = tuple(i for i, name in enumerate(names) if name in CONSTRAINTS)
    if m is not None and m != len(h):
        raise ValueError(f"Expected as many constraints as output_types has ({len(h)}), got m = {m}: leave m out.")
    return Outputs(len(names), names.index("OBJ"), h)


def written(x: Array, form: str) -> str:
    """Format a point (n,) as text from which every number is read back to the last bit."""
    if form == "json":
        return json.dumps(x.tolist()) + "\n"
    return (" " if form == "nomad" else "\n").join(map(repr, x.tolist())) + "\n"


def read(text: str, form: str, outputs: Outputs, where: str) -> Evaluation:
    """Parse the value f, h that the program wrote.

    Parameters
    ----------
    text : str
    form : str
        "text": numbers between spaces, commas or ends of lines; "nomad": so, on the first line; "json": a list of
        numbers, or an object with f and h.
    wanted : Outputs
    where : str
        For sentences.

    Raises
    ------
    OracleError
        For anything but as many numbers as are wanted.
    """
    if form == "json":
        items = _items(text, where)
    else:
        line = text.split("\n", 1)[0] if form == "nomad" else text
        items = line.replace(",", " ").replace(";", " ").split()
    if len(items) != outputs.count:
        raise OracleError(f"Expected {outputs.spelt} {where}, got {len(items)}: {_short(text)}.")
    f, *h = [_number(items[i], where) for i in (outputs.f, *outputs.h)]
    return Evaluation(np.array(f), np.array(h, dtype=float))


def _items(text: str, where: str) -> list[Any]:
    try:
        items = json.loads(text)
    except ValueError as error:
        raise OracleError(f"Expected JSON {where}, got {_short(text)} ({error}).") from None
    if isinstance(items, dict) and "f" in items:
        h = items.get("h", [])
        return [items["f"], *(h if isinstance(h, list) else [h])]
    if isinstance(items, list):
        return items
    raise OracleError(f'Expected a list of numbers or {{"f": number, "h": [numbers]}} {where}, got {_short(text)}.')


def _number(item: Any, where: str) -> float:
    """Parse a number, Fortran's 1.0D+00 too; NaN for JSON's null, and for the words that stand for no value."""
    if item is None or (isinstance(item, str) and item.upper() in MISSING):
        return float("nan")
    try:
        if isinstance(item, str):
            return float(item.upper().replace("D", "E"))
        if isinstance(item, (int, float)) and not isinstance(item, bool):
            return float(item)
    except (ValueError, OverflowError):
        pass
    raise OracleError(f"Expected numbers {where}, got {_short(str(item))}.")


def _short(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 80 else text[:77] + "...")
