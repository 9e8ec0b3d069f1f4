"""Oracles that add a known function to a black box: its values are added, its gradient is exact and not estimated."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zoviz.core.sets import Box, Set
from zoviz.core.streams import RandomSource
from zoviz.core.types import Array, Estimate, Evaluation
from zoviz.estimators import GradientEstimator
from zoviz.estimators.base import Phi
from zoviz.estimators.scalars import Lagrangian, Watch
from zoviz.oracle import DerivedOracle, ProblemOracle, ValueOracle


class PartlyKnownOracle(DerivedOracle):
    """An oracle of a black box plus a function whose values and derivatives are known.

    Parameters
    ----------
    raw : ValueOracle
        The black box.
    known_part : callable
        Points (R, ..., d) to the known part's ``Evaluation``.
    slopes : callable
        Points (R, d) to the known part's derivatives, laid out as an ``Evaluation`` of f (R, d) and h (R, d, m): entry
        i is the derivative along coordinate i.
    """

    def __init__(
        self, raw: ValueOracle, known_part: Callable[[Array], Evaluation], slopes: Callable[[Array], Evaluation]
    ) -> None:
        super().__init__(raw, lambda points: self.add(points, raw(points)), raw.bounds)
        self.raw, self.known_part, self.slopes = raw, known_part, slopes

    def add(self, points: Array, value: Evaluation) -> Evaluation:
        """Return the sum of the black box's value at points (R, ..., d) and the known part there."""
        part = self.known_part(points)
        return Evaluation(value.f + part.f, value.h + part.h)

    def without(self, points: Array, value: Evaluation) -> Evaluation:
        """Return the black box's value at points (R, ..., d), given the sum with the known part."""
        part = self.known_part(points)
        return Evaluation(value.f - part.f, value.h - part.h)


class ProximalOracle(PartlyKnownOracle):
    r"""The oracle of a proximal subproblem: the black box plus weighted squared distances from a centre.

    .. math:: f(x) + \mu_0 \|x - c\|^2, \qquad h_i(x) + \mu_i \|x - c\|^2

    Parameters
    ----------
    oracle : ProblemOracle
    centre : Array, shape (R, n)
        c, where the whole equals the black box.
    weight : float
        mu_0.
    weights : Array, shape (R, m)
        mu_i.
    """

    raw: ProblemOracle

    def __init__(self, oracle: ProblemOracle, centre: Array, weight: float, weights: Array) -> None:
        super().__init__(oracle, self._values, self._slopes)
        self._centre, self._weight, self._weights = centre, weight, weights

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.raw.n

    @property
    def m(self) -> int:
        """The number of constraints."""
        return self.raw.m

    @property
    def domain(self) -> Set:
        """The set X of the black box."""
        return self.raw.domain

    def resample(self, size: int | tuple[int, ...] = 1) -> None:
        """Begin a new sample of the black box, of mini-batches of this size."""
        self.raw.resample(size)

    def _values(self, points: Array) -> Evaluation:
        flat = points.ndim == 2
        square = np.square(points - (self._centre if flat else self._centre[:, None])).sum(axis=-1)
        weights = self._weights if flat else self._weights[:, None]
        return Evaluation(self._weight * square, weights * square[..., None])

    def _slopes(self, points: Array) -> Evaluation:
        twice = 2.0 * (points - self._centre)
        return Evaluation(self._weight * twice, self._weights[:, None] * twice[..., None])


def saddle(oracle: ProblemOracle) -> DerivedOracle:
    """Return the saddle function f(x) + <y, h(x)> as an oracle of z = (x, y) in R^(n + m), its value in f.

    What is known of the oracle is known of its saddle function.
    """
    n = oracle.n

    def evaluate(z: Array, values: Callable[[Array], Evaluation]) -> Evaluation:
        value = values(np.ascontiguousarray(z[..., :n]))
        return Evaluation(value.f + (z[..., n:] * value.h).sum(axis=-1), value.h)

    box = oracle.bounds
    if box is not None:  # multipliers have none: differences may be taken below 0
        open_ends = np.full(oracle.m, np.inf)
        box = Box(np.concatenate([box.lower, -open_ends]), np.concatenate([box.upper, open_ends]))
    if not isinstance(oracle, ProximalOracle):
        return DerivedOracle(oracle, lambda z: evaluate(z, oracle), box)

    def slopes(z: Array) -> Evaluation:
        x, y = np.ascontiguousarray(z[:, :n]), z[:, n:]
        of_x, of_y = Lagrangian(y)(oracle.slopes(x)), oracle.known_part(x).h
        flat = np.concatenate([of_x, of_y], axis=1)
        return Evaluation(flat, np.zeros((*flat.shape, oracle.m)))

    raw = DerivedOracle(oracle, lambda z: evaluate(z, oracle.raw), box)
    return PartlyKnownOracle(raw, lambda z: evaluate(z, oracle.known_part), slopes)


def estimated(
    estimator: GradientEstimator,
    phi: Phi,
    x: Array,
    oracle: ValueOracle,
    streams: RandomSource,
    *,
    base: Evaluation | None = None,
    radius: float | None = None,
) -> Estimate:
    """Estimate the gradient (R, n) of a phi linear in (f, h): a known part's gradient is taken exactly.

    Parameters and result are those of ``GradientEstimator.estimate``; the variance is that of the estimated part.
    """
    if not isinstance(oracle, PartlyKnownOracle):
        return estimator.estimate(phi, x, oracle, streams, base=base, radius=radius)
    raw = None if base is None else oracle.without(x, base)
    estimate = estimator.estimate(phi, x, oracle.raw, streams, base=raw, radius=radius)
    whole = None if estimate.base is None else oracle.add(x, estimate.base)
    # Linear in (f, h), so that phi of the derivatives, laid out like probes, is the derivative of phi.
    of_known = phi.phi if isinstance(phi, Watch) else phi  # slopes are no probes
    return Estimate(estimate.gradient + of_known(oracle.slopes(x)), estimate.variance, whole)
