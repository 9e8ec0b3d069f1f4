"""AL-SPG: a safeguarded augmented Lagrangian whose inner problems are solved by spectral projected gradients."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, Sketch
from zoviz.core.units import as_box
from zoviz.oracle import Oracle, Purpose
from zoviz.problems.base import Problem
from zoviz.solvers.augmented_lagrangian.constants import STANDARD
from zoviz.solvers.augmented_lagrangian.course import ALRun, StepSettings, Task
from zoviz.solvers.batches import Course, Loop, LoopSolver
from zoviz.solvers.replica_batches import evaluate_each
from zoviz.solvers.theory import Info


class ALSPGState(NamedTuple):
    """The state of AL-SPG: best points x (R, n), under noise iterates, multipliers y (R, m), values, and courses."""

    x: Array
    y: Array
    value: Evaluation
    courses: list[Course]


_PURPOSES = {
    "repeats": Purpose.NOISE,
    "start": Purpose.START,
    "differences": Purpose.DIRECTIONS,
    "trial": Purpose.LINE_SEARCH,
}
"""What a ledger has the points for that a loop asks for."""


class ALSPG(LoopSolver):
    r"""Spectral projected gradients on an augmented Lagrangian of differences, with multipliers in a safeguarded box.

    .. math::
        L_\beta(x, y) &= f(x) + \tfrac{1}{2\beta}\textstyle\sum_i\big([y_i + \beta h_i(x)]_+^2 - y_i^2\big) \\
        x^{k+1} &= x^k + t\,d, \qquad d = \Pi_X(x^k - H \nabla L_\beta(x^k, y)) - x^k \\
        y &\leftarrow \Pi_{[0, B]^m}(y + \beta h(x))

    A sweep of n differences gives the slopes of f and of every h. H is the Barzilai–Borwein length, made the
    limited-memory BFGS matrix of the last pairs by ``memory``; t is found on values of the augmented Lagrangian, which
    must fall below the largest of the last ``window``. beta grows where max{h, -y / beta} has not halved since
    the multipliers moved last. A run that has ended is followed by others while the budget lasts: from the best point
    by central differences, near it, and elsewhere; where nothing feasible was met, every other one begins
    with the violation alone.

    No constant is told or measured: variables and functions are scaled by the slopes at the start of a run. A step asks
    for at most n + 1 points, so that a sweep is one step. ``x`` is the best point that was met, as the runs begin anew.

    Notes
    -----
    The differences are kept as slopes of f and h, not of the augmented Lagrangian, so that pairs tell its curvature
    also after y or beta have changed. Scaling by slopes, the memory, the restarts and the rules under noise are ours.

    Under independent noise, told from repeats of the start, values are means of batches that grow as the gradient
    disappears in its noise, differences are central with lengths from noise and curvature, the line search
    allows for two standard deviations, and nothing begins anew. Under common noise the iterate is evaluated again with
    every batch.

    References
    ----------
    Andreani, Birgin, Martínez, Schuverdt (2007), SIAM J. Optim. 18, 1286-1309, for the safeguards; Birgin, Martínez,
    Raydan (2000), SIAM J. Optim. 10, 1196-1211, for the inner method; Berahas, Byrd, Nocedal (2019) for line searches
    on noisy values.
    """

    title = "AL-SPG"
    needs_box = True
    has_sketch = True
    noise_rank = 1
    standard = STANDARD
    live = ("penalty_growth", "window", "restarts", "elsewhere")

    penalty_growth = Scale(
        4.0,
        bounds=(1.1, 1e3),
        softbounds=(2.0, 10.0),
        label="Penalty growth",
        doc="Factor by which the penalty β grows where h is not halved.",
    )
    window = param.Integer(
        default=5, bounds=(0, 100), softbounds=(0, 20), label="Window", doc="Earlier values that a step may rise to."
    )
    memory = param.Integer(
        default=10,
        bounds=(0, 100),
        softbounds=(0, 20),
        label="Memory",
        doc="Pairs of the limited-memory matrix; 0: Barzilai and Borwein's step alone.",
    )
    restarts = param.Boolean(default=True, label="Restarts", doc="Begin new runs elsewhere while the budget lasts.")
    elsewhere = param.Number(
        default=0.5,
        bounds=(0.0, 1.0),
        label="Share far away",
        doc="Share of the new runs that begin far from the best point.",
    )

    def _no_box_reason(self, problem: Problem) -> str | None:
        return None if as_box(problem.domain) is not None else super()._no_box_reason(problem)

    def known_constants(self, problem: Problem) -> Any:
        """Return None: AL-SPG asks for no constants."""
        return None

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> ALSPGState:
        """Evaluate the starts (R, n), at one call per replica."""
        seeds = (streams.uniform("restarts", 1)[:, 0] * 2**31).astype(np.int64)
        value, noisy = oracle(x0), oracle.contract == "independent"
        rows = zip(x0, value.stacked, seeds, strict=True)
        runs = [ALRun.begin(x, own, int(seed), noisy) for x, own, seed in rows]
        return self._state(self._loops.begin(runs, self._loop(oracle), x0, "start"), noisy)

    def done(self, state: ALSPGState, active: np.ndarray) -> str | None:
        """Return a sentence where no replica of the mask ``active`` (R,) has anything left to try; else None.

        So it is where bounds fix every variable, and at the end of the first run where restarts are off.
        """
        if all(course.over for course, on in zip(state.courses, active, strict=True) if on):
            return "Nothing is left to try: the bounds leave no variable free, or restarts are off."
        return None

    def step(self, state: ALSPGState, oracle: Oracle, streams: Streams) -> tuple[ALSPGState, Info]:
        """Evaluate the next points of every replica's loop: a sweep, a trial, or a part of a batch."""
        oracle.resample()
        width = oracle.n + 1  # the same at every step: the noise a replica sees must not depend on the others
        own = self.penalty_growth, self.window, self.memory, self.restarts, self.elsewhere
        settings = [
            StepSettings(oracle.contract, float(left), *own) if active else None
            for left, active in zip(oracle.remaining, oracle.active, strict=True)
        ]

        def evaluate(points: list[Array]) -> Array:
            whole = [one.reshape(len(one), oracle.n) for one in points]
            return evaluate_each(oracle, whole, state.x, width).value.stacked

        courses = self._loops.step(state.courses, settings, self._loop(oracle), oracle, _PURPOSES, evaluate)
        after = self._state(courses, oracle.contract == "independent")
        return after, Info(np.full(len(courses), np.nan), state.x, state.y, np.nan)

    def is_blind(self, state: ALSPGState) -> np.ndarray:
        """Return the replicas whose values are rounded so coarsely that they hardly change over a difference, (R,)."""
        return np.array([course.now.blind for course in state.courses])

    def stage(self, state: ALSPGState) -> int:
        """Return the number of restarts so far, the largest of the replicas'."""
        return int(max(course.now.restart for course in state.courses))

    def figures(self, state: ALSPGState) -> dict[str, Array]:
        """Return the reach of the next step, the number of iterates in memory and that of starts, (R,) each."""
        runs = [course.now for course in state.courses]
        return {
            "trust_radius": np.array([run.reach for run in runs]),
            "archive": np.array([float(len(run.points)) for run in runs]),
            "starts": np.array([1.0 + run.restart for run in runs]),
        }

    def sketch(self, state: ALSPGState) -> Sketch:
        """Return the reach of the next step around the iterate, and the last batch."""
        course, run = state.courses[0], state.courses[0].now
        return Sketch(run.x.copy(), run.reach * run.length, course.probes.copy(), course.purpose)

    def _state(self, courses: list[Course], noisy: bool) -> ALSPGState:
        """Return the state that these courses are in."""
        runs = [course.now for course in courses]
        points = np.array([run.x if noisy else run.best_x for run in runs])
        values = np.array([run.value if noisy else run.best for run in runs])
        duals = np.array([run.multipliers for run in runs]).reshape(len(runs), -1)
        return ALSPGState(points, duals, Evaluation(values[:, 0].copy(), values[:, 1:].copy()), courses)

    def _loop(self, oracle: Oracle) -> Callable[[ALRun], Loop]:
        """Return what begins the loop of a replica."""

        def begin(run: ALRun) -> Loop:
            box = Box.of(as_box(oracle.domain) or oracle.domain)
            tolerance = np.broadcast_to(oracle.tolerance, (oracle.m,))
            return run.loop(Task(box.lower, box.upper, tolerance, oracle.quantum, self.table))

        return begin
