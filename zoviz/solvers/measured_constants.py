r"""Measurement of an unknown black box's magnitudes by charged calls: differences are compared with their noise.

Differences along c = min(n, 10) random orthonormal directions d_j, at 1% of the width of X and inside a box, give
slopes and curvatures q_j = d_j' H d_j of every function, and from these ||g||^2 = n mean (g' d_j)^2 and

.. math:: L = |\bar q| + S, \qquad S^2 = \tfrac{n (n + 2)}{2}\, \mathrm{var}(q)

For a random frame E q = tr H / n and S^2 = ||H||_F^2 - tr(H)^2 / n, and no eigenvalue exceeds |tr H| / n + S. A whole
frame (c = n) of positive curvatures gives the trace as a second bound; S, of few samples, then counts 1.5 times.
Without noise L is 0.7 to 3 times the largest eigenvalue of most spectra, in 9 of 10 frames and up to n = 100; of one
direction among many, 0.4 to 1.4.

Under independent noise, 8 repeats tell every function's noise sigma_i; the step widens to 4% and 16% until all second
differences exceed 100 sigma_i, or the curvature is negligible beside the slope; every function takes the first step
that serves it. Where the widest does not, 20 and more directions replace its 10, with twice as many repeats of the
centre. A measurement after the first is made only where the budget that is left covers four of them. What noise adds to
moments is subtracted. A mean that noise hides (3 standard errors) is replaced by |mean| + 2 standard errors; a variance
that noise hides, by what noise can hide, S <= 1.5 |mean|.

References
----------
Wolkowicz and Styan (1980), Theorem 2.1, for the bound; More and Wild (2011), (2012) for noise and steps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants, Provenance
from zoviz.oracle import Oracle
from zoviz.problems.base import Problem


def moved_inside(oracle: Oracle, x0: Array, reach: float) -> Array:
    """Return the starts (R, n), moved so that ``reach`` around each lies in the box, where it is that wide."""
    domain = oracle.domain
    if not isinstance(domain, Box):
        return x0
    reach = np.minimum(reach, 0.5 * (domain.upper - domain.lower))
    return np.minimum(np.maximum(x0, domain.lower + reach), domain.upper - reach)


def kept_inside(oracle: Oracle, offset: Array, length: Array) -> tuple[Array, Array]:
    """Return offsets (R, k, n) cut to half of the box's widths, and their lengths (R, k), of which none is 0."""
    domain = oracle.domain
    if not isinstance(domain, Box):
        return offset, length
    half = 0.5 * (domain.upper - domain.lower)
    cut = np.minimum(np.maximum(offset, -half), half)
    norms = np.sqrt(np.square(cut).sum(axis=-1))
    shorter = (cut != offset).any(axis=-1) & (norms > 0)
    return cut, np.where(shorter, norms, length)


def typical_width(oracle: Oracle, x: Array) -> float:
    """Return a typical length: the median finite width of the box, else the size of the start x (n,), at least 1."""
    domain = oracle.domain
    if isinstance(domain, Box):
        widths = (domain.upper - domain.lower)[np.isfinite(domain.upper - domain.lower)]
        if widths.size and np.median(widths) > 0:
            return float(np.median(widths))
    return float(max(1.0, np.abs(x).max()))


_DIRECTIONS = 10
"""Directions of one frame around the start, at most."""
_REPEATS = 8
"""Calls at the start that measure the noise, at least."""
_STEPS = (0.01, 0.04, 0.16)
"""Steps as shares of the width: the first, and those to which independent noise may widen it."""
_CLEAR = 100.0
"""A second difference this many times its function's noise is taken as it is (More and Wild 2012, tau_1)."""
_SIGNIFICANCE = 3.0
"""Standard errors from which a mean counts as told from noise."""
_FRAMES = 20
"""Directions, at least, with which the widest step is repeated where noise still hides a curvature."""
_COVERED = 4
"""Measure again only if the remaining budget covers this many such measurements."""
_SHARE = 48.0**-0.5
"""Standard deviation of a number uniform over half of the width, as a share of it."""
_ROUND_OFF = 4e-16
"""Noise of a value relative to its size that arithmetic alone makes: about two roundings."""


