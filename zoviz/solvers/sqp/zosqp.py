"""ZOSQP: noise-adaptive sequential quadratic programming from joint values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.core.defaults import calls_for
from zoviz.core.errors import BudgetSpent
from zoviz.core.parameters import Scale
from zoviz.core.ranking import best_of
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, Sketch
from zoviz.oracle import Oracle, Purpose
from zoviz.problems.base import Problem
from zoviz.solvers import differences
from zoviz.solvers.base import Info, Solver
from zoviz.solvers.replica_batches import evaluate_each
from zoviz.solvers.sqp import derivatives, noisy_phase, restarts
from zoviz.solvers.sqp.archive import Archive, Pairs
from zoviz.solvers.sqp.candidate import Prediction
from zoviz.solvers.sqp.descent import Descent
from zoviz.solvers.sqp.elastic_qp import Step
from zoviz.solvers.sqp.noisy_phase import Basin, NoisyArm
from zoviz.solvers.sqp.regression import Prior
from zoviz.solvers.sqp.restarts import Restarts
from zoviz.solvers.sqp.situation import Settings, Situation, Space, space_of
from zoviz.solvers.sqp.smooth_phase import SmoothRun
from zoviz.solvers.sqp.verification import Race

_NO_POINT = np.empty(0)
_LEAST_WIDTH = 40
"""Points of a batch at most, unless two sweeps are more."""
STATES = (Archive, Basin, Descent, Pairs, Prediction, Prior, Race, SmoothRun, Step)
"""Classes of what a replica's state is made of: a stored run finds them in the module of its solver."""


class Replica(NamedTuple):
    """The state of one replica: the values at its start, and the noise-free or the noisy arm that it then takes.

    Attributes
    ----------
    start : Array, shape (n,)
    first : Array, shape (1 + m,)
        The values at the start, f first.
    smooth : Restarts or None
        The noise-free arm.
    noisy : NoisyArm or None
        The noisy arm.
    best, best_value : Array, shapes (n,) and (1 + m,)
        The best point of a rough function, which repeats to the bit, and its values; empty for other functions.
    calls : int
        Calls so far.
    scale : Array, shape (n,)
        Unit lengths of the variables; 0 where bounds fix one.
    probes : Array, shape (q, n)
        The points of the last batch.
    purpose : str
        The purpose of the last batch, in a word or two.
    """

    start: Array
    first: Array
    smooth: Restarts | None
    noisy: NoisyArm | None
    best: Array
    best_value: Array
    calls: int
    scale: Array
    probes: Array
    purpose: str


