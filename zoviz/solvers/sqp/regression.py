"""The model of the noisy arm: universal kriging with a quadratic kernel as a Bayesian regression, and its design."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.solvers.sqp.constants import SQPConstants
from zoviz.solvers.sqp.situation import Space

_RIDGE, _ROUND_OFF = 1e-10, 1e-13
_FULL, _DIAGONAL = 0, 1


class Prior(NamedTuple):
    """The magnitudes that a model assumes: kind of Hessian (0 full, 1 diagonal), size of curvature and of bias.

    And that of the noise which the calls of a batch share. All are in units of the noise of their differences.
    """

    kind: int
    curvature: float
    bias: float
    shared: float = 0.0


class Data(NamedTuple):
    """Points within reach of a centre, in units of its radius.

    Attributes
    ----------
    u : Array, shape (N, n)
    reach : Array, shape (N,)
        |u|_inf.
    counts : Array, shape (N,)
    values : Array, shape (N, q)
        Means of the outputs.
    batches : Array, shape (N, B)
        1 for the batch of each point, 0 for the others; no columns where points do not share their noise.
    """

    u: Array
    reach: Array
    counts: Array
    values: Array
    batches: Array


def priors(n: int, c: SQPConstants, common: bool = False) -> list[Prior]:
    """Return the priors among which a fit in n variables chooses: kinds of Hessian, curvatures and biases combined.

    And sizes of the noise that a batch shares, under ``common`` noise.
    """
    kinds = ([_FULL] if n <= c.full_up_to else []) + ([_DIAGONAL] if n >= c.diagonal_from else [])
    return [
        Prior(kind, curvature, bias, shared)
        for shared in (c.shared if common else (0.0,))
        for kind in kinds
        for curvature in c.curvatures
        for bias in c.biases
        if bias <= c.most_biased * curvature and (bias >= c.least_biased * curvature or bias == c.biases[0])
    ]


class Features:
    """The features of a model's quadratic part: N rows whose inner products are the kernel's.

    (u.v)^2 / 2 for a full Hessian, sum(u_i^2 v_i^2) / 2 for a diagonal one. Where a full Hessian has more entries than
    there are points, the rows are those of a factor of the kernel's matrix.

    Parameters
    ----------
    kind : int
    u : Array, shape (N, n)
    """

    def __init__(self, kind: int, u: Array) -> None:
        from scipy import linalg

        self._kind, self._u = kind, u
        n = u.shape[1]
        self._upper = np.triu_indices(n, 1)
        self._factor: Array | None = None
        if kind == _FULL and n * (n + 1) // 2 > len(u):
            kernel = np.square(u @ u.T) / 2.0
            kernel[np.diag_indices(len(u))] += _RIDGE * max(1.0, float(np.trace(kernel)) / len(u))
            self._factor = linalg.cholesky(kernel, lower=True, check_finite=False)
            self.rows = self._factor
        else:
            self.rows = self._explicit(u)

    def _explicit(self, u: Array) -> Array:
        squares = np.square(u) / np.sqrt(2.0)
        if self._kind == _DIAGONAL:
            return squares
        return np.concatenate([squares, u[..., self._upper[0]] * u[..., self._upper[1]]], axis=-1)

    def at(self, u: Array) -> tuple[Array, float]:
        """Return the row of features of a point u (n,), and the part of its kernel that the other rows do not span."""
        if self._factor is None:
            return self._explicit(u), 0.0
        from scipy import linalg

        row = linalg.solve_triangular(self._factor, np.square(self._u @ u) / 2.0, lower=True, check_finite=False)
        return row, max(0.0, float(u @ u) ** 2 / 2.0 - float(row @ row))

    def hessians(self, weights: Array) -> tuple[Array, Array, Array]:
        """Return diagonal (n, q), off-diagonal (n (n - 1) / 2, q), dual (N, q) parts of Hessians of weights (p, q)."""
        from scipy import linalg

        n, q = self._u.shape[1], weights.shape[1]
        pairs = len(self._upper[0])
        if self._factor is not None:
            dual = linalg.solve_triangular(self._factor, weights, lower=True, trans=1, check_finite=False)
            return np.zeros((n, q)), np.zeros((pairs, q)), dual
        off = weights[n:] if self._kind == _FULL else np.zeros((pairs, q))
        return np.sqrt(2.0) * weights[:n], off, np.zeros((len(self._u), q))


class Fitted(NamedTuple):
    """A regression with one prior: its features, the factor of its normal equations, and the weights (p, q).

    ``precision`` (N,) is what each point counts for.
    """

    features: Features
    factor: Array
    weights: Array
    curvature: float
    precision: Array


class Model:
    """Quadratic models of all outputs around a centre, with standard errors.

    Parameters
    ----------
    data : Data
    fits : dict of Prior to Fitted
        Those that are used.
    selection : list of Prior
        One per output.
    level, noise : Array, shape (q,)
        What values were centred by, and the noise of a call.

    Attributes
    ----------
    call_noise, noise : Array, shape (q,)
        The noise of a call, and that of differences in a batch, over the root of 2.
    level_error : Array, shape (q,)
        The standard error that the modelled outputs share at all points, where they share noise; else 0.
    """

    def __init__(
        self, data: Data, fits: dict[Prior, Fitted], selection: list[Prior], level: Array, noise: Array
    ) -> None:
        n, q = data.u.shape[1], len(noise)
        self.shared = np.array([prior.shared for prior in selection])
        self.call_noise, noise = noise, noise / np.sqrt(1.0 + np.square(self.shared))
        self.data, self.noise, self.priors = data, noise, selection
        self.bias = np.array([prior.bias for prior in selection])
        self._fits = fits
        self._outputs = {prior: np.array([prior == one for one in selection]) for prior in fits}
        self._constant, self._slope = np.zeros(q), np.zeros((n, q))
        self._dense = np.zeros((q, n, n))
        self._dual: Array | None = None
        upper = np.triu_indices(n, 1)
        for prior, fit in fits.items():
            mine = self._outputs[prior]
            weights = fit.weights[:, mine] * noise[mine]
            self._constant[mine], self._slope[:, mine] = weights[0], weights[1 : n + 1]
            diagonal, off, dual = fit.features.hessians(weights[n + 1 : n + 1 + fit.features.rows.shape[1]])
            part = np.zeros((int(mine.sum()), n, n))
            part[:, np.arange(n), np.arange(n)] = diagonal.T
            part[:, upper[0], upper[1]] = off.T
            part[:, upper[1], upper[0]] = off.T
            self._dense[mine] = part
            if dual.any():
                self._dual = np.zeros((len(data.u), q)) if self._dual is None else self._dual
                self._dual[:, mine] = dual
        self._constant, self._levelled = self._constant + level, False
        self.level_error = self.standard_error(np.zeros(n)) if self.batched else np.zeros(q)

    def level_by(self, data: Data) -> None:
        """Take the level from all batches of ``data``, more than the slopes are from."""
        share = data.batches / data.batches.sum(axis=0)
        linear, quadratic = self.parts(data.u, np.arange(len(self.noise)))
        of_batches = share.T @ (data.values - self._constant - linear - quadratic)
        own = np.square(share).T @ (1.0 + np.square(self.bias) * data.reach[:, None] ** 6)
        weight = 1.0 / (np.square(self.shared) + own)
        self._constant = self._constant + (weight * of_batches).sum(axis=0) / weight.sum(axis=0)
        self.level_error, self._levelled = self.noise / np.sqrt(weight.sum(axis=0)), True

    @property
    def batched(self) -> bool:
        """Whether the points of a batch share noise."""
        return self.data.batches.shape[1] > 0

    def value(self, u: Array) -> Array:
        """Return the modelled outputs (q,) at a point u (n,)."""
        out = self._constant + u @ self._slope + 0.5 * (self._dense @ u) @ u
        if self._dual is not None:
            out = out + 0.5 * np.square(self.data.u @ u) @ self._dual
        return out

    def gradient(self, u: Array) -> Array:
        """Return the derivatives (n, q) of the modelled outputs at a point u (n,)."""
        out = self._slope + (self._dense @ u).T
        if self._dual is not None:
            out = out + self.data.u.T @ (self._dual * (self.data.u @ u)[:, None])
        return out

    def hessian(self, weights: Array) -> Array:
        """Return the Hessian (n, n) of the sum of the modelled outputs with these weights (q,)."""
        out = np.tensordot(weights, self._dense, axes=1)
        if self._dual is not None:
            out = out + (self.data.u * (self._dual @ weights)[:, None]).T @ self.data.u
        return out

    def parts(self, u: Array, outputs: np.ndarray) -> tuple[Array, Array]:
        """Return linear and quadratic parts of some outputs (k,) at points (p, n), (p, k) each."""
        dense = self._dense[outputs]
        quadratic = 0.5 * ((u @ dense) * u).sum(axis=-1).T
        if self._dual is not None:
            quadratic = quadratic + 0.5 * np.square(u @ self.data.u.T) @ self._dual[:, outputs]
        return u @ self._slope[:, outputs], quadratic

    def standard_error(self, u: Array, level: bool = True) -> Array:
        """Return the posterior standard deviations (q,) of the modelled outputs at a point u (n,).

        Without the ``level``, of their differences from those at the centre.
        """
        from scipy import linalg

        if level and self._levelled:
            return np.hypot(self.standard_error(u, False), self.level_error)
        variance = np.zeros(len(self.noise))
        for prior, fit in self._fits.items():
            row, beyond = fit.features.at(u)
            whole = self._row(u, row, level)
            solution = linalg.solve_triangular(fit.factor, whole, lower=True, check_finite=False)
            variance[self._outputs[prior]] = float(solution @ solution) + fit.curvature**2 * beyond
        return np.sqrt(variance) * self.noise

    def _row(self, u: Array, features: Array, level: bool) -> Array:
        """Return the row of the regression at a point u (n,), or its difference from that at the centre."""
        return np.concatenate([[1.0 if level else 0.0], u, features, np.zeros(self.data.batches.shape[1])])

    def noise_error(self, u: Array, level: bool = True) -> Array:
        """Return the standard deviations (q,) that the calls' noise alone gives the modelled outputs at a point u (n,).

        Without the ``level``, their differences from those at the centre. More calls lessen it; the rest of the
        standard error is of curvatures that too few points tell.
        """
        from scipy import linalg

        n, variance = len(u), np.zeros(len(self.noise))
        for prior, fit in self._fits.items():
            row, _ = fit.features.at(u)
            whole, last = self._row(u, row, level), n + 1 + len(row)
            solution = linalg.cho_solve((fit.factor, True), whole, check_finite=False)
            effect = solution[0] + self.data.u @ solution[1 : n + 1] + fit.features.rows @ solution[n + 1 : last]
            of_calls = fit.precision * (effect + self.data.batches @ solution[last:] if self.batched else effect)
            variance[self._outputs[prior]] = float(np.square(of_calls) @ (1.0 / self.data.counts))
            if self.batched:
                of_batches = prior.shared * (of_calls @ self.data.batches)
                variance[self._outputs[prior]] += float(of_batches @ of_batches)
        return np.sqrt(variance) * self.noise

    def upper(self, u: Array, errors: float) -> Array:
        """Return the outputs at u (n,) plus ``errors`` standard errors, with the model's own error, (1 + m,)."""
        unsure = self.standard_error(u) + self.bias * self.noise * np.abs(u).max() ** 3
        return np.asarray(self.value(u) + errors * unsure)


