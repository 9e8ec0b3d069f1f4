"""Bayesian optimisation by alternating directions: f and every constraint have a point of their own."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.core.parameters import Scale
from zoviz.core.types import Array
from zoviz.solvers.bayesian.base import BayesianSolver, Evidence
from zoviz.solvers.bayesian.surrogate import Numbers, Surrogate

_RATIO, _FACTOR = 10.0, 2.0
"""How much larger one residual may be than the other before rho is changed, and by what."""
_NEAR = 0.03
"""Standard deviation of the second round of candidates, as a share of the box's widths."""
_HEADER = 6


class Stage(NamedTuple):
    """The position of one replica in the alternating steps.

    Attributes
    ----------
    turn : int
        0 for the step of x, j + 1 for that of z_j.
    left : int
        Evaluations left in it.
    outer : int
        Rounds that are complete.
    rho : float
    primal, dual : float
        Sums of the residuals ||x - z_j|| and rho ||z_j - z_j before|| in this round.
    x : Array, shape (n,)
    z, y : Array, shape (m, n)
        Points of the constraints, and multipliers of x = z_j.
    """

    turn: int
    left: int
    outer: int
    rho: float
    primal: float
    dual: float
    x: Array
    z: Array
    y: Array

    @classmethod
    def of(cls, memory: Array, n: int, m: int) -> Stage:
        """Return the stage that a memory (k,) holds."""
        turn, left, outer, rho, primal, dual = memory[:_HEADER].tolist()
        x, z, y = np.split(memory[_HEADER:], [n, n + m * n])
        return cls(int(turn), int(left), int(outer), rho, primal, dual, x, z.reshape(m, n), y.reshape(m, n))

    def packed(self) -> Array:
        """Return the memory (k,) of this stage."""
        return np.concatenate([self[:_HEADER], self.x, self.z.ravel(), self.y.ravel()])


