"""What a run remembers of its course: bounded columns, one writer, many readers."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from typing import IO, NamedTuple

import numpy as np

from zoviz.types import Array

CAPACITY = 4096


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


class _Table(NamedTuple):
    columns: dict[str, Array]
    epoch: int


class Trace:
    """Rows at a stride that doubles whenever ``capacity`` rows are full: a run may go on for ever.

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
        self.stride = 1
        self._published: tuple[_Table, int] = (_Table({}, 0), 0)
        self._last = -1
        self._with_tail: Snapshot | None = None

    @classmethod
    def holding(cls, columns: Mapping[str, Array], capacity: int = CAPACITY, stride: int = 1) -> Trace:
        """A trace with these rows, as ``snapshot`` gave them, at this stride; more may follow."""
        trace, rows = cls(capacity), len(columns["iteration"])
        trace.stride = stride
        held = {name: np.full((max(capacity, rows), *c.shape[1:]), np.nan) for name, c in columns.items()}
        for name, column in columns.items():
            held[name][:rows] = column
        trace._published = (_Table(held, stride.bit_length() - 1), rows)
        trace._last = int(columns["iteration"][-1]) if rows else -1
        return trace

    def wants(self, iteration: int) -> bool:
        """Whether a row is due at this iteration."""
        return iteration % self.stride == 0

    def append(self, row: Mapping[str, float | Array]) -> None:
        """Add a row; a column that is new is NaN before. ``iteration`` must be there and must grow."""
        table, rows = self._published
        self._with_tail = None
        if row["iteration"] == self._last:
            return
        new = row.keys() - table.columns.keys()
        if new:
            more = {name: np.full((self.capacity, *np.shape(row[name])), np.nan) for name in row if name in new}
            table = _Table({**table.columns, **more}, table.epoch)
        if rows == self.capacity:
            table, rows = self._thinned(table)
            if not self.wants(int(row["iteration"])):
                self._published = (table, rows)
                return
        for name, column in table.columns.items():
            column[rows] = row.get(name, np.nan)
        self._last = int(row["iteration"])
        self._published = (table, rows + 1)

    def show_tail(self, row: Mapping[str, float | Array]) -> None:
        """Let snapshots end with a row that is not kept: where a run pauses between two rows."""
        now = self.snapshot()
        if not now.rows or row["iteration"] == now.columns["iteration"][-1]:
            return
        columns = {
            name: np.concatenate([column, np.broadcast_to(row.get(name, np.nan), (1, *column.shape[1:]))])
            for name, column in now.columns.items()
        }
        self._with_tail = Snapshot(columns, now.rows + 1, now.epoch)

    def _thinned(self, table: _Table) -> tuple[_Table, int]:
        self.stride *= 2
        keep = np.flatnonzero(table.columns["iteration"] % self.stride == 0)
        columns = {}
        for name, column in table.columns.items():
            columns[name] = np.full_like(column, np.nan)
            columns[name][: keep.size] = column[keep]
        return _Table(columns, table.epoch + 1), keep.size

    def snapshot(self) -> Snapshot:
        """A consistent view of all rows so far."""
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

    def write_csv(self, file: IO[str]) -> None:
        """One line per row and replica, vectors spread over numbered columns, full precision."""
        snapshot = self.snapshot()
        shared = [name for name, column in snapshot.columns.items() if column.ndim == 1]
        own = [name for name, column in snapshot.columns.items() if column.ndim > 1]
        flat = {
            name: snapshot.columns[name].reshape(snapshot.rows, -1, *snapshot.columns[name].shape[2:]) for name in own
        }
        header, parts = [], []
        for name in own:
            width = flat[name].shape[2:]
            header += [name] if not width else [f"{name}_{j + 1}" for j in range(width[0])]
            parts.append(flat[name][..., None] if not width else flat[name])
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*shared, "replica", *header])
        if not snapshot.rows:
            return
        table = np.concatenate(parts, axis=2)
        for i in range(snapshot.rows):
            start = [repr(float(snapshot.columns[name][i])) for name in shared]
            for r, values in enumerate(table[i]):
                writer.writerow([*start, r, *(repr(float(v)) for v in values)])
