"""Paper salm, Table 1: the samples that each method takes to a stationary and feasible point.

The table has bounds only: O(eps^-4) samples for Algorithms 1 and 2, O(eps^-3) with variance reduction, and the same or
O(eps^-5) for methods of others, four of them here in our implementation. What is measured is the number of samples
until ||v|| <= eps and ||[h]_+|| <= eps hold at one iterate, v in grad f + A^T y + N_X, of single runs whose steps are
sized for the whole budget: by default, and at the best setting of one grid of factors of the rule's step and penalty,
the same for each method, chosen on other seeds. Algorithm 3 stands beside itself without its recursion, a = 1.
Problems: the stochastic QP with rows that are known and with rows that are only sampled, and fair classification with
the logistic difference.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

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
from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Panel, Table, Tuning, array, plain
from zoviz.studies.verdict import Evidence, gain

LOOKS = 200
"""Iterations at which a run is measured, in geometric progression: a first hit is known to a few per cent."""
TRIAL_SEED, REPORTED_SEED = 1000, 0
"""Of the runs that choose a setting, and of those that are reported."""
STEPS, PENALTIES = tuple(3.0**k for k in range(-3, 6)), tuple(4.0**k for k in range(-4, 3))
"""Factors of the rule's step and penalty that are tried."""
TRIALS = 5
"""Runs that try a setting, an odd number, so that half of them are more or fewer than half."""


class Method(NamedTuple):
    """A method of the table: its class, the options that make it, the bound claimed for it, and whether it is ours."""

    cls: type[Solver]
    options: Mapping[str, Any]
    bound: str
    rival: bool


