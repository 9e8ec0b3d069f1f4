"""Claims by pairs: corrected together, decided by what matters, undecided by too few trials, failed by the ablation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.conex.pairs import Pair, PairedExperiment
from zoviz.studies.experiment import Claim, Figures, Measured
from zoviz.studies.verdict import Verdict


class Fake(PairedExperiment):
    """Losses as they are given, of three methods against a fourth."""

    __abstract = True

    title = "conex fake"
    sizes = {"quick": {}, "full": {}}
    least = 0.01
    unit = " of a unit"
    names = ("much lower", "by a hair", "any")

    def pairs(self) -> list[Pair]:
        return [Pair("Fig. 1", name, "", name, "base", "base") for name in self.names]

    def budgets(self, measured: Measured, pair: Pair, method: str) -> Mapping[str, float]:
        return dict.fromkeys((method, pair.other), 40.0)

    def losses(self, measured: Measured, pair: Pair, method: str) -> Array:
        return np.array(measured[method]["losses"])

    def claims(self) -> list[Claim]:
        return self.paired_claims()


def figures_of(count: int) -> Measured:
    rng = np.random.default_rng(0)
    base = rng.normal(size=count)
    losses = {
        "base": base,
        "much lower": base - rng.uniform(0.5, 1.0, count),
        "by a hair": base - rng.uniform(1e-6, 1e-5, count),
        "any": rng.normal(size=count),
    }
    return {name: Figures(losses=values.tolist()) for name, values in losses.items()}


def test_what_matters_decides() -> None:
    lower, hair, noise = (claim.evidence(figures_of(12), claim.method) for claim in Fake().claims())
    assert lower.verdict is Verdict.YES and "12 trials" in lower.figures and "of a unit" in lower.figures
    assert hair.verdict is Verdict.NO and noise.verdict is Verdict.OPEN


def test_the_ablation_fails_the_test_and_so_does_a_worse_method() -> None:
    measured, claim = figures_of(12), Fake().claims()[0]
    assert claim.evidence(measured, claim.ablation).verdict is Verdict.NO
    worse = {**measured, "base": measured["much lower"], "much lower": measured["base"]}
    assert claim.evidence(worse, claim.method).verdict is Verdict.NO


def test_too_few_trials_decide_nothing() -> None:
    evidence = Fake().claims()[0].evidence(figures_of(2), "much lower")
    assert evidence.verdict is Verdict.OPEN and evidence.reason.startswith("2 independent draws")


def test_a_failed_run_is_worse_than_any_and_two_are_alike() -> None:
    measured = {**figures_of(12)}
    measured["base"] = Figures(losses=[np.inf] * 12)
    claim = Fake().claims()[0]
    assert claim.evidence(measured, claim.method).verdict is Verdict.YES
    measured["much lower"] = measured["base"]
    assert claim.evidence(measured, claim.method).reason == "no difference in any draw"


def test_methods_with_fewer_trials_are_compared_on_the_first_ones() -> None:
    measured = {**figures_of(12)}
    measured["base"] = Figures(losses=measured["base"]["losses"][:10])
    assert all(claim.evidence(measured, claim.method).margins.shape == (1, 10) for claim in Fake().claims())
