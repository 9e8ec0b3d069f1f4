r"""A regression of all outputs around a point whose errors are known: fresh calls judge, older ones lend curvatures.

The calls that led to a point are a biased jury: it was chosen because they were low. So calls that had no part in the
choice tell levels, slopes and curvatures along their own axes; those of before have level and slope of their own, and
tell the rest of the Hessian,

.. math:: y = c_k + g_k^T u + \tfrac12 u^T H u + \tfrac12 \sum_a d_a (a^T u)^2 [k = \text{fresh}] + e,

k being fresh or before. Every estimate is linear in the calls, so that its error is a sum over them: their residuals
(a sandwich, whatever the law of the noise and wherever it is larger), the misfit of a quadratic, and curvatures that
nothing tells. A fit takes the share h (its leverage) of a call's variance out of its residual, nearly all where one
call alone tells a slope: so much of the fresh calls' common variance is added again.

References
----------
White (1980) for the sandwich; Dempster, Laird and Rubin (1977) for a residual's square and what the fit hides of it;
Bell and McCaffrey (2002) for its degrees of freedom; Patterson and Thompson (1971) for the magnitudes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.certainty.calls import EXACT_SHARE, LEAST_SHARE, Calls, Groups, coefficients, near_by, quadratic, ridge
from zoviz.certainty.lengths import lengths_of
from zoviz.core.types import Array
from zoviz.solvers.sqp.regression import Prior

REACH = 0.45
"""Distance of a design's pairs from its centre, in radii: nearer ones tell slopes badly, farther ones have more misfit
(least width of f* on eight problems)."""
AT_BOUND = 1e-3
"""Distance from a bound, in these, at which a variable is held there: the others' pairs leave it where it is."""
CENTRE_SHARE = 0.4
"""Share of a design's calls at the point itself: levels decide on feasibility (chosen on the same)."""
LOOSE = 3.0
"""Spread of curvatures along the axes, in their own root mean squares: with less f(x) was covered in 83 to 89 %."""
_LEAST_SPREAD = 1e-3
"""Guard of curvatures that are all 0 along the axes, in the noise."""


class Design(NamedTuple):
    """Points to be called in order to judge one.

    Attributes
    ----------
    points : Array, shape (K, n)
    centre : Array, shape (n,)
        Of the pairs: the point itself, moved so that they keep the bounds.
    reach : Array, shape (n,)
    axes : Array, shape (k n, n)
        Directions of the pairs, of largest entry 1, in units of ``reach``.
    length : Array, shape (n,)
        Of the model in each variable.
    """

    points: Array
    centre: Array
    reach: Array
    axes: Array
    length: Array


