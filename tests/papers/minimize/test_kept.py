"""Methods whose constraints hold while searching: what is counted, and a small table."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.project import ROOT
from zoviz.papers.minimize.kept import Kept, summary
from zoviz.studies.reproduction import Reproduction


def test_shares_counts_and_losses_by_hand() -> None:
    clean = {"spent": 100, "outside": 1, "later": 0, "loss": 1e-3}
    rough = {"spent": 50, "outside": 25, "later": 24, "loss": 0.5}
    unstarted = {"spent": 0, "outside": 0, "later": 0, "loss": 1.0}
    assert summary([clean, rough, unstarted]) == "17.0 %; 2 of 3; 0.5"


def test_calls_outside_are_those_of_the_method_that_does_not_keep_constraints(tmp_path: Path) -> None:
    pytest.importorskip("cocoex")
    work = Reproduction(Kept(size="quick"), tmp_path).run()
    (table,) = work.experiment.tables(work.measured)
    assert table.heads == ("dimension", "calls", "noise", "auto", "LogBarrier", "free")
    auto, barrier, free = (cell.split("; ") for cell in table.rows[0][3:])
    assert auto[:2] == barrier[:2] == ["0.0 %", "2 of 2"]
    assert float(free[0].removesuffix(" %")) > 5.0 and free[1] == "0 of 2"


def test_the_page_has_the_table_of_the_outcomes_that_are_recorded_beside_it() -> None:
    folder = ROOT / "docs" / "performance"
    work = Reproduction(Kept(size="full"), folder)
    (table,) = work.experiment.tables(work.measured)
    page = (folder / "coco.md").read_text(encoding="utf-8").splitlines()
    lines = [f"| {' | '.join(cells)} |" for cells in (table.heads, *table.rows)]
    assert len(lines) == 3 and [line for line in lines if line not in page] == []
