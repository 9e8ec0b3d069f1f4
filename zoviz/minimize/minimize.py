"""The function ``minimize``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import param
from numpy.typing import ArrayLike

from zoviz.core import defaults
from zoviz.core.errors import leave_result
from zoviz.core.types import Array
from zoviz.evaluation.scipy_constraints import WithArguments, listed, stacked
from zoviz.minimize.scipy_arguments import read, values_alone
from zoviz.minimize.session import Session
from zoviz.problems.base import Problem
from zoviz.problems.user.base import kept_names
from zoviz.problems.user.blackbox import BlackBox
from zoviz.runs.engine.confidence import CONFIDENT
from zoviz.runs.engine.result import OptimizeResult
from zoviz.solvers.base import Solver
from zoviz.solvers.portfolio.choice import AUTO


def minimize(
    fun: Callable[..., Any] | Problem | type[Problem],
    x0: ArrayLike | None = None,
    args: Any = (),
    method: str | Solver | type[Solver] | None = None,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    tol: float | None = None,
    callback: Callable[..., object] | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    stop: str = CONFIDENT,
    joint: bool = False,
    max_calls: int | None = None,
    seed: int = 0,
    noise: str | None = None,
    seeds: bool = False,
    keep: str | Sequence[str] = "",
    workers: Any = None,
    timeout: float | None = None,
    on_error: str = "raise",
    tolerance: float | None = None,
    replicas: int = 1,
    iterations: int | None = None,
    seconds: float | None = None,
    targets: Mapping[str, float | Sequence[float]] | None = None,
    stop_at_targets: bool = False,
    scaled: bool = True,
    optimal_value: float | None = None,
    integrality: ArrayLike | None = None,
    past: Any = None,
) -> OptimizeResult:
    """Minimise fun(x) subject to constraints and bounds, from values alone.

    One call is one joint evaluation of ``fun`` and all constraints at one point.

    Parameters
    ----------
    fun : callable or Problem
        x (n,) to a number; with ``joint=True`` to (f, h), where h <= 0 is feasible. Or a problem: your program
        (``Executable``), a ``BlackBox``, one of the collection. It has its own arguments, bounds and constraints; of
        the other parameters here, those that it has too may be given, and replace its own.
    x0 : array_like, shape (n,), optional
        Start, inside the bounds up to round-off; None draws it from them, or takes the problem's own.
    args : tuple
        Further arguments of ``fun``; what is no tuple is one argument.
    method : str, Solver or its class, optional
        A solver. None or ``"auto"``: chosen by dimension, noise and budget
        (``zoviz.solvers.portfolio.choice.TABLE``); ``message`` says which and why.
    jac, hess, hessp
        Taken for SciPy's sake and not used, with a ``RuntimeWarning``. With ``jac=True`` ``fun`` returns a pair, of
        which the gradient is left out.
    bounds : sequence of n pairs, or SciPy's ``Bounds``, optional
        They hold for every call, as with ``keep_feasible=True``: no method asks for a value outside.
    constraints : constraint or sequence of constraints
        SciPy's ``LinearConstraint``, ``NonlinearConstraint`` and dicts (``'ineq'`` means >= 0, ``'eq'`` = 0), or
        functions h with h(x) <= 0. They become rows h <= 0, in order; of a two-sided one first the rows of ``lb``,
        then those of ``ub``. Derivatives in them are not used. They are violated on the way, but for those with
        ``keep_feasible=True``, which hold for every call as with ``keep``.
    tol : float, optional
        Relative accuracy of f that is enough for ``stop="confident"``; default 1e-6.
    callback : callable, optional
        Called after each iteration: with ``intermediate_result=`` (x, fun, maxcv, h, nit, calls so far) if that is the
        name of its one parameter, with x and that result if it takes two, else with x, as SciPy does. It stops the run
        by returning True or by raising ``StopIteration``.
    options : mapping, optional
        SciPy's ``maxiter``, ``maxfev``, ``seed`` and ``disp``, and the solver's parameters by name, dotted for its
        estimator's (``{"estimator.batch_size": 10}``). Others are passed over with SciPy's ``OptimizeWarning``.
    stop : {"confident", "budget", "first"}
        When to end. "confident": once local searches have ended and further ones found nothing better by more than
        ``tol``, under noise once it hides what further steps would gain; "first": with the first local search;
        "budget": when ``max_calls`` are spent. Methods that begin no searches anew go on until the budget is spent or
        they end by themselves.
    joint : bool
        Whether ``fun`` returns (f, h).
    max_calls : int, optional
        Budget of calls in all, over all replicas, never exceeded. Default 1000 (n + 1).
    seed : int
        The same call gives the same result.
    noise : "deterministic" or "independent", optional
        Whether values at one point differ; None finds out, by 2 calls at the start and some along the run.
    seeds : bool
        Whether ``fun`` and constraints that are functions take a seed after x, ``fun(x, seed)``: a whole number below
        2^31 from which all their randomness follows. The points of a batch then share it, and so do the candidates for
        the answer in each round between them (common random numbers); with ``noise="independent"`` none do.
    keep : str or sequence of str
        ``"while searching"``: no call is outside of the constraints, from a start inside on; or the names of those of
        which that holds, "h1" and so on, or the problem's own.
    workers, timeout, on_error
        As for ``BlackBox``: parallel evaluation, longest time of a call in seconds, and what an exception means. For a
        number of workers and 25 (n + 1) calls or more ZOSQP has workers that are free begin with what it may need next
        (its option ``parallel_calls``): more calls, less time.
    tolerance : float, optional
        Largest component of h that counts as feasible, in its units. None: 1e-6 of each row's size, measured by the
        calls of ``scaled``, at most max(1, |h(x0)|), and 0 of a row that does not change around the start; of size 1
        where nothing is scaled, and for problems of the collection.
    replicas, iterations, seconds, targets, stop_at_targets
        As for ``Run``: independent runs in lock-step, other budgets, and first hits. ``seconds`` are those from the
        first call to the last, but for the callback's.
    scaled : bool
        Whether the solver sees variables, objective and constraints of order 1, for 5 calls, and for a method that
        estimates gradients 4n + 2 more where these are a tenth of the budget at most.
    optimal_value : float, optional
        The optimum f*, where it is known: for the target and the trace "gap".
    integrality : array_like, optional
        As in SciPy's ``differential_evolution``; refused unless all are 0, since every variable is continuous here.
    past : file, table, arrays, study or run, optional
        Points whose values are known, at no call: as ``Run`` takes them.

    Returns
    -------
    OptimizeResult
        ``x``: the best feasible point queried, else the least violating; ``fun``, ``h``, ``violation`` (the norm) and
        ``maxcv`` (the largest component, ``constr_violation`` too) there; ``tolerance`` (m,): the largest h that counts
        as feasible, by rows; ``feasible``: whether x is, under noise whether it may be (no mean of repeated calls there
        exceeds its tolerance by more than twice its standard error); ``status``, an ``Ending``: 0 solved, 1 at the
        noise floor, 2 budget, 3 time, 4 no feasible point, 5 no progress, 6 stopped, 7 failed, 8 nothing to do;
        ``success``: status 0 or 1 and feasible; ``message``, ``nit``, ``calls`` (``nfev`` too), ``failures``,
        ``multipliers`` (m,), ``best_x`` and ``best_fun`` (NaN where no feasible point was found), ``seed``, ``method``,
        its ``parameters`` as used, ``trace``, the course of the run, and ``certainty``: how sure this is
        (``Certainty``). Under noise intervals of f at x, of the optimal value nearby, of the constraints, of x and of
        what a unit of each limit is worth, and the price of another digit; without noise the same by calls near x, some
        of which are made for it once the answer stands. What is not known is NaN, and its ``note`` says why.

    Raises
    ------
    ValueError
        For arguments that make no sense.
    OracleError
        Where ``fun`` returns no value at the start, nor near it, or something useless.
    Exception
        What ``fun`` raises, unless ``on_error="fail"``. Any exception, Ctrl-C's too, has the result so far as its
        attribute ``result``, where a point has been evaluated by then.

    Notes
    -----
    2 calls at the start are spent on noise (none under a budget below 30, or where ``noise`` is given). Where there is
    no value at the start, other points are tried, near it and then anywhere in the bounds, by up to a quarter of the
    calls. Without noise no point is paid for twice. Where the last iterate is better than the best feasible point but
    violates, up to 20 calls go into the boundary between them. Under noise the best point queried is partly the
    luckiest: x is then the better of it and the last iterate by the means of repeated calls, and ``fun`` and ``h`` are
    such means; up to 16 (n + 1) calls, a twentieth of the budget at most, that had no part in the choice tell then how
    sure it is. Where noise is not known, the best point is called again along the run, too, for about 2 % of the calls.

    Examples
    --------
    >>> from zoviz import minimize
    >>> result = minimize(lambda x: x @ x, [2.0, 1.0], constraints=lambda x: 1 - x[0])
    >>> result.success, round(result.fun, 2)
    (True, 1.0)
    """
    own = read(options, {"max_calls": max_calls, "iterations": iterations, "seed": seed or None})
    given = {"x0": _start(x0), "noise": noise, "workers": workers, "timeout": timeout, "on_error": on_error}
    given |= {"scaled": scaled, "optimal_value": optimal_value, "seeds": seeds or None, "keep": keep or None}
    problem = _problem(values_alone(fun, jac, hess, hessp, integrality), args, bounds, constraints, joint, given)
    settings: dict[str, Any] = {"seed": seed, "replicas": replicas, "iterations": iterations, "seconds": seconds}
    settings |= {"targets": targets or {}, "stop_at_targets": stop_at_targets, "tolerance": tolerance}
    settings |= {"stop_when": stop, "accuracy": defaults.ACCURACY if tol is None else tol, "past": past} | own.keywords
    session = Session(problem, settings.pop("max_calls", max_calls), noise is not None, settings)
    try:
        return own.shown(session.solve(AUTO if method is None else method, own.solver, callback))
    except BaseException as error:  # also Ctrl-C: what was found until then is not lost
        leave_result(error, session.result_so_far)
        raise
    finally:
        problem.release()


def scipy_method(
    fun: Callable[..., Any],
    x0: ArrayLike,
    args: Any = (),
    *,
    jac: Any = None,
    hess: Any = None,
    hessp: Any = None,
    bounds: Any = None,
    constraints: Any = (),
    callback: Callable[..., object] | None = None,
    **options: Any,
) -> OptimizeResult:
    """Minimise as ``minimize`` does, as a ``method`` of SciPy's ``minimize``.

    Parameters
    ----------
    fun, x0, args, jac, hess, hessp, bounds, constraints, callback
        As SciPy passes them on.
    **options
        SciPy's ``options``: the keywords of ``zoviz.minimize`` by name (``max_calls``, ``noise``, ``joint``, ...; the
        solver as ``method``), and what its ``options`` take.

    Examples
    --------
    >>> from scipy.optimize import minimize
    >>> from zoviz import scipy_method
    >>> result = minimize(lambda x: x @ x, [2.0, 1.0], method=scipy_method, bounds=[(1, 3), (0, 3)])
    >>> result.x.round(3).tolist()
    [1.0, 0.0]
    """
    keywords = {name: options.pop(name) for name in _KEYWORDS if name in options}
    derivatives = {"jac": jac, "hess": hess, "hessp": hessp}
    given = {"bounds": bounds, "constraints": constraints, "callback": callback, "options": options}
    return minimize(fun, x0, args, **derivatives, **given, **keywords)


_KEYWORDS = {"method", "tol"} | {
    name for name, one in inspect.signature(minimize).parameters.items() if one.kind is one.KEYWORD_ONLY
}
"""Parameters of ``minimize`` that reach it through SciPy's ``options``."""


