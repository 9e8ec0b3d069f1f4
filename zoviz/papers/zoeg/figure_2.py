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
from zoviz.papers.zoeg.table_2 import last_entry
from zoviz.problems import LoadTracking
from zoviz.runs.engine.columns import CALLS, ITERATION, RELATIVE_GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import ZOBCEG
from zoviz.studies.experiment import (
    Claim,
    Experiment,
    Figures,
    Judgement,
    Measured,
    Panel,
    Table,
    Tuning,
    Verdict,
    array,
    below,
    mean_text,
    plain,
    rounded,
    weakest,
    yes_or_no,
)

RELATIVE, KILOWATT = 0.01, 1.0
"""Error and violation within which a run has arrived: the middle levels of Table 2."""
DOZENS = 36
"""What "a few dozen" iterations are."""
BLOCK_STEPS = [(step, 1.0) for step in (0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4)]
OTHER_STEPS = list(itertools.product((5e-4, 1e-3, 2e-3, 4e-3), (0.01, 0.1)))
"""Primal steps, and dual step over primal step: Algorithm 3 has one step for both."""
TRIAL_SEED, REPORTED_SEED, TRIALS = 1, 11, 5
"""Of the runs that choose steps and of those that are reported, and replicas of the former."""
_ROWS = 60
Steps = tuple[float, float]


def run_of(method: str, steps: Steps, problem: LoadTracking, replicas: int, seed: int, calls: int) -> Run:
    """Return the run of a block size, or of a method of Fig. 1, at the end of its calls."""
    if method in METHODS:
        return course(method, CONSTANT, steps, problem, replicas=replicas, seed=seed, calls=calls)
    solver = ZOBCEG.published(
        primal_step=steps[0],
        dual_step=steps[0] * steps[1],
        report="last",
        estimator=Block(smoothing_radius=1e-3, block_size=int(method.removeprefix("block ")), scaled=False),
    )
    run = Run(problem=problem, solver=solver, replicas=replicas, seed=seed, calls=calls)
    run.run()
    return run


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
        """Return a part for every block size and every other method."""
        return [*self.blocks(), *METHODS]

    def blocks(self) -> list[str]:
        """Return the names of the block sizes, the last of all coordinates."""
        return [f"block {size}" for size in self.settings["blocks"]]

    def tuning(self) -> Tuning:
        return Tuning(len(BLOCK_STEPS), "the mean distance at the end", (TRIAL_SEED,), (REPORTED_SEED,))

    def measure(self, part: str) -> Figures:
        """Return the best steps, iterations and calls to arrive, errors at the end and mean courses."""
        problem, calls = LoadTracking(n=self.settings["n"]), self.settings["calls"]

        def score(steps: Steps) -> float:
            run = run_of(part, steps, problem, TRIALS, TRIAL_SEED, calls)
            far, iterations = distances(run), run.trace[ITERATION]
            entries = last_entry(iterations, far, 1.0)
            # Those that have not arrived come after those that have, in the order of their distances.
            late = iterations[-1] * (1.0 + np.nan_to_num(far[-1], nan=np.inf))
            return float(np.where(np.isnan(entries), late, entries).mean())

        steps = min(OTHER_STEPS if part in METHODS else BLOCK_STEPS, key=score)
        run = run_of(part, steps, problem, self.settings["replicas"], REPORTED_SEED, calls)
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
        """Return the claims on blocks, and on ZOBCEG beside each other method."""
        blocks = self.blocks()
        out = [
            Claim(
                "Fig. 2 a",
                f"{large} takes fewer iterations to 1 % and 1 kW than {small}",
                partial(arrives_sooner, small),
                large,
            )
            for small, large in itertools.pairwise(blocks)
        ]
        dozens = f"with all coordinates it arrives within {DOZENS} iterations, and in blocks not"
        out.append(Claim("Fig. 2 a", dozens, within_dozens, blocks[-1], blocks[0]))
        for rival in METHODS:
            says = f"ZOBCEG, {blocks[1]}, has less error and violation at equal calls than {rival}"
            out.append(Claim("Fig. 2 b", says, partial(ends_nearer, rival), blocks[1]))
            says = f"ZOBCEG, {blocks[1]}, takes fewer iterations to 1 % and 1 kW than {rival}"
            out.append(Claim("Fig. 2 b", says, partial(arrives_sooner, rival), blocks[1]))
        return out

    def tables(self, measured: Measured) -> list[Table]:
        """Return the iterations to arrive and the errors at the end."""
        rows = []
        for part, one in measured.items():
            grid = OTHER_STEPS if part in METHODS else BLOCK_STEPS
            ends = [(min(axis), max(axis)) for axis in zip(*grid, strict=True)]
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
        """Return the courses of error and violation against iterations."""
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


def arrives_sooner(other: str, measured: Measured, method: str) -> Judgement:
    """Test that a method arrives in fewer iterations than another."""
    (mine, missing), (its, none) = arrivals(measured[method]), arrivals(measured[other])
    verdict = below(mine, its)
    if (verdict is Verdict.YES and missing) or (verdict is Verdict.NO and none):
        verdict = Verdict.OPEN
    texts = [
        f"{mean_text(counts)}{' at least' if open_end else ''}" for counts, open_end in ((mine, missing), (its, none))
    ]
    return Judgement(verdict, f"{texts[0]} against {texts[1]}")


def within_dozens(measured: Measured, method: str) -> Judgement:
    """Return the judgement that every run arrives within a few dozen iterations."""
    entries = array(measured[method]["entries"])
    return Judgement(
        yes_or_no(bool((entries <= DOZENS).all())), f"{mean_text(arrivals(measured[method])[0])} iterations"
    )


def ends_nearer(other: str, measured: Measured, method: str) -> Judgement:
    """Test that both the relative error and the violation of a method are below another's at equal calls."""
    verdicts, texts = [], []
    for key, least in ((RELATIVE_GAP, 0.0), (VIOLATION, 0.1)):
        mine, its = (array(measured[name][key]) for name in (method, other))
        verdict = below(mine, its)
        # Violations that are all within the paper's least level are no reason against it.
        verdicts.append(Verdict.YES if verdict is not Verdict.YES and mine.mean() < least else verdict)
        texts.append(f"{mean_text(mine)} against {mean_text(its)}")
    return Judgement(weakest(verdicts), "; ".join(texts))
