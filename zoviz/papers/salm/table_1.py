"""Paper salm, Table 1: the samples that each method takes to a stationary and feasible point.

The table has bounds only: O(eps^-4) samples for Algorithms 1 and 2, O(eps^-3) with variance reduction, and the same or
O(eps^-5) for methods of others, four of them here in our implementation. What is measured is the number of samples
until ||v|| <= eps and ||[h]_+|| <= eps hold at one iterate, v in grad f + A^T y + N_X, of single runs whose steps are
sized for the whole budget: by default, and at the best of nine settings (the rule's step times 1/3, 1, 3 and penalty
times 1/4, 1, 4), the same for each method, chosen on other seeds. Problems: the stochastic QP with rows that are known
and with rows that are only sampled, and fair classification with the logistic difference.

    python -m zoviz.papers.salm.table_1                          # all three problems, ten seeds: some ten minutes
    python -m zoviz.papers.salm.table_1 --only qp --samples 4000
"""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.papers.salm.theorems import problem_for
from zoviz.problems import FairClassification
from zoviz.problems.linear import LinearlyConstrained
from zoviz.runs.engine.columns import NORMAL_RESIDUAL, VIOLATION
from zoviz.solvers import (
    LinearisedALM,
    LinearisedStormALM,
    PenaltySGD,
    SampledALM,
    SmoothedALM,
    Solver,
    StochasticIALM,
    StormALM,
    StormPenalty,
    StormSampledALM,
    TruncatedStormPenalty,
)
from zoviz.solvers.linear.smoothed_base import NEW

STEPS, PENALTIES = (1.0 / 3.0, 1.0, 3.0), (0.25, 1.0, 4.0)
"""Factors of the rule's step and penalty that are tried."""
LOOKS = 200
"""Iterations at which a run is measured, in geometric progression: a first hit is known to a few per cent."""
TRIAL_SEED = 1000
"""Of the runs that choose a setting; those that are reported have another."""


class Method(NamedTuple):
    """A method of the table: its class, the options that make it, the bound claimed for it, and whether it is ours."""

    cls: type[Solver]
    options: Mapping[str, str]
    bound: str
    rival: bool


KNOWN_ROWS = {
    "salm, Algorithm 1": Method(SmoothedALM, {}, "eps^-4", False),
    "salm, Algorithm 3": Method(StormALM, {}, "eps^-3", False),
    "Algorithm 1, centre from x_{t+1}": Method(SmoothedALM, {"centre_update": NEW}, "-", False),
    "Alacaoglu-Wright, ALM": Method(LinearisedStormALM, {}, "eps^-3", True),
    "Alacaoglu-Wright, penalty": Method(StormPenalty, {}, "eps^-5", True),
    "Lu et al., penalty": Method(TruncatedStormPenalty, {}, "eps^-3", True),
    "Li et al., iALM": Method(StochasticIALM, {}, "eps^-5", True),
    "linearised ALM": Method(LinearisedALM, {}, "-", True),
    "penalty SGD": Method(PenaltySGD, {}, "-", True),
}
SAMPLED_ROWS = {
    "salm, Algorithm 2": Method(SampledALM, {}, "eps^-4", False),
    "salm, Remark 5.8": Method(StormSampledALM, {}, "eps^-3", False),
    "Alacaoglu-Wright, penalty": Method(StormPenalty, {}, "eps^-5", True),
    "Li et al., iALM": Method(StochasticIALM, {}, "eps^-5", True),
    "linearised ALM": Method(LinearisedALM, {}, "-", True),
    "penalty SGD": Method(PenaltySGD, {}, "-", True),
}


class Case(NamedTuple):
    """A problem of the comparison, the tolerances eps, and the methods that it is for."""

    title: str
    problem: LinearlyConstrained
    tolerances: tuple[float, ...]
    methods: Mapping[str, Method]


def cases() -> dict[str, Case]:
    """Return the problems by their names on the command line."""
    exact_rows = problem_for()
    sampled = problem_for(sampled=True)
    fair = FairClassification(loss="logistic difference")
    return {
        "qp": Case("stochastic QP", exact_rows, (1.0, 0.5, 0.25), KNOWN_ROWS),
        "sampled": Case("stochastic QP, sampled rows", sampled, (1.0, 0.5, 0.25), SAMPLED_ROWS),
        "fair": Case("fair classification", fair, (0.1, 0.05, 0.02), KNOWN_ROWS),
    }


def solver_for(method: Method, problem: LinearlyConstrained, samples: int, step: float, penalty: float) -> Solver:
    """Return a method with the rule's step and penalty times these factors, and what else follows from them."""
    constants = problem.constants
    if constants is None:
        raise ValueError(f"Expected a problem whose curvature is known, got {type(problem).__name__}.")
    options = {**method.options, "horizon": samples}
    for name, factor in (("penalty", penalty), ("primal_step", step)):
        rule = method.cls(**options).suggest(problem, constants)
        options[name] = factor * rule[name]
    solver = method.cls(**options)
    rule = solver.suggest(problem, constants)
    for name in solver.suggestible():
        solver.set(name, float(rule[name]))
    return solver