def calls_of_one(oracle: Oracle, frames: int = 1) -> tuple[int, int]:
    """Return the calls per replica of one measurement: at the centre, and around it."""
    around = 2 * frames * min(oracle.n, _DIRECTIONS)
    if oracle.contract != "independent":
        return 1, around
    # Twice as many repeats as directions: the centre enters every curvature twice.
    return max(_REPEATS, around if frames > 1 else 0), around


class _Moments(NamedTuple):
    """What one step tells of every function, f first; arrays of shape (m + 1,).

    Attributes
    ----------
    slope : Array
        Norm of the gradient.
    bend, norm : Array
        Bound on the Hessian's largest eigenvalue, and its Frobenius norm; what noise may hide where they cannot be told
        from that.
    steep, clear : ndarray of bool
        Whether noise hardly matters to ``slope``; and to ``bend``, or both are too small to matter beside the slope.
    """

    slope: Array
    bend: Array
    norm: Array
    steep: np.ndarray
    clear: np.ndarray


def constants_of(problem: Problem, oracle: Oracle, x0: Array, streams: Streams) -> Constants:
    """Return the problem's own constants, or those measured around the first start that is defined.

    L_f is at least G_f / (width sqrt(n)), below which f changes over X by its slope alone. The slope G_0 that dual
    steps are made of is the root mean square of the constraints' within a quarter of the width in every coordinate,
    [G_h^2 + width^2 sum ||H_i||_F^2 / 48]^(1/2): a start where they happen to be flat says little. A problem in
    scaled units is always measured: bounds known in the user's are not tight there.

    2c + 1 calls per replica, c = min(n, 10); with independent noise 2c + 8 at least and 6c + 24 + 4 (20 + c) at most,
    as far as the budget goes; all charged. Every replica uses one's figures, so that its course does not depend on how
    many others follow.

    Parameters
    ----------
    problem : Problem
    oracle : Oracle
    x0 : Array, shape (R, n)
        The starts of the replicas.
    streams : Streams
    """
    constants = problem.noisy_constants
    if constants is not None and oracle.units is None:
        return constants
    before, n = oracle.account.spent, oracle.n
    probes, moments = _measure(oracle, x0, streams)
    slope, bend = moments.slope, moments.bend
    steepness = np.linalg.norm(slope[1:])
    elsewhere = _SHARE * probes.width * np.linalg.norm(moments.norm[1:])
    return Constants(
        curvature=float(max(bend[0], slope[0] / (probes.width * np.sqrt(n)))) or 1.0,  # f is flat: any step will do
        constraint_curvature=float(np.linalg.norm(bend[1:])),
        slope=float(slope[0]),
        constraint_slope=float(steepness),
        # Where there is no constraint, or a flat one, any step will do.
        start_slope=float(np.hypot(steepness, elsewhere)) or 1.0,
        weak_convexity=np.nan,
        noise=float(probes.sigma[0]),
        constraint_noise=float(np.linalg.norm(probes.sigma[1:])),
        provenance=Provenance.MEASURED,
        calls=oracle.account.spent - before,
    )