def _start(x0: Any) -> Array | None:
    if x0 is None:
        return None
    try:
        start = np.atleast_1d(np.asarray(listed(x0), dtype=float))
    except (TypeError, ValueError):
        start = np.empty(0)
    if not start.size:
        raise ValueError(f"Expected x0 as n numbers, got {x0!r:.80}.")
    return start


def _problem(fun: Any, args: Any, bounds: Any, constraints: Any, joint: bool, given: Mapping[str, Any]) -> Problem:
    """Return the problem that the arguments describe, or that is given, as a clone."""
    none = isinstance(args, tuple) and not args  # None is an argument, as in SciPy
    if isinstance(fun, Problem) or (isinstance(fun, type) and issubclass(fun, Problem)):
        own = {"args": None if none else [args], "bounds": bounds, "constraints": constraints, "joint": joint or None}
        return _taken(fun() if isinstance(fun, type) else fun, own, given)
    return _pose(fun if none else WithArguments(fun, args), bounds, constraints, joint, given)


def _pose(fun: Callable[..., Any], bounds: Any, constraints: Any, joint: bool, given: Mapping[str, Any]) -> BlackBox:
    """Make the black box that the arguments describe."""
    if not callable(fun):
        raise ValueError(f"Expected a function or a problem as fun, got {fun!r:.80}.")
    rows = stacked(constraints)
    if joint and rows is not None:
        raise ValueError("Expected the constraints from fun with joint=True, got others too: leave one of them out.")
    params = {
        name: value
        for name, value in given.items()
        if name not in ("x0", "noise", "seeds", "keep") or value is not None
    }
    return BlackBox(fun, rows, bounds, joint=joint, **params)


