"""The oracle of online bilevel problems: values and derivatives of both levels, charged to a run's oracle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from zoviz.core.sets import Set
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.oracle.derived import DerivedOracle
from zoviz.oracle.oracle import Oracle
from zoviz.oracle.samples import XI, ZETA
from zoviz.problems.bilevel import OnlineBilevel


class BilevelOracle:
    """The view that a bilevel method has of an ``OnlineBilevel`` problem: the present or a past round's functions.

    Points are (R, ..., n) and (R, ..., d), v as y. Every value, gradient (of f in x and y at once; of g in y) and
    product costs one call a point, counted by its kind; samples count when they are first asked, f's as xi and g's as
    zeta, not again when a past round is. Frozen replicas are not asked, and NaN.

    A value that is not finite is counted as a failure; at a replica's own point, where there are no others to go on
    with, it freezes the replica, as does a derivative.

    Parameters
    ----------
    oracle : Oracle
    sample : object, optional
        A round's sample that was kept; default: the oracle's present one.
    member : int, optional
        The place in the mini-batches of the one sample of f and of g that is seen; default: all.
    """

    def __init__(self, oracle: Oracle, sample: Any = None, member: int | None = None) -> None:
        problem = OnlineBilevel.of(oracle.problem)
        self._oracle, self._problem, self._sample, self._member = oracle, problem, sample, member
        self.domain: Set = oracle.domain
        self.inner_domain: Set = problem.inner_domain

    @property
    def sample(self) -> Any:
        """The data of the present round, with which ``at`` evaluates that round again later."""
        return self._oracle.sample if self._sample is None else self._sample

    def at(self, sample: Any) -> BilevelOracle:
        """Return the functions of a past round."""
        return BilevelOracle(self._oracle, sample)

    def member(self, i: int) -> BilevelOracle:
        """Return the functions of the i-th samples of the round's mini-batches; without noise all are the round's."""
        whole = self._oracle.contract == "deterministic"
        return BilevelOracle(self._oracle, self._sample, None if whole else i)

    def initial(self, streams: Streams) -> Array:
        """Return the follower's start, (R, d)."""
        return self._problem.initial_inner(streams)

    def outer(self, x: Array, y: Array) -> Array:
        """Return the leader's f_t(x, y), (R, ...), by a call for each point."""
        return self._ask("f value", self._problem.outer, (x.shape[:-1],), x, y)[0]

    def inner(self, x: Array, y: Array) -> Array:
        """Return the follower's g_t(x, y), (R, ...), by a call for each point."""
        return self._ask("g value", self._problem.inner, (x.shape[:-1],), x, y)[0]

    def outer_gradients(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Return the gradients of f_t in x (R, n) and in y (R, d)."""
        of_x, of_y = self._ask("f gradient", self._problem.outer_gradients, (x.shape, y.shape), x, y)
        return of_x, of_y

    def inner_gradient(self, x: Array, y: Array) -> Array:
        """Return the gradient of g_t in y, (R, d)."""
        return self._ask("g gradient", self._problem.inner_gradient, (y.shape,), x, y)[0]

    def hessian_vector(self, x: Array, y: Array, v: Array) -> Array:
        """Return the second derivative of g_t in y times v, (R, d)."""
        return self._ask("g Hessian-vector", self._problem.inner_hessian_vector, (y.shape,), x, y, v)[0]

    def jacobian_vector(self, x: Array, y: Array, v: Array) -> Array:
        """Return the derivative in x of <grad_y g_t, v>, (R, n)."""
        return self._ask("g Jacobian-vector", self._problem.inner_jacobian_vector, (x.shape,), x, y, v)[0]

    def view(self, evaluate: Callable[[Array], Array]) -> DerivedOracle:
        """An oracle of one scalar for a gradient estimator: ``evaluate`` maps points to (R, ...) through this view."""

        def joint(points: Array) -> Evaluation:
            return Evaluation(evaluate(points), np.empty((*points.shape[:-1], 0)))

        return DerivedOracle(self._oracle, joint)

    def _ask(
        self, kind: str, method: Callable[..., Any], shapes: tuple[tuple[int, ...], ...], *places: Array
    ) -> tuple[Array, ...]:
        problem, member = self._problem, self._member

        def asked(*arguments: Any) -> Any:
            *points, xi = arguments
            return method(*points, xi if member is None else problem.member(xi, member))

        return self._oracle.ask(kind, asked, shapes, places, self.sample, ZETA if kind.startswith("g ") else XI)
