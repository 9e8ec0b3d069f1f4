"""Paper zoeg, Fig. 2: ZOBCEG by block size on load tracking, and beside ZOEG, SZO-ConEX and ZOGDA.

The figure's claims are that larger blocks converge faster per iteration, all coordinates within a few dozen, and that
ZOBCEG is faster and ends nearer than the three methods of Fig. 1. A run has arrived at the first iteration from which
its relative error stays within 1 % and its violation within 1 kW. Every method has constant steps, the best of eight
settings on other starts; equal calls.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from zoviz.core.types import Array
from zoviz.estimators import Block
from zoviz.papers.zoeg.figure_1 import CONSTANT, METHODS, course
from zoviz.papers.zoeg.single_step import ZOBCEGAlternating
from zoviz.papers.zoeg.table_2 import last_entry
from zoviz.problems import LoadTracking
from zoviz.runs.engine.columns import CALLS, ITERATION, RELATIVE_GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import ZOBCEG
from zoviz.studies.experiment import (
    Claim,
    Experiment,
    Figures,
    Measured,
    Panel,
    Table,
    Tuning,
    array,
    mean_text,
    plain,
    rounded,
)
from zoviz.studies.verdict import Evidence

RELATIVE, KILOWATT = 0.01, 1.0
"""Error and violation within which a run has arrived: the middle levels of Table 2."""
DOZENS = 36
"""What "a few dozen" iterations are."""
BLOCK_STEPS = [(step, 1.0) for step in (0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4)]
ZOEG_STEPS = [(step, 1.0) for step in (1e-5, 3e-5, 1e-4, 2e-4, 4e-4, 8e-4, 1.6e-3, 3.2e-3)]
OTHER_STEPS = list(itertools.product((5e-4, 1e-3, 2e-3, 4e-3), (0.01, 0.1)))
"""Primal steps, and dual step over primal step: Algorithms 1 and 3 have one step for both."""
SINGLE = ", one step"
"""Of ZOBCEG without the extra-gradient, at half the calls an iteration."""
TRIAL_SEED, REPORTED_SEED, TRIALS = 1, 11, 5
"""Of the runs that choose steps and of those that are reported, and replicas of the former."""
_ROWS = 60
ITERATIONS, EVALUATIONS = "iterations", "calls"
"""What a way is counted in."""
Steps = tuple[float, float]


def run_of(method: str, steps: Steps, problem: LoadTracking, replicas: int, seed: int, calls: int) -> Run:
    """Return the run of a block size, or of a method of Fig. 1, at the end of its calls."""
    if method in METHODS:
        return course(method, CONSTANT, steps, problem, replicas=replicas, seed=seed, calls=calls)
    size = int(method.removesuffix(SINGLE).removeprefix("block "))
    solver = (ZOBCEGAlternating if method.endswith(SINGLE) else ZOBCEG).published(
        primal_step=steps[0],
        dual_step=steps[0] * steps[1],
        report="last",
        estimator=Block(smoothing_radius=1e-3, block_size=size, scaled=False),
    )
    run = Run(problem=problem, solver=solver, replicas=replicas, seed=seed, calls=calls)
    run.run()
    return run


def grid_of(method: str) -> list[Steps]:
    """Return the steps that are tried of a method, as many for each."""
    return {"ZOEG": ZOEG_STEPS}.get(method, OTHER_STEPS) if method in METHODS else BLOCK_STEPS


def distances(run: Run) -> Array:
    """Return the larger of error over 1 % and violation over 1 kW, (rows, R)."""
    return np.maximum(run.trace[RELATIVE_GAP] / RELATIVE, run.trace[VIOLATION] / KILOWATT)


class Blocks(Experiment):
    """Fig. 2: iterations and calls to 1 %, and the errors at equal calls."""

    title = "zoeg Fig. 2"
    subject = "Iterations of ZOBCEG to 1 % and 1 kW by block size, and its errors beside ZOEG, SZO-ConEX and ZOGDA"
    printed = (
        "Curves without numbers; larger blocks converge faster per iteration, all coordinates within a few dozen "
        "iterations, and ZOBCEG converges faster and to smaller errors than ZOEG, SZO-ConEX and ZOGDA."
    )
    protocol = (
        "LoadTracking, instance 0; a run has arrived where error and violation stay within 1 % and 1 kW; every "
        "method at the best of eight settings of constant steps, equal calls."
    )
    sizes = {
        "quick": {"n": 20, "blocks": [1, 5, 20], "calls": 1600, "replicas": 5},
        "full": {"n": 100, "blocks": [1, 5, 20, 100], "calls": 12_000, "replicas": 20},
    }

    def parts(self) -> list[str]:
        return [*self.blocks(), *(block + SINGLE for block in self.blocks()), *METHODS]

    def blocks(self) -> list[str]:
        """Return the names of the block sizes, the last of all coordinates."""
        return [f"block {size}" for size in self.settings["blocks"]]

    def tuning(self) -> Tuning:
        return Tuning(len(BLOCK_STEPS), "the mean distance at the end", (TRIAL_SEED,), (REPORTED_SEED,))

    def measure(self, part: str) -> Figures:
        """Return the best steps, iterations and calls to arrive, errors at the end and mean courses."""
        problem, calls = LoadTracking(n=self.settings["n"], seed=self.seed()), self.settings["calls"]

        def score(steps: Steps) -> float:
            run = run_of(part, steps, problem, TRIALS, self.seed(TRIAL_SEED), calls)
            far, iterations = distances(run), run.trace[ITERATION]
            entries = last_entry(iterations, far, 1.0)
            # Those that have not arrived come after those that have, in the order of their distances.
            late = iterations[-1] * (1.0 + np.nan_to_num(far[-1], nan=np.inf))
            return float(np.where(np.isnan(entries), late, entries).mean())

        steps = min(grid_of(part), key=score)
        run = run_of(part, steps, problem, self.settings["replicas"], self.seed(REPORTED_SEED), calls)
        rows = np.unique(np.geomspace(1, len(run.trace[CALLS]), _ROWS).astype(int)) - 1
        means = {name: rounded(run.trace[name][rows].mean(axis=1)) for name in (RELATIVE_GAP, VIOLATION)}
        return {
            "steps": list(steps),
            "iterations": int(run.trace[ITERATION][-1]),
            "entries": plain(last_entry(run.trace[ITERATION], distances(run), 1.0)),
            RELATIVE_GAP: plain(run.trace[RELATIVE_GAP][-1]),
            VIOLATION: plain(run.trace[VIOLATION][-1]),
            "course": {"iteration": plain(run.trace[ITERATION][rows]), **means},
        }

    def claims(self) -> list[Claim]:
        blocks, out = self.blocks(), []
        for unit, (small, large) in itertools.product((ITERATIONS, EVALUATIONS), itertools.pairwise(blocks)):
            says = f"{large} takes fewer {unit} to 1 % and 1 kW than {small}"
            test = partial(arrives_sooner, self, unit)
            out.append(Claim("Fig. 2 a", says, test, large, small, (small,)))
        dozens = f"with all coordinates it arrives within the {EVALUATIONS} of {DOZENS} iterations"
        out.append(Claim("Fig. 2 a", dozens, partial(within_dozens, self), blocks[-1], blocks[-1] + SINGLE))
        test = partial(arrives_sooner, self, EVALUATIONS)
        for block in blocks:
            says = f"the extra-gradient takes fewer {EVALUATIONS} to 1 % and 1 kW than one step, {block}"
            out.append(Claim("Fig. 2, ours", says, test, block, block + SINGLE, (block + SINGLE,)))
        ours, without = blocks[1], blocks[1] + SINGLE
        for rival in METHODS:
            says = f"ZOBCEG, {ours}, has less error and violation at equal calls than {rival}"
            out.append(Claim("Fig. 2 b", says, partial(ends_nearer, self), ours, without, (rival,)))
            says = f"ZOBCEG, {ours}, takes fewer {EVALUATIONS} to 1 % and 1 kW than {rival}"
            out.append(Claim("Fig. 2 b", says, test, ours, without, (rival,)))
        return out

    def per_iteration(self, figures: Figures) -> float:
        """Return a method's calls per iteration."""
        return float(self.settings["calls"] / figures["iterations"])

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        for part, one in measured.items():
            ends = [(min(axis), max(axis)) for axis in zip(*grid_of(part), strict=True)]
            steps = ", ".join(
                f"{value:g}{'*' if value in end and end[0] != end[1] else ''}"
                for value, end in zip(one["steps"], ends, strict=True)
            )
            cells = [mean_text(array(one[name])) for name in ("entries", RELATIVE_GAP, VIOLATION)]
            rows.append((part, steps, str(one["iterations"]), *cells))
        heads = ("Method", "Step, dual over primal", "Iterations", "To 1 % and 1 kW", "Relative error", "Violation, kW")
        heading = (
            f"Means over starts at {self.settings['calls']} calls; a dash where a run never arrived; * the grid's end"
        )
        return [Table(heading, heads, rows)]

    def panels(self, measured: Measured) -> list[Panel]:
        out = []
        for key, words in ((RELATIVE_GAP, "relative error"), (VIOLATION, "violation in kW")):
            lines = {part: (one["course"]["iteration"], one["course"][key]) for part, one in measured.items()}
            own = {part: (part,) for part in lines}
            out.append(Panel(words, "iteration", words, lines, log_x=True, log_y=True, parts=own))
        return out


