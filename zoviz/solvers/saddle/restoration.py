r"""Feasibility first: where a start violates constraints, or a method stays outside, objective and multipliers wait.

While a replica restores feasibility its primal steps are Polyak's for the violation, whose least value 0 is known,

.. math:: v(x) = \|[h(x)]_+\|, \qquad x \leftarrow \Pi_X\big(x - \theta\,v\,\nabla v / \|\nabla v\|^2\big),
          \qquad \nabla v = \textstyle\sum_i [h_i]_+ \nabla h_i / v

with the gradient from the very probes that the method would have made, so that an iteration costs what it always does
and no replica waits for another. Multipliers stay as they are: a violation that takes many iterations to remove would
wind them up, and they would throw the iterates to the other side for as long. It ends where the violation is gone, or a
millionth of what it was, as equations never quite lose it, or where so many iterations took no tenth off it.

It begins again where in 20 iterations of the method itself a violation that is large beside the largest so far stood
still, to a tenth: a Lagrangian that is not convex may be least far outside, where multipliers grow without effect.

Where that is in vain twice, and as far outside, the violation itself is least around there, and no descent leads to a
feasible point: the next step goes elsewhere in X, with multipliers 0, up to eight times. The places are

.. math:: u_k = u_0 + k\,(\varphi^{-1}, \dots, \varphi^{-n}) \bmod 1, \qquad \varphi^{n+1} = \varphi + 1

in shares of X, from one uniform u_0 a replica, so that its course does not depend on the others'.

References
----------
Polyak (1969), Minimization of unsmooth functionals, for the step; Fletcher and Leyffer (2002) for restoration;
Roberts (2018), The unreasonable effectiveness of quasirandom sequences, for the places.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.core.sets import Set
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators.base import Phi
from zoviz.estimators.scalars import Lagrangian
from zoviz.oracle import ProblemOracle
from zoviz.solvers.base import Solver

_PATIENCE = 10
"""Iterations that may take no tenth off the violation (chosen by us)."""
_PROGRESS, _GONE = 0.9, 1e-6
"""The share of the violation that counts as progress, and that of the start's which counts as none."""
_WINDOW, _LARGE = 20, 0.1
"""Iterations of the method in a window, and the share of the largest so far from which one is
large (chosen by us, on the development seeds of ``zoviz.papers.robustness.boxes`` and the engineering designs)."""
_PLACES = 8
"""Places elsewhere that a replica tries at most (chosen by us): a problem may have no feasible point."""
_RELAXATION = 1.2
"""theta, between 0 and 2: above 1 a step ends inside of a constraint that is linear, and not on its boundary."""


