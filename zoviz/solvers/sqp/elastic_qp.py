"""The elastic quadratic programme of a step, and the choice of its penalty (steering)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

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


class Balls(NamedTuple):
    """Rows that have to hold: c + A d + doubt |d| + bend |lengths * d|^2 <= 0, with |d| by entries.

    Attributes
    ----------
    bend : Array, shape (m,)
        NaN of rows that need not.
    lengths : Array, shape (n,)
    doubt : Array, shape (m, n)
    """

    bend: Array
    lengths: Array
    doubt: Array


class Linearisation(NamedTuple):
    """A quadratic model of f, linear models c + A d of h, and the box of d: shapes (n, n), (n,), (m, n), (m,), (n,).

    ``balls`` are of rows that have to hold; None where none have to.
    """

    hessian: Array
    gradient: Array
    jacobian: Array
    value: Array
    lower: Array
    upper: Array
    balls: Balls | None = None


def solve(model: Linearisation, penalty: float, tolerance: float = TOLERANCE) -> Step:
    r"""Solve the elastic quadratic programme of a step by an interior-point method.

    .. math:: \min_{d, e}\; g^T d + \tfrac12 d^T B d + \rho \sum_j e_j, \quad A d + c \le e,\; e \ge 0,\; l \le d \le u

    Rows that cannot become active in the box are left out, rows are divided by their largest entry and the objective by
    its size, so that one tolerance fits all.
    """
    import clarabel

    hessian, gradient, jacobian, value, lower, upper, balls = model
    if balls is not None:
        return _solve_inside(model, balls, penalty, tolerance)
    n = len(gradient)
    reach = np.maximum(np.abs(lower), np.abs(upper))
    rows = np.flatnonzero(value + np.abs(jacobian) @ reach > 0.0)
    size = max(_TINY, np.abs(gradient).max(initial=0.0), np.abs(np.diag(hessian)).max(initial=0.0))
    scale = np.maximum(_TINY, np.abs(jacobian[rows]).max(axis=1, initial=0.0))
    q = len(rows)
    cost = np.concatenate([gradient / size, penalty / size * scale])
    limits = np.concatenate([-value[rows] / scale, np.zeros(q), upper, -lower])
    solution = clarabel.DefaultSolver(
        _quadratic(hessian / size, q),
        cost,
        _constraints(jacobian[rows] / scale[:, None], n),
        limits,
        [clarabel.NonnegativeConeT(len(limits))],
        _settings(tolerance),
    ).solve()
    point, multipliers = np.asarray(solution.x), np.zeros(len(value))
    if not np.isfinite(point).all():
        return Step(np.zeros(n), multipliers, float(np.maximum(value, 0.0).sum()), penalty)
    d = np.minimum(np.maximum(point[:n], lower), upper)
    multipliers[rows] = np.maximum(0.0, np.nan_to_num(np.asarray(solution.z)[:q])) * size / scale
    return Step(d, multipliers, float(np.maximum(value + jacobian @ d, 0.0).sum()), penalty)


def _solve_inside(model: Linearisation, balls: Balls, penalty: float, tolerance: float) -> Step:
    r"""Solve the programme with rows that have to hold, for y = d / r, r the reach of the box.

    With bounds v of |y| by entries, and one t of a second-order cone for the square, of all these rows together:

    .. math:: A y + c + E v + b\, t \le 0, \quad |y| \le v, \quad
              t \ge |l \circ y|^2 \iff (t + 1,\, t - 1,\, 2\, l \circ y) \in \mathcal{Q}
    """
    import clarabel
    from scipy.sparse import csc_matrix

    n, m, kept = len(model.gradient), len(model.value), ~np.isnan(balls.bend)
    reach, longest = float(np.maximum(np.abs(model.lower), np.abs(model.upper)).max()), balls.lengths.max()
    jacobian, gradient, hessian = model.jacobian * reach, model.gradient * reach, model.hessian * reach**2
    bend = np.where(kept, balls.bend, 0.0) * (longest * reach) ** 2
    scale = np.max([np.abs(jacobian).max(axis=1, initial=_TINY), bend, np.abs(model.value)], axis=0)
    size = max(_TINY, np.abs(gradient).max(initial=0.0), np.abs(np.diag(hessian)).max(initial=0.0))
    slack, one = np.eye(m)[:, ~kept], np.eye(n)
    q = slack.shape[1]
    # The columns are those of y, v, the slacks and t; v and t are bounded too, so that none is free at 0.
    linear = np.concatenate(
        [
            np.column_stack([jacobian / scale[:, None], balls.doubt * reach / scale[:, None], -slack, bend / scale]),
            np.column_stack([one, -one, np.zeros((n, q + 1))]),
            np.column_stack([-one, -one, np.zeros((n, q + 1))]),
            np.column_stack([one, np.zeros((n, n + q + 1))]),
            np.column_stack([-one, np.zeros((n, n + q + 1))]),
            np.column_stack([np.zeros((q, 2 * n)), -np.eye(q), np.zeros(q)]),
            np.column_stack([np.zeros((n, n)), one, np.zeros((n, q + 1))]),
            np.append(np.zeros(2 * n + q), 1.0)[None],
        ]
    )
    cone = np.zeros((n + 2, 2 * n + q + 1))
    cone[:2, -1], cone[2:, :n] = -1.0, -2.0 * np.diag(balls.lengths / longest)
    limits = [-model.value / scale, np.zeros(2 * n), model.upper / reach, -model.lower / reach, np.zeros(q)]
    limits += [np.full(n, 2.0), [2.0 * n], [1.0, -1.0], np.zeros(n)]
    cost = np.concatenate([gradient / size, np.zeros(n), penalty / size * scale[~kept], [0.0]])
    square = np.zeros((len(cost), len(cost)))
    square[:n, :n] = np.triu(hessian / size + _RIDGE * one)
    solution = clarabel.DefaultSolver(
        csc_matrix(square),
        cost,
        csc_matrix(np.concatenate([linear, cone])),
        np.concatenate(limits),
        [clarabel.NonnegativeConeT(len(linear)), clarabel.SecondOrderConeT(n + 2)],
        _settings(tolerance),
    ).solve()
    point = np.asarray(solution.x)
    if not np.isfinite(point).all():
        return Step(np.zeros(n), np.zeros(m), float(np.maximum(model.value, 0.0).sum()), penalty)
    d = np.minimum(np.maximum(reach * point[:n], model.lower), model.upper)
    near = 10.0 * float(np.abs(d).max())
    if 0.0 < near < 0.1 * reach:  # again, for as many digits of a short step
        nearer = model._replace(lower=np.maximum(model.lower, -near), upper=np.minimum(model.upper, near))
        return _solve_inside(nearer, balls, penalty, tolerance)
    multipliers = np.maximum(0.0, np.nan_to_num(np.asarray(solution.z)[:m])) * size / scale
    return Step(d, multipliers, float(np.maximum(model.value + model.jacobian @ d, 0.0).sum()), penalty)


def _settings(tolerance: float) -> Any:
    """Return the library's settings for a programme."""
    import clarabel

    settings = clarabel.DefaultSettings()
    settings.verbose, settings.max_iter = False, _ITERATIONS
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    return settings


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
