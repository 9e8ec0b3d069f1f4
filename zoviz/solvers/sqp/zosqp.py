"""ZOSQP: noise-adaptive sequential quadratic programming from joint values."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import param

from zoviz.core.defaults import calls_for
from zoviz.core.parameters import Scale
from zoviz.core.sets import Box, Set
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, Sketch
from zoviz.oracle import Oracle, Purpose
from zoviz.oracle.past import Known
from zoviz.solvers import differences
from zoviz.solvers.base import Searches
from zoviz.solvers.batches import ANEW, Course, Loop, LoopSolver
from zoviz.solvers.replica_batches import evaluate_each
from zoviz.solvers.sqp import ahead
from zoviz.solvers.sqp.constants import STANDARD, SQPConstants
from zoviz.solvers.sqp.exact import Exact
from zoviz.solvers.sqp.kept_rows import KeptRows
from zoviz.solvers.sqp.known import steps_by_models
from zoviz.solvers.sqp.noisy import KnownUnder, Noisy, first_design, replicates
from zoviz.solvers.sqp.situation import Settings, Space, StepContext, space_of
from zoviz.solvers.theory import Info

_LEAST_WIDTH = 40
"""Points of a batch at most, unless two sweeps are more."""


@dataclass
class Replica:
    """The memory of one replica: the values at its start, and the noise-free or the noisy arm that it then takes.

    Attributes
    ----------
    start : Array, shape (n,)
    first : Array, shape (1 + m,)
        The values at the start, f first.
    scale : Array, shape (n,)
        Unit lengths of the variables; 0 where bounds fix one.
    own : Array, shape (n,)
        The problem's own start, where past points may have given another one; else empty.
    exact : Exact or None
        The noise-free arm.
    noisy : Noisy or None
        The noisy arm.
    """

    start: Array
    first: Array
    scale: Array
    own: Array
    exact: Exact | None = None
    noisy: Noisy | None = None

    @property
    def begun(self) -> int:
        """The number of calls with which workers may have begun, and which no batch has had yet."""
        exact, noisy = self.exact, self.noisy
        return len(noisy.ahead) if noisy is not None else len(exact.begun) if exact is not None else 0

    def loop(self, oracle: Oracle, constants: SQPConstants) -> Loop:
        """Ask for the start's values again, and go on by differences where they are the same, else by regression."""
        space = _space(self.start, oracle)._replace(constants=constants)
        if not space.n:
            return
        context = None
        if self.exact is None and self.noisy is None:
            context = yield ANEW
            exact = Exact.start(space.start, self.first, context.settings.penalty, space.kept)
            around = ahead.at_start(space, 1 if context.may_differ else context.parallel)
            known, values, early = oracle.known, self.first[None], first_design(context, space)
            if context.may_differ or known is None or not known.repeat:
                values = yield "start", np.concatenate([space.start[None], around]), early
                context.used = True
            if not context.may_differ and np.array_equal(self.first, values[0]):
                exact.ahead = exact.ahead.add(around[: len(values) - 1], values[1:])
                self.exact = exact
                if known is not None:
                    exact.own = self.own
                    context = yield from steps_by_models(exact, _freed(known, oracle), context, space)
            else:
                both = np.stack([self.first, values[0]])
                self.noisy = Noisy.start(np.tile(space.start, (2, 1)), both, context, space)
                self.noisy.ahead = early
        if self.exact is not None:
            context = yield from self.exact.loop(space, oracle.quantum, context)
            self.noisy, self.exact = self._without_differences(self.exact, context, space, oracle), None
        if self.noisy is not None:
            yield from self.noisy.loop(space, oracle.quantum, _known_under(oracle), context)

    def _without_differences(self, exact: Exact, context: StepContext, space: Space, oracle: Oracle) -> Noisy:
        """Return the arm that goes on with a function that is rough or rounded."""
        if len(exact.quantum):
            arm = Noisy.start(exact.best[None], exact.best_value[None], context, space, exact.quantum)
            digits = oracle.digits(exact.seen, exact.quantum)
            arm.digits = int(digits[0] or digits.max())
        else:
            arm = Noisy.start(space.start[None], self.first[None], context, space)
        arm.best, arm.best_value = exact.best, exact.best_value
        return arm