class Restoration(NamedTuple):
    """The replicas that restore feasibility, and what is watched of the others.

    Attributes
    ----------
    clock : Array, shape (R,)
        Positive while restoring: iterations that may still pass without progress. Else at most 0: minus the iterations
        of the present window.
    reference : Array, shape (R,)
        The violation at the last progress; else the least in the window.
    goal : Array, shape (R,)
        The violation that counts as none.
    top, peak : Array, shape (R,)
        The largest violation in the window, and before it.
    patience : float
        What ``clock`` is set to by progress.
    relaxation : Array, shape (R,)
        theta, halved by a step that is taken back and doubled by one that is not.
    rest : int
        Iterations until a window ends in any replica; 0 while any restores feasibility.
    recent : tuple of Array, shape (R, m) each
        The constraints' values that ``clock``, ``reference`` and ``top`` do not know of yet: looked at when a window
        ends, and all at once, as looking at each in its step would take a tenth of the smallest ones.
    origin : Array, shape (R, n), or None
        u_0; None where no replica goes elsewhere.
    vain : Array, shape (R,), or None
        The violation at which the last restoration ended in vain; infinite where that did not.
    places : Array, shape (R,), or None
        k, the places that were tried.
    leaving : ndarray of bool, shape (R,), or None
        The replicas whose next step goes elsewhere.
    """

    clock: Array
    reference: Array
    goal: Array
    top: Array
    peak: Array
    patience: float
    relaxation: Array
    rest: int
    recent: tuple[Array, ...] = ()
    origin: Array | None = None
    vain: Array | None = None
    places: Array | None = None
    leaving: np.ndarray | None = None

    @property
    def mask(self) -> np.ndarray:
        """The replicas that restore feasibility, (R,) of bool."""
        return self.clock > 0

    @property
    def active(self) -> bool:
        """Whether any replica restores feasibility: where none does, a step costs next to nothing more."""
        return not self.rest

    def after(self, value: Evaluation, violation: Array | None = None) -> Restoration:
        """Return what is to be done once a step has ended at a value, f (R,) and h (R, m).

        ``violation`` is ||[h]_+||, (R,), where that is known already.
        """
        if self.rest > 1:  # in the middle of every window
            return self._replace(rest=self.rest - 1, recent=(*self.recent, value.h))
        before = self._looked_up()
        violation, restoring = violation_of(value) if violation is None else violation, self.mask
        top = np.maximum(before.top, violation)
        peak = np.maximum(self.peak, top)
        gained = violation <= _PROGRESS * self.reference
        clock = np.where(restoring & gained, self.patience, before.clock - 1.0)
        clock = np.where(restoring & (violation <= self.goal), 0.0, clock)
        compared = ~restoring & (clock <= -_WINDOW)
        lowest = np.minimum(before.reference, violation)
        again = compared & (lowest > _PROGRESS * top) & (violation > _LARGE * peak)
        clock = np.where(compared, np.where(again, self.patience, 0.0), clock)
        ended = restoring & (clock <= 0)
        anew = compared | ended
        reference = np.where((restoring & gained) | anew, violation, np.where(restoring, self.reference, lowest))
        goal = np.where(again, _GONE * violation, self.goal)
        top = np.where(anew, violation, top)
        state = before._replace(clock=clock, reference=reference, goal=goal, top=top, peak=peak)
        if self.vain is not None and self.places is not None:
            state = state._departed(violation, ended, (self.vain, self.places))
        return state._replace(rest=_rest(state.clock))

    def _departed(self, violation: Array, ended: np.ndarray, before: tuple[Array, Array]) -> Restoration:
        """Return the same, with what follows where a restoration ``ended``, or a replica has come elsewhere, (R,)."""
        vain, places = before
        in_vain = ended & (violation > self.goal) & (violation > _LARGE * self.peak)
        leaving = in_vain & (violation > _PROGRESS * vain) & (places < _PLACES)
        vain = np.where(in_vain, violation, np.where(ended, np.inf, vain))
        anew = leaving if self.leaving is None else leaving | self.leaving
        return self._replace(
            clock=np.where(anew, self.patience, self.clock),
            reference=np.where(anew, violation, self.reference),
            vain=np.where(leaving, np.inf, vain),
            places=places + leaving,
            leaving=leaving if leaving.any() else None,
        )

    def _looked_up(self) -> Restoration:
        """Return the same with the recent values looked at."""
        if not self.recent:
            return self
        violations = violation_of(Evaluation(np.zeros(0), np.array(self.recent)))
        return self._replace(
            clock=self.clock - float(len(self.recent)),
            reference=np.minimum(self.reference, violations.min(axis=0)),
            top=np.maximum(self.top, violations.max(axis=0)),
            recent=(),
        )


class Weighted:
    """The scalar w_0 f + <w, h> at fixed w_0 (R,), 0 or 1, and w (R, m), for values (R, ...) and (R, ..., m)."""

    def __init__(self, objective: np.ndarray, weights: Array) -> None:
        self._objective, self._lagrangian = objective, Lagrangian(weights)

    def __call__(self, value: Evaluation) -> Array:
        """Return w_0 f + <w, h>, in the shape of f; f is not looked at where w_0 is 0."""
        taken = self._objective if value.f.ndim == 1 else self._objective[:, None]
        return self._lagrangian(Evaluation(np.where(taken, value.f, 0.0), value.h))


