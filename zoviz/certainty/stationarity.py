r"""The residual of stationarity at a point of a box, least over the multipliers, and where noise puts it.

.. math:: \rho(g, J) = \min_{y \ge 0} \|x - P_X(x - g - J^T y)\|,

by nonnegative least squares on the coordinates that the bounds leave free; which these are follows from y, and is
looked up again until it stays the same.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array

ROUNDS = 8
"""Times that the free coordinates are looked up again, at most."""
SHARES = 4
"""Truths from 0 to the measured residual, as many beyond, and as many near it on each side, whose laws are compared."""
RARE = 0.025
"""Share of the draws in which a row without a multiplier may have one."""
MOST, SHARE = 1e8, 0.01
"""Condition of rows from which on they count as dependent, and the least part of a row in it."""


class Activity(StrEnum):
    """Whether a constraint is active."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    UNDECIDED = "undecided"


class Interval(NamedTuple):
    """A figure with the ends of its interval of confidence."""

    value: float
    low: float
    high: float


ANY = Interval(np.nan, -np.inf, np.inf)
NOT_NEGATIVE = Interval(np.nan, 0.0, np.inf)
"""What is known of a figure, and of one that cannot be negative, where no call says anything of it."""


class Multipliers(NamedTuple):
    """The least residual of a point.

    Attributes
    ----------
    y : Array, shape (m,)
    residual : Array, shape (n,)
        x - P_X(x - g - J^T y).
    free : ndarray of bool, shape (n,)
        Coordinates that no bound holds.
    """

    y: Array
    residual: Array
    free: np.ndarray

    @property
    def norm(self) -> float:
        """The norm of the KKT residual."""
        return float(np.sqrt(self.residual @ self.residual))


class Place:
    """A point of a box, and the room that it has.

    Parameters
    ----------
    box : Box
    x : Array, shape (n,)
    """

    def __init__(self, box: Box, x: Array) -> None:
        self.below, self.above = np.maximum(x - box.lower, 0.0), np.maximum(box.upper - x, 0.0)
        self.inside = (self.below > 0) & (self.above > 0)

    def multipliers(
        self, gradient: Array, jacobian: Array, allowed: np.ndarray, free: np.ndarray | None = None
    ) -> Multipliers:
        """Return the multipliers of least residual.

        Parameters
        ----------
        gradient : Array, shape (n,)
        jacobian : Array, shape (m, n)
        allowed : ndarray of bool, shape (m,)
            Rows that may have a multiplier other than 0.
        free : ndarray of bool, shape (n,), optional
            Coordinates to begin with; default: those strictly inside their bounds.
        """
        free, rows = self.inside if free is None else free, np.flatnonzero(allowed)
        best = self._solved(gradient, jacobian, rows, free)
        last = best
        for _ in range(ROUNDS - 1):
            if not rows.size or (last.free == free).all():
                break
            free = last.free
            last = self._solved(gradient, jacobian, rows, free)
            best = min(best, last, key=lambda one: one.norm)
        return best

    def _solved(self, gradient: Array, jacobian: Array, rows: np.ndarray, free: np.ndarray) -> Multipliers:
        """Return the multipliers of some rows that serve the free coordinates best, and which are free with them."""
        y = np.zeros(len(jacobian))
        if rows.size and free.any():
            y[rows] = _least_squares(jacobian[np.ix_(rows, free)].T, -gradient[free])
        slope = gradient + y @ jacobian
        residual = np.minimum(np.maximum(slope, -self.above), self.below)
        return Multipliers(y, residual, (slope > -self.above) & (slope < self.below))


def _least_squares(matrix: Array, right: Array) -> Array:
    """Return the nonnegative least-squares solution; zeros where the iteration does not end."""
    from scipy.optimize import nnls

    try:
        return np.asarray(nnls(matrix, right)[0])
    except RuntimeError:
        return np.zeros(matrix.shape[1])


class Sample(NamedTuple):
    """Errors of gradient (D, n) and Jacobian (D, m, n), and the rows that may have a multiplier, (m,) of bool."""

    gradient: Array
    jacobian: Array
    allowed: np.ndarray


def solved(place: Place, gradient: Array, jacobian: Array, free: np.ndarray, sample: Sample) -> list[Multipliers]:
    """Return the multipliers for every draw of errors, added to a gradient (n,) and a Jacobian (m, n)."""
    return [
        place.multipliers(gradient + of_g, jacobian + of_j, sample.allowed, free)
        for of_g, of_j in zip(sample.gradient, sample.jacobian, strict=True)
    ]


