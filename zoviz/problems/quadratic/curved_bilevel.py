"""An online bilevel problem with solutions in closed form whose follower is not quadratic."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Sample
from zoviz.problems.bilevel import BilevelConstants
from zoviz.problems.margin_losses import expit
from zoviz.problems.quadratic.quadratic_bilevel import QuadraticBilevel, along

_SHIFT = 1.0
"""Where the softplus's bend lies: the third derivative at the solution is not 0, so that smoothing has a bias there."""
_STEEPEST = 0.25
"""Largest slope of the logistic function."""


class CurvedBilevel(QuadraticBilevel):
    r"""A quadratic leader, and a follower that is strongly convex, not quadratic, and not symmetric at its solution.

    .. math::
        f_t(x, y) &= \tfrac12\|y - a_t\|^2 + \tfrac12 x^\top Q x - q_t^\top x \\
        g_t(x, y) &= \sum_j h_j\,\varphi(u_j), \quad u = y - Bx - c_t, \qquad
        \varphi(u) = \tfrac12 u^2 + \omega\,[\log(1 + e^{u + 1}) - s(1)\,u]

    with s the logistic function and omega = 4, so that phi'(0) = 0, phi'' lies in [1, 2], and, in closed form,

    .. math::
        y_t^*(x) = Bx + c_t, \quad v_t^*(x) = -D^{-1}(y_t^*(x) - a_t), \quad D = \mathrm{diag}(h)\,\varphi''(0), \quad
        \nabla F_t(x) = Qx - q_t + B^\top(y_t^*(x) - a_t)

    h is evenly spaced in [1, ``conditioning``]; Q, B, the drifting a_t, c_t, q_t and the phases are those of
    ``QuadraticBilevel``. Central differences of g of a radius rho have a bias of order rho^2, which they have not where
    f and g are quadratic.

    A mini-batch of f_t shifts a_t and q_t as there; one of g_t adds a linear term in y, and multiplies the sum, and Bx
    in a linear term, by 1 + such a number each: gradients and products of a batch have the exact ones as their means.

    References
    ----------
    Ours, for paper sogd, Theorem 4.2: its Example B.11 is quadratic, as its text says.
    """

    title = "Curved online bilevel"
    order = 22

    @property
    def leader_gradient_doubt(self) -> str:
        """Why the gradient of f_t in x alone does not suffice: it lacks B'(y_t* - a_t), which is not small."""
        return "it leaves out B'(y* - a), which is about as large where Qx = q as the whole gradient at a start"

    @property
    def weights(self) -> Array:
        """The weights h of the coordinates, (d,)."""
        weights: Array = self.data.eigenvalues
        return weights

    @property
    def bilevel_constants(self) -> BilevelConstants:
        """Bounds: phi'' in [1, 2], and L_F of the leader's exact Hessian Q + B'B."""
        coupling, bowl = self.data.coupling, self.data.bowl
        reach = np.linalg.norm(coupling, 2) * self.half_width * np.sqrt(self.n)
        size = (reach + 6.0 * np.sqrt(self.d) * (1.0 + self.drift_size)) / _bend(np.zeros(1))[0]
        largest = float(np.linalg.norm(bowl + coupling.T @ coupling, 2))
        return BilevelConstants(2.0 * self.conditioning, 1.0, largest, float(size))

    def inner(self, x: Array, y: Array, xi: Sample) -> Array:
        u, bend, tilt = self._parts(x, y, xi)
        value = 0.5 * np.square(u) + (np.logaddexp(0.0, u + _SHIFT) - expit(np.array(_SHIFT)) * u) / _STEEPEST
        return bend[..., 0] * (self.weights * value).sum(axis=-1) - (tilt * y).sum(axis=-1)

    def inner_gradient(self, x: Array, y: Array, xi: Sample) -> Array:
        """Return h phi'(u), the gradient of g_t in y, (R, ..., d)."""
        u, bend, tilt = self._parts(x, y, xi)
        return bend * self.weights * (u + (expit(u + _SHIFT) - expit(np.array(_SHIFT))) / _STEEPEST) - tilt

    def inner_hessian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return h phi''(u) v, the second derivative of g_t in y times v, (R, ..., d)."""
        u, bend, _ = self._parts(x, y, xi)
        return bend * self.weights * _bend(u) * v

    def inner_jacobian_vector(self, x: Array, y: Array, v: Array, xi: Sample) -> Array:
        """Return -B'(h phi''(u) v), the derivative in x of <grad_y g_t, v>, (R, ..., n)."""
        extra = (along(xi.pull, v) - 1.0) * v
        return -(self.inner_hessian_vector(x, y, v, xi) + extra) @ self.data.coupling

    def solution(self, x: Array, xi: Sample | None) -> tuple[Array, Array]:
        """Return y* and v* of the sample's round, of the shape of y, in closed form."""
        a, c, _ = np.split(self.vectors(0 if xi is None else xi.t), [self.d, 2 * self.d])
        y = x @ self.data.coupling.T + c
        return y, -(y - a) / (self.weights * _bend(np.zeros(1)))

    def _parts(self, x: Array, y: Array, xi: Sample) -> tuple[Array, Array, Array]:
        """Return u (R, ..., d), the factor (R, ..., 1) of the sum, and the linear term (R, ..., d) of the sample."""
        c = self.vectors(xi.t)[y.shape[-1] : 2 * y.shape[-1]]
        forward = x @ self.data.coupling.T
        tilt = along(xi.c, y) - c + (along(xi.pull, y) - 1.0) * forward
        return y - forward - c, along(xi.bend, y), tilt


def _bend(u: Array) -> Array:
    """Return phi''(u), in [1, 2]."""
    slope = expit(u + _SHIFT)
    return 1.0 + slope * (1.0 - slope) / _STEEPEST
