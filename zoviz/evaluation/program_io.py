"""Formats a point for a program, and parses the numbers that the program wrote: text, JSON, or NOMAD's convention."""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from zoviz.core.errors import OracleError
from zoviz.core.types import Array, Evaluation

OBJECTIVE = ("OBJ",)
BARRIERS = ("EB",)
CONSTRAINTS = (*BARRIERS, "PB", "CSTR", "PEB", "F")
IGNORED = ("CNT_EVAL", "EXTRA_O", "NOTHING", "-", "BBO_UNDEFINED", "STAT_AVG", "STAT_SUM")
"""NOMAD's names of outputs."""
MISSING = ("NA", "N/A", "#N/A", "NAT", "NULL", "NIL", "NONE", "MISSING", "--")
"""Words for no value, as R, spreadsheets, pandas, databases, Python and NumPy print them; in any case of letters."""


_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_BARE_EXPONENT = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?=[+-]\d{3}$)")
"""The digits of 1.5-103: Fortran leaves the letter out of an exponent of three digits."""


class BarrierViolated(OracleError):
    """Raised where a program's output says that its other outputs mean nothing."""


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
    barriers : tuple of int
        Which of these may not be violated: where one is, the point has no value.
    """

    count: int
    f: int
    h: tuple[int, ...]
    barriers: tuple[int, ...] = ()

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
    return Outputs(len(names), names.index("OBJ"), h, tuple(i for i in h if names[i] in BARRIERS))


def decoded(data: bytes) -> str:
    """Decode what a program wrote: UTF-8, or what a byte order mark says; UTF-16 without a mark, too."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    if encoding == "utf-8" and len(data) > 1 and (data[0] == 0) != (data[1] == 0):
        encoding = "utf-16-be" if data[0] == 0 else "utf-16-le"
    # At the end MS-DOS's mark of it, and zeros that filled a record.
    return data.decode(encoding, errors="replace").rstrip("\x1a\0")


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
    BarrierViolated
        Where a constraint that may not be violated is.
    """
    if form == "json":
        items = _items(text, where)
    else:
        line = next(filter(str.strip, text.splitlines()), "") if form == "nomad" else text
        items = line.replace(",", " ").replace(";", " ").split()
    if len(items) != outputs.count:
        raise OracleError(f"Expected {outputs.spelt} {where}, got {len(items)}: {_short(text)}.")
    f, *h = [_number(items[i], where) for i in (outputs.f, *outputs.h)]
    for i, row in zip(outputs.h, h, strict=True):
        if i in outputs.barriers and row > 0:
            raise BarrierViolated(f"Expected output {i + 1}, an EB, to be at most 0, got {row:g}: there is no value.")
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
            return float(_BARE_EXPONENT.sub(r"\g<0>E", item.upper().replace("D", "E")))
        if isinstance(item, (int, float)) and not isinstance(item, bool):
            return float(item)
    except (ValueError, OverflowError):
        pass
    raise OracleError(f"Expected numbers {where}, got {_short(str(item))}.")


def _short(text: str) -> str:
    text = text.strip()
    return repr(text if len(text) <= 80 else text[:77] + "...")
