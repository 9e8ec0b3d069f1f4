"""Safe Bayesian optimisation: only points that are expected to be feasible with high probability are evaluated."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import param

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.solvers.bayesian.base import BayesianSolver, BayesianState, Evidence
from zoviz.solvers.bayesian.surrogate import Numbers, Surrogate


class SafeOpt(BayesianSolver):
    r"""A method that evaluates the least known point of those expected to be safe that may be optimal, or widen them.

    With posterior means mu and standard deviations sigma the safe candidates are

    .. math:: S = \{x : \mu_j(x) + \beta\,\sigma_j(x) \le 0 \text{ for all } j\}

    Among them the possible minimisers have mu_0 - beta sigma_0 at most the least mu_0 + beta sigma_0 in S, and the
    expanders are those where the values mu_j - beta sigma_j would make another candidate safe. The one of either kind
    with the largest sigma of any function, in standardised units, is evaluated; where no candidate is safe, the one
    that is nearest to it. The design lies within ``first_reach`` of the start, which is to be feasible.

    Notes
    -----
    The reference is given the kernel's parameters, and its candidates are a grid. Here they are fitted, which no
    guarantee covers, and candidates are drawn at random, a quarter of them around the best point.

    References
    ----------
    Berkenkamp, Krause and Schoellig (2023), Bayesian optimization with safety constraints: safe and automatic parameter
    tuning in robotics, Machine Learning 112, Algorithm 1.
    """

    title = "SafeOpt (BoTorch)"
    keeps_rows = True
    live: ClassVar[tuple[str, ...]] = (*BayesianSolver.live, "beta")

    beta = param.Number(
        default=2.0,
        bounds=(0, 100),
        softbounds=(1, 4),
        label="Confidence β",
        doc="Standard deviations by which a constraint is expected to hold.",
    )
    first_reach = param.Number(
        default=0.02,
        bounds=(0, 1),
        inclusive_bounds=(False, True),
        label="First reach",
        doc="How far from the start the design lies, as a share of the widths.",
    )

    def init(self, x0: Array, oracle: Oracle, streams: Streams) -> BayesianState:
        """Return the state at the starts x0 (R, n), one call, with a design around each."""
        state = super().init(x0, oracle, streams)
        around = state.points + self.first_reach * (2.0 * state.design - 1.0)
        return state._replace(design=np.clip(around, 0.0, 1.0))

    def acquire(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers) -> Array:
        """Return the safe candidate (n,) of largest uncertainty among possible minimisers and expanders."""
        points = numbers.candidates(evidence.points[evidence.best])
        return points[int(np.argmax(self._scores(surrogate, points)))]

    def score(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers, points: Array) -> Array:
        """Return the variance (q,) of points (q, n) that may be optimal or widen the safe ones; others -inf."""
        return self._scores(surrogate, points)

    def _scores(self, surrogate: Surrogate, points: Array) -> Array:
        """Return what points (q, n) are compared by, (q,): where none is safe, how near they are to it."""
        mean, covariance = surrogate.joint(points)
        variance = np.maximum(np.diagonal(covariance, axis1=1, axis2=2), 1e-18)
        reach = self.beta * np.sqrt(variance)
        over = (mean[1:] + reach[1:] - surrogate.limits[:, None]).max(axis=0, initial=-np.inf)
        safe = over <= 0.0
        if not safe.any():
            return np.asarray(-over)
        useful = safe & (mean[0] - reach[0] <= (mean[0] + reach[0])[safe].min())
        useful[safe] |= self._expands(mean[1:], covariance[1:], variance[1:], surrogate.limits, safe)
        return np.where(useful, variance.max(axis=0), -np.inf)

    def _expands(self, mean: Array, covariance: Array, variance: Array, limits: Array, safe: np.ndarray) -> np.ndarray:
        """Return of which safe candidates a value at its lower bound would make another one safe."""
        between = covariance[:, safe][:, :, ~safe]
        share = between / variance[:, safe, None]
        centre = mean[:, None, ~safe] - share * (self.beta * np.sqrt(variance[:, safe]))[..., None]
        left = np.sqrt(np.maximum(variance[:, None, ~safe] - share * between, 0.0))
        wins = np.asarray((centre + self.beta * left <= limits[:, None, None]).all(axis=0))
        return np.asarray(wins.any(axis=1), dtype=bool)
