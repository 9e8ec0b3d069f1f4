"""Losses of a linear classifier as functions of the margin, and the optimum for the logistic one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from zoviz.core.types import Array


class MarginLoss(NamedTuple):
    """A loss V of the margin u = y f(x), with its derivative and bounds that hold for every u.

    Attributes
    ----------
    value, slope : callable
        V(u) and V'(u), elementwise.
    steepest : float
        Largest |V'|.
    bend : float
        Largest |V''|.
    concavity : float
        Largest -V'', at least 0: the weak convexity of V.
    """

    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    steepest: float
    bend: float
    concavity: float


def expit(u: Array) -> Array:
    """Return 1 / (1 + exp(-u)), in the shape of u, without overflow."""
    return 0.5 * (1.0 + np.tanh(0.5 * u))


def logistic() -> MarginLoss:
    """Return the loss V(u) = log(1 + exp(-u)), which is convex."""
    return MarginLoss(lambda u: np.logaddexp(0.0, -u), lambda u: -expit(-u), 1.0, 0.25, 0.0)


def logistic_difference(shift: float) -> MarginLoss:
    """Return the loss V(u) = log(1 + exp(-u)) - log(1 + exp(-u - shift)).

    V'' is the difference of two bells of height 1/4, so that both |V''| bounds are 1/4; |V'| <= tanh(shift / 4).

    References
    ----------
    Paper salm, (6.7), where the shift is called mu.
    """

    def value(u: Array) -> Array:
        return np.logaddexp(0.0, -u) - np.logaddexp(0.0, -u - shift)

    return MarginLoss(
        value, lambda u: expit(-u - shift) - expit(-u), float(np.tanh(0.25 * shift)), 0.25, 0.25 if shift else 0.0
    )


def smoothed_zero_one() -> MarginLoss:
    """Return the loss V(u) = u^3/4 - 3u/4 + 1/2 on [-1, 1], 1 to the left of it and 0 to the right.

    References
    ----------
    Paper salm, (6.8).
    """

    def value(u: Array) -> Array:
        u = np.clip(u, -1.0, 1.0)
        return 0.25 * u * u * u - 0.75 * u + 0.5

    return MarginLoss(value, lambda u: 0.75 * np.square(np.clip(u, -1.0, 1.0)) - 0.75, 0.75, 1.5, 1.5)


Loss: TypeAlias = Literal["logistic", "logistic difference", "smoothed 0-1"]
LOSSES: tuple[Loss, ...] = get_args(Loss)


def margin_loss(name: str, shift: float) -> MarginLoss:
    """Return the loss of this name, one of ``LOSSES``; ``shift`` is for the logistic difference only."""
    return {
        "logistic": logistic,
        "logistic difference": lambda: logistic_difference(shift),
        "smoothed 0-1": smoothed_zero_one,
    }[name]()


def logistic_optimum(
    signed: Array, ridge: float, direction: Array | None = None, bound: float = np.inf
) -> tuple[Array, float] | None:
    r"""Minimise the mean logistic loss plus ridge/2 ||x||^2 subject to |a'x| <= c, by Newton's method.

    .. math:: \frac1M \sum_i \log(1 + e^{-s_i^\top x}) + \tfrac{\text{ridge}}{2} \|x\|^2

    Parameters
    ----------
    signed : Array, shape (M, d)
        Features times labels, s_i = y_i (features of i).
    ridge : float
    direction : Array, shape (d,), optional
        a.
    bound : float
        c.

    Returns
    -------
    tuple or None
        x (d,) and the multiplier of a'x, positive at a'x = c and negative at a'x = -c; None where Newton's method does
        not end, as on separable data without a ridge.
    """
    free = _newton(signed, ridge, None, 0.0)
    if free is None or direction is None or abs(free[0] @ direction) <= bound:
        return free
    return _newton(signed, ridge, direction, float(np.copysign(bound, free[0] @ direction)))


def _newton(signed: Array, ridge: float, direction: Array | None, level: float) -> tuple[Array, float] | None:
    """Take Newton steps, halved while they do not descend, on all of R^d or on the plane a'x = level."""
    count, d = signed.shape
    rows = np.empty((0, d)) if direction is None else direction[None]
    x = rows.T @ np.full(len(rows), level) / max(float(np.square(rows).sum()), 1e-300)

    def value(x: Array) -> float:
        return float(np.logaddexp(0.0, -signed @ x).mean() + 0.5 * ridge * (x @ x))

    for _ in range(200):
        weight = expit(-signed @ x)
        gradient = ridge * x - signed.T @ weight / count
        hessian = (signed.T * (weight * (1.0 - weight))) @ signed / count + ridge * np.eye(d)
        system = np.block([[hessian, rows.T], [rows, np.zeros((len(rows), len(rows)))]])
        try:
            solved = np.linalg.solve(system, np.concatenate([-gradient, np.zeros(len(rows))]))
        except np.linalg.LinAlgError:
            return None
        step, multiplier = solved[:d], solved[d:]
        flat = np.linalg.norm(gradient + rows.T @ multiplier) <= 1e-12 * (1.0 + np.linalg.norm(gradient))
        if flat and np.linalg.norm(step) <= 1e-6 * (1.0 + np.linalg.norm(x)):  # steps stay long towards infinity
            return x, float(multiplier.sum())
        length, old, fall = 1.0, value(x), float(gradient @ step)
        while length > 1e-4 and value(x + length * step) > old + 1e-4 * length * fall + 1e-15:
            length *= 0.5
        x = x + length * step
        if not np.abs(x).max() < 1e6:
            return None
    return None
