"""The estimator by forward differences along Gaussian directions."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.estimators.base import DirectionalEstimator


class Gaussian(DirectionalEstimator):
    r"""An estimator by forward differences along k normal directions, with one shared base value.

    .. math:: \hat g = \frac{1}{\nu k} \sum_{i \le k} [\varphi(x + \nu u_i) - \varphi(x)]\,u_i,
              \qquad u_i \sim N(0, I)

    The smoothing radius is nu; the bias is at most L nu sqrt(n).

    Notes
    -----
    Paper splm's Gaussian form, with directions N(0, I/n) and radius r, is this one with nu = r / sqrt(n).

    References
    ----------
    Paper conex, (2); Nesterov and Spokoiny (2017).
    """

    def step_lengths(self, squares: Array, radius: float) -> Array:
        """Return the radius nu for every direction, (R, k): steps are nu u, whatever the length of u."""
        return np.full_like(squares, radius)

    def weights(self, slopes: Array, squares: Array, n: int) -> Array:
        """Return the slopes along u_i themselves as the factors of the u_i, (R, k)."""
        return slopes

    def random_bias(self, curvature: float, n: int, radius: float) -> float:
        """Return L nu sqrt(n), the bound on the bias of a Gaussian estimate."""
        size: float = curvature * radius * n**0.5
        return size

    def random_variance(self, gradient_square: Array, n: int, noise: Array | float, radius: float) -> Array:
        """Return ((n + 1) ||grad phi||^2 + 2 n sigma^2 / nu^2) / k, (R,)."""
        return ((n + 1.0) * gradient_square + 2.0 * n * noise / radius**2) / self.batch_size
