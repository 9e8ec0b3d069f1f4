"""The problem and the solver of a run: as they are given, by name, or chosen from a table of methods."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from zoviz.core import defaults, registry
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver
from zoviz.solvers.portfolio.portfolio import MEMBERS, PLACES, Portfolio

AUTO = "auto"
"""The name under which a method is chosen from the table."""
_SCARCE = 25
"""Sweeps of n + 1 calls below which calls are scarce: linear models come first, and no call is made early."""


class Match(NamedTuple):
    """A problem, the solver for it, and one sentence why it was chosen; empty where it was named."""

    problem: Problem
    solver: Solver
    reason: str


def matched(
    problem: Problem | type[Problem], method: Solver | type[Solver] | str = AUTO, calls: int | None = None
) -> Match:
    """Return the problem and the solver that are meant, wherever they come from: every way to a run asks here.

    Parameters
    ----------
    problem : Problem or its class
    method : Solver, its class or name, or "auto"
        ``"auto"`` chooses by dimension, noise and budget.
    calls : int, optional
        Budget of calls per replica, for the choice; default 1000 (n + 1).

    Raises
    ------
    ValueError
        For anything else, an unknown name, and where no solver of the table accepts the problem.
    """
    if isinstance(problem, type) and issubclass(problem, Problem):
        problem = problem()
    if not isinstance(problem, Problem):
        function = f"BlackBox({getattr(problem, '__name__', 'function')}, bounds=...)" if callable(problem) else ""
        advice = f"wrap a function, {function}" if function else "the problem comes first, then the solver"
        raise ValueError(f"Expected a problem, got {problem!r:.80}: {advice}.")
    calls = calls or defaults.calls_for(problem.domain.n)
    solver, reason = choose(problem, calls) if is_auto(method) else (named(method), "")
    if solver is not method and "parallel_calls" in solver.param and calls >= _SCARCE * (problem.domain.n + 1):
        solver.param.update(parallel_calls=problem.parallel_calls)
    return Match(problem, solver, reason)


def is_auto(method: Solver | type[Solver] | str) -> bool:
    """Return whether a method is "auto", in any case: the solver is then chosen by the problem."""
    return isinstance(method, str) and method.casefold() == AUTO


def named(method: Solver | type[Solver] | str) -> Solver:
    """Return the solver for a name (case, blanks and hyphens do not count), a class, or a solver itself.

    Raises
    ------
    ValueError
        For an unknown name, with those that are near.
    """
    if isinstance(method, Solver):
        return method
    if isinstance(method, type) and issubclass(method, Solver):
        return method()
    if not isinstance(method, str):
        raise ValueError(f"Expected the name of a solver, its class or an instance, got {method!r:.100}.")
    return registry.named("zoviz.solvers", Solver, method, "solver")()


class Situation(NamedTuple):
    """The facts that the choice of a method depends on.

    Attributes
    ----------
    n, m : int
        Numbers of variables and constraints.
    noisy : bool
        Whether two calls at one point differ.
    sweeps : float
        Budget per replica in sweeps of n + 1 calls, the price of one gradient by differences.
    """

    n: int
    m: int
    noisy: bool
    sweeps: float


class Row(NamedTuple):
    """A row of the table: where it applies, its methods in the order of their turns, and the reason.

    ``share`` is ``Portfolio.share``: how much of what is left of the budget a method takes that is not the last one; 1
    where the next one takes over only if a method ends or diverges. None: the first method that is at hand works alone.
    """

    applies: Callable[[Situation], bool]
    methods: tuple[str, ...]
    reason: str
    share: float | None = None


TABLE: tuple[Row, ...] = (
    Row(
        lambda s: not s.noisy and s.n <= 20 and s.sweeps < 2,
        ("COBYLA",),
        "each call is a step along a coordinate, as the budget covers few gradients by differences",
    ),
    Row(
        lambda s: not s.noisy and s.n <= 20 and 5 <= s.sweeps < _SCARCE,
        ("COBYLA", "ZOSQP"),
        "linear models first, as they need few calls, then a model of the curvature",
        0.25,
    ),
    Row(
        lambda s: not s.noisy and s.n <= 400 and s.sweeps >= 2,
        ("ZOSQP",),
        "without noise, differences and a model of the curvature work best, restarted where they stall",
    ),
    Row(
        lambda s: not s.noisy and s.sweeps >= 5,
        ("SLSQP", "ALSPG"),
        "without noise, differences along coordinates reveal curvature, and the budget covers some of them",
        0.8,
    ),
    Row(
        lambda s: not s.noisy,
        ("ZOBCEG", "ZOEG"),
        "the budget covers few full gradients, so each step takes a block of the coordinates",
    ),
    Row(
        lambda s: s.n <= 300,
        ("ZOSQP",),
        "values are noisy, and a regression over all of them is more accurate than differences",
    ),
    Row(
        lambda s: s.sweeps >= 100,
        ("ZOBCEG", "ZOCEG"),
        "values are noisy, and steps along blocks of the coordinates average the noise over many variables",
        1.0,
    ),
    Row(
        lambda s: True,
        ("ZOSPLM", "ZOEG"),
        "values are noisy, and the budget covers few full gradients, so each step takes random directions",
        1.0,
    ),
)
"""Rows from the first to the last: of those that apply, the first with a method that is at hand.

