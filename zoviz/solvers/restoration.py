r"""Feasibility first: from a start that violates constraints, the objective and the multipliers wait.

While a replica restores feasibility its primal steps are Polyak's for the violation, whose least value 0 is known,

.. math:: v(x) = \|[h(x)]_+\|, \qquad x \leftarrow \Pi_X\big(x - \theta\,v\,\nabla v / \|\nabla v\|^2\big),
          \qquad \nabla v = \textstyle\sum_i [h_i]_+ \nabla h_i / v

with the gradient from the very probes that the method would have made, so that an iteration costs what it always does
and no replica waits for another. Multipliers stay as they are: a violation that takes many iterations to remove would
wind them up, and they would throw the iterates to the other side for as long. It ends where the violation is gone, or a
millionth of the start's, as equations never quite lose it, or where so many iterations took no tenth off it.

References
----------
Polyak (1969), Minimization of unsmooth functionals, for the step; Fletcher and Leyffer (2002) for restoration.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.core.sets import Set
from zoviz.core.types import Array, Evaluation
from zoviz.estimators.base import Phi
from zoviz.estimators.scalars import Lagrangian
from zoviz.solvers.base import Solver

_PATIENCE = 10
"""Iterations that may take no tenth off the violation (chosen by us)."""
_PROGRESS, _GONE = 0.9, 1e-6
"""The share of the violation that counts as progress, and that of the start's which counts as none."""
_RELAXATION = 1.2
"""theta, between 0 and 2: above 1 a step ends inside of a constraint that is linear, and not on its boundary."""


class Restoration(NamedTuple):
    """What is left to do for replicas that started outside.

    Attributes
    ----------
    left : Array, shape (R,)
        Iterations that may still pass without progress; 0 where the replica has begun to trade.
    lowest : Array, shape (R,)
        The violation at the last progress.
    goal : Array, shape (R,)
        The violation that counts as none.
    patience : float
        What ``left`` is set to by progress.
    """

    left: Array
    lowest: Array
    goal: Array
    patience: float

    @property
    def mask(self) -> np.ndarray:
        """The replicas that restore feasibility, (R,) of bool."""
        return self.left > 0

    def after(self, value: Evaluation) -> Restoration:
        """Return what is left to do once a step has ended at a value, f (R,) and h (R, m)."""
        violation = violation_of(value)
        progress = violation <= _PROGRESS * self.lowest
        left = np.where(progress, self.patience, self.left - 1.0)
        left = np.where(self.mask & (violation > self.goal), left, 0.0)
        return self._replace(left=left, lowest=np.where(progress, violation, self.lowest))


class Weighted:
    """The scalar w_0 f + <w, h> at fixed w_0 (R,), 0 or 1, and w (R, m), for values (R, ...) and (R, ..., m)."""

    def __init__(self, objective: np.ndarray, weights: Array) -> None:
        self._objective, self._lagrangian = objective, Lagrangian(weights)

    def __call__(self, value: Evaluation) -> Array:
        """Return w_0 f + <w, h>, in the shape of f; f is not looked at where w_0 is 0."""
        taken = self._objective if value.f.ndim == 1 else self._objective[:, None]
        return self._lagrangian(Evaluation(np.where(taken, value.f, 0.0), value.h))


def restoration_parameter() -> param.Integer:
    """Return the parameter of a solver that may restore feasibility first."""
    return param.Integer(
        default=None,
        allow_None=True,
        bounds=(0, 1_000_000),
        label="Feasibility first",
        doc="Reduce the start's violation first, until so many iterations bring no progress. 0: not at all, as "
        "published. Empty: by the rule, where that chooses the step.",
    )


def patience_of(solver: Solver) -> dict[str, int]:
    """Return the patience of a solver whose primal step the rule chooses: nothing where that is given."""
    if solver.get("primal_step") is not None or solver.get("restoration") is not None:
        return {}
    return {"restoration": _PATIENCE}


def begin(value: Evaluation, patience: int | None, contract: str) -> Restoration | None:
    """Return what is to be done from starts of a value, f (R,) and h (R, m); None where there is no patience.

    Under the contract "independent" nothing is: noise hides what a step gains.
    """
    if not patience or not value.h.shape[1] or contract == "independent":
        return None
    violation = violation_of(value)
    left = np.where(violation > 0, float(patience), 0.0)
    return Restoration(left, violation, _GONE * violation, float(patience))


def violation_of(value: Evaluation) -> Array:
    """Return ||[h]_+||, (R,)."""
    return np.sqrt(np.square(np.maximum(value.h, 0.0)).sum(axis=1))


def weights_of(restoration: Restoration | None, y: Array, value: Evaluation) -> Array:
    """Return the weights (R, m) of the constraints in the gradient: y, or [h]_+ / ||[h]_+|| while restoring."""
    if restoration is None or not restoration.mask.any():
        return y
    positive = np.maximum(value.h, 0.0)
    size = np.maximum(violation_of(value), np.finfo(float).tiny)
    return np.where(restoration.mask[:, None], positive / size[:, None], y)


def scalar_of(restoration: Restoration | None, weights: Array) -> Phi:
    """Return the scalar whose gradient is estimated: the Lagrangian at ``weights``, without f while restoring."""
    if restoration is None or not restoration.mask.any():
        return Lagrangian(weights)
    return Weighted(~restoration.mask, weights)


def duals_after(restoration: Restoration | None, y: Array, y_next: Array) -> Array:
    """Return the new multipliers (R, m), of replicas that restore feasibility the old ones."""
    return y_next if restoration is None else np.where(restoration.mask[:, None], y, y_next)


def known_duals(restoration: Restoration | None, y: Array) -> Array:
    """Return the multipliers (R, m) that an estimate was made with, for theory: NaN while restoring."""
    return y if restoration is None else np.where(restoration.mask[:, None], np.nan, y)


def moved(
    restoration: Restoration | None, x: Array, step: float | Array, gradient: Array, value: Evaluation, domain: Set
) -> Array:
    """Return the projected points (R, n) after a step (R, 1) along -gradient, or Polyak's while restoring.

    Coordinates in which a bound would take the whole step are left out of Polyak's.
    """
    if restoration is None or not restoration.mask.any():
        return domain.project(x - step * gradient)
    violation = _RELAXATION * violation_of(value)
    first = _polyak(violation, gradient)
    free = np.where(domain.project(x - first * gradient) == x, 0.0, gradient) if domain.separable else gradient
    return domain.project(x - np.where(restoration.mask[:, None], _polyak(violation, free) * free, step * gradient))


def _polyak(violation: Array, gradient: Array) -> Array:
    """Return the step v / ||g||^2 (R, 1); 0 where g is 0."""
    square = np.square(gradient).sum(axis=1)
    step = np.divide(violation, square, out=np.zeros_like(square), where=square > 0)
    return step[:, None]
