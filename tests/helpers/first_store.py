"""A store that was written by an early version (commit 5b150dc), and what became of its runs at that commit.

``tests/data/make_store_5b150dc.py`` has made both files there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from shutil import copy
from typing import Any

import numpy as np

from zoviz import Run
from zoviz.problems import BlackBox
from zoviz.runs.engine.trace import Trace
from zoviz.runs.store import Store

FILE = Path(__file__).parents[1] / "data" / "store_5b150dc.db"
KNOWN: dict[str, Any] = json.loads(FILE.with_suffix(".json").read_text())
RUNS: dict[str, dict[str, Any]] = KNOWN["runs"]
RTOL = 1e-9
"""Of numbers, where this machine's arithmetic is not bit for bit that of the machine that wrote the store."""


@contextmanager
def opened(folder: Path, trusted: tuple[str, ...] = ()) -> Iterator[Store]:
    """A copy of the store."""
    copy(FILE, folder / "copy.db")
    with Store(f"sqlite:///{folder / 'copy.db'}", trusted=trusted, create=False) as store:
        yield store


def nameless(expected: Mapping[str, Any]) -> dict[str, BlackBox]:
    """The problem, for a run whose functions were lambdas and must be given."""
    if not expected["needs_problem"]:
        return {}
    functions = (
        lambda x: float((x[0] - 2.0) ** 2 + (x[1] - 1.0) ** 2),
        lambda x: [float(x[0] + x[1] - 2.0), float(x[0] ** 2 - x[1])],
    )
    return {"problem": BlackBox(*functions, bounds=[(-4.0, 4.0)] * 2, m=2)}


@cache
def exact() -> bool:
    """Whether arithmetic here gives the bits that it gave there."""
    generator = np.random.default_rng(0)
    a, b = generator.standard_normal((2, 37, 37))
    c = generator.standard_t(3.0, 1000)
    parts = [a, c, a @ b, a[:5, :5] @ b[:5, :5], a[:5] @ b[0], a.sum(0), a.sum(), np.einsum("ij,kj->ik", a[:7], b)]
    parts += [np.exp(a), np.log(np.abs(a)), np.sin(a), np.tanh(a), np.abs(a) ** 1.3, np.hypot(a, b), np.sqrt(np.abs(c))]
    parts += [*np.linalg.eigh(a + a.T), np.linalg.solve(a, b), *np.linalg.qr(a), *np.linalg.svd(a[:5])]
    digest = hashlib.sha256(b"".join(np.ascontiguousarray(part).tobytes() for part in parts)).hexdigest()
    return digest == KNOWN["fingerprint"]["arithmetic"]


def assert_outcome(run: Any, expected: Mapping[str, Any]) -> None:
    """Check a run, at work or stored, against what it came to at that commit."""
    assert (run.status, run.progress.iteration, run.spent_calls) == tuple(
        expected[name] for name in ("status", "iterations", "spent_calls")
    )
    for name in ("trace", "path"):
        assert_trace(getattr(run, name), expected[name])
    steps = [(change.iteration, change.name) for change in run.journal]
    assert steps == [(iteration, name) for iteration, _, name, *_ in expected["journal"]]
    # Points that were evaluated before are not paid for again since then.
    assert all(change.calls <= one[1] for change, one in zip(run.journal, expected["journal"], strict=True))
    for change, (*_, old, new) in zip(run.journal, expected["journal"], strict=True):
        assert_value(change.old, old)
        assert_value(change.new, new)
    assert len(run.hits) == len(expected["hits"])
    for hit, (metric, threshold, iterations, calls) in zip(run.hits, expected["hits"], strict=True):
        assert (hit.metric, hit.threshold) == (metric, threshold)
        assert_close(hit.iteration, iterations)
        assert np.size(hit.calls) == len(calls)
    if expected["result"] is not None:
        assert_result(run.result, expected["result"])


def assert_result(result: Any, expected: Mapping[str, Any]) -> None:
    """Check a result; the commit's names stand beside today's."""
    names = {"x": "x", "fun": "fun", "maxcv": "violation", "best_feasible": "best_x", "best_value": "best_fun"}
    for old, new in (names | {"y": "multipliers"}).items():
        assert_close(getattr(result, new), expected[old])
    assert (result.violation[result.success] <= 1e-5).all(), "the commit's success was about another point"
    assert result.failures.tolist() == expected["failures"]
    assert (result.calls <= expected["calls"]).all() and (result.calls > 0.9 * np.array(expected["calls"])).all()
    message = result.message.removeprefix("StatisticsError: ")  # the type of an error is said since then
    assert (result.nit, message) == (expected["nit"], expected["message"])


REDEFINED = {"system_error", "calls"}
"""Columns that measure something else today: a rival's system in its own round, and calls, which known points save."""


def assert_trace(trace: Trace, expected: Mapping[str, Any]) -> None:
    """Check a trace: how many rows it has and, column by column, a digest of its bits."""
    columns = trace.snapshot().columns
    assert len(trace) == expected["rows"]
    for name, digest in expected["columns"].items() if exact() else ():
        if name in REDEFINED:
            continue
        values = np.ascontiguousarray(columns[name], dtype="<f8")
        values = np.where(np.isnan(values), np.nan, values)
        assert hashlib.sha256(repr(values.shape).encode() + values.tobytes()).hexdigest()[:16] == digest, name


def assert_value(value: Any, expected: Any) -> None:
    """Check a parameter's value: a float is kept as its hexadecimal digits."""
    if isinstance(value, float):
        assert_close(value, expected)
    else:
        assert value == expected


def assert_close(values: Any, reference: Any) -> None:
    """Check numbers to the bit, or nearly where arithmetic differs."""
    expected = np.asarray(_numbers(reference), dtype=float)
    if np.size(values) + expected.size:
        np.testing.assert_allclose(np.asarray(values, dtype=float), expected, 0.0 if exact() else RTOL, 0.0)


def _numbers(value: Any) -> Any:
    return [_numbers(one) for one in value] if isinstance(value, list) else float.fromhex(value)


def ended(run: Run) -> Run:
    """The same run at its end, be that a failure of the function of "general failed"."""
    try:
        run.run()
    except ValueError:
        assert run.status == "failed"
    return run
