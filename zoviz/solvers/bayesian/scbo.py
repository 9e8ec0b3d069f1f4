"""Trust-region Thompson sampling under constraints."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.bayesian.base import BayesianSolver, Evidence
from zoviz.solvers.bayesian.surrogate import Numbers, Surrogate

_LENGTH, _LEAST, _LARGEST = 0.8, 2.0**-7, 1.6
_SUCCESSES, _FAILURES, _PERTURBED = 3, 5, 20.0
"""Side lengths of the region, as shares of the box; successes that double it; least failures that halve it; expected
number of coordinates in which a candidate differs from the centre. Of the reference."""


class SCBO(BayesianSolver):
    """Thompson sampling in a box around the best point, which grows after successes and shrinks after failures.

    One joint draw of f and every h at ``candidates`` points of the region; the best of these by that draw is evaluated:
    the least f among those feasible, else the least sum of violations. The region's side doubles after three successes
    in a row and is halved after max(5, n) failures; below 2^-7 it begins anew at 0.8.

    Notes
    -----
    The reference uses transformed values and batches; here are values as they are, one point a step. A new region is
    centred at the best point too, and data are kept, where the reference begins with a new design.

    References
    ----------
    Eriksson and Poloczek (2021), Scalable constrained Bayesian optimization, AISTATS.
    """

    title = "SCBO (trust region, BoTorch)"
    memory_size = 5
    """Side length, successes, failures, and the best point's f and violation."""

    def acquire(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers) -> Array:
        """Return the best (n,) of the candidates by one draw of all functions."""
        centre = evidence.points[_centre(evidence)]
        n, half = len(centre), 0.5 * memory[0]
        low, high = np.clip(centre - half, 0.0, 1.0), np.clip(centre + half, 0.0, 1.0)
        share = min(1.0, _PERTURBED / n)
        moved = (
            (numbers.normal <= np.quantile(numbers.normal, share))
            if share < 1.0
            else np.full(numbers.normal.shape, True)
        )
        points = np.where(moved, low + (high - low) * numbers.uniform, centre)
        draw = surrogate.draw(points, numbers.outputs[0])
        f, h = draw[0], draw[1:].T
        violation = np.maximum(h, 0.0).sum(axis=1)
        return points[np.lexsort((f, violation))[0]]

    def remember(self, evidence: Evidence, memory: Array) -> Array:
        """Return length, successes, failures, and what is best so far, after an evaluation."""
        n, best = evidence.points.shape[1], _centre(evidence)
        f, violation = evidence.f[best], np.maximum(evidence.h[best], 0.0).sum()
        rest = memory[self.memory_size :]
        if memory[0] == 0.0:
            return np.concatenate([[_LENGTH, 0.0, 0.0, f, violation], rest])
        length, successes, failures, before, violated = memory[: self.memory_size]
        better = violation < violated or (violation == violated and f < before - 1e-3 * abs(before))
        successes, failures = (successes + 1.0, 0.0) if better else (0.0, failures + 1.0)
        if successes >= _SUCCESSES:
            length, successes = min(2.0 * length, _LARGEST), 0.0
        elif failures >= max(_FAILURES, n):
            length, failures = 0.5 * length, 0.0
        if length < _LEAST:
            length = _LENGTH
        return np.concatenate([[length, successes, failures, f, violation], rest])


def _centre(evidence: Evidence) -> int:
    """Return the index of the centre: the least f of feasible points, else the least sum of violations."""
    return int(np.lexsort((evidence.f, np.maximum(evidence.h, 0.0).sum(axis=1)))[0])
