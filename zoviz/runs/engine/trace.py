"""The trace of a run: bounded columns, one writer, many readers."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import IO, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.runs.engine.columns import ITERATION

CAPACITY = 4096
"""Rows that a trace holds before it drops some: more than a plot has pixels."""
_SHARE = 128
"""The rows kept for every doubling of the iterations, for logarithmic axes, are the capacity over this: 32 of 4096, or
106 a decade. They are a seventh of all rows after 10^9 iterations, and never more than half."""


class Snapshot(NamedTuple):
    """A consistent view of a trace.

    Attributes
    ----------
    columns : mapping of str to Array
        ``iteration`` and ``seconds`` of shape (rows,); every other column (rows, R), or (rows, R, j) for vectors.
        The arrays must not be written to.
    rows : int
    epoch : int
        Grows whenever rows were thinned, so that a reader knows that earlier rows moved.
    """

    columns: Mapping[str, Array]
    rows: int
    epoch: int


def belonging(iterations: Array, stride: int, capacity: int) -> np.ndarray:
    """Return which rows (rows,) a trace of this stride and capacity keeps, by their iterations (rows,).

    It keeps even rows, at multiples of the stride, and a number of rows for every doubling of the iterations, which all
    are equally wide on a logarithmic axis: those at multiples of a power of two, the same on every machine, and among
    the even ones later on.
    """
    bits, whole = _bits_per_doubling(capacity), iterations.astype(np.int64)
    shift = np.maximum(np.frexp(iterations)[1] - bits, 0)  # whose second is the number of bits of a whole number
    return np.asarray((whole % stride == 0) | ((bits > 0) & (whole % (np.int64(1) << shift) == 0)))


def _bits_per_doubling(capacity: int) -> int:
    """Return the number of bits of how many rows are kept for every doubling of the iterations; 0 where none are."""
    return (capacity // _SHARE).bit_length()


class _Table(NamedTuple):
    columns: dict[str, Array]
    epoch: int


class Trace:
    """A table of rows, of which some are dropped whenever ``capacity`` rows are full: a run may go on for ever.

    Rows are kept at a stride, which then doubles, and at a geometric spacing beside it, so that a logarithmic axis
    shows the beginning of any run; see ``belonging``.

    One thread appends; any thread may take a snapshot at any time. Rows once written never change: thinning writes a
    new table and publishes it in one assignment.

    Parameters
    ----------
    capacity : int
        Even, at least 4.
    """

    def __init__(self, capacity: int = CAPACITY) -> None:
        if capacity < 4 or capacity % 2:
            raise ValueError(f"Expected an even capacity of at least 4, got {capacity}.")
        self.capacity = capacity
        self.stride, self._bits = 1, _bits_per_doubling(capacity)
        self._published: tuple[_Table, int] = (_Table({}, 0), 0)
        self._last = -1
        self._with_tail: Snapshot | None = None

    @classmethod
    def holding(cls, columns: Mapping[str, Array], capacity: int = CAPACITY, stride: int = 1) -> Trace:
        """Make a trace with the rows of a snapshot at this stride; more may follow."""
        trace, rows = cls(capacity), len(columns[ITERATION])
        trace.stride = stride
        arrays = {name: np.full((max(capacity, rows), *c.shape[1:]), np.nan) for name, c in columns.items()}
        for name, column in columns.items():
            arrays[name][:rows] = column
        trace._published = (_Table(arrays, stride.bit_length() - 1), rows)
        trace._last = int(columns[ITERATION][-1]) if rows else -1
        return trace

    def wants(self, iteration: int) -> bool:
        """Return whether a row is due at this iteration."""
        if iteration % self.stride == 0:
            return True
        # As ``belonging``, of one number: this is asked after every step.
        shift = iteration.bit_length() - self._bits
        return self._bits > 0 and (shift <= 0 or iteration % (1 << shift) == 0)

    def append(self, row: Mapping[str, float | Array]) -> None:
        """Add a row; a column that is new is NaN before. ``iteration`` must be there and must grow."""
        table, rows = self._published
        self._with_tail = None
        if row[ITERATION] == self._last:
            return
        if rows >= self.capacity:
            table, rows = self._thinned(table, rows)
            if not self.wants(int(row[ITERATION])):
                self._published = (table, rows)
                return
        new = row.keys() - table.columns.keys()
        if new:
            more = {name: np.full((self.capacity, *np.shape(row[name])), np.nan) for name in row if name in new}
            table = _Table({**table.columns, **more}, table.epoch)
        for name, column in table.columns.items():
            column[rows] = row.get(name, np.nan)
        self._last = int(row[ITERATION])
        self._published = (table, rows + 1)

    def show_tail(self, row: Mapping[str, float | Array]) -> None:
        """Let snapshots end with a row that is not kept: where a run pauses between two rows."""
        now = self.snapshot()
        if not now.rows or row[ITERATION] == now.columns[ITERATION][-1]:
            return
        columns = {
            name: np.concatenate([column, np.broadcast_to(row.get(name, np.nan), (1, *column.shape[1:]))])
            for name, column in now.columns.items()
        }
        self._with_tail = Snapshot(columns, now.rows + 1, now.epoch)

    def _thinned(self, table: _Table, rows: int) -> tuple[_Table, int]:
        self.stride *= 2
        keep = np.flatnonzero(belonging(table.columns[ITERATION][:rows], self.stride, self.capacity))
        columns = {}
        for name, column in table.columns.items():
            columns[name] = np.full((max(self.capacity, keep.size), *column.shape[1:]), np.nan)
            columns[name][: keep.size] = column[keep]
        return _Table(columns, table.epoch + 1), keep.size

    def snapshot(self) -> Snapshot:
        """Return a consistent view of all rows so far."""
        tail = self._with_tail
        if tail is not None:
            return tail
        table, rows = self._published
        return Snapshot({name: column[:rows] for name, column in table.columns.items()}, rows, table.epoch)

    def __len__(self) -> int:
        return self._published[1]

    def __getitem__(self, name: str) -> Array:
        columns = self.snapshot().columns
        if name not in columns:
            raise KeyError(f"Expected one of the columns {sorted(columns)}, got {name!r}.")
        return columns[name]

    def flat(self) -> dict[str, np.ndarray]:
        """Return one line per row and replica: columns of shape (rows R,), vectors spread over numbered ones.

        ``iteration``, ``seconds`` and the number of the ``replica`` come first.
        """
        snapshot = self.snapshot()
        rows, columns = snapshot.rows, snapshot.columns
        replicas = max([column.shape[1] for column in columns.values() if column.ndim > 1], default=1)
        out = {name: np.repeat(column, replicas) for name, column in columns.items() if column.ndim == 1}
        out["replica"] = np.tile(np.arange(replicas), rows)
        for name, column in columns.items():
            if column.ndim == 2:
                out[name] = column.reshape(-1)
            elif column.ndim == 3:
                out |= {f"{name}_{j + 1}": column[..., j].reshape(-1) for j in range(column.shape[2])}
        return out

    def write_csv(self, file: IO[str]) -> None:
        """Write one line per row and replica, vectors spread over numbered columns, in full precision."""
        table = self.flat()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(table)
        texts = [map(repr, column.tolist()) for column in table.values()]
        writer.writerows(zip(*texts, strict=True))
