"""Hamiltonian Monte Carlo for logistic regression: chains of many settings in lock-step, gradient by gradient."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array

_TILE = 8
"""Chains of one matrix product. It is always of this many, so that a chain's numbers are the same to the bit whoever
runs beside it: a product rounds differently for other shapes, and chains amplify that."""
_START = 1e-3
"""Standard deviation of a chain's first point (paper conex: N(0, 1e-6))."""


class Settings(NamedTuple):
    """The settings of a sampler, one entry for each of S trials.

    Attributes
    ----------
    leaps : ndarray of int, shape (S,)
        Leapfrog steps L of a trajectory.
    step : Array, shape (S,)
        Step size of a leap.
    mass : Array, shape (S,)
        Scale kappa of the momentum's covariance kappa I.
    burn_in : Array, shape (S,)
        Share of a chain's draws that is dropped.
    """

    leaps: np.ndarray
    step: Array
    mass: Array
    burn_in: Array


class Posterior(NamedTuple):
    """The posterior of a logistic regression.

    Attributes
    ----------
    signed : Array, shape (N, d)
        Features, each row times its label.
    transposed : Array, shape (d, N)
        The same, stored by columns: both products read memory in order.
    prior_variance : float
        Of the normal prior of every coefficient.
    """

    signed: Array
    transposed: Array
    prior_variance: float

    @classmethod
    def of(cls, features: Array, labels: Array, prior_variance: float) -> Posterior:
        """Return the posterior for features (N, d) and labels (N,), -1 or +1."""
        signed = np.ascontiguousarray(features * labels[:, None])
        return cls(signed, np.ascontiguousarray(signed.T), prior_variance)

    def weights(self, margins: Array, out: Array | None = None) -> Array:
        """Return 1 / (1 + e^m) of margins m (C, N)."""
        weights = np.exp(margins, out=out)
        weights += 1.0
        return np.reciprocal(weights, out=weights)

    def slope(self, weights: Array, q: Array) -> Array:
        """Return the gradient (C, d) of the negative log density at q (C, d), from its ``weights`` (C, N)."""
        return q / self.prior_variance - _tiled(weights, self.signed)

    def margins(self, q: Array) -> Array:
        """Return the margins (C, N) of points q (C, d)."""
        return _tiled(q, self.transposed)

    def energy(self, margins: Array, weights: Array, q: Array) -> Array:
        """Return the negative log density (C,), up to a constant, at q (C, d) with margins and weights (C, N).

        log(1 + e^-m) = -log(weight) - m: no exponential more than the slope needed, and a logarithm for four weights,
        whose product is above 0 up to margins of 170.
        """
        losses = np.log(_folded(_folded(weights))).sum(axis=1) + margins.sum(axis=1)
        return 0.5 * np.square(q).sum(axis=1) / self.prior_variance - losses


def _folded(values: Array) -> Array:
    """Return products of pairs of columns of values (C, N), (C, N // 2); the last column of an odd number joins in."""
    half = values.shape[1] // 2
    if not half:
        return values
    out = values[:, :half] * values[:, half : 2 * half]
    if values.shape[1] % 2:
        out[:, 0] *= values[:, -1]
    return out


