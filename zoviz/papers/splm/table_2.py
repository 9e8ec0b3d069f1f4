"""Paper splm, Table 2: iterations of ZO-SPLM, SZO-ConEX and ZO-ALM to stochastic eps-stationarity, eps < 1.

Nonconvex QCQP, x0 uniform in [-1, 1]^n, all three with the same sphere estimator (k = 10000, r = 1e-5), from the same
starts, twice: with the solver's own rule, told the instance's exact constants, and at the best point of one grid of
steps. The paper prints neither starts nor steps, so that its counts cannot be met by anything but chance; its ratios
can. Steps are in units that do not depend on the instance: the primal one of 1 / L_f, the dual one (for ZO-ALM the
penalty and the dual step, kept equal) of L_f / G_0^2. The grid is searched with a twentieth of the directions and
sixteen other starts (the steps that were best from four failed ZO-ALM from others); its best point is the one that is
reported.
"""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np

from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.papers.splm.figure_1 import READINGS
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.columns import CALLS, ITERATION, STATIONARITY
from zoviz.runs.references import Reference
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Table, Tuning, array, mean_text, plain
from zoviz.studies.live import Live
from zoviz.studies.verdict import Evidence

PAPER = {
    "ZOSPLM": {50: 496, 100: 1309, 200: 1962},
    "SZOConEX": {50: 1374, 100: 9620, 200: 14283},
    "ZOALM": {50: 2066, 100: 10850, 200: 29073},
}
"""Iterations that Table 2 prints, mean of 20 trials."""
EPSILON = 1.0
"""What all three measures of stationarity must come to."""
OURS = "ZOSPLM"
RIVALS = [name for name in PAPER if name != OURS]
RULE, TUNED = "own rule", "best steps"
NEAR = 1.25
"""Factor within which a count is called the printed one."""
LARGE = 0.8
"""Share of the printed ratio from which on a ratio is called reproduced."""
CAP = 100.0
"""The dual cap B of ZO-SPLM, which the paper leaves open."""
RADIUS = 1e-5
"""Smoothing radius of every method, as in the paper."""
FIRST_LIMIT, BEHIND = 300, 1.5
"""Iterations after which the search gives a run up, and times the best so far."""
TRIAL_SEED, REPORTED_SEED, TRIALS, FEWER = 1, 0, 16, 20
"""Of the runs that choose steps and of those that are reported; replicas of the former, and their share of k."""
Steps = tuple[float, float]


def published(method: str, batch: int, problem: NonconvexQCQP, steps: Steps | None) -> Solver:
    """Return a method as published, at a grid point, or, for None, with the steps of its own rule."""
    options = READINGS.get(method, {}) | ({"dual_cap": CAP} if method == OURS else {})
    estimator = Sphere(smoothing_radius=RADIUS, batch_size=batch)
    solver = discover("zoviz.solvers", Solver)[method].published(estimator=estimator, **options)
    if steps is not None:
        constants = problem.data.constants
        solver.set("primal_step", steps[0] / constants.curvature)
        dual = steps[1] * constants.curvature / constants.start_slope**2
        for name in {"dual_step", "penalty"} & set(solver.param):
            solver.set(name, dual)
    return solver