class ADMMBO(BayesianSolver):
    r"""Alternates between minimising f plus a penalty and finding the nearest feasible point of every constraint.

    .. math:: \min_{x, z}\ f(x) + M \sum_j \mathbf 1\{h_j(z_j) > 0\} \quad\text{s.t.}\quad x = z_j

    The step of x seeks the least f + (m rho / 2) ||x - mean z + mean y / rho||^2 by expected improvement; that of z_j
    the least 1{h_j > 0} + rho / (2 M) ||x - z_j + y_j / rho||^2, by its own, in closed form; then
    y_j <- y_j + rho (x - z_j). After a round rho is doubled or halved where one mean residual is ten times the other.
    Distances are in the unit box.

    Notes
    -----
    The original evaluates f and each h apart; here every call gives all of them, every call enters all models, and the
    steps' results are the best of all data. It goes on until the budget is spent, where the original tests for
    convergence. Steps of z_j search away from f's best points, so that the best value stalls meanwhile.

    References
    ----------
    Ariafar, Coll-Font, Brooks and Dy (2019), ADMMBO: Bayesian optimization with unknown constraints using ADMM, JMLR
    20(123), 1-26, and its published code.
    """

    title = "ADMMBO (BoTorch)"
    live = (*BayesianSolver.live, "violation_weight", "budget", "constraint_budget")

    violation_weight = Scale(
        20.0,
        softbounds=(1.0, 1e3),
        label="Weight M",
        doc="Weight of a violated constraint; 20 to 50 in the published code.",
    )
    start_penalty = Scale(0.1, softbounds=(1e-3, 10.0), label="First ρ", doc="Penalty of x ≠ z in the first round.")
    first_budget = param.Integer(default=5, bounds=(1, 1000), label="First budget of x", doc="Evaluations.")
    first_constraint_budget = param.Integer(default=10, bounds=(1, 1000), label="First budget of z", doc="Evaluations.")
    budget = param.Integer(default=2, bounds=(1, 1000), label="Budget of x", doc="Evaluations, in later rounds.")
    constraint_budget = param.Integer(default=3, bounds=(1, 1000), label="Budget of z", doc="Evaluations, later.")

    def memory_width(self, n: int, m: int) -> int:
        """Return how many numbers a stage of ADMM keeps for n variables and m constraints."""
        return _HEADER + n + 2 * m * n

    def acquire(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers) -> Array:
        """Return the best candidate (n,) of the present step, then of a round of candidates around it."""
        stage = Stage.of(memory, evidence.points.shape[1], evidence.h.shape[1])
        centre = stage.x if stage.turn == 0 else stage.z[stage.turn - 1]
        points = numbers.candidates(centre)
        quarter = len(points) // 4
        points[:quarter:2] = numbers.candidates(evidence.points[evidence.best])[:quarter:2]
        best = points[np.argmax(self._improvement(surrogate, evidence, stage, points))]
        points = np.concatenate([best[None], np.clip(best + _NEAR * numbers.normal, 0.0, 1.0)])
        return points[np.argmax(self._improvement(surrogate, evidence, stage, points))]

    def score(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers, points: Array) -> Array:
        """Return the expected improvement (q,) of the present step at points (q, n)."""
        stage = Stage.of(memory, evidence.points.shape[1], evidence.h.shape[1])
        return self._improvement(surrogate, evidence, stage, points)

    def _improvement(self, surrogate: Surrogate, evidence: Evidence, stage: Stage, points: Array) -> Array:
        """Return the expected improvement (q,) at points (q, n) in the present step."""
        from scipy import special

        mean, deviation = surrogate.moments(points)
        if stage.turn == 0:
            return improvement_of_f(
                self._distance(evidence.points, stage), evidence.f, self._distance(points, stage), mean, deviation
            )
        j = stage.turn - 1
        objective = (evidence.h[:, j] > 0.0) + self._distance(evidence.points, stage)
        chance = special.ndtr(-mean[:, 1 + j] / deviation[:, 1 + j])
        far = self._distance(points, stage)
        gain = improvement_of_h(float(objective.min()) - far, chance)
        # Where nothing improves, the least expectation comes next, by values below 0.
        return gain if gain.max() > 0.0 else -((1.0 - chance) + far)

    def _distance(self, points: Array, stage: Stage) -> Array:
        """Return the quadratic term (q,) of the present step at points (q, n)."""
        rho, m = stage.rho, len(stage.z)
        if stage.turn == 0:
            if not m:
                return np.zeros(len(points))
            apart = points - stage.z.mean(axis=0) + stage.y.mean(axis=0) / rho
            return 0.5 * m * rho * np.square(apart).sum(axis=1)
        apart = stage.x - points + stage.y[stage.turn - 1] / rho
        return 0.5 * rho / self.violation_weight * np.square(apart).sum(axis=1)

    def remember(self, evidence: Evidence, memory: Array) -> Array:
        """Return the stage after an evaluation: a step that has used up its budget hands over to the next."""
        n, m = evidence.points.shape[1], evidence.h.shape[1]
        stage = Stage.of(memory, n, m)
        if stage.rho == 0.0:
            x = evidence.points[evidence.best]
            return stage._replace(left=self.first_budget, rho=float(self.start_penalty), x=x).packed()
        stage = stage._replace(left=stage.left - 1)
        if stage.left > 0:
            return stage.packed()
        first = stage.outer == 0
        if stage.turn == 0:
            x = evidence.points[np.argmin(evidence.f + self._distance(evidence.points, stage))]
            stage = stage._replace(x=x, primal=0.0, dual=0.0)
        else:
            stage = self._moved(stage, evidence)
        if stage.turn < m:
            left = self.first_constraint_budget if first else self.constraint_budget
            return stage._replace(turn=stage.turn + 1, left=left).packed()
        return _rebalanced(stage)._replace(turn=0, left=self.budget, outer=stage.outer + 1).packed()

    def _moved(self, stage: Stage, evidence: Evidence) -> Stage:
        """Return the stage with the new z_j and y_j, and its residuals."""
        j = stage.turn - 1
        z, y = stage.z.copy(), stage.y.copy()
        z[j] = evidence.points[np.argmin((evidence.h[:, j] > 0.0) + self._distance(evidence.points, stage))]
        y[j] += stage.rho * (stage.x - z[j])
        primal = stage.primal + float(np.linalg.norm(stage.x - z[j]))
        dual = stage.dual + stage.rho * float(np.linalg.norm(z[j] - stage.z[j]))
        return stage._replace(z=z, y=y, primal=primal, dual=dual)


def _rebalanced(stage: Stage) -> Stage:
    """Return the stage with rho changed where one sum of residuals is much larger than the other."""
    if stage.primal > _RATIO * stage.dual:
        return stage._replace(rho=stage.rho * _FACTOR)
    if stage.dual > _RATIO * stage.primal:
        return stage._replace(rho=stage.rho / _FACTOR)
    return stage


def improvement_of_f(quadratic: Array, f: Array, far: Array, mean: Array, deviation: Array) -> Array:
    """Return the expected improvement (q,) of f plus a quadratic over the data.

    Parameters
    ----------
    quadratic, f : Array, shape (N,)
        The quadratic and f at the data.
    far : Array, shape (q,)
        The quadratic at the points.
    mean, deviation : Array, shape (q, 1 + m)
    """
    from scipy import special

    u = (np.min(f + quadratic) - mean[:, 0] - far) / deviation[:, 0]
    return deviation[:, 0] * (u * special.ndtr(u) + np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi))


def improvement_of_h(room: Array, chance: Array) -> Array:
    """Return the expected improvement (q,) of the indicator plus a quadratic, in closed form.

    Parameters
    ----------
    room : Array, shape (q,)
        The least known value, less the quadratic at the points.
    chance : Array, shape (q,)
        Probability that the constraint holds.
    """
    return np.where(room <= 0.0, 0.0, np.where(room < 1.0, room * chance, room - (1.0 - chance)))
