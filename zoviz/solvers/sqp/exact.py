"""ZOSQP without noise: SQP with differences, run after run until the budget is spent, as one loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from zoviz.core.ranking import best_of, is_feasible
from zoviz.core.types import Array
from zoviz.solvers import differences
from zoviz.solvers.batches import ANEW
from zoviz.solvers.restart_rules import longest_run
from zoviz.solvers.sqp import ahead, derivatives
from zoviz.solvers.sqp.ahead import Ahead
from zoviz.solvers.sqp.failures import Failures
from zoviz.solvers.sqp.interior import Interior
from zoviz.solvers.sqp.kept_rows import NONE_KEPT, KeptRows
from zoviz.solvers.sqp.last_calls import last_calls
from zoviz.solvers.sqp.situation import Asks, Space, StepContext, elsewhere
from zoviz.solvers.sqp.sqp_run import Promise, SQPRun


def fresh(context: StepContext | None, word: str | None = None) -> Asks:
    """Return the context of the present step while it has asked for nothing, else that of a new one."""
    if context is None or context.used:
        context = yield word
    return context


@dataclass
class Exact:
    """The noise-free arm: its present run, the numbers of its runs, and the best point.

    Attributes
    ----------
    run : SQPRun
        The present run.
    best, best_value : Array, shapes (n,) and (1 + m,)
        The feasible point of the lowest f, else the least violated one.
    multipliers : Array, shape (m,)
        Those of the run that met it, in the problem's own units: later runs end elsewhere, and theirs say nothing of
        this point.
    best_run : int
        The number of that run.
    runs, again, restorations : int
        Runs so far; those that began at the best point; those that only sought feasibility.
    elsewhere : int
        Runs that have ended and began elsewhere than at the start or at the best point.
    apart : bool
        Whether the present run began there.
    restored_from : float
        The largest h at which the last of these began; +inf before the first.
    verdict : str
        "" before a step was refused, which is when roughness is measured; then "smooth" or "rough".
    steepest : Array, shape (1 + m,)
        The outputs' steepest slopes at the starts of runs: at a run's own, a solution's, they may be round-off.
    seen : Array, shape (k, 1 + m)
        Values at the last points whose derivatives were taken.
    precise : ndarray of bool, shape (1 + m,)
        Outputs of which values are known that are not rounded.
    quantum : Array, shape (1 + m,)
        The steps of the outputs that are rounded; empty before they are so coarse that differences are wrong.
    lowest_end, highest_end : float
        f at the ends of runs that were feasible.
    minima : int
        2 where these are far apart, else 1; 0 where no run has ended near the best point.
    failures : Failures
        The points that failed, and those tried that did not.
    ahead : Ahead
        What is known of points that may be needed, where calls are parallel.
    begun : Array, shape (q, n)
        Points with which workers may have begun, and which no batch has had yet.
    own : Array, shape (n,)
        The problem's own start, where the second run begins; empty where the first did, or the second did.
    plateau : bool
        Whether the last differences show no change of f at all: rounding, or a constant, hides its slope.
    flat : bool
        Whether f has one value at all points so far.
    """

    run: SQPRun
    best: Array
    best_value: Array
    multipliers: Array
    precise: np.ndarray
    steepest: Array
    seen: Array
    failures: Failures
    ahead: Ahead
    begun: Array
    best_run: int = 1
    runs: int = 1
    again: int = 0
    restorations: int = 0
    restored_from: float = np.inf
    verdict: str = ""
    quantum: Array = field(default_factory=lambda: np.empty(0))
    lowest_end: float = np.inf
    highest_end: float = -np.inf
    minima: int = 0
    own: Array = field(default_factory=lambda: np.empty(0))
    plateau: bool = False
    elsewhere: int = 0
    apart: bool = False
    flat: bool = True

    @classmethod
    def start(cls, x: Array, value: Array, penalty: float, kept: KeptRows = NONE_KEPT) -> Exact:
        """Return the arm at a start x (n,) with values (1 + m,), +inf where not finite; some rows are kept."""
        m = len(value) - 1
        run = SQPRun.start(x, value, m, 1.0, penalty)
        run.interior = Interior.of(kept.rows)
        return cls(
            run,
            x,
            value,
            np.zeros(m),
            np.zeros(1 + m, dtype=bool),
            np.zeros(1 + m),
            np.empty((0, 1 + m)),
            Failures.none(len(x)),
            Ahead(np.empty((0, len(x))), np.empty((0, 1 + m))),
            np.empty((0, len(x))),
        )

    def loop(self, space: Space, quantum: Callable[[Array, bool], Array], context: StepContext | None = None) -> Asks:
        """Ask for values, run after run, until they are found to be rough or rounded; return that step's context."""
        while True:
            context = yield from self._run(context, space, quantum)
            if self.verdict == "rough":
                return (yield from self._settle(context, space))
            context = yield from fresh(context)
            self._begin_run(context, space)

    def _settle(self, context: StepContext, space: Space) -> Asks:
        """Ask for the values of what workers may have begun with; return the last step's context."""
        if len(self.begun):
            context, points = (yield from fresh(context)), self.begun
            self.begun = points[:0]
            self.keep_best(points, (yield "differences", points), space)
            context.used = True
        return context

    def _run(self, context: StepContext | None, box: Space, quantum: Callable[[Array, bool], Array]) -> Asks:
        """Ask for the values of one run; return the last step's context."""
        c = box.constants
        run = self.run
        if not len(run.value):
            context = yield from fresh(context, ANEW)
            around = ahead.around(run, run.x, box) if context.parallel > 1 else None
            values, context = yield from self._values("start", run.x[None], context, box, around)
            run.value = values[0]
        if not np.isfinite(run.value).all():
            return context
        while True:  # derivatives at x, and steps from there until one is accepted
            context, accepted, space = (yield from fresh(context, ANEW)), False, box.scaled(run.length)
            slopes, curvatures, context = yield from self._derivatives(context, box, quantum)
            if self.verdict == "rough":
                return context
            if not len(run.size):
                length = run.suggested_length(slopes, space)
                if (length != 1.0).any() and context.left > 2 * (space.n + 1):
                    aside, context = yield from self._slopes_aside(context, space)
                    length = run.suggested_length(np.maximum(np.abs(slopes), aside), space)
                run.set_units(slopes, length, space)
                self.steepest, space = np.maximum(self.steepest, run.size), box.scaled(run.length)
            run.measure_constants(slopes, curvatures, space)
            while not (accepted or run.is_over(c)):
                context = yield from fresh(context)
                if run.spent >= (c.past_sweeps * (space.n + 1) if len(self.own) else longest_run(space.n)):
                    return context
                run.wall = self.failures.wall(run.x, space.scale, c, run.central)
                promise = run.solve(space, context.settings.trust_scale)
                if not promise.decrease > c.flat * max(1.0, abs(run.merit(run.value))):
                    break
                accepted, context = yield from self._search_line(promise, context, box)
                if self.verdict == "rough":
                    return context
            if accepted:
                continue
            if run.interior.any:
                context = yield from self._touch(run.interior, context, box)
            behind = self.runs > 1 and run.is_behind(self.best_value, box)
            if run.is_restored(c) or run.is_lost(box) or behind or not run.polish(c):
                return context

    def _search_line(self, promise: Promise, context: StepContext, box: Space) -> Asks:
        """Ask for the values of the step, of its correction, and of shorter ones until one gains enough.

        Return whether one did, and the context of the last batch. Roughness is measured where several did not.
        """
        run, c, space, share = self.run, box.constants, box.scaled(self.run.length), 1.0
        point = run.ahead(space)
        value, context = yield from self._try("trial", run.step.d, 1.0, context, box)
        if run.is_poor(value, promise.decrease, c):
            point, value, context = yield from self._correction(point, value, promise.decrease, context, box)
        whole = run.step.d
        for retreat in range(c.retreats + 1):
            if run.accepts(value, share, promise.slope, c):
                run.x, run.value, run.whole = point, value, share == 1.0
                return True, context
            doubtful = not self.verdict and retreat >= c.doubtful
            if doubtful and context.left > 2 * c.line_calls:
                context = yield from self.measure_roughness((yield from fresh(context)), box)
                if self.verdict == "rough":
                    return False, context
            if retreat == c.retreats or context.left <= 1:
                break
            share = self.ahead.shorter(run, whole, share, space) or run.shorten(value, share, promise.slope)
            run.step = run.step._replace(d=share * whole)
            point = run.ahead(space)
            value, context = yield from self._try("trial", whole, share, context, box)
        run.refuse(c)
        return False, context

    def _try(self, purpose: str, whole: Array, share: float, context: StepContext, box: Space) -> Asks:
        """Ask for the values (1 + m,) of a share of a step, with what comes next where calls are parallel."""
        run, space = self.run, box.scaled(self.run.length)
        point = run.ahead(space)
        guesses = ahead.after_step(run, point, whole, share, context.parallel, space) if context.parallel > 1 else None
        values, context = yield from self._values(purpose, point[None], context, box, guesses)
        return values[0], context

    def _touch(self, interior: Interior, context: StepContext, box: Space) -> Asks:
        """Ask for the value so near to rows that are kept that no room is left for differences; return the context.

        It may be the answer, but nothing goes on from there.
        """
        run, space, context = self.run, box.scaled(self.run.length), (yield from fresh(context))
        run.interior = interior._replace(least=0.0)
        promise, point = run.solve(space, context.settings.trust_scale), run.ahead(space)
        run.interior = interior
        if promise.decrease > box.constants.flat * max(1.0, abs(run.merit(run.value))):
            values = yield "trial", point[None]
            context.used, run.interior = True, interior.take(point[None], values)
        return context

    def _derivatives(self, context: StepContext, box: Space, quantum: Callable[[Array, bool], Array]) -> Asks:
        """Ask for differences around x: its slopes, and before a first Hessian curvatures, (n, 1 + m) each."""
        run, space = self.run, box.scaled(self.run.length)
        steps = run.offsets(space, run.x)
        values, context = yield from self._values("differences", ahead.around(run, run.x, space), context, box)
        self.plateau = bool((values[:, 0] == run.value[0]).all())
        if self.plateau and not (run.central or self.precise[0]) and context.left > box.constants.line_calls:
            context = yield from self._leave_plateau((yield from fresh(context)), space)
        if not run.central:
            self._judge_rounding(values, quantum, box.constants.seen)
        slopes = derivatives.quotients(run.value, values, steps)
        if run.interior.any:  # the other side may be outside
            slopes = np.where(np.isfinite(slopes), slopes, 0.0)
        run.interior = run.interior.take_slopes(run.x, run.value, slopes, steps, space.scale)
        missing = np.asarray(~np.isfinite(slopes).all(axis=1))
        if missing.any() and self.verdict != "rough":
            mirrored = derivatives.mirror_points(run.x, steps, missing, space)
            values, context = yield from self._values("differences", mirrored, context, box)
            return derivatives.complete(slopes, missing, run.value, values, steps), None, context
        bend = run.central and not run.hessian.size
        return slopes, derivatives.curvatures(run.value, values, steps) if bend else None, context

    def _slopes_aside(self, context: StepContext, space: Space) -> Asks:
        """Ask for the sizes of slopes (n, 1 + m) beside x, 0 where there are none: at x they may vanish by chance.

        In a curved valley that of f does so along one variable, which is no reason to take its length for a long one.
        """
        run, context = self.run, (yield from fresh(context))
        place = self._line(derivatives.line_points(run.x, space, context.generator, space.constants.aside)[:1])[0]
        other = SQPRun.start(place, np.empty(0), len(self.multipliers), run.radius, run.penalty)
        values, context = yield from self._values("trial", place[None], context, space)
        if not np.isfinite(values).all():  # no slope could be told by differences from there
            return np.zeros((space.n, values.shape[1])), context
        other.value, other.interior = values[0], run.interior
        steps, probes = other.offsets(space, place), ahead.around(other, place, space)
        values, context = yield from self._values("differences", probes, context, space)
        return np.abs(np.nan_to_num(derivatives.quotients(other.value, values, steps), posinf=0.0, neginf=0.0)), context

    def _leave_plateau(self, context: StepContext, space: Space) -> Asks:
        """Ask for values farther and farther from x, where differences show no change: neighbours on a lattice."""
        c = space.constants
        end = derivatives.line_points(self.run.x, space, context.generator, c.farthest_probe / c.line_calls)[-1]
        shares = np.geomspace(c.nearest_probe / c.farthest_probe, 1.0, c.line_calls)
        line = self._line(self.run.x + shares[:, None] * (end - self.run.x))
        values, context = yield from self._values("line", line, context, space)
        self.seen = np.concatenate([self.seen, values[np.isfinite(values).all(axis=1)]])
        return context

    def _correction(self, point: Array, value: Array, promise: float, context: StepContext, box: Space) -> Asks:
        """Ask for the values of a second-order correction; return point and values (1 + m,) of the better step."""
        run, step, space = self.run, self.run.step, box.scaled(self.run.length)
        run.correct(space, context.settings.trust_scale, value)
        corrected = run.ahead(space)
        other, context = yield from self._try("correction", run.step.d, 1.0, context, box)
        if run.serves(other, value, promise, box.constants):
            return corrected, other, context
        run.step = step._replace(d=(point - run.x) / space.scale)
        return point, value, context

    def _values(
        self, purpose: str, points: Array, context: StepContext, space: Space, guesses: Array | None = None
    ) -> Asks:
        """Ask for the values at points (q, n) where they are not known; return them and the last step's context.

        Where the calls left are too few for these they are spent otherwise first: differences without a step after them
        tell nothing, nor does a step that may leave the answer outside. Workers begin with ``guesses`` (k, n) where
        calls are parallel: their values are known sooner when they are needed, if they are.
        """
        run = self.run
        known, values = self.ahead.at(points)
        if not known.all():
            unknown = points[~known]
            more = purpose == "differences" or run.is_outside(self.best_value, space)
            context = yield from fresh(context)
            if self.best_run == self.runs and not run.restoring:
                self.multipliers = run.multipliers
            # Calls for what is begun are not among those left.
            while context.left < len(unknown) - ahead.among(self.begun, unknown).sum() + more:
                others = last_calls(run, self.best, self.best_value, context, space)
                others, self.begun = np.concatenate([self.begun, run.interior.within(others)]), self.begun[:0]
                self.keep_best(others, self._inside(others, (yield "last calls", others)), space)
                context = yield
            values[~known] = yield from self._with_guesses(purpose, unknown, guesses, context, space)
        run.spent += len(values)
        if purpose == "differences":
            self.failures = self.failures.add_differences(values)
        else:
            self.failures, values = self.failures.add(points, values), run.interior.refused(values)
        return values, context

    def _with_guesses(
        self, purpose: str, points: Array, guesses: Array | None, context: StepContext, space: Space
    ) -> Asks:
        """Ask for the values at points (q, n); meanwhile workers may begin with guesses (k, n), if the budget allows.

        A step does not wait for what would follow from it. All guesses are charged, as workers may have begun: those
        that are not needed come with the next batch, or the one after it where that has differences, which do not wait.
        """
        others = self.begun[~ahead.among(self.begun, points)]
        now, early = others[: 0 if purpose == "differences" else len(others)], points[:0]
        batch, self.begun = np.concatenate([points, now]), others[len(now) :]
        if guesses is not None and context.left > len(points) + context.parallel + 2 * space.n:
            known = ahead.among(guesses, np.concatenate([batch, self.begun])) | self.ahead.at(guesses)[0]
            early = guesses[~known][: context.parallel - 1]
            self.begun = np.concatenate([self.begun, early])
        values = yield purpose, batch, early
        context.used = True
        self.keep_best(batch, self._inside(batch, values), space)
        if len(now):
            self.ahead = self.ahead.add(now, values[len(points) :])
        return values[: len(points)]

    def _inside(self, points: Array, values: Array) -> Array:
        """Learn of rows that are kept by values (q, 1 + m) at points (q, n), and return them: outside as failed."""
        before = self.run.interior
        self.run.interior = before.take(points, values)
        return before.refused(values)

    def _line(self, points: Array) -> Array:
        """Return points (q, n) on a line from the present one, nearer to it where rows that are kept would not hold."""
        return self.run.interior.line(self.run.x, self.run.value, points)

    def keep_best(self, points: Array, values: Array, space: Space) -> None:
        """Take the best of points (q, n) with values (q, 1 + m) where it is better than the one so far."""
        self.flat = self.flat and bool(np.isin(values[:, 0], (self.best_value[0], np.inf)).all())
        best, best_value = best_of(self.best, self.best_value, points, values, space.tolerance)
        if not np.array_equal(best_value, self.best_value):
            self.best, self.best_value, self.best_run = best, best_value, self.runs

    def measure_roughness(self, context: StepContext, space: Space) -> Asks:
        """Ask for values on a short line, and on a still shorter one where they look rough; return the last context.

        What is rough is as rough there; an oscillation that is smooth, if on a small scale, is not.
        """
        c, levels = space.constants, []
        for spacing in (c.line_spacing, c.finer * c.line_spacing):
            points = self._line(derivatives.line_points(self.run.x, space, context.generator, spacing))
            values = yield "line", points
            context.used = True
            self.keep_best(points, self._inside(points, values), space)
            levels.append(derivatives.noise_level(np.concatenate([self.run.value[None], values])))
            rough = (levels[-1] > c.roughness * self.steepest) & (levels[-1] >= c.lasting * levels[0])
            if not rough.any():
                break
            if len(levels) == 1:
                context = yield
        self.verdict = "rough" if rough.any() else "smooth"
        return context

    def _judge_rounding(self, values: Array, quantum: Callable[[Array, bool], Array], most: int) -> None:
        """Call functions rough whose values (q, 1 + m) at differences hardly change beside their rounding."""
        if self.precise.all():
            return
        base = self.run.value
        self.seen = np.concatenate([self.seen, base[None]])[-most:]
        steps = np.where(self.precise, 0.0, differences.rounding(self.seen, values, quantum))
        self.precise = self.precise | ((steps == 0.0) & (np.isfinite(values) & (values != base)).any(axis=0))
        if differences.hidden(base, values, steps).any():
            self.verdict, self.quantum, self.seen = "rough", steps, np.concatenate([self.seen, values])

    def _begin_run(self, context: StepContext, space: Space) -> None:
        """Begin another run: feasibility first where nothing feasible was seen, the best point again, or elsewhere.

        Where no restoration gains any more the best point may be the least violated one around, and feasible ones are
        elsewhere: further restorations then count among the runs that begin at the best point.
        """
        c = space.constants
        generator, share, last, m = context.generator, context.settings.restart_share, self.run, len(self.multipliers)
        radius, penalty = (
            10.0 ** generator.uniform(c.first_radii[0], c.first_radii[1]),
            10.0 ** generator.uniform(-1.0, 2.0),
        )
        self._note_end(space)
        self.elsewhere, self.apart = self.elsewhere + self.apart, False
        infeasible = not is_feasible(self.best_value[1:], space.tolerance)
        usable, violation = bool(np.isfinite(self.best_value).all()), float(self.best_value[1:].max(initial=0.0))
        # A restoration is two runs: the whole problem follows it.
        due = self.again + 2 * self.restorations < (1.0 - share) * self.runs
        if last.restoring:  # now the whole problem from where it led
            self.run = SQPRun.start(last.x, last.value, m, radius, penalty)
        elif len(self.own):
            self.run, self.own = SQPRun.start(self.own, np.empty(0), m, 1.0, context.settings.penalty), np.empty(0)
        elif infeasible and usable and (due or violation < c.progress * self.restored_from):
            self.run = SQPRun.start(self.best, self.best_value, m, radius, 1.0, restoring=True)
            self.restorations, self.restored_from = self.restorations + 1, violation
        elif usable and not infeasible and self.again < (1.0 - share) * self.runs:
            self.run = SQPRun.start(self.best, self.best_value, m, radius, penalty, central=True)
            self.again += 1
        else:
            self.apart = True
            for _ in range(c.draws):  # again where it is expected to fail
                place = elsewhere(self.runs, self.best, space.scaled(last.length), generator)
                if not self.failures.expects(place, space.scale):
                    break
            self.run = SQPRun.start(last.interior.within(place[None])[0], np.empty(0), m, radius, penalty)
        self.run.interior = last.interior
        self.runs += 1

    def _note_end(self, space: Space) -> None:
        """Keep f at the end of a run, and tell by such ends in how many minima runs have ended."""
        last, c = self.run, space.constants
        ended = not last.restoring and len(last.value) and is_feasible(last.value[1:], space.tolerance)
        # Where the region shrank to nothing the model was wrong, and on a plateau there is none, but of a constant.
        flat = self.flat and self.elsewhere + self.apart > 0
        if ended and (flat or not self.plateau) and last.radius >= c.small_radius:
            self.lowest_end = min(self.lowest_end, float(last.value[0]))
            self.highest_end = max(self.highest_end, float(last.value[0]))
        apart = c.other_minimum * (1.0 + abs(self.best_value[0]))
        several = 1 + int(self.highest_end - self.lowest_end > apart)
        self.minima = several if self.lowest_end - self.best_value[0] <= apart else 0