class Iterations(Experiment):
    """Table 2, its iterations and their ratios."""

    title = "splm Table 2"
    subject = "Iterations of ZO-SPLM, SZO-ConEX and ZO-ALM to eps-stationarity, eps < 1, on the nonconvex QCQP"
    printed = (
        "Means of 20 trials at n = 50, 100, 200: ZO-SPLM 496, 1309, 1962, ZO-ConEX 1374, 9620, 14283, ZO-ALM 2066, "
        "10850, 29073; the advantage grows with n. Neither steps nor start are printed."
    )
    protocol = (
        "NonconvexQCQP, instance 0; iterations until all three stationarity measures are at most 1; with each "
        "solver's own rule, told the instance's constants, and at the best steps of one grid."
    )
    sizes = {
        "quick": {"n": [10], "batch": 300, "replicas": 5, "limit": 600, "primal": [1.0], "dual": [0.3, 1.0]},
        "full": {
            "n": [50, 100],
            "batch": 10_000,
            "replicas": 20,
            "limit": 3000,
            "primal": [0.5, 0.7, 1.0, 1.4, 2.0],
            "dual": [0.03, 0.1, 0.3, 1.0, 3.0],
        },
    }

    def parts(self) -> list[str]:
        return [f"n = {n} / {method}" for n in self.settings["n"] for method in PAPER]

    def grid(self) -> list[Steps]:
        """Return the steps that are tried, in their units."""
        return list(itertools.product(self.settings["primal"], self.settings["dual"]))

    def tuning(self) -> Tuning:
        criterion = f"mean iterations with k / {FEWER} directions"
        return Tuning(len(self.grid()), criterion, (TRIAL_SEED,), (REPORTED_SEED,))

    def measure(self, part: str) -> Figures:
        """Return the iterations of every replica, by the rule and at the best steps, and calls per iteration."""
        size, method = part.split(" / ")
        n, limit, batch = int(size.removeprefix("n = ")), self.settings["limit"], self.settings["batch"]
        steps, replicas = self.search(method, n), self.settings["replicas"]
        out: Figures = {"steps": None if steps is None else list(steps)}
        for name, point in ((RULE, None), (TUNED, steps)):
            if name == TUNED and point is None:
                out[name] = [None] * replicas
                continue
            run = self.run(method, n, point, batch, replicas, self.seed(REPORTED_SEED), limit)
            spent = run.trace[CALLS][-1] - run.trace[CALLS][0]
            out[name] = plain(run.hits[0].iteration)
            out["calls"] = float(spent.max()) / max(run.result.nit, 1)
        return out

    def run(self, method: str, n: int, steps: Steps | None, batch: int, replicas: int, seed: int, limit: int) -> Run:
        """Return a method's run until all replicas are there, or the limit."""
        problem = NonconvexQCQP(n=n, seed=self.seed())
        run = Run(
            problem=problem,
            solver=published(method, batch, problem, steps),
            replicas=replicas,
            seed=seed,
            iterations=limit,
            targets={STATIONARITY: EPSILON},
            stop_at_targets=True,
        )
        run.run()
        return run

    def search(self, method: str, n: int) -> Steps | None:
        """Return the steps with the fewest iterations, None where no run got there; who falls behind is cut short."""
        batch, best, fewest = max(self.settings["batch"] // FEWER, 1), None, np.inf
        for steps in self.grid():
            limit = int(min(self.settings["limit"], FIRST_LIMIT if np.isinf(fewest) else BEHIND * fewest))
            count = mean(self.run(method, n, steps, batch, TRIALS, self.seed(TRIAL_SEED), limit).hits[0].iteration)
            if count < fewest:
                best, fewest = steps, count
        return best

    def claims(self) -> list[Claim]:
        out = []
        for n, (method, counts) in itertools.product(self.settings["n"], PAPER.items()):
            if n in counts:
                for reading in (RULE, TUNED):
                    says = f"{method} takes {counts[n]} iterations at n = {n}, by its {reading}"
                    out.append(
                        Claim(
                            f"Table 2, iterations, n = {n}", says, partial(iterations_are_printed, n, method), reading
                        )
                    )
        for n, rival in itertools.product(self.settings["n"], RIVALS):
            says = f"{rival} takes {ratio_text(n, rival)} ZO-SPLM's iterations at n = {n}, each at its best steps"
            out.append(Claim(f"Table 2, ratios, n = {n}", says, partial(rival_takes_the_multiple, n, rival), TUNED))
        return out

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        ends = [(axis[0], axis[-1]) for axis in (self.settings["primal"], self.settings["dual"])]
        for n, method in itertools.product(self.settings["n"], PAPER):
            one = measured[f"n = {n} / {method}"]
            steps = ", ".join(
                f"{value:g}{'*' if value in end else ''}"
                for value, end in zip(one["steps"] or (), ends, strict=bool(one["steps"]))
            )
            cells = [mean_text(array(one[reading]), 4) for reading in (RULE, TUNED)]
            rows.append((f"{n}", method, *cells, steps, f"{one['calls']:.0f}", f"{PAPER[method].get(n, '–')}"))
        heads = ("n", "Method", f"By its {RULE}", f"At its {TUNED}", "Steps", "Calls an iteration", "Printed")
        heading = "Iterations, means over starts; a dash where one never got there; * the grid's end"
        return [Table(heading, heads, rows)]

    def live(self, measured: Measured) -> list[Live]:
        """Return each method by its own rule at n = 50 with the printed number of iterations and the printed eps."""
        out, n, batch = [], 50, self.settings["batch"]
        for method, counts in PAPER.items():
            problem = NonconvexQCQP(n=n)
            references = (
                Reference(STATIONARITY, f"{counts[n]} iterations", "Table 2", x=(counts[n],), axis=ITERATION),
                Reference(STATIONARITY, "ε = 1", "Table 2", y=(EPSILON,)),
            )
            settings = {"replicas": 2, "iterations": int(1.1 * counts[n]), STATIONARITY: EPSILON}
            solver, part = published(method, batch, problem, None), f"n = {n} / {method}"
            note = "Two replicas, where the paper has 20 trials; steps by the method's rule, as the paper prints none."
            title = f"{method}, n = {n}, k = {batch:,}"
            out.append(Live(title, problem, solver, settings, (part,), references, ITERATION, note=note))
        return out


def mean(counts: Array) -> float:
    """Return the mean of counts (R,), infinite where a replica has none: one over the others would be the lucky's."""
    return float(np.nan_to_num(counts, nan=np.inf).mean())


def ratio_text(n: int, rival: str) -> str:
    """Return how many times as many iterations are printed of a rival."""
    return f"{PAPER[rival][n] / PAPER[OURS][n]:.2f} times" if n in PAPER[rival] else "more than"


def iterations_are_printed(n: int, method: str, measured: Measured, reading: str) -> Evidence:
    """Test that a method's mean iterations are the printed ones within a factor."""
    counts = np.nan_to_num(array(measured[f"n = {n} / {method}"][reading]), nan=np.inf)
    shares = counts / PAPER[method][n]
    figures = f"{mean_text(counts, 4)}, {shares.mean():.3g} times the printed one"
    return Evidence(np.array([NEAR - shares, shares - 1.0 / NEAR]), figures, {method: 1.0})


def rival_takes_the_multiple(n: int, rival: str, measured: Measured, reading: str) -> Evidence:
    """Test that a rival takes the printed multiple of ZO-SPLM's iterations from the same starts; without one, more."""
    ours, other = (array(measured[f"n = {n} / {name}"][reading]) for name in (OURS, rival))
    if np.isnan([ours, other]).any():
        return Evidence(
            other[None] - ours,
            f"{mean(ours):.4g} and {mean(other):.4g} iterations",
            {rival: 1.0},
            doubt="some runs never got there",
        )
    least, ratio, beside = 1.0, mean(other) / mean(ours), ""
    if n in PAPER[rival]:
        printed = PAPER[rival][n] / PAPER[OURS][n]
        least, beside = LARGE * printed, f", printed {printed:.3g}"
    return Evidence(other[None] - least * ours, f"{ratio:.3g} times{beside}", {rival: 1.0})
