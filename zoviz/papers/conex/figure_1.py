"""Paper conex, Fig. 1: SZO-ConEX on the convex QCQP by four smoothing radii, against Bayesian methods and its ablation.

|f - f*| against oracle calls under N(0, 1) or Student-t noise of 5 degrees on every value, which either all points of
an iteration share ("common", as the theory asks) or every call draws afresh ("independent", as §4 reads). The paper's
radii are 0.05, 0.1 and "2", which may mean 0.2: all four are run. Every method has its default rule; no setting was
tried beforehand for any of them (``--search`` adds SZO-ConEX and its ablation at the best of nine pairs of steps each,
chosen on other seeds). Bayesian methods end at ``--rival-seconds``: a step costs them seconds at n = 200. The trials
are replicas; those of the Bayesian methods have the same starts as the first ones of SZO-ConEX.

What is judged is |f - f*| + y* [h]_+, with the optimum's multiplier y*, as a share of its value at the start: an
infeasible point may have f = f*. Of it 0.01, a per cent of the start's, is the least difference between methods that
matters. All panels' comparisons are corrected together for their number, and ``--store`` keeps every run, so that a
figure that was interrupted goes on where it stood.

    python -m zoviz.papers.conex.figure_1 --n 50 --replicas 10 --calls 20000        # a minute or two
    python -m zoviz.papers.conex.figure_1 --n 200 --replicas 100                    # an hour, without rivals
    python -m zoviz.papers.conex.figure_1 --n 200 --rivals 12                       # Bayesian methods, too
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.conex.methods import (
    OURS,
    PLAIN,
    RIVALS,
    Claim,
    alike,
    conex,
    diverges,
    judged,
    last_crossing,
)
from zoviz.problems import ConexQCQP
from zoviz.runs.engine.columns import CALLS, GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.runs.store import Store
from zoviz.runs.stored_run import StoredRun
from zoviz.solvers import Solver
from zoviz.studies.study import Study

RADII = (0.05, 0.1, 0.2, 2.0)
SMALL, LARGE = (0.05, 0.1, 0.2), 2.0
"""The radii that the paper calls small enough, 0.2 by our reading, and the one that is too large."""
BATCH = 20
"""Directions of an estimate; the paper has one, which costs the same calls in more iterations."""
DESIGN = 20
"""Points of a Bayesian method's first design: 2 (n + 1), the default, would be all that its time allows."""
FACTORS = (1.0 / 3.0, 1.0, 3.0)
"""What the search multiplies the rule's primal and dual step by."""
NEAR = 0.05
"""Share of the start's error whose first crossing counts as accuracy reached."""
LEAST = 0.01
"""The least difference between two methods that matters, as a share of the start's error."""
STUDY = "paper conex"
Law = Literal["normal", "student_t"]
Contract = Literal["common", "independent"]
LAWS: tuple[Law, ...] = ("normal", "student_t")
CONTRACTS: tuple[Contract, ...] = ("common", "independent")


class Errors(NamedTuple):
    """A run's course by rows of its trace: calls (rows, R), and errors as shares of those at the start, (rows, R).

    And the parts of the error: |f - f*| and the violation, (rows, R).
    """

    calls: Array
    error: Array
    gap: Array
    violation: Array

    def at(self, calls: float, replicas: int) -> Array:
        """Return the errors (replicas,) of the first replicas in the last row within so many calls."""
        rows = (self.calls[:, :replicas] <= calls).sum(axis=0) - 1
        return self.error[np.maximum(rows, 0), np.arange(replicas)]

    def near(self) -> Array:
        """Return the calls (R,) from which on the error stays within ``NEAR``; inf for never."""
        return last_crossing(self.calls, self.error, NEAR)


class Budget(NamedTuple):
    """Trials of SZO-ConEX and of rivals, calls of each, a rival's seconds, and the store that keeps runs."""

    replicas: int
    calls: int
    rivals: int
    seconds: float
    store: Store | None = None


def errors(run: Run | StoredRun) -> Errors:
    """Return the course of a run on a problem whose optimum and multiplier are known."""
    optimum = run.problem.known_optimum
    if optimum is None or optimum.multipliers is None:
        raise ValueError(f"Expected a problem with a known optimum, got {type(run.problem).__name__} without one.")
    gap, violation = np.abs(run.trace[GAP]), run.trace[VIOLATION]
    both = np.nan_to_num(gap + float(optimum.multipliers[0]) * violation, nan=np.inf)
    return Errors(run.trace[CALLS], both / both[0], gap, violation)


