"""Paper salm, §1: multipliers at a constant weight reach feasibility where a penalty of the same weight does not."""

from __future__ import annotations

from functools import partial

import numpy as np

from zoviz.problems import StochasticQP
from zoviz.runs.engine.columns import ITERATION, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import LinearisedALM, PenaltySGD, SmoothedALM, Solver, StormALM
from zoviz.studies.experiment import (
    Claim,
    Experiment,
    Figures,
    Measured,
    Panel,
    Table,
    array,
    mean_text,
    plain,
    rounded,
)
from zoviz.studies.live import Live
from zoviz.studies.verdict import Evidence

PENALTY = "PenaltySGD"
METHODS: dict[str, type[Solver]] = {
    "SmoothedALM": SmoothedALM,
    "LinearisedALM": LinearisedALM,
    "StormALM": StormALM,
    PENALTY: PenaltySGD,
}
WEIGHT = 5.0
"""The penalty weight rho of all."""
FEASIBLE = 0.01
"""Share of the violation at the start that counts as feasible."""


class Multipliers(Experiment):
    """||Ax - b|| under one constant weight, with multipliers and without."""

    title = "salm multipliers"
    subject = "||Ax - b|| over its start with multipliers and with a penalty alone, at one constant weight"
    printed = "Multipliers make the iterates feasible at a weight that does not grow; no figures."
    protocol = "StochasticQP, gradient noise 0.1, rho = 5 for all, steps by each method's rule; nothing is tuned."
    sizes = {"quick": {"iterations": 1500, "replicas": 4}, "full": {"iterations": 20_000, "replicas": 20}}

    def parts(self) -> list[str]:
        return list(METHODS)

    def task(self, method: str) -> tuple[StochasticQP, Solver]:
        """Return the problem, and a method with the weight of all."""
        growth = {"growth": 0.0} if method == PENALTY else {}
        solver = METHODS[method](penalty=WEIGHT, horizon=self.settings["iterations"], **growth)
        return StochasticQP(gradient_noise=0.1, curvature_noise=0.02, seed=self.seed()), solver

    def measure(self, part: str) -> Figures:
        """Return the share of the violation that is left at the end, and its course."""
        iterations, replicas = self.settings["iterations"], self.settings["replicas"]
        problem, solver = self.task(part)
        run = Run(problem=problem, solver=solver, replicas=replicas, iterations=iterations, seed=self.seed())
        run.run()
        shares = run.trace[VIOLATION] / run.trace[VIOLATION][0]
        rows = np.unique(np.linspace(0, len(shares) - 1, 60).astype(int))
        drawn = {"iteration": plain(run.trace[ITERATION][rows]), "share": rounded(shares[rows].mean(axis=1))}
        return {"share": plain(shares[-1]), "course": drawn}

    def claims(self) -> list[Claim]:
        says = "reaches a violation of a hundredth of the start's at a constant weight"
        return [
            Claim("§1, multipliers", f"{name} {says}", partial(ends_feasible, self), name, PENALTY)
            for name in METHODS
            if name != PENALTY
        ]

    def tables(self, measured: Measured) -> list[Table]:
        rows = [(name, mean_text(array(one["share"]))) for name, one in measured.items()]
        return [Table("||Ax - b|| at the end as a share of its start", ("Method", "Share"), rows)]

    def panels(self, measured: Measured) -> list[Panel]:
        lines = {name: (one["course"]["iteration"], one["course"]["share"]) for name, one in measured.items()}
        parts = {name: [name] for name in lines}
        return [Panel("||Ax - b|| over its start, rho = 5", "iteration", "share", lines, log_y=True, parts=parts)]

    def live(self, measured: Measured) -> list[Live]:
        """Return every method; the paper prints no number for a line."""
        settings = {"replicas": self.settings["replicas"], "iterations": self.settings["iterations"]}
        note = "The paper has no figures of this: no line of it is drawn."
        return [Live(name, *self.task(name), settings, (name,), axis=ITERATION, note=note) for name in METHODS]


def ends_feasible(experiment: Experiment, measured: Measured, method: str) -> Evidence:
    """Test that the mean violation at the end is a small share of that at the start."""
    share = array(measured[method]["share"])
    budgets = {method: float(experiment.settings["iterations"])}
    return Evidence(FEASIBLE - share[None], f"{mean_text(share)} of the start's", budgets)
