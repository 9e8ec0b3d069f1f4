r"""Feasibility first: where a start violates constraints, or a method stays outside, objective and multipliers wait.

While a replica restores feasibility its primal steps are Polyak's for the violation, whose least value 0 is known,

.. math:: v(x) = \|[h(x)]_+\|, \qquad x \leftarrow \Pi_X\big(x - \theta\,v\,\nabla v / \|\nabla v\|^2\big),
          \qquad \nabla v = \textstyle\sum_i [h_i]_+ \nabla h_i / v

with the gradient from the very probes that the method would have made, so that an iteration costs what it always does
and no replica waits for another. Multipliers stay as they are: a violation that takes many iterations to remove would
wind them up, and they would throw the iterates to the other side for as long. It ends where the violation is gone, or a
millionth of what it was, as equations never quite lose it, or where ten iterations took no tenth off it.

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
    window_max, overall_max : Array, shape (R,)
        The largest violation in the window, and so far.
    patience : float
        What ``clock`` is set to by progress.
    relaxation : Array, shape (R,)
        theta, halved by a step that is taken back and doubled by one that is not.
    until_due : int
        Iterations until a window ends in any replica; 0 while any restores feasibility.
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
    window_max: Array
    overall_max: Array
    patience: float
    relaxation: Array
    until_due: int
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
        """Whether any replica restores feasibility."""
        return not self.until_due

    def weights(self, y: Array, value: Evaluation) -> Array:
        """Return the constraints' weights (R, m) in the gradient: [h]_+ / ||[h]_+||, y where not restoring."""
        return np.where(self.mask[:, None], _direction(value), y)

    def duals(self, y: Array, y_next: Array) -> Array:
        """Return the next multipliers (R, m): the old ones while restoring, 0 in replicas that leave."""
        y_next = np.where(self.mask[:, None], y, y_next)
        return y_next if self.leaving is None else np.where(self.leaving[:, None], 0.0, y_next)

    def projected_step(self, x: Array, step: float | Array, gradient: Array, value: Evaluation, domain: Set) -> Array:
        """Return the projected points (R, n) after Polyak's step; after ``step`` along -gradient where not restoring.

        Coordinates in which a bound would take the whole step are left out of Polyak's.
        """
        violation = self.relaxation * violation_of(value)
        whole = _polyak(violation, gradient)
        free = np.where(domain.project(x - whole * gradient) == x, 0.0, gradient) if domain.separable else gradient
        ends = domain.project(x - np.where(self.mask[:, None], _polyak(violation, free) * free, step * gradient))
        return ends if self.leaving is None else np.where(self.leaving[:, None], domain.sample(self._place()), ends)

    def keep_or_take_back(
        self, before: tuple[Array, Evaluation], after: tuple[Array, Evaluation]
    ) -> tuple[Array, Evaluation, Restoration]:
        """Return a step's end, (R, n), its value and what is to do from there: its start where violation did not fall.

        Few directions tell little of a violation, and along them Polyak's step may be far too long.
        """
        (x, value), (x_next, value_next) = before, after
        reached = violation_of(value_next)
        if not self.active:
            return x_next, value_next, self.advance(reached)
        violation = violation_of(value)
        arrived = np.zeros_like(self.mask) if self.leaving is None else self.leaving
        worse = self.mask & ~(reached < violation) & ~arrived
        if worse.any():
            x_next = np.where(worse[:, None], x, x_next)
            value_next, reached = value.where(worse, value_next), np.where(worse, violation, reached)
        theta = self.relaxation
        theta = np.where(worse, 0.5 * theta, np.where(self.mask, np.minimum(2.0 * theta, _RELAXATION), theta))
        theta = np.where(arrived, _RELAXATION, theta)
        return x_next, value_next, self._replace(relaxation=theta).advance(reached)

    def advance(self, violation: Array) -> Restoration:
        """Return what is to do once a step has ended at a violation (R,)."""
        restoring = self.mask
        window_max = np.maximum(self.window_max, violation)
        overall_max = np.maximum(self.overall_max, window_max)
        gained = violation <= _PROGRESS * self.reference
        clock = np.where(restoring & gained, self.patience, self.clock - 1.0)
        clock = np.where(restoring & (violation <= self.goal), 0.0, clock)
        compared = ~restoring & (clock <= -_WINDOW)
        lowest = np.minimum(self.reference, violation)
        again = compared & (lowest > _PROGRESS * window_max) & (violation > _LARGE * overall_max)
        clock = np.where(compared, np.where(again, self.patience, 0.0), clock)
        ended = restoring & (clock <= 0)
        anew = compared | ended
        state = self._replace(
            clock=clock,
            reference=np.where((restoring & gained) | anew, violation, np.where(restoring, self.reference, lowest)),
            goal=np.where(again, _GONE * violation, self.goal),
            window_max=np.where(anew, violation, window_max),
            overall_max=overall_max,
        )
        if self.vain is not None and self.places is not None:
            state = state._departed(violation, ended, (self.vain, self.places))
        return state._replace(until_due=_until_due(state.clock))

    def caught_up(self, recent: tuple[Array, ...]) -> Restoration:
        """Return the same after iterations in the middle of windows, with the constraints (R, m) at their ends."""
        violations = violation_of(Evaluation(np.zeros(0), np.array(recent)))
        return self._replace(
            clock=self.clock - float(len(recent)),
            reference=np.minimum(self.reference, violations.min(axis=0)),
            window_max=np.maximum(self.window_max, violations.max(axis=0)),
            until_due=self.until_due - len(recent),
        )

    def _departed(self, violation: Array, ended: np.ndarray, before: tuple[Array, Array]) -> Restoration:
        """Return the same, with what follows where a restoration ``ended``, or a replica has come elsewhere, (R,)."""
        vain, places = before
        in_vain = ended & (violation > self.goal) & (violation > _LARGE * self.overall_max)
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

    def _place(self) -> Array:
        """Return the present place of the replicas elsewhere, u_k, in shares of X, (R, n)."""
        unit, root = np.asarray(self.origin), 2.0
        n = unit.shape[1]
        for _ in range(60):  # the contraction's error falls by n + 1 each time, at least by 2
            root = (1.0 + root) ** (1.0 / (n + 1))
        return (unit + np.multiply.outer(np.asarray(self.places), root ** -np.arange(1.0, n + 1.0))) % 1.0


