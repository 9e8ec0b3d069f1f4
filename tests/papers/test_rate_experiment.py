"""A rate's claims are judged by instances, and beside their ablations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz.papers.rate_experiment import Rate, falls_as_claimed
from zoviz.papers.zoeg.convergence import StepFloor
from zoviz.studies.experiment import Measured
from zoviz.studies.reproduction import Reproduction

T = [100, 200, 400, 800, 1600, 3200]
CASE = Rate("Theorem 1", "it falls", "case", "residual", -0.5, "method", "ablation")


class Falling(StepFloor):
    """Six horizons and six instances of two replicas each."""

    __abstract = True

    sizes = {"quick": {"horizons": T, "instances": 6}}

    def rates(self) -> list[Rate]:
        return [CASE]


def figures(exponent: float, spread: float, method: str = "method") -> Measured:
    """Parts of a measure of mean T^exponent on six instances, whose replicas are far apart and cancel out."""
    rng = np.random.default_rng(0)
    instances = 1.0 + spread * rng.uniform(-1.0, 1.0, (6, 6))
    rows = [float(one) ** exponent * own for one, own in zip(T, instances, strict=True)]
    apart = np.array([0.5, 1.5])
    return {
        f"case / {method} / {one}": {"residual": (row[:, None] * apart).ravel().tolist()}
        for one, row in zip(T, rows, strict=True)
    }


def test_replicas_of_an_instance_are_one_draw() -> None:
    evidence = falls_as_claimed(Falling(size="quick"), CASE, figures(-0.5, 0.01), "method")
    assert evidence.margins.shape == (1, 6) and np.abs(evidence.margins).max() < 0.02


@pytest.mark.parametrize(("ablation", "verdict"), [((-0.2, 0.01), "reproduced"), ((-0.5, 0.01), "cannot be decided")])
def test_an_ablation_that_meets_the_exponent_leaves_the_claim_open(
    ablation: tuple[float, float], verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    measured = {**figures(-0.5, 0.01), **figures(*ablation, method="ablation")}
    monkeypatch.setattr(Falling, "measure", lambda self, part: measured[part])
    (row,) = Reproduction(Falling(size="quick"), tmp_path).run().judgements()
    assert row["verdict"] == verdict
