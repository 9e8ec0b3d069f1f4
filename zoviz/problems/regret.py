"""The bilevel local regret of a run, summed over its rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zoviz.types import Array

if TYPE_CHECKING:
    from zoviz.problems.bilevel import OnlineBilevel


class LocalRegret:
    r"""Sums over the rounds, each at the decision (x_t, y_t) played before its functions were revealed.

    .. math:: \text{BL-Reg}_T = \sum_{t \le T} \Big\| \frac{x_t - \Pi_X(x_t - \alpha\nabla F_t(x_t))}{\alpha} \Big\|^2,
              \qquad F_t(x) = f_t(x, y_t^*(x))

    Everything is taken of the round without sampling noise, off the books: y* and v* are the problem's ``solution``.

    Notes
    -----
    alpha is the problem's ``regret_step``, the same for all methods, where the paper takes each method's own alpha_t:
    regrets of methods with different steps could not be compared otherwise. Inside X both are sums of ||grad F_t||^2.

    References
    ----------
    Paper sogd, (2).
    """

    def __init__(self, problem: OnlineBilevel, replicas: int) -> None:
        self._problem, self._rounds = problem, 0
        self._regret = np.zeros(replicas)
        self._slope, self._inner, self._system = (np.full(replicas, np.nan) for _ in range(3))

    def add(self, before: Any, after: Any, sample: Any) -> None:
        """Take in a round: the state that was played, and the sample that was revealed."""
        problem, x = self._problem, before.x
        y, v = problem.solution(x, sample)
        alpha = problem.regret_step
        moved = problem.domain.project(x - alpha * problem.hypergradient(x, y, v, sample))
        self._rounds += 1
        self._slope = np.sqrt(np.square((x - moved) / alpha).sum(axis=-1))
        self._regret = self._regret + np.square(self._slope)
        if hasattr(before, "inner"):
            self._inner = np.sqrt(np.square(before.inner - y).sum(axis=-1))
        if hasattr(before, "v"):
            self._system = np.sqrt(np.square(before.v - v).sum(axis=-1))

    def row(self) -> dict[str, Array]:
        """``regret`` and its mean over the rounds; of the last one the projected ``hypergradient`` and the errors."""
        return {
            "regret": self._regret,
            "average_regret": self._regret / max(self._rounds, 1)
            if self._rounds
            else np.full_like(self._regret, np.nan),
            "hypergradient": self._slope,
            "inner_error": self._inner,
            "system_error": self._system,
        }
