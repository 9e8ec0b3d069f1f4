"""The toy bilevel problem of paper sogd's Fig. 1: one variable for each of leader and follower."""

from __future__ import annotations

import numpy as np
import param

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation, Sample
from zoviz.problems.bilevel import BilevelConstants, OnlineBilevel


class ToyBilevel(OnlineBilevel):
    r"""A follower that tracks cos x, and a leader whose functions change smoothly or rapidly.

    .. math::
        g_t(x, y) &= (y - \cos x)^2, \qquad f_t(x, y) = \tfrac12 a_t (x - 1)^2 + w_t\,y \\
        a_t &= 1 + \tfrac12 \sin t, \quad b_t = 1 + \sin\tfrac t2, \quad c_t = 10\,b_t, \qquad
        w_t = b_t \text{ (smooth)}, \; c_t \text{ (rapid)}

    on X = [-pi, pi], Y = R. In closed form,

    .. math::
        y_t^*(x) = \cos x, \quad v_t^*(x) = -\tfrac12 w_t, \quad
        \nabla F_t(x) = a_t(x - 1) - w_t \sin x, \quad F_t(x) = \tfrac12 a_t (x - 1)^2 + w_t \cos x

    F_t is not convex; its minimisers move by a step of order 1 within a round where w_t = c_t. A mini-batch of f_t adds
    normal noise of deviation ``sampling_noise`` / sqrt(b) to w_t; one of g_t adds so to cos x, with b'.

    Notes
    -----
    The paper prints g_t, a_t, b_t and c_t, but not f_t, which is ours: chosen with these three sequences and closed
    forms.

    References
    ----------
    Paper sogd, Fig. 1.
    """

    title = "Toy online bilevel"
    closed_form = True
    order = 21
    n = 1

    variant: param.Selector[str] = param.Selector(
        default="smooth", objects=["smooth", "rapid"], label="Variant", doc="smooth: w_t = b_t. rapid: w_t = 10 b_t."
    )
    sampling_noise = param.Number(
        default=0.1,
        bounds=(0, 1e3),
        softbounds=(0, 1),
        label="Sampling noise σ",
        doc="Standard deviation of one sample's noise.",
    )

    @property
    def domain(self) -> Box:
        """The leader's interval [-pi, pi]."""
        return Box(-np.pi, np.pi)

    @property
    def inner_domain(self) -> Box:
        """The follower's set R."""
        return Box.free(1)

    @property
    def bilevel_constants(self) -> BilevelConstants:
        """The constants L_g = mu_g = 2, L_F = max a_t + max w_t, p = max w_t / 2."""
        largest = 2.0 if self.variant == "smooth" else 20.0
        return BilevelConstants(2.0, 2.0, 1.5 + largest, 0.5 * largest)

    def weights(self, t: int) -> tuple[float, float]:
        """Return the weights a_t and w_t of round t."""
        b = 1.0 + float(np.sin(0.5 * t))
        return 1.0 + 0.5 * float(np.sin(t)), b if self.variant == "smooth" else 10.0 * b

    def draw(
        self, iteration: int, streams: Streams, shape: tuple[int, ...] = (), size: int | tuple[int, ...] = 1
    ) -> Sample:
        """Draw round ``iteration``: a mini-batch of f_t and one of g_t."""
        if self.noise == "deterministic":
            return self._sample(iteration, np.zeros((streams.replicas, 2)))
        sizes = np.array(size if isinstance(size, tuple) else (size, size), dtype=float)
        return self._sample(iteration, self.sampling_noise * streams.normal("xi", 2) / np.sqrt(sizes))

    def _sample(self, t: int, noise: Array) -> Sample:
        a, w = self.weights(t)
        return Sample(t=t, a=a, w=w + noise[:, 0], shift=noise[:, 1])

    def exact(self, xi: Sample) -> Sample:
        return self._sample(xi.t, np.zeros((len(xi.w), 2)))

    def outer(self, x: Array, y: Array, xi: Sample) -> Array:
        return 0.5 * xi.a * np.square(x[..., 0] - 1.0) + _like(xi.w, x)[..., 0] * y[..., 0]

    def inner(self, x: Array, y: Array, xi: Sample) -> Array:
        return np.square(self._lag(x, y, xi))[..., 0]

    def outer_gradients(self, x: Array, y: Array, xi: Sample) -> tuple[Array, Array]:
        """Return a_t (x - 1) and w_t, (R, ..., 1) each, the gradients of f_t."""
        return xi.a * (x - 1.0), np.broadcast_to(_like(xi.w, x), y.shape)

    def inner_gradient(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return 2 (y - cos x), the gradient of g_t in y, (R, ..., 1)."""
        return 2.0 * self._lag(x, y, xi)

    def inner_hessian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        return 2.0 * v

    def inner_jacobian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return 2 v sin x, the derivative in x of <grad_y g_t, v>, (R, ..., 1)."""
        return 2.0 * v * np.sin(x)

    def solution(self, x: Array, xi: Sample) -> tuple[Array, Array]:
        """Return y* = cos x and v* = -w_t / 2, (R, 1) each."""
        return np.cos(x), np.full_like(x, -0.5 * self.weights(0 if xi is None else xi.t)[1])

    def evaluate(self, x: Array, xi: Sample | None = None) -> Evaluation:
        """Return F_t(x) (R, ...) of the sample's round without sampling noise; of round 0 without a sample."""
        a, w = self.weights(0 if xi is None else xi.t)
        value = 0.5 * a * np.square(x[..., 0] - 1.0) + w * np.cos(x[..., 0])
        return Evaluation(value, np.zeros((*x.shape[:-1], 0)))

    def _lag(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return y - cos x - noise, (R, ...)."""
        return y - np.cos(x) - _like(xi.shift, x)


def _like(values: Array, points: Array) -> Array:
    """Reshape a sample's array (R,) to broadcast against points (R, ..., n)."""
    return values.reshape(len(values), *[1] * (points.ndim - 1))
