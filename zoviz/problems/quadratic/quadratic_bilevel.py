"""An online bilevel problem of quadratics that has solutions and derivatives in closed form."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import param

from zoviz.core.parameters import ABSENT
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, Sample
from zoviz.problems.bilevel import BilevelConstants, OnlineBilevel

_WALK = 2**14
"""Rounds after which a walk stays where it is: its steps are below 1e-4 there."""
_KEPT = 8
"""Rounds whose vectors are kept: a step asks some twenty times for those of its own round and of the one before."""


class _Data(NamedTuple):
    """The matrices H (d, d) and its inverse, B (d, n), Q (n, n); phases (k,) and walk (rounds, k) of a_t, c_t, q_t.

    Also the sets of x and y, which every round asks for, the eigenvalues of H, (d,), and the vectors of the rounds that
    were asked for last.
    """

    domain: Box
    inner_domain: Box
    eigenvalues: Array
    hessian: Array
    inverse: Array
    coupling: Array
    bowl: Array
    angles: Array
    walk: Array
    constants: BilevelConstants
    vectors: dict[int, Array]


class QuadraticBilevel(OnlineBilevel):
    r"""A quadratic leader and follower whose linear terms drift from round to round.

    .. math::
        f_t(x, y) &= \tfrac12\|y - a_t\|^2 + \tfrac12 x^\top Q x - q_t^\top x \\
        g_t(x, y) &= \tfrac12 y^\top H y - (Bx + c_t)^\top y

    so that, in closed form,

    .. math::
        y_t^*(x) = H^{-1}(Bx + c_t), \quad v_t^*(x) = -H^{-1}(y_t^*(x) - a_t), \quad
        \nabla F_t(x) = Qx - q_t - B^\top v_t^*(x)

    H is a random rotation of eigenvalues evenly spaced in [1, ``conditioning``], Q one of [1/2, 1], and B has normal
    entries over sqrt(n + d). (a_t, c_t, q_t) = centre + ``drift_size`` sin(theta_t + angles) with theta_t = 0 ("none"),
    ``drift_rate`` log(1 + t) ("slow": changes of order 1/t, so that sums of their squares are bounded) or
    ``drift_rate`` t ("rapid"). With "walk" a random walk whose step of round t is normal over t stands in the sine's
    place: changes as slow, without a period in log t. The centre is standard normal, and drawn anew every
    ``phase_length`` rounds.

    A mini-batch of f_t shifts a_t and q_t by normal noise of deviation ``sampling_noise`` / sqrt(b); one of g_t shifts
    c_t so with b', and multiplies H and B by 1 + such a number each.

    References
    ----------
    Paper sogd, Assumptions 3.2 to 3.5, which it satisfies on the box; the problem is ours.
    """

    title = "Quadratic online bilevel"
    closed_form = True
    order = 20

    n = param.Integer(default=10, bounds=(1, 2000), softbounds=(1, 100), label="Leader's variables n", doc="Size of x.")
    d = param.Integer(
        default=10, bounds=(1, 2000), softbounds=(1, 100), label="Follower's variables d", doc="Size of y."
    )
    seed = param.Integer(default=0, bounds=(0, 2**31), label="Instance seed", doc="Seed of matrices and centres.")
    conditioning = param.Number(
        default=4.0,
        bounds=(1, 1e6),
        softbounds=(1, 100),
        label="Conditioning κ",
        doc="Condition number of the follower.",
    )
    drift: param.Selector[str] = param.Selector(
        default="slow",
        objects=["none", "slow", "walk", "rapid"],
        label="Drift",
        doc="How the linear terms move with the rounds.",
    )
    drift_size = param.Number(default=1.0, bounds=(0, 1e3), label="Drift size A", doc="Amplitude of the movement.")
    drift_rate = param.Number(
        default=1.0, bounds=(0, 100), label="Drift rate ω", doc="Speed of the drift, in log(1 + t) or in t."
    )
    phase_length = param.Integer(
        default=None,
        allow_None=True,
        bounds=(1, 10**9),
        label="Phase length",
        doc="Rounds until the centre jumps.",
        metadata=ABSENT,
    )
    sampling_noise = param.Number(
        default=0.1,
        bounds=(0, 1e3),
        softbounds=(0, 1),
        label="Sampling noise σ",
        doc="Standard deviation of one sample's noise.",
    )
    half_width = param.Number(
        default=5.0, bounds=(1e-3, 1e6), label="Box half-width", doc="Half-width of the box around 0."
    )

    @property
    def inner_domain(self) -> Box:
        """The follower's set R^d."""
        return self.data.inner_domain

    def build(self) -> _Data:
        n, d, rng = self.n, self.d, np.random.default_rng(self.seed)
        eigenvalues = np.linspace(1.0, self.conditioning, d)
        hessian = _rotated(rng, eigenvalues)
        bowl = _rotated(rng, np.linspace(0.5, 1.0, n))
        coupling = rng.standard_normal((d, n)) / np.sqrt(n + d)
        inverse = np.asarray(np.linalg.inv(hessian), dtype=float)
        outer = bowl + coupling.T @ inverse @ inverse @ coupling
        reach = np.linalg.norm(coupling, 2) * self.half_width * np.sqrt(n) + 3.0 * np.sqrt(d) * (1.0 + self.drift_size)
        convexity = float(min(1.0, self.conditioning))
        size = float((reach / convexity + 3.0 * np.sqrt(d) * (1.0 + self.drift_size)) / convexity)
        constants = BilevelConstants(self.conditioning, convexity, float(np.linalg.norm(outer, 2)), size)
        angles = rng.uniform(0.0, 2.0 * np.pi, n + 2 * d)
        steps = rng.standard_normal((_WALK if self.drift == "walk" else 1, n + 2 * d))
        walk = np.cumsum(steps / np.arange(1.0, len(steps) + 1.0)[:, None], axis=0)
        box = Box(np.full(n, -self.half_width), np.full(n, self.half_width))
        return _Data(box, Box.free(d), eigenvalues, hessian, inverse, coupling, bowl, angles, walk, constants, {})

    @property
    def bilevel_constants(self) -> BilevelConstants:
        """The exact curvatures, and p >= ||v*|| where the centres are within three deviations."""
        return self.data.constants

    def initial(self, streams: Streams) -> Array:
        """Return starts uniform in [-1, 1]^n, or in X where that is smaller, (R, n)."""
        return min(1.0, self.half_width) * (2.0 * streams.uniform("x0", self.n) - 1.0)

    def phase(self, t: int) -> int:
        """Return the number of the phase that round t belongs to, from 0."""
        return 0 if self.phase_length is None else t // self.phase_length

    def phases(self, iteration: int) -> list[tuple[int, str]]:
        """Return the rounds at which the centre jumps, each with the new phase's name."""
        return [(k * (self.phase_length or 0), f"phase {k + 1}") for k in range(1, self.phase(iteration) + 1)]

    def vectors(self, t: int) -> Array:
        """Return (a_t, c_t, q_t) of round t laid end to end, (2 d + n,); read only."""
        kept = self.data.vectors
        vectors: Array | None = kept.get(t)
        if vectors is None:
            vectors = self._vectors(t)
            vectors.flags.writeable = False
            if len(kept) >= _KEPT:
                kept.clear()
            kept[t] = vectors
        return vectors

    def _vectors(self, t: int) -> Array:
        centre = np.random.default_rng([self.seed, 1, self.phase(t)]).standard_normal(2 * self.d + self.n)
        if self.drift == "walk":
            return centre + self.drift_size * self.data.walk[min(t, len(self.data.walk) - 1)]
        turn = {"none": 0.0, "slow": np.log1p(t), "rapid": float(t)}[self.drift]
        return centre + self.drift_size * np.sin(self.drift_rate * turn + self.data.angles)

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> Sample:
        """Draw round ``iteration``: a mini-batch of f_t and one of g_t."""
        d, at = self.d, self.vectors(iteration)
        if self.noise == "deterministic":
            return self._sample(iteration, np.repeat(at[None], streams.replicas, axis=0), streams.replicas)
        outer, inner = size if isinstance(size, tuple) else (size, size)
        noise = self.sampling_noise * streams.normal("xi", len(at) + 2)
        scale = np.full(len(at), 1.0 / np.sqrt(outer))
        scale[d : 2 * d] = 1.0 / np.sqrt(inner)
        tilt = 1.0 + noise[:, -2:] / np.sqrt(inner)
        return self._sample(iteration, at + scale * noise[:, :-2], streams.replicas, tilt)

    def _sample(self, t: int, vectors: Array, replicas: int, tilt: Array | None = None) -> Sample:
        a, c, q = np.split(vectors, [self.d, 2 * self.d], axis=-1)
        tilt = np.ones((replicas, 2)) if tilt is None else tilt
        return Sample(t=t, a=a, c=c, q=q, bend=tilt[:, :1], pull=tilt[:, 1:])

    def exact(self, xi: Sample) -> Sample:
        return self._sample(xi.t, np.repeat(self.vectors(xi.t)[None], len(xi.a), axis=0), len(xi.a))

    def outer(self, x: Array, y: Array, xi: Sample) -> Array:
        a, q = along(xi.a, x), along(xi.q, x)
        bowl = 0.5 * np.einsum("...i,...i->...", x @ self.data.bowl, x)
        return 0.5 * np.square(y - a).sum(axis=-1) + bowl - (q * x).sum(axis=-1)

    def inner(self, x: Array, y: Array, xi: Sample) -> Array:
        bend, pull, c = along(xi.bend, x), along(xi.pull, x), along(xi.c, x)
        quadratic = 0.5 * bend[..., 0] * np.einsum("...i,...i->...", y @ self.data.hessian, y)
        return quadratic - ((pull * (x @ self.data.coupling.T) + c) * y).sum(axis=-1)

    def outer_gradients(self, x: Array, y: Array, xi: Sample) -> tuple[Array, Array]:
        """Return Q x - q_t (R, ..., n) and y - a_t (R, ..., d), the gradients of f_t."""
        return x @ self.data.bowl - along(xi.q, x), y - along(xi.a, x)

    def inner_gradient(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return H y - B x - c_t, the gradient of g_t in y, (R, ..., d)."""
        forward = along(xi.pull, x) * (x @ self.data.coupling.T)
        return along(xi.bend, x) * (y @ self.data.hessian) - forward - along(xi.c, x)

    def inner_hessian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return H v, the second derivative of g_t in y times v, (R, ..., d)."""
        return along(xi.bend, v) * (v @ self.data.hessian)

    def inner_jacobian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return -B'v, the derivative in x of <grad_y g_t, v>, (R, ..., n)."""
        return -along(xi.pull, v) * (v @ self.data.coupling)

    def solution(self, x: Array, xi: Sample | None) -> tuple[Array, Array]:
        """Return y* (R, d) and v* (R, d) of the sample's round, in closed form."""
        a, c, _ = np.split(self.vectors(0 if xi is None else xi.t), [self.d, 2 * self.d])
        y = (x @ self.data.coupling.T + c) @ self.data.inverse
        return y, -(y - a) @ self.data.inverse

    def evaluate(self, x: Array, xi: Sample | None = None) -> Evaluation:
        """Return F_t(x) (R, ...) of the sample's round without sampling noise; of round 0 without a sample."""
        a, _, q = np.split(self.vectors(0 if xi is None else xi.t), [self.d, 2 * self.d])
        bowl = 0.5 * np.einsum("...i,...i->...", x @ self.data.bowl, x)
        value = 0.5 * np.square(self.solution(x, xi)[0] - a).sum(axis=-1) + bowl - x @ q
        return Evaluation(value, np.zeros((*x.shape[:-1], 0)))


def _rotated(rng: np.random.Generator, eigenvalues: Array) -> Array:
    """Return a symmetric matrix with these eigenvalues and random eigenvectors."""
    axes = np.linalg.qr(rng.standard_normal((eigenvalues.size, eigenvalues.size)))[0]
    return (axes * eigenvalues) @ axes.T


def along(values: Array, points: Array) -> Array:
    """Reshape a sample's array (R, k) to broadcast against points (R, ..., n)."""
    return values.reshape(len(values), *[1] * (points.ndim - 2), values.shape[-1])
