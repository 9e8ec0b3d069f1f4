"""Coordinate-wise finite differences, all coordinates or random blocks of them."""

from __future__ import annotations

import numpy as np
import param

from zoviz.core.parameters import UP_TO_N
from zoviz.core.streams import RandomSource
from zoviz.core.types import Array, Estimate, Evaluation, all_finite
from zoviz.estimators.base import GradientEstimator, Phi, chunks
from zoviz.estimators.inside import kept_step, room_around
from zoviz.oracle import ValueOracle


class Coordinate(GradientEstimator):
    r"""An estimator by forward or central differences along every coordinate, averaged over k such sweeps.

    .. math:: \hat g_i = [\varphi(x + r e_i) - \varphi(x)] / r
              \quad\text{or}\quad [\varphi(x + r e_i) - \varphi(x - r e_i)] / (2r)

    n + 1 calls a sweep (2n central). Under independent noise every sweep of forward differences has a base value of its
    own, so that the spread of the sweeps measures the variance; otherwise the base is shared. Without noise the
    estimate is deterministic: its variance is 0 and its bias at most (L r / 2) sqrt(n).

    Notes
    -----
    Unless ``differences`` says otherwise, differences are central under independent noise, else forward. The noise of a
    base value enters all forward differences of its sweep alike, so that their errors add up along (1, ..., 1). Per
    call, central ones have half the variance, and no bias of order r, which no average over iterations takes away.

    Where the oracle has bounds, a forward difference goes to the side with more room, and the ends of a central one are
    cut to the bounds.

    References
    ----------
    Paper zoeg, §4.1.
    """

    differences: param.Selector[str] = param.Selector(
        default="auto",
        objects=["auto", "forward", "central"],
        label="Differences",
        doc="central: twice the calls, bias of order r^2. Auto: central where noise is independent.",
    )

    def block_length(self, n: int) -> int:
        """Return the number of coordinates in one sweep: all n."""
        return n

    def coordinates_in(self, n: int) -> int:
        """Return the length of one sweep or block."""
        return self.block_length(n)

    def _scale(self, n: int) -> float:
        return 1.0

    def is_central(self, noisy: bool) -> bool:
        """Return whether differences are central, where noise is independent (``noisy``) or where it is not."""
        return noisy if self.differences == "auto" else self.differences == "central"

    def calls(self, n: int) -> int:
        """Return k (n + 1) for forward differences, a fresh base each, and 2kn for those that are or may be central."""
        return self.batch_size * (
            self.block_length(n) + 1 if self.differences == "forward" else 2 * self.block_length(n)
        )

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
        replicas, n = x.shape
        k, r, size = self.batch_size, self.smoothing_radius if radius is None else radius, self.block_length(n)
        noisy = oracle.contract == "independent"
        central = self.is_central(noisy)
        if base is None and not central:
            base = oracle(x)
        index = streams.subset("blocks", n, size, k).reshape(replicas, k * size)
        slopes, lengths = self._differences(phi, x, index, r, oracle, central)
        cut = None if oracle.bounds is None else (lengths != r).any(axis=1)
        if not central:
            slopes -= np.repeat(self._origins(phi, x, base, oracle), size, axis=1) / lengths
        if oracle.bounds is not None:  # along a fixed one, noise alone
            slopes = np.where(oracle.bounds.variable[index], slopes, 0.0)
        slopes *= self._scale(n)
        if not all_finite(slopes):
            failed = ~np.isfinite(slopes)
            oracle.fail(failed.all(axis=1))
            slopes = self._mended(slopes, failed, index, n)
        gradient = np.zeros((replicas, n))
        np.add.at(gradient, (np.arange(replicas)[:, None], index), slopes / k)
        return Estimate(gradient, self._variance(slopes, gradient, noisy), base, cut)

    def _differences(
        self, phi: Phi, x: Array, index: np.ndarray, r: float, oracle: ValueOracle, central: bool
    ) -> tuple[Array, Array]:
        """Return phi(x + l e_i) / l, or the central difference, for every index i, and the signed lengths l, (R, q)."""
        replicas, n = x.shape
        out, start = np.empty(index.shape), 0
        rows, ahead = np.arange(replicas)[:, None], np.full(index.shape, r)
        behind = -ahead
        if oracle.bounds is not None:
            room = room_around(x, oracle.bounds)
            ahead, behind = kept_step(ahead, index, room, not central), kept_step(behind, index, room, False)
        lengths = 0.5 * (ahead - behind) if central else ahead
        lengths = np.where(lengths == 0.0, r, lengths)
        for count in chunks(index.shape[1], replicas * n * x.itemsize):
            these, sides = slice(start, start + count), 2 if central else 1
            part = index[:, these]
            probes = np.repeat(x[:, None], sides * count, axis=1)
            probes[rows, sides * np.arange(count), part] += ahead[:, these]
            if central:
                probes[rows, 2 * np.arange(count) + 1, part] += behind[:, these]
            values = phi(oracle(probes))
            if central:
                values = 0.5 * (values[:, ::2] - values[:, 1::2])
            out[:, these] = values / lengths[:, these]
            start += count
        return out, lengths

    def _mended(self, slopes: Array, failed: np.ndarray, index: np.ndarray, n: int) -> Array:
        """Replace failed slopes by the mean of the same coordinate's others, or by 0 where there are none."""
        at = (np.arange(len(slopes))[:, None], index)
        total, good = np.zeros((2, len(slopes), n))
        np.add.at(total, at, np.where(failed, 0.0, slopes))
        np.add.at(good, at, ~failed)
        return np.where(failed, (total / np.maximum(good, 1.0))[at], slopes)

    def _origins(self, phi: Phi, x: Array, base: Evaluation | None, oracle: ValueOracle) -> Array:
        """Return the base values of the k sweeps, (R, k): one that all share, or a fresh one each."""
        first = phi(base)[:, None] if base is not None else np.empty((len(x), 0))
        if self.batch_size == 1 or oracle.contract != "independent":
            return np.repeat(first, self.batch_size, axis=1)
        more = phi(oracle(np.repeat(x[:, None], self.batch_size - 1, axis=1)))
        return np.concatenate([first, more], axis=1)

    def _variance(self, slopes: Array, gradient: Array, noisy: bool) -> Array:
        """Return the variance (R,) from the spread of the k sweeps; 0 without noise; NaN where k = 1 cannot tell."""
        replicas, k = len(slopes), self.batch_size
        if k == 1:
            return self._single_variance(slopes, gradient.shape[1], noisy)
        square = np.square(slopes).sum(axis=1) / k - np.square(gradient).sum(axis=1)
        out: Array = np.maximum(square, 0.0).reshape(replicas) / (k - 1.0)
        return out

    def _single_variance(self, slopes: Array, n: int, noisy: bool) -> Array:
        return np.full(len(slopes), np.nan if noisy else 0.0)

    def bias_bound(self, curvature: float, n: int, radius: float) -> float:
        """Return L r sqrt(n) / 2, which holds for forward and for central differences."""
        size: float = 0.5 * curvature * radius * n**0.5
        return size

    def predicted_variance(self, gradient_square: Array, n: int, noise: Array | float, radius: float) -> Array:
        """Return the noise's part alone, 2 n sigma^2 / (r^2 k), or a quarter of it for central differences; (R,)."""
        factor = 0.5 if self.is_central(bool(np.any(noise))) else 2.0
        return 0.0 * gradient_square + factor * n * noise / (radius**2 * self.batch_size)


