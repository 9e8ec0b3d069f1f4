"""Methods on COCO's constrained functions: what counts, the noise, and a small table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.project import ROOT
from zoviz.papers.minimize.coco import TARGETS, Coco, summary, watched
from zoviz.problems.coco.bbob_constrained import BBOBConstrained
from zoviz.studies.reproduction import Reproduction


def test_the_solution_reaches_every_target_and_the_start_none_whatever_the_noise() -> None:
    pytest.importorskip("cocoex")
    problem = BBOBConstrained(function=26, instance=1)
    own, sizes = watched(problem, 1e-2, seed=3)
    values = [own(own.x0) for _ in range(300)]
    start, solution = own.worth(own.x0), problem.data.optimum
    assert own.gap == start.gap == sizes[0] > TARGETS[0]
    assert np.std([f for f, _ in values]) == pytest.approx(1e-2 * sizes[0], rel=0.15)
    exact = problem.evaluate(own.x0).h
    assert sizes[1:].tolist() == [np.abs(exact).min()] * problem.m
    np.testing.assert_allclose(np.std([h for _, h in values], axis=0), 1e-2 * np.abs(exact).min(), rtol=0.15)
    own(solution.point)
    assert own.gap == 0.0 and own.worth(solution.point).violation <= 0.0


def test_shares_and_counts_by_hand() -> None:
    exact = [{"noise": 0.0, "gap": 1e-3}, {"noise": 0.0, "gap": np.inf}]
    assert summary(exact) == f"{26 / 82:.3f}; 1/1/0 of 2", "of the targets 1e2 to 1e-3"
    noisy = [{"noise": 1e-3, "gap": 2.0, "loss": 5e-3}, {"noise": 1e-3, "gap": np.inf, "loss": 0.05}]
    assert summary(noisy) == f"{9 / 82:.3f}; 2/1/0 of 2"


def test_the_quick_form_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cocoex")
    work = Reproduction(Coco(size="quick"), tmp_path).run()
    (table,) = work.experiment.tables(work.measured)
    assert table.heads == ("dimension", "calls", "noise", "auto", "SLSQP")
    assert [row[:3] for row in table.rows] == [("2", "30", "0.0"), ("2", "30", "0.001")]
    assert all(cell.endswith("of 2") for row in table.rows for cell in row[3:])
    assert float(table.rows[0][3].split(";")[0]) > 0.9
    monkeypatch.setattr(Coco, "trial", None)
    again = Reproduction(Coco(size="quick"), tmp_path).run()
    assert again.measured == work.measured and len(again.measured) == 8


def test_the_page_has_the_table_of_the_outcomes_that_are_recorded_beside_it() -> None:
    work = Reproduction(Coco(size="full"), ROOT / "docs" / "performance")
    (table,) = work.experiment.tables(work.measured)
    page = (ROOT / "docs" / "performance" / "coco.md").read_text(encoding="utf-8").splitlines()
    lines = [f"| {' | '.join(cells)} |" for cells in (table.heads, *table.rows)]
    assert len(lines) == 13 and [line for line in lines if line not in page] == []