def course(
    problem: ConexQCQP, solver: Solver, name: str, store: Store | None = None, seed: int = 0, **limits: Any
) -> Run | StoredRun:
    """Return a method's run, at its end: that of the store where it has one."""
    if store is None:
        run = Run(problem=problem, solver=solver, seed=seed, label=name, **limits)
        run.run()
        return run
    study = Study(STUDY, problem, {name: solver}, seeds=(seed,), store=store, **limits)
    return store.load(study.run(progress=False).cells[0].id)


def courses(problem: ConexQCQP, budget: Budget, radii: tuple[float, ...] = RADII) -> dict[str, Run | StoredRun]:
    """Return the runs of one panel by name: every radius, ablations of the smallest and the largest, and rivals."""
    separate: dict[str, Any] = {"directions": "separate"}
    solvers: dict[str, Solver] = {f"{OURS}, ν = {radius:g}": conex(radius, BATCH, **separate) for radius in radii}
    solvers[f"{PLAIN}, ν = {radii[0]:g}"] = conex(radii[0], BATCH, 0.0, **separate)
    solvers[f"{OURS}, ν = {radii[-1]:g}, values at x"] = conex(radii[-1], BATCH, value="base", **separate)
    return with_rivals(problem, solvers, budget)


def with_rivals(problem: ConexQCQP, solvers: Mapping[str, Solver], budget: Budget) -> dict[str, Run | StoredRun]:
    """Return the runs of solvers, and of the Bayesian methods where the budget has trials of them, by name."""
    limits: dict[str, Any] = {"replicas": budget.replicas, "calls": budget.calls, "store": budget.store}
    runs = {name: course(problem, solver, name, **limits) for name, solver in solvers.items()}
    if budget.rivals:
        limits |= {"replicas": budget.rivals, "seconds": budget.seconds}
        runs |= {name: course(problem, cls(initial_points=DESIGN), name, **limits) for name, cls in RIVALS.items()}
    return runs


def search(
    problem: ConexQCQP, extrapolation: float, budget: Budget, runs: Mapping[str, Run | StoredRun]
) -> Run | StoredRun:
    """Return the run at the best of nine pairs of steps, chosen with other seeds by the median error at the end."""
    radius, name = SMALL[0], OURS if extrapolation else PLAIN
    rule = runs[f"{name}, ν = {radius:g}"].resolved
    trials = {}
    for pair in itertools.product(FACTORS, FACTORS):
        steps = {key: factor * rule[key] for key, factor in zip(("primal_step", "dual_step"), pair, strict=True)}
        solver = conex(radius, BATCH, extrapolation, directions="separate", **steps)
        run = course(problem, solver, name, seed=1, replicas=min(5, budget.replicas), calls=budget.calls)
        trials[pair] = float(np.median(errors(run).error[-1])), steps
    best = min(trials, key=lambda pair: trials[pair][0])
    solver = conex(radius, BATCH, extrapolation, directions="separate", **trials[best][1])
    label = f"{name}, ν = {radius:g}, best steps (rule × {best[0]:.2g}, {best[1]:.2g})"
    return course(problem, solver, label, replicas=budget.replicas, calls=budget.calls)


def line(name: str, one: Errors) -> str:
    """Return a run's row of the table as text."""
    calls = one.near()
    median = np.median(calls)
    cells = [
        f"{one.calls[-1].max():.0f}",
        f"{np.median(one.gap[-1]):.3g}",
        f"{np.median(one.violation[-1]):.3g}",
        f"{100.0 * np.median(one.error[-1]):.3g} ({100.0 * one.error[-1].max():.3g})",
        "never" if np.isinf(median) else f"{median:.0f}",
        f"{np.isfinite(calls).sum()} of {len(calls)}",
    ]
    return f"| {name} | " + " | ".join(cells) + " |"


def verdicts(every: Mapping[str, Errors]) -> None:
    """Print the verdicts on radii."""
    large = f"{OURS}, ν = {LARGE:g}"
    near = [every[f"{OURS}, ν = {radius:g}"].near() for radius in SMALL]
    print(
        f"claim 1, as many calls to {100 * NEAR:g} % for ν = 0.05 and 0.1: {alike(near[:2])}; with 0.2: {alike(near)}"
    )
    print(f"claim 2, diverges for ν = {LARGE:g}: {diverges(every[large].error[-1])}")
    print(f"  with the constraints' values at x itself: {diverges(every[f'{large}, values at x'].error[-1])}")


