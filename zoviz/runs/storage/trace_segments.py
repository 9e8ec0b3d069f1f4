"""Converts a trace into stored segments of new rows, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.encoding.binary import pack, unpack
from zoviz.core.types import Array
from zoviz.runs.engine.columns import ITERATION
from zoviz.runs.engine.trace import Snapshot, Trace, belonging
from zoviz.runs.storage.schema import sealed

_GARBAGE = 2
"""A trace is written anew once its segments hold this multiple of its capacity, most of them thinned rows."""


class Place(NamedTuple):
    """The stored position of a trace: the last iteration, the number of segments, the rows in them."""

    last: int = -1
    segments: int = 0
    rows: int = 0


class News(NamedTuple):
    """A segment of a trace to write; ``replace`` deletes earlier ones first, ``place`` is the position after it."""

    values: dict[str, Any]
    replace: bool
    place: Place


def news(kind: str, trace: Trace, place: Place) -> News | None:
    """Return the segment of a trace that is not stored yet; None where there is nothing new."""
    now = trace.snapshot()
    if not now.rows:
        return None
    iteration = now.columns[ITERATION]
    first = int(np.searchsorted(iteration, place.last, side="right"))
    if first == now.rows:
        return None
    replace = place.rows + now.rows - first > _GARBAGE * trace.capacity
    first, number, held = (0, 0, 0) if replace else (first, place.segments, place.rows)
    data = pack({name: column[first:] for name, column in now.columns.items()})
    values = {"kind": kind, "number": number, "rows": now.rows - first, "stride": _stride(now)}
    return News(values | sealed(data), replace, Place(int(iteration[-1]), number + 1, held + now.rows - first))


def _stride(now: Snapshot) -> int:
    """Of this very snapshot: the trace's own may have doubled since."""
    return 1 << now.epoch


def assemble(segments: Iterable[tuple[int, bytes]], capacity: int) -> Trace:
    """Make the stored trace from the strides and data of its segments in order."""
    parts, stride = [], 1
    for stride, data in segments:  # noqa: B007 - the last one counts
        parts.append(unpack(data))
    columns = _joined(parts)
    if not columns:
        return Trace(capacity)
    keep = belonging(columns[ITERATION], stride, capacity)
    keep[-1] = True
    return Trace.holding({name: column[keep] for name, column in columns.items()}, capacity, stride)


def _joined(parts: list[dict[str, Array]]) -> dict[str, Array]:
    """Join tables; a column that came later is NaN before."""
    shapes = {name: column.shape[1:] for part in parts for name, column in part.items()}
    out = {}
    for name, shape in shapes.items():
        pieces = [part.get(name, np.full((len(part[ITERATION]), *shape), np.nan)) for part in parts]
        out[name] = np.concatenate(pieces)
    return out
