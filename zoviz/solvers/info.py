"""What a step tells about itself, and what theory needs to know to judge it."""

from __future__ import annotations

from typing import NamedTuple

from zoviz.core.types import Array


class Info(NamedTuple):
    """What a step tells about itself.

    Attributes
    ----------
    variance : Array, shape (R,)
        Measured variance of the step's (first) gradient estimate.
    point, dual : Array, shapes (R, n) and (R, m)
        Where that gradient was estimated.
    radius : float
        The smoothing radius in use.
    """

    variance: Array
    point: Array
    dual: Array
    radius: float


class Target(NamedTuple):
    """What theory needs to know of the scalar phi whose gradient is estimated.

    Attributes
    ----------
    square : Array, shape (R,)
        ||grad phi||^2 where the estimate was taken.
    n : int
        Dimension of the estimate.
    slope, curvature : Array, shape (R,)
        Bounds G on ||grad phi|| over the domain and L on its Lipschitz constant.
    """

    square: Array
    n: int
    slope: Array
    curvature: Array
