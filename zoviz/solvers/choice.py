"""Finds a solver by its name, and chooses one where the user named none."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from zoviz.core import registry
from zoviz.core.registry import discover
from zoviz.problems.base import Problem
from zoviz.solvers.base import Solver


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
    """A row of the table: where it applies, the methods in the order of preference, and the reason."""

    applies: Callable[[Situation], bool]
    methods: tuple[str, ...]
    reason: str


TABLE: tuple[Row, ...] = (
    Row(
        lambda s: not s.noisy and s.n <= 50,
        ("COBYQA", "SLSQP", "COBYLA"),
        "few variables and values without noise are what models of the functions are made for",
    ),
    Row(
        lambda s: not s.noisy and s.n <= 300 and s.sweeps >= 30,
        ("SLSQP",),
        "without noise and with calls for many gradients, a model of the curvature is worth its price",
    ),
    Row(
        lambda s: not s.noisy and s.sweeps >= 20,
        ("ZOCEG",),
        "without noise, differences along the coordinates give the gradient exactly, and the budget covers many",
    ),
    Row(
        lambda s: not s.noisy,
        ("ZOBCEG", "ZOEG"),
        "the budget covers few full gradients, so each step takes a block of the coordinates",
    ),
    Row(
        lambda s: s.n < 20 and s.sweeps < 100,
        ("COBYLA", "SLSQP", "ZOCEG"),
        "values are noisy, and with few calls linear models over a wide simplex gain most",
    ),
    Row(
        lambda s: s.n < 20,
        ("CMAES", "COBYQA", "ZOCEG"),
        "values are noisy, and with few variables a population that adapts its shape averages the noise",
    ),
    Row(
        lambda s: s.n <= 300 and s.sweeps < 50,
        ("TrustConstr",),
        "values are noisy, and a trust region makes something of the few gradients that the budget covers",
    ),
    Row(
        lambda s: s.sweeps >= 100,
        ("ZOBCEG", "ZOCEG"),
        "values are noisy, and steps along blocks of the coordinates average the noise over many variables",
    ),
    Row(
        lambda s: True,
        ("ZOSPLM", "ZOEG"),
        "values are noisy, and the budget covers few full gradients, so each step takes random directions",
    ),
)
"""Rows from the first to the last; of those that apply, the first method that is at hand is taken.

A method is at hand if a solver of this name is found and ``accepts`` the problem: another library's is passed over
where that library is not installed. The last row applies to everything.

Without noise, measured on six problems of 2 to 60 variables with 10 to 1000 sweeps: COBYQA comes within 1e-6 of the
optimum in 30 sweeps on most and is ahead of all others below that; SLSQP comes within 1e-6 in 100 sweeps also at
n = 200, where first-order methods still miss a tenth.

With noise, ``python -m zoviz.papers.minimize.method_choice``: 14 problems of 2 to 10 variables and 6 of 20 to 100,
noise of a hundredth and a tenth of the values' size; the geometric means of losses over the smallest, for each method,
noise and budget. Both levels together, below 20 variables: 20 sweeps, COBYLA 1.3, SLSQP 3.2, CMA-ES 6.5, ZOCEG 13, ZO-
SPLM 15; 50 sweeps, SLSQP 1.9, COBYLA 2.4, CMA-ES 3.0, ZOCEG 14, ZO-SPLM 16; 100 sweeps, CMA-ES 2.0, COBYQA 2.1, SLSQP
2.2, COBYLA 2.8, ZOCEG 9.4, ZO-SPLM 20; 400 sweeps, CMA-ES 1.8, ZOCEG 5.1, COBYQA 5.4, ZO-SPLM 21. From 20 variables on:
20 sweeps, trust-constr 1.5, COBYQA and SLSQP 1.6, ZO-SPLM 2.1, ZOCEG 2.5; 50 sweeps, ZO-SPLM 1.5, ZOCEG 1.6, SLSQP 1.7,
trust-constr 1.8; 100 sweeps, ZOBCEG 1.3, ZOCEG 1.4, ZO-SPLM 1.9, SLSQP 2.6, CMA-ES 3.6; 400 sweeps, ZOCEG 1.2, ZOBCEG
1.3, CMA-ES 2.2, ZO-SPLM 2.4. On the quadratic programmes among the latter ZO-SPLM leads, on load tracking ZOCEG and
ZOBCEG do, and by more.
"""


def choose(problem: Problem, calls: int, extras: bool = True) -> tuple[Solver, str]:
    """Choose the solver for a problem and a budget of calls per replica, with one sentence on the reason.

    Parameters
    ----------
    problem : Problem
    calls : int
    extras : bool
        Whether solvers of other libraries may be chosen where they are installed.

    Raises
    ------
    ValueError
        Where no solver of the table accepts the problem.

    Notes
    -----
    Where a solver that comes before it is not installed, the sentence names the command that installs it.
    """
    n, noisy = problem.domain.n, problem.noise != "deterministic"
    situation = Situation(n, problem.m, noisy, calls / (n + 1))
    classes = {registry.key(name): cls for name, cls in discover("zoviz.solvers", Solver).items()}
    missing = ""
    for name, reason in ((name, row.reason) for row in TABLE if row.applies(situation) for name in row.methods):
        cls = classes.get(registry.key(name))
        if cls is None or (cls.external and not extras):
            continue
        solver = cls()
        if solver.accepts(problem) is None:
            noise = "noisy" if noisy else "deterministic"
            facts = f"{n} variable{'s' * (n > 1)}, {problem.m} constraint{'s' * (problem.m != 1)}, {noise} values"
            return solver, f"{solver.title} was chosen for {facts} and {calls} calls: {reason}.{missing}"
        if solver.made_for(problem) and solver.unsupported_reason(problem) is None:  # it is only not installed
            missing = missing or f" Better suited: {solver.missing_package}"
    raise ValueError(f"Expected a domain that a solver accepts, got {type(problem.domain).__name__}: name a method.")