class Block(Coordinate):
    r"""An estimator by differences along random blocks of coordinates, averaged over k such blocks.

    .. math:: \hat g = \frac{n}{\tau} \sum_{i \in I} \hat g_i e_i,\qquad |I| = \tau

    unbiased for the full sweep; ``scaled=False`` leaves out n / tau, as paper zoeg's Algorithm 3 does.

    Notes
    -----
    The variance is measured from the spread of k blocks. One block measures it too, by (1 - tau / n) ||g||^2, since
    its samples are orthogonal; that form is blind to a part of independent noise and not used there (NaN).

    References
    ----------
    Paper zoeg, §4.3.
    """

    live = ("smoothing_radius", "batch_size", "block_size")

    block_size = param.Integer(
        default=1,
        bounds=(1, 1_000_000),
        softbounds=(1, 100),
        label="Block size τ",
        doc="Coordinates of x probed in one estimate; at most n are used.",
        metadata=UP_TO_N,
    )
    scaled = param.Boolean(default=True, label="Unbiased", doc="Multiply by n/τ, so that the mean is the gradient.")

    def block_length(self, n: int) -> int:
        """Return the number of coordinates in one block, at most n."""
        return min(self.block_size, n)

    def _scale(self, n: int) -> float:
        return n / self.block_length(n) if self.scaled else 1.0

    def _single_variance(self, slopes: Array, n: int, noisy: bool) -> Array:
        size = slopes.shape[1]
        if size == n:
            return super()._single_variance(slopes, n, noisy)
        if noisy:
            return np.full(len(slopes), np.nan)
        # Orthogonal samples: ||E g||^2 = (tau / n) E ||g||^2, so one block measures its own spread, even tau = 1.
        out: Array = (1.0 - size / n) * np.square(slopes).sum(axis=1)
        return out

    def predicted_variance(self, gradient_square: Array, n: int, noise: Array | float, radius: float) -> Array:
        """Return [(n/tau - 1) ||grad phi||^2 + (n/tau) times the sweep's noise] / k, (R,), tau the block's length."""
        ratio = n / self.block_length(n)
        sweep = super().predicted_variance(gradient_square, n, noise, radius)
        variance = (ratio - 1.0) * gradient_square / self.batch_size + ratio * sweep
        return variance if self.scaled else variance / ratio**2