def claims(every: Mapping[str, Errors], words: str) -> list[Claim]:
    """Return what a panel claims of SZO-ConEX against its ablation and against rivals, by errors at the end."""
    ours, plain = every[f"{OURS}, ν = {SMALL[0]:g}"], every[f"{PLAIN}, ν = {SMALL[0]:g}"]
    out = [Claim(f"{words}, claim 3, credit of the extrapolation", ours.error[-1], plain.error[-1])]
    for name in RIVALS:
        if name not in every:
            continue
        other = every[name]
        count, calls = other.calls.shape[1], float(other.calls[-1].min())
        sentence = f"{words}, claim 4, better than {name} at {calls:.0f} calls, where that ended"
        out.append(Claim(sentence, ours.at(calls, count), other.error[-1]))
        out.append(Claim("  the same at the end of both budgets", ours.error[-1, :count], other.error[-1]))
    return out


def judge(every: Sequence[Claim], least: float) -> None:
    """Print the verdicts on the claims of all panels, whose p-values are corrected together."""
    print(f"\np-values corrected for {len(every)} pairs; differences below {least:g} do not matter")
    for text in judged(every, least):
        print(text)


def title(problem: ConexQCQP) -> str:
    """Return the words that name a panel."""
    return f"n = {problem.n}, {problem.noise_distribution}, {problem.noise} noise"


def report(problem: ConexQCQP, budget: Budget, search_steps: bool) -> list[Claim]:
    """Print the table of one panel and the verdicts on radii, and return its claims against other methods."""
    print(
        f"\n{title(problem)}: {budget.replicas} trials, {budget.calls} calls; medians over trials (largest)", flush=True
    )
    print("| Method | Calls | abs(f − f*) | Violation | Error, % of start | Calls to 5 % | Trials there |")
    print("|---" * 7 + "|", flush=True)
    runs = courses(problem, budget)
    if search_steps:
        for extrapolation in (1.0, 0.0):
            run = search(problem, extrapolation, budget, runs)
            runs[run.label] = run
    every = {name: errors(run) for name, run in runs.items()}
    for name, one in every.items():
        print(line(name, one), flush=True)
    verdicts(every)
    return claims(every, title(problem))


def arguments(description: str | None) -> argparse.ArgumentParser:
    """Return the parser of what both figures' command lines have."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--n", type=int, nargs="+", default=[200], help="variables; 200 and 500 in the paper")
    parser.add_argument("--noise", nargs="+", choices=CONTRACTS, default=list(CONTRACTS))
    parser.add_argument("--law", nargs="+", choices=LAWS, default=list(LAWS))
    parser.add_argument("--replicas", type=int, default=100, help="trials of SZO-ConEX and its ablations")
    parser.add_argument("--calls", type=int, default=100_000, help="of each trial")
    parser.add_argument("--rivals", type=int, default=0, help="trials of each Bayesian method; twelve can decide")
    parser.add_argument("--rival-seconds", type=float, default=300.0, help="of all trials of one Bayesian method")
    parser.add_argument("--store", metavar="URL", help="where runs are kept, and taken from if there")
    return parser


def panels(options: argparse.Namespace, convex: bool) -> Iterator[tuple[ConexQCQP, Budget]]:
    """Yield the problem and the budget of every panel that the command line names."""
    store = Store(options.store) if options.store else None
    budget = Budget(options.replicas, options.calls, options.rivals, options.rival_seconds, store)
    for n, contract, law in itertools.product(options.n, options.noise, options.law):
        yield ConexQCQP(n=n, convex=convex, noise=contract, noise_scale=1.0, noise_distribution=law), budget


def main() -> None:
    """Print the report for the panels and sizes that the command line gives."""
    parser = arguments(__doc__)
    parser.add_argument("--search", action="store_true", help="best steps of nine pairs, too")
    options = parser.parse_args()
    every = [report(*panel, options.search) for panel in panels(options, convex=True)]
    judge(list(itertools.chain.from_iterable(every)), LEAST)


if __name__ == "__main__":
    main()
