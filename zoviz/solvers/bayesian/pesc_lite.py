"""Predictive entropy search with constraints, in a light form."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.bayesian.base import BayesianSolver, Evidence
from zoviz.solvers.bayesian.surrogate import Numbers, Surrogate

_LEAST = 1e-12
"""Least variance and probability that are divided by."""


class Law(NamedTuple):
    """Normal laws at q points, of f there and at the solution, and of every constraint there.

    Attributes
    ----------
    f, f_variance : Array, shape (q,)
        Of f at the points.
    best, best_variance : float
        Of f at the solution.
    covariance : Array, shape (q,)
        Of both.
    h, h_variance : Array, shape (m, q)
        Of the constraints at the points.
    """

    f: Array
    f_variance: Array
    best: float
    best_variance: float
    covariance: Array
    h: Array
    h_variance: Array


class PESCLite(BayesianSolver):
    r"""Evaluates where knowing the constrained solution x* would tell most about the values of f and every h.

    .. math:: \alpha(x) = \sum_{i \in \{f, h_1, \dots\}} \Big[\log v_i(x) - \frac1M \sum_{s=1}^M
              \log v_i(x \mid x_\star^{(s)})\Big]

    v_i are predictive variances with the noise. M = 8 samples of x* are the best of the candidates by joint draws of
    all functions. Given x*, three facts are imposed by matching moments: each h is at most 0 at x*, f there is at most
    the best value known, and x is not both feasible and better than x*. The best candidate is evaluated.

    Notes
    -----
    The light form of PESC: the original imposes the last fact at every data point too, by expectation propagation for
    each sample, and finds x* on draws of random features. Here the candidates alone are compared.

    References
    ----------
    Hernandez-Lobato, Gelbart, Hoffman, Adams and Ghahramani (2015), Predictive entropy search for Bayesian
    optimization with unknown constraints, ICML, with its supplement (19)-(24).
    """

    title = "PESC-lite (entropy search, BoTorch)"
    draws: ClassVar[int] = 8

    def acquire(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers) -> Array:
        """Return the candidate (n,) with the largest expected gain of information."""
        points = numbers.candidates(evidence.points[evidence.best])
        return points[np.argmax(self._gain(surrogate, evidence, points, numbers.outputs))]

    def score(self, surrogate: Surrogate, evidence: Evidence, memory: Array, numbers: Numbers, points: Array) -> Array:
        """Return the expected gain of information (q,) at points (q, n), of a solution among the candidates."""
        candidates = numbers.candidates(evidence.points[evidence.best])
        return self._gain(surrogate, evidence, np.concatenate([candidates, points]), numbers.outputs)[len(candidates) :]

    def _gain(self, surrogate: Surrogate, evidence: Evidence, points: Array, outputs: Array) -> Array:
        """Return the expected gain (q,) at points (q, n), the first of which may be solutions, one for each output."""
        mean, covariance = surrogate.joint(points)
        variance = np.maximum(np.einsum("kii->ki", covariance), _LEAST)
        # Before there is a feasible point, the largest value bounds f at the solution.
        highest = evidence.f[evidence.sure].min() if evidence.sure.any() else evidence.f.max()
        bounds = np.concatenate([[(highest - surrogate.centre[0]) / surrogate.scale[0]], surrogate.limits])
        noise = surrogate.noise[:, None]
        entropy = np.zeros(len(points))
        among = outputs.shape[-1]
        for star in solutions(surrogate, mean[:, :among], covariance[:, :among, :among], outputs):
            after = conditioned(mean, variance, covariance, star, bounds)
            entropy += np.log(np.maximum(after, _LEAST) + noise).sum(axis=0) / self.draws
        return np.asarray(np.log(variance + noise).sum(axis=0) - entropy)


def solutions(surrogate: Surrogate, mean: Array, covariance: Array, numbers: Array) -> list[int]:
    """Return the index of the best of q points by each joint draw, made of numbers (M, 1 + m, q).

    Where a draw has no feasible point, its least violation.
    """
    weights, vectors = np.linalg.eigh(covariance)
    roots = vectors * np.sqrt(np.maximum(weights, 0.0))[:, None]
    draws = mean + np.einsum("kij,skj->ski", roots, numbers)
    over = np.maximum(draws[:, 1:] - surrogate.limits[:, None], 0.0).max(axis=1, initial=0.0)
    return [int(np.lexsort((f, violation))[0]) for f, violation in zip(draws[:, 0], over, strict=True)]


def truncated(mean: Array, variance: Array, bound: Array) -> tuple[Array, Array]:
    """Return mean and variance, of the arguments' shape, of normal variables that are known to be at most ``bound``."""
    from scipy import special

    deviation = np.sqrt(variance)
    beta = (bound - mean) / deviation
    ratio = np.exp(-0.5 * beta**2 - 0.5 * np.log(2.0 * np.pi) - special.log_ndtr(beta))
    return mean - deviation * ratio, variance * np.clip(1.0 - ratio * (ratio + beta), _LEAST, 1.0)


def conditioned(mean: Array, variance: Array, covariance: Array, star: int, bounds: Array) -> Array:
    """Return the variances (1 + m, q) of all functions at q points, given that point ``star`` is the solution.

    Parameters
    ----------
    mean, variance : Array, shape (1 + m, q)
    covariance : Array, shape (1 + m, q, q)
    star : int
    bounds : Array, shape (1 + m,)
        What f, and every h, is at most at the solution.
    """
    centre, spread = truncated(mean[:, star], variance[:, star], bounds)
    gain = covariance[:, :, star] / variance[:, star, None]
    mean = mean + gain * (centre - mean[:, star])[:, None]
    variance = np.maximum(variance + gain**2 * (spread - variance[:, star])[:, None], _LEAST)
    law = Law(
        mean[0],
        variance[0],
        float(centre[0]),
        float(spread[0]),
        gain[0] * spread[0],
        mean[1:] - bounds[1:, None],
        variance[1:],
    )
    f, h = no_better(law)
    return np.concatenate([f[None], h])


def no_better(law: Law) -> tuple[Array, Array]:
    """Return the variances (q,) of f and (m, q) of h given that no point is feasible and better than the solution.

    Matches the moments of the laws times the indicator of this fact, each point for itself.
    """
    from scipy import special

    apart = np.sqrt(np.maximum(law.f_variance - 2.0 * law.covariance + law.best_variance, _LEAST))
    alpha, deviation = -law.h / np.sqrt(law.h_variance), np.sqrt(law.h_variance)
    each = np.maximum(special.ndtr(alpha), _LEAST)
    chance = each.prod(axis=0)
    a = (law.f - law.best) / apart
    total = np.maximum(chance * special.ndtr(a) + 1.0 - chance, _LEAST)
    g = chance * _density(a) / (apart * total)
    f = law.f_variance - (law.f_variance - law.covariance) ** 2 * g * (g + a / apart)
    g_h = (total - 1.0) * _density(alpha) / (total * each * deviation)
    return f, law.h_variance - law.h_variance**2 * g_h * (g_h + alpha / deviation)


def _density(u: Array) -> Array:
    """Return the standard normal density."""
    return np.exp(-0.5 * u**2) / np.sqrt(2.0 * np.pi)
