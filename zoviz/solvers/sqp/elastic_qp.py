"""The elastic quadratic programme of a step, and the choice of its penalty (steering)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from zoviz.core.types import Array

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

SATURATED = 0.999
"""A multiplier of at least this share of the penalty is the penalty's own: its row stays violated."""
TOLERANCE = 1e-8
"""Of the programme's residuals and gap: the library's own."""
_RIDGE = 1e-9
"""Added to the scaled Hessian, so that the minimiser is one point."""
_TINY = 1e-12
_ITERATIONS = 60
_RAISES = 8
"""Times that the penalty is raised in one step at most: where it must grow further, the next step goes on."""
_RESTORING = 1e-6
"""The Hessian in the programme that only asks how little violation is possible."""
_FAIR_SHARE = 0.1
"""A step must remove all but this share of the violation that can be removed (Byrd, Nocedal and Waltz, 2008)."""


class Step(NamedTuple):
    """A step that solves the elastic programme, with its multipliers, the violation that is left and the penalty.

    Attributes
    ----------
    d : Array, shape (n,)
    multipliers : Array, shape (m,)
    violation : float
        sum [A d + c]_+ at the step.
    penalty : float
        The penalty rho of the programme.
    """

    d: Array
    multipliers: Array
    violation: float
    penalty: float

    @property
    def largest_multiplier(self) -> float:
        """The largest multiplier below the penalty: one at the penalty says nothing of the size that is needed."""
        multipliers = self.multipliers[self.multipliers < SATURATED * self.penalty]
        return float(multipliers.max(initial=0.0))


class Linearisation(NamedTuple):
    """A quadratic model of f, linear models c + A d of h, and the box of d: shapes (n, n), (n,), (m, n), (m,), (n,)."""

    hessian: Array
    gradient: Array
    jacobian: Array
    value: Array
    lower: Array
    upper: Array


def solve(model: Linearisation, penalty: float, tolerance: float = TOLERANCE) -> Step:
    r"""Solve the elastic quadratic programme of a step by an interior-point method.

    .. math:: \min_{d, e}\; g^T d + \tfrac12 d^T B d + \rho \sum_j e_j, \quad A d + c \le e,\; e \ge 0,\; l \le d \le u

    Rows that cannot become active in the box are left out, rows are divided by their largest entry and the objective by
    its size, so that one tolerance fits all.
    """
    import clarabel

    hessian, gradient, jacobian, value, lower, upper = model
    n = len(gradient)
    reach = np.maximum(np.abs(lower), np.abs(upper))
    rows = np.flatnonzero(value + np.abs(jacobian) @ reach > 0.0)
    size = max(_TINY, np.abs(gradient).max(initial=0.0), np.abs(np.diag(hessian)).max(initial=0.0))
    scale = np.maximum(_TINY, np.abs(jacobian[rows]).max(axis=1, initial=0.0))
    q = len(rows)
    cost = np.concatenate([gradient / size, penalty / size * scale])
    limits = np.concatenate([-value[rows] / scale, np.zeros(q), upper, -lower])
    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, _ITERATIONS
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    solution = clarabel.DefaultSolver(
        _quadratic(hessian / size, q),
        cost,
        _constraints(jacobian[rows] / scale[:, None], n),
        limits,
        [clarabel.NonnegativeConeT(len(limits))],
        settings,
    ).solve()
    point, multipliers = np.asarray(solution.x), np.zeros(len(value))
    if not np.isfinite(point).all():
        return Step(np.zeros(n), multipliers, float(np.maximum(value, 0.0).sum()), penalty)
    d = np.minimum(np.maximum(point[:n], lower), upper)
    multipliers[rows] = np.maximum(0.0, np.nan_to_num(np.asarray(solution.z)[:q])) * size / scale
    return Step(d, multipliers, float(np.maximum(value + jacobian @ d, 0.0).sum()), penalty)


def steered(
    model: Linearisation, penalty: float, largest: float, least_violation: float, tolerance: float = TOLERANCE
) -> Step:
    """Solve the elastic programme, raising its penalty until the violation falls by a fair part of what is possible.

    Parameters
    ----------
    model : Linearisation
    penalty : float
    largest : float
        The penalty grows no further than this times max(1, |g|).
    least_violation : float
        Violation that counts as none, relative to max(1, the present one).
    tolerance : float
        Of the programmes.

    References
    ----------
    Byrd, Nocedal and Waltz (2008), Steering exact penalty methods for nonlinear programming.
    """
    step, present = solve(model, penalty, tolerance), float(np.maximum(model.value, 0.0).sum())
    enough = least_violation * max(1.0, present)
    if step.violation <= enough:
        return step
    n = len(model.gradient)
    best = solve(model._replace(hessian=_RESTORING * np.eye(n), gradient=np.zeros(n)), 1.0, tolerance).violation
    limit = largest * max(1.0, float(np.abs(model.gradient).max(initial=0.0)))
    for _ in range(_RAISES):
        if step.violation - best <= _FAIR_SHARE * (present - best) + enough or penalty >= limit:
            break
        penalty *= 10.0
        step = solve(model, penalty, tolerance)
    return step


def _quadratic(hessian: Array, q: int) -> csc_matrix:
    """Return the upper triangle of the objective's matrix, with q columns of zeros for the slacks."""
    from scipy.sparse import csc_matrix

    n = len(hessian)
    # Column by column: the transpose's lower triangle, read by rows, is the upper triangle read by columns.
    columns, rows = np.tril_indices(n)
    data = hessian[rows, columns] + _RIDGE * (rows == columns)
    starts = np.concatenate([np.arange(n + 1) * np.arange(1, n + 2) // 2, np.full(q, n * (n + 1) // 2)])
    return csc_matrix((data, rows, starts), shape=(n + q, n + q))


def _constraints(jacobian: Array, n: int) -> csc_matrix:
    """Return the rows [A, -I], [0, -I], [I, 0] and [-I, 0] in the order of their columns."""
    from scipy.sparse import csc_matrix

    q = len(jacobian)
    steps = np.arange(n)
    data = np.concatenate([jacobian.T, np.ones((n, 1)), -np.ones((n, 1))], axis=1)
    rows = np.concatenate(
        [
            np.broadcast_to(np.arange(q), (n, q)),
            (2 * q + steps)[:, None],
            (2 * q + n + steps)[:, None],
        ],
        axis=1,
    )
    slack_rows = np.stack([np.arange(q), q + np.arange(q)], axis=1)
    values = np.concatenate([data.ravel(), -np.ones(2 * q)])
    starts = np.concatenate([np.arange(n) * (q + 2), n * (q + 2) + 2 * np.arange(q + 1)])
    return csc_matrix(
        (values, np.concatenate([rows.ravel(), slack_rows.ravel()]), starts), shape=(2 * q + 2 * n, n + q)
    )
