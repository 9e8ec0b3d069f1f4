"""Remark 4.4 of paper sogd, small: its rate is that of the growing batches, with or without the recursion."""

from __future__ import annotations

from zoviz.papers.sogd.single_level import remark_4_4


def test_the_rate_is_met_and_is_that_of_the_batches() -> None:
    outcomes = remark_4_4([30, 120], 4)
    recursion, one = outcomes["weights 1"], outcomes["ZO-GD, one sample"]
    assert recursion.holds and not recursion.discriminates and not recursion.ablation_fails
    assert one.levels[-1, 1] > 2.0 * one.levels[-1, 0], "with one sample a round the regret stays behind"