A method is at hand if a solver of this name is found and ``accepts`` the problem: another library's is passed over
where that library is not installed. The last row applies to everything. How long a call takes is not asked: the same
call of ``minimize`` would give other results on another day.

Without noise: ``zoviz reproduce minimize-unseen-development``, 48 problems of 2 to 20 variables, returned points that
are feasible / solved to 1e-1 / 1e-2 / 1e-3.

- 0.5, 0.8, 1 and 1.5 sweeps: COBYLA is better than blocks of the coordinates (ZOBCEG) on 14, 14, 15 and 22 problems,
  and worse on 7, 5, 13 and 7; it makes all of the calls, where ZOBCEG left a quarter to a half unused.
- 10 sweeps: COBYLA for a quarter of the calls, then ZOSQP, 43 / 36 / 32 / 27; ZOSQP alone 42 / 35 / 32 / 29.
- 20 sweeps: COBYLA for a quarter, then ZOSQP, 46 / 42 / 42 / 39; ZOSQP alone 47 / 40 / 38 / 35, COBYLA 46 / 41 / 39 /
  38, SLSQP 44 / 38 / 36 / 33, COBYQA 44 / 36 / 33 / 31, trust-constr 40 / 30 / 24 / 19, AL-SPG 34 / 21 / 12 / 11,
  CMA-ES 34 / 11 / 3 / 3.
- 40 sweeps: ZOSQP alone 47 / 43 / 42 / 40; COBYLA for a quarter of the calls before it 46 / 42 / 41 / 40.
- 100 sweeps: ZOSQP 48 / 44 / 43 / 43.
- 1000 sweeps: ZOSQP 48 / 47 / 47 / 46.

On the nine boxes of ``hidden_scales`` with 5000 calls, which were looked at while these methods were made, ZOSQP and
AL-SPG before it solve 9, AL-SPG alone 8: one box has many local solutions.

With 100 and 310 variables, ``zoviz reproduce minimize-unseen-large``, 25 sweeps, returned gaps over 1 + |f*| on load
tracking, conex's and splm's quadratic programmes: ZOSQP below 1e-7 on the first two, 4e-4 and 2e-3 on the third; in a
portfolio with COBYLA 1e-2 and 2e-2 there, and minutes of computing; SLSQP 1e-5, 2e-6, and a violation, 1e-2;
trust-constr 2e-3, 8e-6, 0.6 and a violation; AL-SPG 2e-2 and worse.

With noise: ``zoviz reproduce minimize-unseen-development``, ZOSQP with 1000 sweeps, at 1e-3 asked for 48 / 47 / 47 / 46
and returned 47 / 47 / 47 / 44, at 1e-2 46 / 44 / 42 / 38 and 41 / 40 / 37 / 27. With many variables,
``minimize-unseen-large``, returned gaps over 1 + |f*| (- where x is not feasible) at 1e-3 and at 1e-2, one seed:

