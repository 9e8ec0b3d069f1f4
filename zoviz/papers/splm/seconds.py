"""Paper splm, Table 2: seconds of an iteration of ZO-SPLM, SZO-ConEX and ZO-ALM, as ratios within one process.

Seconds are of the authors' machine; what another can decide is how many times as long one method takes as another, in
turns, by the clock of the thread. The methods ask for k + 1, 2 k + 1 and k + 1 values in an iteration, and these alone
give the printed ratios of about 2. The paper has ZO-SPLM cheaper than ZO-ConEX for having no auxiliary variable: judged
is what is left beside the values, and ZO-SPLM with 2 k directions tells whether it is the method that saves it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.splm.figure_1 import calls_of_iteration
from zoviz.papers.splm.table_2 import CAP, OURS, PAPER, published
from zoviz.papers.timing import paces
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import Solver
from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Table, array, mean_text, plain
from zoviz.studies.verdict import Evidence

SECONDS = {"ZOSPLM": {50: 0.412, 100: 0.479, 200: 0.810}, "SZOConEX": {50: 0.707, 100: 1.112, 200: 1.506}}
SECONDS["ZOALM"] = {50: 0.424, 100: 0.498, 200: 0.916}
"""Seconds of an iteration that Table 2 prints."""
NEAR = 1.1
"""Factor within which a ratio of times is called the printed one."""
TWICE = "ZOSPLM, 2 k directions"
RIVALS = [name for name in PAPER if name != OURS]
STEPS = 5
"""Of a turn, whose median is taken."""


def timed(problem: NonconvexQCQP, batch: int) -> Mapping[str, Solver]:
    """Return the methods, each with the same fixed steps, and ZO-SPLM with twice the directions."""
    solvers = {name: published(name, batch, problem, (1.0, 0.3)) for name in PAPER}
    solvers[TWICE] = published(OURS, 2 * batch, problem, (1.0, 0.3))
    for solver in solvers.values():
        values = solver.from_constants(problem, problem.data.constants)
        for name in solver.open_scales():
            solver.set(name, values[name])
        if "dual_cap" in solver.param:
            solver.set("dual_cap", CAP)
    return solvers


class SecondsOfAnIteration(Experiment):
    """Table 2: what an iteration takes of three methods."""

    title = "splm Table 2, seconds"
    subject = "Seconds of an iteration of ZO-SPLM, SZO-ConEX and ZO-ALM on the nonconvex QCQP, as ratios"
    printed = (
        "Seconds of an iteration with k = 10000 at n = 50, 100, 200: ZO-SPLM 0.412, 0.479, 0.810, ZO-ConEX 0.707, "
        "1.112, 1.506, ZO-ALM 0.424, 0.498, 0.916; ZO-SPLM is cheaper per iteration than ZO-ConEX."
    )
    protocol = (
        "NonconvexQCQP, instance 0, one replica, turns of five steps, each method's after the other's, by the thread's "
        "clock; medians of a turn; nothing is tuned."
    )
    sizes = {
        "quick": {"n": [50], "batch": 1000, "turns": 5},
        "full": {"n": [50, 100, 200], "batch": 10_000, "turns": 6},
    }

    def parts(self) -> list[str]:
        """Return a part for every size: methods are compared within one."""
        return [f"n = {n}" for n in self.settings["n"]]

    def measure(self, part: str) -> Figures:
        """Return the seconds of an iteration in every turn, by method."""
        problem = NonconvexQCQP(n=int(part.removeprefix("n = ")), seed=self.seed())
        solvers = timed(problem, self.settings["batch"])
        turns = [paces(solvers, problem, 1, STEPS, 1) for _ in range(self.settings["turns"])]
        return {name: plain(np.array([turn[name] for turn in turns])) for name in solvers}

    def claims(self) -> list[Claim]:
        out = []
        for n in self.settings["n"]:
            place = f"Table 2, seconds, n = {n}"
            says = f"an iteration of ZO-SPLM takes less of one of SZO-ConEX than its values do at n = {n}"
            out.append(Claim(place, says, partial(iteration_is_cheaper, self, n), OURS, TWICE, ("SZOConEX",)))
            for rival in RIVALS:
                printed = SECONDS[rival][n] / SECONDS[OURS][n]
                says = f"an iteration of {rival} takes {printed:.2f} times one of ZO-SPLM at n = {n}"
                out.append(Claim(place, says, partial(takes_the_printed_multiple, n), rival))
            says = f"an iteration of ZO-SPLM takes {SECONDS[OURS][n]:g} s at n = {n}"
            out.append(Claim(place, says, partial(seconds_are_undecided, n), OURS))
        return out

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        for n in self.settings["n"]:
            for name, seconds in measured[f"n = {n}"].items():
                shares = ratios(measured, n, name)
                printed = SECONDS[name][n] / SECONDS[OURS][n] if name in SECONDS else None
                cells = (mean_text(1e3 * array(seconds)), mean_text(shares), f"{printed:.2f}" if printed else "–")
                rows.append((str(n), name, *cells))
        heads = ("n", "Method", "ms of an iteration", "Over ZO-SPLM's", "Printed")
        return [Table(f"Means over turns, k = {self.settings['batch']}", heads, rows)]


def ratios(measured: Measured, n: int, method: str) -> Array:
    """Return how many times as long as ZO-SPLM's a method's iterations take, (turns,)."""
    return array(measured[f"n = {n}"][method]) / array(measured[f"n = {n}"][OURS])


def iteration_is_cheaper(experiment: Experiment, n: int, measured: Measured, method: str, rival: str) -> Evidence:
    """Test that a method's iteration takes a smaller share of a rival's time than of its values."""
    mine, other = (array(measured[f"n = {n}"][name]) for name in (method, rival))
    k = experiment.settings["batch"]
    values = calls_of_iteration(OURS, 2 * k if method == TWICE else k) / calls_of_iteration(rival, k)
    figures = f"{mean_text(mine / other)} of {rival}'s time, {values:.3f} of its values"
    return Evidence(values - (mine / other)[None], figures, {method: 1.0, rival: 1.0})


def takes_the_printed_multiple(n: int, measured: Measured, method: str) -> Evidence:
    """Test that a method's iterations take the printed multiple of ZO-SPLM's within a factor."""
    off = ratios(measured, n, method) * SECONDS[OURS][n] / SECONDS[method][n]
    figures = f"{mean_text(ratios(measured, n, method))} times"
    return Evidence(np.array([NEAR - off, off - 1.0 / NEAR]), figures, {method: 1.0})


def seconds_are_undecided(n: int, measured: Measured, method: str) -> Evidence:
    """Tell the seconds, which no other machine can decide on."""
    seconds = array(measured[f"n = {n}"][method])
    return Evidence(seconds[None], f"{mean_text(seconds)} s here", {method: 1.0}, doubt="seconds are of a machine")