class ScalarByReplica:
    """One scalar in the replicas of a mask (R,), another in the rest, so that none depends on what the others do."""

    def __init__(self, mask: np.ndarray, one: Phi, other: Phi) -> None:
        self._mask, self._one, self._other = mask, one, other

    def __call__(self, value: Evaluation) -> Array:
        """Return each replica's scalar, in the shape of f."""
        mask = self._mask if value.f.ndim == 1 else self._mask[:, None]
        return np.where(mask, self._one(value), self._other(value))


def restoration_parameter() -> param.Integer:
    """Return the parameter of a solver that may restore feasibility first."""
    return param.Integer(
        default=None,
        allow_None=True,
        bounds=(0, 1_000_000),
        label="Feasibility first",
        doc="Reduce the start's violation first, until so many iterations bring no progress. 0: not at all, as "
        "published. Auto: by the rule, where that chooses the step.",
    )


def patience_of(solver: Solver) -> dict[str, int]:
    """Return the patience of a solver whose primal step the rule chooses: nothing where that is given."""
    if solver.get("primal_step") is not None or solver.get("restoration") is not None:
        return {}
    return {"restoration": _PATIENCE}


def begin(value: Evaluation, patience: int | None, contract: str, unit: Array | None = None) -> Restoration | None:
    """Return what is to be done from starts of a value, f (R,) and h (R, m); None where there is no patience.

    Only where values repeat: noise hides what a step gains. ``unit``, (R, n), is uniform on [0, 1), for places
    elsewhere.
    """
    if not patience or not value.h.shape[1] or contract != "deterministic":
        return None
    violation = violation_of(value)
    clock = np.where(violation > 0, float(patience), 0.0)
    theta = np.full(len(clock), _RELAXATION)
    goal = _GONE * violation
    first = Restoration(clock, violation, goal, violation, violation, float(patience), theta, _rest(clock))
    if unit is None:
        return first
    return first._replace(origin=np.array(unit), vain=np.full(len(clock), np.inf), places=np.zeros(len(clock)))


def first_place(solver: Solver, oracle: ProblemOracle, streams: Streams) -> Array | None:
    """Return u_0 (R, n), for places elsewhere; None where a standstill does not tell that the violation is least.

    It does where an estimate has differences along n directions, or blocks of coordinates come round twice in the
    iterations that may pass without progress. Few random directions of many often gain nothing in as many steps.
    """
    estimator, n = solver.estimator, oracle.n
    coordinates = estimator.coordinates_in(n)
    tells = coordinates * _PATIENCE >= 2 * n if coordinates else estimator.batch_size >= n
    return streams.uniform("elsewhere", n) if tells else None


def violation_of(value: Evaluation) -> Array:
    """Return ||[h]_+||, (...) of values at (...) points."""
    return np.sqrt(np.square(np.maximum(value.h, 0.0)).sum(axis=-1))


def weights_of(restoration: Restoration | None, y: Array, value: Evaluation) -> Array:
    """Return the weights (R, m) of the constraints in the gradient: y, or [h]_+ / ||[h]_+|| while restoring."""
    if restoration is None or restoration.rest:
        return y
    positive = np.maximum(value.h, 0.0)
    size = np.maximum(violation_of(value), np.finfo(float).tiny)
    return np.where(restoration.mask[:, None], positive / size[:, None], y)


def scalar_of(restoration: Restoration | None, y: Array, value: Evaluation, other: Phi | None = None) -> Phi:
    """Return the scalar whose gradient is estimated: the Lagrangian at y (R, m), the violation's while restoring.

    ``other`` is the scalar of replicas that do not restore feasibility, where that is not the Lagrangian.
    """
    if restoration is None or restoration.rest:
        return Lagrangian(y) if other is None else other
    weighted = Weighted(~restoration.mask, weights_of(restoration, y, value))
    return weighted if other is None else ScalarByReplica(restoration.mask, weighted, other)


