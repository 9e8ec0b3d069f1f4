"""Paired comparisons: the correction by hand, no difference where there is none, and one where a budget is halved."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import wilcoxon

from zoviz.benchmark.paired_comparison import Decision, compare, holm


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


def test_few_pairs_tell_nothing() -> None:
    one = compare({"A": np.zeros(7), "B": np.ones(7)}, np.random.default_rng(0))[0]
    assert one.decision is Decision.CANNOT_TELL and one.p_value == 1.0


def test_methods_need_equally_many_losses() -> None:
    with pytest.raises(ValueError, match="common problems"):
        compare({"A": np.zeros(3), "B": np.zeros(4)}, np.random.default_rng(0))


def test_a_sure_difference_that_does_not_matter_is_none() -> None:
    b = np.random.default_rng(0).normal(size=20)
    hair = {"A": b - 1e-5, "B": b}
    assert compare(hair, np.random.default_rng(0))[0].decision is Decision.BETTER
    assert compare(hair, np.random.default_rng(0), least=1e-2)[0].decision is Decision.ALIKE
    # Sure, and around the limit: neither alike nor better.
    around = {"A": b - np.linspace(0.0, 0.018, 20), "B": b}
    one = compare(around, np.random.default_rng(0), least=0.01)[0]
    assert one.p_value < 1e-3 and abs(one.difference) < 0.01 < -one.lower
    assert one.decision is Decision.CANNOT_TELL
