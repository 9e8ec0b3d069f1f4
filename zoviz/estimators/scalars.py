"""The scalars of (f, h) whose gradients are estimated: objective, Lagrangian, augmented Lagrangian."""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array, Evaluation


class Lagrangian:
    """The Lagrangian f + <y, h> at fixed y (R, m), for values of shapes (R, ...) and (R, ..., m)."""

    def __init__(self, y: Array) -> None:
        self._y = y

    def __call__(self, value: Evaluation) -> Array:
        """Return f + <y, h>, in the shape of f."""
        y = self._y if value.f.ndim == 1 else self._y[:, None, :]
        return value.f + (value.h * y).sum(axis=-1)


class AugmentedLagrangian:
    r"""The scalar f + (1 / 2 beta) sum_i ([y_i + beta h_i]_+^2 - y_i^2) at fixed y (R, m) and beta (R,)."""

    def __init__(self, y: Array, beta: Array) -> None:
        self._y, self._beta = y, beta

    def __call__(self, value: Evaluation) -> Array:
        """Return the augmented Lagrangian of a value, in the shape of f."""
        y, beta = self._y, self._beta[:, None]
        if value.f.ndim > 1:
            y, beta = y[:, None], beta[:, None]
        weights = np.maximum(y + beta * value.h, 0.0)
        return value.f + ((np.square(weights) - np.square(y)) / (2.0 * beta)).sum(axis=-1)


def objective(value: Evaluation) -> Array:
    """Return f of a value (f, h): the scalar of a problem without constraints."""
    return value.f