def design(
    x: Array,
    unit: Array,
    lower: Array,
    upper: Array,
    calls: int,
    random: np.random.Generator,
    before: Calls,
    bases: int,
) -> Design:
    """Return the points to call in order to judge x: x itself, and pairs along random orthogonal axes.

    A variable at a bound is moved alone, to two places inside.

    Parameters
    ----------
    x, unit, lower, upper : Array, shape (n,)
        The point, the lengths that count as 1, and the bounds; all of free variables alone.
    calls : int
        At least 2 n + 1.
    random : Generator
    before : Calls
        Finite earlier ones, which choose the lengths.
    bases : int
        Bases of axes at most: 1 where earlier calls tell the Hessian; (n + 2) / 2 tell the whole of it.
    """
    n, length = len(x), lengths_of(before, x, unit, calls)
    pairs = int(round((1.0 - CENTRE_SHARE) * calls)) // 2
    reach = np.minimum(REACH * length, (upper - lower) / 2.0)
    room = np.minimum(x - lower, upper - x)
    held, inward = room <= AT_BOUND * reach, np.where(upper - x > x - lower, 1.0, -1.0)
    roomy = np.flatnonzero(~held)
    bases = min(max(1, (pairs - int(held.sum())) // max(roomy.size, 1)), bases)
    axes = np.zeros((bases * roomy.size, n))
    for k in range(bases):
        turned = np.linalg.qr(random.standard_normal((roomy.size, roomy.size)))[0]
        axes[k * roomy.size : (k + 1) * roomy.size, roomy] = turned / np.abs(turned).max(
            axis=1, keepdims=True, initial=0.0
        )
    centre = np.where(held, x + inward * reach, np.clip(x, lower + reach, upper - reach))
    base, inner = np.where(held, x, centre), np.eye(n)[held] * inward
    ahead = np.concatenate([base + axes * reach, x + inner * reach])
    beyond = np.concatenate([base - axes * reach, x + 2.0 * inner * reach])
    ends = np.clip(np.stack([ahead, beyond], axis=1), lower, upper)
    pairs = max(pairs, len(ends))
    points = np.concatenate([np.resize(ends, (pairs, 2, n)).reshape(-1, n), np.tile(x, (calls - 2 * pairs, 1))])
    return Design(points, centre, reach, np.concatenate([axes, inner]), length)


class LocalModel:
    """Quadratic models of all outputs around a point, in units of a radius, and the errors of what is linear in them.

    Parameters
    ----------
    before, fresh : Calls
        Finite ones. The first may be none.
    x : Array, shape (n,)
    plan : Design
        That of ``fresh``.
    misfit : bool
        Whether a quadratic's misfit has a part in weights and errors.

    Attributes
    ----------
    value, slope, hessian : Array, shapes (q,), (q, n), (q, n, n)
        At the point, in units of the lengths.
    length : Array, shape (n,)
        How far the models reach in each variable.
    noise : Array, shape (q,)
        Standard deviation of one call.
    """

    def __init__(self, before: Calls, fresh: Calls, x: Array, plan: Design, misfit: bool = True) -> None:
        self.length = plan.length
        before = near_by(before, x, self.length)
        points, outputs = np.concatenate([fresh.x, before.x]), np.concatenate([fresh.y, before.y])
        self.n, self.q, self.calls = len(x), outputs.shape[1], len(points)
        is_fresh = np.arange(len(points)) < len(fresh.x)
        u = (points - x) / self.length
        groups = Groups(u, outputs)
        self.noise = groups.noise
        along = plan.axes / np.square(plan.axes).sum(axis=1)[:, None] / plan.reach
        self._axes, self._shift = along * self.length, along @ (x - plan.centre)
        self._regress(u, outputs, is_fresh, groups, misfit)

    def _regress(self, u: Array, outputs: Array, is_fresh: np.ndarray, groups: Groups, misfit: bool) -> None:
        n, linear = self.n, np.concatenate([np.ones((len(u), 1)), u], axis=1)
        parts = [linear * is_fresh[:, None], linear * ~is_fresh[:, None]] if not is_fresh.all() else [linear]
        along = 0.5 * np.square(u @ self._axes.T + self._shift) * is_fresh[:, None]
        rows = np.concatenate([*parts, quadratic(u), along], axis=1)
        first = rows.shape[1] - len(self._axes) - n * (n + 1) // 2  # of the quadratic part
        self._used = np.r_[0 : n + 1, first : rows.shape[1]]  # what fresh calls are described by
        shrunk, loose = np.split(np.arange(first, rows.shape[1]), [n * (n + 1) // 2])
        scale = np.maximum(groups.noise, groups.least(LEAST_SHARE if self.noise.any() else EXACT_SHARE))
        chosen = [one if misfit else one._replace(bias=0.0) for one in groups.magnitudes(scale)]
        cube = np.power(np.abs(u).max(axis=1), 3)
        weights, self._maps, self._unknown = [], [], []
        self._residual, leverage = np.zeros_like(outputs), np.zeros_like(outputs)
        solved: dict[tuple[Prior, float], tuple[Array, Array, Array]] = {}
        for j, prior in enumerate(chosen):
            precision = np.zeros(rows.shape[1])
            precision[shrunk] = prior.curvature**-2
            share = 1.0 / (1.0 + groups.counts[groups.of] * np.square(prior.bias * cube))
            free = ridge(rows, share, precision)[0] @ outputs[:, j]
            root = float(np.sqrt(np.square(free[loose]).mean())) if loose.size else 0.0
            spread = max(LOOSE * root / scale[j], _LEAST_SPREAD)
            precision[loose] = spread**-2
            if (prior, spread) not in solved:
                solved[prior, spread] = ridge(rows, share, precision)
            map_, inverse, own = solved[prior, spread]
            self._maps.append(map_)
            self._unknown.append(inverse * np.sqrt(precision) * scale[j])
            weights.append(map_ @ outputs[:, j])
            leverage[:, j], self._residual[:, j] = own, outputs[:, j] - rows @ weights[-1]
        self._leverage = np.clip(leverage, 0.0, 1.0)
        left = np.maximum((1.0 - self._leverage[is_fresh]).sum(axis=0), 1.0)
        self._root = np.linalg.qr(self._residual[is_fresh] / np.sqrt(left), mode="r")
        self._pooled = is_fresh / left.mean()
        self._of, bias = groups.of, np.array([prior.bias for prior in chosen])
        self._misfit = bias * scale * cube[groups.first][:, None]
        self._read(np.array(weights)[:, self._used])

    def _read(self, weights: Array) -> None:
        """Take value, slope and Hessian at the point from coefficients (q, p)."""
        n, (i, j) = self.n, np.triu_indices(self.n, 1)
        self.value, self.slope = weights[:, 0], weights[:, 1 : n + 1]
        self.hessian = np.zeros((self.q, n, n))
        self.hessian[:, np.arange(n), np.arange(n)] = np.sqrt(2.0) * weights[:, n + 1 : 2 * n + 1]
        last = coefficients(n)
        self.hessian[:, i, j] = self.hessian[:, j, i] = weights[:, 2 * n + 1 : last]
        along = weights[:, last:]
        self.value = self.value + 0.5 * along @ np.square(self._shift)
        self.slope = self.slope + along @ (self._shift[:, None] * self._axes)
        self.hessian += np.einsum("qa,ai,aj->qij", along, self._axes, self._axes)

    def value_at(self, u: Array) -> Array:
        """Return the outputs (q,) at a point u (n,)."""
        return np.asarray(self.value + self.slope @ u + 0.5 * (self.hessian @ u) @ u)

    def slope_at(self, u: Array) -> Array:
        """Return the derivatives (q, n) at a point u (n,)."""
        return np.asarray(self.slope + self.hessian @ u)

    def value_row(self, u: Array) -> Array:
        """Return what every coefficient has in an output at u, (p,)."""
        along = 0.5 * np.square(self._axes @ u + self._shift)
        return np.concatenate([[1.0], u, quadratic(u[None])[0], along])

    def slope_rows(self, u: Array) -> Array:
        """Return what every coefficient has in an output's derivatives at u, (n, p)."""
        n, pairs = self.n, list(zip(*np.triu_indices(self.n, 1), strict=True))
        rows = np.zeros((n, coefficients(n) + len(self._axes)))
        rows[:, 1 : n + 1] = np.eye(n)
        rows[np.arange(n), n + 1 + np.arange(n)] = np.sqrt(2.0) * u
        for k, (i, j) in enumerate(pairs):
            rows[i, 2 * n + 1 + k], rows[j, 2 * n + 1 + k] = u[j], u[i]
        rows[:, coefficients(n) :] = (self._axes * (self._axes @ u + self._shift)[:, None]).T
        return rows

    def errors(self, functionals: Array) -> Errors:
        """Return the errors of linear functionals (k, q, p) of the outputs' coefficients."""
        effects = np.zeros((self.q, len(functionals), self.calls))
        rest = np.zeros((len(functionals), len(functionals)))
        for j in range(self.q):
            if not functionals[:, j].any():
                continue
            effects[j] = functionals[:, j] @ self._maps[j][self._used]
            grouped = np.array([np.bincount(self._of, one) for one in effects[j]]) * self._misfit[:, j]
            unknown = functionals[:, j] @ self._unknown[j][self._used]
            rest += grouped @ grouped.T + unknown @ unknown.T
        seen = np.einsum("jkc,cj->kc", effects, self._residual)
        hidden = np.tensordot(self._root, effects * np.sqrt(self._leverage.T)[:, None], 1)
        noise = seen @ seen.T + np.einsum("rac,rbc->ab", hidden, hidden)
        if not self.noise.any():  # what a quadratic leaves is no noise: near each other, all calls are wrong alike
            alike = np.abs(seen).sum(axis=1) / np.maximum(np.linalg.norm(seen, axis=1), 1e-300)
            noise = noise * np.outer(alike, alike)
        own = np.maximum(np.diag(noise), 1e-300)
        # Satterthwaite's: of a weighted sum of the residuals' squares, each of 1 - h degrees.
        left, share = 1.0 - self._leverage.mean(axis=1), np.square(np.tensordot(self._root, effects, 1)).sum(axis=0)
        share += (share @ (1.0 - left))[:, None] * self._pooled
        degrees = np.square(share @ left) / np.maximum(np.square(share) @ left, 1e-300)
        degrees = degrees * np.square((own + np.diag(rest)) / own)
        return Errors(noise, noise + rest, np.clip(degrees, 3.0, 1e4))


class Errors(NamedTuple):
    """Covariances (k, k) of estimates by noise alone and in all, and their degrees of freedom (k,)."""

    noise: Array
    all: Array
    degrees: Array