class SQPState(NamedTuple):
    """The state of ZOSQP: points x (R, n) to return, multipliers y (R, m) of the runs that met them, values, courses.

    ``value`` is the mean of the calls at x; ``radius`` (R,) that of the trust region, ``spread`` (R,) that of
    differences or of the design; ``archive`` (R,) the number of distinct points that the models may rest on;
    ``starts`` (R,) the number of runs or descents so far.
    """

    x: Array
    y: Array
    value: Evaluation
    radius: Array
    spread: Array
    archive: Array
    starts: Array
    courses: list[Course]


_PURPOSES = {
    "start": Purpose.START,
    "differences": Purpose.DIRECTIONS,
    "trial": Purpose.LINE_SEARCH,
    "correction": Purpose.LINE_SEARCH,
    "line": Purpose.LINE_SEARCH,
    "last calls": Purpose.VERIFICATION,
    "replicate": Purpose.NOISE,
    "design": Purpose.DESIGN,
    "race": Purpose.VERIFICATION,
}
"""What a ledger has a replica's batch for, by the word that its sketch has."""


class ZOSQP(LoopSolver):
    r"""Sequential quadratic programming from joint values, by differences or by regression.

    .. math:: \min_{d, e}\; g^T d + \tfrac12 d^T B d + \rho \sum_j e_j, \qquad A d + h \le e, \quad e \ge 0, \quad
              |d_i| \le \Delta s_i, \quad x + d \in X

    The start is evaluated twice. Equal bits in f and h, and no noise that was declared or found: g and A are
    differences, B is a damped BFGS matrix, f and h are in units of their steepest slopes at a run's start, as variables
    are where slopes are far apart, variables that enter linearly may go a thousand times as far as the others, a step
    that gains too little is shortened along its way, and runs start again until the budget is spent. Where trials fail
    and differences do not, a plane between failed and other points (``failures``) is a constraint more, and runs start
    where no failure is expected.
    Anything else: no h is far more or less noisy than f in its units, g, A and the curvatures are those of a
    regression over all points within reach, constraints are backed off by what is not known of them, the radius
    shrinks only where an output differs from its model by more than the noise explains, trials are called twice
    while an output has shown no noise, and the last tenth of the budget races a few candidates by repeated calls.
    Under common noise the regression has a random intercept for each batch: slopes and races are as precise as
    differences in batches, and constraints are backed off by what is not known of their level; after 60 sweeps of n
    + 1 calls, which serve levels, only candidates for the answer share noise. Functions that repeat to the bit but
    are rough, as a simulator's with tolerances, would be magnified by differences: when a step has been shortened
    three times, six calls on a short line tell, and six on a hundredth of it, and from there on roughness is taken
    for noise, with calls at one point moved by random short ways; the best of all points is then the answer. So it
    is where values are rounded so coarsely that they hardly change over a difference: their digits tell, at no
    call, and no point is called twice.
    A step is one batch: a gradient, a design, a trial. With parallel calls workers begin with what may be needed next:
    without noise with differences around a trial and shorter steps (``ahead``), else with points of the next design.

    Notes
    -----
    Nothing is used of a problem but its box and its values, and no constants are measured. A box is needed.
    Without a budget of calls the noisy arm plans 1000 (n + 1) calls ahead, and no race ends it.

    References
    ----------
    Byrd, Nocedal and Waltz (2008) for the penalty; Powell (1978) for B; Rasmussen and Williams (2006), §2.7, for the
    regression. The whole is ours.
    """

    title = "ZOSQP"
    needs_box = True
    has_sketch = True
    reports_best = True
    keeps_rows = True
    noise_rank = 2
    standard = STANDARD
    live = ("trust_scale", "restart_share", "batch_multiplier", "penalty", "back_off", "verification_share")

    trust_scale = Scale(
        1.0,
        bounds=(1e-3, 1e3),
        softbounds=(1e-2, 1e2),
        label="Trust radius scale",
        doc="Factor of the trust region's own radius.",
    )
    restart_share = param.Number(
        default=0.7,
        bounds=(0.0, 1.0),
        label="Share of restarts",
        doc="Share of the restarts that begin far from the best point; under noise, half of it is their share of "
        "the budget.",
    )
    batch_multiplier = Scale(
        1.0,
        bounds=(0.1, 100.0),
        softbounds=(0.1, 10.0),
        label="Batch multiplier",
        doc="Factor of the number of points in a design and of calls in a trial, under noise.",
    )
    penalty = Scale(
        1.0,
        bounds=(1e-6, 1e6),
        softbounds=(1e-3, 1e3),
        label="First penalty ρ",
        doc="Weight of the violation when a run or a descent begins; it adapts from there.",
    )
    back_off = param.Number(
        default=3.0,
        bounds=(0.0, 10.0),
        label="Back-off",
        doc="Standard errors by which constraints are tightened under noise.",
    )
    verification_share = param.Number(
        default=0.1,
        bounds=(0.0, 0.5),
        label="Verification share",
        doc="Share of the budget that is kept for repeated calls at the candidates for the answer, under noise.",
    )

    parallel_calls = param.Integer(
        default=1,
        bounds=(1, 1024),
        softbounds=(1, 64),
        label="Parallel calls",
        doc="Number of parallel calls. Workers that are free begin with calls that may be needed next.",
    )

    def first_points(self, x0: Array, domain: Set, oracle: Oracle) -> Array | None:
        """Return, where calls are parallel, calls at the start that tell the noise, or without noise differences."""
        if self.parallel_calls == 1 or oracle.problem.keeps_rows or not isinstance(domain, Box):
            return None
        if oracle.contract == "independent":
            return np.tile(x0, (replicates(int(min(oracle.remaining[0], 10**6)), self.table), 1))
        space = space_of(domain, x0, np.zeros(oracle.m), self.table)
        around = ahead.at_start(space, self.parallel_calls)
        return domain.embed(around[: 0 if oracle.may_differ else len(around)])

    def verifies(self, state: SQPState) -> bool:
        """Return True: the last calls under noise race the candidates for the answer."""
        return True

    def done(self, state: SQPState, active: np.ndarray) -> str | None:
        """Return a sentence where the bounds leave no variable free; None otherwise. ``active`` is a mask (R,)."""
        return "The bounds leave no variable free." if not len(state.radius) or state.radius.max() == 0.0 else None

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> SQPState:
        """Evaluate the starts (R, n), at one call per replica."""
        values = _outputs(oracle(x0[:, None], np.ones((len(x0), 1), dtype=bool)))[:, 0]
        replicas, free, known = [], Box.of(oracle.domain).variable, oracle.known
        starts = np.empty((len(x0), 0)) if known is None or not len(known.own) else known.own[:, free]
        for x, first, own in zip(x0, values, starts, strict=True):
            replicas.append(Replica(x, first, np.zeros(oracle.n), own))
            replicas[-1].scale[free] = _space(x, oracle).scale
        courses = self._loops.begin(replicas, self._loop(oracle), x0[:, free], "start")
        return self._state(courses, oracle)

    def step(self, state: SQPState, oracle: Oracle, streams: Streams) -> tuple[SQPState, Info]:
        """Evaluate one batch of every replica whose budget covers it, and take its step."""
        # One number a step for each: what a replica draws does not depend on what others do.
        seeds = (streams.uniform("steps", 1)[:, 0] * 2.0**53).astype(np.int64)
        oracle.resample()
        box, width = Box.of(oracle.domain), max(_LEAST_WIDTH, 2 * oracle.n + 2)
        width += -width % self.parallel_calls
        remaining, settings = oracle.remaining, Settings(*(getattr(self, name) for name in Settings._fields))
        contexts: list[StepContext | None] = [None] * len(seeds)
        # What may be needed is not known to be inside of rows that are kept.
        parallel = 1 if oracle.problem.keeps_rows else self.parallel_calls
        for r in np.flatnonzero(oracle.active & (remaining > 0)):
            # Without a budget it is planned ahead at every step.
            left = int(remaining[r]) if np.isfinite(remaining[r]) else calls_for(int(box.variable.sum()))
            course, common = state.courses[r], oracle.contract == "common"
            budget = course.calls + left
            left -= course.now.begun
            contexts[r] = StepContext(settings, left, budget, width, common, oracle.may_differ, int(seeds[r]), parallel)

        def evaluate(points: list[Array]) -> Array:
            # Noise is drawn for a whole batch: its width must not depend on how many points other replicas want.
            breadth = width if oracle.contract == "independent" else 0
            whole = [box.embed(own.reshape(len(own), int(box.variable.sum()))) for own in points]
            return _outputs(evaluate_each(oracle, whole, state.x, breadth).value)

        def announce(points: Array) -> None:
            oracle.announce(box.embed(points))

        courses = self._loops.step(state.courses, contexts, self._loop(oracle), oracle, _PURPOSES, evaluate, announce)
        after = self._state(courses, oracle)
        return after, Info(np.full(len(seeds), np.nan), after.x, after.y, np.nan)

    def _loop(self, oracle: Oracle) -> Callable[[Replica], Loop]:
        """Return what begins the loop of a replica."""
        return lambda replica: replica.loop(oracle, self.table)

    def searches(self, state: SQPState) -> Searches:
        """Return the runs that have ended, in how many minima, and the calls that a race takes at the noise floor."""
        arms = [course.now.exact for course in state.courses]
        counts = [(0, 0, 0) if arm is None else (arm.runs - 1, arm.minima, arm.elsewhere) for arm in arms]
        ended, minima, elsewhere = np.array(counts).T
        return Searches(ended, minima, np.array([self._settling(course) for course in state.courses]), elsewhere)

    def _settling(self, course: Course) -> float:
        """Return the calls of a race at the noise floor: their usual share of all calls then; infinite before it."""
        arm, share = course.now.noisy, self.verification_share
        if arm is None or not arm.at_floor(self.table):
            return np.inf
        # Not rounded up: the race begins where no more than its share of the budget is left.
        return 0.0 if len(arm.quantum) else math.floor((1.0 - 1e-9) * share / (1.0 - share) * course.calls)

    def closing_note(self, state: SQPState) -> str:
        """Return sentences: whether values repeat or are noisy, how many runs or descents, and what is odd."""
        replicas = [course.now for course in state.courses]
        exact = [(one.exact, one.scale[one.scale > 0.0]) for one in replicas if one.exact is not None]
        runs = [arm.runs for arm, _ in exact]
        arms = [(1 + one.noisy.starts, len(one.noisy.best) > 0) for one in replicas if one.noisy is not None]
        noisy, rough = ([starts for starts, is_rough in arms if is_rough == which] for which in (False, True))
        digits = [one.noisy.digits for one in replicas if one.noisy is not None and one.noisy.digits]
        what = f"have about {min(digits)} digit{'s' * (min(digits) > 1)}" if digits else "repeat but are rough"
        notes = [f"values repeat exactly, so differences were used; {_number(runs, 'run')}."] if runs else []
        notes += [f"values are noisy, so regression was used; {_number(noisy, 'descent')}."] if noisy else []
        notes += [f"values {what}, so regression was used; {_number(rough, 'descent')}."] if rough else []
        if any(arm.flat and arm.runs > 1 for arm, _ in exact):
            notes += ["the objective had the same value at all points."]
        if any(arm.failures.near(arm.best, scale, self.table.beside) for arm, scale in exact):
            notes += ["x lies beside points without a value, and lower values may lie between."]
        kept = [arm.run.interior for arm, _ in exact]
        if outside := [interior.outside for interior in kept if interior.any]:
            calls = f"{sum(outside)} call{'s were' if sum(outside) != 1 else ' was'}" if any(outside) else "no call was"
            notes += [f"{calls} outside of the constraints that are kept."]
        return " ".join(f"{self.title}: {one}" for one in notes)

    def figures(self, state: SQPState) -> dict[str, Array]:
        """Return the radii of trust region and design, the size of the archive and the number of starts, (R,) each.

        Under noise that of the objective, too, which is known once calls were repeated.
        """
        arms = [course.now.noisy for course in state.courses]
        known = [np.nan if arm is None or arm.archive.degrees <= 0.0 else arm.archive.noise[0] for arm in arms]
        return {
            "trust_radius": self.trust_scale * state.radius,
            "design_radius": state.spread,
            "archive": state.archive,
            "starts": state.starts,
        } | ({} if arms.count(None) == len(arms) else {"value_noise": np.array(known)})

    def stage(self, state: SQPState) -> int:
        """Return the number of restarts so far, the largest of the replicas'."""
        return max(0, int(state.starts.max(initial=0.0)) - 1)

    def sketch(self, state: SQPState) -> Sketch:
        """Return the trust region of the next step around its centre, and the last batch."""
        course, centre = state.courses[0], state.x[0].copy()
        scale = course.now.scale
        reach, free = self.trust_scale * float(state.radius[0]) * scale, scale > 0.0
        exact, noisy = course.now.exact, course.now.noisy
        if exact is not None:
            centre[free] = exact.run.x
            reach[free] *= exact.run.length * exact.run.reach(self.table)
        elif noisy is not None:
            centre[free] = noisy.descent.centre
        points = np.repeat(state.x[:1], len(course.probes), axis=0)
        points[:, free] = course.probes
        return Sketch(centre, reach, points, course.purpose)

    def _state(self, courses: list[Course], oracle: Oracle) -> SQPState:
        """Return the state of these courses."""
        box = Box.of(oracle.domain)
        outlines = [_outline(course.now, box) for course in courses]
        x, y, values, radius, spread, archive, starts = (np.array(column) for column in zip(*outlines, strict=True))
        return SQPState(x, y, Evaluation(values[:, 0], values[:, 1:]), radius, spread, archive, starts, courses)


