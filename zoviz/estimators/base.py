"""The base classes of gradient estimators: the estimate, its measured variance, and what theory predicts of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np
import param

from zoviz.core.configurable import Configurable
from zoviz.core.parameters import PlainInteger, Scale
from zoviz.core.streams import RandomSource
from zoviz.core.types import Array, Estimate, Evaluation, all_finite
from zoviz.estimators.inside import (
    MeanRise,
    Room,
    Steps,
    coordinate_steps,
    narrowest,
    random_steps,
    room_around,
    slopes_along,
)
from zoviz.oracle import ValueOracle

Phi = Callable[[Evaluation], Array]
"""Any scalar of (f, h), e.g. the Lagrangian at y: Evaluation of shapes (R, ...), (R, ..., m) to (R, ...)."""

CHUNK_BYTES = 256 << 10
"""Probes are evaluated in pieces of at most this size (and never less than one point per replica): small enough to
stay in the processor's cache, and for the C library to hand the same memory out again; pieces of megabytes may go back
to the system each time, and their page faults then take up to half of an iteration."""


class GradientEstimator(Configurable):
    """An estimator of the gradient of a scalar phi of the oracle's values, for R replicas at once."""

    __abstract = True

    live: ClassVar[tuple[str, ...]] = ("smoothing_radius", "batch_size")
    takes_values: ClassVar[bool] = False
    """Whether estimates are made of values, not of differences: phi(x)^2 then counts as noise."""

    smoothing_radius = Scale(
        default=1e-5,
        allow_None=True,
        bounds=(1e-14, 1e6),
        softbounds=(1e-8, 1.0),
        label="Smoothing radius r",
        doc="Distance from the point to its probes; None: chosen by the solver's rule.",
    )
    batch_size: PlainInteger[int] = PlainInteger(
        default=1,
        bounds=(1, 10_000_000),
        softbounds=(1, 1000),
        label="Batch size k",
        doc="Directions averaged in one estimate.",
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
        """Estimate the gradient of ``phi`` at ``x``, both of shape (R, n).

        Parameters
        ----------
        phi : callable
            Evaluation to (R, ...).
        x : Array, shape (R, n)
        oracle : ValueOracle
        streams : RandomSource
            Source of the directions.
        base : Evaluation, optional
            The value at ``x`` under the oracle's current sample, where it is already paid for.
        radius : float, optional
            Replaces ``smoothing_radius`` in this call (a schedule's value).
        """
        raise NotImplementedError(f"{type(self).__name__} must define estimate(...).")

    def calls(self, n: int) -> int:
        """Return the number of oracle calls of one estimate in n variables, that of a base point included."""
        raise NotImplementedError(f"{type(self).__name__} must define calls(n).")

    def coordinates_in(self, n: int) -> int:
        """Return along how many of n coordinates one estimate has differences; 0 where its directions are random."""
        return 0

    def predicted_variance(self, gradient_square: Array, n: int, noise: Array | float, radius: float) -> Array:
        """Return the trace (R,) of the estimate's covariance for r -> 0, from ||grad phi||^2 (R,) and phi's noise."""
        raise NotImplementedError(f"{type(self).__name__} must define predicted_variance(...).")

    def bias_bound(self, curvature: float, n: int, radius: float) -> float:
        """Return a bound on ||E g - grad phi|| from the Lipschitz constant of grad phi; NaN where none is known."""
        return float("nan")

    def published_bounds(self, slope: Array, curvature: Array, n: int, radius: float) -> dict[str, Array]:
        """Return the bounds (R,) on the variance that papers claim, by source; empty where none is claimed."""
        return {}


def chunks(count: int, point_bytes: int) -> Iterator[int]:
    """Yield the sizes of pieces of ``count`` points per replica, each of which fits into the processor's cache."""
    size = max(1, CHUNK_BYTES // max(point_bytes, 1))
    for start in range(0, count, size):
        yield min(size, count - start)


class DirectionalEstimator(GradientEstimator):
    r"""An estimator that averages the slope along u_i, times u_i, over k random directions u_i.

    A family says how far to step along a normal draw u and how to weigh the slope; everything else (base value,
    chunks, failed directions, measured variance) is common. Along coordinates the draws are +-sqrt(n) e_i, of a normal
    draw's length: for all i in a sweep, whose mean is the exact sweep of differences; for k of them, drawn anew for
    each estimate, in a block,

    .. math:: \hat g = \frac{n}{k} \sum_{i \in I} \hat g_i e_i,\qquad |I| = k

    unbiased for the sweep, of relative variance n / k - 1, and a sweep where k >= n. The error of g_i stays in x_i:
    where a bound holds x_i, projection takes it away, and the others do not feel it, as they do along random
    directions. The signs are random, so that an iterate beside points without a value is not kept there by one probe
    that fails in every step.
    """

    __abstract = True

    central: ClassVar[bool] = False

    directions: param.Selector[str | None] = param.Selector(
        default=None,
        allow_None=True,
        objects=["random", "block", "sweep"],
        label="Kind of directions",
        doc="random: k random ones, as published. block: k of the n coordinates, drawn anew for each estimate. sweep: "
        "all n. Auto: by the solver's rule, coordinates if values are exact and no constants are known, else random.",
    )

    def step_lengths(self, squares: Array, radius: float) -> Array:
        """Return the lengths (R, k) of the steps along the directions u, given ||u||^2 (R, k)."""
        raise NotImplementedError

    def weights(self, slopes: Array, squares: Array, n: int) -> Array:
        """Return factors w (R, k) of the samples g_i = w u_i, from the slopes along u_i and ||u_i||^2, both (R, k)."""
        raise NotImplementedError

    def random_variance(self, gradient_square: Array, n: int, noise: Array | float, radius: float) -> Array:
        """Return ``predicted_variance`` (R,) of k random directions."""
        raise NotImplementedError

    def random_bias(self, curvature: float, n: int, radius: float) -> float:
        """Return ``bias_bound`` of random directions."""
        raise NotImplementedError

    def coordinates_in(self, n: int) -> int:
        """Return n in a sweep, min(k, n) in a block, 0 where directions are random."""
        directions = self.directions  # once: reading a parameter costs as much as a small array operation
        if directions is None or directions == "random":
            return 0
        return n if directions == "sweep" else min(self.batch_size, n)

    def calls(self, n: int) -> int:
        """Return q + 1, a base point and q probes, or 2q for central differences: of k directions or q coordinates."""
        k = self.coordinates_in(n) or self.batch_size
        return 2 * k if self.central else k + 1

    def spacing(self, n: int, radius: float) -> float:
        """Return the length of a step along a coordinate, as long as one along a normal draw of length sqrt(n)."""
        return math.sqrt(n) * float(self.step_lengths(np.full((1, 1), float(n)), radius)[0, 0])

    def predicted_variance(self, gradient_square: Array, n: int, noise: Array | float, radius: float) -> Array:
        r"""Return the variance (R,) of random directions, or of q coordinates s apart from x.

        .. math:: (n / q - 1) \|\nabla \varphi\|^2 + (n / q)\, 2 n \sigma^2 / s^2

        with a quarter of the noise's part for central differences.
        """
        q = self.coordinates_in(n)
        if not q:
            return self.random_variance(gradient_square, n, noise, radius)
        noise_part = (0.5 if self.central else 2.0) * n * noise / self.spacing(n, radius) ** 2
        return (n / q - 1.0) * gradient_square + n / q * noise_part

    def bias_bound(self, curvature: float, n: int, radius: float) -> float:
        """Return the bound for random directions, or L s sqrt(n) / 2 for coordinates s apart from x."""
        if self.coordinates_in(n):
            size: float = 0.5 * curvature * self.spacing(n, radius) * n**0.5
            return size
        return self.random_bias(curvature, n, radius)

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
        (replicas, n), bounds = x.shape, oracle.bounds
        q = self.coordinates_in(n)
        k, r = q or self.batch_size, self.smoothing_radius if radius is None else radius
        room = None if bounds is None else room_around(x, bounds)
        r = r if bounds is None or q else self._fitted(r, n, narrowest(bounds))
        good: Any = k
        origin, cut = None, None
        shared = MeanRise(replicas, n) if room is not None and not (q or self.central) else None
        if not self.central:
            base = oracle(x) if base is None else base
            origin = phi(base)[:, None]
        total, square = np.zeros((replicas, n)), np.zeros(replicas)
        pieces = _coordinate_pieces(streams, n, q, replicas * n * x.itemsize) if q else None
        for count in chunks(k, replicas * n * x.itemsize):
            u = streams.normal("directions", count, n) if pieces is None else next(pieces)
            squares = np.einsum("rkn,rkn->rk", u, u)
            lengths = self.step_lengths(squares, r)
            if room is None:  # without bounds every step is along its direction, and nothing is to be made for it
                slopes, factors = self._slopes(phi, x, lengths[..., None] * u, None, lengths, origin, oracle), u
            else:
                steps = self._inside(u, squares, lengths, room)
                cut = steps.cut if cut is None or steps.cut is None else cut | steps.cut
                slopes = self._slopes(phi, x, steps.ahead, steps, steps.lengths, origin, oracle)
                factors = steps.factors
            w = self.weights(slopes, squares, n)
            if shared is not None:
                shared.enter(steps, w, self.weights(1.0 / steps.lengths, squares, n))
            if not all_finite(w):
                finite = np.isfinite(w)
                good = good - count + finite.sum(axis=1)
                w = np.where(finite, w, 0.0)
            total += np.matmul(w[:, None, :], factors)[:, 0, :]
            if k > 1:  # one direction tells nothing of their spread
                sizes = squares if factors is u else np.square(factors).sum(axis=-1)
                square += np.einsum("rk,rk,rk->r", w, w, sizes)
        if shared is not None:
            total, square = shared.taken_from(total, square, cut)
        rest = good, base, oracle
        estimate = self._coordinate_summary(total, q, *rest) if q else mean_of_samples(total, square, *rest)
        return estimate if cut is None else estimate._replace(cut=cut)

    def _inside(self, u: Array, squares: Array, lengths: Array, room: Room) -> Steps:
        """Return steps of some lengths (R, k) along u (R, k, n) that stay in the room around x."""
        if self.coordinates_in(u.shape[2]):
            return coordinate_steps(u, lengths, room, self.central)
        return random_steps(u, squares, lengths, room)

    def _fitted(self, radius: float, n: int, width: float) -> float:
        """Return a radius with which a typical step is no longer than a width."""
        return radius * min(1.0, width / self.spacing(n, radius))

    def _slopes(
        self, phi: Phi, x: Array, ahead: Array, steps: Steps | None, lengths: Array, origin: Any, oracle: ValueOracle
    ) -> Array:
        """Return slopes (R, k) over steps ``ahead`` (R, k, n) of these lengths (R, k); ``steps`` tell of bounds."""
        places = x[:, None] + ahead
        if self.central:
            # Both ends in one call: noise comes in the order of the directions, however they are cut into chunks.
            behind = x[:, None] + (-ahead if steps is None or steps.behind is None else steps.behind)
            values = phi(oracle(np.stack([places, behind], axis=2).reshape(len(x), -1, x.shape[1])))
            rises, lengths = values[:, ::2] - values[:, 1::2], 2.0 * lengths
        else:
            rises = phi(oracle(places)) - origin
        return rises / lengths if steps is None or steps.cut is None else slopes_along(rises, lengths)

    def _coordinate_summary(self, total: Array, q: int, good: Any, base: Any, oracle: ValueOracle) -> Estimate:
        """Return the estimate along q coordinates from the sum (R, n) of its samples."""
        replicas, n = total.shape
        if isinstance(good, np.ndarray):
            oracle.fail(good == 0)  # a slope that failed alone is 0: the others are what they are
        gradient = total / q
        if oracle.contract == "independent":  # the spread of orthogonal samples does not tell of noise
            return Estimate(gradient, np.full(replicas, np.nan), base)
        # ||E g||^2 = (q / n) E ||g||^2, so that one block measures its own spread; a sweep is exact.
        return Estimate(gradient, (1.0 - q / n) * np.square(gradient).sum(axis=1), base)


def mean_of_samples(total: Array, square: Array, good: Any, base: Evaluation | None, oracle: ValueOracle) -> Estimate:
    """Return the estimate of the sums of samples (R, n) and of their squared norms (R,).

    ``good`` is the number of samples, or that of each replica (R,) where some failed.
    """
    if isinstance(good, np.ndarray):
        empty = good == 0
        if empty.any():
            oracle.fail(empty)
        good = np.where(empty, np.nan, good.astype(float))
    gradient = total / (good if isinstance(good, int) else good[:, None])
    if isinstance(good, int) and good < 2:
        return Estimate(gradient, np.full(len(total), np.nan), base)
    spread = square / good - np.einsum("rn,rn->r", gradient, gradient)
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = np.where(np.asarray(good) > 1, np.maximum(spread, 0.0) / (good - 1.0), np.nan)
    return Estimate(gradient, variance, base)


def _coordinate_pieces(streams: RandomSource, n: int, q: int, point_bytes: int) -> Iterator[Array]:
    """Yield q coordinates with signs as directions, in pieces (R, count, n)."""
    signs = np.sign(streams.normal("directions", 1, n)[:, 0])
    places, start = streams.subset("coordinates", n, q)[:, 0], 0
    for count in chunks(q, point_bytes):
        yield _coordinates(signs, places[:, start : start + count])
        start += count


def _coordinates(signs: Array, places: np.ndarray) -> Array:
    """Return sqrt(n) times +-e_i, (R, q, n), of signs (R, n) and places i (R, q)."""
    (replicas, n), count = signs.shape, places.shape[1]
    rows, replica = np.zeros((replicas, count, n)), np.arange(replicas)[:, None]
    rows[replica, np.arange(count), places] = math.sqrt(n) * signs[replica, places]
    return rows
