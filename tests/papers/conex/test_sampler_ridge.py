"""The brute-force search of the best sampler settings, in its quick form."""

from __future__ import annotations

import pytest

from zoviz.papers.conex.sampler_ridge import SamplerOverhead, SamplerRidge


def test_the_grid_is_told_best_first() -> None:
    few = {"trials": [4], "gradients": [200], "rows": [50]}
    study = SamplerRidge(size="quick", only={"leaps": [2, 5], "step": [0.1, 0.01], **few})
    rows = study.rows({part: study.measure(part) for part in study.parts()})
    assert [one["size"] for one in rows] == sorted((one["size"] for one in rows), reverse=True)
    assert len(rows) == 4 and rows[-1]["step"] == 0.01, "small steps mix worst"
    assert all(0.0 <= one["feasible"] <= 1.0 for one in rows)


def test_a_trial_takes_no_less_than_its_leaps() -> None:
    study = SamplerOverhead(size="quick")
    (table,) = study.tables({part: {"times": 1.25} for part in study.parts()})
    assert table.rows == [("10", "500", "1.25")]
    assert study.trial(trials=2, gradients=100, repeat=0)["times"] > 0.0


@pytest.mark.slow
def test_the_ridge_is_found_again() -> None:
    study = SamplerRidge(size="full", only={"leaps": [4, 6], "step": [0.05, 0.07], "burn_in": [0.0], "trials": [16]})
    best = study.rows({part: study.measure(part) for part in study.parts()})[0]
    assert 730.0 < best["size"] < 930.0 and (best["leaps"], best["step"]) in {(4, 0.07), (6, 0.05)}