def _measure(oracle: Oracle, x0: Array, streams: Streams) -> tuple[_Probes, _Moments]:
    """Widen the step, then repeat the widest, as far as noise demands."""
    probes = _Probes(oracle, x0, streams)
    moments = probes.moments(_STEPS[0])
    last = -(-_FRAMES // min(oracle.n, _DIRECTIONS))
    for step, frames in [*((step, 1) for step in _STEPS[1:]), (_STEPS[-1], last)] if probes.noisy else ():
        if (
            moments.clear.all()
            or not oracle.affords(np.full(len(x0), _COVERED * sum(calls_of_one(oracle, frames)))).all()
        ):
            break
        moments = _first_clear(moments, probes.moments(step, frames))
    return probes, moments


def _first_clear(old: _Moments, new: _Moments) -> _Moments:
    """Return of every function the old figures where they were clear, else the new."""
    return _Moments(
        np.where(old.steep, old.slope, new.slope),
        np.where(old.clear, old.bend, new.bend),
        np.where(old.clear, old.norm, new.norm),
        old.steep | new.steep,
        old.clear | new.clear,
    )


class _Probes:
    """Points around the start, and the noise of the values there.

    Attributes
    ----------
    noisy : bool
        Whether two calls at one point may differ.
    width : float
        A typical length of X.
    sigma : Array, shape (m + 1,)
        Standard deviation of one value of every function, f first; of round-off at least.
    """

    def __init__(self, oracle: Oracle, x0: Array, streams: Streams) -> None:
        self._oracle, self._streams, self._x0 = oracle, streams, x0
        self.noisy = oracle.contract == "independent"
        self.width = typical_width(oracle, x0[0])
        self.sigma, self._freedom = np.zeros(oracle.m + 1), np.zeros(oracle.m + 1)
        self._first: int | None = None

    def moments(self, step: float, frames: int = 1) -> _Moments:
        """Measure slopes and curvatures by differences of ``step`` widths, along one frame of directions or more."""
        n, count, replicas = self._oracle.n, min(self._oracle.n, _DIRECTIONS), len(self._x0)
        draws = self._streams.normal("constants", frames, n, count)
        d = np.swapaxes(np.linalg.qr(draws)[0], -1, -2).reshape(replicas, -1, n)
        # Every coordinate moves by about the step, none by more than twice as much.
        length = step * self.width * np.minimum(np.sqrt(n), 2.0 / np.abs(d).max(axis=-1))
        centre = moved_inside(self._oracle, self._x0, 2.0 * step * self.width)[:, None]
        repeats = calls_of_one(self._oracle, frames)[0]
        values = self._evaluate(np.repeat(centre, repeats, axis=1))
        if self._first is None:
            self._first = int(np.argmax(np.isfinite(values[..., 0]).any(axis=1)))
        offset, length = kept_inside(self._oracle, length[..., None] * d, length)
        one = self._first
        ahead, behind = self._evaluate(centre + offset)[one], self._evaluate(centre - offset)[one]
        level = self._learn_noise(values[one])
        return self._moments(ahead - level, behind - level, length[one][:, None], repeats)

    def _moments(self, ahead: Array, behind: Array, length: Array, repeats: int) -> _Moments:
        """Compute slopes and curvatures from values less the centre's, (directions, m + 1), on both sides of it."""
        n, square, good = self._oracle.n, np.square(self.sigma), np.isfinite(ahead + behind)
        number = np.maximum(good.sum(axis=0), 1)
        inverse = _mean(1.0 / length**2, good, number)
        slopes = _mean(np.square((ahead - behind) / (2.0 * length)), good, number)
        noise = 0.5 * square * inverse
        significant = slopes > noise * (1.0 + _SIGNIFICANCE * np.sqrt(2.0 / number))
        slope = np.sqrt(n * np.where(significant, slopes - noise, slopes if self.noisy else 0.0))
        second = ahead + behind
        mean, mean_square = (_mean((second / length**2) ** p, good, number) for p in (1, 2))
        noise = 2.0 * square * _mean(1.0 / length**4, good, number)
        error = np.sqrt(noise / number + 4.0 * square * inverse**2 / repeats)
        whole = number >= n
        spread = _spread(mean_square - mean**2, mean, error, noise, (number, self._freedom), n)
        mean = np.abs(mean) + np.where(np.abs(mean) < _SIGNIFICANCE * error, 2.0 * error, 0.0)
        bend, norm = mean + spread * np.where(whole, 1.5, 1.0), np.sqrt(n * mean**2 + spread**2)
        positive = whole & (np.where(good, second, 1.0) > 0).all(axis=0)
        bend = np.where(positive, np.minimum(bend, n * (mean + 2.0 * error)), bend)
        if not self.noisy:
            bend, norm = (np.where(bend <= 10.0 * error, 0.0, size) for size in (bend, norm))  # round-off
        blind = np.asarray(~good.any(axis=0))
        if blind.any():
            slope, bend, norm = _one_sided(ahead, behind, length, blind, (slope, bend, norm))
        clear = _mean(np.square(second), good, number) >= _CLEAR**2 * square
        clear |= bend <= 0.1 * slope / (self.width * np.sqrt(n))
        return _Moments(slope, bend, norm, slopes > 10.0 * 0.5 * square * inverse, clear)

    def _learn_noise(self, values: Array) -> Array:
        """Return the mean (m + 1,) of the values (repeats, m + 1) at one point, and add their spread to ``sigma``."""
        good = np.isfinite(values)
        number = good.sum(axis=0)
        level = _mean(values, good, np.maximum(number, 1))
        square = np.where(good, np.square(values - level), 0.0).sum(axis=0) + self._freedom * np.square(self.sigma)
        self._freedom = self._freedom + np.maximum(number - 1, 0)
        sigma = np.sqrt(square / np.maximum(self._freedom, 1))
        size, units = np.abs(level), self._oracle.units
        if units is not None:
            size[0] = np.abs(level[0] + units.level / units.f)
        self.sigma = np.maximum(sigma, _ROUND_OFF * size)
        return level

    def _evaluate(self, points: Array) -> Array:
        return self._oracle(points).stacked


def _mean(values: Array, good: np.ndarray, number: Array) -> Array:
    """Return the mean over the first axis of the values in the mask ``good``, of which there are ``number``."""
    return np.where(good, values, 0.0).sum(axis=0) / number


def _one_sided(
    ahead: Array, behind: Array, length: Array, blind: np.ndarray, moments: tuple[Array, Array, Array]
) -> tuple[Array, Array, Array]:
    """Return slopes, curvatures and norms, of ``blind`` functions as large as the sides that were defined allow.

    At the end of where a function is defined every direction has one side without a value, and no second difference. A
    slope g over a distance s may be all curvature, g / s: steps that are too short instead of too long.
    """
    slopes = np.abs(np.concatenate([ahead, behind])) / np.concatenate([length, length])
    largest = np.where(np.isfinite(slopes), slopes, 0.0).max(axis=0)
    slope, bend, norm = moments
    steep = largest / float(length.min())
    return np.where(blind, largest, slope), np.where(blind, steep, bend), np.where(blind, steep, norm)


def _spread(variance: Array, mean: Array, error: Array, noise: Array, counts: tuple[Array, Array], n: int) -> Array:
    """Return S (m + 1,) of each function, from the variances of the curvatures over the directions and of their noise.

    ``counts`` are the directions, and the degrees of freedom of the noise's variance.
    """
    pairs = np.maximum(counts[0] - 1, 1)
    # Directions of a frame repel each other: the variance of a whole one is exact.
    variance = np.maximum(variance, 0.0) * np.where(counts[0] <= n, counts[0] / pairs * (n - 1) / n, 1.0)
    blur = noise * np.sqrt(2.0 / pairs + 2.0 / np.maximum(counts[1], 1))  # of both variances, were all of it noise
    # Where the mean is below its noise, the variance, which is scaled by n / sqrt(2), needs twice the significance.
    significant = variance - noise > blur * np.where(
        np.abs(mean) < _SIGNIFICANCE * error, 2.0 * _SIGNIFICANCE, _SIGNIFICANCE
    )
    factor = 0.5 * n * (n + 2) * (n > 1)
    estimate, bound = np.sqrt(factor * np.maximum(variance - noise, 0.0)), np.sqrt(factor * blur)
    return np.where(significant, estimate, np.minimum(bound, 1.5 * np.abs(mean)))