def arrivals(figures: Figures) -> tuple[Array, bool]:
    """Return the iterations (R,) to arrive, all of the run's where one never did, and whether one did not."""
    entries = array(figures["entries"])
    missing = np.isnan(entries)
    return np.where(missing, figures["iterations"], entries), bool(missing.any())


def arrives_sooner(experiment: Blocks, unit: str, measured: Measured, method: str, rival: str) -> Evidence:
    """Test that a method arrives in fewer iterations, or calls, than another."""
    own = [measured[name] for name in (method, rival)]
    cost = [experiment.per_iteration(one) for one in own]
    (mine, missing), (other, none) = map(arrivals, own)
    if unit == EVALUATIONS:
        mine, other = mine * cost[0], other * cost[1]
    gain = other - mine
    early = bool((gain.mean() > 0.0 and missing) or (gain.mean() < 0.0 and none))
    texts = [f"{mean_text(counts)}{' at least' if some else ''}" for counts, some in ((mine, missing), (other, none))]
    budgets = dict(zip((method, rival), cost if unit == ITERATIONS else (1.0, 1.0), strict=True))
    doubt = "the budget ended too early to tell" if early else ""
    return Evidence(gain[None], f"{texts[0]} against {texts[1]}", budgets, doubt=doubt)


def within_dozens(experiment: Blocks, measured: Measured, method: str) -> Evidence:
    """Test that runs arrive within the calls of a few dozen iterations with all coordinates."""
    counts, _ = arrivals(measured[method])
    spent = counts * experiment.per_iteration(measured[method])
    most = DOZENS * experiment.per_iteration(measured[experiment.blocks()[-1]])
    figures = f"{mean_text(counts)} iterations, {mean_text(spent)} calls of {most:.0f}"
    return Evidence(most - spent[None], figures, {method: float(experiment.settings["calls"])})


def ends_nearer(experiment: Blocks, measured: Measured, method: str, rival: str) -> Evidence:
    """Test that the relative error and the violation of a method are below another's at equal calls."""
    margins, texts = [], []
    for key, least in ((RELATIVE_GAP, 0.0), (VIOLATION, 0.1)):
        mine, other = (array(measured[name][key]) for name in (method, rival))
        margins.append(np.maximum(other, least) - mine)  # within the paper's least level no violation counts
        texts.append(f"{mean_text(mine)} against {mean_text(other)}")
    budgets = dict.fromkeys((method, rival), float(experiment.settings["calls"]))
    return Evidence(np.array(margins), "; ".join(texts), budgets)
