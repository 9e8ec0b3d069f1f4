"""Paper conex, Fig. 2: the proximal-point meta-algorithm with K = 50 stages on the nonconvex QCQP, by KKT residual.

Both quadratics are indefinite. The figure's "norm of the gradient of the objective" says nothing of a constrained
problem: the KKT residual stands here, the largest of the projected gradient of the Lagrangian, the violation and the
complementarity, at the multiplier y >= 0 for which it is least, so that methods with other multipliers, or none, are
judged alike. Panels, radii, default rules, trials and rivals are those of ``zoviz.papers.conex.figure_1``; besides,
SZO-ConEX without the proximal stages.

    python -m zoviz.papers.conex.figure_2 --n 50 --replicas 10 --calls 20000        # a minute
    python -m zoviz.papers.conex.figure_2 --n 200 --replicas 100                    # an hour, without rivals
    python -m zoviz.papers.conex.figure_2 --n 200 --rivals 12                       # Bayesian methods, too
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.papers.conex.figure_1 import (
    BATCH,
    LARGE,
    LEAST,
    RADII,
    SMALL,
    Budget,
    arguments,
    course,
    judge,
    panels,
    title,
    with_rivals,
)
from zoviz.papers.conex.methods import (
    OURS,
    PLAIN,
    RIVALS,
    Claim,
    alike,
    conex,
    diverges,
    last_crossing,
)
from zoviz.problems import ConexQCQP
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import CALLS, STATIONARITY
from zoviz.runs.run import Run
from zoviz.runs.stored_run import StoredRun
from zoviz.solvers import Solver
from zoviz.solvers.constrained.proximal_point import ProximalPoint

STAGES = 50
"""K."""
NEAR = 0.1
"""Share of the start's residual whose last crossing counts as accuracy reached."""
WITHOUT = f"{OURS} without stages"
_HALVINGS = 60


