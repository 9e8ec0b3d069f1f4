"""Projected stochastic gradient descent on the problem with its equations eliminated: a baseline."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.sets import Box, Set
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants
from zoviz.oracle import FirstOrder, Oracle
from zoviz.problems.base import Problem
from zoviz.problems.linear import LinearlyConstrained
from zoviz.solvers.linear.base import LinearMethod, Views
from zoviz.solvers.theory import Info

_CONSISTENT = 1e-9
"""Share of A and b that may stay, by round-off, when the free variables solve the equations."""


class Elimination(NamedTuple):
    """The equations A x = b solved for the variables without bounds.

    Attributes
    ----------
    inverse : Array, shape (n, p)
        Pseudo-inverse of A_F, the columns of A that belong to them; 0 in the rows of the other variables.
    matrix, offset : Array, shapes (p, n) and (p,)
    """

    inverse: Array
    matrix: Array
    offset: Array

    def restore(self, x: Array) -> Array:
        """Return x (R, n) with its free variables moved, as little as possible, so that A x = b."""
        return x - (x @ self.matrix.T - self.offset) @ self.inverse.T


def eliminate(matrix: Array, offset: Array, domain: Box) -> Elimination | None:
    """Solve equations A (p, n), b (p,) for the variables without bounds; None where these do not suffice."""
    free = np.isinf(domain.lower) & np.isinf(domain.upper)
    if not free.any():
        return None
    inverse = np.zeros(matrix.T.shape)
    inverse[free] = np.linalg.pinv(matrix[:, free])
    whole = np.concatenate([matrix, offset[:, None]], axis=1)
    rest = whole - (matrix @ inverse) @ whole
    if np.linalg.norm(rest) > _CONSISTENT * np.linalg.norm(whole):
        return None
    return Elimination(inverse, matrix, offset)


def eliminated(matrix: Array, offset: Array, domain: Set) -> Elimination:
    """Return the equations A x = b, A (p, n) and b (p,), solved for the variables without bounds.

    Raises
    ------
    ZovizError
        Where these do not suffice.
    """
    elimination = eliminate(matrix, offset, Box.of(domain))
    if elimination is None:
        raise ZovizError(
            "Expected equations that the variables without bounds solve, got others: choose another solver."
        )
    return elimination


class _Eliminated(NamedTuple):
    point: Array
    dual: Array
    elimination: tuple[Array, Array, Array]  # of ``Elimination``; a plain tuple, as its arrays have no replica axis
    iteration: int
    n: int


class Eliminated(Views, _Eliminated):
    """Iterate, multipliers of the rows, the solved equations, iteration, number of variables."""

    __slots__ = ()


class EliminatedSGD(LinearMethod):
    r"""A method of projected stochastic gradient steps in the variables that the equations leave.

    .. math::
        y = -(A_F^+)^\top \nabla_F f(x^t, \xi), \qquad
        x_C^{t+1} = \Pi_{X_C}\big(x_C^t - \tau\,[\nabla_C f + A_C^\top y]\big), \qquad
        x_F^{t+1} = x_F^t - \tau\,[\nabla_F f + A_F^\top y] + A_F^+ A_C (x_C^t - x_C^{t+1})

    where F are the variables without bounds and C the others: the variables are x_C and the part of x_F in the null
    space of A_F. Every iterate satisfies A x = b. One stochastic gradient per iteration (k + 1 calls in the
    zeroth-order form, which is ours). Without bounds at all it is SGD projected on {A x = b}.

    References
    ----------
    Nocedal and Wright (2006), Numerical Optimization, §15.3, for the elimination.
    """

    title = "Eliminated SGD"
    takes_samples = False

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return why the method cannot run: it needs equations that the variables without bounds can solve."""
        reason = super().unsupported_reason(problem)
        if reason is not None:
            return reason
        linear = LinearlyConstrained.of(problem)
        if not linear.equations:
            return f"{self.title} eliminates equations, and the rows are inequalities: choose another solver."
        if not isinstance(linear.domain, Box) or eliminate(*linear.matrix(), linear.domain) is None:
            return f"{self.title} solves the equations for variables without bounds, which do not suffice here."
        return None

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return tau = c / [2 L_f (1 + ||A_F^+ A_C||^2)], c by ``scale``; ours."""
        basis = eliminated(*LinearlyConstrained.of(problem).matrix(), problem.domain)
        bounded = basis.matrix[:, ~basis.inverse.any(axis=1)]
        square = np.linalg.eigvals(basis.inverse.T @ basis.inverse @ (bounded @ bounded.T)).real.max(initial=0.0)
        step = self.scale(problem, 0.5) / (2.0 * constants.curvature * (1.0 + float(square)))
        return {"primal_step": step, "estimator.smoothing_radius": self.radius(problem, constants)}

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> Eliminated:
        """Return the state at x0 (R, n), moved on {A x = b}; no call."""
        first = FirstOrder(oracle)
        basis = eliminated(*first.matrix(), oracle.domain)
        parts = basis.inverse, basis.matrix, basis.offset
        return Eliminated(basis.restore(x0), np.zeros((len(x0), first.rows)), parts, 0, oracle.n)

    def step(self, state: Eliminated, oracle: Oracle, streams: Streams) -> tuple[Eliminated, Info]:
        """Take one projected step, then move back on the equations."""
        first, x, solved = FirstOrder(oracle), state.x, Elimination(*state.elimination)
        oracle.resample(self.batch_size)
        gradient, variance = self.gradient(first, x, oracle, streams)
        dual = -gradient @ solved.inverse
        moved = oracle.domain.project(x - self.primal_step * (gradient + first.adjoint(dual)))
        new = Eliminated(solved.restore(moved), dual, state.elimination, state.iteration + 1, state.n)
        return new, self.info(x, variance, oracle)
