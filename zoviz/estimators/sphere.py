"""Estimators by one-sided and central differences along directions uniform on the unit sphere."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.estimators.base import DirectionalEstimator


class Sphere(DirectionalEstimator):
    r"""An estimator by forward differences along k directions uniform on the sphere, with one shared base value.

    .. math:: \hat g = \frac{n}{r k} \sum_{i \le k} [\varphi(x + r\Delta_i) - \varphi(x)]\,\Delta_i,
              \qquad \Delta_i \sim U(\mathbb S^{n-1})

    Its mean is the gradient of phi averaged over a ball of radius r: the bias is at most L r n / (n + 1).

    References
    ----------
    Paper splm, (3); paper zoeg, (6).
    """

    def step_lengths(self, squares: Array, radius: float) -> Array:
        """Return r / ||u||, (R, k): each step has the length r."""
        return radius / np.sqrt(squares)

    def weights(self, slopes: Array, squares: Array, n: int) -> Array:
        """Return n slope / ||u||^2, (R, k), the factors of the u_i."""
        return n * slopes / squares

    def random_variance(self, gradient_square: Array, n: int, noise: Array | float, radius: float) -> Array:
        """Return ((n - 1) ||grad phi||^2 + 2 n^2 sigma^2 / r^2) / k, (R,)."""
        return ((n - 1.0) * gradient_square + 2.0 * n * n * noise / radius**2) / self.batch_size

    def random_bias(self, curvature: float, n: int, radius: float) -> float:
        """Return L r n / (n + 1)."""
        return curvature * radius * n / (n + 1.0)

    def published_bounds(self, slope: Array, curvature: Array, n: int, radius: float) -> dict[str, Array]:
        """Return the two bounds (R,) on the variance that papers splm and zoeg print for this estimator.

        ``splm (5)``: n^2 L^2 r^2 / (4k), which vanishes with r and is false in general (its proof drops the linear
        term). ``zoeg (8)``: (9 n^2 G^2 / (n + 2) + 3 n^2 L^2 r^2 / 4) / k, a bound on the second moment, which holds.
        """
        if self.coordinates_in(n):
            return {}  # they are about random directions
        k, smooth = self.batch_size, np.square(n * curvature * radius)
        return {
            "splm (5)": smooth / (4.0 * k),
            "zoeg (8)": (9.0 * n * n * np.square(slope) / (n + 2.0) + 0.75 * smooth) / k,
        }


class CentralSphere(Sphere):
    r"""An estimator by central differences along k directions uniform on the sphere, without a base value.

    .. math:: \hat g = \frac{n}{2 r k} \sum_{i \le k} [\varphi(x + r\Delta_i) - \varphi(x - r\Delta_i)]\,\Delta_i

    References
    ----------
    Paper sogd, (17)-(20).
    """

    central = True

    def random_variance(self, gradient_square: Array, n: int, noise: Array | float, radius: float) -> Array:
        return ((n - 1.0) * gradient_square + n * n * noise / (2.0 * radius**2)) / self.batch_size

    def published_bounds(self, slope: Array, curvature: Array, n: int, radius: float) -> dict[str, Array]:
        """Return no bounds: the papers bound the forward form only."""
        return {}
