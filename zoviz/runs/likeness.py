"""Whether an object may stand in for one that was stored."""

from __future__ import annotations

from typing import Any

from zoviz.core.types import ZovizError
from zoviz.runs.recipe import TAGS


def check_same(stored: Any, given: Any, place: str) -> None:
    """Check that an object that is ``given`` in the place of a stored one is described as that was.

    What could not be named may be anything; executors do not count.

    Raises
    ------
    ZovizError
        With the first difference.
    """
    if any(isinstance(one, dict) and {"unnamed", "omitted"} & one.keys() for one in (stored, given)):
        return
    if isinstance(stored, dict) and isinstance(given, dict) and stored.keys() == given.keys():
        for name, value in stored.items():
            check_same(value, given[name], place if name in (*TAGS, "values") else f"{place}.{name}")
    elif isinstance(stored, list) and isinstance(given, list) and len(stored) == len(given):
        for i, (one, other) in enumerate(zip(stored, given, strict=True)):
            check_same(one, other, f"{place}[{i}]")
    elif stored != given:
        raise ZovizError(f"Expected {place} as it was stored, {stored!r:.80}, got {given!r:.80}.")