KNOWN_ROWS = {
    "salm, Algorithm 1": Method(SmoothedALM, {}, "eps^-4", False),
    "salm, Algorithm 3": Method(StormALM, {}, "eps^-3", False),
    "Algorithm 3, a = 1": Method(StormALM, {"momentum": 1.0}, "-", False),
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
    "Remark 5.8, a = 1": Method(StormSampledALM, {"momentum": 1.0}, "-", False),
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


def cases(seed: int = 0) -> dict[str, Case]:
    """Return the problems by their names on the command line."""
    exact_rows = problem_for(seed=seed)
    sampled = problem_for(sampled=True, seed=seed)
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
        rule = method.cls(**options).from_constants(problem, constants)
        options[name] = factor * rule[name]
    solver = method.cls(**options)
    rule = solver.from_constants(problem, constants)
    for name in solver.open_scales():
        solver.set(name, float(rule[name]))
    return solver


def samples_to(
    solver: Solver,
    problem: LinearlyConstrained,
    tolerances: tuple[float, ...],
    samples: int,
    seeds: int,
    seed: int,
    limit: float = np.inf,
) -> Array:
    """Return the samples until ||v|| and the violation are within each tolerance, (tolerances, seeds); inf for never.

    The seeds are replicas, whose samples and starts are independent. Within ``samples`` each, which the iterations at
    which a run is measured are chosen for, or within the limit, where that is less.
    """
    streams = Streams(seed, seeds)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    looks = set(np.unique(np.geomspace(1.0, samples, LOOKS).astype(int)).tolist())
    out, levels = np.full((len(tolerances), seeds), np.inf), np.array(tolerances)[:, None]
    for t in itertools.count(1):
        state, _ = solver.step(state, oracle, streams)
        if oracle.account.samples.xi.max() > min(samples, limit):
            return out
        if t in looks:
            measured = problem.measures(solver.iterate(state), None)
            worst = np.maximum(measured[NORMAL_RESIDUAL], measured[VIOLATION])
            new = (worst <= levels) & np.isinf(out)
            out[new] = np.broadcast_to(oracle.account.samples.xi, out.shape)[new]
            if np.isfinite(out).all():
                return out
    raise AssertionError("a run always spends its samples")


def medians(samples: Array) -> tuple[float, ...]:
    """Return the medians over seeds of samples (tolerances, seeds), the tightest tolerance first."""
    return tuple(np.median(samples, axis=1)[::-1].tolist())


def tuned(
    method: Method, case: Case, samples: int, grid: Sequence[tuple[float, float]], seed: int
) -> tuple[float, float]:
    """Return the factors of step and penalty with the least median at the tightest tolerance that any reaches.

    Settings next to the rule's own are tried first; a run ends where it can no longer be the best, at as many samples
    as the best took to the tightest tolerance. That changes no choice.
    """
    order = sorted(grid, key=lambda pair: sum(abs(np.log(factor)) for factor in pair))
    best, least = order[0], (np.inf,) * len(case.tolerances)
    for factors in order:
        solver = solver_for(method, case.problem, samples, *factors)
        counts = samples_to(solver, case.problem, case.tolerances, samples, TRIALS, seed, limit=least[0])
        if medians(counts) < least:
            best, least = factors, medians(counts)
    return best


class Samples(Experiment):
    """Table 1 as samples to given accuracies on the stochastic QP with known rows."""

    title = "salm Table 1"
    subject = "Samples to a stationary and feasible point: the paper's methods and those of others"
    printed = (
        "Bounds on samples: eps^-4 for Algorithms 1 and 2, eps^-3 for Algorithm 3 and Remark 5.8, eps^-3 or eps^-5 for "
        "the methods of others; no experiment."
    )
    protocol = (
        "Medians of the samples until ||v|| and the violation are at most eps at one iterate, up to a limit; by the "
        "method's own rule, and with its step and penalty times the factors that trials chose."
    )
    sizes = {
        "quick": {"cases": ["qp"], "samples": 800, "seeds": 4, "steps": [1.0, 3.0], "penalties": [1.0]},
        "full": {
            "cases": ["qp"],
            "samples": 6000,
            "seeds": 10,
            "steps": list(STEPS),
            "penalties": list(PENALTIES),
        },
    }

    def parts(self) -> list[str]:
        return [f"{case} / {method}" for case in self.settings["cases"] for method in cases()[case].methods]

    def measure(self, part: str) -> Figures:
        """Return the samples of a method on a problem, by default and tuned, and the factors that tuning chose."""
        name, method_name = part.split(" / ")
        case, samples, seeds = cases(self.seed())[name], self.settings["samples"], self.settings["seeds"]
        method = case.methods[method_name]
        best = tuned(method, case, samples, self.grid(), self.seed(TRIAL_SEED))
        out: Figures = {"factors": list(best)}
        for kind, factors in (("default", (1.0, 1.0)), ("tuned", best)):
            solver = solver_for(method, case.problem, samples, *factors)
            reported = self.seed(REPORTED_SEED)
            out[kind] = plain(samples_to(solver, case.problem, case.tolerances, samples, seeds, reported))
        return out

    def grid(self) -> list[tuple[float, float]]:
        """Return the factors of step and penalty that are tried."""
        return list(itertools.product(self.settings["steps"], self.settings["penalties"]))

    def tuning(self) -> Tuning:
        return Tuning(
            len(self.grid()),
            "the median of the samples to the tightest eps that is reached",
            (TRIAL_SEED,),
            (REPORTED_SEED,),
        )

    def claims(self) -> list[Claim]:
        out = []
        for name in self.settings["cases"]:
            methods = cases()[name].methods
            simple, reduced, without = list(methods)[:3]
            rivals = tuple(key for key, method in methods.items() if method.rival)
            penalties = tuple(key for key in rivals if "enalty" in key or "iALM" in key)
            for says, others, method, ablation in (
                ("variance reduction takes fewer samples than without", (simple,), reduced, without),
                ("the paper's best takes fewer samples than each of the others", rivals, reduced, without),
                ("multipliers take fewer samples than penalties", penalties, reduced, penalties[-1]),
            ):
                test = partial(takes_fewer_samples, self, name)
                out.append(Claim("Table 1", f"{says}: {name}", test, method, ablation, others))
        return out

    def tables(self, measured: Measured) -> list[Table]:
        out = []
        ends = [{grid[0], grid[-1]} for grid in (self.settings["steps"], self.settings["penalties"])]
        for name in self.settings["cases"]:
            case, rows = cases()[name], []
            eps = ", ".join(f"{one:g}" for one in case.tolerances)
            for key, method in case.methods.items():
                one = measured[f"{name} / {key}"]
                factors = ", ".join(
                    f"{factor:.3g}{'*' if factor in end else ''}"
                    for factor, end in zip(one["factors"], ends, strict=True)
                )
                both = (cells(samples_of(one, kind)) for kind in ("default", "tuned"))
                rows.append((key, method.bound, *both, factors))
            heads = ("Method", "Claimed", f"Default: eps = {eps}", f"Tuned: eps = {eps}", "Step, penalty")
            heading = f"{case.title}: medians over seeds (how many came there); * the grid's end"
            out.append(Table(heading, heads, rows))
        return out

    def panels(self, measured: Measured) -> list[Panel]:
        out = []
        for name in self.settings["cases"]:
            case = cases()[name]
            xs = [1.0 / one for one in case.tolerances]
            lines = {
                key: (xs, plain(np.array(medians(samples_of(measured[f"{name} / {key}"], "tuned"))[::-1])))
                for key in case.methods
            }
            parts = {key: [f"{name} / {key}"] for key in case.methods}
            out.append(Panel(f"{case.title}, tuned", "1 / eps", "samples", lines, log_x=True, log_y=True, parts=parts))
        return out


class SampledRows(Samples):
    """Table 1 on the stochastic QP whose rows are only sampled."""

    title = "salm Table 1 sampled"
    sizes = {
        "quick": {"cases": ["sampled"], "samples": 800, "seeds": 4, "steps": [1.0, 3.0], "penalties": [1.0]},
        "full": {**Samples.sizes["full"], "cases": ["sampled"]},
    }


class FairClassifier(Samples):
    """Table 1 on fair classification with the logistic difference."""

    title = "salm Table 1 fair"
    sizes = {
        "quick": {"cases": ["fair"], "samples": 200, "seeds": 4, "steps": [3.0, 9.0], "penalties": [1.0]},
        "full": {**Samples.sizes["full"], "cases": ["fair"]},
    }


def samples_of(figures: Figures, kind: str) -> Array:
    """Return the samples (tolerances, seeds) of a part's figures; infinite for never."""
    samples = array(figures[kind])
    return np.where(np.isnan(samples), np.inf, samples)


def cells(samples: Array) -> str:
    """Return the medians over seeds, and how many seeds came there, (tolerances, seeds), as text."""
    hits = np.isfinite(samples).sum(axis=1)
    return ", ".join(
        f"{'never' if np.isinf(median) else f'{median:.0f}'} ({count})"
        for median, count in zip(medians(samples)[::-1], hits, strict=True)
    )


def takes_fewer_samples(experiment: Experiment, case: str, measured: Measured, method: str, *rivals: str) -> Evidence:
    """Test that a method takes fewer samples than each of others at the tightest eps that any reaches."""
    every = {name: samples_of(measured[f"{case} / {name}"], "tuned") for name in (method, *rivals)}
    table = {name: np.array(medians(samples)) for name, samples in every.items()}
    reached = np.isfinite(np.array(list(table.values()))).any(axis=0)
    place = int(np.argmax(reached)) if reached.any() else 0  # medians have the tightest first
    at = {name: np.log(samples[len(samples) - 1 - place]) for name, samples in every.items()}
    figures = ", ".join(f"{name} {table[name][place]:.0f}" for name in at)
    return Evidence(
        np.array([gain(at[method], at[name]) for name in rivals]),
        f"at eps = {cases()[case].tolerances[::-1][place]:g}: {figures}",
        dict.fromkeys(every, float(experiment.settings["samples"])),
    )
