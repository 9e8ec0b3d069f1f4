"""Oracles with a known part: its values go along with the black box's, its gradient is taken exactly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Estimate, Evaluation
from zoviz.estimators import GradientEstimator
from zoviz.estimators.base import Phi
from zoviz.estimators.scalars import Lagrangian
from zoviz.oracle import Composed, Oracle


class WithKnown(Composed):
    """A black box plus functions whose values and derivatives are known.

    Parameters
    ----------
    raw : Oracle or Composed
        The black box.
    known : callable
        Points (R, ..., d) to the known part's ``Evaluation``.
    slopes : callable
        Points (R, d) to the known part's derivatives, laid out as an ``Evaluation`` of f (R, d) and h (R, d, m): entry
        i is the derivative along coordinate i.
    """

    def __init__(
        self, raw: Oracle | Composed, known: Callable[[Array], Evaluation], slopes: Callable[[Array], Evaluation]
    ) -> None:
        super().__init__(raw, lambda points: self.add(points, raw(points)))
        self.raw, self.known, self.slopes = raw, known, slopes

    def add(self, points: Array, value: Evaluation) -> Evaluation:
        """The whole from the black box's value."""
        known = self.known(points)
        return Evaluation(value.f + known.f, value.h + known.h)

    def without(self, points: Array, value: Evaluation) -> Evaluation:
        """The black box's value from the whole."""
        known = self.known(points)
        return Evaluation(value.f - known.f, value.h - known.h)


class Proximal(WithKnown):
    r"""The black box of a proximal subproblem, for a solver to run on.

    .. math:: f(x) + \mu_0 \|x - c\|^2, \qquad h_i(x) + \mu_i \|x - c\|^2

    Parameters
    ----------
    oracle : Oracle
    centre : Array, shape (R, n)
        c, where the whole equals the black box.
    weight : float
        mu_0.
    weights : Array, shape (R, m)
        mu_i.
    paid : Evaluation, optional
        The value at ``centre`` under the present sample, where it is paid for: returned once for that very array.
    """

    def __init__(
        self,
        oracle: Oracle,
        centre: Array,
        weight: float,
        weights: Array,
        paid: Evaluation | None = None,
    ) -> None:
        super().__init__(oracle, self._values, self._slopes)
        self.n, self.m, self.domain, self.resample = oracle.n, oracle.m, oracle.domain, oracle.resample
        self._centre, self._weight, self._weights = centre, weight, weights
        self._paid = paid

    def __call__(self, points: Array) -> Evaluation:
        """Values at the points, shape (R, ..., n)."""
        if points is self._centre and self._paid is not None:
            value, self._paid = self._paid, None
            return value
        return super().__call__(points)

    def _values(self, points: Array) -> Evaluation:
        flat = points.ndim == 2
        square = np.square(points - (self._centre if flat else self._centre[:, None])).sum(axis=-1)
        weights = self._weights if flat else self._weights[:, None]
        return Evaluation(self._weight * square, weights * square[..., None])

    def _slopes(self, points: Array) -> Evaluation:
        twice = 2.0 * (points - self._centre)
        return Evaluation(self._weight * twice, self._weights[:, None] * twice[..., None])


def saddle(oracle: Oracle | Proximal) -> Composed:
    """The saddle function f(x) + <y, h(x)> of z = (x, y) as an oracle on R^(n + m), its value in f.

    What is known of the oracle is known of its saddle function.
    """
    n = oracle.n

    def evaluate(z: Array, at: Callable[[Array], Evaluation]) -> Evaluation:
        value = at(np.ascontiguousarray(z[..., :n]))
        return Evaluation(value.f + (z[..., n:] * value.h).sum(axis=-1), value.h)

    if not isinstance(oracle, Proximal):
        return Composed(oracle, lambda z: evaluate(z, oracle))

    def slopes(z: Array) -> Evaluation:
        x, y = np.ascontiguousarray(z[:, :n]), z[:, n:]
        of_x, of_y = Lagrangian(y)(oracle.slopes(x)), oracle.known(x).h
        flat = np.concatenate([of_x, of_y], axis=1)
        return Evaluation(flat, np.zeros((*flat.shape, oracle.m)))

    raw = Composed(oracle, lambda z: evaluate(z, oracle.raw))
    return WithKnown(raw, lambda z: evaluate(z, oracle.known), slopes)


def estimated(
    estimator: GradientEstimator,
    phi: Phi,
    x: Array,
    oracle: Oracle | Composed,
    streams: Streams,
    *,
    base: Evaluation | None = None,
    radius: float | None = None,
) -> Estimate:
    """Gradient of phi, which must be linear in (f, h): the black box's by the estimator, a known part's exactly.

    Parameters and result are those of ``GradientEstimator.estimate``; the variance is that of the estimated part.
    """
    if not isinstance(oracle, WithKnown):
        return estimator.estimate(phi, x, oracle, streams, base=base, radius=radius)
    raw = None if base is None else oracle.without(x, base)
    estimate = estimator.estimate(phi, x, oracle.raw, streams, base=raw, radius=radius)
    whole = None if estimate.base is None else oracle.add(x, estimate.base)
    # Linear in (f, h), so that phi of the derivatives, laid out like probes, is the derivative of phi.
    return Estimate(estimate.gradient + phi(oracle.slopes(x)), estimate.variance, whole)
