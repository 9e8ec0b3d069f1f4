"""Online bilevel problems: a follower's problem inside a leader's, both new in every round."""

from __future__ import annotations

from typing import Any, ClassVar

from zoviz.problems.base import Problem
from zoviz.sets import Set
from zoviz.types import Array


class OnlineBilevel(Problem):
    r"""Rounds t = 1, 2, ...: play (x_t, y_t), then f_t and g_t are revealed through samples.

    .. math:: \min_{x \in X} f_t(x, y_t^*(x)), \qquad y_t^*(x) = \arg\min_{y \in Y} g_t(x, y), \quad g_t(x, \cdot)
        \text{ strongly convex}

    The oracle's sample is a round's data: what ``draw`` returns for it, mini-batches of both levels included. Every
    method below takes it last; x is (R, ..., n), y and v are (R, ..., d) with d = ``inner_domain.n``.

    A subclass provides ``domain``, ``inner_domain``, ``draw`` and ``outer``, ``inner``; for first-order methods the
    derivatives too; and ``solution`` where y* is known.
    """

    __abstract = True

    form: ClassVar[str] = "online bilevel"
    stochastic: ClassVar[bool] = True
    m = 0

    inner_domain: Set
    """Y, the follower's variables."""

    def outer(self, x: Array, y: Array, xi: Any) -> Array:
        """f_t(x, y), mean over the round's batch, shape (R, ...)."""
        raise NotImplementedError(f"{type(self).__name__} must define outer(x, y, xi).")

    def inner(self, x: Array, y: Array, xi: Any) -> Array:
        """g_t(x, y), mean over the round's batch, shape (R, ...)."""
        raise NotImplementedError(f"{type(self).__name__} must define inner(x, y, xi).")

    def outer_gradients(self, x: Array, y: Array, xi: Any) -> tuple[Array, Array]:
        """Gradients of f_t in x (R, ..., n) and in y (R, ..., d)."""
        raise NotImplementedError(f"{type(self).__name__} has values only: choose a zeroth-order method.")

    def inner_gradient(self, x: Array, y: Array, xi: Any) -> Array:
        """Gradient of g_t in y, (R, ..., d)."""
        raise NotImplementedError(f"{type(self).__name__} has values only: choose a zeroth-order method.")

    def inner_hessian_vector(self, x: Array, y: Array, v: Array, xi: Any) -> Array:
        """Second derivative of g_t in y, times v: (R, ..., d)."""
        raise NotImplementedError(f"{type(self).__name__} has values only: choose a zeroth-order method.")

    def inner_jacobian_vector(self, x: Array, y: Array, v: Array, xi: Any) -> Array:
        """Mixed derivative of g_t, of its gradient in y along v with respect to x: (R, ..., n)."""
        raise NotImplementedError(f"{type(self).__name__} has values only: choose a zeroth-order method.")

    def solution(self, x: Array, xi: Any) -> tuple[Array, Array] | None:
        """y* (R, d) and v* (R, d) of the round without sampling noise, off the books; None where they are unknown."""
        return None
