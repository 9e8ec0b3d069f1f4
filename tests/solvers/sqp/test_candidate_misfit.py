"""How far calls at a trial point are from the models, and what explains it."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.solvers.sqp.candidate import Misfit, Prediction


def misfit(n: int, distance: float, of_noise: float) -> Misfit:
    """Return that of one output: the model has error 1 at the point, a share of it of noise; a call has noise .1."""
    one = np.ones(1)
    prediction = Prediction(
        point=np.zeros(n),
        values=0.0 * one,
        centre_values=one,
        errors=one,
        centre_errors=one,
        level_error=0.0 * one,
        noise_errors=of_noise * one,
        bias=0.0 * one,
        noise=0.1 * one,
        multipliers=np.empty(0),
        back_off=np.empty(0),
        length=1.0,
        typical_count=1.0,
        largest_bias=0.0,
        visible=True,
        nearby=0,
    )
    return Misfit.of(prediction, distance * one, 1.0, 50.0, np.ones(1, dtype=bool), 0.005)


def test_what_noise_explains_is_neither() -> None:
    small = misfit(3, 0.2, 1.0)
    assert small.size < 1.0 and not small.is_bias and not small.is_curvature


def test_a_band_that_holds_everywhere_grows_with_the_number_of_variables() -> None:
    assert misfit(2, 6.0, 1.0).is_bias and not misfit(100, 6.0, 1.0).is_bias
    assert misfit(100, 15.0, 1.0).is_bias


@pytest.mark.parametrize("of_noise, of_curvature", [(1.0, False), (0.1, True)])
def test_an_error_is_of_noise_or_of_curvature(of_noise: float, of_curvature: bool) -> None:
    assert misfit(100, 6.0, of_noise).is_curvature == of_curvature


def test_the_band_covers_the_point_that_noise_makes_the_best_looking_one() -> None:
    """Slopes with errors of 1 in n variables: their minimiser in a box gains by all of the errors."""
    n, missed = 100, []
    for seed in range(50):
        slopes = np.random.default_rng(seed).standard_normal(n)
        error = np.sqrt(n)  # of the sum at a corner of the box |u| <= 1
        distance = float(np.abs(slopes).sum()) / error  # promised there, and not so, in standard errors
        missed.append((misfit(n, distance, 1.0).is_bias, distance > 4.0))
    assert not any(band for band, _ in missed) and all(pointwise for _, pointwise in missed)
