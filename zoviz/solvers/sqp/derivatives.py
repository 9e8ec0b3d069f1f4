"""Derivatives without noise: difference quotients, the roughness that spoils them, and the update of the Hessian."""

from __future__ import annotations

from math import factorial
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp.situation import Space

_ROUND_OFF = 1e-3
"""Steps are relative to this share of |x_i| where s_i is even smaller: x itself is rounded."""
_LEAST = 1e-14
"""A guard against steps of length 0 where an interval is tiny."""
_DAMPING, _DAMPED_SHARE = 0.2, 0.8
"""Powell's damping: curvature below a fifth of the model's is raised to a fifth."""
_SMALLEST, _LARGEST = 1e-4, 1e4
"""Limits of the first scaling."""
_SHARE = 0.1
"""Of the first curvature along a step that is taken for all directions (of 0.03 to 1, on problems of two test sets)."""
_SHORT, _HUGE = 1e-20, 1e12
_ALIKE, _NOISE = 1e-5, 1e-8
"""Slopes that differ by no more than these shares, of themselves and of the output's steepest, are alike: round-off."""
_AGREEMENT = 4.0
"""Estimates from differences of successive orders agree within this factor, where they show noise (Moré and Wild)."""


class Offsets(NamedTuple):
    """Steps along every coordinate: one (n,), and a second (n,) for three-point formulas, of the other sign or twice.

    ``second`` is empty for two-point formulas.
    """

    first: Array
    second: Array


def offsets(x: Array, space: Space, relative: Array, central: bool) -> Offsets:
    """Return difference steps along every coordinate of x that stay in the box.

    Parameters
    ----------
    x : Array, shape (n,)
    space : Space
    relative : Array, shape (n,)
        Steps relative to max(|x_i|, s_i).
    central : bool
        Whether to take two steps per coordinate: one to each side, or two to the same one near a bound.
    """
    with np.errstate(over="ignore"):
        width = space.upper - space.lower
    size = relative * np.maximum(_ROUND_OFF * np.abs(x), space.scale)
    size = np.minimum(size, np.where(np.isfinite(width), np.maximum(width / 4.0, _LEAST), np.inf))
    first = np.where(x + size <= space.upper, size, -size)
    if not central:
        return Offsets(first, np.empty(0))
    both = (x + size <= space.upper) & (x - size >= space.lower)
    return Offsets(first, np.where(both, -size, 2.0 * first))


def points(x: Array, steps: Offsets, space: Space) -> Array:
    """Return the points (n, n) or (2 n, n) at which differences around x (n,) take their values."""
    probes = [x + np.diag(steps.first)] + ([x + np.diag(steps.second)] if len(steps.second) else [])
    return space.clip(np.concatenate(probes))


def mirror_points(x: Array, steps: Offsets, missing: np.ndarray, space: Space) -> Array:
    """Return the points (k, n) on the other side of x (n,) along the k coordinates of the mask ``missing`` (n,)."""
    return space.clip(x - np.diag(steps.first)[missing])


@np.errstate(all="ignore")  # quotients of values that are not finite are missing, not wrong
def quotients(base: Array, values: Array, steps: Offsets) -> Array:
    """Return the difference quotients (n, 1 + m) of all outputs along the coordinates; not finite where a value is not.

    Parameters
    ----------
    base : Array, shape (1 + m,)
    values : Array, shape (q, 1 + m)
        At ``points``.
    steps : Offsets
    """
    n = len(steps.first)
    one = (values[:n] - base) / steps.first[:, None]
    if not len(steps.second):
        return one
    other = (values[n:] - base) / steps.second[:, None]
    span = steps.second - steps.first
    return (one * steps.second[:, None] - other * steps.first[:, None]) / span[:, None]


@np.errstate(all="ignore")
def curvatures(base: Array, values: Array, steps: Offsets) -> Array:
    """Return the second derivatives of all outputs along the coordinates, (n, 1 + m), from three-point formulas."""
    n = len(steps.first)
    one = (values[:n] - base) / steps.first[:, None]
    other = (values[n:] - base) / steps.second[:, None]
    return 2.0 * (one - other) / (steps.first - steps.second)[:, None]


@np.errstate(all="ignore")
def complete(derivatives: Array, missing: np.ndarray, base: Array, values: Array, steps: Offsets) -> Array:
    """Return derivatives (n, 1 + m) whose missing rows come from values (k, 1 + m) at ``mirror_points``; else 0."""
    derivatives = derivatives.copy()
    derivatives[missing] = (base - values) / steps.first[missing, None]
    return np.where(np.isfinite(derivatives), derivatives, 0.0)


