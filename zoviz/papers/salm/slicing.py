"""Paper salm, §6.2: network slicing by default parameters, beside the cheapest plan by branch and bound.

What the paper credits with binary assignments, the regulariser P_eps of (6.5), is left out for the ablation. The
assignment is read off, and its routes are found by linear programming.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.salm.applications import ABOVE, LEFT, Application, stays_within_limits
from zoviz.papers.salm.cases import cheapest
from zoviz.papers.salm.table_1 import KNOWN_ROWS
from zoviz.problems import NetworkSlicing
from zoviz.runs.engine.columns import VIOLATION
from zoviz.runs.run import Run
from zoviz.studies.experiment import Claim

COST = "cost of the routed assignment over the cheapest plan's, less 1"
RESIDUAL = "||Ax - b|| over the start's"
BINARY = "largest distance of a choice from 0 and 1"
UNREGULARISED = "Algorithm 1, sigma = 0"


class Slicing(Application):
    """Network slicing on generated networks."""

    title = "salm slicing"
    subject = "Network slicing by default parameters: costs beside the cheapest plan's, and whether choices are binary"
    printed = "Problem (6.4) with the regulariser (6.5), which is 0 at binary choices only; no figures."
    protocol = (
        "NetworkSlicing on generated networks of six nodes, every parameter the method's own, one sample an iteration, "
        "at equal samples; the cheapest binary plan by SciPy's branch and bound. Nothing is tuned."
    )
    sizes = {
        "quick": {"cases": ["network 0"], "samples": 200, "replicas": 2},
        "full": {"cases": [f"network {seed}" for seed in range(4)], "samples": 20_000, "replicas": 4},
    }
    place = "§6.2"
    says = "comes to a hundredth of ||Ax - b|| and to an assignment at most a tenth dearer than the cheapest"
    methods = {
        "salm, Algorithm 1": KNOWN_ROWS["salm, Algorithm 1"],
        "salm, Algorithm 3": KNOWN_ROWS["salm, Algorithm 3"],
        UNREGULARISED: KNOWN_ROWS["salm, Algorithm 1"],
        "Alacaoglu-Wright, ALM": KNOWN_ROWS["Alacaoglu-Wright, ALM"],
        "linearised ALM": KNOWN_ROWS["linearised ALM"],
        "penalty SGD": KNOWN_ROWS["penalty SGD"],
    }
    limits = {COST: ABOVE, RESIDUAL: LEFT}

    def problem(self, case: str, method: str) -> NetworkSlicing:
        problem = NetworkSlicing(seed=self.seed(int(case.split()[1])))
        if method == UNREGULARISED:
            problem.weight = 0.0
        return problem

    def outcome(self, problem: NetworkSlicing, run: Run) -> dict[str, Array]:
        """Return what the assignment costs, what is left of the residual, and how far choices are from binary."""
        x = run.result.x
        measured = problem.metrics(x, None, None)
        routed = np.array([cheapest(problem, assignment) for assignment in problem.assignment(x)])
        return {
            COST: routed / cheapest(problem) - 1.0,  # infinite where the capacities forbid the assignment
            RESIDUAL: measured[VIOLATION] / run.trace[VIOLATION][0],
            BINARY: measured["binary_distance"],
        }

    def claims(self) -> list[Claim]:
        first = next(iter(self.methods))
        says = "the regulariser makes choices binary within 0.001"
        return super().claims() + [
            Claim(
                self.place,
                f"{says}: {case}",
                partial(stays_within_limits, self, case, {BINARY: 1e-3}),
                first,
                UNREGULARISED,
            )
            for case in self.settings["cases"]
        ]