def _outputs(value: Evaluation) -> Array:
    """Return f and h side by side, +inf where a call gave no finite values."""
    values = value.stacked
    return np.where(np.isfinite(values).all(axis=-1, keepdims=True), values, np.inf)


def _freed(known: Known, oracle: Oracle) -> Known:
    """Return what is known with the variables alone that bounds do not fix."""
    return known._replace(points=known.points[:, Box.of(oracle.domain).variable])


def _number(counts: Sequence[int], word: str) -> str:
    """Return a sum with its word, in the singular or the plural."""
    return f"{sum(counts)} {word}{'s' * (sum(counts) != 1)}"


def _known_under(oracle: Oracle) -> KnownUnder:
    """Return what returns what is known and trusted, of free variables, by the noise (1 + m,)."""

    def known(noise: Array) -> Known | None:
        past = oracle.past
        if past is None or past.best is None or not past.judge(noise, oracle.units) or oracle.known is None:
            return None
        return _freed(oracle.known, oracle)

    return known


def _space(start: Array, oracle: Oracle) -> Space:
    tolerance, kept = np.broadcast_to(oracle.tolerance, oracle.m), KeptRows(np.flatnonzero(oracle.problem.kept_rows))
    return space_of(Box.of(oracle.domain), start, tolerance, kept=kept)


def _outline(replica: Replica, box: Box) -> tuple[Array, Array, Array, float, float, float, float]:
    """Return point, multipliers, values, both radii, size of the archive and number of starts of a replica."""
    if replica.exact is not None:
        exact = replica.exact
        x = box.embed(exact.best[None])[0]
        spread = differences.CENTRAL if exact.run.central else differences.FORWARD
        return x, exact.multipliers, exact.best_value, exact.run.radius, spread, 0.0, float(exact.runs)
    if replica.noisy is not None:
        arm, descent, size = replica.noisy, replica.noisy.descent, float(len(replica.noisy.archive.counts))
        best, value = (arm.best, arm.best_value) if len(arm.best) else (arm.x, arm.outputs)
        x, starts = box.embed(best[None])[0], 1.0 + arm.starts
        return x, arm.multipliers, value, descent.radius, descent.spread, size, starts
    radius = 1.0 if box.variable.any() else 0.0
    return replica.start, np.zeros(len(replica.first) - 1), replica.first, radius, radius, 0.0, 0.0
