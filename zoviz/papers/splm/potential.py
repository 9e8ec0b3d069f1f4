"""Paper splm, Lemma 1: the potential L - 2 d + 2 P of ZO-SPLM falls in expectation at every iteration.

d(y, z) is the least proximal Lagrangian over x, P(z) the most of d over y. Both are exact here: in the basis that makes
the matrices of f + p / 2 ||x||^2 and of h diagonal, x(y, z) is a division, and P(z) a bisection, as h(x(y, z)) falls in
y. Lemma 1 gives the fall a least size, less an error of order r^2 / k; its constants c, alpha, beta, B are "some". Ours
are in units that do not depend on the instance: c of 1 / L, alpha of L_f / G_0^2, p = 2 L_f (Lemma 3 needs p > L_f).

From states on the way of runs on drawn instances the next step is drawn anew many times, which gives the expectation
given the past. One state from which the potential falls less, beyond what the draws leave open, refutes the lemma.
"""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP
from zoviz.problems.quadratic.base import Quadratics
from zoviz.solvers import ZOSPLM
from zoviz.solvers.saddle.zo_splm import SPLMState
from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Table, array, plain
from zoviz.studies.verdict import Evidence

FALL, MARGIN, ERROR = "fall", "margin", "error"
"""Names of figures: of the mean fall, of what it is above the lemma's, and of the standard error of that."""
BEYOND = 4.0
"""Standard errors by which a margin must be below 0 to refute the lemma, as there are hundreds of them."""
FIRST_SEED = 3000
"""Of the reported instances and starts: steps were looked at on seeds from 0 on."""
RADIUS, CAP, SIZE, HALF_WIDTH = 1e-5, 20.0, 10, 100.0


class Steps(NamedTuple):
    """Steps c in 1 / L, alpha in L_f / G_0^2 and beta, and the number k of directions."""

    primal: float
    dual: float
    proximal: float
    directions: int


OURS, ONE, AT_ONCE, LONG = "k = 100", "k = 1", "the centre moved at once", "dual steps 1000 times as long"
METHODS = {
    OURS: Steps(0.5, 0.01, 0.003, 100),
    ONE: Steps(0.5, 0.01, 0.003, 1),
    AT_ONCE: Steps(0.5, 0.01, 1.0, 100),
    LONG: Steps(0.5, 10.0, 0.003, 100),
}


class Potential:
    """The potential of paper splm, (9), on an instance with one quadratic constraint.

    Parameters
    ----------
    problem : NonconvexQCQP
    weight : float
        The proximal p, above L_f.
    """

    def __init__(self, problem: NonconvexQCQP, weight: float) -> None:
        self.problem, self.weight = problem, weight
        data = cast(Quadratics, problem.data)
        q, a = np.split(data.matrices, 2, axis=1)
        inverse = np.linalg.inv(np.linalg.cholesky(q + weight * np.eye(problem.n)))
        self._bends, rotation = np.linalg.eigh(inverse @ a @ inverse.T)
        self._basis = inverse.T @ rotation
        self._slopes = data.vectors @ self._basis
        self._level = float(data.offsets[1])

    def lagrangian(self, x: Array, z: Array, y: Array) -> Array:
        """Return the proximal Lagrangian (R,) at x, z (R, n) and y (R,)."""
        value = self.problem.evaluate(x)
        return value.f + y * value.h[:, 0] + 0.5 * self.weight * np.square(x - z).sum(axis=1)

    def nearest(self, z: Array, y: Array) -> Array:
        """Return x(y, z) (R, n), which minimises the proximal Lagrangian.

        Raises
        ------
        ZovizError
            Where it leaves the box: then the potential is not what is computed here.
        """
        x = self._coordinates(z, y) @ self._basis.T
        if np.abs(x).max() > self.problem.half_width:
            raise ZovizError(f"Expected minimisers inside the box, got {np.abs(x).max():.3g}: widen half_width.")
        return x

    def _coordinates(self, z: Array, y: Array) -> Array:
        drive = self.weight * z @ self._basis - self._slopes[0] - y[:, None] * self._slopes[1]
        return drive / (1.0 + y[:, None] * self._bends)

    def best_duals(self, z: Array) -> Array:
        """Return the y (R,) in [0, B] at which d(y, z) is largest."""
        low, high = np.zeros(len(z)), np.full(len(z), CAP)
        for _ in range(60):
            middle = 0.5 * (low + high)
            v = self._coordinates(z, middle)
            infeasible = 0.5 * (v * v) @ self._bends + v @ self._slopes[1] + self._level > 0.0
            low, high = np.where(infeasible, middle, low), np.where(infeasible, high, middle)
        return 0.5 * (low + high)

    def value(self, x: Array, y: Array, z: Array) -> Array:
        """Return L - 2 d + 2 P (R,) at x, z (R, n) and y (R,)."""
        best = self.best_duals(z)
        below = self.lagrangian(self.nearest(z, y), z, y)
        top = self.lagrangian(self.nearest(z, best), z, best)
        return self.lagrangian(x, z, y) - 2.0 * below + 2.0 * top


def method(problem: NonconvexQCQP, steps: Steps) -> ZOSPLM:
    """Return ZO-SPLM as published with given steps."""
    constants = problem.data.constants
    weight = 2.0 * constants.curvature
    whole = constants.curvature + constants.constraint_curvature + weight
    return ZOSPLM.published(
        primal_step=steps.primal / whole,
        dual_step=steps.dual * constants.curvature / constants.start_slope**2,
        proximal_step=steps.proximal,
        proximal_weight=weight,
        dual_cap=CAP,
        estimate_proximal=False,  # errata 3
        estimator=Sphere(smoothing_radius=RADIUS, batch_size=steps.directions),
    )


