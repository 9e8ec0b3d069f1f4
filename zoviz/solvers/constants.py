"""Magnitudes of an unknown black box, measured with a handful of charged oracle calls."""

from __future__ import annotations

import numpy as np

from zoviz.oracle import Oracle
from zoviz.problems.base import Problem
from zoviz.sets import Box
from zoviz.streams import Streams
from zoviz.types import Array, Constants

_DIRECTIONS = 10
_REPEATS = 8


def constants_of(problem: Problem, oracle: Oracle, x0: Array, streams: Streams) -> Constants:
    """The problem's own constants, or those measured around the first start that is defined.

    Central second differences along the coordinates (n <= 10) or 10 random directions give slopes and curvatures;
    the trace that they add up to bounds the largest eigenvalue of a convex function's Hessian. 2 min(n, 10) + 1
    calls per replica, and 8 more at the start under independent noise, all charged. Every replica uses that
    one's figures, so that its course does not depend on how many others follow.
    """
    known = problem.constants
    if known is not None:
        return known._replace(noise=float(np.sqrt(problem.noise_variance)))
    n, count = oracle.n, min(oracle.n, _DIRECTIONS)
    if n <= _DIRECTIONS:
        directions = np.broadcast_to(np.eye(n), (streams.replicas, n, n))
    else:
        normal = streams.normal("constants", count, n)
        directions = normal / np.linalg.norm(normal, axis=-1, keepdims=True)
    step = 1e-2 * _width(oracle, x0[0])
    points = np.concatenate([x0[:, None], x0[:, None] + step * directions, x0[:, None] - step * directions], axis=1)
    value = oracle(points)
    first = int(np.argmax(np.isfinite(value.f[:, 0])))
    values = np.concatenate([value.f[first][:, None], value.h[first]], axis=1)
    centre, ahead, behind = values[0], values[1 : count + 1], values[count + 1 :]
    slopes = np.sqrt(np.nansum(np.square((ahead - behind) / (2 * step)), axis=0) * n / count)
    curvatures = np.nansum(np.abs(ahead - 2 * centre + behind), axis=0) / step**2 * n / count
    floor = 1e-8 * (1.0 + np.abs(np.nan_to_num(centre[0])))
    spread, repeats = _noise(oracle, x0, first)
    return Constants(
        curvature=float(max(curvatures[0], slopes[0] / (10 * _width(oracle, x0[0])), floor)),
        constraint_curvature=float(np.linalg.norm(curvatures[1:])),
        slope=float(slopes[0]),
        constraint_slope=float(np.linalg.norm(slopes[1:])),
        start_slope=float(np.linalg.norm(slopes[1:])) or 1.0,  # no constraint, or a flat one: any step will do
        weak_convexity=np.nan,
        noise=spread,
        source=f"measured ({points.shape[1] + repeats} calls)",
    )


def _noise(oracle: Oracle, x0: Array, first: int) -> tuple[float, int]:
    """Largest standard deviation of f and the h at the start, where calls may differ; and the calls it took."""
    if oracle.contract != "independent":
        return 0.0, 0
    value = oracle(np.repeat(x0[:, None], _REPEATS, axis=1))
    values = np.concatenate([value.f[first][:, None], value.h[first]], axis=1)
    return float(np.nanstd(values, axis=0, ddof=1).max()), _REPEATS


def _width(oracle: Oracle, x: Array) -> float:
    """A typical length: the median finite width of the box, else the size of the start, at least 1."""
    domain = oracle.domain
    if isinstance(domain, Box):
        widths = (domain.upper - domain.lower)[np.isfinite(domain.upper - domain.lower)]
        if widths.size and np.median(widths) > 0:
            return float(np.median(widths))
    return float(max(1.0, np.abs(x).max()))