def fit(data: Data, noise: Array, options: list[Prior]) -> Model:
    r"""Fit a quadratic model to every output, each with the prior of the largest restricted likelihood.

    .. math:: y = \theta_0 + \theta^T u + \tfrac12 u^T H u + e, \quad
              \mathrm{cov}(\tfrac12 u^T H u, \tfrac12 v^T H v) = t_2^2\,k(u, v), \quad
              \mathrm{var}\,e_i = 1 / N_i + t_3^2 |u_i|_\infty^6

    in units of the noise, with theta unpenalised. Far points lose weight by the bias t_3 of a cubic term; a linear
    output gets t_2 near 0 by itself, and is then known to sigma / sqrt(N). Where the points of a batch b share noise, a
    random intercept of variance t_4^2 for each batch is added, and the unit is the rest of the noise, sigma / (1 +
    t_4^2)^(1/2): slopes come from the differences in batches, and the level is known to t_4 over the root of their
    number.

    Parameters
    ----------
    data : Data
    noise : Array, shape (q,)
    options : list of Prior

    References
    ----------
    Patterson and Thompson (1971) for restricted likelihood; Laird and Ware (1982) for random intercepts; Rasmussen and
    Williams (2006), §2.7, for the trend.
    """
    from scipy import linalg

    level = data.values.mean(axis=0)
    values = (data.values - level) / noise
    n, q = data.u.shape[1], len(noise)
    best = np.full(q, -np.inf)
    selection = [options[0]] * q
    fits: dict[Prior, Fitted] = {}
    for kind in sorted({prior.kind for prior in options}):
        features = Features(kind, data.u)
        rows = np.concatenate([np.ones((len(data.u), 1)), data.u, features.rows, data.batches], axis=1)
        last = n + 1 + features.rows.shape[1]
        for bias in sorted({prior.bias for prior in options if prior.kind == kind}):
            weight = 1.0 / (1.0 / data.counts + bias**2 * data.reach**6)
            gram, right = (rows * weight[:, None]).T @ rows, (rows * weight[:, None]).T @ values
            guard = _ROUND_OFF * float(np.diag(gram).max())
            for prior in (one for one in options if one.kind == kind and one.bias == bias):
                precision = np.full(rows.shape[1], prior.curvature**-2 + guard)
                precision[: n + 1] = _RIDGE + guard
                if prior.shared:
                    precision[last:] = prior.shared**-2 + guard
                units = np.sqrt(1.0 + prior.shared**2)
                try:
                    factor = linalg.cholesky(gram + np.diag(precision), lower=True, check_finite=False)
                except linalg.LinAlgError:
                    continue
                weights = linalg.cho_solve((factor, True), units * right, check_finite=False)
                rest = units * values - rows @ weights
                misfit = weight @ np.square(rest) + precision @ np.square(weights)
                likelihood = -0.5 * misfit + 0.5 * np.log(weight).sum() + 0.5 * np.log(precision[n + 1 :]).sum()
                likelihood -= np.log(np.diag(factor)).sum() - (len(values) - n - 1) * np.log(units)
                gain = likelihood > best + 1e-9
                if gain.any():
                    best[gain] = likelihood[gain]
                    selection = [prior if gain[j] else one for j, one in enumerate(selection)]
                    fits[prior] = Fitted(features, factor, weights, prior.curvature, weight)
    return Model(data, {prior: one for prior, one in fits.items() if prior in selection}, selection, level, noise)


