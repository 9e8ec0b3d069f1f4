"""The oracle of stochastic gradients and a known linear part, charged to a run's oracle."""

from __future__ import annotations

from typing import Any

from zoviz.core.types import Array
from zoviz.oracle.oracle import Oracle
from zoviz.oracle.samples import ZETA
from zoviz.problems.linear import LinearlyConstrained


class FirstOrder:
    """The view that a first-order method has of a ``LinearlyConstrained`` problem, with the oracle's sample and budget.

    A gradient costs one call a point, whatever its mini-batch, whose samples the oracle counts beside; the linear part
    is free, and where it is only sampled each copy of zeta that is used counts the mini-batch's size. Rows of frozen
    replicas are NaN in a gradient.

    Parameters
    ----------
    oracle : Oracle
    """

    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle
        self._problem = problem = LinearlyConstrained.of(oracle.problem)
        self.rows, self.equations, self.sampled_rows = problem.rows, problem.equations, problem.sampled_rows

    def gradient(self, x: Array) -> Array:
        """Return the stochastic gradient of f at x (R, n), under the present sample or one of its own.

        Raises
        ------
        BudgetSpent
            Before evaluating, if the budgets of calls and samples do not allow it.
        """
        problem, oracle = self._problem, self._oracle
        return oracle.ask("gradient", problem.stochastic_gradient, (x.shape,), (x,), oracle.sample_for())[0]

    def residual(self, x: Array, copy: int = 0) -> Array:
        """Return A x - b (R, p), with the sample's A and b where rows are sampled."""
        return self._problem.residual(x, self._rows(copy), copy)

    def adjoint(self, y: Array, copy: int = 0) -> Array:
        """Return A^T y (R, n) for y (R, p), by the sample's copy of zeta where rows are sampled."""
        return self._problem.adjoint(y, self._rows(copy), copy)

    def matrix(self) -> tuple[Array, Array]:
        """Return A (p, n) and b (p,), not to be written to.

        Raises
        ------
        ValueError
            Where rows are sampled, so that A is not known.
        """
        if self.sampled_rows:
            raise ValueError("Expected rows that are known, got sampled ones: choose a method that needs no matrix.")
        return self._problem.matrix()

    def _rows(self, copy: int) -> Any:
        if not self.sampled_rows:
            return None
        self._oracle.see(ZETA + copy)
        return self._oracle.sample_for()
