"""Paper salm, §6.1: distributed optimisation over a random graph by default parameters, Algorithm 2.

Fifty nodes, each edge there with probability 0.1 in an iteration, beside the centralised solution.
"""

from __future__ import annotations

from zoviz.core.types import Array
from zoviz.papers.salm.applications import ABOVE, LEFT, Application
from zoviz.papers.salm.cases import random_graph
from zoviz.papers.salm.table_1 import SAMPLED_ROWS
from zoviz.problems import DistributedConsensus
from zoviz.runs.run import Run

OBJECTIVE = "the nodes' mean: f over the centralised, less 1"
APART = "largest distance of a node from the mean over the start's"


class Distributed(Application):
    """Fifty nodes on a random graph."""

    title = "salm distributed"
    subject = "Distributed optimisation by default parameters: agreement of the nodes, f beside the centralised optimum"
    printed = "Problem (6.1) on a random graph, whose rows are only sampled; no figures."
    protocol = (
        "DistributedConsensus, every parameter the method's own, one sample an iteration, at equal samples; starts "
        "within 0.5. The centralised optimum is the problem's. Nothing is tuned."
    )
    sizes = {
        "quick": {"cases": ["8 nodes, p = 0.5"], "samples": 100, "replicas": 2},
        "full": {"cases": ["50 nodes, p = 0.1"], "samples": 20_000, "replicas": 4},
    }
    place = "§6.1"
    says = "comes to a hundredth of the nodes' distance and within a tenth of the centralised f"
    methods = {
        name: SAMPLED_ROWS[name]
        for name in (
            "salm, Algorithm 2",
            "salm, Remark 5.8",
            "Alacaoglu-Wright, penalty",
            "Li et al., iALM",
            "linearised ALM",
            "penalty SGD",
        )
    }
    limits = {OBJECTIVE: ABOVE, APART: LEFT}

    def problem(self, case: str, method: str) -> DistributedConsensus:
        nodes, probability = case.split(" nodes, p = ")
        return random_graph(int(nodes), float(probability), self.seed())

    def outcome(self, problem: DistributedConsensus, run: Run) -> dict[str, Array]:
        """Return how far the mean's objective is from the centralised one, and nodes from their mean."""
        apart = run.trace["consensus_error"]
        best = problem.data.optimum.value
        return {OBJECTIVE: run.trace["mean_objective"][-1] / best - 1.0, APART: apart[-1] / apart[0]}
