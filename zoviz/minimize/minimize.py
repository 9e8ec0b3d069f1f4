"""The front door: minimise a function, in SciPy's manner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from zoviz.core import defaults
from zoviz.evaluation.scipy_constraints import WithArguments, stacked
from zoviz.minimize.session import Task
from zoviz.problems.user.best_point import Ledger, Recorded
from zoviz.runs.engine.result import OptimizeResult
from zoviz.solvers.base import Solver

_OF_PROBLEM = ("noise", "optimal_value", "scaled")
"""Options that are the problem's, where it has such a parameter; the others are the run's or the solver's."""


def minimize(
    fun: Callable[..., Any],
    x0: ArrayLike | None,
    bounds: Any = None,
    constraints: Any = (),
    method: str | Solver | type[Solver] = "auto",
    maxfev: int | None = None,
    seed: int | None = None,
    callback: Callable[..., object] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    args: Any = (),
    joint: bool = False,
    workers: Any = None,
    timeout: float | None = None,
    on_error: str = "raise",
) -> OptimizeResult:
    """Minimise fun(x) subject to constraints and bounds, from values alone."""
    settings = dict(options or {})
    params = {"joint": joint, "workers": workers, "timeout": timeout, "on_error": on_error}
    params |= {name: settings.pop(name) for name in _OF_PROBLEM if name in settings and name in Recorded.param}
    tolerance = settings.setdefault("tolerance", defaults.FEASIBILITY_TOLERANCE)
    problem = _pose(WithArguments(fun, args) if args != () else fun, x0, bounds, constraints, tolerance, params)
    task = Task(problem, maxfev, seed, settings)
    try:
        task.examine("noise" in params)
        return task.solve(method, callback)
    finally:
        problem.release()


minimize.__doc__ = (
    f"{minimize.__doc__}\n"
    + """
One call is one joint evaluation of ``fun`` and all constraints at one point.

Parameters
----------
fun : callable
    x (n,) to a number; with ``joint=True`` to (f, h), where h <= 0 is feasible.
x0 : array_like, shape (n,), or None
    Start; None draws it from the bounds.
bounds : sequence of n pairs, or SciPy's ``Bounds``, optional
constraints : constraint or sequence of constraints
    SciPy's ``LinearConstraint``, ``NonlinearConstraint`` and dicts (``'ineq'`` means >= 0, ``'eq'`` = 0), or
    functions h with h(x) <= 0. They become rows h <= 0, in order; of a two-sided one first the rows of ``lb``,
    then those of ``ub``. Derivatives in them are not used.
method : str, Solver or its class
    A solver; ``"auto"`` chooses by dimension, noise and budget (``zoviz.solvers.choice.TABLE``) and says so in
    ``message``.
maxfev : int, optional
    Budget of calls in all, never exceeded. Default 1000 (n + 1).
seed : int, optional
    Default 0: the same call gives the same result.
callback : callable, optional
    Called after each iteration: with ``intermediate_result=`` (x, fun, maxcv, nit, nfev so far) if that is the
    name of its one parameter, else with x, as SciPy does. It stops the run by raising ``StopIteration``.
options : mapping, optional
    ``replicas`` (default 1), ``seconds``, ``maxiter``, ``targets``, ``stop_at_targets``,
    ``tolerance`` (default 1e-6); ``noise`` ("deterministic", "independent") where it need not be
    measured, ``optimal_value``, ``scaled``; ``disp``; and the solver's parameters by name, dotted for its
    estimator's (``"estimator.batch_size"``).
args : tuple
    Further arguments of ``fun``.
joint : bool
    Whether ``fun`` returns (f, h).
workers, timeout, on_error
    As for ``BlackBox``: parallel evaluation, longest time of a call in seconds, and what an exception means.

Returns
-------
OptimizeResult
    ``x``: the best feasible point queried, else the least violating; ``fun``, ``maxcv`` (largest violation) and
    ``h`` there; ``success``: whether x is feasible; ``status``, ``message``, ``nit``, ``nfev`` = ``calls``,
    ``failures``, ``multipliers`` (m,), ``best_feasible`` (NaN where there is none), ``seed``, ``method``, its
    ``parameters`` as used, and ``trace``, the course of the run.

Raises
------
ValueError
    For arguments that make no sense.
OracleError
    Where ``fun`` returns no value at the start, or something useless.
Exception
    What ``fun`` raises, unless ``on_error="fail"``.

Notes
-----
3 calls at the start are spent on counting constraints and on noise (1 under a budget below 30, or where
``noise`` is given). Where the last iterate is better than the best feasible point but violates, up to 20 calls go
into the boundary between them. Under noise the best point queried is partly the luckiest: x is then the better of
it and the last iterate by the means of repeated calls, and ``fun`` and ``h`` are such means.

Examples
--------
>>> from zoviz import minimize
>>> result = minimize(lambda x: x @ x, [2.0, 1.0], constraints=lambda x: 1 - x[0])
>>> result.success, round(result.fun, 2)
(True, 1.0)
"""
)


def _pose(
    fun: Callable[..., Any], x0: Any, bounds: Any, constraints: Any, tolerance: float, params: dict[str, Any]
) -> Recorded:
    """The black box that the arguments describe."""
    if not callable(fun):
        raise ValueError(f"Expected a function as fun, got {fun!r:.80}.")
    rows = stacked(constraints)
    if params["joint"] and rows is not None:
        raise ValueError("Expected the constraints from fun with joint=True, got others too: leave one of them out.")
    if x0 is not None:
        try:
            x0 = np.atleast_1d(np.asarray(x0, dtype=float))
        except (TypeError, ValueError):
            raise ValueError(f"Expected x0 as n numbers, got {x0!r:.80}.") from None
    return Recorded(fun, rows, bounds, x0, ledger=Ledger(tolerance), **params)
