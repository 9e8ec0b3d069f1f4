"""The models' minimiser in a trust region, kept off constraints by some errors, and how far off calls there are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp import elastic_qp
from zoviz.solvers.sqp.constants import STANDARD, SQPConstants
from zoviz.solvers.sqp.elastic_qp import Linearisation, Step
from zoviz.solvers.sqp.regression import Model
from zoviz.solvers.sqp.situation import Space

_CLIPPED = 1e-6
"""The least eigenvalue of the Lagrangian's Hessian, relative to its largest one and to the gradient."""


class Candidate(NamedTuple):
    """A minimiser of the models, at u in units of the radius, with the modelled values and the multipliers there.

    Attributes
    ----------
    u : Array, shape (n,)
    values : Array, shape (1 + m,)
    multipliers, back_off : Array, shape (m,)
    penalty : float
    """

    u: Array
    values: Array
    multipliers: Array
    back_off: Array
    penalty: float


class Region(NamedTuple):
    """The box of u (n,) in which a candidate is sought, its radius, and the violation (m,) that counts as none."""

    lower: Array
    upper: Array
    radius: float
    tolerance: Array
    constants: SQPConstants = STANDARD


def region(centre: Array, spread: float, radius: float, space: Space, noise: Array) -> Region:
    """Return the part of the trust region |u| <= radius around a centre (n,) in the box, u in units of ``spread``."""
    c = space.constants
    lower = np.minimum(np.maximum(-radius, (space.lower - centre) / (space.scale * spread)), 0.0)
    upper = np.maximum(np.minimum(radius, (space.upper - centre) / (space.scale * spread)), 0.0)
    return Region(lower, upper, radius, np.maximum(space.tolerance, c.least_tolerance * noise), c)


def minimise(model: Model, back_off: Array, region: Region, start: Array, penalty: float) -> Candidate:
    """Minimise the model of f where those of h + back_off (m,) are at most 0, by SQP from u = ``start`` (n,)."""
    c = region.constants
    u = np.minimum(np.maximum(start, region.lower), region.upper)
    values, slopes = model.value(u), model.gradient(u)
    multipliers, radius = np.zeros(len(back_off)), region.radius
    enough = float(region.tolerance.min(initial=np.inf)) if len(back_off) else 0.0
    for _ in range(c.inner_steps):
        hessian = _convex(model.hessian(np.concatenate([[1.0], multipliers])), float(np.abs(slopes[:, 0]).max()))
        h = values[1:] + back_off
        lower, upper = np.maximum(region.lower - u, -radius), np.minimum(region.upper - u, radius)
        programme = Linearisation(hessian, slopes[:, 0], slopes[:, 1:].T, h, lower, upper)
        step = elastic_qp.steered(programme, penalty, c.noisy_penalty, c.next_to_none * enough)
        multipliers, penalty = step.multipliers, step.penalty
        if rows_are_met(step, c.next_to_none * enough):
            penalty = max(penalty, 1.5 * step.largest_multiplier)
        decrease = slopes[:, 0] @ step.d + 0.5 * step.d @ hessian @ step.d
        model_decrease = penalty * (np.maximum(h, 0.0).sum() - step.violation) - decrease
        if not model_decrease > c.inner_too_small * model.noise[0]:
            break
        ahead = model.value(u + step.d)
        change = _merit(values, back_off, penalty) - _merit(ahead, back_off, penalty)
        if change > c.inner_sufficient * model_decrease:
            u, values = u + step.d, ahead
            slopes = model.gradient(u)
            radius = min(region.radius, 2.0 * radius) if change > c.inner_good * model_decrease else radius
        else:
            radius = 0.3 * min(radius, float(np.abs(step.d).max()))
        if radius < c.inner_shortest * region.radius:
            break
    return Candidate(u, values, multipliers, back_off, penalty)