def _taken(problem: Problem, own: Mapping[str, Any], given: Mapping[str, Any]) -> Problem:
    """Return a clone of a problem with what else is given, where it can be given.

    Raises
    ------
    ValueError
        For what the problem has itself, or has not.
    """
    kind = type(problem).__name__
    for name, value in own.items():
        if value is not None and not (isinstance(value, (tuple, list)) and not value):
            raise ValueError(f"Expected {name} from the problem, got {name}= beside {kind}: leave one of them out.")
    if problem.stochastic or problem.online or problem.form != "constrained":
        reason = "whose values are samples" if problem.stochastic else f"which is {problem.form}"
        raise ValueError(f"Expected a problem with values f and h to compare, got {kind}, {reason}: use Run.")
    # A problem's own hold where the signature's default may only mean that nothing was said.
    usual = given["on_error"] == "raise", given["scaled"] is True
    unsaid = [name for name, as_usual in zip(("on_error", "scaled"), usual, strict=True) if as_usual]
    changes = {name: value for name, value in given.items() if value is not None and name not in unsaid}
    changes |= {"keep": kept_names(changes["keep"])} if "keep" in changes else {}
    clone = problem.clone()
    for name in changes:
        if name not in problem.param:
            raise ValueError(f"Expected {name} from the problem, got {name}= beside {kind}: leave it out.")
    with param.edit_constant(clone):
        clone.param.update(**changes)
    return clone