def interval_of_residual(
    place: Place,
    gradient: Array,
    jacobian: Array,
    measured: Multipliers,
    sample: Sample,
    confidence: float,
    bounded: bool = False,
) -> tuple[Interval, float]:
    r"""Return the true residual's median-unbiased estimate and interval, and the certificate's floor.

    The gradient g is (n,), the Jacobian J (rows, n). Errors that are ``bounded`` may be far smaller than their law:
    then the interval's end is not drawn in by what they would add.

    Noise adds to a residual: at a perfect point one is measured all the same. So the measured one, rho, is compared
    with the laws of those that would be measured if the truth were t times as large, for t from 0 up: the interval has
    the t for which rho lies between the outer quantiles, and the estimate is where it is the median. The floor is what
    a perfect point (t = 0) stays below with 95 %.

    Notes
    -----
    A residual that is by luck smaller than most at a perfect point has the upper end of the median one (the power
    constraint of Cowan, Cranmer, Gross and Vitells 2011), and no end lies below the floor. The truth at t is
    g - (1 - t) (g + J^T y) in the coordinates with a residual, at the measured multipliers y.
    """
    tails = 0.5 * (1.0 - confidence), 0.5, 0.5 * (1.0 + confidence)
    rho, slope = measured.norm, np.where(measured.residual != 0.0, gradient + measured.y @ jacobian, 0.0)

    def law(share: float) -> tuple[float, Array]:
        moved = gradient - (1.0 - share) * slope
        norms = [one.norm for one in solved(place, moved, jacobian, measured.free, sample)]
        truth = place.multipliers(moved, jacobian, sample.allowed, measured.free)
        return truth.norm, np.quantile(norms, [*tails, 0.95])

    nothing, same = law(0.0), law(1.0)
    floor = float(nothing[1][3])
    if rho == 0.0:
        return Interval(0.0, 0.0, floor), floor
    last, near = 1.1 + 2.0 * floor / rho, np.ptp(same[1][:3]) / rho * np.linspace(0.0, 1.0, SHARES + 1)[1:]
    shares = np.unique(np.concatenate([np.linspace(0.0, 1.0, SHARES + 1), 1.0 - near, 1.0 + near, 1.0 + last * near]))
    shares = np.append(shares[(shares > 0.0) & (shares < last) & (shares != 1.0)], last)
    laws = sorted([nothing, same, *(law(float(share)) for share in shares)], key=lambda one: one[0])
    truths = np.square([truth for truth, _ in laws])

    def inverse(quantile: int, residual: float) -> float:
        # Squares of quantiles are nearly linear in the square of the truth: sigma^2 + rho^2.
        column = np.maximum.accumulate(np.square([quantiles[quantile] for _, quantiles in laws]))
        return float(np.sqrt(np.interp(residual**2, column, truths)))

    low, middle = (inverse(q, rho) if rho > nothing[1][q] else 0.0 for q in (2, 1))
    high = max(inverse(0, max(rho, float(nothing[1][1]))), floor, float(same[1][2]) if bounded else 0.0)
    return Interval(middle, low, high), floor


def undetermined(
    gradient: Array, jacobian: Array, measured: Multipliers, again: list[Multipliers], sample: Sample
) -> np.ndarray:
    """Return the multipliers that have no upper bound, (rows,) of bool: their rows' slopes may be 0, or dependent.

    Rows that have a multiplier, or could as well have one, are dependent as far as can be told where, of rows of size
    1, the smallest singular values are within those of the errors.
    """
    free, sizes = measured.free, np.sqrt(np.square(jacobian[:, measured.free]).sum(axis=1))
    errors = sample.jacobian[:, :, free]
    doubt = np.quantile(np.sqrt(np.square(errors).sum(axis=2)), 0.95, axis=0)
    rest = measured.residual[free]
    of_g = np.quantile(np.sqrt(np.square(sample.gradient[:, free]).sum(axis=1)), 0.95)
    equal = doubt * np.linalg.norm(rest) + sizes * (of_g + np.linalg.norm(gradient) / MOST)
    held = (measured.y > 0.0) | (np.mean([one.y > 0.0 for one in again], axis=0) > RARE)
    rows = np.flatnonzero(sample.allowed & (held | (np.abs(jacobian[:, free] @ rest) <= equal)))
    found = np.zeros(len(jacobian), dtype=bool)
    found[rows[sizes[rows] <= doubt[rows]]] = True
    rows = rows[sizes[rows] > doubt[rows]]
    if rows.size:
        left, values, _ = np.linalg.svd(jacobian[np.ix_(rows, free)] / sizes[rows, None], full_matrices=True)
        values = np.append(values, np.zeros(rows.size - values.size))
        largest = np.linalg.svd(errors[:, rows] / sizes[rows, None], compute_uv=False)[:, 0]
        vague = values <= max(float(np.quantile(largest, 0.95)), 1.0 / MOST)
        found[rows[(np.abs(left[:, vague]) > SHARE).any(axis=1)]] = True
    return found