- 120 sweeps. LoadTracking70: ZOSQP 6e-5, 4e-2, ZOBCEG 4e-3, 3e-2; LoadTracking100: 4e-4, 3e-2 and 3e-3, 5e-2;
  LoadTracking200: 7e-4, 7e-2 and -, 1e-1. ConexQCQP70: 3e-3, 2e-2 and 2e-1, 2e-1; ConexQCQP100: 2e-3, 3e-2 and 2e-1,
  3e-1; ConexQCQP200: 3e-3, 3e-2 and 7e-1, 9e-1. QPBAND of the development half: 6e-4, 4e-2 and 5e-1, 5e-1.
  NonconvexQCQP70: 3e-1, - and 5e-1, 5e-1; NonconvexQCQP100: -, - and 6e-1, 6e-1.
- 20 sweeps. LoadTracking70: ZOSQP 1e-4, 8e-2, trust-constr 1e-1, 1e-1, ZO-SPLM 1e-1, 2e-1. ConexQCQP70: 3e-2, 4e-2,
  trust-constr 3e-1, -, ZO-SPLM -, -; ConexQCQP140: 2e-2, -, trust-constr 3e-1, 1, ZO-SPLM -, -. QPBAND: 6e-2, 1e-1,
  trust-constr 4e-1, 4e-1, ZO-SPLM 7e-1, 7e-1. NonconvexQCQP70: none is feasible; ZOSQP violates by 0.01 and 0.04 in
  units of order 1, the others by 0.3 and more.

ZOSQP's models, of n^2 numbers, take some milliseconds a call up to 300 variables. Beyond, ``zoviz
reproduce minimize-method-choice``, geometric means of losses over the smallest, from 20 variables on, 100 sweeps:
ZOBCEG 1.3, ZOCEG 1.4, ZO-SPLM 1.9; another takes what is left of the calls where it diverges.
"""


def choose(problem: Problem, calls: int, extras: bool = True) -> tuple[Solver, str]:
    """Choose solvers for a problem and a budget of calls per replica, with one sentence on the reason.

    Parameters
    ----------
    problem : Problem
    calls : int
    extras : bool
        Whether solvers of other libraries may be chosen where they are installed.

    Returns
    -------
    Solver
        A ``Portfolio`` of the row's methods; the method itself where there is one alone.
    str

    Raises
    ------
    ValueError
        Where no solver of the table accepts the problem.

    Notes
    -----
    Where a solver that comes before the first is not installed, the sentence names the command that installs it.
    """
    n, noisy = problem.domain.n, problem.contract != "deterministic"
    # A contract that nobody declared is "deterministic" to begin with.
    quiet = "deterministic values" if problem.noise == problem.contract else "values without known noise"
    situation = Situation(n, problem.m, noisy, calls / (n + 1))
    hint = ""
    for row in TABLE:
        if not row.applies(situation):
            continue
        solvers, advice = _at_hand(row.methods, problem, extras)
        hint = hint or advice
        if solvers:
            solver, name = (solvers[0], solvers[0].title) if row.share is None else _portfolio(solvers, row.share)
            values = "noisy values" if noisy else quiet
            facts = f"{n} variable{'s' * (n > 1)}, {problem.m} constraint{'s' * (problem.m != 1)}, {values}"
            return solver, f"{name} was chosen for {facts} and {calls} calls: {row.reason}.{hint}"
    raise ValueError(f"Expected a domain that a solver accepts, got {type(problem.domain).__name__}: name a method.")


_MEMBERS = {cls.__name__: cls for cls in MEMBERS}


def _at_hand(methods: tuple[str, ...], problem: Problem, extras: bool) -> tuple[list[Solver], str]:
    """Return the solvers of these names that accept the problem, and what to install for one that comes before them."""
    solvers: list[Solver] = []
    advice = ""
    for name in methods:
        cls = _MEMBERS[name]
        if cls.external and not extras:
            continue
        solver = cls()
        if solver.accepts(problem) is None:
            solvers.append(solver)
        elif not solvers and not advice and solver.made_for(problem) and solver.refusal(problem) is None:
            advice = f" Better suited: {solver.missing_package}"  # it is only not installed
    return solvers, advice


def _portfolio(solvers: list[Solver], share: float) -> tuple[Solver, str]:
    """Return the portfolio of these solvers, or the only one itself, and what to call it."""
    if len(solvers) == 1:
        return solvers[0], solvers[0].title
    portfolio = Portfolio(members=len(solvers), share=share, **dict(zip(PLACES, solvers, strict=False)))
    titles = [solver.title for solver in solvers]
    return portfolio, f"{portfolio.title} of {', '.join(titles[:-1])} and {titles[-1]}"
