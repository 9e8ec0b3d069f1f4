r"""A simulated network of queues, with and without common random numbers, against other libraries' methods.

``QueueingNetwork``: five rates of service, the cheapest with at most a tenth of the customers late, where a call
simulates one day. ``common`` is ``minimize`` with seeds that the points of a batch share, ``independent`` the same with
a seed for each call, as the other methods have it; all are asked by ``minimize``, which chooses and confirms every
method's answer by the same means of repeated calls.

A trial's truth is the mean of 1000 further days at the point that was returned, the same days for all. An answer is
feasible where the mean share of late customers is at most a tenth; costs are medians and 90 % points, in which an
answer that is not feasible counts as infinitely dear.

    zoviz reproduce queueing-network --full                           # half an hour
    zoviz reproduce queueing-network --full --only budget=300 method=common,COBYLA
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from zoviz.minimize.minimize import minimize
from zoviz.problems.networks.queueing import QueueingNetwork
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials

OWN = ("common", "independent")
DAYS, FIRST_DAY = 1000, 2**31
"""Days of a point's truth, and the seed of the first: a run's own are smaller."""


class QueueingNetworks(Trials):
    """Costs and feasibility in the mean of what methods return for a simulated network of queues."""

    title = "queueing network"
    subject = "A simulated network of queues: answers that are feasible in the mean, and their costs"
    protocol = f"Truth by {DAYS} days at every answer."
    sizes: ClassVar = {
        "quick": {"budget": (60,), "method": OWN, "seed": (0,)},
        "full": {"budget": (300, 3000), "method": (*OWN, "COBYLA", "NOMAD", "CMAES"), "seed": tuple(range(20))},
    }
    lines = ("budget", "method")

    def trial(self, budget: int, method: str, seed: int) -> Figures:
        problem = QueueingNetwork(noise="common" if method == "common" else "independent")
        name = "auto" if method in OWN else method
        result = minimize(problem, method=name, max_calls=budget, seed=seed, stop="budget")
        truth = problem.evaluate(np.tile(result.x, (DAYS, 1)), FIRST_DAY + np.arange(DAYS))
        return {
            "f": float(truth.f.mean()),
            "h": float(truth.h.mean()),
            "calls": result.calls,
            "success": bool(result.feasible),
        }

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        cost = np.array([one["f"] if one["h"] <= 0.0 else np.inf for one in rows])
        middle, high = np.quantile(cost, [0.5, 0.9], method="lower")
        return {
            "answers": str(len(rows)),
            "feasible": f"{100.0 * np.mean([one['h'] <= 0.0 for one in rows]):.0f} %",
            "median cost": f"{middle:.2f}",
            "90 % cost": f"{high:.2f}",
            "median h": f"{np.median([one['h'] for one in rows]):.4f}",
            "calls": f"{np.median([one['calls'] for one in rows]):.0f}",
        }
