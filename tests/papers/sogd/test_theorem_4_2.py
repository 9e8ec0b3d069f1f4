"""Theorem 4.2 of paper sogd, small: recursion and batches each lower the regret; steps pay for the dimension."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.papers.sogd.dimension_factor import SAME_STEPS, DimensionFactor
from zoviz.papers.sogd.theorem_4_2 import OFFSET, PRINTED, Theorem42, of_theory
from zoviz.problems import CurvedBilevel


@pytest.mark.slow
def test_recursion_and_batches_each_lower_what_zo_sogd_regrets() -> None:
    experiment = Theorem42(size="quick")
    measured = {part: experiment.measure(part) for part in experiment.parts() if "none" in part}
    without_drift = [rate for rate in experiment.rates() if rate.case == "drift none"]
    assert len(without_drift) == 2
    for rate in without_drift:
        pair = (experiment.rows(measured, rate.case, name, rate.measure) for name in (rate.ablation, rate.method))
        lead = np.subtract(*pair)
        assert (lead.mean(axis=1) > 3.0 * lead.std(axis=1, ddof=1) / np.sqrt(lead.shape[1])).all()


def test_steps_are_those_of_26_in_each_dimension() -> None:
    for size in (1, 8):
        solver = of_theory(CurvedBilevel(n=size, d=size), 1000)
        assert solver.get("outer_step") == pytest.approx((2.0 * size) ** -0.75 * OFFSET ** (-1.0 / 3.0))
    assert [of_theory(CurvedBilevel(n=n, d=n), 1000).get("inner_batch") for n in (1, 8)] == [60, 13]
    experiment = DimensionFactor(size="quick")
    assert [rate.exponent for rate in experiment.rates()] == [0.75, 0.75, 0.0]


@pytest.mark.slow
def test_the_same_steps_in_all_dimensions_pass_the_noise_on() -> None:
    experiment = DimensionFactor(size="quick")
    small, large = experiment.settings["horizons"]
    printed, same = (experiment.values("one direction", method, large) for method in (PRINTED, SAME_STEPS))
    assert same["later regret"].mean() > printed["later regret"].mean()
    both = [experiment.values("one direction", method, small)["later regret"] for method in (PRINTED, SAME_STEPS)]
    assert both[0].tolist() == both[1].tolist(), "they are the same in the smallest dimension"
