"""The guard of a run stops replicas whose iterates, values or multipliers blow up, and says which end infeasible."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from zoviz.certainty.estimate import CLEARLY
from zoviz.core import defaults
from zoviz.core.types import Array, Iterate
from zoviz.core.units import as_box
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.runs.engine.answer import Answer
from zoviz.runs.engine.columns import VIOLATION
from zoviz.runs.engine.trace import Trace
from zoviz.solvers.saddle.restoration import violation_of

EVERY = 5
"""Iterations from one check to the next: even a short check costs a twentieth of the smallest steps."""
DUAL_MULTIPLE = defaults.LARGEST_GROWTH**2
"""How much larger than their scale at the start multipliers may become, in the functions' units: a Lagrangian
f + <y, h> of f and h of order 1 has no digit of f left there. Multipliers of 1e10 are met on the way to solutions that
have none."""
PATIENCE = 3
"""Checks in a row at which a size must be beyond its bound: a line search's trial point is not a course."""
LOST, WORSE = 8, 3.0
"""How many more checks (40 iterations) than not a replica must be worse than its start, and by how many times the scale
of the start or all that it ever gained: an overshoot at the start, or noise at a good start, is no divergence. Chosen
by us: of 200 default runs that converge none was stopped (``zoviz.papers.robustness.guard``)."""
ROAM = 10.0
"""How many of its scales an iterate must have gone before the size of values tells of a divergence: nearer, as
everywhere in a box, values are large for what the function is there, a peak beside a flat start for one."""
FAR = 0.1
"""Share of the constraints' size at the starts, ||h||, above which the violation of an end is far from feasible."""
FEWEST_ITERATIONS = 30
"""Iterations before which a run that its budget ended is not judged: it had no time to become feasible."""
_ADVICE = "Tighten the bounds, or reduce the step size where the method has one."

_ITERATE, _OBJECTIVE, _CONSTRAINT, _DUALS = "the iterate", "the objective", "a constraint", "the multipliers"


class Divergence(NamedTuple):
    """A replica that the guard stopped: which one, when, and what had blown up.

    Attributes
    ----------
    replica, iteration, calls : int
        From 0; the iteration at which it was stopped, and the calls that it had made by then.
    reason : str
        A clause, e.g. "the iterate is 3e+09 times its scale at the start".
    """

    replica: int
    iteration: int
    calls: int
    reason: str