def duals_after(restoration: Restoration | None, y: Array, y_next: Array) -> Array:
    """Return the new multipliers (R, m): the old ones of replicas that restore feasibility, 0 of those that leave."""
    if restoration is None or restoration.rest:
        return y_next
    y_next = np.where(restoration.mask[:, None], y, y_next)
    return y_next if restoration.leaving is None else np.where(restoration.leaving[:, None], 0.0, y_next)


def known_duals(restoration: Restoration | None, y: Array) -> Array:
    """Return the multipliers (R, m) that an estimate was made with, for theory: NaN while restoring."""
    if restoration is None or restoration.rest:
        return y
    return np.where(restoration.mask[:, None], np.nan, y)


def moved(
    restoration: Restoration | None, x: Array, step: float | Array, gradient: Array, value: Evaluation, domain: Set
) -> Array:
    """Return the projected points (R, n) after a step (R, 1) along -gradient, or Polyak's while restoring.

    Coordinates in which a bound would take the whole step are left out of Polyak's.
    """
    if restoration is None or restoration.rest:
        return domain.project(x - step * gradient)
    violation = restoration.relaxation * violation_of(value)
    first = _polyak(violation, gradient)
    free = np.where(domain.project(x - first * gradient) == x, 0.0, gradient) if domain.separable else gradient
    ends = domain.project(x - np.where(restoration.mask[:, None], _polyak(violation, free) * free, step * gradient))
    if restoration.leaving is None:
        return ends
    return np.where(restoration.leaving[:, None], domain.sample(_place(restoration)), ends)


class Settled(NamedTuple):
    """A step's end: the points (R, n), their values, and what is to be done from there."""

    x: Array
    value: Evaluation
    restoration: Restoration | None


def settled(
    restoration: Restoration | None, before: tuple[Array, Evaluation], after: tuple[Array, Evaluation]
) -> Settled:
    """Return where a step from one point and its value to another ends: at the first where restoring made things worse.

    The points are (R, n). Few directions tell little of a violation, and along them Polyak's step may be far too long.
    """
    (x, value), (x_next, value_next) = before, after
    if restoration is None:
        return Settled(x_next, value_next, None)
    if restoration.rest:
        return Settled(x_next, value_next, restoration.after(value_next))
    violation, reached = violation_of(value), violation_of(value_next)
    arrived = np.zeros_like(restoration.mask) if restoration.leaving is None else restoration.leaving
    worse = restoration.mask & ~(reached < violation) & ~arrived
    if worse.any():
        x_next = np.where(worse[:, None], x, x_next)
        value_next, reached = value.where(worse, value_next), np.where(worse, violation, reached)
    theta = restoration.relaxation
    theta = np.where(worse, 0.5 * theta, np.where(restoration.mask, np.minimum(2.0 * theta, _RELAXATION), theta))
    theta = np.where(arrived, _RELAXATION, theta)
    return Settled(x_next, value_next, restoration._replace(relaxation=theta).after(value_next, reached))


def _rest(clock: Array) -> int:
    """Return in how many iterations a window ends in any replica, given the clocks (R,); 0 while any restores."""
    return 0 if clock.max() > 0 else _WINDOW + int(clock.min())


def _place(restoration: Restoration) -> Array:
    """Return the present place of the replicas elsewhere, u_k, in shares of X, (R, n)."""
    unit, root = np.asarray(restoration.origin), 2.0
    n = unit.shape[1]
    for _ in range(60):  # the contraction's error falls by n + 1 each time, at least by 2
        root = (1.0 + root) ** (1.0 / (n + 1))
    return (unit + np.multiply.outer(np.asarray(restoration.places), root ** -np.arange(1.0, n + 1.0))) % 1.0


def _polyak(violation: Array, gradient: Array) -> Array:
    """Return the step v / ||g||^2 (R, 1); 0 where g is 0."""
    square = np.square(gradient).sum(axis=1)
    step = np.divide(violation, square, out=np.zeros_like(square), where=square > 0)
    return step[:, None]
