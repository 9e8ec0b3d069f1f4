"""An exponent is decided by its interval: a wide one, which would bear the claim and its contrary, decides nothing."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

from zoviz.papers.rate_experiment import Rate, falls_as_claimed
from zoviz.papers.zoeg.convergence import Averages
from zoviz.studies.experiment import Measured, Verdict
from zoviz.studies.reproduction import Reproduction

EXPERIMENT = Averages(size="quick")
T = EXPERIMENT.settings["horizons"]
CASE = Rate("Theorem 1", "it falls", "case", "residual", -0.5, "method", "ablation")


def figures(exponent: float, spread: float, replicas: int = 8) -> Measured:
    """Parts of a measure of mean T^exponent, of which half of the replicas rise by as much as the others fall."""
    noise = 1.0 + spread * np.outer(np.linspace(-1.0, 1.0, len(T)), (-1.0) ** np.arange(replicas))
    rows = [float(one) ** exponent * own for one, own in zip(T, noise, strict=True)]
    return {f"case / method / {one}": {"residual": row.tolist()} for one, row in zip(T, rows, strict=True)}


@pytest.mark.parametrize(
    "exponent, spread, verdict",
    [
        (-0.5, 0.01, Verdict.YES),
        (-1.0, 0.01, Verdict.YES),
        (-0.2, 0.01, Verdict.NO),
        (-0.5, 0.8, Verdict.OPEN),
        (-0.3, 0.8, Verdict.OPEN),
    ],
)
def test_a_wide_interval_decides_nothing(exponent: float, spread: float, verdict: Verdict) -> None:
    judgement = partial(falls_as_claimed, EXPERIMENT, CASE)(figures(exponent, spread), "method")
    assert judgement.verdict is verdict, judgement.figures


@pytest.mark.parametrize("ablation", [(-0.2, 0.01, "reproduced"), (-0.3, 0.8, "cannot be decided")])
def test_an_ablation_that_may_meet_the_exponent_leaves_the_claim_open(
    ablation: tuple[float, float, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    exponent, spread, verdict = ablation
    ours, without = figures(-0.5, 0.01), figures(exponent, spread)
    measured = ours | {part.replace("/ method /", "/ ablation /"): one for part, one in without.items()}
    monkeypatch.setattr(Averages, "rates", lambda self: [CASE])
    monkeypatch.setattr(Averages, "measure", lambda self, part: measured[part])
    (row,) = Reproduction(EXPERIMENT, tmp_path).run().judgements()
    assert (row["verdict"], row["ablation_verdict"] != "reproduced") == (verdict, True)