class Guard:
    """A watch over the replicas of one run, which sees the iterates alone and makes no call.

    A replica has diverged where, at ``PATIENCE`` checks in a row, its iterate exceeds ``defaults.LARGEST_GROWTH`` times
    its scale at the start (at least 1, and the bounds of a box), or its multipliers ``DUAL_MULTIPLE`` times theirs, or
    where the run ends beyond one of these bounds. The objective and a violation count as the iterate does, but only
    where that has gone ``ROAM`` of its scales: in a box a falling objective is no divergence, however flat the start.
    What can happen there is that a method that steps along estimated gradients loses its way: at ``LOST`` more checks
    than not the objective, and where there are constraints the violation too, are worse than at the start by more than
    ``WORSE`` times the scale of the start and all that was gained before; of violation, all that could be.

    Parameters
    ----------
    replicas : int

    Attributes
    ----------
    divergences : tuple of Divergence
        In the order in which they were stopped; replaced as a whole, so that any thread may read it.
    """

    def __init__(self, replicas: int) -> None:
        self.divergences: tuple[Divergence, ...] = ()
        self._bounds: dict[str, Array] = {}
        self._least_bounds: dict[str, float] = {}
        self._beyond, self._lost = np.zeros(replicas, dtype=np.int64), np.zeros(replicas, dtype=np.int64)
        self._counting = False  # whether any of them is more than 0
        self._start, self._best = np.full((2, replicas), np.nan), np.full(replicas, np.nan)
        self._scale = np.full((2, replicas), np.inf)
        self._h_size = np.full(replicas, np.nan)

    @property
    def diverged(self) -> np.ndarray:
        """The replicas that were stopped, (R,) of bool."""
        mask = np.zeros(len(self._beyond), dtype=bool)
        mask[[one.replica for one in self.divergences]] = True
        return mask

    @property
    def sentence(self) -> str:
        """The sentence on the replicas that were stopped; empty where there are none."""
        if not self.divergences:
            return ""
        first, replicas = self.divergences[0], len(self._beyond)
        if replicas == 1:
            return f"Diverged and stopped at iteration {first.iteration:,}: {first.reason}. {_ADVICE}"
        return (
            f"{len(self.divergences)} of {replicas} replicas diverged and were stopped, the first at iteration "
            f"{first.iteration:,}: {first.reason}. {_ADVICE}"
        )

    def begin(self, iterate: Iterate, oracle: Oracle) -> None:
        """Take the scales from the iterate at the start."""
        box, width = as_box(oracle.domain), 1.0
        if box is not None:
            sides = np.abs(np.concatenate([box.lower, box.upper]))
            width = float(sides[np.isfinite(sides)].max(initial=1.0))
        sizes = _sizes(iterate)
        for name, size in sizes.items():
            least = width if name == _ITERATE else _dual_scale(sizes, oracle) if name == _DUALS else 1.0
            scale = np.maximum(np.where(np.isfinite(size), size, 1.0), least)
            with np.errstate(over="ignore"):  # a bound beyond the range of numbers is none
                self._bounds[name] = scale * (DUAL_MULTIPLE if name == _DUALS else defaults.LARGEST_GROWTH)
        self._least_bounds = _least(self._bounds)
        if iterate.value is not None:
            value = iterate.value
            self._start, self._best = np.stack([value.f, violation_of(value)]), value.f
            h = value.h if oracle.units is None else value.h * oracle.units.h
            self._h_size = np.sqrt(np.square(h).sum(axis=1))
            self._scale = np.maximum(np.abs(np.stack([value.f, _largest(value.h)])), 1.0)

    def check(
        self,
        iterate: Iterate,
        iteration: int,
        oracle: Oracle,
        descends: bool,
        recover: Callable[[np.ndarray], np.ndarray] | None = None,
    ) -> np.ndarray:
        """Judge the replicas by the present iterate, and return which of them are to be stopped, (R,) of bool.

        Parameters
        ----------
        iterate : Iterate
        iteration : int
        oracle : Oracle
        descends : bool
            Whether steps follow estimated gradients now, so that being worse than at the start counts.
        recover : callable, optional
            Takes which replicas have just diverged, and returns those whose solver goes on in another way: they are not
            stopped, and watched anew.
        """
        worse = self._worse(iterate) & descends
        if not (self._counting or np.count_nonzero(worse)) and self._is_within(iterate):
            return worse  # most checks, which are to cost little
        beyond = self._exceeds(iterate)
        self._beyond = np.where(beyond, self._beyond + 1, 0)
        self._lost = np.maximum(self._lost + np.where(worse, 1, -1), 0)
        self._counting = bool(self._beyond.any() or self._lost.any())
        diverged = oracle.active & ~oracle.failed & ((self._beyond >= PATIENCE) | (self._lost >= LOST))
        if recover is not None and diverged.any():
            recovered = recover(diverged)
            self._beyond, self._lost = np.where(recovered, 0, self._beyond), np.where(recovered, 0, self._lost)
            diverged &= ~recovered
        for replica in _rows(diverged & (self._beyond >= PATIENCE)):
            self._add(replica, iteration, oracle, self._reason(iterate, replica))
        for replica in _rows(diverged & (self._beyond < PATIENCE)):
            self._add(replica, iteration, oracle, f"far worse than the start for {LOST * EVERY} iterations")
        return diverged

    def conclude(self, iterate: Iterate, iteration: int, oracle: Oracle) -> None:
        """Count replicas as diverged whose run ends at an iterate beyond the bounds: their answer is no trial point."""
        last = oracle.active & ~oracle.failed & ~self.diverged & self._exceeds(iterate)
        for replica in _rows(last):
            self._add(replica, iteration, oracle, self._reason(iterate, replica))

    def explain(self, failed: np.ndarray, iterates: tuple[Iterate, Iterate], iteration: int, oracle: Oracle) -> None:
        """Count failed replicas (R,) as diverged whose iterates, before and after the step, are beyond the bounds.

        What has blown up soon has no value: the black box is not to blame for that.
        """
        for iterate in iterates:
            for replica in _rows(failed & self._exceeds(iterate) & ~self.diverged):
                self._add(replica, iteration, oracle, self._reason(iterate, replica))

    def infeasible_end(self, trace: Trace, tolerance: float, points: int) -> str:
        """Return the sentence on replicas whose last iterate is far from feasible; empty where there are none.

        Parameters
        ----------
        trace : Trace
            Of the whole run, in the user's units, the last row included.
        tolerance : float
            Violation that counts as none.
        points : int
            Replicas that met a feasible point on the way.
        """
        columns = trace.snapshot().columns
        if VIOLATION not in columns:
            return ""
        last, start = columns[VIOLATION][-1], columns[VIOLATION][0]
        # One for all replicas, whose functions are the same: a start beside the boundary tells nothing of their size.
        # The first is NaN where a method does not show the values of its iterates.
        scale = np.fmax(self._h_size, start).max() or np.nan_to_num(columns[VIOLATION]).max()
        far = ~self.diverged & (last > max(FAR * scale, tolerance))  # NaN, of a frozen replica, is not
        if not far.any():
            return ""
        replicas, count = far.size, int(far.sum())
        whose = "" if replicas == 1 else f" in {count} of {replicas} replicas"
        middle = "" if count == 1 else " in the median"
        sentence = (
            f"Ended far from feasible{whose}: the last iterate violates the constraints by "
            f"{np.median(last[far]):.2g}{middle} (the start by {np.median(start[far]):.2g})."
        )
        if not points:
            return sentence
        met = "" if replicas == 1 else f" by {points} of {replicas}"
        return f"{sentence} Feasible points were found on the way{met}; the best is best_x of the result."

    def snapshot(self) -> dict[str, Any]:
        """Return all that the next check needs, under names that stores hold."""
        return {
            "divergences": [one._asdict() for one in self.divergences],
            "bounds": dict(self._bounds),
            "beyond": self._beyond,
            "lost": self._lost,
            "start": self._start,
            "best": self._best,
            "scale": self._scale,
            "h_size": self._h_size,
        }

    def restore(self, snapshot: Mapping[str, Any]) -> None:
        """Go on from a snapshot."""
        self.divergences = read_divergences(snapshot["divergences"])
        self._bounds, self._beyond, self._lost = dict(snapshot["bounds"]), snapshot["beyond"], snapshot["lost"]
        self._start, self._scale = snapshot["start"], snapshot["scale"]
        self._best = snapshot["best"]
        self._least_bounds = _least(self._bounds)
        self._h_size = snapshot["h_size"]
        self._counting = bool(self._beyond.any() or self._lost.any())

    def _is_within(self, iterate: Iterate) -> bool:
        """Return whether the Euclidean norm of every part, of all replicas together, is within its least bound."""
        return all(
            math.sqrt(np.vdot(part, part)) <= self._least_bounds.get(name, math.inf) for name, part in _parts(iterate)
        )

    def _exceeds(self, iterate: Iterate) -> np.ndarray:
        """Whether each replica has a size beyond its bound, (R,); NaN is not, but a failure of the black box."""
        out: np.ndarray = np.logical_or.reduce([share > 1.0 for share in self._shares(iterate).values()])
        return out

    def _shares(self, iterate: Iterate) -> dict[str, Array]:
        """Return the sizes of an iterate's parts over their bounds, by name, (R,) each; 0 of what does not count."""
        sizes = _sizes(iterate)
        shares = {name: size / self._bounds[name] for name, size in sizes.items() if name in self._bounds}
        far = shares[_ITERATE] > ROAM / defaults.LARGEST_GROWTH
        value = iterate.value
        if value is not None and _OBJECTIVE in shares:
            shares[_OBJECTIVE] = np.where(far, shares[_OBJECTIVE], 0.0)
            violation = value.h.max(axis=1, initial=0.0)
            shares[_CONSTRAINT] = np.where(far, violation / self._bounds[_CONSTRAINT], 0.0)
        if _DUALS in shares and value is not None:
            # A multiplier is as large as what there is to gain: next to a flat start that is more than was seen there.
            gained = (self._start[0] - np.fmin(self._best, value.f)) / self._scale[0]
            shares[_DUALS] = shares[_DUALS] / np.fmax(gained, 1.0)
        return shares

    def _reason(self, iterate: Iterate, replica: int) -> str:
        """Return the clause on the size of a replica that exceeds its bound most."""
        shares = {name: float(share[replica]) for name, share in self._shares(iterate).items()}
        name = max(shares, key=lambda one: shares[one] if shares[one] > 1.0 else 0.0)
        multiple = DUAL_MULTIPLE if name == _DUALS else defaults.LARGEST_GROWTH
        times = f"{shares[name] * multiple:.2g} times the start's scale"
        if name == _OBJECTIVE and iterate.value is not None and iterate.value.f[replica] < 0:
            return f"{name} has fallen below zero by {times}, so it may have no minimum"
        return f"{name} {'are' if name.endswith('s') else 'is'} {times}"

    def _worse(self, iterate: Iterate) -> np.ndarray:
        """Whether each replica is worse than its start in everything by more than a few of its scales, (R,)."""
        value = iterate.value
        if value is None:
            return np.zeros(len(self._lost), dtype=bool)
        self._best = np.fmin(self._best, value.f)
        start = self._start[0]
        worse: np.ndarray = value.f - start > WORSE * np.maximum(self._scale[0], start - self._best)
        if value.h.shape[1] and np.count_nonzero(worse):
            violation, start = violation_of(value), self._start[1]
            worse &= violation - start > WORSE * np.maximum(self._scale[1], start)
        return worse

    def _add(self, replica: int, iteration: int, oracle: Oracle, reason: str) -> None:
        calls = int(oracle.calls[replica])
        self.divergences = (*self.divergences, Divergence(replica, iteration, calls, reason))