def _tiled(left: Array, right: Array) -> Array:
    """Return left @ right, (C, a) and (a, b) to (C, b), by products of tiles of equal shape."""
    count = len(left)
    tiles, rest = -(-count // _TILE), -count % _TILE
    whole = np.concatenate([left, np.zeros((rest, left.shape[1]))]) if rest else left
    return np.matmul(whole.reshape(tiles, _TILE, -1), right).reshape(tiles * _TILE, -1)[:count]


class _Numbers(NamedTuple):
    """All random numbers of C chains: starts (C, d), momenta (C, T + 1, d), log thresholds of acceptance (C, T)."""

    starts: Array
    momenta: Array
    thresholds: Array


def _numbers(lengths: np.ndarray, chains: int, d: int, generators: Sequence[np.random.Generator]) -> _Numbers:
    """Draw every trial's numbers from its own generator, as many as its own chains of ``lengths`` (S,) use."""
    count, longest = len(lengths) * chains, int(lengths.max())
    out = _Numbers(np.empty((count, d)), np.zeros((count, longest + 1, d)), np.zeros((count, longest)))
    for trial, (length, generator) in enumerate(zip(lengths.tolist(), generators, strict=True)):
        own = slice(trial * chains, (trial + 1) * chains)
        out.starts[own] = _START * generator.standard_normal((chains, d))
        out.momenta[own, : length + 1] = generator.standard_normal((chains, length + 1, d))
        out.thresholds[own, :length] = np.log1p(-generator.random((chains, length)))
    return out


def sample(
    posterior: Posterior, settings: Settings, gradients: int, chains: int, generators: Sequence[np.random.Generator]
) -> tuple[Array, Array]:
    """Run the chains of S trials, all of which advance by one gradient at a time.

    Whoever ends a trajectory accepts or rejects and takes a new momentum; the gradient at a trajectory's end is that at
    the next one's start. So chains of different trajectories never wait, and a tick is one product with the data. A
    trial's last, incomplete trajectory is dropped.

    Parameters
    ----------
    posterior : Posterior
    settings : Settings
        With ``leaps`` at most ``gradients``.
    gradients : int
        Of each chain.
    chains : int
        Of each trial.
    generators : sequence of Generator
        One for each trial.

    Returns
    -------
    draws : Array, shape (S, chains, T, d)
        T is the largest number of trajectories; a trial with fewer has NaN behind its own ``gradients // leaps``.
    acceptance : Array, shape (S,)
        Share of trajectories that were accepted.
    """
    d, lengths = posterior.signed.shape[1], gradients // settings.leaps
    numbers = _numbers(lengths, chains, d, generators)
    leaps, length = np.repeat(settings.leaps, chains), np.repeat(lengths, chains)
    mass = np.repeat(settings.mass, chains)[:, None]
    # As large as the chains are: it is multiplied in every leap, where broadcasting takes longer than the arithmetic.
    step = np.repeat(np.repeat(settings.step, chains)[:, None], d, axis=1)
    draws = np.full((len(leaps), int(lengths.max()), d), np.nan)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        accepted = _advance(posterior, numbers, draws, gradients, leaps, length, step, mass)
    return draws.reshape(len(lengths), chains, -1, d), (accepted / length).reshape(-1, chains).mean(axis=1)


def _advance(
    posterior: Posterior,
    numbers: _Numbers,
    draws: Array,
    gradients: int,
    leaps: np.ndarray,
    length: np.ndarray,
    step: Array,
    mass: Array,
) -> Array:
    """Fill the draws (C, T, d) in place, and return the number of accepted trajectories, (C,)."""
    q, chains = numbers.starts.copy(), len(numbers.starts)
    tiles = -(-chains // _TILE) * _TILE  # rows of whole tiles, those beyond the chains 0: no leap has to fill them up
    places, factors = np.zeros((tiles, q.shape[1])), np.zeros((tiles, len(posterior.signed)))
    at, weights = places[:chains], factors[:chains]
    at[:] = q
    margins = posterior.margins(places)[:chains]
    posterior.weights(margins, out=weights)
    at_slope, potential = posterior.slope(factors, places)[:chains], posterior.energy(margins, weights, q)
    kept_slope = at_slope.copy()
    momentum = numbers.momenta[:, 0] * np.sqrt(mass)
    total = potential + 0.5 * np.square(momentum).sum(axis=1) / mass[:, 0]
    half, move = momentum - 0.5 * step * at_slope, step / mass
    count, accepted, scratch = np.zeros(chains, dtype=np.intp), np.zeros(chains), np.empty_like(q)
    for ends in _ends(gradients, leaps, length):
        at += np.multiply(move, half, out=scratch)
        margins = posterior.margins(places)[:chains]
        posterior.weights(margins, out=weights)
        at_slope = posterior.slope(factors, places)[:chains]
        half -= np.multiply(step, at_slope, out=scratch)
        if not ends.size:
            continue
        rows = ends if ends.size < chains else slice(None)  # all of them need no copy
        end, scale = half[rows] + 0.5 * step[rows] * at_slope[rows], mass[rows]
        reached = posterior.energy(margins[rows], weights[rows], at[rows])
        gain = total[rows] - (reached + 0.5 * np.square(end).sum(axis=1) / scale[:, 0])
        yes = numbers.thresholds[ends, count[rows]] < gain  # an energy that is not a number compares False
        q[rows] = np.where(yes[:, None], at[rows], q[rows])
        kept_slope[rows] = np.where(yes[:, None], at_slope[rows], kept_slope[rows])
        potential[rows] = np.where(yes, reached, potential[rows])
        accepted[rows] += yes
        draws[ends, count[rows]] = q[rows]
        count[rows] += 1
        momentum = numbers.momenta[ends, count[rows]] * np.sqrt(scale)
        total[rows] = potential[rows] + 0.5 * np.square(momentum).sum(axis=1) / scale[:, 0]
        at[rows] = q[rows]
        half[rows] = momentum - 0.5 * step[rows] * kept_slope[rows]
    return accepted


def _ends(gradients: int, leaps: np.ndarray, length: np.ndarray) -> list[np.ndarray]:
    """Return for each gradient the chains that end a trajectory by it; one that is done idles from then on."""
    ticks = np.arange(1, gradients + 1)[:, None]
    row, chain = np.nonzero((ticks % leaps == 0) & (ticks <= leaps * length))
    cuts = np.searchsorted(row, np.arange(gradients + 1)).tolist()
    return [chain[begin:end] for begin, end in itertools.pairwise(cuts)]
