"""One descent of the noisy arm: regression, candidate, trial; radii and numbers of calls by tests against the noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp import candidate as candidates
from zoviz.solvers.sqp.archive import Archive, Pairs
from zoviz.solvers.sqp.candidate import Misfit, Prediction
from zoviz.solvers.sqp.regression import Data, Model, Prior, fit, priors
from zoviz.solvers.sqp.situation import Situation, Space

LARGEST_RADIUS = 50.0
_WITHIN, _FARTHEST = 2.0, 20.0
"""Points of the archive within twice the radius serve a fit; where they are too few, the nearest up to twenty."""
_MOST_SMALL, _MOST, _MOST_PER_VARIABLE = 320, 420, 6
"""Points of a fit at most: up to 15 variables, and beyond, where so many per variable may be more."""
_REFRESHED, _ALWAYS_UP_TO = 6, 60
"""Every so many fits, and with so few points, all magnitudes are tried; else those that served last."""
_EXACT, _LEAST_SHARE = 1e-9, 1e-4
"""Noise, relative to how much an output changes within reach, below which it is exact beside noisy ones, and the noise
that it then counts with: curvatures are in units of noise, in which its own could not be represented."""
_NEAR = 1.3
_AT_BORDER, _PUSHES, _STRETCH, _LONGEST = 0.9, 3, 2.0, 1e6
"""A variable that so many accepted steps in turn took this share of the way to the border of the region, in one
direction, while the region did not outgrow its largest radius, gets twice the unit, up to so many times its first one.
Where its direction changes it gets half of it, down to the first one."""
_HIDDEN = 0.5
"""The quadratic part, in standard deviations, below which a smaller sampling radius would show no more."""


class Descent(NamedTuple):
    """The state of one descent of the noisy arm between two steps.

    Attributes
    ----------
    centre : Array, shape (n,)
    radius, scale, floor : float
        Of the trust region, and what it is multiplied by; and the least radius of the design, below which noise hides
        the curvature.
    penalty : float
    limited : int
        How many steps more were limited by noise than made progress: 0 is plain descent.
    calls : int
        Calls of a step that is limited by noise.
    steps, failures, fits : int
    priors : list of Prior
        Magnitudes that served the last fit.
    coarse : bool
        Whether the descent is only to find a good basin.
    stop : int
        Calls of the replica at which the descent ends.
    prediction : Prediction or None
    multipliers : Array, shape (m,)
    accepted : bool
        Whether the last trial was accepted.
    length : Array, shape (n,)
        The variables' units in those of the search space: the region is a box with these proportions.
    pushes : Array, shape (n,)
        How many accepted steps in turn took each variable to the border of the region; its sign is their direction.
    peak : float
        The largest radius so far.
    whole_design : bool
        Whether the next design has all its points, as those that are there tell too little of the curvature.
    """

    centre: Array
    radius: float
    scale: float
    floor: float
    penalty: float
    limited: int
    calls: int
    steps: int
    failures: int
    fits: int
    priors: list[Prior]
    coarse: bool
    stop: int
    prediction: Prediction | None
    multipliers: Array
    accepted: bool
    length: Array
    pushes: Array
    peak: float
    whole_design: bool = False

    @property
    def spread(self) -> float:
        """The radius of the design, in which the models' variables are measured."""
        return max(self.scale * self.radius, self.floor)


def begin(centre: Array, m: int, radius: float, penalty: float, coarse: bool, stop: int) -> Descent:
    """Return a descent that begins at a centre (n,), for m constraints."""
    return Descent(
        centre=centre,
        radius=radius,
        scale=1.0,
        floor=0.0,
        penalty=penalty,
        limited=0,
        calls=0,
        steps=0,
        failures=0,
        fits=0,
        priors=[],
        coarse=coarse,
        stop=stop,
        prediction=None,
        multipliers=np.zeros(m),
        accepted=False,
        length=np.ones(len(centre)),
        pushes=np.zeros(len(centre)),
        peak=radius,
    )


