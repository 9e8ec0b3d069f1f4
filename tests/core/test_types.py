"""Constants of step-size rules: where they come from, and what follows from them."""

from __future__ import annotations

import math

import numpy as np
import pytest

from zoviz.core.types import Constants, Evaluation, Provenance, StepConstants
from zoviz.problems.bilevel import BilevelConstants

KINDS: dict[type[StepConstants], tuple[float, ...]] = {
    Constants: (4.0, 2.0, 12.0, 6.0, 5.0, 0.0),
    BilevelConstants: (2.0, 1.0, 3.0, 4.0),
}
EACH_KIND = pytest.mark.parametrize("kind", KINDS)


@EACH_KIND
@pytest.mark.parametrize(
    ("provenance", "calls", "sentence"),
    [
        (Provenance.ANALYTIC, 0, "analytic"),
        (Provenance.MEASURED, 21, "measured (21 calls)"),
        (Provenance.ASSUMED, 0, "assumed"),
    ],
)
def test_provenance_is_a_value_and_its_sentence_is_for_people(
    kind: type[StepConstants], provenance: Provenance, calls: int, sentence: str
) -> None:
    constants = kind(*KINDS[kind], provenance=provenance, calls=calls)
    assert constants.source == sentence
    assert constants.measured == (provenance is Provenance.MEASURED)


@EACH_KIND
def test_constants_that_nobody_measured_are_analytic(kind: type[StepConstants]) -> None:
    assert kind(*KINDS[kind]).provenance is Provenance.ANALYTIC


def constants(slope: float, constraint_slope: float, start_slope: float) -> Constants:
    return Constants(1.0, 0.0, slope, constraint_slope, start_slope, math.nan)


def test_the_dual_cap_is_a_hundred_times_the_ratio_of_slopes() -> None:
    assert constants(12.0, 3.0, 3.0).dual_cap == 400.0
    assert constants(3.0, 12.0, 3.0).dual_cap == 100.0 and constants(3.0, 0.0, 1.0).dual_cap == 100.0


def test_the_start_slope_is_safe_to_divide_by() -> None:
    assert constants(1.0, 1.0, 0.5).safe_start_slope == 0.5 and constants(1.0, 0.0, 0.0).safe_start_slope == 1e-8


def test_the_expected_multiplier_trusts_no_slope_below_a_tenth_of_that_around_the_start() -> None:
    assert constants(12.0, 3.0, 3.0).multiplier == 4.0 and constants(12.0, 0.01, 3.0).multiplier == pytest.approx(40.0)
    assert constants(12.0, 0.0, 3.0).multiplier == 0.0


def test_values_of_one_where_a_mask_says_so_and_of_the_other_elsewhere() -> None:
    one, other = (Evaluation(np.full(2, f), np.full((2, 3), f)) for f in (1.0, 2.0))
    chosen = one.where(np.array([True, False]), other)
    np.testing.assert_array_equal(chosen.stacked, [[1.0] * 4, [2.0] * 4])
