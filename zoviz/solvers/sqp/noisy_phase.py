"""The noisy arm as a whole: replicates, coarse descents from several starts, the main one, and the final race."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.ranking import best_of
from zoviz.core.types import Array
from zoviz.solvers.sqp import archive as archives
from zoviz.solvers.sqp import descent as descents
from zoviz.solvers.sqp import verification
from zoviz.solvers.sqp.archive import Archive, Pairs
from zoviz.solvers.sqp.candidate import Prediction
from zoviz.solvers.sqp.descent import Descent
from zoviz.solvers.sqp.regression import design
from zoviz.solvers.sqp.situation import Situation, elsewhere
from zoviz.solvers.sqp.verification import Race

_REPLICATES = (3, 8)
"""Calls at the start that tell the noise: a fifteenth of the budget, within these limits."""
_RADIUS = 0.25
_SEVERAL_STARTS = 300
"""Sweeps of n + 1 calls from which on the budget pays for coarse descents from several starts."""
_MOST_STARTS, _COARSE_END = 7, 6
"""Coarse descents at most, and how often one must be limited by noise until it ends."""
_FIRST, _OTHER = 400, 120
"""Sweeps that the first and the other coarse descents may take."""
_COARSE = 0.5
"""The share of the budget for coarse descents, of the share that begins elsewhere."""
_PAIRED_EVERY = 10
_UNLIKE = 10.0
"""How many times as noisy as f, or less so, a constraint may be before it is divided."""
_ROUND_OFF = 1e-12
"""Noise that is smaller beside the values is none."""
_ENOUGH = 24.0
"""Degrees of freedom of the noise below which trials are called twice while an output has shown none."""
_MOST_FAILURES = 30
_NEWEST = 48
"""Points whose values tell how coarsely these are rounded."""
_CAPACITY, _PER_VARIABLE = 1500, 12
"""Points of the archive at most: so many, and so many per variable."""


_NOT_ROUNDED = np.empty(0)


class Basin(NamedTuple):
    """The end of a coarse descent: violation and f, which rank it, and what the main one goes on with.

    These are its centre (n,), radius, penalty, and lengths of the variables (n,).
    """

    excess: float
    f: float
    centre: Array
    radius: float
    penalty: float
    length: Array


class NoisyArm(NamedTuple):
    """The state of the noisy arm of ZOSQP between two steps.

    Attributes
    ----------
    stage : str
        "replicate", "design", "trial" or "race".
    queue : Array, shape (k, n)
        Points that are still to be called before the stage is over.
    archive : Archive
    pairs : Pairs
    descent : Descent
    starts : int
        Descents so far.
    basin : Basin or None
        The best end of a coarse descent.
    safe : Array, shape (n,)
        The point of the lowest estimate of f among those that are feasible by two standard errors; empty before one.
    safe_f : float
    start_f : float
        The mean of f at the start where that is feasible by two standard errors; infinite elsewhere.
    race : Race or None
    x, value : Array, shapes (n,) and (1 + m,)
        The point to be returned, and the mean of the calls there.
    sizes : Array, shape (1 + m,)
        What the outputs are divided by within the arm, f by 1; empty: all by 1.
    quantum : Array, shape (1 + m,)
        The steps of rounded outputs, whose rounding is the noise: no point is then called twice, and none raced. Empty
        elsewhere.
    digits : int
        About how many digits these outputs have.
    """

    stage: str
    queue: Array
    archive: Archive
    pairs: Pairs
    descent: Descent
    starts: int
    basin: Basin | None
    safe: Array
    safe_f: float
    start_f: float
    race: Race | None
    x: Array
    value: Array
    sizes: Array = np.empty(0)
    quantum: Array = _NOT_ROUNDED
    digits: int = 0

    @property
    def outputs(self) -> Array:
        """The mean of the calls at x, not divided, (1 + m,)."""
        return self.value * self.sizes if len(self.sizes) else self.value

    @property
    def multipliers(self) -> Array:
        """The multipliers of the present descent for constraints that are not divided, (m,)."""
        own = self.descent.multipliers
        return own / self.sizes[1:] if len(self.sizes) else own

    def with_own_tolerance(self, situation: Situation) -> Situation:
        """Return the situation with the tolerance in the arm's units, and without a race where values are rounded."""
        if len(self.quantum):
            situation = _without_race(situation)
        if not len(self.sizes):
            return situation
        space = situation.space
        return situation._replace(space=space._replace(tolerance=space.tolerance / self.sizes[1:]))