def design_size(descent: Descent, situation: Situation) -> int:
    """Return the number of points that a trust region should hold, by the budget."""
    n, budget = situation.space.n, situation.budget
    size = n + 1 if budget < 60 * (n + 1) else 2 * n + 2
    if budget > 600 * (n + 1):
        size = 3 * n + 3 if descent.coarse else max(3 * n + 3, budget // 1500)
    return max(2, int(size * situation.settings.batch_multiplier))


def design_calls(descent: Descent, archive: Archive, situation: Situation) -> tuple[int, int]:
    """Return how many points the next design has, and how often each is called."""
    n, calls_left, size = situation.space.n, situation.left, design_size(descent, situation)
    if descent.limited == 0:
        whole = descent.steps == 0 or descent.whole_design
        count = size if whole else max(n // 3 + 1, size - _count_nearby(descent, archive, situation.space))
        return min(count, max(1, calls_left - 2)), 1
    calls = max(1, noisy_calls(descent, situation) // 2)
    count = max(1, min(calls, max(2 * n + 2, 40)))
    return count, max(1, calls // count)


def noisy_calls(descent: Descent, situation: Situation) -> int:
    """Return the calls of a step that is limited by noise: at most half of what is left."""
    count = int(max(descent.calls, 2) * situation.settings.batch_multiplier)
    return min(count, max(2, situation.left // 2))


def trial_calls(descent: Descent, situation: Situation) -> int:
    """Return how often the trial point is called."""
    return 1 if descent.limited == 0 else max(1, noisy_calls(descent, situation) // 2)


def is_stranded(descent: Descent, archive: Archive, space: Space) -> bool:
    """Return whether so few calls gave values around the centre that nothing can be fitted there."""
    return int((_reach(descent, archive, space) <= _FARTHEST).sum()) < 2


def _reach(descent: Descent, archive: Archive, space: Space) -> Array:
    """Return the distances (N,) of the archive's points from the centre, in units of the design's radius."""
    return np.abs((archive.points - descent.centre) / (space.scale * descent.spread)).max(axis=1)


def _count_nearby(descent: Descent, archive: Archive, space: Space) -> int:
    return int((_reach(descent, archive, space) <= _NEAR).sum())


def most_points(n: int) -> int:
    """Return the points of a fit at most."""
    return _MOST_SMALL if n <= 15 else max(_MOST, _MOST_PER_VARIABLE * n)


def enough_points(n: int) -> int:
    """Return the points that tell the curvature as well as any: two for each coefficient of a quadratic model."""
    return min((n + 1) * (n + 2), most_points(n))


def shrink(descent: Descent) -> Descent:
    """Return the descent after a step whose calls all failed."""
    return descent._replace(
        radius=0.4 * descent.radius,
        floor=0.0,
        failures=descent.failures + 1,
        steps=descent.steps + 1,
        accepted=False,
    )


def fit_models(descent: Descent, archive: Archive, pairs: Pairs, space: Space) -> tuple[Descent, Model]:
    """Return the descent, and the models of all outputs fitted to the archive's points around its centre."""
    reach = _reach(descent, archive, space)
    near = np.flatnonzero(reach <= _WITHIN)
    if len(near) < space.n + 3:
        near = np.argsort(reach, kind="stable")[: space.n + 3]
        near = near[: max(2, int((reach[near] <= _FARTHEST).sum()))]
    most = most_points(space.n)
    if len(near) > most:
        order = np.argsort(reach[near] - 0.3 * np.log(archive.counts[near]), kind="stable")
        near = near[order[:most]]
    values, noise = pairs.joined(archive.means[near], archive.local_noise(reach <= _WITHIN))
    change = np.ptp(values, axis=0)
    noise = np.where(noise <= _EXACT * change, _LEAST_SHARE * change, noise)
    u = (archive.points[near] - descent.centre) / (space.scale * descent.spread)
    data = Data(u, reach[near], archive.counts[near], values)
    all_priors = priors(space.n)
    refresh = descent.fits % _REFRESHED == 0 or len(near) <= _ALWAYS_UP_TO or not descent.priors
    options = all_priors if refresh else descent.priors
    model = fit(data, noise, options)
    useful = [one for one in all_priors if one in model.priors or one in (all_priors[0], all_priors[8])]
    return descent._replace(fits=descent.fits + 1, priors=useful), model


def predict(descent: Descent, archive: Archive, pairs: Pairs, situation: Situation) -> tuple[Descent, Prediction]:
    """Return the descent with the prediction for its next trial point, and that prediction."""
    space, m = situation.space, len(descent.multipliers)
    descent, model = fit_models(descent, archive, pairs, space)
    spread, equalities = descent.spread, pairs.paired(m)
    trust = min(1.0, descent.scale * descent.radius / spread)
    region = candidates.region(descent.centre, spread, trust, space, model.noise[1:])
    most = 3.0 if descent.limited > 1 else 0.5
    best = candidates.candidate(model, region, descent.penalty, equalities, situation.settings.back_off, most)
    point = space.clip(descent.centre + space.scale * spread * best.u)
    matter = _matter(best.multipliers)
    data, origin = model.data, np.zeros(space.n)
    far = data.reach > 0.5
    visible, hidden_share = _visibility(model, matter, space.n)
    prediction = Prediction(
        point=point,
        values=best.values,
        centre_values=model.value(origin),
        errors=model.standard_error(best.u),
        centre_errors=model.standard_error(origin),
        noise_errors=model.noise_error(best.u),
        bias=model.bias * model.noise * float(np.abs(best.u).max()) ** 3,
        noise=model.noise,
        multipliers=best.multipliers,
        back_off=best.back_off,
        length=float(np.abs(best.u).max()) / trust,
        typical_count=float(np.median(data.counts[far])) if far.any() else 1.0,
        largest_bias=float(model.bias[matter].max()),
        visible=visible,
        nearby=_count_nearby(descent, archive, space),
    )
    descent = descent._replace(
        prediction=prediction,
        multipliers=best.multipliers,
        penalty=best.penalty,
        floor=spread * hidden_share,
        whole_design=False,
    )
    return descent, prediction


def _matter(multipliers: Array) -> np.ndarray:
    """Return which outputs matter: f, and constraints with a multiplier, (1 + m,) of bool."""
    return np.concatenate([[True], multipliers > 1e-6 * max(1.0, float(multipliers.max(initial=0.0)))])


def _visibility(model: Model, matter: np.ndarray, n: int) -> tuple[bool, float]:
    """Return whether the model's changes stand out from the noise, and the share of the radius that hides curvature."""
    near = np.flatnonzero(model.data.reach <= _NEAR)
    if len(near) <= n + 1:
        return True, 0.0
    linear, quadratic = model.parts(near, np.flatnonzero(matter))
    noise = model.noise[matter]
    few = np.sqrt((n + 1) / len(near) / np.median(model.data.counts[near]))
    visible = bool(((linear + quadratic).std(axis=0) >= 1.5 * noise * few).any())
    bend = float((np.abs(quadratic).max(axis=0) / noise).max())
    return visible, float(min(1.0, np.sqrt(_HIDDEN / max(bend, 1e-12))))


def judge(
    descent: Descent, prediction: Prediction, archive: Archive, pairs: Pairs, situation: Situation
) -> tuple[Descent, Array, Array]:
    """Return a descent after its trial, and the estimates at the trial point with their errors, (1 + m,) each.

    A step is judged by the precision-weighted mean of the model and of the calls; a radius shrinks only where an output
    differs from its model by more than the noise and the model's own error explain.
    """
    i = archive.find(prediction.point)
    if i < 0:  # every call failed
        return shrink(descent), prediction.values, np.full(len(prediction.values), np.inf)
    call_means, _ = pairs.joined(archive.means[i], prediction.noise)
    of_model = np.square(prediction.errors) + np.square(prediction.bias)
    of_calls = np.square(prediction.noise) / archive.counts[i]
    variance = 1.0 / (1.0 / np.maximum(of_model, 1e-300) + 1.0 / of_calls)
    estimate = variance * (prediction.values / np.maximum(of_model, 1e-300) + call_means / of_calls)
    margin = 2.0 * np.sqrt(of_calls[1:])
    close = np.maximum(prediction.values[1:], prediction.centre_values[1:]) + prediction.back_off > -margin
    equal = pairs.paired(len(prediction.multipliers))
    weights = np.maximum(prediction.multipliers, np.where(close & ~equal, 0.7 * descent.penalty, 0.0))
    weights = np.square(np.concatenate([[1.0], weights]))
    of_change = weights * (variance + np.square(prediction.centre_errors))
    uncertainty = float(np.sqrt(of_change.sum()))
    own = of_calls + np.minimum(np.square(prediction.errors), 0.5 * np.square(prediction.noise))
    present = _merit(prediction.centre_values, prediction, descent.penalty)
    promise = present - _merit(prediction.values, prediction, descent.penalty)
    decrease = present - _merit(estimate, prediction, descent.penalty)
    call_uncertainty = float(np.sqrt((weights * own).sum()))
    limited = promise < 2.0 * min(uncertainty, call_uncertainty)
    # Noise of f does not hide that a step leads towards the feasible set.
    nearer = _violation(prediction.centre_values, prediction) - _violation(prediction.values, prediction)
    if limited and descent.penalty * nearer > 2.0 * np.sqrt(min(of_change[1:].sum(), (weights * own)[1:].sum())) > 0.0:
        limited, uncertainty = False, float(np.sqrt(of_change[1:].sum()))
    accepted = decrease > 0.0 or (limited and decrease > -uncertainty)
    near = np.maximum(call_means[1:], prediction.values[1:]) + prediction.back_off > -margin
    weighty = prediction.multipliers > 1e-6 * max(1e-9, float(prediction.multipliers.max(initial=0.0)))
    relevant = np.concatenate([[True], weighty | near])
    after = _with_radius(descent, prediction, promise, decrease, uncertainty, call_uncertainty, limited)
    if not limited and decrease < 0.25 * promise:
        misfit = Misfit.of(prediction, call_means, archive.counts[i], archive.degrees, relevant)
        after = after_misfit(after, misfit, prediction.nearby, situation)
    if not limited and decrease > 0.5 * promise and after.limited:
        size = design_size(after, situation)
        fewer = after.limited - 1
        after = after._replace(limited=fewer, calls=size if fewer == 0 else max(size, int(after.calls / 1.6)))
    if not prediction.visible:
        after = after._replace(radius=min(2.0 * after.radius, LARGEST_RADIUS))
    after = _with_lengths(after, prediction, bool(accepted), situation.space)
    after = after._replace(
        centre=prediction.point if accepted else after.centre, steps=after.steps + 1, accepted=bool(accepted)
    )
    return after, estimate, np.sqrt(variance)


def _with_lengths(descent: Descent, prediction: Prediction, accepted: bool, space: Space) -> Descent:
    """Stretch the region along variables that step after step leaves by the same side, where it grows no more.

    One radius for all is that of the variable along which the functions bend most; another that has far to go would
    crawl there. As in Rprop (Riedmiller and Braun, 1993), a direction that lasts doubles a length and one that changes
    halves it.
    """
    if descent.radius > descent.peak:
        return descent._replace(peak=descent.radius)
    if not accepted:
        return descent
    step = (prediction.point - descent.centre) / space.scale
    direction = np.where(np.abs(step) >= _AT_BORDER * np.abs(step).max(), np.sign(step), 0.0)
    turned = direction * descent.pushes < 0.0
    pushes = np.where(direction * descent.pushes > 0.0, descent.pushes + direction, direction)
    lasting = (np.abs(pushes) >= _PUSHES) & (prediction.length > _AT_BORDER)
    factor = np.where(lasting, _STRETCH, np.where(turned, 1.0 / _STRETCH, 1.0))
    length = np.clip(descent.length * factor, 1.0, _LONGEST)
    return descent._replace(length=length, pushes=np.where(lasting, np.sign(pushes), pushes))


def _violation(values: Array, prediction: Prediction) -> float:
    return float(np.maximum(values[1:] + prediction.back_off, 0.0).sum())


def _merit(values: Array, prediction: Prediction, penalty: float) -> float:
    return float(values[0]) + penalty * _violation(values, prediction)


def after_misfit(descent: Descent, misfit: Misfit, nearby: int, situation: Situation) -> Descent:
    """Shrink the region where the models' form is wrong; else ask for more points, or for more calls.

    A smaller region would not help models that are only badly known: slopes are known less the smaller it is. Unknown
    curvatures matter less there, but points of the present region are lost: it shrinks where there are two for each
    coefficient of a quadratic, or as many as a fit takes.
    """
    n = situation.space.n
    if misfit.is_curvature and not misfit.is_bias and nearby < enough_points(n):
        return descent._replace(whole_design=True)
    if misfit.is_bias or misfit.is_curvature:
        return descent._replace(radius=0.5 * descent.radius)
    radius = min(1.4 * descent.radius, LARGEST_RADIUS) if misfit.size < 0.7 else descent.radius
    return descent._replace(limited=descent.limited + 1, calls=max(descent.calls, 3 * n), radius=radius)


def _with_radius(
    descent: Descent,
    prediction: Prediction,
    promise: float,
    decrease: float,
    uncertainty: float,
    call_uncertainty: float,
    limited: bool,
) -> Descent:
    """Set the radius, and under the limit of noise the number of calls, by what the step promised and gave."""
    n, radius = len(descent.centre), descent.radius
    good = decrease > 0.7 * promise and prediction.length > 0.8
    if not limited:
        return descent._replace(radius=min(2.0 * radius, LARGEST_RADIUS)) if good else descent
    more = descent.limited + 1
    calls = int(1.6 * descent.calls) + 1 if more > 1 and decrease < 2.0 * uncertainty else max(descent.calls, 4 * n)
    if good and decrease > 2.0 * call_uncertainty:
        radius = min(2.0 * radius, LARGEST_RADIUS)
    # More calls at a radius whose bias shows are useless; a larger radius whose bias hides costs nothing.
    if prediction.largest_bias**2 > 4.0 / prediction.typical_count:
        radius *= 0.7
    elif prediction.largest_bias**2 < 0.25 / prediction.typical_count:
        radius = min(1.4 * radius, LARGEST_RADIUS)
    return descent._replace(limited=more, calls=calls, radius=radius)
