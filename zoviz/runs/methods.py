"""Solvers by name, and which one to take where nobody said."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from zoviz import registry
from zoviz.problems.base import Problem
from zoviz.registry import discover
from zoviz.solvers.base import Solver
from zoviz.solvers.peers.base import Peer


def named(method: Solver | type[Solver] | str) -> Solver:
    """A solver from its name (of the class or for people; case, blanks and hyphens do not count), class or itself.

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
    """What the choice of a method looks at.

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
    """A row of the table: where it applies, the methods in the order of preference, and why them."""

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
        lambda s: True,
        ("ZOSPLM", "ZOEG"),
        "values are noisy, and random directions average the noise over a batch",
    ),
)
"""Rows from the first to the last; the first that applies and has a method at hand decides.

A method is at hand if a solver of this name is found and ``accepts`` the problem: another library's is passed over
where that library is not installed. The last row applies to everything.

Measured on six problems of 2 to 60 variables with 10 to 1000 sweeps: without noise, COBYQA comes within 1e-6 of the
optimum in 30 sweeps on most and is ahead of all others below that; SLSQP comes within 1e-6 in 100 sweeps also at
n = 200, where first-order methods still miss a tenth.

With noise the order is not settled, and the last row is no finding. On problems 22, 37, 43, 65 and 113 of Hock and
Schittkowski with noise of a hundredth or a tenth of |f*| in every value, 100 sweeps, medians of 4 replicas of
|f - f*| / |f*| + max [h]_+ / |f*| at the last x: SLSQP was below ZO-SPLM in all six cases of problems 22, 43 and 65,
by factors of 1.2 to 300, and above it in all four of problems 37 and 113, by factors of 1.3 to 45.
"""


def choose(problem: Problem, calls: int, extras: bool = True) -> tuple[Solver, str]:
    """The solver for a problem and a budget of calls per replica, and one sentence on why.

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
    """
    n, noisy = problem.domain.n, problem.noise != "deterministic"
    situation = Situation(n, problem.m, noisy, calls / (n + 1))
    known = {registry.key(name): cls for name, cls in discover("zoviz.solvers", Solver).items()}
    for row in TABLE:
        if not row.applies(situation):
            continue
        for name in row.methods:
            cls = known.get(registry.key(name))
            if cls is None or (issubclass(cls, Peer) and not extras):
                continue
            if cls().accepts(problem) is None:
                noise = "noisy" if noisy else "deterministic"
                facts = f"{n} variable{'s' * (n > 1)}, {problem.m} constraint{'s' * (problem.m != 1)}, {noise} values"
                return cls(), f"{cls().title} was chosen for {facts} and {calls} calls: {row.reason}."
    raise ValueError(f"Expected a domain that a solver accepts, got {type(problem.domain).__name__}: name a method.")
