"""The base class of engineering design problems: a box, and a published solution that Newton's method makes exact."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import ClassVar

import numpy as np
import param

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Optimum
from zoviz.problems.base import Problem


class DesignProblem(Problem):
    """A smooth problem in a box, whose best known solution is published.

    Notes
    -----
    ``known_optimum`` is the published point after Newton's method on its Karush-Kuhn-Tucker conditions, which adds
    the digits that were not printed, and the multipliers. That no point is better is what many authors found, not a
    proof.
    """

    __abstract = True

    scaled = param.Boolean(default=True)

    convex_constraints: ClassVar[bool | None] = False
    n: ClassVar[int]
    """Number of variables."""
    lower: ClassVar[tuple[float, ...]]
    """Lower ends of the box."""
    upper: ClassVar[tuple[float, ...]]
    """Upper ends of the box."""
    start: ClassVar[tuple[tuple[float, ...], tuple[float, ...]] | None] = None
    """Ends of the part of the box that x0 is uniform in; None: all of it."""
    published_point: ClassVar[tuple[float, ...]]
    """Best known point as printed; a coordinate on a bound stays there."""
    published_value: ClassVar[float]
    """The objective as printed in the publication."""
    active: ClassVar[tuple[int, ...]]
    """Constraints that are active there, counted from 0."""

    @cached_property
    def domain(self) -> Box:
        """The box of the published formulation."""
        return Box(self.lower, self.upper)

    def initial(self, streams: Streams) -> Array:
        """Return starts uniform in the box ``start``, as the publications draw their populations, (R, n)."""
        low, high = (np.array(ends) for ends in self.start or (self.lower, self.upper))
        return low + (high - low) * streams.uniform("x0", self.n)

    @cached_property
    def known_optimum(self) -> Optimum:
        """The best known solution, to machine precision, with its multipliers."""
        return kkt_point(self, self.published_point, self.active)


def stacked(x: Array, *rows: Sequence[Array | float]) -> Array:
    """Stack rows of partial derivatives, arrays or constants, as one array (..., rows, n)."""
    return np.stack([column(x, row) for row in rows], axis=-2)


def column(x: Array, parts: Sequence[Array | float]) -> Array:
    """Stack numbers or arrays of shape x.shape[:-1] along a new last axis, (..., parts)."""
    return np.stack([np.broadcast_to(part, x.shape[:-1]) for part in parts], axis=-1)


def kkt_point(problem: DesignProblem, guess: Sequence[float], active: Sequence[int], iterations: int = 12) -> Optimum:
    """Find the Karush-Kuhn-Tucker point near ``guess`` (n,) with the given active constraints.

    Newton's method on grad L = 0 and h_active = 0 in the coordinates that are not on a bound, the Hessian by central
    differences of the exact gradients.

    Parameters
    ----------
    problem : DesignProblem
        With exact gradients.
    guess : sequence of n float
        No coordinate may be 0.
    active : sequence of int
    iterations : int
    """
    x, active, box = np.array(guess, dtype=float), list(active), problem.domain
    free = np.flatnonzero((x > box.lower) & (x < box.upper))
    slope, jacobian = _slopes(problem, x, active)
    # Not from 0: where f is linear, the matrix below would be singular.
    y = np.asarray(np.linalg.lstsq(jacobian[:, free].T, -slope[free], rcond=None)[0], dtype=float)
    for _ in range(iterations):
        slope, jacobian = _slopes(problem, x, active)
        jacobian = jacobian[:, free]
        steps = np.diag(1e-6 * x)[free]
        ahead, behind = (_lagrangian_slope(problem, x + sign * steps, y, active)[:, free] for sign in (1.0, -1.0))
        hessian = (ahead - behind) / (2.0 * np.diag(steps[:, free])[:, None])
        matrix = np.block([[0.5 * (hessian + hessian.T), jacobian.T], [jacobian, np.zeros((len(active),) * 2)]])
        right = -np.concatenate([slope[free], problem.evaluate(x).h[active]])
        move = np.linalg.solve(matrix, right)
        x[free] += move[: len(free)]
        y = move[len(free) :]
    multipliers = np.zeros(problem.m)
    multipliers[active] = y
    source = "published best known point, made exact by Newton's method on its KKT conditions"
    return Optimum(float(problem.evaluate(x).f), x, multipliers, source)


def _slopes(problem: Problem, x: Array, active: list[int]) -> tuple[Array, Array]:
    gradients = problem.gradient(x)
    if gradients is None:
        raise TypeError(f"Expected exact gradients, got none: {type(problem).__name__} must define gradient(x).")
    return gradients[0], gradients[1][..., active, :]


def _lagrangian_slope(problem: Problem, x: Array, y: Array, active: list[int]) -> Array:
    slope, jacobian = _slopes(problem, x, active)
    return slope + np.einsum("j,...ji->...i", y, jacobian)
