"""An exponent is decided by its interval: a wide one, which would bear the claim and its contrary, decides nothing."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.experiment import Measured, Verdict
from zoviz.papers.rate_experiment import Falling, Rate
from zoviz.papers.zoeg.convergence import Averages

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
    judgement = Falling(EXPERIMENT, CASE)(figures(exponent, spread), "method")
    assert judgement.verdict is verdict, judgement.figures
