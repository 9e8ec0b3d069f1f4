"""Paired comparisons: the correction by hand, no difference where there is none, and one where a budget is halved."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import wilcoxon

from zoviz.benchmark.paired_comparison import Decision, compare
from zoviz.studies.verdict import holm


def test_the_correction_by_hand() -> None:
    """0.01, 0.02, 0.03, 0.04 times 4, 3, 2, 1, never falling."""
    np.testing.assert_allclose(holm(np.array([0.04, 0.01, 0.03, 0.02])), [0.06, 0.04, 0.06, 0.06])
    assert holm(np.array([0.5, 0.9]))[0] == 1.0


def test_the_test_is_scipys() -> None:
    generator = np.random.default_rng(0)
    a, b = generator.normal(0.3, 1.0, 25), generator.normal(0.0, 1.0, 25)
    one = compare({"A": a, "B": b}, generator)[0]
    assert one.p_value == pytest.approx(wilcoxon(a - b, zero_method="pratt").pvalue, rel=1e-12)
    assert one.difference == np.sort(a - b)[12] and one.lower <= one.difference <= one.upper


def test_failures_count_as_the_largest_loss_and_two_as_a_tie() -> None:
    generator = np.random.default_rng(0)
    a = np.array([1.0] * 12 + [np.inf] * 3)
    b = np.array([np.inf] * 12 + [np.inf] * 3)
    one = compare({"A": a, "B": b}, generator)[0]
    assert one.decision is Decision.BETTER and one.difference == -np.inf
    assert compare({"A": b, "B": b}, generator)[0].decision is Decision.CANNOT_TELL


def test_too_few_pairs_are_no_test_and_it_is_said_how_they_came_out() -> None:
    one = compare({"A": np.zeros(5), "B": np.full(5, 50.0)}, np.random.default_rng(0))[0]
    assert one.decision is Decision.TOO_FEW and one.p_value == 1.0
    assert one.evidence == "5 pairs: too few to test, 8 are needed; better in 5 of 5"
    ties = compare({"A": np.zeros(9), "B": np.eye(1, 9)[0]}, np.random.default_rng(0))[0]
    assert ties.evidence == "9 pairs, of which 1 differ: too few to test, 8 are needed; better in 1 of 9"
    assert compare({"A": np.zeros(9), "B": np.zeros(9)}, np.random.default_rng(0))[0].decision is Decision.CANNOT_TELL


def test_the_evidence_names_who_has_no_value_and_prints_no_infinite_difference() -> None:
    some, none = np.linspace(1.0, 2.0, 12), np.full(12, np.inf)
    won, lost = (
        compare(pair, np.random.default_rng(0))[0] for pair in ({"A": some, "B": none}, {"A": none, "B": some})
    )
    assert won.evidence.startswith("B has no value in half of the pairs or more, better in 12 of 12 pairs, p = ")
    assert lost.evidence.startswith("A has no value in half of the pairs or more, better in 0 of 12 pairs, p = ")
    few = compare({"A": some, "B": np.where(np.arange(12) < 5, np.inf, some - 1.0)}, np.random.default_rng(0))[0]
    assert "(-∞ to 1), better in 5 of 12 pairs" in few.evidence


def test_methods_need_equally_many_losses() -> None:
    with pytest.raises(ValueError, match="common problems"):
        compare({"A": np.zeros(3), "B": np.zeros(4)}, np.random.default_rng(0))
