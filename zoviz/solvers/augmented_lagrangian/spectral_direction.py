"""Descent directions on a box from the gradients of the last iterates: Barzilai–Borwein lengths and their memory."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array

_CURVED = 1e-10
"""Least cosine between a step and its change of the gradient from which they tell a curvature."""


def spectral_direction(
    points: Array, gradients: Array, lower: Array, upper: Array, first: float, reach: float, memory: int
) -> Array:
    r"""Return a feasible direction d (n,) at the last point, x + d in the box.

    With s = x^k - x^{k-1} and r = g^k - g^{k-1} the spectral direction is

    .. math:: d = \Pi_X(x - \lambda g) - x, \qquad \lambda = \frac{s^\top s}{s^\top r}

    and with a memory of more pairs lambda g becomes H g, H the limited-memory BFGS matrix of those pairs that begins at
    lambda I, over the variables that no bound holds.

    Parameters
    ----------
    points, gradients : Array, shape (k, n)
        The last iterates and the gradients there, oldest first.
    lower, upper : Array, shape (n,)
    first : float
        lambda, where no pair tells a curvature.
    reach : float
        Largest component of the step.
    memory : int
        Pairs in H; 0 for the spectral direction.

    References
    ----------
    Birgin, Martínez, Raydan (2000), Nonmonotone spectral projected gradient methods on convex sets; Bertsekas (1982),
    Projected Newton methods, for the variables that are held; Nocedal (1980) for the memory.
    """
    x, gradient = points[-1], gradients[-1]
    at_bound = ((x <= lower) & (gradient > 0)) | ((x >= upper) & (gradient < 0))
    steps, changes = np.diff(points, axis=0), np.diff(gradients, axis=0)
    steps, changes = np.where(at_bound, 0.0, steps), np.where(at_bound, 0.0, changes)
    products = np.einsum("ki,ki->k", steps, changes)
    sizes = np.sqrt(np.square(steps).sum(axis=1) * np.square(changes).sum(axis=1))
    good = np.flatnonzero(products > _CURVED * np.maximum(sizes, 1e-300))
    length = first
    if good.size:
        length = np.square(steps[good[-1]]).sum() / products[good[-1]]
    free = np.where(at_bound, 0.0, gradient)
    direction = -_two_loops(free, steps[good], changes[good], products[good], length, memory)
    for candidate in (np.where(at_bound, 0.0, direction), -length * gradient):
        size = np.abs(candidate).max(initial=0.0)
        short = candidate * min(1.0, reach / size) if size > 0 else candidate
        move = np.minimum(np.maximum(x + short, lower), upper) - x
        if np.isfinite(move).all() and gradient @ move < 0:
            return move
    return np.zeros_like(x)


def _two_loops(gradient: Array, steps: Array, changes: Array, products: Array, length: float, memory: int) -> Array:
    """Return H g by the two loops over the newest pairs; ``length`` is Barzilai and Borwein's."""
    pairs = range(max(0, len(products) - memory), len(products))
    q, weights = gradient.copy(), np.zeros(len(products))
    for i in reversed(pairs):
        weights[i] = steps[i] @ q / products[i]
        q -= weights[i] * changes[i]
    if pairs:
        length = products[-1] / np.square(changes[-1]).sum()
    q *= length
    for i in pairs:
        q += (weights[i] - changes[i] @ q / products[i]) * steps[i]
    return q