def rows_are_met(step: Step, most: float) -> bool:
    """Return whether a step leaves so little violation that its multipliers tell how large a penalty must be.

    Where rows stay violated, those of the others balance them and grow with the penalty: they would raise it for ever.
    """
    return step.violation <= most


def candidate(
    model: Model, region: Region, penalty: float, equalities: np.ndarray, errors: float, most: float
) -> Candidate:
    """Return the models' minimiser, every inequality tightened by some standard errors, as far as that stays feasible.

    Parameters
    ----------
    model : Model
    region : Region
    penalty : float
        Of the merit function so far.
    equalities : ndarray of bool, shape (m,)
        Rows that are not backed off: both of a pair together would leave nothing.
    errors : float
        Standard errors of the model at the minimiser.
    most : float
        Largest back-off in standard deviations of the noise: errors beyond it are an unknown model, not noise.
    """
    c = region.constants
    m = len(equalities)
    best = minimise(model, np.zeros(m), region, np.zeros(len(region.lower)), penalty)
    for _ in range(2 if m else 0):
        uncertainty = errors * model.standard_error(best.u)[1:] - 0.5 * region.tolerance
        back_off = np.where(equalities, 0.0, np.minimum(np.maximum(0.0, uncertainty), most * model.call_noise[1:]))
        cautious = minimise(model, back_off, region, best.u, penalty)
        shortfall = np.maximum(cautious.values[1:] + back_off, 0.0)[~equalities].max(initial=0.0)
        if shortfall > 0.5 * back_off.max(initial=0.0) + 1e-12:
            cautious = minimise(model, back_off / 3.0, region, best.u, penalty)
        best = cautious
    excess = np.maximum(best.values[1:] + best.back_off, 0.0)
    multipliers = best.multipliers[best.multipliers < elastic_qp.SATURATED * best.penalty]
    if (excess <= 0.2 * region.tolerance).all():
        penalty = max(2.0 * float(multipliers.max(initial=0.0)), c.decay * penalty, 1e-2)
    else:  # free to change by more, it would make acceptance inconsistent from step to step
        slope = float(np.abs(model.gradient(np.zeros(len(region.lower)))[:, 0]).max())
        penalty = float(np.clip(best.penalty, penalty, 3.0 * max(penalty, 1.0, slope)))
    return best._replace(penalty=penalty)


class Prediction(NamedTuple):
    """The models' prediction for a trial point, by which the step is judged once the point has been called.

    Attributes
    ----------
    point : Array, shape (n,)
    values, centre_values, errors, centre_errors, level_error, noise_errors, bias, noise : Array, shape (1 + m,)
        Of the model at the point and at the centre, with standard errors; where calls share noise of the difference,
        and then the error that all points share; the part of the error at the point that is of the calls' noise; the
        model's own error there; the noise of one call, or of a difference.
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
    level_error: Array
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
    def of(
        cls,
        prediction: Prediction,
        means: Array,
        count: float,
        degrees: float,
        relevant: np.ndarray,
        false_alarm: float,
    ) -> Misfit:
        """Compare means (1 + m,) of calls with the prediction, in the relevant outputs (1 + m,).

        The point is the one that promises the most: where slopes have errors it is the one that gains by all of them,
        and the prediction there is off by sqrt(n) standard errors. So these are multiplied by the factor that makes a
        band which holds everywhere (Scheffé, 1953).
        """
        from scipy import special

        alarm = false_alarm / relevant.sum()
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


def _merit(values: Array, back_off: Array, penalty: float) -> float:
    return float(values[0] + penalty * np.maximum(values[1:] + back_off, 0.0).sum())


def _convex(hessian: Array, slope: float) -> Array:
    """Return the Hessian with its eigenvalues raised to a small positive one."""
    from scipy import linalg

    eigenvalues, vectors = linalg.eigh((hessian + hessian.T) / 2.0, check_finite=False)
    least = _CLIPPED * max(float(np.abs(eigenvalues).max()), slope, 1e-12)
    return (vectors * np.maximum(eigenvalues, least)) @ vectors.T