def read_divergences(stored: Any) -> tuple[Divergence, ...]:
    """Return divergences from what a store holds of them."""
    return tuple(Divergence(**one) for one in stored)


def allowed(problem: Problem, oracle: Oracle) -> float:
    """Return the violation that counts as none, of all rows together: of noisy values within 3 standard deviations."""
    noise = 0.0 if problem.analytic else float(problem.noise_scales[1:].max(initial=0.0))
    return float(oracle.best.tolerance.max(initial=0.0)) + CLEARLY * noise


def infeasible_end(guard: Guard, trace: Trace, problem: Problem, oracle: Oracle, answer: Answer | None) -> str:
    """Return the sentence on replicas that end far from feasible, but for what noisy values alone may make of them."""
    points = 0 if problem.stochastic else int(np.isfinite(oracle.best.f).sum())
    if oracle.contract != "deterministic" and not problem.analytic:
        # The answer's means say more than the last iterate's one value; so do feasible points, beside an unknown noise.
        feasible = points > 0 and not problem.noise_scales.any() if answer is None else answer.feasible
        if feasible:
            return ""
    return guard.infeasible_end(trace, allowed(problem, oracle), points)


def infeasible_start(trace: Trace, problem: Problem, oracle: Oracle) -> str:
    """Return the sentence on a start that is infeasible; empty once each active replica has met a feasible point."""
    columns, tolerance = trace.snapshot().columns, allowed(problem, oracle)
    if VIOLATION not in columns:
        return ""
    start, last = columns[VIOLATION][0], columns[VIOLATION][-1]
    feasible = np.isfinite(oracle.best.f) | (last <= tolerance)
    if not (start > tolerance).any() or feasible[oracle.active].all():
        return ""
    return f"The starting point is infeasible (violation up to {np.nanmax(start):.3g})."