def least_residual(problem: Problem, x: Array) -> Array:
    """Return the KKT residual (R,) at x (R, n) of a problem with one constraint, at the multiplier where it is least.

    Up to the multiplier with the shortest gradient of the Lagrangian that gradient shrinks and the complementarity
    grows: the larger of them is least where they cross, found by bisection. Bounds must not be active there.
    """
    value, gradients = problem.value_and_gradient(x)
    if gradients is None:
        raise ValueError(f"Expected a problem with gradients, got {type(problem).__name__} without.")
    slope, rows, h = *gradients, value.h
    row = rows[:, 0]

    def parts(y: Array) -> tuple[Array, Array]:
        step = problem.domain.project(x - slope - y[:, None] * row) - x
        return np.linalg.norm(step, axis=1), np.abs(y * h[:, 0])

    low = np.zeros(len(x))
    high = np.maximum(-(slope * row).sum(axis=1) / np.maximum(np.square(row).sum(axis=1), 1e-300), 0.0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        gradient, complementarity = parts(middle)
        short = gradient > complementarity
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.maximum(np.maximum(*parts(high)), np.maximum(h[:, 0], 0.0))


def chain(radius: float, calls: int, extrapolation: float = 1.0, **options: Any) -> ProximalPoint:
    """Return the meta-algorithm with K stages that share a budget of calls, around SZO-ConEX as published."""
    per_step = 3 * BATCH + 2
    inner = conex(radius, BATCH, extrapolation, directions="separate", **options)
    return ProximalPoint(stages=STAGES, stage_length=max(1, calls // (STAGES * per_step)), inner=inner)


def courses(problem: ConexQCQP, budget: Budget) -> dict[str, Run | StoredRun]:
    """Return the runs of one panel, by name: every radius, the ablations, and rivals."""
    solvers: dict[str, Solver] = {f"{OURS}, ν = {radius:g}": chain(radius, budget.calls) for radius in RADII}
    solvers[f"{PLAIN}, ν = {SMALL[0]:g}"] = chain(SMALL[0], budget.calls, 0.0)
    solvers[f"{WITHOUT}, ν = {SMALL[0]:g}"] = conex(SMALL[0], BATCH, directions="separate")
    return with_rivals(problem, solvers, budget)


def shares(problem: ConexQCQP, run: Run | StoredRun, start: Array) -> Array:
    """Return the residuals (R,) of a run's answers over those of their starts (R,); inf where it ran away."""
    with np.errstate(all="ignore"):
        values = least_residual(problem, run.result.x)
    return np.nan_to_num(values, nan=np.inf) / start


class Ends(NamedTuple):
    """Residuals at the end as shares of the start's, and the calls to ``NEAR`` of it, (R,) each, by run."""

    shares: dict[str, Array]
    near: dict[str, Array]


def ends(problem: ConexQCQP, runs: Mapping[str, Run | StoredRun], start: Array) -> Ends:
    """Return what runs came to, whose starts have residuals (R,) or more."""
    near = {}
    for name, run in runs.items():
        own = np.nan_to_num(run.trace[STATIONARITY], nan=np.inf)  # at the run's multipliers: the least is no larger
        near[name] = last_crossing(run.trace[CALLS], own, NEAR * start[: run.replicas])
    return Ends({name: shares(problem, run, start[: run.replicas]) for name, run in runs.items()}, near)


def starts(problem: ConexQCQP, replicas: int) -> Array:
    """Return the KKT residuals (R,) of the trials' starts."""
    streams = Streams(0, replicas)
    return least_residual(problem, problem.initial(streams))


def report(problem: ConexQCQP, budget: Budget) -> list[Claim]:
    """Print the table of one panel and the verdicts on radii, and return its claims against other methods."""
    sizes = f"{budget.replicas} trials, {budget.calls} calls, {STAGES} stages"
    print(f"\n{title(problem)}: {sizes}; medians over trials", flush=True)
    runs, start = courses(problem, budget), starts(problem, max(budget.replicas, budget.rivals))
    print(f"the start's KKT residual: {np.median(start):.3g}")
    print("| Method | Calls | KKT residual, % of start (largest) | Calls to 10 % | Trials there |\n" + "|---" * 5 + "|")
    every = ends(problem, runs, start)
    for name, run in runs.items():
        near, share = every.near[name], every.shares[name]
        cells = [
            f"{run.trace[CALLS][-1].max():.0f}",
            f"{100.0 * np.median(share):.3g} ({100.0 * share.max():.3g})",
            "never" if np.isinf(np.median(near)) else f"{np.median(near):.0f}",
            f"{np.isfinite(near).sum()} of {run.replicas}",
        ]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    verdicts(every)
    return claims(problem, budget, runs, every)


def verdicts(every: Ends) -> None:
    """Print the verdicts on radii."""
    near = [every.near[f"{OURS}, ν = {radius:g}"] for radius in SMALL]
    print(
        f"claim 1, as many calls to {100 * NEAR:g} % for ν = 0.05 and 0.1: {alike(near[:2])}; with 0.2: {alike(near)}"
    )
    print(f"claim 2, diverges for ν = {LARGE:g}: {diverges(every.shares[f'{OURS}, ν = {LARGE:g}'])}")


def claims(problem: ConexQCQP, budget: Budget, runs: Mapping[str, Run | StoredRun], every: Ends) -> list[Claim]:
    """Return what a panel claims of the meta-algorithm against ablations and rivals, by residuals at the end."""
    words, ours = title(problem), every.shares[f"{OURS}, ν = {SMALL[0]:g}"]
    out = [
        Claim(f"{words}, claim 3, credit of the {what}", ours, every.shares[f"{name}, ν = {SMALL[0]:g}"])
        for what, name in (("extrapolation", PLAIN), ("stages", WITHOUT))
    ]
    for name in RIVALS:
        if name not in runs:
            continue
        count, calls = runs[name].replicas, int(runs[name].trace[CALLS][-1].min())
        short = course(problem, chain(SMALL[0], budget.calls), OURS, budget.store, replicas=count, calls=calls)
        sentence = f"{words}, claim 4, better than {name} at {calls} calls, where that ended"
        out.append(Claim(sentence, shares(problem, short, starts(problem, count)), every.shares[name]))
        out.append(Claim("  the same at the end of both budgets", ours[:count], every.shares[name]))
    return out


def main() -> None:
    """Print the report for the panels and sizes that the command line gives."""
    options = arguments(__doc__).parse_args()
    every = [report(*panel) for panel in panels(options, convex=False)]
    judge(list(itertools.chain.from_iterable(every)), LEAST)


if __name__ == "__main__":
    main()
