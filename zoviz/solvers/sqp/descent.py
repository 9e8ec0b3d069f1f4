"""One descent of the noisy arm: regression, candidate, trial; radii and numbers of calls by tests against the noise."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp import candidate as candidates
from zoviz.solvers.sqp.archive import Archive
from zoviz.solvers.sqp.candidate import Misfit, Prediction
from zoviz.solvers.sqp.constants import SQPConstants
from zoviz.solvers.sqp.regression import Data, Model, Prior, fit, priors
from zoviz.solvers.sqp.situation import Space, StepContext


@dataclass
class Descent:
    """One descent of the noisy arm.

    Attributes
    ----------
    centre : Array, shape (n,)
    radius, scale, floor : float
        Of the trust region, and what it is multiplied by; and the least radius of the design, below which noise hides
        the curvature.
    penalty : float
    coarse : bool
        Whether the descent is only to find a good basin.
    stop : int
        Calls of the replica at which the descent ends.
    multipliers : Array, shape (m,)
    length : Array, shape (n,)
        The variables' units in those of the search space: the region is a box with these proportions.
    pushes : Array, shape (n,)
        How many accepted steps in turn took each variable to the border of the region; its sign is their direction.
    peak : float
        The largest radius so far.
    limited : int
        How many steps more were limited by noise than made progress: 0 is plain descent.
    calls : int
        Calls of a step that is limited by noise.
    steps, failures, fits : int
    priors : list of Prior
        Magnitudes that served the last fit.
    whole_design : bool
        Whether the next design has all its points, as those that are there tell too little of the curvature.
    rich : bool
        Whether the first design needs no more points than any other, as past ones may be there.
    """

    centre: Array
    radius: float
    penalty: float
    coarse: bool
    stop: int
    multipliers: Array
    length: Array
    pushes: Array
    peak: float
    scale: float = 1.0
    floor: float = 0.0
    limited: int = 0
    calls: int = 0
    steps: int = 0
    failures: int = 0
    fits: int = 0
    priors: list[Prior] = field(default_factory=list)
    whole_design: bool = False
    rich: bool = False

    @classmethod
    def start(cls, centre: Array, m: int, radius: float, penalty: float, coarse: bool, stop: int) -> Descent:
        """Return a descent that begins at a centre (n,), for m constraints."""
        n = len(centre)
        return cls(centre, radius, penalty, coarse, stop, np.zeros(m), np.ones(n), np.zeros(n), radius)

    @property
    def spread(self) -> float:
        """The radius of the design, in which the models' variables are measured."""
        return max(self.scale * self.radius, self.floor)

    def design_size(self, context: StepContext) -> int:
        """Return the number of points that a trust region should hold, by the budget."""
        n, budget = len(self.centre), context.budget
        size = n + 1 if budget < 60 * (n + 1) else 2 * n + 2
        if budget > 600 * (n + 1):
            size = 3 * n + 3 if self.coarse else max(3 * n + 3, budget // 1500)
        return max(2, int(size * context.settings.batch_multiplier))

    def design_calls(self, archive: Archive, context: StepContext, space: Space) -> tuple[int, int]:
        """Return how many points the next design has, and how often each is called."""
        n, size = space.n, self.design_size(context)
        if self.limited == 0:
            whole = (self.steps == 0 and not self.rich) or self.whole_design
            count = size if whole else max(n // 3 + 1, size - self.count_nearby(archive, space))
            return min(count, max(1, context.left - 2)), 1
        calls = max(1, self._noisy_calls(context) // 2)
        count = max(1, min(calls, max(2 * n + 2, 40)))
        return count, max(1, calls // count)

    def trial_calls(self, context: StepContext) -> int:
        """Return how often the trial point is called."""
        return 1 if self.limited == 0 else max(1, self._noisy_calls(context) // 2)

    def _noisy_calls(self, context: StepContext) -> int:
        """Return the calls of a step that is limited by noise: at most half of what is left."""
        count = int(max(self.calls, 2) * context.settings.batch_multiplier)
        return min(count, max(2, context.left // 2))

    def is_stranded(self, archive: Archive, space: Space) -> bool:
        """Return whether so few calls gave values around the centre that nothing can be fitted there."""
        c = space.constants
        return int((self._reach(archive.points, space) <= c.farthest).sum()) < 2

    def _reach(self, points: Array, space: Space) -> Array:
        """Return the distances (N,) of points (N, n) from the centre, in units of the design's radius."""
        return np.abs((points - self.centre) / (space.scale * self.spread)).max(axis=1)

    def count_nearby(self, archive: Archive, space: Space) -> int:
        """Return how many points of the archive count for the next design."""
        return self.nearby(archive.points, space)

    def nearby(self, points: Array, space: Space) -> int:
        """Return how many of points (N, n) count for the next design."""
        return int((self._reach(points, space) <= space.constants.nearby).sum())

    def shrink(self) -> None:
        """Shrink the region after a step whose calls all failed."""
        self.radius, self.floor = 0.4 * self.radius, 0.0
        self.failures, self.steps = self.failures + 1, self.steps + 1

    def fit(self, archive: Archive, space: Space) -> Model:
        """Return the models of all outputs, fitted to the archive's points around the centre."""
        c, rows = space.constants, archive.rows
        reach = self._reach(rows.points, space)
        near = np.flatnonzero(reach <= c.within)
        if len(near) < space.n + 3:
            near = np.argsort(reach, kind="stable")[: space.n + 3]
            near = near[: max(2, int((reach[near] <= c.farthest).sum()))]
        most, known = most_points(space.n, c), near
        if len(near) > most:
            order = np.argsort(reach[near] - 0.3 * np.log(rows.counts[near]), kind="stable")
            near = near[order[:most]]
        local = self._reach(archive.points, space) <= c.within
        values, noise = archive.pairs.joined(rows.means[near], archive.local_noise(local, c))
        change = np.ptp(values, axis=0)
        noise = np.where(noise <= c.exact * change, c.least_share * change, noise)
        every = priors(space.n, c, rows.batched)
        refresh = self.fits % c.refreshed == 0 or len(near) <= c.refreshed_up_to or not self.priors
        model = fit(self._data(archive, near, space), noise, every if refresh else self.priors)
        if rows.batched and len(known) > most:
            model.level_by(self._data(archive, known, space))
        usual, shared = {prior[:3] for prior in (every[0], every[8])}, {prior.shared for prior in model.priors}
        self.priors = [one for one in every if one in model.priors or (one[:3] in usual and one.shared in shared)]
        self.fits += 1
        return model

    def _data(self, archive: Archive, near: np.ndarray, space: Space) -> Data:
        """Return the archive's rows of these places, in units of the design's radius around the centre."""
        points, counts, means, numbers = (column[near] for column in archive.rows)
        u = (points - self.centre) / (space.scale * self.spread)
        values, _ = archive.pairs.joined(means, archive.noise)
        return Data(u, self._reach(points, space), counts, values, (numbers == np.unique(numbers)).astype(float))

    def predict(self, archive: Archive, space: Space, back_off: float) -> Prediction:
        """Return the prediction for the next trial point, the models' minimiser in the region."""
        model = self.fit(archive, space)
        spread, equalities = self.spread, archive.pairs.paired(len(self.multipliers))
        trust = min(1.0, self.scale * self.radius / spread)
        region = candidates.region(self.centre, spread, trust, space, model.noise[1:])
        most = 3.0 if self.limited > 1 else 0.5
        best = candidates.candidate(model, region, self.penalty, equalities, back_off, most)
        (u,) = space.kept.within(best.u[None], lambda point: model.upper(point, space.constants.proof))
        if space.kept.any:
            best = best._replace(u=u, values=model.value(u))
        matter = _matter(best.multipliers)
        data, origin = model.data, np.zeros(space.n)
        far = data.reach > 0.5
        visible, hidden_share = _visibility(model, matter, space.constants)
        nearby = self.count_nearby(archive, space)
        self.multipliers, self.penalty, self.floor = best.multipliers, best.penalty, spread * hidden_share
        self.whole_design = False
        return Prediction(
            point=space.clip(self.centre + space.scale * spread * best.u),
            values=best.values,
            centre_values=model.value(origin),
            errors=model.standard_error(best.u, not model.batched),
            centre_errors=model.standard_error(origin, not model.batched),
            level_error=model.level_error,
            noise_errors=model.noise_error(best.u, not model.batched),
            bias=model.bias * model.noise * float(np.abs(best.u).max()) ** 3,
            noise=np.sqrt(2.0) * model.noise if model.batched else model.noise,
            multipliers=best.multipliers,
            back_off=best.back_off,
            length=float(np.abs(best.u).max()) / trust,
            typical_count=float(np.median(data.counts[far])) if far.any() else 1.0,
            largest_bias=float(model.bias[matter].max()),
            visible=visible,
            nearby=nearby,
        )

    def judge(self, prediction: Prediction, archive: Archive, context: StepContext, space: Space) -> Verdict:
        """Accept or refuse a trial, and set the radius and the calls of the next step.

        A step is judged by the precision-weighted mean of the model and of the calls; a radius shrinks only where an
        output differs from its model by more than the noise and the model's own error explain. Where calls share noise,
        their differences from those at the centre in the same batches count.
        """
        c, (call_means, count) = space.constants, self._calls_at(prediction, archive)
        if not count:  # every call failed
            self.shrink()
            return Verdict(False, prediction.values, np.full(len(prediction.values), np.inf))
        of_model = np.square(prediction.errors) + np.square(prediction.bias)
        of_calls = np.square(prediction.noise) / count
        variance = 1.0 / (1.0 / np.maximum(of_model, 1e-300) + 1.0 / of_calls)
        estimate = variance * (prediction.values / np.maximum(of_model, 1e-300) + call_means / of_calls)
        margin = 2.0 * np.sqrt(of_calls[1:])
        close = np.maximum(prediction.values[1:], prediction.centre_values[1:]) + prediction.back_off > -margin
        equal = archive.pairs.paired(len(prediction.multipliers))
        weights = np.maximum(prediction.multipliers, np.where(close & ~equal, 0.7 * self.penalty, 0.0))
        weights = np.square(np.concatenate([[1.0], weights]))
        of_change = weights * (variance + np.square(prediction.centre_errors))
        uncertainty = float(np.sqrt(of_change.sum()))
        own = of_calls + np.minimum(np.square(prediction.errors), 0.5 * np.square(prediction.noise))
        present = _merit(prediction.centre_values, prediction, self.penalty)
        promise = present - _merit(prediction.values, prediction, self.penalty)
        decrease = present - _merit(estimate, prediction, self.penalty)
        call_uncertainty = float(np.sqrt((weights * own).sum()))
        limited = promise < 2.0 * min(uncertainty, call_uncertainty)
        # Noise of f does not hide that a step leads towards the feasible set.
        nearer = _violation(prediction.centre_values, prediction) - _violation(prediction.values, prediction)
        if limited and self.penalty * nearer > 2.0 * np.sqrt(min(of_change[1:].sum(), (weights * own)[1:].sum())) > 0.0:
            limited, uncertainty = False, float(np.sqrt(of_change[1:].sum()))
        inside = bool(space.kept.hold((estimate + np.sqrt(variance))[1:]))
        accepted = inside and bool(decrease > 0.0 or (limited and decrease > -uncertainty))
        good = decrease > 0.7 * promise and prediction.length > 0.8
        if limited:
            self._spend_more(prediction, decrease < 2.0 * uncertainty, good and decrease > 2.0 * call_uncertainty, c)
        elif good:
            self._grow(2.0, c)
        if not limited and decrease < 0.25 * promise:
            near = np.maximum(call_means[1:], prediction.values[1:]) + prediction.back_off > -margin
            weighty = prediction.multipliers > 1e-6 * max(1e-9, float(prediction.multipliers.max(initial=0.0)))
            relevant = np.concatenate([[True], weighty | near])
            misfit = Misfit.of(prediction, call_means, count, archive.degrees, relevant, c.false_alarm)
            self.after_misfit(misfit, prediction.nearby, c)
        if not limited and decrease > 0.5 * promise and self.limited:
            size, self.limited = self.design_size(context), self.limited - 1
            self.calls = max(size, int(self.calls / 1.6)) if self.limited else size
        if not prediction.visible:
            self._grow(2.0, c)
        self._stretch(prediction, accepted, space)
        self.centre, self.steps = prediction.point if accepted else self.centre, self.steps + 1
        return Verdict(accepted, estimate, np.sqrt(variance + np.square(prediction.level_error)))

    def _calls_at(self, prediction: Prediction, archive: Archive) -> tuple[Array, float]:
        """Return the mean outputs (1 + m,) of the calls at a trial point, and their number; 0 where all failed."""
        if archive.batches is not None:
            difference, count = archive.batches.difference(prediction.point, self.centre)
            return prediction.centre_values + archive.pairs.joined(difference, prediction.noise)[0], count
        i = archive.find(prediction.point)
        if i < 0:
            return prediction.values, 0.0
        return archive.pairs.joined(archive.means[i], prediction.noise)[0], archive.counts[i]

    def after_misfit(self, misfit: Misfit, nearby: int, c: SQPConstants) -> None:
        """Shrink the region where the models' form is wrong; else ask for more points, or for more calls.

        A smaller region would not help models that are only badly known: slopes are known less the smaller it is.
        Unknown curvatures matter less there, but points of the present region are lost: it shrinks where there are two
        for each coefficient of a quadratic, or as many as a fit takes.
        """
        n = len(self.centre)
        if misfit.is_curvature and not misfit.is_bias and nearby < enough_points(n, c):
            self.whole_design = True
        elif misfit.is_bias or misfit.is_curvature:
            self.radius = 0.5 * self.radius
        else:
            self.limited, self.calls = self.limited + 1, max(self.calls, 3 * n)
            if misfit.size < 0.7:
                self._grow(1.4, c)

    def _spend_more(self, prediction: Prediction, doubtful: bool, good: bool, c: SQPConstants) -> None:
        """Take more calls to a step that is limited by noise, at a radius where they serve."""
        self.limited += 1
        more = self.limited > 1 and doubtful
        self.calls = int(1.6 * self.calls) + 1 if more else max(self.calls, 4 * len(self.centre))
        if good:
            self._grow(2.0, c)
        # More calls at a radius whose bias shows are useless; a larger radius whose bias hides costs nothing.
        if prediction.largest_bias**2 > 4.0 / prediction.typical_count:
            self.radius *= 0.7
        elif prediction.largest_bias**2 < 0.25 / prediction.typical_count:
            self._grow(1.4, c)

    def _grow(self, factor: float, c: SQPConstants) -> None:
        self.radius = min(factor * self.radius, c.widest_radius)

    def _stretch(self, prediction: Prediction, accepted: bool, space: Space) -> None:
        """Stretch the region along variables that step after step leaves by the same side, where it grows no more.

        One radius for all is that of the variable along which the functions bend most; another that has far to go would
        crawl there. As in Rprop (Riedmiller and Braun, 1993), a direction that lasts doubles a length and one that
        changes halves it.
        """
        c = space.constants
        if self.radius > self.peak:
            self.peak = self.radius
            return
        if not accepted:
            return
        step = (prediction.point - self.centre) / space.scale
        direction = np.where(np.abs(step) >= c.at_border * np.abs(step).max(), np.sign(step), 0.0)
        turned = direction * self.pushes < 0.0
        pushes = np.where(direction * self.pushes > 0.0, self.pushes + direction, direction)
        lasting = (np.abs(pushes) >= c.pushes) & (prediction.length > c.at_border)
        factor = np.where(lasting, c.stretch, np.where(turned, 1.0 / c.stretch, 1.0))
        self.length = np.clip(self.length * factor, 1.0, c.longest)
        self.pushes = np.where(lasting, np.sign(pushes), pushes)


class Verdict(NamedTuple):
    """Whether a trial was accepted, and the estimates of all outputs there with their standard errors, (1 + m,)."""

    accepted: bool
    estimate: Array
    error: Array


def most_points(n: int, c: SQPConstants) -> int:
    """Return the points of a fit at most."""
    return c.fit_points if n <= 15 else max(c.fit_points_large, c.fit_points_per_variable * n)


def enough_points(n: int, c: SQPConstants) -> int:
    """Return the points that tell the curvature as well as any: two for each coefficient of a quadratic model."""
    return min((n + 1) * (n + 2), most_points(n, c))


def _matter(multipliers: Array) -> np.ndarray:
    """Return which outputs matter: f, and constraints with a multiplier, (1 + m,) of bool."""
    return np.concatenate([[True], multipliers > 1e-6 * max(1.0, float(multipliers.max(initial=0.0)))])


def _visibility(model: Model, matter: np.ndarray, c: SQPConstants) -> tuple[bool, float]:
    """Return whether the model's changes stand out from the noise, and the share of the radius that hides curvature."""
    near, n = np.flatnonzero(model.data.reach <= c.nearby), model.data.u.shape[1]
    if len(near) <= n + 1:
        return True, 0.0
    linear, quadratic = model.parts(model.data.u[near], np.flatnonzero(matter))
    noise = model.noise[matter]
    few = np.sqrt((n + 1) / len(near) / np.median(model.data.counts[near]))
    visible = bool(((linear + quadratic).std(axis=0) >= 1.5 * noise * few).any())
    bend = float((np.abs(quadratic).max(axis=0) / noise).max())
    return visible, float(min(1.0, np.sqrt(c.hidden / max(bend, 1e-12))))


def _violation(values: Array, prediction: Prediction) -> float:
    return float(np.maximum(values[1:] + prediction.back_off, 0.0).sum())


def _merit(values: Array, prediction: Prediction, penalty: float) -> float:
    return float(values[0]) + penalty * _violation(values, prediction)
