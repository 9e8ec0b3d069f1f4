"""The bilevel local regret of a run, summed over its rounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from zoviz.core.types import Array

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
        self._slope = np.full(replicas, np.nan)
        self._errors: dict[str, Array] = {}

    def add(self, before: Any, after: Any, sample: Any) -> None:
        """Take in a round: the state that was played, and the sample that was revealed."""
        problem, x = self._problem, before.x
        known = problem.solution(x, sample)
        assert known is not None  # else the problem has no tally
        y, v = known
        alpha = problem.regret_step
        moved = problem.domain.project(x - alpha * problem.hypergradient(x, y, v, sample))
        self._rounds += 1
        self._slope = np.sqrt(np.square((x - moved) / alpha).sum(axis=-1))
        self._regret = self._regret + np.square(self._slope)
        for name, part, exact in (("inner_error", "inner", y), ("system_error", "v", v)):
            if hasattr(before, part):
                self._errors[name] = np.sqrt(np.square(getattr(before, part) - exact).sum(axis=-1))

    @property
    def memory(self) -> dict[str, Any]:
        """Rounds, sum, the last slope and errors."""
        return {"rounds": self._rounds, "regret": self._regret, "slope": self._slope, "errors": dict(self._errors)}

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on from these."""
        self._rounds, self._regret, self._slope = memory["rounds"], memory["regret"], memory["slope"]
        self._errors = dict(memory["errors"])

    def row(self) -> dict[str, Array]:
        """``regret``, ``average_regret`` over the rounds; of the last round ``hypergradient`` (projected) and errors.

        ``inner_error`` ||y_t - y*_t(x_t)|| and ``system_error`` ||v_t - v*_t(x_t)|| begin with the first round, and are
        those of methods that have y or v.
        """
        average = self._regret / self._rounds if self._rounds else np.full_like(self._regret, np.nan)
        sums = {"regret": self._regret, "average_regret": average, "hypergradient": self._slope}
        return sums | self._errors
