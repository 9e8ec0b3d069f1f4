"""The brute-force search of the best sampler settings, in its quick form."""

from __future__ import annotations

import pytest

from zoviz.papers.conex.sampler_ridge import main, ridge
from zoviz.problems import HMCTuning


def test_the_grid_is_told_best_first() -> None:
    cells = ridge(HMCTuning(gradients=200, rows=50), (2, 5), (0.1, 0.01), (0.0,), trials=4)
    assert [cell.size for cell in cells] == sorted((cell.size for cell in cells), reverse=True)
    assert len(cells) == 4 and cells[-1].step == 0.01, "small steps mix worst"
    assert all(0.0 <= cell.feasible <= 1.0 for cell in cells)


@pytest.mark.slow
def test_the_ridge_is_found_again(capsys: pytest.CaptureFixture[str]) -> None:
    best = ridge(HMCTuning(), (4, 6), (0.05, 0.07), (0.0,), trials=16)[0]
    assert 730.0 < best.size < 930.0 and (best.leaps, best.step) in {(4, 0.07), (6, 0.05)}
    main(["--quick"])
    assert "times its leaps alone" in capsys.readouterr().out