def _rows(mask: np.ndarray) -> list[int]:
    """Return the replicas of a mask (R,)."""
    return [int(row) for row in mask.nonzero()[0]]


def _sizes(iterate: Iterate) -> dict[str, Array]:
    """Return the largest magnitudes in every part of an iterate, (R,) each."""
    sizes: dict[str, Array] = {}
    for name, part in _parts(iterate):
        size = _largest(part)
        sizes[name] = np.maximum(sizes[name], size) if name in sizes else size
    return sizes


def _parts(iterate: Iterate) -> list[tuple[str, Array]]:
    """Return the parts of an iterate that it has, (R,) or (R, k), with their names; multipliers may come twice."""
    value = iterate.value
    parts = [
        (_ITERATE, iterate.x),
        ("the follower's variables", iterate.inner),
        ("the linear system's solution", iterate.system),
        ("the slack", iterate.slack),
        (_OBJECTIVE, None if value is None else value.f),
        (_CONSTRAINT, None if value is None else value.h),
        (_DUALS, iterate.dual),
        (_DUALS, iterate.row_dual),
    ]
    return [(name, part) for name, part in parts if part is not None]


def _least(bounds: Mapping[str, Array]) -> dict[str, float]:
    """Return the least of all replicas' bounds (R,), by part."""
    return {name: float(bound.min()) for name, bound in bounds.items()}


def _dual_scale(sizes: Mapping[str, Array], oracle: Oracle) -> Array | float:
    """Return what multipliers may be of by the functions' units, (R,): the start's |f| over |h|, each no worse than 1.

    A start on the boundary of a constraint tells nothing of its unit, so h counts as 1 / ``defaults.LARGEST_GROWTH`` at
    least; where a row is known to matter at smaller values yet, as these.
    """
    if _OBJECTIVE not in sizes:
        return 1.0
    f, h = sizes[_OBJECTIVE], sizes[_CONSTRAINT]
    over = np.maximum(np.minimum(np.where(h > 0, h, 1.0), 1.0), 1.0 / defaults.LARGEST_GROWTH)
    rows = oracle.best.sizes
    if rows is not None and oracle.units is not None:
        rows = rows / oracle.units.h
        over = np.minimum(over, rows[rows > 0.0].min(initial=1.0))
    return np.where(np.isfinite(f), np.maximum(f, 1.0), 1.0) / np.where(np.isfinite(over), over, 1.0)


def _largest(part: Array) -> Array:
    """Return the largest magnitude in every row, (R,) or (R, k) to (R,); 0 where k is 0."""
    out: Array = np.abs(part).reshape(len(part), -1).max(axis=1, initial=0.0)
    return out
