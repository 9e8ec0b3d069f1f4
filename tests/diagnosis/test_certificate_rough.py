"""Certificates of rough values: noise that nobody declared, few digits, rows of 0 and 1, and what cannot be told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from zoviz import BlackBox
from zoviz.core.types import Array
from zoviz.diagnosis.certificate import Activity, Certificate, Certifier
from zoviz.papers.robustness.rough_certificates import FIGURES, Rough, RoughCertificates, cases, judged

HALF = 200.0


def certified(
    f: Callable[[Array], float], h: Callable[[Array], list[float]], x: tuple[float, ...] = (0.5, 0.5), m: int = 1
) -> Certificate:
    """Certify a point of a black box that declares nothing, in a box so wide that no residual ends at it."""
    problem = BlackBox(f, h, bounds=[(-HALF, HALF)] * len(x), x0=list(x), m=m)
    return Certifier().certify(problem, np.array(x))


def tilted(x: Array) -> float:
    """Return a plane of slope 50 along both coordinates."""
    return float(5000.0 + 50.0 * x[0] + 50.0 * x[1])


def short(value: float) -> float:
    """Return a value of six significant digits."""
    return float(f"{value:.6g}")


@pytest.mark.parametrize("case", list(cases()), ids=lambda case: case.name)
def test_figures_of_rough_values_hold_the_truth_or_cannot_be_told(case: Rough) -> None:
    random = np.random.default_rng(1)
    right = []
    for seed, place in enumerate(("optimum", "nearer", "far")):
        x = case.point(place, random)
        right.append(judged(case, x, Certifier().certify(case.problem(seed), x, seed)).right)
    assert np.mean(right) >= 0.9, dict(zip(FIGURES, np.array(right).T.tolist(), strict=True))


@pytest.mark.slow
def test_two_hundred_certificates_of_rough_values_hold_the_truth() -> None:
    study = RoughCertificates()
    measured = {part: study.measure(part) for part in study.parts()}
    print(study.tables(measured))
    assert len(measured) == 200
    assert np.mean([row["right"] for row in study.rows(measured)], axis=0).min() >= 0.95


def test_a_jump_next_to_six_digits_makes_the_residual_a_bound_and_no_multiplier() -> None:
    made = certified(lambda x: short(tilted(x)), lambda x: [float(x[0] > 0.6)])
    assert made.residual.low == 0.0 and 70.7 < made.residual.high < 72.0 and made.residual.high >= made.floor
    assert made.active == (Activity.UNDECIDED,) and np.isnan(made.multipliers[0]) and made.multipliers_high[0] == np.inf
    assert "undecided: h1" in made.sentence and "values are rounded to 1.0e-02 (f)" in made.sentence
    assert "slopes of h1" in made.sentence and "e+13" not in made.sentence


def test_a_row_of_0_and_1_whose_jump_is_out_of_reach_leaves_the_residual_as_it_is() -> None:
    made = certified(lambda x: tilted(x), lambda x: [float(x[0] > 100.0)])
    assert made.active == (Activity.UNDECIDED,) and made.multipliers_high[0] == np.inf
    assert made.residual.low == pytest.approx(50.0 * np.sqrt(2.0), rel=1e-6)
    assert made.residual.high == pytest.approx(50.0 * np.sqrt(2.0), rel=1e-6)


def test_a_constant_row_below_zero_is_inactive() -> None:
    made = certified(tilted, lambda x: [-1.0])
    assert made.active == (Activity.INACTIVE,) and made.multipliers_high[0] == 0.0
    assert made.residual.low == pytest.approx(50.0 * np.sqrt(2.0), rel=1e-6)


def test_an_objective_of_0_and_1_has_no_residual_to_be_told() -> None:
    made = certified(lambda x: float(x.sum() > 1.001), lambda x: [x[0] - 0.5])
    assert np.isnan(made.residual.value) and (made.residual.low, made.residual.high) == (0.0, np.inf)
    assert made.multipliers_high[0] == np.inf and made.sentence.startswith("KKT residual cannot tell")


@pytest.mark.parametrize("sd", [1e-2, 1e-4])
def test_noise_that_was_not_declared_is_found_and_widens_every_interval(sd: float) -> None:
    random = np.random.default_rng(0)
    made = certified(
        lambda x: float(np.square(x - 3.0).sum() + sd * random.standard_normal()),
        lambda x: [float(x.sum() - 1.0 + sd * random.standard_normal())],
    )
    assert made.noise == pytest.approx([sd, sd], rel=0.5)
    assert made.residual.high - made.residual.low > 0.1 * sd and made.h_error[0] > 0.1 * sd
    assert made.violation.high > made.violation.low and made.active == (Activity.UNDECIDED,)
    assert "repeated calls differ" in made.sentence


def test_noise_that_is_absent_at_the_point_is_found_beside_it() -> None:
    random = np.random.default_rng(0)
    made = certified(
        lambda x: float(np.square(x - 3.0).sum()),
        lambda x: [float(random.poisson(20.0 * max(0.0, 0.5 - x[0]))) - 5.0],
    )
    assert made.calls > 2 + 16 * 2 + 5, "more than the largest cost of exact values"


def test_exact_rows_keep_their_slopes_next_to_a_noisy_objective() -> None:
    random = np.random.default_rng(0)
    made = certified(
        lambda x: float(np.square(x - 3.0).sum() + 0.1 * random.standard_normal()),
        lambda x: [float(np.exp(0.1 * x[0]) + 0.2 * x[1] - np.exp(0.05) - 0.1)],
    )
    assert made.noise[0] > 0.0 and made.noise[1] == 0.0 and made.active == (Activity.ACTIVE,)
    assert made.h_error[0] < 1e-12 and np.isfinite(made.multipliers_high[0])


@pytest.mark.parametrize(
    "rounded",
    [short, lambda value: float(np.float32(value)), lambda value: float(np.floor(1000.0 * value) / 1000.0)],
    ids=["digits", "single", "floor"],
)
def test_rounding_is_part_of_every_error(rounded: Callable[[float], float]) -> None:
    made = certified(lambda x: rounded(np.square(x + 3.0).sum()), lambda x: [x[0] + x[1] - 1.0])
    assert made.step[0] > 0.0 and made.step[1] == 0.0
    assert made.residual.low <= 7.0 * np.sqrt(2.0) <= made.residual.high and made.residual.high > made.residual.low


def test_values_of_few_digits_at_round_points_alone_are_not_rounded() -> None:
    made = certified(lambda x: float(x @ x), lambda x: [x[0] + x[1] - 1.0])
    assert not made.step.any() and made.residual.high - made.residual.low < 1e-9


@pytest.mark.parametrize(
    "jitter",
    [lambda x: 1e-6 * np.sin(1e9 * x[0] + 3e9 * x[1]), lambda x: 0.03 * (x[0] > 0.5001)],
    ids=["early end", "jump"],
)
def test_slopes_that_two_spacings_disagree_on_are_wide_enough(jitter: Callable[[Array], float]) -> None:
    made = certified(lambda x: float(np.square(x + 3.0).sum() + jitter(x)), lambda x: [x[0] + x[1] - 1.0])
    assert made.residual.low <= 7.0 * np.sqrt(2.0) <= made.residual.high


def test_multipliers_of_equal_rows_have_no_upper_bound() -> None:
    made = certified(lambda x: float(-x[0] - x[1]), lambda x: [x[0] + x[1] - 1.0, 2.0 * (x[0] + x[1] - 1.0)], m=2)
    assert made.active == (Activity.ACTIVE, Activity.ACTIVE) and np.isinf(made.multipliers_high).all()
    assert made.residual.high < 1e-9


@pytest.mark.parametrize("seed", range(3))
def test_no_interval_ends_below_the_floor(seed: int) -> None:
    case = next(cases())
    made = Certifier().certify(case.problem(seed), case.smooth.optimum, seed)
    assert made.counted.high >= made.floor and made.residual.high >= made.floor > 1e-4