def design(centre: Array, radius: float, count: int, space: Space, generator: np.random.Generator) -> Array:
    """Return a design of points (count, n) around a centre (n,), within ``radius`` unit lengths and the box.

    Rows are unit vectors or those of a random orthogonal matrix scaled to largest entry 1, by the toss of a coin, and
    beyond n random in {-1, 0, 1}; each with its mirror image. Random square blocks of signs would be ill-conditioned:
    noise amplified, and then exploited by the optimiser.
    """
    c = space.constants
    n = space.n
    half = (count + 1) // 2
    if generator.random() < 0.5:
        rows = np.eye(n)[generator.permutation(n)]
    else:
        rows = np.linalg.qr(generator.standard_normal((n, n)))[0]
        rows /= np.abs(rows).max(axis=1, keepdims=True)
    rows = rows[:half]
    if half > n:
        more = generator.integers(-1, 2, (half - n, n)).astype(float)
        more[~more.any(axis=1)] = 1.0
        rows = np.concatenate([rows, more])
    rows = np.concatenate([rows, -rows])[:count]
    reach = radius * space.scale
    lower, upper = np.maximum(space.lower, centre - reach), np.minimum(space.upper, centre + reach)
    above, below = upper - centre, centre - lower
    clipped = (above < c.near_bound * reach) | (below < c.near_bound * reach)
    inside = centre + np.where(rows > 0.0, rows * above, rows * below)
    points = np.where(clipped, (lower + upper) / 2.0 + rows * (upper - lower) / 2.0, inside)
    return space.clip(np.where(clipped & (generator.random(points.shape) < c.near_bound), centre, points))
