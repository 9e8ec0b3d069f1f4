"""The command ``zoviz benchmark``: tables, what is missing alone, a figure, and sentences for what it cannot read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.command_line import Told, store
from zoviz.cli.command import FINE, MISUSED

WORDS = (
    "benchmark",
    "--problems",
    "LoadTracking:n=3",
    "NonconvexQCQP:n=3,seed=2",
    "--sweeps",
    "20",
    "--replicas",
    "2",
    "--quiet",
)


def test_tables_and_only_what_is_missing(zoviz: Callable[..., Told], folder: Path) -> None:
    first = zoviz(*WORDS, "--solvers", "ZOCEG", "--json")
    assert first.code == FINE, first.err
    assert first.json["problems"] == ["LoadTracking:n=3", "NonconvexQCQP:n=3,seed=2"] and not first.json["comparisons"]
    with store(folder) as runs:
        before = {record.id: record.updated for record in runs.runs()}
        assert len(before) == 2 and all(runs.record(one).calls <= 80 for one in before)
    second = zoviz(*WORDS, "--solvers", "ZOCEG", "ZOSPLM:estimator.batch_size=2", "--save", "out.html")
    assert second.code == FINE, second.err
    assert (
        "ZOCEG  cannot be told from  ZOSPLM:estimator.batch_size=2" in second.out
        and "NonconvexQCQP:n=3,seed=2" in second.out
    )
    assert "Data profile" in (folder / "out.html").read_text(encoding="utf-8")
    with store(folder) as runs:
        after = {record.id: record.updated for record in runs.runs()}
        other = next(one for one in after if one not in before)
        assert runs.load(other).solver.estimator.batch_size == 2
    assert len(after) == 4 and before.items() <= after.items()


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("--solvers", "ZOCEG", "--levels", "2"), "levels between 0 and 1"),
        (("--solvers", "ZOCEG", "--save", "out.png"), "suffix .html"),
        (("--solvers", "ZOCEG:bogus=1"), "parameters of ZOCEG"),
        (("--solvers", "ZOCEK"), "ZOCEG"),
    ],
)
def test_what_it_cannot_read_is_said(zoviz: Callable[..., Told], words: tuple[str, ...], sentence: str) -> None:
    outcome = zoviz(*WORDS, *words)
    assert outcome.code == MISUSED and sentence in outcome.err
