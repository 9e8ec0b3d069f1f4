"""The scalars of (f, h) whose gradients are estimated: objective, Lagrangian, augmented Lagrangian."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from zoviz.core.types import Array, Evaluation


class Lagrangian:
    """The Lagrangian f + <y, h> at fixed y (R, m), for values of shapes (R, ...) and (R, ..., m)."""

    def __init__(self, y: Array) -> None:
        self._y = y

    def __call__(self, value: Evaluation) -> Array:
        """Return f + <y, h>, in the shape of f."""
        y = self._y if value.f.ndim == 1 else self._y[:, None, :]
        out: Array = value.f + (value.h * y).sum(axis=-1)
        return out


class AugmentedLagrangian:
    r"""The scalar f + (1 / 2 beta) sum_i ([y_i + beta h_i]_+^2 - y_i^2) at fixed y (R, m) and beta (R,) or (R, m)."""

    def __init__(self, y: Array, beta: Array) -> None:
        self._y, self._beta = y, beta

    def __call__(self, value: Evaluation) -> Array:
        """Return the augmented Lagrangian of a value, in the shape of f."""
        y, beta = self._y, self._beta if self._beta.ndim == 2 else self._beta[:, None]
        if value.f.ndim > 1:
            y, beta = y[:, None], beta[:, None]
        weights = np.maximum(y + beta * value.h, 0.0)
        out: Array = value.f + ((np.square(weights) - np.square(y)) / (2.0 * beta)).sum(axis=-1)
        return out


class Watch:
    """A scalar phi of values that learns the constraints' slopes from the probes that it is asked for on the way.

    Parameters
    ----------
    phi : callable
    base : Array, shape (R, m)
        The constraints' values at the point itself, for estimates that do not ask for them: by central differences.
    n : int
        The number of coordinates.
    spacing : float
        The distance of the probes along them.
    """

    def __init__(self, phi: Callable[[Evaluation], Array], base: Array, n: int, spacing: float) -> None:
        self.phi, self._base, self._n, self._spacing = phi, base, n, spacing
        self._probes: list[Array] = []

    def __call__(self, value: Evaluation) -> Array:
        """Return phi of a value, f (R, q) and h (R, q, m), or of the one at the point, f (R,) and h (R, m)."""
        if value.h.ndim == 3:
            self._probes.append(value.h)
        else:
            self._base = value.h  # without what is known exactly of h, which no probe has either
        return self.phi(value)

    @property
    def squares(self) -> Array | None:
        """The squared norms (R, m) of the constraints' gradients; None where no difference was taken."""
        if not self._probes:
            return None
        count = sum(h.shape[1] for h in self._probes)
        total = sum(np.nansum(np.square(h - self._base[:, None]), axis=1) for h in self._probes)
        out: Array | None = total * (self._n / count / self._spacing**2)
        return out


def objective(value: Evaluation) -> Array:
    """Return f of a value (f, h): the scalar of a problem without constraints."""
    return value.f
