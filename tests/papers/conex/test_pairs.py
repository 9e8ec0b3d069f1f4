"""Claims by pairs: corrected together, decided by what matters, undecided by too few trials, failed by the ablation."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.papers.conex.pairs import Pair, PairedExperiment
from zoviz.studies.experiment import Claim, Figures, Measured, Verdict


class Fake(PairedExperiment):
    """Losses as they are given, of three methods against a fourth."""

    __abstract = True

    title = "conex fake"
    sizes = {"quick": {}, "full": {}}
    least = 0.01
    unit = " of a unit"
    names = ("much lower", "by a hair", "any")

    def pairs(self) -> list[Pair]:
        return [Pair("Fig. 1", name, "", name, "base", ablation="base") for name in self.names]

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


def test_claims_are_corrected_together_and_what_matters_decides() -> None:
    measured, one = figures_of(12), Fake()
    lower, hair, noise = (claim.test(measured, claim.method) for claim in one.claims())
    assert lower.verdict is Verdict.YES and "12 trials" in lower.figures and "of a unit" in lower.figures
    assert hair.verdict is Verdict.NO and hair.figures.startswith("no difference that matters")
    assert noise.verdict is Verdict.OPEN
    p_values = [comparison.p_value for comparison in one.comparisons(measured)]
    alone = type("Alone", (Fake,), {"names": ("much lower",), "_Alone__abstract": True})()
    np.testing.assert_allclose(p_values[0], 3.0 * alone.comparisons(measured)[0].p_value, rtol=1e-6)


def test_the_ablation_fails_the_test_and_a_worse_method_is_called_so() -> None:
    measured, one = figures_of(12), Fake()
    claim = one.claims()[0]
    assert claim.test(measured, claim.ablation).verdict is Verdict.NO
    worse = {**measured, "base": measured["much lower"], "much lower": measured["base"]}
    judgement = claim.test(worse, claim.method)
    assert judgement.verdict is Verdict.NO and judgement.figures.startswith("worse; median difference")


@pytest.mark.parametrize("count", [2, 9])
def test_too_few_trials_decide_nothing(count: int) -> None:
    judgement = Fake().claims()[0].test(figures_of(count), "much lower")  # three pairs: 3 / 2^8 is above 0.01
    assert judgement.verdict is Verdict.OPEN and judgement.figures.startswith("too few trials")


def test_methods_with_fewer_trials_are_compared_on_the_first_ones() -> None:
    measured = {**figures_of(12)}
    measured["base"] = Figures(losses=measured["base"]["losses"][:10])
    assert [comparison.pairs for comparison in Fake().comparisons(measured)] == [10, 10, 10]