class ViolationWhereRestoring:
    """The scalar <w, h> in the replicas that restore feasibility; in the rest f + <w, h>, or another one, phi.

    w (R, m) is [h]_+ / ||[h]_+|| at a value while restoring, and y (R, m) else.
    """

    def __init__(self, restoration: Restoration, y: Array, value: Evaluation, phi: Phi | None = None) -> None:
        self._mask, self._weights, self._phi = restoration.mask, restoration.weights(y, value), phi

    def __call__(self, value: Evaluation) -> Array:
        """Return each replica's scalar of values (R, ...) and (R, ..., m), in the shape of f."""
        mask, w = self._mask, self._weights
        if value.f.ndim > 1:
            mask, w = mask[:, None], w[:, None, :]
        linear = (value.h * w).sum(axis=-1)
        if self._phi is None:
            return np.where(mask, 0.0, value.f) + linear  # f may be infinite
        return np.where(mask, linear, self._phi(value))


def restoration_parameter() -> param.Integer:
    """Return the parameter of a solver that may restore feasibility first."""
    return param.Integer(
        default=None,
        allow_None=True,
        bounds=(0, 1_000_000),
        label="Feasibility first",
        doc="First reduce the violation of the start, until this many iterations bring no progress. 0: never, as "
        "published. Auto: decided by the rule when it chooses the step.",
    )


def patience_of(solver: Solver) -> dict[str, int]:
    """Return the patience of a solver whose primal step the rule chooses: nothing where that is given."""
    if solver.get("primal_step") is not None or solver.get("restoration") is not None:
        return {}
    return {"restoration": _PATIENCE}


def start_restoration(value: Evaluation, patience: float, unit: Array | None = None) -> Restoration:
    """Return what is to do from starts of a value, f (R,) and h (R, m), where values repeat.

    ``unit``, (R, n), is uniform on [0, 1), for places elsewhere.
    """
    violation = violation_of(value)
    clock = np.where(violation > 0, float(patience), 0.0)
    theta = np.full(len(clock), _RELAXATION)
    goal = _GONE * violation
    first = Restoration(clock, violation, goal, violation, violation, float(patience), theta, _until_due(clock))
    if unit is None:
        return first
    return first._replace(origin=np.array(unit), vain=np.full(len(clock), np.inf), places=np.zeros(len(clock)))


def restoration_of(solver: Solver, value: Evaluation, oracle: ProblemOracle, streams: Streams) -> Restoration | None:
    """Return what a solver is to do from starts of a value; None where it restores nothing.

    Only where values repeat: noise hides what a step gains.
    """
    patience = solver.get("restoration")
    if not patience or not oracle.m or oracle.contract != "deterministic":
        return None
    return start_restoration(value, patience, first_place(solver, oracle, streams))


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


def _direction(value: Evaluation) -> Array:
    """Return [h]_+ / ||[h]_+|| (R, m), the weights of the constraints in the violation's gradient; 0 where it is 0."""
    return np.maximum(value.h, 0.0) / np.maximum(violation_of(value), np.finfo(float).tiny)[:, None]


def _until_due(clock: Array) -> int:
    """Return in how many iterations a window ends in any replica, given the clocks (R,); 0 while any restores."""
    return 0 if clock.max() > 0 else _WINDOW + int(clock.min())


def _polyak(violation: Array, gradient: Array) -> Array:
    """Return the step v / ||g||^2 (R, 1); 0 where g is 0."""
    square = np.square(gradient).sum(axis=1)
    step = np.divide(violation, square, out=np.zeros_like(square), where=square > 0)
    return step[:, None]
