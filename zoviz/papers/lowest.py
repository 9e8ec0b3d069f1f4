"""The best known value of a black box, at no charge: the lowest that SLSQP reaches from several starts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from zoviz.core.types import Array

Values = Callable[[Array], tuple[Any, Array]]


def lowest(values: Values, starts: Iterable[Array], bounds: Any, unit: float = 1.0) -> float:
    """Return the lowest f at a point with h <= 1e-7 where SLSQP ends, by differences; infinite where there is none.

    Parameters
    ----------
    values : callable
        A point (n,) to f and h (m,).
    starts : iterable of Array, shape (n,)
    bounds : sequence of (float or None, float or None)
    unit : float
        That SLSQP sees f in.
    """
    from scipy.optimize import minimize

    lower, upper = ([np.nan if end is None else end for end in ends] for ends in zip(*bounds, strict=True))
    best = np.inf
    for start in starts:
        answer = minimize(
            lambda x: float(values(x)[0]) / unit,
            np.fmin(np.fmax(start, lower), upper),
            method="SLSQP",
            bounds=bounds,
            constraints={"type": "ineq", "fun": lambda x: -values(x)[1]},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        f, h = values(np.fmin(np.fmax(answer.x, lower), upper))
        if np.isfinite(f) and h.max() <= 1e-7:
            best = min(best, float(f))
    return best
