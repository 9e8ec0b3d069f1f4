"""Every pair of a solver and a problem that it accepts, by default parameters, and whether it converges.

Three families of pairs: methods for linear constraints on the problems of paper salm, methods for online bilevel
problems on those of paper sogd, and methods for black boxes, but for Bayesian ones, which are for a few hundred calls,
on the four engineering designs.

What counts is how much of the start's distance is left, the worst replica's median over the last tenth of its rows.
With linear constraints it is the larger one of stationarity and violation. Of bilevel problems it is the hypergradient,
or the follower's error for methods that leave the leader where it is; where neither is known, the error of balanced
accuracy, or the objective. Of designs it is the larger one of gap and violation, and the number of replicas is printed
of which a hundredth is left at most: the violation's start is the largest among all replicas'. A pair converges where
less than ``LEFT`` is left, diverges where a replica has diverged or more than ``MORE`` times the start is left, and
stalls otherwise. The median replica's share is printed beside the worst one's.

With linear constraints, 500 iterations: 36 pairs converge, 8 are refused. Online bilevel, 400 rounds, 20 seconds of
``LossTuning`` and 3000 rounds of the methods of one level on ``BlackBoxAttack``, which take seconds: of 60 pairs 54
converge and 6 are refused. One of these is OGD on ``CurvedBilevel``: with 1000 rounds it stalled there, with 1.1 times
the start's hypergradient (SOGD .03), as it does not see how the follower answers the leader.

Designs, 13 solvers of our own, 1500 iterations, and 6000 of DSZOG and ZO-iALM, which take longer: of 52 pairs 46
converge, 4 are refused (OGDA-RR), ZOBCEG stalls on the spring (.003 left in the median replica; the worst one's f
begins near f*, so that its start's gap is small), and DSZOG diverges on the beam in one of eight replicas. In ten
seconds all converge.

    python -m zoviz.papers.robustness.pairs linear                       # 2000 iterations a pair
    python -m zoviz.papers.robustness.pairs bilevel --problems LossTuning --iterations 100000 --seconds 20
    python -m zoviz.papers.robustness.pairs designs --solvers ZOSPLM ZOCEG
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from zoviz import problems
from zoviz.core.errors import OracleError
from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import GAP, HYPERGRADIENT, INNER_ERROR, OBJECTIVE, STATIONARITY, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers.base import Solver
from zoviz.solvers.bayesian.base import BayesianSolver
from zoviz.solvers.single_level.base import SingleLevel

LEFT, MORE, SOLVED = 0.9, 3.0, 1e-2
_BALANCED_ACCURACY = "balanced_accuracy"


class Family(NamedTuple):
    """A family of pairs: its problems' names, the kind of task, and what a pair is given by default."""

    problems: tuple[str, ...]
    form: str
    iterations: int
    replicas: int


FAMILIES = {
    "linear": Family(
        ("StochasticQP", "DistributedConsensus", "NetworkSlicing", "FairClassification"),
        "linearly constrained",
        2000,
        2,
    ),
    "bilevel": Family(
        ("ToyBilevel", "QuadraticBilevel", "CurvedBilevel", "BlackBoxAttack", "LossTuning"), "online bilevel", 1000, 2
    ),
    "designs": Family(("PressureVessel", "WeldedBeam", "Spring", "SpeedReducer"), "constrained", 1500, 8),
}


class Outcome(NamedTuple):
    """What became of a pair.

    Attributes
    ----------
    verdict : str
        converges, stalls, diverges, or refused.
    left : float
        The share of the start's distance that is left, the worst replica's; NaN where it was refused.
    middle : float
        The median replica's.
    solved : int
        Replicas of which a hundredth is left at most.
    note : str
        The run's status, or why it was refused.
    """

    verdict: str
    left: float
    middle: float
    solved: int
    note: str


