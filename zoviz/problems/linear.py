"""Problems with linear constraints, and an objective that is an expectation."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from zoviz.problems.base import Problem
from zoviz.types import Array


class LinearlyConstrained(Problem):
    r"""Minimise E F(x, xi) subject to A x = b (or A x <= b) and x in a polyhedral X.

    To every solver it is a constrained problem: h(x) = A x - b for inequalities (m = p rows), and (A x - b, b - A x)
    for equations (m = 2 p), so that ||[h]_+|| is ||A x - b||. Solvers for linear constraints see A itself and
    stochastic gradients, through ``zoviz.oracle.FirstOrder``.

    A subclass provides besides ``domain`` and ``evaluate``: ``rows``, ``residual``, ``adjoint`` and
    ``stochastic_gradient``. With a sample xi, ``evaluate`` and ``stochastic_gradient`` are means over the mini-batch;
    without one they are exact.
    """

    __abstract = True

    stochastic: ClassVar[bool] = True
    equations: ClassVar[bool] = True
    """Whether the rows are equations; inequalities A x <= b otherwise."""
    sampled_rows: ClassVar[bool] = False
    """Whether A and b are seen through samples only: E[A_zeta x - b_zeta]."""

    rows: int
    """p, the number of rows of A."""

    @property
    def m(self) -> int:  # type: ignore[override]
        """Constraints h as a black box shows them."""
        return 2 * self.rows if self.equations else self.rows

    def residual(self, x: Array, xi: Any = None, copy: int = 0) -> Array:
        """A x - b of shape (..., p) at x (..., n).

        Parameters
        ----------
        xi : object, optional
            The sample, where rows are sampled; exact without it.
        copy : int
            Which of the sample's independent copies of zeta, 0 to 2.
        """
        raise NotImplementedError(f"{type(self).__name__} must define residual(x, xi, copy).")

    def adjoint(self, y: Array, xi: Any = None, copy: int = 0) -> Array:
        """A^T y of shape (..., n) for y (..., p); sample and copy as for ``residual``."""
        raise NotImplementedError(f"{type(self).__name__} must define adjoint(y, xi, copy).")

    def stochastic_gradient(self, x: Array, xi: Any = None) -> Array:
        """Mean of grad F(x, xi) over the mini-batch, (..., n); the exact gradient of f without a sample."""
        raise NotImplementedError(f"{type(self).__name__} must define stochastic_gradient(x, xi).")

    def two_sided(self, residual: Array) -> Array:
        """h (..., m) from A x - b (..., p)."""
        return np.concatenate([residual, -residual], axis=-1) if self.equations else residual