def samples_to(
    solver: Solver, problem: LinearlyConstrained, tolerances: tuple[float, ...], samples: int, seeds: int, seed: int
) -> Array:
    """Return the samples until ||v|| and the violation are within each tolerance, (tolerances, seeds); inf for never.

    The seeds are replicas, whose samples and starts are independent. Within ``samples`` each.
    """
    streams = Streams(seed, seeds)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    looks = set(np.unique(np.geomspace(1.0, samples, LOOKS).astype(int)).tolist())
    out, levels = np.full((len(tolerances), seeds), np.inf), np.array(tolerances)[:, None]
    for t in itertools.count(1):
        state, _ = solver.step(state, oracle, streams)
        if oracle.samples.xi.max() > samples:
            return out
        if t in looks:
            measured = problem.measures(solver.iterate(state), None)
            worst = np.maximum(measured[NORMAL_RESIDUAL], measured[VIOLATION])
            new = (worst <= levels) & np.isinf(out)
            out[new] = np.broadcast_to(oracle.samples.xi, out.shape)[new]
            if np.isfinite(out).all():
                return out
    raise AssertionError("a run always spends its samples")


class Row(NamedTuple):
    """The samples of a method, (tolerances, seeds), by default and tuned, and the factors that tuning chose."""

    default: Array
    tuned: Array
    factors: tuple[float, float]


def row(method: Method, case: Case, samples: int, seeds: int) -> Row:
    """Return the samples that a method takes on a problem, by default and at its best of the nine settings.

    The best has the least median at the tightest tolerance that any setting reaches in half of the trial runs.
    """
    trials = {}
    for factors in itertools.product(STEPS, PENALTIES):
        solver = solver_for(method, case.problem, samples, *factors)
        counts = samples_to(solver, case.problem, case.tolerances, samples, max(3, seeds // 2), TRIAL_SEED)
        trials[factors] = tuple(np.median(counts, axis=1)[::-1].tolist())  # the tightest first
    best = min(trials, key=lambda factors: trials[factors])
    solvers = [solver_for(method, case.problem, samples, *factors) for factors in ((1.0, 1.0), best)]
    results = [samples_to(solver, case.problem, case.tolerances, samples, seeds, 0) for solver in solvers]
    return Row(results[0], results[1], best)


def cells(samples: Array) -> str:
    """Return the medians over seeds, and how many seeds came there, (tolerances, seeds), as cells of a table."""
    medians, hits = np.median(samples, axis=1), np.isfinite(samples).sum(axis=1)
    return " | ".join(
        f"{'never' if np.isinf(median) else f'{median:.0f}'} ({count})"
        for median, count in zip(medians, hits, strict=True)
    )


def verdicts(rows: Mapping[str, Row], methods: Mapping[str, Method]) -> dict[str, bool]:
    """Return whether tuned figures say what the table claims, at the tightest tolerance that any method reaches."""
    medians = {name: np.median(row.tuned, axis=1) for name, row in rows.items()}
    reached = np.isfinite(list(medians.values())).any(axis=0)
    tightest = int(np.flatnonzero(reached)[-1]) if reached.any() else 0
    at = {name: median[tightest] for name, median in medians.items()}
    ours = [name for name in at if name.startswith("salm")]
    rivals = [value for name, value in at.items() if methods[name].rival]
    plain, recursive = (at[name] for name in ours)
    penalties = [value for name, value in at.items() if "enalty" in name or "iALM" in name]
    return {
        "variance reduction takes fewer samples than Algorithm 1 or 2": bool(recursive < plain),
        "the paper's best takes fewer samples than every other method": bool(min(plain, recursive) < min(rivals)),
        "penalty methods take more samples than the paper's methods": bool(min(penalties) > max(plain, recursive)),
    }


def report(case: Case, samples: int, seeds: int) -> None:
    """Print the table of one problem, in Markdown, and the verdicts."""
    tolerances = " | ".join(f"eps = {eps:g}" for eps in case.tolerances)
    print(f"\n{case.title}: samples, medians of {seeds} seeds (how many came there), at most {samples}")
    print(f"| Method | Claimed | Default: {tolerances} | Tuned: {tolerances} | Step, penalty |")
    print("|---" * (3 + 2 * len(case.tolerances)) + "|")
    rows = {}
    for name, method in case.methods.items():
        rows[name] = row(method, case, samples, seeds)
        default, tuned, (step, penalty) = rows[name]
        print(f"| {name} | {method.bound} | {cells(default)} | {cells(tuned)} | {step:.2g}, {penalty:g} |", flush=True)
    for claim, holds in verdicts(rows, case.methods).items():
        print(f"{claim}: {'yes' if holds else 'no'}")


def main() -> None:
    """Print the tables that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", default=list(cases()), choices=list(cases()))
    parser.add_argument("--samples", type=int, default=6000, help="of each run")
    parser.add_argument("--seeds", type=int, default=10)
    options = parser.parse_args()
    for name in options.only:
        report(cases()[name], options.samples, options.seeds)


if __name__ == "__main__":
    main()