def _without_race(situation: Situation) -> Situation:
    return situation._replace(settings=situation.settings._replace(verification_share=0.0))


def begin(
    points: Array,
    values: Array,
    common: bool,
    situation: Situation,
    quantum: Array = _NOT_ROUNDED,
    digits: int = 0,
) -> NoisyArm:
    """Return the noisy arm after its first calls, all at one point, from which it goes on.

    Parameters
    ----------
    points, values : Array, shapes (q, n) and (q, 1 + m)
    common : bool
    situation : Situation
    quantum : Array, shape (1 + m,)
        The steps of outputs that are rounded, of about so many ``digits``; empty where none is.
    """
    if len(quantum):
        situation = _without_race(situation)
    space, m = situation.space, values.shape[1] - 1
    archive, _ = archives.add(archives.empty(space.n, values[0]), points, values, common)
    repeats = int(np.clip(situation.budget // 15, *_REPLICATES)) - len(points)
    several = situation.budget >= _SEVERAL_STARTS * (space.n + 1)
    descent = _descent(points[0], several, 0, m, situation)
    arm = NoisyArm(
        stage="replicate",
        queue=np.tile(points[0], (max(0, repeats), 1)),
        archive=archive,
        pairs=archives.no_pairs(),
        descent=descent,
        starts=0,
        basin=None,
        safe=np.empty(0),
        safe_f=np.inf,
        start_f=np.inf,
        race=None,
        x=points[0],
        value=archive.means[0] if len(archive.means) else values[0],
        quantum=quantum,
        digits=digits,
    )
    if not len(quantum):
        return arm
    archive = archives.with_rounding(archive, quantum)  # known without replicates
    return after_replicates(arm._replace(archive=archive, queue=arm.queue[:0]), situation)


def request(arm: NoisyArm, width: int, common: bool, situation: Situation) -> tuple[NoisyArm, Array]:
    """Return the noisy arm and the points (q, n) it wants next, q at most ``width`` and the calls that are left."""
    situation = arm.with_own_tolerance(situation)
    if not len(arm.queue):
        arm = _with_queue(arm, situation)
    # Under common noise the calls of one batch at one point tell nothing of the noise.
    most = 1 if common and arm.stage == "replicate" else min(width, situation.left)
    return arm, arm.queue[:most]


def receive(arm: NoisyArm, points: Array, values: Array, common: bool, situation: Situation) -> NoisyArm:
    """Return the noisy arm after the values (q, 1 + m) at its points (q, n); +inf where a call failed."""
    situation = arm.with_own_tolerance(situation)
    values = values / arm.sizes if len(arm.sizes) else values
    archive, _ = archives.add(arm.archive, points, values, common)
    own = situation.in_units(arm.descent.length)
    space = own.space
    capacity = max(_CAPACITY, _PER_VARIABLE * space.n)
    archive = archives.trim(archive, arm.descent.centre, space.scale, capacity)
    arm = arm._replace(archive=archive, queue=arm.queue[len(points) :])
    if arm.race is not None:
        outputs, _ = arm.pairs.joined(values, arm.race.noise)
        arm = arm._replace(race=verification.take_values(arm.race, points, outputs))
    if len(arm.queue) and situation.left > len(points):
        return arm._replace(value=_value(arm, arm.x))
    if arm.stage == "trial" and arm.descent.prediction is not None:
        arm = _after_trial(arm, arm.descent.prediction, own)
    elif arm.stage == "race" and arm.race is not None:
        arm = _after_round(arm, arm.race, situation)
    elif arm.stage == "race" and len(archive.counts):
        points, means = archive.points, archive.means
        arm = arm._replace(x=best_of(points[0], means[0], points[1:], means[1:], space.tolerance)[0])
    elif arm.stage == "design":
        arm = _with_present_rounding(arm._replace(stage="trial"), situation)
    else:
        arm = after_replicates(arm, situation)
    return arm._replace(queue=arm.queue[:0], value=_value(arm, arm.x))


def _with_present_rounding(arm: NoisyArm, situation: Situation) -> NoisyArm:
    """Return the arm with the steps that rounded outputs have by their newest values, as they grow with these."""
    if not len(arm.quantum):
        return arm
    sizes = arm.sizes if len(arm.sizes) else np.ones_like(arm.quantum)
    present = situation.quantum(arm.archive.means[-_NEWEST:] * sizes, True) / sizes
    quantum = np.where(present > 0.0, present, arm.quantum)
    return arm._replace(quantum=quantum, archive=archives.with_rounding(arm.archive, quantum))


def after_replicates(arm: NoisyArm, situation: Situation) -> NoisyArm:
    """Return the arm before its first design: in units of noise, with f at the start if that is surely feasible."""
    archive = arm.archive
    # A start where values repeat tells nothing of the noise elsewhere.
    if not (archive.spread.any() or len(arm.quantum)):
        counts = np.minimum(archive.counts, 1.0)
        arm = arm._replace(archive=archive._replace(degrees=0.0, counts=counts))
    arm = in_units_of_noise(arm)._replace(stage="design")
    tolerance = arm.with_own_tolerance(situation).space.tolerance
    if len(archives.surely_inside(arm.archive, arm.pairs, tolerance, verification.SURE)):
        arm = arm._replace(start_f=float(arm.archive.means[0, 0]))
    return arm


def in_units_of_noise(arm: NoisyArm) -> NoisyArm:
    """Return the arm with constraints divided such that none is far more or far less noisy than f.

    The replicates tell the noise. The units in which constraints come are how much they change on the way to far points
    of X: one that grows exponentially would have a unit in which neither its violation near the start nor its noise can
    be seen.
    """
    archive = arm.archive
    if len(arm.sizes) or archive.degrees < 1.0:
        return arm
    size = np.maximum(np.abs(archive.means).max(axis=0), 1e-300)
    noise = np.sqrt(archive.spread / archive.degrees)
    visible = noise > _ROUND_OFF * size
    if not visible[0]:
        return arm
    ratios = np.where(visible, noise / noise[0], 1.0)
    sizes = ratios / np.clip(ratios, 1.0 / _UNLIKE, _UNLIKE)
    archive = archives.with_sizes(archive, sizes)
    quantum = arm.quantum / sizes if len(arm.quantum) else arm.quantum
    return arm._replace(archive=archive, value=arm.value / sizes, sizes=sizes, quantum=quantum)


def _value(arm: NoisyArm, x: Array) -> Array:
    """Return the mean of the calls at a point; the last one known where there is none."""
    i = arm.archive.find(x)
    return arm.value if i < 0 else arm.archive.means[i]


def _reserve(situation: Situation) -> int:
    """Return the calls that are kept for the race."""
    return int(situation.settings.verification_share * situation.budget)


def _descent(centre: Array, coarse: bool, starts: int, m: int, situation: Situation) -> Descent:
    """Return a descent from a new start, with the calls that it may take."""
    budget, calls = situation.budget, situation.budget - situation.left
    stop = budget - _reserve(situation)
    if coarse:
        sweep = situation.space.n + 1
        share = _COARSE * situation.settings.restart_share * budget
        most = min(0.5 * share, _FIRST * sweep) if starts == 0 else min(0.2 * share, _OTHER * sweep)
        stop = min(stop, int(calls + most) + 1)
    return descents.begin(centre, m, _RADIUS, situation.settings.penalty, coarse, stop)


def _with_queue(arm: NoisyArm, situation: Situation) -> NoisyArm:
    """Fill the queue: the next design, trial or round of the race."""
    calls = situation.budget - situation.left
    arm = arm._replace(descent=arm.descent._replace(scale=situation.settings.trust_scale))
    if arm.stage == "replicate":
        arm = arm._replace(stage="design")
    space = situation.in_units(arm.descent.length).space
    if arm.stage == "trial" and descents.is_stranded(arm.descent, arm.archive, space):
        descent = descents.shrink(arm.descent)
        if descent.coarse:  # there are other places to look at
            descent = descent._replace(failures=_MOST_FAILURES + 1)
        arm = arm._replace(descent=descent, stage="design")
    if arm.stage == "design" and _over(arm, calls):
        arm = _next(arm, situation)
    own = situation.in_units(arm.descent.length)
    if arm.stage == "design":
        count, repeats = descents.design_calls(arm.descent, arm.archive, own)
        if len(arm.quantum):
            count, repeats = count * repeats, 1
        points = design(arm.descent.centre, arm.descent.spread, count, own.space, situation.generator)
        if arm.archive.find(arm.descent.centre) < 0:
            points[0] = arm.descent.centre
        if len(arm.quantum):
            points = _new_points(points, arm, own)
        return arm._replace(queue=np.repeat(points, repeats, axis=0))
    if arm.stage == "trial":
        if arm.descent.steps % _PAIRED_EVERY == 0:
            arm = arm._replace(pairs=archives.detected_pairs(arm.pairs, arm.archive))
        arm = arm._replace(pairs=archives.tested_pairs(arm.pairs, arm.archive))
        descent, prediction = descents.predict(arm.descent, arm.archive, arm.pairs, own)
        if len(arm.quantum) and arm.archive.find(prediction.point) >= 0:  # its value is known
            return _with_queue(_after_trial(arm._replace(descent=descent), prediction, own), situation)
        repeats = max(descents.trial_calls(descent, situation), _least_calls(arm.archive))
        repeats = 1 if len(arm.quantum) else repeats
        return arm._replace(descent=descent, queue=np.tile(prediction.point, (repeats, 1)))
    if descents.is_stranded(arm.descent, arm.archive, own.space):  # nothing can be fitted: look anywhere
        turns = range(min(situation.left, _CAPACITY))
        anywhere = [elsewhere(turn, arm.x, situation.space, situation.generator) for turn in turns]
        return arm._replace(queue=np.array(anywhere))
    others, race = [arm.safe, arm.x] if len(arm.safe) else [arm.x], arm.race
    if arm.start_f < arm.safe_f:  # the archive may have left it behind
        others.append(situation.space.start)
    if race is None:
        descent, race = verification.begin(arm.descent, arm.archive, arm.pairs, others, own)
        arm = arm._replace(descent=descent, race=race)
    elif verification.is_over(race, space.tolerance, situation.left):
        descent, race = verification.again(race, arm.descent, arm.archive, arm.pairs, others, own)
        arm = arm._replace(descent=descent, race=race)
    return arm._replace(queue=verification.calls(race, situation.left))


def _new_points(points: Array, arm: NoisyArm, situation: Situation) -> Array:
    """Return points (q, n) with others of the region for those that are known: corners of the box come again."""
    space, reach = situation.space, arm.descent.spread * situation.space.scale
    known = np.array([arm.archive.find(point) >= 0 for point in points])
    others = situation.generator.uniform(
        space.clip(arm.descent.centre - reach), space.clip(arm.descent.centre + reach), points.shape
    )
    return np.where(known[:, None], others, points)


def _least_calls(archive: Archive) -> int:
    """Return how often a trial point is called at least: twice while the noise of an output has not been seen."""
    return 2 if archive.degrees < _ENOUGH and not archive.spread.all() else 1


def _over(arm: NoisyArm, calls: int) -> bool:
    """Return whether the present descent has come to its end."""
    descent = arm.descent
    noise_bound = descent.coarse and descent.limited >= _COARSE_END
    return descent.steps > 0 and (calls >= descent.stop or noise_bound or descent.failures > _MOST_FAILURES)


def _next(arm: NoisyArm, situation: Situation) -> NoisyArm:
    """Begin what follows a descent: another coarse one, the main one from the best basin, or the race."""
    m, space, descent = len(arm.descent.multipliers), situation.space, arm.descent
    if not descent.coarse:
        if situation.left <= _reserve(situation) or situation.left <= 2:
            return arm._replace(stage="race")
        # Every trial failed: from elsewhere.
        centre = elsewhere(arm.starts, arm.x, space, situation.generator)
        return arm._replace(descent=_descent(centre, False, 1, m, situation), starts=arm.starts + 1)
    basin = _basin(arm, situation)
    if arm.basin is not None and (arm.basin.excess, arm.basin.f) <= (basin.excess, basin.f):
        basin = arm.basin
    starts, calls = arm.starts + 1, situation.budget - situation.left
    arm = arm._replace(starts=starts, basin=basin)
    if calls < _COARSE * situation.settings.restart_share * situation.budget and starts < _MOST_STARTS:
        turn = (0, 2, 1)[(starts - 1) % 3]
        centre = elsewhere(turn, basin.centre, space, situation.generator)
        return arm._replace(descent=_descent(centre, True, starts, m, situation))
    main = _descent(basin.centre, False, starts, m, situation)
    x = basin.centre if not len(arm.safe) and arm.archive.find(basin.centre) >= 0 else arm.x
    return arm._replace(descent=main._replace(radius=basin.radius, penalty=basin.penalty, length=basin.length), x=x)


def _basin(arm: NoisyArm, situation: Situation) -> Basin:
    """Return the end of a coarse descent; the worst there can be where its calls failed."""
    descent = arm.descent
    space = situation.in_units(descent.length).space
    if descent.failures > _MOST_FAILURES:
        return Basin(np.inf, np.inf, descent.centre, _RADIUS, situation.settings.penalty, descent.length)
    _, model = descents.fit_models(descent, arm.archive, arm.pairs, space)
    values = model.value(np.zeros(space.n))
    uncertainty = 3.0 * model.noise[1:].max(initial=0.0) + space.tolerance.max(initial=0.0)
    excess = max(0.0, float(values[1:].max(initial=0.0) - uncertainty))
    return Basin(excess, float(values[0]), descent.centre, descent.radius, descent.penalty, descent.length)


def _after_trial(arm: NoisyArm, prediction: Prediction, situation: Situation) -> NoisyArm:
    """Judge the trial, and take its point as the one to be returned where it is feasible by two standard errors."""
    tolerance = situation.space.tolerance
    descent, estimate, error = descents.judge(arm.descent, prediction, arm.archive, arm.pairs, situation)
    equal, uncertainty = arm.pairs.paired(len(tolerance)), verification.SURE * error[1:]
    sure = np.where(equal, np.abs(estimate[1:]) - uncertainty, estimate[1:] + uncertainty) <= tolerance
    arm = arm._replace(descent=descent, stage="design")
    if sure.all() and np.isfinite(error).all() and estimate[0] < arm.safe_f:
        arm = arm._replace(safe=prediction.point, safe_f=float(estimate[0]), x=prediction.point)
    elif not len(arm.safe) and descent.accepted:
        arm = arm._replace(x=prediction.point)
    return arm


def _after_round(arm: NoisyArm, race: Race, situation: Situation) -> NoisyArm:
    """Take the leader of the race as the point to be returned, and drop those that have lost."""
    tolerance = situation.space.tolerance
    race = verification.eliminate(race, tolerance)
    best = verification.leader(race, tolerance)
    has_calls = race.counts[best] > 0
    descent = arm.descent._replace(centre=race.points[best])
    return arm._replace(race=race, x=race.points[best] if has_calls else arm.x, descent=descent)