class SQPState(NamedTuple):
    """The state of ZOSQP: points x (R, n) to return, multipliers y (R, m) of the runs that met them, values, replicas.

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
    replicas: list[Replica]


_PURPOSES = {
    "start": Purpose.START,
    "over": Purpose.START,
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


class ZOSQP(Solver):
    r"""Sequential quadratic programming from joint values, by differences or by regression.

    .. math:: \min_{d, e}\; g^T d + \tfrac12 d^T B d + \rho \sum_j e_j, \qquad A d + h \le e, \quad e \ge 0, \quad
              |d_i| \le \Delta s_i, \quad x + d \in X

    The start is evaluated twice. Equal bits in f and h, and no noise that was declared or found: g and A are
    differences, B is a damped BFGS matrix, f and h are in units of their steepest slopes at a run's start, as variables
    are where slopes are far apart, variables that enter linearly may go a thousand times as far as the others, and runs
    start again until the budget is spent.
    Anything else: no h is far more or less noisy than f in its units, g, A and the curvatures are those of a
    regression over all points within reach, constraints are backed off by what is not known of them, the radius
    shrinks only where an output differs from its model by more than the noise explains, trials are called twice while
    an output has shown no noise, and the last tenth of the budget races a few candidates by repeated calls. Functions
    that repeat to the bit but are rough, as a simulator's with tolerances, would be magnified by differences: when a
    step is first refused, six calls on a short line tell, and from there on roughness is taken for noise, with calls at
    one point moved by random short ways; the best of all points is then the answer. So it is where
    values are rounded so coarsely that they hardly change over a difference: their digits tell, at no call, and no
    point is called twice.
    A step is one batch: a gradient, a design, a trial.

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
    has_sketch = True
    reports_best = True
    noise_rank = 2
    live = ("trust_scale", "restart_share", "batch_multiplier", "penalty", "back_off", "verification_share")

    trust_scale = Scale(
        1.0,
        bounds=(1e-3, 1e3),
        softbounds=(1e-2, 1e2),
        label="Trust radius scale",
        doc="What the trust region's own radius is multiplied by.",
    )
    restart_share = param.Number(
        default=0.7,
        bounds=(0.0, 1.0),
        label="Share of restarts",
        doc="Share of the restarts that begin away from the best point; under noise half of it is that of the budget.",
    )
    batch_multiplier = Scale(
        1.0,
        bounds=(0.1, 100.0),
        softbounds=(0.1, 10.0),
        label="Batch multiplier",
        doc="What the number of points of a design and of calls of a trial is multiplied by, under noise.",
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
        label="Share of verification",
        doc="Share of the budget that is kept for repeated calls at the candidates for the answer, under noise.",
    )

    def begin_again(self, state: SQPState, x: Array, oracle: Oracle, streams: Streams) -> SQPState:
        """Return the state of a new beginning at x (R, n), in the arm that the values there call for."""
        return self.init(x, oracle, streams)

    def verifies(self, state: SQPState) -> bool:
        """Return True: the last calls under noise race the candidates for the answer."""
        return True

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return a sentence for a domain that is no box; None for a box."""
        if not isinstance(problem.domain, Box):
            return self.box_needed(problem)
        return None

    def done(self, state: SQPState, active: np.ndarray) -> str | None:
        """Return a sentence where the bounds leave no variable free; None otherwise. ``active`` is a mask (R,)."""
        return "The bounds leave no variable free." if not len(state.radius) or state.radius.max() == 0.0 else None

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> SQPState:
        """Evaluate the starts (R, n), at one call per replica."""
        value = oracle(x0[:, None], np.ones((len(x0), 1), dtype=bool))
        values = _outputs(value)[:, 0]
        replicas = [
            Replica(x, first, None, None, _NO_POINT, _NO_POINT, 1, _scale(x, oracle), x[None], "start")
            for x, first in zip(x0, values, strict=True)
        ]
        return self._state(replicas, oracle)

    def step(self, state: SQPState, oracle: Oracle, streams: Streams) -> tuple[SQPState, Info]:
        """Evaluate one batch of every replica whose budget covers it, and take its step."""
        # One number a step for each: what a replica draws does not depend on what others do.
        seeds = (streams.uniform("steps", 1)[:, 0] * 2.0**53).astype(np.int64)
        oracle.resample()
        width = max(_LEAST_WIDTH, 2 * oracle.n + 2)
        remaining = oracle.remaining
        replicas, requests = list(state.replicas), [np.empty((0, oracle.n))] * len(seeds)
        situations: list[Situation | None] = [None] * len(seeds)
        for r, replica in enumerate(state.replicas):
            if oracle.active[r] and remaining[r] > 0:
                situation = situations[r] = self._situation(replica, oracle, remaining[r], int(seeds[r]))
                replicas[r], requests[r] = _request(replica, situation, width, oracle)
        counts = np.array([len(points) for points in requests])
        if not counts.any():
            raise BudgetSpent
        # Noise is drawn for a whole batch: its width must not depend on how many points other replicas want.
        breadth = width if oracle.contract == "independent" else 0
        with oracle.purpose([_PURPOSES[_purpose(replica)] for replica in replicas]):
            values = _outputs(evaluate_each(oracle, requests, state.x, breadth).value)
        for r, setting in enumerate(situations):
            if setting is not None and counts[r] and oracle.active[r]:
                replicas[r] = _receive(replicas[r], requests[r], values[r, : counts[r]], setting, oracle)
        after = self._state(replicas, oracle)
        return after, Info(np.full(len(seeds), np.nan), after.x, after.y, np.nan)

    def closing_note(self, state: SQPState) -> str:
        """Return whether values repeat to the bit or are noisy, and the number of runs or descents, as a sentence."""
        smooth = [replica.smooth.runs for replica in state.replicas if replica.smooth is not None]
        arms = [(1 + one.noisy.starts, bool(len(one.best))) for one in state.replicas if one.noisy is not None]
        noisy, rough = ([starts for starts, is_rough in arms if is_rough == which] for which in (False, True))
        digits = [one.noisy.digits for one in state.replicas if one.noisy is not None and one.noisy.digits]
        what = f"have about {min(digits)} digit{'s' * (min(digits) > 1)}" if digits else "repeat but are rough"
        notes = [f"values repeat to the bit, so differences; {sum(smooth)} runs."] if smooth else []
        notes += [f"values are noisy, so regression; {sum(noisy)} descents."] if noisy else []
        notes += [f"values {what}, so regression; {sum(rough)} descents."] if rough else []
        return " ".join(f"{self.title}: {one}" for one in notes)

    def figures(self, state: SQPState) -> dict[str, Array]:
        """Return the radii of trust region and design, the size of the archive and the number of starts, (R,) each.

        Under noise that of the objective, too, which is known once calls were repeated.
        """
        arms = [replica.noisy for replica in state.replicas]
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

    def stage_title(self, number: int) -> str:
        """Return the title of a stage, "start 1" for the first, whose number is 0."""
        return f"start {number + 1}"

    def sketch(self, state: SQPState) -> Sketch:
        """Return the trust region of the next step around its centre, and the last batch."""
        replica, centre = state.replicas[0], state.x[0].copy()
        reach, free = self.trust_scale * float(state.radius[0]) * replica.scale, replica.scale > 0.0
        if replica.smooth is not None:
            centre[free] = replica.smooth.run.next_x
            reach[free] *= replica.smooth.run.length * replica.smooth.run.reach
        elif replica.noisy is not None:
            centre[free] = replica.noisy.descent.centre
        return Sketch(centre, reach, replica.probes.copy(), replica.purpose)

    def _situation(self, replica: Replica, oracle: Oracle, left: float, seed: int) -> Situation:
        """Return what a step of the replica depends on."""
        settings = Settings(
            self.trust_scale,
            self.restart_share,
            self.batch_multiplier,
            self.penalty,
            self.back_off,
            self.verification_share,
        )
        space = _space(replica.start, oracle)
        ahead = int(left) if np.isfinite(left) else calls_for(space.n)  # planned ahead at every step
        generator = np.random.default_rng(seed)
        return Situation(space, settings, ahead, replica.calls + ahead, generator, oracle.quantum)

    def _state(self, replicas: list[Replica], oracle: Oracle) -> SQPState:
        """Return the state of these replicas."""
        outlines = [_outline(replica, _space(replica.start, oracle), oracle) for replica in replicas]
        x, y, values, radius, spread, archive, starts = (np.array(column) for column in zip(*outlines, strict=True))
        return SQPState(x, y, Evaluation(values[:, 0], values[:, 1:]), radius, spread, archive, starts, replicas)


def _outputs(value: Evaluation) -> Array:
    """Return f and h side by side, +inf where a call gave no finite values."""
    values = value.stacked
    return np.where(np.isfinite(values).all(axis=-1, keepdims=True), values, np.inf)


def _space(start: Array, oracle: Oracle) -> Space:
    return space_of(Box.of(oracle.domain), start, np.broadcast_to(oracle.tolerance, oracle.m))


def _scale(start: Array, oracle: Oracle) -> Array:
    """Return the unit lengths of all variables (n,), 0 for those that bounds fix."""
    box, scale = Box.of(oracle.domain), np.zeros(oracle.n)
    scale[box.variable] = _space(start, oracle).scale
    return scale


def _request(replica: Replica, situation: Situation, width: int, oracle: Oracle) -> tuple[Replica, Array]:
    """Return the replica and the points that it wants, of all variables."""
    space, common = situation.space, oracle.contract == "common"
    if not space.n:
        return replica, np.empty((0, oracle.n))
    if replica.smooth is not None:
        smooth, points = restarts.request(replica.smooth, situation)
        replica = replica._replace(smooth=smooth)
    elif replica.noisy is not None:
        noisy, points = noisy_phase.request(replica.noisy, width, common, situation)
        replica = replica._replace(noisy=noisy)
        if len(replica.best) and not len(noisy.quantum):
            points = derivatives.dithered(points, space, situation.generator)
    else:
        points = space.start[None]
    return replica, Box.of(oracle.domain).embed(points)


def _receive(replica: Replica, x: Array, values: Array, situation: Situation, oracle: Oracle) -> Replica:
    """Return the replica after it was told the values at its points."""
    space, common = situation.space, oracle.contract == "common"
    points = x[:, Box.of(oracle.domain).variable]
    replica = replica._replace(calls=replica.calls + len(points), probes=x.copy(), purpose=_purpose(replica))
    if replica.smooth is not None:
        smooth = restarts.receive(replica.smooth, points, values, situation)
        if smooth.doubt != "rough":
            return replica._replace(smooth=smooth)
        best, best_value, steps = smooth.best, smooth.best_value, smooth.quantum
        if len(steps):
            known = oracle.digits(np.concatenate([smooth.seen, values]), steps)
            digits = int(known[0] or known.max())
            arm = noisy_phase.begin(best[None], best_value[None], common, situation, steps, digits)
        else:
            arm = noisy_phase.begin(space.start[None], replica.first[None], common, situation)
        return replica._replace(smooth=None, noisy=arm, best=best, best_value=best_value)
    if replica.noisy is not None:
        arm = replica.noisy
        if len(replica.best):  # the arm knows nothing of the dither
            best, value = best_of(replica.best, replica.best_value, points, values, space.tolerance)
            replica, points = replica._replace(best=best, best_value=value), arm.queue[: len(points)]
        return replica._replace(noisy=noisy_phase.receive(arm, points, values, common, situation))
    if not oracle.may_differ and np.array_equal(replica.first, values[0]):
        return replica._replace(smooth=restarts.begin(replica.first, situation))
    both = np.stack([replica.first, values[0]])
    return replica._replace(noisy=noisy_phase.begin(np.tile(space.start, (2, 1)), both, common, situation))


def _purpose(replica: Replica) -> str:
    """Return what the batch that the replica has asked for is for."""
    if replica.smooth is not None:
        differences = ("gradient", "mirror")
        phase = "line" if replica.smooth.doubt == "line" else replica.smooth.run.phase
        return "last calls" if replica.smooth.last else "differences" if phase in differences else phase
    return "start" if replica.noisy is None else replica.noisy.stage


def _outline(replica: Replica, space: Space, oracle: Oracle) -> tuple[Array, Array, Array, float, float, float, float]:
    """Return point, multipliers, values, both radii, size of the archive and number of starts of a replica."""
    if replica.smooth is not None:
        smooth = replica.smooth
        x = Box.of(oracle.domain).embed(smooth.best[None])[0]
        spread = differences.CENTRAL if smooth.run.central else differences.FORWARD
        return x, smooth.multipliers, smooth.best_value, smooth.run.radius, spread, 0.0, float(smooth.runs)
    if replica.noisy is not None:
        arm, descent, size = replica.noisy, replica.noisy.descent, float(len(replica.noisy.archive.counts))
        best, value = (replica.best, replica.best_value) if len(replica.best) else (arm.x, arm.outputs)
        x, starts = Box.of(oracle.domain).embed(best[None])[0], 1.0 + arm.starts
        return x, arm.multipliers, value, descent.radius, descent.spread, size, starts
    radius = 1.0 if space.n else 0.0
    return replica.start, np.zeros(oracle.m), replica.first, radius, radius, 0.0, 0.0
