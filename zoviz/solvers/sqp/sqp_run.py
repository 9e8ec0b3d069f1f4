"""One run of SQP with differences: what it knows, and the formulas of its steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from zoviz.core.ranking import is_feasible
from zoviz.core.types import Array
from zoviz.solvers import differences
from zoviz.solvers.equilibration import equilibrate
from zoviz.solvers.sqp import derivatives, elastic_qp
from zoviz.solvers.sqp.constants import SQPConstants
from zoviz.solvers.sqp.elastic_qp import Balls, Linearisation, Step
from zoviz.solvers.sqp.interior import Interior
from zoviz.solvers.sqp.situation import Space

NO_ROWS = Interior.of(np.empty(0, dtype=np.int64))
"""Of a problem none of whose rows is kept."""


def _none() -> Array:
    return np.empty((0, 0))


class Promise(NamedTuple):
    """What a step promises: the decrease of the merit by its model, and that by the model's slope alone."""

    decrease: float
    slope: float


@dataclass
class SQPRun:
    """One run of SQP from one start.

    Attributes
    ----------
    x, value : Array, shapes (n,) and (1 + m,)
        The last accepted point, and the values there, f first; empty before they are known.
    radius, penalty : float
    central : bool
        Whether differences are central, as they are in a run's second, finer part.
    restoring : bool
        Whether f counts as 0.
    last_x, slopes : Array, shapes (n,) and (n, 1 + m)
        The last point whose derivatives are known, and these, of functions in units of ``size``; empty before.
    hessian : Array, shape (n, n)
        Of the Lagrangian in scaled variables; empty before there is one.
    fresh : bool
        Whether the Hessian is still the multiple of the identity that it began as.
    length, size : Array, shapes (n,) and (1 + m,)
        The run's units: of the variables relative to ``Space.scale``, and of f and h; empty before the first slopes.
    step : Step
        The last step, in scaled variables.
    stall, spent : int
        Accepted steps without progress, and calls.
    wall : Array, shape (n + 1,)
        Normal and offset of the plane beyond which calls are expected to fail; empty where none is.
    whole : bool
        Whether the last accepted step was taken as a whole.
    interior : Interior
        What is known of rows that are kept.
    curved, moved : Array, shape (n,)
        Whether slopes along a variable have changed from one point to the next, and whether it has moved noticeably.
    """

    x: Array
    value: Array
    radius: float
    penalty: float
    central: bool
    restoring: bool
    last_x: Array
    length: Array
    step: Step
    curved: np.ndarray
    moved: np.ndarray
    slopes: Array = field(default_factory=_none)
    hessian: Array = field(default_factory=_none)
    fresh: bool = True
    size: Array = field(default_factory=lambda: np.empty(0))
    stall: int = 0
    spent: int = 0
    wall: Array = field(default_factory=lambda: np.empty(0))
    whole: bool = True
    interior: Interior = NO_ROWS

    @classmethod
    def start(
        cls,
        x: Array,
        value: Array,
        m: int,
        radius: float,
        penalty: float,
        central: bool = False,
        restoring: bool = False,
    ) -> SQPRun:
        """Return a run at its start x (n,), where the values (1 + m,) are known, or empty."""
        n = len(x)
        step, nowhere = Step(np.zeros(n), np.zeros(m), 0.0, penalty), np.zeros(n, dtype=bool)
        return cls(x, value, radius, penalty, central, restoring, x, np.ones(n), step, nowhere, nowhere)

    @property
    def linear(self) -> np.ndarray:
        """The variables (n,) that enter linearly as far as is known: of an epigraph max h_i(z) <= t for one, t.

        Where no slope has changed nothing was learned.
        """
        return self.moved & ~self.curved & bool(self.curved.any())

    def reach(self, c: SQPConstants) -> Array:
        """How far the region reaches along every variable (n,), in radii: models are exact along linear ones."""
        return np.where(self.linear, c.linear_reach, 1.0)

    @property
    def multipliers(self) -> Array:
        """The multipliers of the last step, in the problem's own units, (m,)."""
        return self.step.multipliers * (self.size[0] / self.size[1:]) if len(self.size) else self.step.multipliers

    def merit(self, value: Array) -> float:
        """Return f + rho sum [h]_+, +inf where a value is not finite; without f in a restoration."""
        scaled = value / self.size
        merit = (0.0 if self.restoring else scaled[0]) + self.penalty * np.maximum(scaled[1:], 0.0).sum()
        return float(merit) if np.isfinite(value).all() else np.inf

    def offsets(self, space: Space, x: Array) -> derivatives.Offsets:
        """Return the steps of the differences at x (n,)."""
        relative = np.full(space.n, differences.CENTRAL if self.central else differences.FORWARD)
        steps = derivatives.offsets(x, space, relative, self.central)
        return self.interior.offsets(x, self.value, steps, space) if len(self.value) else steps

    def model(self, space: Space, trust_scale: float, value: Array) -> Linearisation:
        """Return the programme of a step from x in scaled variables, with these values (m,) of the constraints.

        The wall is a row more, the last one.
        """
        radius = self.radius * trust_scale * self.reach(space.constants)
        gradient = np.zeros(space.n) if self.restoring else self.slopes[:, 0] * space.scale
        lower = np.maximum(-radius, (space.lower - self.x) / space.scale)
        upper = np.minimum(radius, (space.upper - self.x) / space.scale)
        jacobian = self.slopes[:, 1:].T * space.scale
        if self.interior.any:  # whatever a correction has for them
            value, kept = value.copy(), self.interior.rows
            value[kept - 1] = self.interior.room / self.size[kept]
        if len(self.wall):  # a row more
            normal, level = self.wall[:-1] * space.scale, self.wall[:-1] @ self.x - self.wall[-1]
            size = np.abs(normal).max()
            jacobian, value = np.vstack([jacobian, -normal / size]), np.append(value, -level / size)
        return Linearisation(self.hessian, gradient, jacobian, value, lower, upper, self._balls(space, len(value)))

    def _balls(self, space: Space, rows: int) -> Balls | None:
        """Return the curvatures of the rows that are kept, in units of ``size``, among ``rows`` rows."""
        if not self.interior.any:
            return None
        kept, bend = self.interior.rows, np.full(rows, np.nan)
        bend[kept - 1] = 0.5 * self.interior.curvature / self.size[kept]
        lengths, doubt = space.scale / self.interior.scale, np.zeros((rows, len(self.x)))
        doubt[kept - 1] = self.interior.doubt * lengths / self.size[kept, None]
        return Balls(bend, lengths, doubt)

    def ahead(self, space: Space) -> Array:
        """Return the point that the present step leads to, (n,)."""
        return self.interior.within(space.clip(self.x + space.scale * self.step.d)[None])[0]

    def solve(self, space: Space, trust_scale: float) -> Promise:
        """Make the next step, set the penalty by it, and return what it promises."""
        c = space.constants
        h = (self.value / self.size)[1:]
        if not self.hessian.size:
            size = np.abs(self.slopes[:, 0] * space.scale).max()
            identity = np.eye(space.n) * (1e-3 if self.restoring else np.clip(size, 1e-3, 1.0))
            self.hessian, self.fresh = self._flat(identity), True
        model = self.model(space, trust_scale, h)
        step = elastic_qp.steered(model, self.penalty, c.largest_penalty, c.least_violation, c.exactness)
        if self.interior.any:
            step = self._inside(step, model, space)
        self.step = step = step._replace(multipliers=step.multipliers[: len(h)])
        largest, violation, self.penalty = step.largest_multiplier, float(np.maximum(h, 0.0).sum()), step.penalty
        if self.penalty < 1.1 * largest:
            self.penalty = 1.5 * largest
        elif self.penalty > 20.0 * max(largest, 1e-2) and violation < 1e-8:
            self.penalty = max(2.0 * largest, 1e-2, self.penalty / 2.0)
        slope = float(self.penalty * (violation - step.violation) - model.gradient @ step.d)
        return Promise(slope - 0.5 * float(step.d @ self.hessian @ step.d), slope)

    def _inside(self, step: Step, model: Linearisation, space: Space) -> Step:
        """Return as much of a step as is surely inside of the rows that are kept."""
        self.step = step
        d = (self.ahead(space) - self.x) / space.scale
        return step._replace(d=d, violation=float(np.maximum(model.value + model.jacobian @ d, 0.0).sum()))

    def is_poor(self, value: Array, promise: float, c: SQPConstants) -> bool:
        """Return whether a step fell short because of constraints that curve, so that a correction may serve."""
        poor = not self.merit(self.value) - self.merit(value) > c.corrected * promise
        curved = np.isfinite(value[1:]).all() and np.maximum(value[1:], 0.0).sum() > 0.0
        return bool(poor and curved and np.abs(self.step.d).max() > 1e-8)

    def correct(self, space: Space, trust_scale: float, value: Array) -> None:
        """Replace the step by its second-order correction, from the values (1 + m,) that it led to."""
        shifted = (value / self.size)[1:] - (self.slopes[:, 1:].T * space.scale) @ self.step.d
        correction = elastic_qp.solve(self.model(space, trust_scale, shifted), self.penalty, space.constants.exactness)
        self.step = self.step._replace(d=correction.d)

    def serves(self, corrected: Array, value: Array, promise: float, c: SQPConstants) -> bool:
        """Return whether a correction's values (1 + m,) gain something, and more than the step's own.

        A correction that leads back to x would tell nothing about the region: refused, it would shrink it to nothing.
        """
        present, first, second = self.merit(self.value), self.merit(value), self.merit(corrected)
        return second < first and present - second > c.accepted * promise

    def accepts(self, value: Array, share: float, slope: float, c: SQPConstants) -> bool:
        """Return whether a share of the step, to these values (1 + m,), gains enough (Armijo); set the radius then."""
        present = self.merit(self.value)
        decrease = present - self.merit(value)
        if not (np.isfinite(decrease) and decrease >= c.sufficient * share * slope):
            return False
        length = self._length(c)
        if share < 1.0:
            self.radius = max(0.5 * self.radius, c.room * length)
        elif length > c.good * self.radius:
            self.radius = min(c.growth * self.radius, c.large_radius)
        self.stall = self.stall + 1 if decrease < c.tiny_decrease * max(1.0, abs(present)) else 0
        return True

    def shorten(self, value: Array, share: float, slope: float) -> float:
        """Return the share of the step to be tried after this one, whose values (1 + m,) gain too little.

        It is the minimiser of the parabola through the merits and the slope, within a tenth and half of this share.
        """
        decrease, promise = self.merit(self.value) - self.merit(value), share * slope
        shorter = promise / (2.0 * (promise - decrease)) if np.isfinite(decrease) else 0.0
        return share * min(0.5, max(0.1, shorter))

    def refuse(self, c: SQPConstants) -> None:
        """Shrink the region to the present step, of which no share gained enough."""
        self.radius, self.stall = min(self.radius, self._length(c)), self.stall + 1

    def _length(self, c: SQPConstants) -> float:
        """Return the length of the present step, in radii of 1."""
        return float((np.abs(self.step.d) / self.reach(c)).max())

    def is_restored(self, c: SQPConstants) -> bool:
        """Whether the run was a restoration, and has reached its aim."""
        return bool(self.restoring and np.maximum(self.value[1:], 0.0).max(initial=0.0) < c.restored)

    def is_lost(self, space: Space) -> bool:
        """Whether a row is violated at x and shows no slope, so that no step of this run leads out."""
        return bool(((self.value[1:] > space.tolerance) & ~self.slopes[:, 1:].any(axis=0)).any())

    def is_over(self, c: SQPConstants) -> bool:
        """Whether it is, the region has become too small, or steps gain nothing."""
        return self.is_restored(c) or self.radius < c.small_radius or self.stall >= c.stalled

    def polish(self, c: SQPConstants) -> bool:
        """Go on from x with central differences and a fresh Hessian; return False where that was done before."""
        if self.central:
            return False
        self.central, self.slopes, self.hessian = True, _none(), _none()
        self.radius, self.stall = max(self.radius, c.polishing_radius), 0
        return True

    def measure_constants(self, slopes: Array, curvatures: Array | None, space: Space) -> None:
        """Take the derivatives (n, 1 + m) at x, and update the Hessian by what they changed on the way there.

        Where there is no Hessian yet it begins with the ``curvatures`` (n, 1 + m), if they were taken.
        """
        c = space.constants
        slopes = slopes / self.size
        step, before, scale = (self.x - self.last_x) / space.scale, self.slopes, space.scale[:, None]
        if before.size:
            self.curved = self.curved | ~derivatives.alike(before * scale, slopes * scale)
            self.moved = self.moved | (np.abs(self.x - self.last_x) > c.noticeable * space.scale)
        hessian = self.hessian
        if curvatures is not None:
            hessian, self.fresh = self._diagonal(curvatures, space), False
        if before.size and hessian.size:
            objective = 0.0 if self.restoring else slopes[:, 0] - before[:, 0]
            change = (objective + (slopes[:, 1:].T - before[:, 1:].T).T @ self.step.multipliers) * space.scale
            change = np.where(self.linear, 0.0, change)
            hessian = derivatives.update_hessian(hessian, step, change, self.fresh and not self.restoring)
            self.fresh = False
        self.last_x, self.slopes, self.hessian = self.x, slopes, self._flat(hessian)

    def suggested_length(self, slopes: Array, space: Space) -> Array:
        """Return the lengths of the variables (n,) that slopes (n, 1 + m) suggest; 1 where these are not far apart.

        A slope of one point is no good measure of a length, only better than none.
        """
        length = equilibrate((slopes * space.scale[:, None]).T).length
        length /= np.exp(np.median(np.log(length)))
        return np.ones(space.n) if length.max() < space.constants.apart * length.min() else length

    def set_units(self, slopes: Array, length: Array, space: Space) -> None:
        """Set the run's units by its first slopes (n, 1 + m) and lengths (n,): every function's steepest slope is 1.

        A constraint whose slope happens to vanish there is in units of its value, up to those of the others.
        """
        self.length = length
        steepest = np.abs(slopes * (space.scale * self.length)[:, None]).max(axis=0)
        of_rows = np.maximum(steepest[1:], np.minimum(np.abs(self.value[1:]), np.median(steepest)))
        size = np.append(steepest[0], of_rows)
        self.size = np.where(np.isfinite(size) & (size > 0.0), size, 1.0)

    def _diagonal(self, curvatures: Array, space: Space) -> Array:
        """Return the diagonal (n, n) of the Lagrangian's Hessian, from second derivatives (n, 1 + m); else empty."""
        c = space.constants
        weights = np.append(0.0 if self.restoring else 1.0, self.step.multipliers) / self.size
        diagonal = np.abs(curvatures @ weights) * space.scale**2
        largest = diagonal.max()
        useful = np.isfinite(largest) and largest > 0.0
        return np.diag(np.maximum(diagonal, c.flattest * largest)) if useful else _none()

    def _flat(self, hessian: Array) -> Array:
        """Return the Hessian (n, n) without the curvature that it was given along linear variables."""
        return np.where(self.linear | self.linear[:, None], 0.0, hessian) if hessian.size else hessian

    def is_outside(self, best: Array, space: Space) -> bool:
        """Return whether x is lower than the best point (1 + m,), or there is none, but violates constraints."""
        known = len(self.value) > 0 and np.isfinite(self.value).all()
        if not known or is_feasible(self.value[1:], space.tolerance):
            return False
        return bool(self.value[0] < best[0] or not is_feasible(best[1:], space.tolerance))

    def is_behind(self, best: Array, space: Space) -> bool:
        """Return whether the run's last part, which gains digits, could not bring f near that of the best point."""
        c = space.constants
        if self.restoring or not is_feasible(best[1:], space.tolerance):
            return False
        return bool(self.value[0] - best[0] > c.near_best * abs(best[0]))
