"""The trace: bounded, consistent while it is read, exact in CSV."""

from __future__ import annotations

import csv
import io
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest

from zoviz.runs.engine.trace import Trace


def filled(rows: int, capacity: int) -> Trace:
    trace = Trace(capacity)
    for i in range(rows):
        if trace.wants(i):
            trace.append({"iteration": i, "seconds": 0.5 * i, "f": np.array([i, -i], float)})
    return trace


@pytest.mark.parametrize("capacity", [4, 6, 10, 64])
@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 63, 64, 65, 1000, 12_345])
def test_rows_are_bounded_and_lie_at_multiples_of_the_stride(rows: int, capacity: int) -> None:
    trace = filled(rows, capacity)
    assert len(trace) <= capacity
    stride = trace.stride
    assert stride & (stride - 1) == 0
    if rows:
        expected = np.arange(0, rows, stride)
        np.testing.assert_array_equal(trace["iteration"], expected)
        np.testing.assert_array_equal(trace["f"], np.stack([expected, -expected], axis=1))
        assert len(trace) >= min(rows, capacity // 2)


def spaced(rows: int, capacity: int, per_doubling: int) -> Trace:
    """A trace of a run of so many iterations, which asks for the next row that may be due."""
    trace, i = Trace(capacity), 0
    while i < rows:
        if trace.wants(i):
            trace.append({"iteration": i, "seconds": 0.5 * i, "f": np.array([i, -i], float)})
        step = max(1, 2 ** max(0, i.bit_length() - 1) // per_doubling)
        i += min(trace.stride - i % trace.stride, step - i % step)
    return trace


@pytest.mark.parametrize(("capacity", "per_doubling"), [(128, 1), (256, 2), (300, 2), (4096, 32)])
@pytest.mark.parametrize("rows", [100, 4097, 20_000, 200_000, 2**31 + 5])
def test_the_beginning_is_kept_at_a_geometric_spacing(rows: int, capacity: int, per_doubling: int) -> None:
    trace = spaced(rows, capacity, per_doubling)
    kept = trace["iteration"]
    assert min(rows, capacity // 2) <= len(trace) <= capacity
    doublings = [np.arange(2**k, 2 ** (k + 1), max(1, 2**k // per_doubling)) for k in range(32)]
    near = np.concatenate(doublings)
    np.testing.assert_array_equal(kept, np.union1d(np.arange(0, rows, trace.stride), near[near < rows]))
    np.testing.assert_array_equal(trace["f"], np.stack([kept, -kept], axis=1))
    assert (kept[2:] / kept[1:-1]).max() <= 2.0, "no two neighbours are further apart on a logarithmic axis"


def test_a_row_of_an_earlier_version_that_is_one_too_many_is_thinned() -> None:
    """Segments that were written at several strides give back rows that an even spacing would not have."""
    kept = np.union1d(np.arange(0, 2 * 256, 2), np.arange(16))
    trace = Trace.holding({"iteration": kept.astype(float), "seconds": kept / 2.0}, 256, 2)
    assert len(trace) == 264 > trace.capacity
    for i in range(512, 2000):
        if trace.wants(i):
            trace.append({"iteration": i, "seconds": i / 2.0, "new": np.ones(2)})
    assert len(trace) <= 256 and trace["iteration"][-1] >= 1990
    np.testing.assert_array_equal(trace["seconds"], trace["iteration"] / 2.0)
    assert np.isnan(trace["new"][trace["iteration"] < 512]).all() and trace["new"][-1].tolist() == [1.0, 1.0]


def test_the_stride_doubles_only_when_the_rows_are_full() -> None:
    trace, epochs = Trace(8), []
    for i in range(40):
        if trace.wants(i):
            trace.append({"iteration": i, "seconds": 0.0})
        epochs.append((trace.stride, trace.snapshot().epoch))
    assert [epochs[i] for i in (7, 8, 15, 16, 31, 32)] == [(1, 0), (2, 1), (2, 1), (4, 2), (4, 2), (8, 3)]


def test_a_row_off_the_stride_is_the_last_one_until_the_next_thinning() -> None:
    trace = filled(70, 8)
    off = int(trace["iteration"][-1]) + 1
    trace.append({"iteration": off, "seconds": 0.0, "f": np.zeros(2)})
    assert trace["iteration"][-1] == off
    for i in range(off + 1, 300):
        if trace.wants(i):
            trace.append({"iteration": i, "seconds": 0.0, "f": np.zeros(2)})
    assert (trace["iteration"] % trace.stride == 0).all()


def test_a_row_is_written_once() -> None:
    trace = Trace()
    for value in (1.0, 2.0):
        trace.append({"iteration": 0, "seconds": value})
    assert trace["seconds"].tolist() == [1.0]


def test_a_new_column_is_nan_before_and_a_missing_value_is_nan() -> None:
    trace = Trace(8)
    trace.append({"iteration": 0, "seconds": 0.0, "f": np.ones(3)})
    before = trace.snapshot()
    trace.append({"iteration": 1, "seconds": 0.0, "f": np.ones(3), "dual": np.ones((3, 2))})
    trace.append({"iteration": 2, "seconds": 0.0, "dual": np.ones((3, 2))})
    assert "dual" not in before.columns
    assert np.isnan(trace["dual"][0]).all() and trace["dual"][1:].tolist() == np.ones((2, 3, 2)).tolist()
    assert np.isnan(trace["f"][2]).all()


def test_an_unknown_column_is_named_with_the_known_ones() -> None:
    with pytest.raises(KeyError, match=r"Expected one of the columns .*'f', 'iteration', 'seconds'.*got 'gap'"):
        filled(3, 8)["gap"]
    for capacity in (0, 2, 7):
        with pytest.raises(ValueError, match="even capacity of at least 4"):
            Trace(capacity)


def test_a_snapshot_stays_as_it_was() -> None:
    trace = filled(6, 8)
    snapshot = trace.snapshot()
    copies = {name: column.copy() for name, column in snapshot.columns.items()}
    for i in range(6, 500):
        if trace.wants(i):
            trace.append({"iteration": i, "seconds": 0.0, "f": np.zeros(2)})
    assert snapshot.columns.keys() == copies.keys() >= {"iteration", "seconds", "f"}
    for name, copy in copies.items():
        np.testing.assert_array_equal(snapshot.columns[name], copy)


@pytest.fixture
def eager_threads() -> Iterator[None]:
    """Threads take turns as often as the interpreter can, so that a torn row would show."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


def fault(trace: Trace) -> str:
    """What is wrong with one snapshot; empty: nothing."""
    columns, rows, _ = trace.snapshot()
    if not rows:
        return ""
    i = columns["iteration"]
    if any(len(column) != rows for column in columns.values()):
        return "columns of different lengths"
    good = (columns["f"][:, 0] == 2.0 * i) & (columns["f"][:, 63] == 2.0 * i) & (columns["seconds"] == 3.0 * i)
    good &= (columns["dual"][:, 5, 1] == -i) & (columns["dual"][:, 0, 0] == -i)
    if not good.all():
        return f"a torn row at iteration {i[~good][0]}"
    return "" if (np.diff(i) > 0).all() else "rows out of order"


def write_many(traces: list[Trace], rows: int) -> None:
    """Many short traces, so that rows are thinned thousands of times."""
    while rows > 0:
        trace, i = Trace(64), 0
        traces.append(trace)
        while i < 4096:
            value = float(i)
            row = {"f": np.full(64, 2.0 * value), "dual": np.full((6, 2), -value)}
            trace.append({"iteration": i, "seconds": 3.0 * value, **row})
            rows, i = rows - 1, i + trace.stride


def test_readers_never_see_a_torn_row(eager_threads: None) -> None:
    traces, end, faults, looks = [Trace(64)], threading.Event(), [], [0, 0]

    def read(which: int) -> None:
        while not end.is_set() and not faults:
            faults.extend(filter(None, [fault(traces[-1])]))
            looks[which] += 1

    readers = [threading.Thread(target=read, args=(which,)) for which in (0, 1)]
    for reader in readers:
        reader.start()
    try:
        write_many(traces, 60_000)
    finally:
        end.set()
        for reader in readers:
            reader.join()
    assert not faults, faults[0]
    assert min(looks) > 100, "the readers hardly ran"


def test_csv_gives_back_the_arrays_exactly() -> None:
    rng, trace = np.random.default_rng(0), Trace(16)
    for i in range(40):
        if trace.wants(i):
            dual = rng.standard_normal((3, 2))
            f = np.array([rng.standard_normal() * 10.0 ** rng.integers(-300, 300), np.nan, np.inf])
            trace.append({"iteration": i, "seconds": i / 3.0, "f": f, "dual": dual})
    text = io.StringIO()
    trace.write_csv(text)
    text.seek(0)
    header, *lines = csv.reader(text)
    assert header == ["iteration", "seconds", "replica", "f", "dual_1", "dual_2"]
    table = np.array(lines, dtype=float).reshape(len(trace), 3, 6)
    np.testing.assert_array_equal(table[:, 0, 0], trace["iteration"])
    np.testing.assert_array_equal(table[:, 2, 1], trace["seconds"])
    np.testing.assert_array_equal(table[:, :, 2], np.tile(np.arange(3.0), (len(trace), 1)))
    np.testing.assert_array_equal(table[:, :, 3], trace["f"])
    np.testing.assert_array_equal(table[:, :, 4:], trace["dual"])


def test_csv_of_an_empty_trace_is_its_header() -> None:
    text = io.StringIO()
    Trace().write_csv(text)
    assert text.getvalue() == "replica\n"
