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

    zoviz reproduce robustness-pairs-linear --full                       # 2000 iterations a pair
    zoviz reproduce robustness-pairs-bilevel --full --only problem=LossTuning iterations=100000 seconds=20
    zoviz reproduce robustness-pairs-designs --full --only solver=ZOSPLM,ZOCEG
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

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
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, grouped

LEFT, MORE, SOLVED = 0.9, 3.0, 1e-2
EVERY = ("every",)
"""In the place of solvers' names: all that suit."""
_BALANCED_ACCURACY = "balanced_accuracy"


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
    problem: Problem, solver: Solver, replicas: int, iterations: int, seconds: float | None = None, seed: int = 1
) -> Figures:
    """Run a pair by its defaults, for some seconds at most, and judge it.

    Returns
    -------
    dict
        ``verdict``: converges, stalls, diverges, or refused; ``left`` and ``middle``: the share of the start's distance
        that the worst and the median replica have left; ``solved``: replicas of which a hundredth is left at most;
        ``note``: the run's status, or why it was refused.
    """

    def judged(verdict: str, left: float, middle: float, solved: int, note: str) -> Figures:
        return {"verdict": verdict, "left": left, "middle": middle, "solved": solved, "note": note}

    reason = solver.accepts(problem)
    if reason is not None:
        return judged("refused", np.nan, np.nan, 0, reason)
    run = Run(problem, solver, replicas=replicas, iterations=iterations, seconds=seconds, seed=seed)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run.run()
    except OracleError as error:
        if run.state is None:
            return judged("stalls", np.inf, np.inf, 0, str(error))
    share = left(dict(run.trace.snapshot().columns), solver)
    lost = bool(run.divergences) or not float(share.max()) < MORE
    verdict = "diverges" if lost else "converges" if float(share.max()) < LEFT else "stalls"
    return judged(verdict, float(share.max()), float(np.median(share)), int((share <= SOLVED).sum()), str(run.status))


class Pairs(Trials):
    """Every pair of a solver and a problem of a family."""

    __abstract = True

    protocol = f"Converged: less than {LEFT:g} of the start's distance is left; diverged: more than {MORE:g} times it."
    lines = ("problem", "solver")
    form: ClassVar[str]
    """The kind of task."""
    replicas: ClassVar[int] = 2

    @property
    def axes(self) -> dict[str, Sequence[Any]]:
        """The values of each axis; of the solvers all that suit, where none is named."""
        axes = super().axes
        return axes if tuple(axes["solver"]) != EVERY else axes | {"solver": self._suitable()}

    def _suitable(self) -> list[str]:
        return [
            name
            for name, cls in discover("zoviz.solvers", Solver).items()
            if self.form in cls.forms and not issubclass(cls, BayesianSolver) and not cls().missing_package
        ]

    def trial(self, problem: str, solver: str, iterations: int, seconds: float | None, seed: int) -> Figures:
        method = discover("zoviz.solvers", Solver)[solver]()
        return outcome(getattr(problems, problem)(), method, self.replicas, iterations, seconds, seed)

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        if "count" in rows[0]:
            return {"verdict": ", ".join(f"{one['count']} {one['verdict']}" for one in rows)}
        (one,) = rows
        figures = {"left": f"{one['left']:.2g}", "median": f"{one['middle']:.2g}", "1e-2": str(one["solved"])}
        return {"verdict": one["verdict"], **figures, "why": one["note"] if one["verdict"] == "refused" else ""}

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        """Yield how many pairs have each verdict."""
        counts = [{**at, "count": len(own)} for at, own in grouped(rows, "verdict")]
        yield {"problem": "all"}, sorted(counts, key=lambda one: str(one["verdict"]))


def _sizes(names: tuple[str, ...], few: tuple[str, ...], iterations: int) -> Mapping[str, Mapping[str, Any]]:
    """Return the sizes of a family: its first problem and few solvers, or all."""
    rest = {"seconds": (None,), "seed": (1,)}
    quick = {"problem": names[:1], "solver": few, "iterations": (100,), **rest}
    return {"quick": quick, "full": {"problem": names, "solver": EVERY, "iterations": (iterations,), **rest}}


class LinearPairs(Pairs):
    """Pairs with linear constraints."""

    title = "robustness pairs linear"
    subject = "Methods for linear constraints on the problems of paper salm, by their defaults"
    sizes = _sizes(
        ("StochasticQP", "DistributedConsensus", "NetworkSlicing", "FairClassification"), ("SmoothedALM",), 2000
    )
    form = "linearly constrained"


class BilevelPairs(Pairs):
    """Pairs of online bilevel problems."""

    title = "robustness pairs bilevel"
    subject = "Methods for online bilevel problems on those of paper sogd, by their defaults"
    sizes = _sizes(("ToyBilevel", "QuadraticBilevel", "CurvedBilevel", "BlackBoxAttack", "LossTuning"), ("SOGD",), 1000)
    form = "online bilevel"


class DesignPairs(Pairs):
    """Pairs with the engineering designs."""

    title = "robustness pairs designs"
    subject = "Methods for black boxes on the four engineering designs, by their defaults"
    sizes = _sizes(("PressureVessel", "WeldedBeam", "Spring", "SpeedReducer"), ("ZOSPLM",), 1500)
    form, replicas = "constrained", 8
