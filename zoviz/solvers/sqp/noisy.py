"""ZOSQP under noise, as one loop: ``Noisy.loop``.

Repeated calls at the start tell the noise, which sets the units of the constraints (``_learn_noise``). A descent then
goes on from there, or several coarse ones do, each from another place, and the main one from the best of their ends
(``_end_descent``). Each of its iterations calls a design around the centre (``regression.design``), which joins all
calls so far (``archive``); fits quadratic models of f and h to those within reach (``Descent.fit``,
``regression.fit``); minimises them in a trust region, constraints backed off by what is not known of them
(``candidate.candidate``); calls the minimiser; and judges it against the noise, which sets radius, lengths and the
number of calls (``Descent.judge``). Two rows of opposite sign are taken for one equality
(``archive.detected_pairs``). The last tenth of the budget is a race between candidates for the answer by repeated
calls (``race``). Where the calls of a batch share their noise, no point is called twice in one, trials are called with
the centre, and differences in batches are told apart from levels (``archive.Batches``, ``race.SharedNoise``); once
levels are what more calls serve, each call is a batch, but for those of a race.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from zoviz.core.ranking import best_of
from zoviz.core.types import Array
from zoviz.oracle.past import Known
from zoviz.solvers.batches import ANEW
from zoviz.solvers.sqp import archive as archives
from zoviz.solvers.sqp import derivatives
from zoviz.solvers.sqp import race as races
from zoviz.solvers.sqp.archive import Archive
from zoviz.solvers.sqp.candidate import Prediction
from zoviz.solvers.sqp.constants import SQPConstants
from zoviz.solvers.sqp.descent import Descent
from zoviz.solvers.sqp.race import Race
from zoviz.solvers.sqp.regression import design
from zoviz.solvers.sqp.situation import Asks, Space, StepContext, elsewhere

Quantum = Callable[[Array, bool], Array]
"""Returns the steps of rounded outputs (1 + m,), as ``Oracle.quantum`` does."""
KnownUnder = Callable[[Array], Known | None]
"""Returns the past points that may be believed, by the noise (1 + m,)."""
_ROUND_OFF = 1e-12
"""Noise that is smaller beside the values is none."""


_CALLS_TO_SEE = 2
"""Calls at a point before which it is not seen whether kept rows hold there."""
_NEARER = 0.2
"""How far the first design goes where rows are kept, over its usual radius."""


class Basin(NamedTuple):
    """The end of a coarse descent: its violation and f, and the data from which the main descent continues.

    These are its centre (n,), radius, penalty, and lengths of the variables (n,).
    """

    excess: float
    f: float
    centre: Array
    radius: float
    penalty: float
    length: Array


def replicates(budget: int, c: SQPConstants) -> int:
    """Return the number of calls at the start that tell the noise."""
    return int(np.clip(budget // 15, *c.replicates))


def first_design(context: StepContext, space: Space) -> Array:
    """Return points (q, n) of the first design, with which workers begin while the noise is measured."""
    if context.parallel == 1 or context.common or not context.may_differ:
        return np.empty((0, space.n))
    count = int(space.constants.ahead * context.parallel)
    return design(space.start, space.constants.first_radius, count, space, context.generator)


@dataclass
class Noisy:
    """The noisy arm: what its calls gave, its present descent, and the point to be returned.

    Attributes
    ----------
    x, value : Array, shapes (n,) and (1 + m,)
        The point to be returned, and the mean of the calls there.
    archive : Archive
    descent : Descent
    sizes : Array, shape (1 + m,)
        What the outputs are divided by within the arm, f by 1.
    repeats : int
        Calls at the start that are still to tell the noise.
    starts : int
        Descents so far.
    basin : Basin or None
        The best end of a coarse descent.
    safe, safe_f : Array, shape (n,), and float
        The point of the lowest estimate of f among those that are feasible by two standard errors, and this; empty and
        infinite before one.
    start_f : float
        The mean of f at the start where that is feasible by two standard errors; infinite elsewhere.
    racing : bool
        Whether descents are over.
    race : Race or None
    quantum : Array, shape (1 + m,)
        The steps of rounded outputs, whose rounding is the noise: no point is then called twice, and none raced. Empty
        elsewhere.
    digits : int
        About how many digits these outputs have.
    best, best_value : Array, shapes (n,) and (1 + m,)
        The best point of a rough function, which repeats to the bit, and its values; empty for other functions.
    ahead : Array, shape (q, n)
        Points of later batches, with which workers may begin that have nothing else to do.
    filled : int
        Points of a design that the last batch had beside a trial; -1 after a trial whose value was known.
    """

    x: Array
    value: Array
    archive: Archive
    descent: Descent
    sizes: Array
    repeats: int
    ahead: Array
    filled: int = 0
    starts: int = 0
    basin: Basin | None = None
    safe: Array = field(default_factory=lambda: np.empty(0))
    safe_f: float = np.inf
    start_f: float = np.inf
    racing: bool = False
    race: Race | None = None
    quantum: Array = field(default_factory=lambda: np.empty(0))
    digits: int = 0
    best: Array = field(default_factory=lambda: np.empty(0))
    best_value: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def start(
        cls, points: Array, values: Array, context: StepContext, box: Space, quantum: Array | None = None
    ) -> Noisy:
        """Return the arm after its first calls, all at one point, from which it goes on.

        Parameters
        ----------
        points, values : Array, shapes (q, n) and (q, 1 + m)
        context : StepContext
        box : Space
        quantum : Array, shape (1 + m,), optional
            The steps of outputs that are rounded.
        """
        c = box.constants
        archive = archives.empty(box.n, values[0], c)
        for batch in np.split(np.arange(len(points)), len(points) if context.common else 1):  # of a sample each
            archive, _ = archives.add(archive, points[batch], values[batch], context.common)
        repeats = max(0, replicates(context.budget, c) - len(points))
        value = archive.means[0] if len(archive.means) else values[0]
        several, outputs = not box.kept.any and context.budget >= c.several_starts * (box.n + 1), values.shape[1]
        nowhere = Descent.start(points[0], outputs - 1, c.first_radius, 1.0, several, 0)
        arm = cls(points[0], value, archive, nowhere, np.ones(outputs), repeats, np.empty((0, box.n)))
        if quantum is not None:
            arm.quantum, arm.repeats, arm.archive = quantum, 0, archives.with_rounding(archive, quantum, c)
        arm.descent = arm._new_descent(points[0], several, context, c)
        if quantum is not None:  # known without replicates
            arm._learn_noise(box)
        return arm

    def loop(
        self,
        box: Space,
        quantum: Quantum,
        known_under: KnownUnder = lambda noise: None,
        context: StepContext | None = None,
    ) -> Asks:
        """Ask for values: at the start, then of designs and trials of descents, then of the candidates of races.

        The present step's ``context`` goes on where it has asked for nothing yet.
        """
        context = None if context is None or context.used else context
        if self.repeats:  # the noise at the start
            context = context or (yield ANEW)
            yield from self._call("replicate", np.tile(self.x, (self.repeats, 1)), context, box, self.x)
            self._learn_start(box, known_under)
            context = None
        while not self.racing:  # descents, each of designs and trials
            context = context or (yield ANEW)
            self.descent.scale = context.settings.trust_scale
            if self._descent_is_over(context, box.constants):
                self._end_descent(context, box)
                if self.racing:
                    break
            if context.budget - context.left >= box.constants.shared_sweeps * (box.n + 1):
                self.archive = self.archive._replace(batches=None)  # each call has noise of its own from now on
            if not self._has_design(context, box):
                self._stay_inside(box)
                points = self._design(context, box)
                yield from self._call("design", points, context, box, self.descent.centre)
                self._learn_rounding(quantum, box.constants)
                context = yield
                self.descent.scale = context.settings.trust_scale
            if self.descent.is_stranded(self.archive, self._space(box)):
                self._leave_failures(box.constants)
                continue
            prediction = self._predict(context, box)
            if len(self.quantum) and self.archive.find(prediction.point) >= 0:  # its value is known
                self._judge(prediction, context, box)
                self.filled = -1
                continue
            trial = self._trial(prediction.point, context, box)
            context = yield from self._call("trial", trial, context, box, prediction.point)
            self._judge(prediction, context, box)
            context = None
        while True:  # races between candidates for the answer
            context = context or (yield ANEW)
            self.descent.scale = context.settings.trust_scale
            if self.descent.is_stranded(self.archive, self._space(box)):
                yield from self._call_anywhere(context, box)
            else:
                yield from self._race(context, box)
            context = None

    def _trial(self, x: Array, context: StepContext, box: Space) -> Array:
        """Return the points (k, n) of a trial of x (n,): itself as often as noise asks, and what fills the workers."""
        trial = np.tile(x, (self._trial_calls(context, box.constants), 1))
        if self._shares(context):  # each with the centre, from which it differs by less noise
            trial = np.tile(np.stack([x, self.descent.centre]), ((len(trial) + 1) // 2, 1))
        more = self._fill(trial, x, context, box)
        self.filled = len(more)
        return np.concatenate([trial, more])

    def at_floor(self, c: SQPConstants) -> bool:
        """Return whether noise hides all that the main descent would gain by further steps."""
        return not (self.racing or self.descent.coarse) and self.descent.limited >= c.noise_end

    def _shares(self, context: StepContext) -> bool:
        """Return whether the points of a design or a trial share their noise."""
        return context.common and self.archive.batches is not None

    def _space(self, box: Space) -> Space:
        """Return the box in the units of the descent, with the tolerance in those of the arm."""
        return box.scaled(self.descent.length)._replace(tolerance=box.tolerance / self.sizes[1:])

    @property
    def outputs(self) -> Array:
        """The mean of the calls at x, not divided, (1 + m,)."""
        return self.value * self.sizes

    @property
    def multipliers(self) -> Array:
        """The multipliers of the present descent for constraints that are not divided, (m,)."""
        return self.descent.multipliers / self.sizes[1:]

    def _fill(self, points: Array, centre: Array, context: StepContext, box: Space) -> Array:
        """Return points (k, n) of a design that fill the batch of points (q, n) where calls are parallel.

        The older half of the points ahead comes first, and more of them if need be; the others are around a centre
        (n,): that of the next design, should the trial be accepted.
        """
        room = 0 if context.common else min(-len(points) % context.parallel, max(0, context.left - len(points)))
        known = self._due(max(room, len(self.ahead) // 2), context)
        if room <= len(known):
            return known
        space = self._space(box)
        new = design(centre, self.descent.spread, room - len(known), space, context.generator)
        return np.concatenate([known, new])

    def _due(self, most: int, context: StepContext) -> Array:
        """Return at most ``most`` of the points ahead, (k, n), for this batch: the calls left do not include them."""
        due, self.ahead = self.ahead[:most], self.ahead[most:]
        context.left += len(due)
        return due

    def _ahead_of(self, batch: Array, centre: Array, context: StepContext, box: Space) -> Array:
        """Return points (k, n) of later designs, on from the next centre (n,), so that each worker has some ahead.

        Workers that are done with a batch begin with them while others are not: a batch waits for its own points alone,
        and these come with the next ones.
        """
        c = box.constants
        room = context.left - len(batch) - context.parallel - self._reserve(context)
        more = min(int(c.ahead * context.parallel) - len(self.ahead), room)
        if context.parallel == 1 or context.common or len(self.best) or more <= 0:
            return batch[:0]
        onwards = box.clip(centre + c.lead * (centre - self.descent.centre))
        return design(onwards, self.descent.spread, more, self._space(box), context.generator)

    def _call(self, purpose: str, points: Array, context: StepContext, box: Space, centre: Array | None = None) -> Asks:
        """Ask for the values at points (q, n), in batches, into the archive; return the context of the last step.

        With the last of them, points of the next designs are announced, around a ``centre`` (n,).
        """
        waiting = self._apart(purpose, points, context, box)
        while True:
            most, part = min(context.width, context.left), waiting.pop(0)
            batch, rest = part[:most], part[most:]
            waiting = [rest, *waiting] if len(rest) else waiting
            # Calls at one point of a rough function would be the same: moved by short ways they see noise.
            rough = len(self.best) and not len(self.quantum)
            places = derivatives.dithered(batch, box, context.generator) if rough else batch
            ahead = batch[:0] if centre is None or waiting else self._ahead_of(batch, centre, context, box)
            self.ahead = np.concatenate([self.ahead, ahead])
            values = yield purpose, places, ahead
            if len(self.best):
                best = best_of(self.best, self.best_value, places, values, box.tolerance)
                self.best, self.best_value = best
            self._take(batch, values / self.sizes, context.common, box)
            # No more calls at points that turn out to be outside of kept rows.
            waiting = [rest for part in waiting if len(rest := part[self._hold(part, box)])]
            if not waiting or context.left <= len(batch):
                return context
            context = yield

    def _apart(self, purpose: str, points: Array, context: StepContext, box: Space) -> list[Array]:
        """Return the parts of points (q, n) that may share a batch: under common noise each point once, then again.

        Where rows are kept, first some calls at each point, to see whether it is inside.
        """
        if not (context.common or box.kept.any):
            return [points]
        times = np.array([(points[:i] == one).all(axis=1).sum() for i, one in enumerate(points)])
        if not context.common:
            turn = np.floor(np.log2(1 + times // _CALLS_TO_SEE)).astype(int)
            return [points[turn == k] for k in range(int(turn.max()) + 1)]
        parts = [points[times == k] for k in range(int(times.max()) + 1)]
        shared = self._shares(context) or purpose == "race"
        return parts if shared else [one for part in parts for one in part[:, None]]

    def _hold(self, points: Array, box: Space) -> np.ndarray:
        """Return whether the means of the calls at points (q, n) hold in the rows that are kept, (q,) of bool."""
        if not box.kept.any:
            return np.ones(len(points), dtype=bool)
        places = np.array([self.archive.find(point) for point in points], dtype=int)
        return (places < 0) | box.kept.hold(self.archive.means[places, 1:])

    def _take(self, points: Array, values: Array, common: bool, box: Space) -> None:
        """Take in the values (q, 1 + m) at points (q, n)."""
        c = box.constants
        archive, _ = archives.add(self.archive, points, values, common and self.archive.batches is not None)
        capacity = max(c.capacity, c.capacity_per_variable * box.n)
        self.archive = archives.trim(archive, self.descent.centre, self._space(box).scale, capacity)
        if self.race is not None:
            outputs, _ = self.archive.pairs.joined(values, self.race.noise)
            self.race = self.race.take_values(points, outputs)
        self._return(self.x)

    def _return(self, x: Array) -> None:
        """Take x (n,) as the point to be returned; its value is the mean of the calls there, if it is known."""
        i = self.archive.find(x)
        self.x, self.value = x, self.value if i < 0 else self.archive.means[i]

    def _learn_noise(self, box: Space) -> None:
        """Take outputs in units of their noise, and note f at the start if that is surely feasible.

        No constraint is then far more or far less noisy than f. The units in which constraints come are how much they
        change on the way to far points of X: one that grows exponentially would have a unit in which neither its
        violation near the start nor its noise can be seen.
        """
        c = box.constants
        self.repeats = 0
        # A start where values repeat tells nothing of the noise elsewhere.
        if not (self.archive.spread.any() or len(self.quantum)):
            self.archive = self.archive._replace(degrees=0.0, counts=np.minimum(self.archive.counts, 1.0))
        if self.archive.degrees >= 1.0:
            size = np.maximum(np.abs(self.archive.means).max(axis=0), 1e-300)
            noise = np.sqrt(self.archive.spread / self.archive.degrees)
            visible = noise > _ROUND_OFF * size
            if visible[0]:
                ratios = np.where(visible, noise / noise[0], 1.0)
                self.sizes = ratios / np.clip(ratios, 1.0 / c.unlike, c.unlike)
                self.archive = archives.with_sizes(self.archive, self.sizes)
                self.value = self.value / self.sizes
                self.quantum = self.quantum / self.sizes if len(self.quantum) else self.quantum
        if len(archives.surely_inside(self.archive, self._space(box).tolerance, c.sure)):
            self.start_f = float(self.archive.means[0, 0])
        self._return(self.x)

    def _learn_start(self, box: Space, known_under: KnownUnder) -> None:
        """Learn the noise, and join past points to the archive, whose models and designs then use them, too."""
        self._learn_noise(box)
        known = known_under(self.archive.noise * self.sizes)
        if known is not None and self.archive.batches is None:
            self._take(known.points, np.where(np.isfinite(known.values), known.values, np.inf) / self.sizes, False, box)
            self.descent.rich = True

    def _learn_rounding(self, quantum: Quantum, c: SQPConstants) -> None:
        """Take the steps that rounded outputs have by their newest values, as they grow with these."""
        if len(self.quantum):
            present = quantum(self.archive.means[-c.newest :] * self.sizes, True) / self.sizes
            self.quantum = np.where(present > 0.0, present, self.quantum)
            self.archive = archives.with_rounding(self.archive, self.quantum, c)

    def _reserve(self, context: StepContext) -> int:
        """Return the calls that are kept for the race."""
        return 0 if len(self.quantum) else int(context.settings.verification_share * context.budget)

    def _new_descent(self, centre: Array, coarse: bool, context: StepContext, c: SQPConstants) -> Descent:
        """Return a descent from a centre (n,), with the calls that it may take."""
        budget, calls = context.budget, context.budget - context.left
        stop = budget - self._reserve(context)
        if coarse:
            sweep, share = len(centre) + 1, c.coarse_share * context.settings.restart_share * budget
            most = min(0.2 * share, c.other_sweeps * sweep) if self.starts else min(0.5 * share, c.first_sweeps * sweep)
            stop = min(stop, int(calls + most) + 1)
        return Descent.start(centre, len(self.sizes) - 1, c.first_radius, context.settings.penalty, coarse, stop)

    def _descent_is_over(self, context: StepContext, c: SQPConstants) -> bool:
        """Return whether the present descent is over."""
        descent, calls = self.descent, context.budget - context.left
        noise_bound = descent.coarse and descent.limited >= c.noise_end
        # The race's calls are kept of the budget as it is now: it is lowered where noise ends the search.
        spent = calls >= descent.stop or context.left <= self._reserve(context)
        return descent.steps > 0 and (spent or noise_bound or descent.failures > c.most_failures)

    def _end_descent(self, context: StepContext, box: Space) -> None:
        """Begin what follows a descent: another coarse one, the main one from the best basin, or the race."""
        c = box.constants
        generator, budget, left = context.generator, context.budget, context.left
        if not self.descent.coarse:
            self.racing = left <= self._reserve(context) or left <= 2
            if not self.racing:  # every trial failed: from elsewhere
                centre = self._elsewhere(self.starts, box, generator)
                self.starts, self.descent = self.starts + 1, self._new_descent(centre, False, context, c)
            return
        basin = self._basin(context, self._space(box))
        if self.basin is not None and (self.basin.excess, self.basin.f) <= (basin.excess, basin.f):
            basin = self.basin
        self.starts, self.basin = self.starts + 1, basin
        if budget - left < c.coarse_share * context.settings.restart_share * budget and self.starts < c.most_starts:
            centre = elsewhere((0, 2, 1)[(self.starts - 1) % 3], basin.centre, box, generator)
            self.descent = self._new_descent(centre, True, context, c)
            return
        self.descent = self._new_descent(basin.centre, False, context, c)
        self.descent.radius, self.descent.penalty, self.descent.length = basin.radius, basin.penalty, basin.length
        if not len(self.safe) and self.archive.find(basin.centre) >= 0:
            self.x = basin.centre

    def _basin(self, context: StepContext, space: Space) -> Basin:
        """Return the end of a coarse descent; the worst there can be where its calls failed."""
        c = space.constants
        descent = self.descent
        if descent.failures > c.most_failures:
            return Basin(np.inf, np.inf, descent.centre, c.first_radius, context.settings.penalty, descent.length)
        model = descent.fit(self.archive, space)
        values = model.value(np.zeros(space.n))
        uncertainty = 3.0 * model.call_noise[1:].max(initial=0.0) + space.tolerance.max(initial=0.0)
        excess = max(0.0, float(values[1:].max(initial=0.0) - uncertainty))
        return Basin(excess, float(values[0]), descent.centre, descent.radius, descent.penalty, descent.length)

    def _design(self, context: StepContext, box: Space) -> Array:
        """Return the points (q, n) of the next design around the centre, each as often as it is called."""
        descent, space = self.descent, self._space(box)
        count, repeats = descent.design_calls(self.archive, context, space)
        if len(self.quantum):
            count, repeats = count * repeats, 1
        if len(self.best) and not context.common:  # nothing is ahead that workers could do meanwhile
            count += -(count * repeats) % context.parallel // repeats
        due = self._due(max(count * repeats, len(self.ahead) // 2), context)
        count = max(1, count - descent.nearby(due, space) // repeats)
        points = design(descent.centre, descent.spread, count, space, context.generator)
        points = self._within(points, space)
        if self._shares(context):  # in every batch, so that the level there becomes known
            points = np.concatenate([descent.centre[None], points])
        elif self.archive.find(descent.centre) < 0:
            points[0] = descent.centre
        if len(self.quantum):  # corners of the box come again: others of the region for those that are known
            known, reach = np.array([self.archive.find(one) >= 0 for one in points]), descent.spread * space.scale
            lower, upper = space.clip(descent.centre - reach), space.clip(descent.centre + reach)
            points = np.where(known[:, None], context.generator.uniform(lower, upper, points.shape), points)
        return np.concatenate([due, np.repeat(points, repeats, axis=0)])

    def _has_design(self, context: StepContext, box: Space) -> bool:
        """Return whether points that were called with the trial are design enough, where calls are parallel."""
        descent = self.descent
        if context.parallel == 1 or self.filled < 0 or descent.whole_design or self.archive.find(descent.centre) < 0:
            return False
        if descent.limited:
            count, repeats = descent.design_calls(self.archive, context, self._space(box))
            return self.filled >= count * repeats
        return descent.count_nearby(self.archive, self._space(box)) >= descent.design_size(context)

    def _within(self, points: Array, space: Space) -> Array:
        """Return points (q, n), nearer to the centre where rows that are kept might not hold; before models, all."""
        descent = self.descent
        if not space.kept.any:
            return points
        if not descent.fits:
            return descent.centre + _NEARER * (points - descent.centre)
        unit = space.scale * descent.spread
        u = (points - descent.centre) / unit
        model, errors = descent.fit(self.archive, space), space.constants.sure
        return descent.centre + unit * space.kept.within(u, lambda point: model.upper(point, errors))

    def _elsewhere(self, turn: int, box: Space, generator: np.random.Generator) -> Array:
        """Return a point to start from, (n,); the best one where rows are kept, as little is known of others."""
        return self.x if box.kept.any else elsewhere(turn, self.x, box, generator)

    def _stay_inside(self, box: Space) -> None:
        """Leave a centre at which rows that are kept turn out not to hold for the best point where they surely do."""
        if self._hold(self.descent.centre[None], box)[0]:
            return
        archive, errors = self.archive, box.constants.sure
        h = archive.means[:, 1:] + errors * archive.noise[1:] / np.sqrt(archive.counts)[:, None]
        inside = box.kept.hold(h)
        best = int(np.argmin(np.where(inside, archive.means[:, 0], np.inf)))
        self.descent.centre = archive.points[best] if inside.any() else box.start
        self.descent.radius *= 0.5

    def _leave_failures(self, c: SQPConstants) -> None:
        """Shrink the region where so few calls gave values that nothing can be fitted; leave a coarse descent."""
        self.descent.shrink()
        if self.descent.coarse:  # there are other places to try
            self.descent.failures = c.most_failures + 1

    def _predict(self, context: StepContext, box: Space) -> Prediction:
        """Return what the models, fitted to the archive, say of the next trial point, their minimiser."""
        c = box.constants
        if self.descent.steps % c.paired_every == 0:
            self.archive = self.archive._replace(pairs=archives.detected_pairs(self.archive, c))
        self.archive = self.archive._replace(pairs=archives.tested_pairs(self.archive, c))
        return self.descent.predict(self.archive, self._space(box), context.settings.back_off)

    def _trial_calls(self, context: StepContext, c: SQPConstants) -> int:
        """Return how often a trial point is called: at least twice while the noise of an output has not been seen."""
        if len(self.quantum):
            return 1
        unseen = self.archive.degrees < c.enough_degrees and not self.archive.spread.all()
        return max(self.descent.trial_calls(context), 2 if unseen else 1)

    def _judge(self, prediction: Prediction, context: StepContext, box: Space) -> None:
        """Judge the trial, and take its point as the one to be returned where it is feasible by two standard errors."""
        space = self._space(box)
        verdict = self.descent.judge(prediction, self.archive, context, space)
        equal, uncertainty = self.archive.pairs.paired(len(space.tolerance)), space.constants.sure * verdict.error[1:]
        h = verdict.estimate[1:]
        sure = np.where(equal, np.abs(h) - uncertainty, h + uncertainty) <= space.tolerance
        if sure.all() and np.isfinite(verdict.error).all() and verdict.estimate[0] < self.safe_f:
            self.safe, self.safe_f = prediction.point, float(verdict.estimate[0])
            self._return(prediction.point)
        elif not len(self.safe) and verdict.accepted:
            self._return(prediction.point)

    def _call_anywhere(self, context: StepContext, box: Space) -> Asks:
        """Ask for values anywhere, as nothing can be fitted, and return the best point."""
        c = box.constants
        turns = range(min(context.left, c.capacity))
        points = np.array([self._elsewhere(turn, box, context.generator) for turn in turns])
        points = np.concatenate([self._due(len(self.ahead), context), points])
        yield from self._call("race", points, context, box)
        if self.race is not None:
            self._end_round(self.race, box)
        elif len(self.archive.counts):
            points, means = self.archive.points, self.archive.means
            self._return(best_of(points[0], means[0], points[1:], means[1:], self._space(box).tolerance)[0])

    def _race(self, context: StepContext, box: Space) -> Asks:
        """Ask for the values of one round of a race between candidates for the answer; of the next where it is over."""
        space, race, back_off = self._space(box), self.race, context.settings.back_off
        others = [self.safe, self.x] if len(self.safe) else [self.x]
        if self.start_f < self.safe_f:  # the archive may have left it behind
            others.append(box.start)
        if race is None:
            race = races.begin(self.descent, self.archive, others, space, back_off)
        elif race.is_over(space, context.left):
            race = races.again(race, self.descent, self.archive, others, space, back_off, context.left)
        self.race = race
        calls = race.calls(context.left, context.parallel)
        points = np.concatenate([self._due(len(self.ahead), context), calls])
        yield from self._call("race", points, context, box)
        self._end_round(self.race, box)

    def _end_round(self, race: Race, box: Space) -> None:
        """Take the leader of the race as the point to be returned, and drop those that have lost."""
        space = self._space(box)
        self.race = race = race.eliminate(space)
        best = race.leader(space)
        self.descent.centre = race.points[best]
        self._return(race.points[best] if race.counts[best] > 0 else self.x)
