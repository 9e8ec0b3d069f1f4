"""The models' prediction for a trial point of the noisy arm, and how far the calls there are from it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array

_FALSE_ALARM = 0.005
"""Probability that noise alone is taken for a wrong model, over all rows (Bonferroni)."""


class Prediction(NamedTuple):
    """The models' prediction for a trial point, by which the step is judged once the point has been called.

    Attributes
    ----------
    point : Array, shape (n,)
    values, centre_values, errors, centre_errors, noise_errors, bias, noise : Array, shape (1 + m,)
        Of the model at the point and at the centre, with standard errors; the part of the error at the point that is
        of the calls' noise; the model's own error there; the noise of one call.
    multipliers, back_off : Array, shape (m,)
    length : float
        |u| of the point relative to the trust region.
    typical_count : float
        Calls at a typical point at the border of the region.
    largest_bias : float
        The bias at the border, in standard deviations, of the outputs that matter.
    visible : bool
        Whether the model's changes stand out from the noise.
    nearby : int
        Points of the archive in and around the region.
    """

    point: Array
    values: Array
    centre_values: Array
    errors: Array
    centre_errors: Array
    noise_errors: Array
    bias: Array
    noise: Array
    multipliers: Array
    back_off: Array
    length: float
    typical_count: float
    largest_bias: float
    visible: bool
    nearby: int


class Misfit(NamedTuple):
    """How far the calls at a trial point are from the models.

    Attributes
    ----------
    size : float
        The largest distance of an output, relative to what noise explains.
    is_bias : bool
        Whether one is beyond what the model's own error explains, too: its form is wrong.
    is_curvature : bool
        Whether one is beyond what noise explains, and more than half of the model's variance there is of unknown
        curvature, not of noise.
    """

    size: float
    is_bias: bool
    is_curvature: bool

    @classmethod
    def of(cls, prediction: Prediction, means: Array, count: float, degrees: float, relevant: np.ndarray) -> Misfit:
        """Compare means (1 + m,) of so many calls with the prediction, in the outputs that are relevant, (1 + m,).

        The point is the one that promises the most: where slopes have errors it is the one that gains by all of them,
        and the prediction there is off by sqrt(n) standard errors. So these are multiplied by the factor that makes a
        band which holds everywhere (Scheffé, 1953).
        """
        from scipy import special

        alarm = _FALSE_ALARM / relevant.sum()
        threshold = float(special.stdtrit(max(2.0, degrees), 1.0 - alarm))
        band = float(np.sqrt(special.chdtri(len(prediction.point) + 1.0, alarm)))
        distance, of_calls = np.abs(means - prediction.values), np.square(prediction.noise) / count
        errors = np.square(prediction.errors)
        by_noise = threshold * np.sqrt(of_calls + np.minimum(errors, 0.5 * np.square(prediction.noise)))
        wrong = relevant & (distance > by_noise)
        in_band = distance <= np.sqrt(threshold**2 * of_calls + band**2 * errors)
        return cls(
            size=float((distance / by_noise)[relevant].max()),
            is_bias=bool((wrong & ~in_band).any()),
            is_curvature=bool((wrong & (2.0 * np.square(prediction.noise_errors) < errors)).any()),
        )