def distances(columns: dict[str, Array], solver: Solver) -> list[Array]:
    """Return the columns (T, R) that tell how far a solver's replicas are from a solution, each 0 there."""
    if HYPERGRADIENT in columns:
        blind = isinstance(solver, SingleLevel)
        return [columns[INNER_ERROR if blind else HYPERGRADIENT]]
    if _BALANCED_ACCURACY in columns:
        return [1.0 - columns[_BALANCED_ACCURACY]]
    known = [np.abs(columns[name]) for name in (GAP, STATIONARITY) if name in columns][:1]
    if VIOLATION in columns and known:
        return [*known, columns[VIOLATION]]
    return known or [columns[OBJECTIVE]]


def left(columns: dict[str, Array], solver: Solver) -> Array:
    """Return the share of the start's distance that is left in the end, (R,); infinite where it is not a number."""
    shares = []
    for column in distances(columns, solver):
        known = column[np.isfinite(column).any(axis=1)]  # some are measured from the first step on
        if not len(known):
            return np.full(column.shape[1], np.inf)
        start = np.full(known.shape[1], np.nanmax(known[0])) if column is columns.get(VIOLATION) else known[0]
        end = np.median(known[-max(1, len(known) // 10) :], axis=0)
        scale = np.where(start > 0, start, np.nanmax(known) or 1.0)
        shares.append(np.where(np.isfinite(end), end / scale, np.inf))
    return np.max(shares, axis=0)


def outcome(
    problem: Problem, solver: Solver, family: Family, iterations: int, seconds: float | None = None, seed: int = 1
) -> Outcome:
    """Run a pair by its defaults, for some seconds at most, and judge it."""
    reason = solver.accepts(problem)
    if reason is not None:
        return Outcome("refused", np.nan, np.nan, 0, reason)
    run = Run(problem, solver, replicas=family.replicas, iterations=iterations, seconds=seconds, seed=seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run.run()
    except OracleError as error:
        if run.state is None:
            return Outcome("stalls", np.inf, np.inf, 0, str(error))
    share = left(dict(run.trace.snapshot().columns), solver)
    lost = bool(run.divergences) or not float(share.max()) < MORE
    verdict = "diverges" if lost else "converges" if float(share.max()) < LEFT else "stalls"
    return Outcome(verdict, float(share.max()), float(np.median(share)), int((share <= SOLVED).sum()), str(run.status))


def pairs(family: Family, chosen: Sequence[str] = (), only: Sequence[str] = ()) -> Iterator[tuple[Problem, Solver]]:
    """Yield problems and solvers of a family, or of it those whose names are ``chosen`` and ``only``."""
    for name in family.problems:
        if chosen and name not in chosen:
            continue
        problem: Problem = getattr(problems, name)()
        for own, cls in discover("zoviz.solvers", Solver).items():
            suits = family.form in cls.forms and not issubclass(cls, BayesianSolver)
            if suits and (not only or own in only) and not cls().missing_package:
                yield problem, cls()


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table of a family, and return how many pairs diverge."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("family", choices=FAMILIES)
    parser.add_argument("--problems", nargs="*", default=())
    parser.add_argument("--solvers", nargs="*", default=())
    parser.add_argument("--iterations", type=int, default=None)
    parser.add_argument("--seconds", type=float, default=None, help="end a pair's run after so long")
    parser.add_argument("--seed", type=int, default=1)
    options: Any = parser.parse_args(arguments)
    family = FAMILIES[options.family]
    iterations = options.iterations or family.iterations
    counts: dict[str, int] = {}
    print(f"{'problem':<20} {'solver':<22} {'verdict':<10} {'left':>8} {'median':>8}  1e-2 of {family.replicas}")
    for problem, solver in pairs(family, options.problems, options.solvers):
        one = outcome(problem, solver, family, iterations, options.seconds, options.seed)
        counts[one.verdict] = counts.get(one.verdict, 0) + 1
        names = f"{type(problem).__name__:<20} {type(solver).__name__:<22} {one.verdict:<10}"
        reason = one.note if one.verdict == "refused" else ""
        print(f"{names} {one.left:8.2g} {one.middle:8.2g}  {one.solved:>4}  {reason}", flush=True)
    print(", ".join(f"{number} {verdict}" for verdict, number in sorted(counts.items())))
    return counts.get("diverges", 0)


if __name__ == "__main__":
    main()
