"""Augmented Lagrangians on surrogates: the original form, and the one with slack variables."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import param

from zoviz.core.types import Array
from zoviz.solvers.bayesian.base import BayesianSolver, Evidence
from zoviz.solvers.bayesian.surrogate import Numbers, Surrogate

_REFERENCE = 10
"""Points of which the median f stands for its size while none is feasible (laGP's)."""
_SOFTNESS = 1e-6
"""How far the positive part of an improvement is smoothed, so that it has a slope where there is none: BoTorch's."""


class ALBO(BayesianSolver):
    r"""Expected improvement of an augmented Lagrangian whose parts are modelled apart.

    .. math:: \mathrm{AL}(x) = f + \lambda^\top h + \frac1{2\rho} \sum_j \max(0, h_j)^2

    After every evaluation, at the least AL over the data: lambda_j <- max(0, lambda_j + h_j / rho), and rho is halved
    where that point is infeasible; while none is feasible, lambda = 0 and rho falls towards ``start_penalty``'s value.
    rho is an inverse penalty. The improvement is that of BoTorch's ``qLogExpectedImprovement`` with AL as its
    objective.

    Notes
    -----
    R's laGP takes equality and inequality columns for each other in its starting rule and its test of rho; corrected
    here. There f is known by default, here it is modelled. rho only falls, and after some fifteen halvings AL is a
    wall: the original shares these stalls. Behind that wall few samples improve anything: with 64 of them the estimate
    is 0 on most of the box, and medians of LSQ were 0.61 after 40 evaluations; laGP takes 1000.

    References
    ----------
    Gramacy, Gray, Le Digabel, Lee, Ranjan, Wells and Wild (2016), Technometrics 58(1), 1-11; R package laGP,
    ``optim.auglag``.
    """

    title = "ALBO (augmented Lagrangian, BoTorch)"
    live: ClassVar[tuple[str, ...]] = (*BayesianSolver.live, "samples")
    start_multiplier: ClassVar[float] = 1.0
    """lambda before the first update (laGP's default; 0 for the form with slack, as in its experiments)."""

    samples = param.Integer(
        default=1024,
        bounds=(8, 65_536),
        softbounds=(256, 4096),
        label="Samples",
        doc="Of the functions, for the improvement; few of them see none that is improbable.",
    )

    def acquire(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers) -> Array:
        """Return the point (n,) with the largest expected improvement over the least AL of the data."""
        levels = lagrangian(evidence.f, evidence.h, memory[1:], float(memory[0]), self.slack)
        candidates = numbers.candidates(evidence.points[np.argmin(levels)])
        return surrogate.maximise(self._acquisition(surrogate, evidence, memory), candidates, self.restarts)

    def score(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers, points: Array) -> Array:
        """Return the logarithm of the expected improvement (q,) at points (q, n)."""
        return surrogate.levels(self._acquisition(surrogate, evidence, memory), points)

    def _acquisition(self, surrogate: Surrogate, evidence: Evidence, memory: Array) -> Any:
        """Return the logarithm of the expected improvement as a function of tensors (b, 1, n)."""
        import torch
        from botorch.utils.safe_math import log_fatplus, logmeanexp
        from botorch.utils.sampling import draw_sobol_normal_samples

        rho, dual = float(memory[0]), torch.tensor(memory[1:])
        centre, scale = torch.tensor(surrogate.centre), torch.tensor(surrogate.scale)
        least = lagrangian(evidence.f, evidence.h, memory[1:], rho, self.slack).min()
        base = draw_sobol_normal_samples(len(centre), self.samples, dtype=centre.dtype, seed=0)[:, None]

        def improvement(points: Any) -> Any:
            mean, variance = surrogate.law(points[:, 0])
            middle = centre + scale * mean
            values = middle + scale * variance.sqrt() * base
            slack = self._slack_of(middle[:, 1:], dual, rho)
            level = self._lagrangian(values[..., 0], values[..., 1:], dual, rho, slack, torch.clamp_min)
            return logmeanexp(log_fatplus(least - level, tau=_SOFTNESS), dim=0)

        return improvement

    slack: ClassVar[bool] = False
    """Whether AL has slack variables."""

    def _slack_of(self, h: Any, dual: Any, rho: float) -> Any:
        """Return the slacks (b, m) for posterior means h (b, m); None in the form without."""
        return None

    @staticmethod
    def _lagrangian(f: Any, h: Any, dual: Any, rho: float, slack: Any, at_least: Any) -> Any:
        """Return AL of tensors f (...) and h (..., m)."""
        shifted = h if slack is None else h + slack
        square = at_least(h, 0.0) if slack is None else shifted
        return f + (dual * shifted).sum(-1) + (square * square).sum(-1) / (2.0 * rho)

    def remember(self, evidence: Evidence, memory: Array) -> Array:
        """Return rho and lambda after an evaluation, (1 + m,)."""
        rho, dual = float(memory[0]), memory[1:]
        if rho == 0.0:
            rho, dual = start_penalty(evidence.f, evidence.h), np.full(len(dual), self.start_multiplier)
        return np.concatenate(self._updated(evidence, dual, rho))

    def _updated(self, evidence: Evidence, dual: Array, rho: float) -> tuple[Array, Array]:
        """Return the new rho (1,) and lambda (m,)."""
        f, h = evidence.f, evidence.h
        if not (h <= 0.0).all(axis=1).any():
            return np.clip([start_penalty(f, h)], rho / 2.0, 0.9 * rho), np.zeros_like(dual)
        dual, rho = updated(f, h, dual, rho, self.slack)
        return np.array([rho]), dual

    def multipliers(self, memory: Array, m: int) -> Array:
        """Return lambda, (R, m)."""
        return memory[:, 1:].copy()


class SlackAL(ALBO):
    r"""Expected improvement of an augmented Lagrangian with slack variables.

    .. math:: \mathrm{AL}(x, s) = f + \lambda^\top (h + s) + \frac1{2\rho} \|h + s\|^2, \qquad
              s_j = \max(0, -h_j - \rho\lambda_j)

    s is taken at values of the data, and at posterior means of candidates. After every evaluation, at the least AL
    over the data: lambda <- lambda + (h + s) / rho, which stays at least 0, and rho is halved where that point is
    infeasible.

    Notes
    -----
    With this s, AL is the usual augmented Lagrangian of inequalities with penalty 1 / rho. The original integrates a
    law of weighted non-central chi-square variables; here the functions are sampled.

    References
    ----------
    Picheny, Gramacy, Wild and Le Digabel (2016), Bayesian optimization under mixed constraints with a
    slack-variable augmented Lagrangian, NeurIPS; R package laGP, ``optim.auglag(slack = TRUE)``.
    """

    title = "Slack-AL (augmented Lagrangian, BoTorch)"
    slack = True
    start_multiplier = 0.0

    def _slack_of(self, h: Any, dual: Any, rho: float) -> Any:
        """Return the slacks (b, m) for posterior means h (b, m)."""
        import torch

        return torch.clamp_min(-h - rho * dual, 0.0)

    def _updated(self, evidence: Evidence, dual: Array, rho: float) -> tuple[Array, Array]:
        """Return the new rho (1,) and lambda (m,), by the same rule whether or not a point is feasible."""
        dual, rho = updated(evidence.f, evidence.h, dual, rho, True)
        return np.array([rho]), dual


def lagrangian(f: Array, h: Array, dual: Array, rho: float, slack: bool) -> Array:
    """Return AL (N,) of values f (N,) and h (N, m), with the slacks of the values themselves where there are any."""
    shifted = h + np.maximum(0.0, -h - rho * dual) if slack else h
    square = shifted if slack else np.maximum(h, 0.0)
    return f + shifted @ dual + np.square(square).sum(axis=1) / (2.0 * rho)


def updated(f: Array, h: Array, dual: Array, rho: float, slack: bool, tolerance: float = 1e-8) -> tuple[Array, float]:
    """Return lambda (m,) and rho after the update at the least AL over values f (N,), h (N, m)."""
    best = int(np.argmin(lagrangian(f, h, dual, rho, slack)))
    after = np.maximum(0.0, dual + h[best] / rho)  # with slack, h + s = max(h, -rho lambda): the same
    return after, rho / 2.0 if (h[best] > tolerance).any() else rho


def start_penalty(f: Array, h: Array) -> float:
    """Return laGP's first rho, with its test of feasibility put right, for values f (N,) and h (N, m).

    The least sum of squared violations over infeasible points, over twice the size of the best feasible f, or of the
    median of the first ten where none is feasible; 1/2 where all are feasible.
    """
    feasible = (h <= 0.0).all(axis=1)
    if feasible.all():
        return 0.5
    reference = f[feasible].min() if feasible.any() else np.median(f[:_REFERENCE])
    squares = np.square(np.maximum(h[~feasible], 0.0)).sum(axis=1).min()
    return float(np.clip(squares / (2.0 * max(abs(reference), 1e-12)), 1e-12, 1e12))