def falls(problem: NonconvexQCQP, steps: Steps, marks: list[int], draws: int) -> Array:
    """Return, (marks, 3), the expected fall at marked iterations of a run, its margin and the margin's error."""
    solver = method(problem, steps)
    potential = Potential(problem, cast(float, solver.proximal_weight))
    streams, again = Streams(problem.seed, 1), Streams(problem.seed + 1, draws)
    oracle, elsewhere = Oracle(problem, streams), Oracle(problem, again)
    state = solver.init(problem.initial(streams), oracle, streams)
    out = []
    for iteration in range(1, marks[-1] + 1):
        if iteration in marks:
            now = solver.iterate(state)
            x, y, z = (np.repeat(cast(Array, part), draws, axis=0) for part in (now.x, now.dual, now.centre))
            before = SPLMState(x, y, z, elsewhere(x))
            after, _ = solver.step(before, elsewhere, again)
            fall = potential.value(x, y[:, 0], z) - potential.value(after.x, after.y[:, 0], after.z)
            margin = fall - least_fall(potential, solver, before, after)
            out.append((fall.mean(), margin.mean(), margin.std(ddof=1) / np.sqrt(draws)))
        state, _ = solver.step(state, oracle, streams)
    return np.array(out)


def least_fall(potential: Potential, solver: ZOSPLM, before: SPLMState, after: SPLMState) -> Array:
    """Return what the potential falls at least (R,) by Lemma 1, on the sphere."""
    problem = potential.problem
    c, alpha, p = (cast(float, value) for value in (solver.primal_step, solver.dual_step, solver.proximal_weight))
    constants = problem.data.constants
    h = problem.evaluate(potential.nearest(before.z, before.y[:, 0])).h
    ahead = np.clip(before.y + alpha * h, 0.0, CAP)
    whole = constants.curvature + CAP * constants.constraint_curvature + p
    error = c * (problem.n * whole * RADIUS) ** 2 / (4.0 * solver.estimator.batch_size)
    primal, dual, proximal = (
        np.square(one - other).sum(axis=1)
        for one, other in ((after.x, before.x), (before.y, ahead), (after.z, before.z))
    )
    return primal / (32.0 * c) + dual / (16.0 * alpha) + p * proximal / (16.0 * solver.proximal_step) - error


class PotentialFall(Experiment):
    """Lemma 1: the fall of the potential along runs on drawn instances."""

    title = "splm Lemma 1"
    subject = "The expected fall of ZO-SPLM's potential in an iteration, beside what Lemma 1 gives at least"
    printed = (
        "E[fall] >= E[||x' - x||^2 / 32 c + ||y - y_+||^2 / 16 alpha + p ||z' - z||^2 / 16 beta] - c C_v L^2 r^2 / k "
        "at every t, for some c, alpha, beta and B and any k; no figures."
    )
    protocol = (
        "NonconvexQCQP, n = 10, drawn instances and starts; the next step drawn anew from states at marked iterations; "
        "steps by hand, on instances that are not reported."
    )
    sizes = {
        "quick": {"marks": [1, 30, 300], "draws": 50, "instances": 5},
        "full": {"marks": [1, 3, 10, 30, 100, 300], "draws": 100, "instances": 40},
    }

    def parts(self) -> list[str]:
        return list(METHODS)

    def measure(self, part: str) -> Figures:
        """Return falls, margins and their errors, (instances, marks) each."""
        marks, draws = self.settings["marks"], self.settings["draws"]
        first, count = self.seed(FIRST_SEED), self.settings["instances"]
        seeds = range(first, first + 2 * count, 2)  # the odd ones draw the steps anew
        instances = [NonconvexQCQP(n=SIZE, seed=seed, half_width=HALF_WIDTH) for seed in seeds]
        rows = np.array([falls(problem, METHODS[part], marks, draws) for problem in instances])
        return {name: plain(rows[..., i]) for i, name in enumerate((FALL, MARGIN, ERROR))}

    def claims(self) -> list[Claim]:
        says = "with many directions the potential falls at every iteration, by as much as printed"
        beside = {
            ONE: "not so with one at the same step",
            AT_ONCE: "not so with beta = 1",
            LONG: "nor with long dual steps",
        }
        out = [Claim("Lemma 1", f"{says}: {words}", falls_by_enough, OURS, name) for name, words in beside.items()]
        return [*out, Claim("Lemma 1", "the same for any k, as printed: k = 1", falls_by_enough, ONE)]

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        for name, one in measured.items():
            fall, low = array(one[FALL]), below_zero(one)
            for i, mark in enumerate(self.settings["marks"]):
                cells = (f"{np.median(fall[:, i]):.3g}", f"{fall[:, i].min():.3g}", f"{low[:, i].sum()} of {len(low)}")
                rows.append((name, str(mark), *cells))
        heads = (
            "Method",
            "Iteration",
            "Expected fall, median",
            "least",
            f"Less than printed, beyond {BEYOND:g} errors",
        )
        return [Table("Expected falls of the potential over instances", heads, rows)]


def below_zero(figures: Figures) -> np.ndarray:
    """Return which margins (instances, marks) are below 0 by more than the draws leave open."""
    return array(figures[MARGIN]) < -BEYOND * array(figures[ERROR])


def falls_by_enough(measured: Measured, method: str) -> Evidence:
    """Test that no state refutes the lemma."""
    low = below_zero(measured[method])
    figures = f"less than printed in {low.sum()} of {low.size} states"
    return Evidence(np.array([[-float(low.sum())]]), figures, {method: low.shape[1]}, exact=True)
