"""The rules of a verdict: what is planted against them is refused, and what was put in is found."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.stats import rankdata

from zoviz.studies.experiment import Claim, Measured
from zoviz.studies.reproduction import Reproduction, experiments
from zoviz.studies.verdict import FEWEST_HORIZONS, Evidence, Verdict, decided, falling, fit, judge, of_instances

T = [125, 250, 500, 1000, 2000, 4000]
CLEAR = np.array([[1.0, 1.1, 0.9, 1.05, 0.95, 1.0]])


def evidence(margins: np.ndarray = CLEAR, **budgets: float) -> Evidence:
    return Evidence(margins, "figures", budgets or {"method": 100.0})


def rows(exponent: float, instances: int = 8, horizons: list[int] = T, bend: float = 0.0) -> np.ndarray:
    rng, logs = np.random.default_rng(0), np.log(horizons)
    course = np.exp(exponent * (logs - logs[0]) + bend * np.sin(np.arange(len(horizons))))
    return np.asarray(course[:, None] * rng.uniform(0.95, 1.05, (len(horizons), instances)))


def verdict(ours: Evidence, without: Evidence | None) -> tuple[Verdict, str]:
    ((judgement, _, _),) = judge([(ours, without)])
    return judgement.verdict, judgement.reason


@pytest.mark.parametrize("margins", [[np.inf, 2.0, 2.0, -1.0, 0.0, 3.0, -np.inf], [np.inf, np.inf, -3.0, 1.0, 1.0]])
def test_of_infinite_margins_the_ranks_count_under_every_choice_of_signs(margins: list[float]) -> None:
    signed = np.array([margin for margin in margins if margin])
    ranks = rankdata(np.abs(signed))
    sums = np.array([ranks[np.array(signs)].sum() for signs in product([False, True], repeat=len(ranks))])
    above, below = evidence(np.array([margins])).chances()
    assert above == np.mean(sums >= ranks[signed > 0].sum()) and below == np.mean(sums >= ranks[signed < 0].sum())


def test_a_method_that_is_compared_with_itself_is_refused() -> None:
    def test(measured: Measured, method: str, *rivals: str) -> Evidence:
        return evidence()

    with pytest.raises(ValueError, match="Expected an ablation and rivals of ours that are other methods"):
        Claim("Fig. 1", "it is better", test, "ours", "ours")
    with pytest.raises(ValueError, match="got it twice in the claim that it is better"):
        Claim("Fig. 1", "it is better", test, "ours", "ablation", ("other", "ours"))
    hidden = evidence(np.zeros((1, 8)))  # the same figures under another name
    assert verdict(hidden, evidence(-CLEAR)) == (Verdict.OPEN, "no difference in any draw")


def test_an_ablation_that_is_a_rival_is_put_to_the_test_against_the_method() -> None:
    seen = []

    def test(measured: Measured, method: str, *rivals: str) -> Evidence:
        seen.append((method, rivals))
        return evidence()

    claim = Claim("Fig. 1", "it is better", test, "ours", "without", ("other", "without"))
    claim.evidence({}, "ours"), claim.evidence({}, "without")
    assert seen == [("ours", ("other", "without")), ("without", ("other", "ours"))]


def test_unequal_budgets_withdraw_a_claim_either_way() -> None:
    for margins in (CLEAR, -CLEAR):
        unequal = evidence(margins, ours=40_000.0, rival=40.0)
        assert verdict(unequal, evidence(-CLEAR)) == (Verdict.OPEN, "unequal budgets: ours 4e+04, rival 40")
    assert verdict(evidence(ours=101.0, rival=100.0), evidence(-CLEAR, without=100.0)) == (Verdict.YES, "")
    assert verdict(evidence(ours=100.0), evidence(-CLEAR, without=50.0))[1] == "unequal budgets: without 50, ours 100"


def test_nothing_is_reproduced_that_no_ablation_turns() -> None:
    assert verdict(evidence(), evidence(-CLEAR)) == (Verdict.YES, "")
    assert verdict(evidence(), None) == (Verdict.OPEN, "no ablation was run")
    assert verdict(evidence(), evidence(0.5 * CLEAR)) == (Verdict.OPEN, "the ablation passes, too")
    vague = np.array([[0.5, -0.5, 3.0, -2.0, 4.0, -1.0]])
    assert verdict(evidence(), evidence(vague)) == (Verdict.OPEN, "the ablation is not seen to fail")
    assert verdict(evidence(), evidence(0.01 * vague)) == (Verdict.YES, ""), "it is apart from the method"
    assert verdict(evidence(-CLEAR), None) == (Verdict.NO, "")


def test_an_exponent_is_decided_by_its_interval() -> None:
    ours = falling(-0.5, T, rows(-0.5), {"ours": 1.0})
    assert verdict(ours, falling(-0.5, T, rows(-0.1), {"without": 1.0})) == (Verdict.YES, "")
    assert ours.figures.startswith("-0.49") or ours.figures.startswith("-0.50")
    assert falling(-0.5, T, rows(-0.2), {"ours": 1.0}).verdict is Verdict.NO
    scattered = rows(-0.5) * np.random.default_rng(1).lognormal(0.0, 2.0, (6, 8))
    assert falling(-0.5, T, scattered, {"ours": 1.0}).verdict is Verdict.OPEN


def test_a_bad_fit_few_horizons_and_few_instances_decide_nothing() -> None:
    reasons = [
        falling(-0.5, T, rows(-0.5, bend=1.0), {}).reason,
        falling(-0.5, T[:5], rows(-0.5, horizons=T[:5]), {}).reason,
        falling(-0.5, T, rows(-0.5, instances=4), {}).reason,
    ]
    assert reasons[0].startswith("no line fits: a mean is off by")
    assert reasons[1:] == [
        f"5 horizons, {FEWEST_HORIZONS} are needed for an exponent",
        "instances: 4, 5 are needed for an exponent",
    ]
    assert falling(-0.5, T, np.where(rows(-0.5) < 0.0, 0.0, np.nan), {}).verdict is Verdict.NO, "it diverges"


def test_a_bad_fit_still_refutes_what_even_its_steepest_piece_does_not_meet() -> None:
    levels = np.array([2.0, 1.3, 1.3, 1.3, 1.3, 1.3])[:, None]
    bent = levels * rows(0.0, instances=8)
    steepest = fit(T, bent).steepest
    assert steepest.mean() == pytest.approx(np.log(1.3 / 2.0) / np.log(2.0), abs=0.1)
    assert falling(-2.0, T, bent, {}).verdict is Verdict.NO and falling(-2.0, T, bent, {}).reason == ""
    for exponent in (-0.5, -0.05, 0.5):
        one = falling(exponent, T, bent, {})
        assert one.reason.startswith("no line fits") and one.verdict is Verdict.OPEN, "it never confirms"


def test_the_fit_is_the_slope_and_its_error_that_over_instances() -> None:
    exact = fit(T, np.array(T, dtype=float)[:, None] ** -0.4 * np.ones(6))
    assert exact.value == pytest.approx(-0.4) and exact.off < 1e-9
    paired = rows(0.0) * np.random.default_rng(2).uniform(0.2, 5.0, 8)  # an instance's size is in all of its means
    assert fit(T, paired).error < 0.2
    np.testing.assert_allclose(of_instances(np.arange(12.0).reshape(2, 6), 3), [[0.5, 2.5, 4.5], [6.5, 8.5, 10.5]])


def test_claims_of_a_figure_are_corrected_together() -> None:
    margins = np.array([[0.5, 1.5, 0.6, 1.9, 0.9, 0.3]])
    assert evidence(margins).verdict is Verdict.YES
    assert decided([evidence(margins)] * 30) == [Verdict.OPEN] * 30
    several = Evidence(np.concatenate([CLEAR, -CLEAR]), "one of two conditions fails", {"method": 1.0})
    assert several.verdict is Verdict.NO
    failed = Evidence(np.array([[np.inf] * 7]), "the other failed", {"method": 1.0})
    assert failed.verdict is Verdict.YES, "by signed ranks"


def test_a_verdict_that_turns_at_half_of_the_draws_says_so() -> None:
    late = np.array([[-0.3, 0.4, -0.2, 0.3, 1.0, 1.1, 0.9, 1.2, 1.0, 1.1]])
    ((judgement, _, at_half),) = judge([(evidence(late), evidence(-late - 1.0))])
    assert judgement.verdict is Verdict.YES and at_half == "cannot be decided"
    assert judge([(evidence(CLEAR), evidence(-CLEAR))])[0][2] == ""


RECORDS = [(name, size) for name in experiments() for size in ("quick", "full")]


@pytest.mark.parametrize(("name", "size"), RECORDS)
def test_recorded_verdicts_keep_the_rules(name: str, size: str) -> None:
    work = Reproduction.recorded(experiments()[name](size=size))
    claims = [] if work.missing else work.experiment.claims()
    for claim, row in zip(claims, work.judged, strict=True):
        ours = claim.evidence(work.measured, claim.method)
        assert set(ours.budgets), "what a method was given is said"
        assert set(claim.rivals) <= set(ours.budgets) and claim.method not in (claim.ablation, *claim.rivals)
        if row["verdict"] == Verdict.YES:
            without = claim.evidence(work.measured, claim.ablation)
            assert claim.ablation and row["ablation_verdict"] != Verdict.YES and not ours.reason
            assert without.margins.shape != ours.margins.shape or (without.margins != ours.margins).any()
    assert len(claims) == (0 if work.missing else len(work.judged))
