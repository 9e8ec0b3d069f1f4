"""Calls around a point: together where they were made at the same one, near it, and as features of a quadratic."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp.constants import STANDARD
from zoviz.solvers.sqp.regression import Data, Prior, fit, priors

FARTHEST, NEAREST = 2.0, 400
"""Earlier points that are used: those within FARTHEST radii, and at most NEAREST distinct ones."""
FEW = 6
"""Degrees of freedom of repeated calls from which on they tell the noise."""
LEAST_SHARE = 1e-4
"""Share of an output's range that counts as its noise at least: curvatures are measured in it, and those of an exact
output beside noisy ones would be beyond all that is tried."""
EXACT_SHARE = 3e-6
"""That share where all outputs are exact (of 1e-4 to 1e-8, the one of the narrowest intervals that hold the truth):
the largest curvatures that are tried are a third of the range then."""
_RIDGE, _LEAST_NOISE = 1e-10, 1e-13
"""Guards: of the normal equations, and of outputs that repeat."""


class Calls(NamedTuple):
    """Calls: points (N, n) and outputs (N, 1 + m), f first."""

    x: Array
    y: Array

    @classmethod
    def joined(cls, calls: Sequence[Calls], n: int, m: int) -> Calls:
        """Return several sets of calls as one, of n variables and m constraints."""
        parts = [cls(np.zeros((0, n)), np.zeros((0, m + 1))), *calls]
        return cls(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    @property
    def finite(self) -> Calls:
        """The calls with finite values."""
        return self.among(np.asarray(np.isfinite(self.y).all(axis=1)))

    def among(self, mask: np.ndarray) -> Calls:
        """Return the calls that a mask (N,) selects."""
        return Calls(self.x[mask], self.y[mask])

    def of(self, variables: np.ndarray) -> Calls:
        """Return the calls by some of their variables alone."""
        return Calls(self.x[:, variables], self.y)


class Groups:
    """Calls at the same points together.

    Parameters
    ----------
    u : Array, shape (N, n)
    outputs : Array, shape (N, q)

    Attributes
    ----------
    first, of : ndarray of int, shapes (G,), (N,)
        The first call of each point, and the point of each call.
    points, counts : Array, shapes (G, n), (G,)
    means, squares : Array, shape (G, q)
        Of the outputs at each point, the second about the first.
    noise : Array, shape (q,)
        Standard deviation of a call by those at the same points.
    degrees : float
        Of freedom of the noise.
    """

    def __init__(self, u: Array, outputs: Array) -> None:
        _, self.first, of, counts = np.unique(u, axis=0, return_index=True, return_inverse=True, return_counts=True)
        self.of, self.counts, self.points = of.reshape(-1), counts.astype(float), u[self.first]
        sums = np.stack([np.bincount(self.of, column) for column in outputs.T], axis=1)
        self.means = sums / self.counts[:, None]
        apart = np.square(outputs - self.means[self.of])
        self.squares = np.stack([np.bincount(self.of, column) for column in apart.T], axis=1)
        self.degrees = float((self.counts - 1.0).sum())
        noise = np.sqrt(self.squares.sum(axis=0) / max(self.degrees, 1.0))
        self._round_off, self._range = _LEAST_NOISE * (1.0 + np.abs(outputs).max(axis=0)), np.ptp(outputs, axis=0)
        self.noise = np.where(noise > self._round_off, noise, 0.0)

    def least(self, share: float = LEAST_SHARE) -> Array:
        """Return what counts as the standard deviation of a call at least, (q,), a share of the outputs' range."""
        return np.maximum(self._round_off, share * self._range)

    def magnitudes(self, noise: Array) -> list[Prior]:
        """Return the sizes of curvature and of misfit of each output, in its noise (q,), by restricted likelihood."""
        u = self.points
        full = [one for one in priors(u.shape[1], STANDARD) if one.kind == 0]
        return fit(Data(u, np.abs(u).max(axis=1), self.counts, self.means, np.zeros((len(u), 0))), noise, full).priors


def coefficients(n: int) -> int:
    """Return the number of coefficients of a quadratic in n variables."""
    return (n + 1) * (n + 2) // 2


def near_by(calls: Calls, x: Array, length: Array) -> Calls:
    """Return the calls within reach of x (n,), in lengths (n,), at the nearest points."""
    distance = np.abs((calls.x - x) / length).max(axis=1)
    distinct = np.unique(distance)
    keep = distance <= min(FARTHEST, distinct[min(NEAREST, len(distinct)) - 1]) if len(distance) else distance > 0.0
    return calls.among(np.asarray(keep))


def quadratic(u: Array) -> Array:
    """Return features (N, n (n + 1) / 2) of points (N, n), whose inner products are (u^T v)^2 / 2."""
    i, j = np.triu_indices(u.shape[1], 1)
    return np.concatenate([np.square(u) / np.sqrt(2.0), u[:, i] * u[:, j]], axis=1)


def ridge(rows: Array, weight: Array, precision: Array) -> tuple[Array, Array, Array]:
    """Return the map (p, N) from outputs to coefficients, the inverse (p, p) of its matrix, and the leverages (N,)."""
    from scipy import linalg

    gram = (rows * weight[:, None]).T @ rows
    inverse = linalg.pinvh(gram + np.diag(precision + _RIDGE * np.trace(gram) / len(gram)))
    map_ = inverse @ (rows * weight[:, None]).T
    return map_, inverse, np.einsum("ip,pi->i", rows, map_)
