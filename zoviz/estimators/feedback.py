"""Estimators from one value along each direction, without the value at the point itself."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from zoviz.core.streams import RandomSource
from zoviz.core.types import Array, Estimate, Evaluation
from zoviz.estimators.base import GradientEstimator, Phi, mean_of_samples
from zoviz.estimators.inside import narrowest, random_steps, room_around
from zoviz.oracle import ValueOracle


class OnePoint(GradientEstimator):
    r"""An estimator that multiplies each direction on the sphere by the value there.

    .. math:: \hat g = \frac{n}{r k} \sum_{i \le k} \varphi(x + r\Delta_i)\,\Delta_i,
              \qquad \Delta_i \sim U(\mathbb S^{n-1})

    Its mean is that of ``Sphere``, the gradient of phi averaged over a ball of radius r. Its variance is

    .. math:: \frac{1}{k} \Big[(n - 1) \|\nabla \varphi\|^2 + \frac{n^2}{r^2} (\varphi(x)^2 + \sigma^2)\Big]

    for small r: the value itself is noise to it, which noise that points share does not take away. A solver's rule does
    not know that value: give steps by hand.

    References
    ----------
    Flaxman, Kalai and McMahan (2005), Online convex optimization in the bandit setting, Lemma 1.
    """

    takes_values = True

    def baseline(self, values: Array, base: Array | None) -> Array:
        """Return what is taken from the values (R, k), here 0."""
        return np.zeros_like(values)

    def needs_base(self) -> bool:
        """Return whether the value at the point is needed, too."""
        return False

    def calls(self, n: int) -> int:
        """Return k, a call for each direction."""
        return self.batch_size + self.needs_base()

    def estimate(
        self,
        phi: Phi,
        x: Array,
        oracle: ValueOracle,
        streams: RandomSource,
        *,
        base: Evaluation | None = None,
        radius: float | None = None,
    ) -> Estimate:
        (_, n), k, bounds = x.shape, self.batch_size, oracle.bounds
        r = self.smoothing_radius if radius is None else radius
        if self.needs_base() and base is None:
            base = oracle(x)
        u = streams.normal("directions", k, n)
        squares = np.einsum("rkn,rkn->rk", u, u)
        if bounds is None:
            ahead, factors, cut = (r / np.sqrt(squares))[..., None] * u, u, None
        else:
            r = min(r, narrowest(bounds))
            steps = random_steps(u, squares, r / np.sqrt(squares), room_around(x, bounds))
            ahead, factors, cut = steps.ahead, steps.factors, steps.cut
        values = phi(oracle(x[:, None] + ahead))
        rises = values - self.baseline(values, None if base is None else phi(base))
        w = n * rises / (r * np.sqrt(squares))
        finite = np.isfinite(w)
        good = k if finite.all() else finite.sum(axis=1)
        w = np.where(finite, w, 0.0)
        total = np.matmul(w[:, None, :], factors)[:, 0, :]
        square = np.einsum("rk,rk,rkn,rkn->r", w, w, factors, factors)
        return mean_of_samples(total, square, good, base, oracle)._replace(cut=cut)

    def predicted_variance(self, gradient_square: Array, n: int, noise: Array | float, radius: float) -> Array:
        """Return ((n - 1) ||grad phi||^2 + n^2 noise / r^2) / k, (R,), noise being the mean square of phi's values."""
        return ((n - 1.0) * gradient_square + n * n * noise / radius**2) / self.batch_size

    def bias_bound(self, curvature: float, n: int, radius: float) -> float:
        """Return L r n / (n + 1), as for ``Sphere``."""
        return curvature * radius * n / (n + 1.0)


class ResidualFeedback(OnePoint):
    r"""An estimator that multiplies each direction by what its value is above that along the direction before.

    .. math:: \hat g = \frac{n}{r k} \sum_{i \le k} [\varphi(x + r\Delta_i) - \varphi(x + r\Delta_{i-1})]\,\Delta_i

    with Delta_0 = Delta_k; a single direction has the value at the point before it. The mean is that of ``Sphere``, at
    one call less, and the variance about twice its:

    .. math:: \frac{1}{k} \Big[(2n - 1) \|\nabla \varphi\|^2 + \frac{2 n^2 \sigma^2}{r^2}\Big], \qquad k > 2

    Notes
    -----
    In the source the value before is that of the last iteration, of which an estimate knows nothing here: a restart, a
    fork and a change of multipliers have no last value.

    References
    ----------
    Zhang, Zhou, Ji and Zavlanos (2022), A new one-point residual-feedback oracle for black-box learning and control,
    Automatica 136.
    """

    takes_values: ClassVar[bool] = False

    def baseline(self, values: Array, base: Array | None) -> Array:
        """Return the values (R, k) along the directions before."""
        return np.roll(values, 1, axis=1) if base is None else base[:, None]

    def needs_base(self) -> bool:
        """Return whether there is a single direction."""
        return self.batch_size == 1

    def estimate(
        self,
        phi: Phi,
        x: Array,
        oracle: ValueOracle,
        streams: RandomSource,
        *,
        base: Evaluation | None = None,
        radius: float | None = None,
    ) -> Estimate:
        base = base if self.needs_base() else None
        estimate = super().estimate(phi, x, oracle, streams, base=base, radius=radius)
        if self.batch_size != 2:
            return estimate
        return estimate._replace(variance=np.full(len(x), np.nan))  # both samples have the same difference

    def predicted_variance(self, gradient_square: Array, n: int, noise: Array | float, radius: float) -> Array:
        """Return (c ||grad phi||^2 + 2 n^2 sigma^2 / r^2) / k, (R,): c = 2n - 1, or n - 1 and 2n for k = 1 and 2."""
        k = self.batch_size
        share = {1: n - 1.0, 2: 2.0 * n}.get(k, 2.0 * n - 1.0)
        return (share * gradient_square + 2.0 * n * n * noise / radius**2) / k
