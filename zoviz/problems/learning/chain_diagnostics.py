"""Diagnostics of Markov chains: effective sample size, Geweke's score and the potential scale reduction."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array

CAP = 10.0
"""Largest score and reduction that are told: those of a chain that never moved, or that is too short."""
_FEWEST = 20
"""Draws below which nothing is told of a chain."""
_FIRST, _LAST = 0.1, 0.5
"""Shares of a chain that Geweke's score compares."""


class Spectrum(NamedTuple):
    """Mean, variance and spectral density at 0 of S windows of chains, (S, c, d) each, and their lengths (S,)."""

    mean: Array
    variance: Array
    density: Array
    length: np.ndarray

    @property
    def error(self) -> Array:
        """The squared standard error of the mean, (S, c, d)."""
        return self.density / self.length[:, None, None]


class Diagnostics(NamedTuple):
    """The convergence diagnostics of the chains of S trials, (S,) each.

    Attributes
    ----------
    size : Array
        Effective sample size of the worst variable, summed over chains; 0 where a chain never moved or is too short.
    score : Array
        Worst of Geweke's scores over variables and chains, at most 10.
    reduction : Array
        Worst potential scale reduction over variables, at most 10.
    """

    size: Array
    score: Array
    reduction: Array


def spectrum(draws: Array, window: np.ndarray) -> Spectrum:
    """Return the spectra at 0 of windows (S, T) of bool of draws (S, c, T, d), all finite.

    The density is that of an autoregression fitted by Yule and Walker's equations, by the recursion of Levinson and
    Durbin for all series at once, its order by Akaike's criterion up to 10 log10 of the window's length: what CODA's
    ``spectrum0.ar`` and R's ``ar.yw`` compute.

    References
    ----------
    Plummer, Best, Cowles and Vines (2006), CODA, R News 6(1), 7-11.
    """
    from scipy import fft

    length = window.sum(axis=1)
    inside, n = window[:, None, :, None], length[:, None, None].astype(float)
    mean = np.where(inside, draws, 0.0).sum(axis=2) / n
    centred = np.moveaxis(np.where(inside, draws - mean[:, :, None], 0.0), 2, 3).copy()
    lags = int(10 * np.log10(max(draws.shape[2], 2)))  # by the chains' length: windows differ from trial to trial
    size = fft.next_fast_len(draws.shape[2] + lags + 1, real=True)
    power = fft.rfft(centred, size)
    covariances = fft.irfft(power.real**2 + power.imag**2, size)[..., : lags + 1] / n[..., None]
    covariances = np.moveaxis(covariances, 3, 0).copy()
    highest = np.minimum(10 * np.log10(np.maximum(n, 2.0)), n - 1.0)
    weights, rest = np.zeros((lags, *mean.shape)), covariances[0].copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        least, density = n * np.log(rest), rest * n / (n - 1.0)
        for k in range(lags):
            explained = (weights[:k] * covariances[k:0:-1]).sum(axis=0)
            partial = (covariances[k + 1] - explained) / rest
            weights[:k] = weights[:k] - partial * weights[:k][::-1]
            weights[k] = partial
            rest = rest * (1.0 - partial**2)
            criterion = n * np.log(rest) + 2 * (k + 1)
            candidate = rest * n / np.maximum(n - (k + 2), 1.0) / (1.0 - weights[: k + 1].sum(axis=0)) ** 2
            better = (criterion < least) & (k + 1 <= highest)
            least, density = np.where(better, criterion, least), np.where(better, candidate, density)
    return Spectrum(mean, covariances[0] * n / np.maximum(n - 1.0, 1.0), density, length)


def diagnose(draws: Array, lengths: np.ndarray, burn_in: Array, spectral: bool = True) -> Diagnostics:
    """Return the diagnostics of chains draws (S, c, T, d), of which lengths (S,) draws are there.

    Parameters
    ----------
    draws : Array, shape (S, c, T, d)
    lengths : ndarray of int, shape (S,)
    burn_in : Array, shape (S,)
        Share of the draws that is dropped.
    spectral : bool
        Whether Geweke's score divides by standard errors, as CODA does, so that it is standard normal for a chain that
        has converged; else by sqrt(var_1 + var_2), as PyMC's and ArviZ's ``geweke`` do.
    """
    out = Diagnostics(*(np.empty(len(lengths)) for _ in range(3)))
    for length in np.unique(lengths):  # of equal lengths together: transforms of another size round differently
        (rows,) = np.nonzero(lengths == length)
        part = _diagnose(draws[rows, :, :length], burn_in[rows], spectral)
        for whole, one in zip(out, part, strict=True):
            whole[rows] = one
    return out


def _diagnose(draws: Array, burn_in: Array, spectral: bool) -> Diagnostics:
    """Return the diagnostics of chains (S, c, T, d) of equal lengths."""
    count, length = len(draws), draws.shape[2]
    if length < _FEWEST:
        return Diagnostics(np.zeros(count), np.full(count, CAP), np.full(count, CAP))
    t, first = np.arange(length), np.floor(burn_in * length).astype(int)
    number = length - first
    short = number < _FEWEST
    first = np.where(short, 0, first)  # something to compute with, replaced below
    number = length - first
    whole = spectrum(draws, t >= first[:, None])
    early = (t >= first[:, None]) & (t < (first + (_FIRST * number).astype(int).clip(2))[:, None])
    half = int(_LAST * length)  # no late part is longer, whatever is burnt in
    late = np.broadcast_to(t >= (length - (_LAST * number).astype(int))[:, None], early.shape)
    one, other = spectrum(draws, early), spectrum(draws[:, :, length - half :], late[:, length - half :])
    n = number[:, None].astype(float)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.nan_to_num(n[..., None] * whole.variance / whole.density, nan=0.0, posinf=0.0).sum(axis=1).min(axis=1)
        between, within = whole.mean.var(axis=1, ddof=1), whole.variance.mean(axis=1)
        reduction = np.nan_to_num(np.sqrt((n - 1.0) / n + between / within), nan=CAP, posinf=CAP).max(axis=1)
        squares = one.error + other.error if spectral else one.variance + other.variance
        score = np.nan_to_num(np.abs(one.mean - other.mean) / np.sqrt(squares), nan=CAP, posinf=CAP).max(axis=(1, 2))
    stuck = (whole.variance <= 1e-24 + 1e-20 * whole.mean**2).any(axis=(1, 2)) | short
    return Diagnostics(
        np.where(stuck, 0.0, size),
        np.where(stuck, CAP, np.minimum(score, CAP)),
        np.where(stuck, CAP, np.minimum(reduction, CAP)),
    )


def autocorrelation(draws: Array, lags: int) -> Array:
    """Return the autocorrelations (c, lags + 1) of series (c, T)."""
    centred = draws - draws.mean(axis=1, keepdims=True)
    products = [(centred[:, : centred.shape[1] - k] * centred[:, k:]).sum(axis=1) for k in range(lags + 1)]
    covariances = np.stack(products, axis=1)
    return covariances / np.where(covariances[:, :1] > 0.0, covariances[:, :1], 1.0)