def alike(before: Array, after: Array) -> np.ndarray:
    """Return the variables (n,) along which no output's slope has changed, from slopes (n, 1 + m) at two points.

    Slopes are those in scaled variables.
    """
    size = np.maximum(np.abs(before), np.abs(after))
    return np.asarray((np.abs(after - before) <= _ALIKE * size + _NOISE * size.max(axis=0)).all(axis=1))


def update_hessian(hessian: Array, step: Array, change: Array, first: bool) -> Array:
    """Return a Hessian after the damped BFGS update for one step; empty (0, 0) where it has to begin anew.

    Parameters
    ----------
    hessian : Array, shape (n, n)
    step, change : Array, shape (n,)
        The changes of the point and of the Lagrangian's gradient.
    first : bool
        Whether the Hessian is still the multiple of the identity that it began as: it is then scaled to a tenth of
        s'y / s's, the curvature along the step, before the update. First steps lead where f is steep, and curvature is
        large: all of it shortens steps in every other direction, and y'y / s'y (Shanno and Phua, 1978) even more.

    References
    ----------
    Powell (1978), A fast algorithm for nonlinearly constrained optimization calculations.
    """
    curvature = float(step @ change)
    if first and curvature > _SHORT:
        hessian = np.eye(len(step)) * np.clip(_SHARE * curvature / (step @ step), _SMALLEST, _LARGEST)
    along = hessian @ step
    present = float(step @ along)
    if not present > _SHORT:
        return hessian
    weight = 1.0 if curvature >= _DAMPING * present else _DAMPED_SHARE * present / (present - curvature)
    mixture = weight * change + (1.0 - weight) * along
    hessian = hessian - np.outer(along, along) / present + np.outer(mixture, mixture) / (step @ mixture)
    hessian = (hessian + hessian.T) / 2.0
    if not np.isfinite(hessian).all() or np.abs(hessian).max() > _HUGE:
        return np.empty((0, 0))
    return hessian


def line_points(x: Array, space: Space, generator: np.random.Generator, spacing: float) -> Array:
    """Return a number of points (q, n), equally spaced from x (n,) on, in a random direction into the box."""
    c = space.constants
    signs = np.where(generator.random(space.n) < 0.5, -1.0, 1.0)
    reach = c.line_calls * spacing * space.scale
    signs = np.where(x + reach > space.upper, -1.0, np.where(x - reach < space.lower, 1.0, signs))
    direction = signs * generator.uniform(0.5, 1.0, space.n) * spacing * space.scale
    return space.clip(x + np.arange(1, c.line_calls + 1)[:, None] * direction)


def dithered(points: Array, space: Space, generator: np.random.Generator) -> Array:
    """Return points (q, n) moved at random within the line's spacing: calls at one point then see noise."""
    c = space.constants
    return space.clip(points + c.line_spacing * space.scale * generator.uniform(-1.0, 1.0, points.shape))


@np.errstate(all="ignore")
def noise_level(values: Array) -> Array:
    r"""Return the standard deviation of what is rough in functions along a line; 0 where nothing is known.

    .. math:: \sigma_k^2 = \frac{(k!)^2}{(2k)!}\, \mathrm{mean}\, (\Delta^k f)^2

    The first of three successive orders k that agree, and whose differences change sign, gives the level: those of a
    smooth function still fall.

    Parameters
    ----------
    values : Array, shape (q, m)
        Values of m functions at q equally spaced points; a function that is not finite is not judged.

    Returns
    -------
    Array, shape (m,)

    References
    ----------
    Moré and Wild (2011), Estimating computational noise, SIAM Journal on Scientific Computing 33, 1292-1314.
    """
    orders = range(1, len(values))
    differences = [np.diff(values, order, axis=0) for order in orders]
    levels = np.array(
        [
            np.sqrt(factorial(k) ** 2 / factorial(2 * k) * np.square(change).mean(axis=0))
            for k, change in zip(orders, differences, strict=True)
        ]
    )
    swings = np.array([(change.min(axis=0) < 0.0) & (change.max(axis=0) > 0.0) for change in differences])
    level = np.zeros(values.shape[1])
    for k in reversed(range(len(levels) - 2)):
        three = levels[k : k + 3]
        agree = swings[k] & (three.max(axis=0) <= _AGREEMENT * three.min(axis=0))
        level = np.where(agree, levels[k], level)
    return np.where(np.isfinite(level), level, 0.0)
