r"""Three simulators, a noisy one and two without noise, by the default method and other libraries' methods.

``RankineCycle``, some of whose calls fail, ``OptimalPowerFlow`` with 30 rows, and ``QueueingNetwork``, where a call
simulates one day. All methods are asked by ``minimize``, which chooses and confirms every method's answer by the same
means. Each seed has its own start, uniform in the box of the power flow and in a part of the cycle's; the queues have
one start. ``auto`` is the default, for the queues with seeds that the points of a batch share; ``independent`` is the
same with a seed for each call, as the other methods have it.

Feasible is what ``minimize`` says of an answer. Of the queues' answers the truth is the mean of 1000 further days, the
same days for all, and feasible is what is so in that mean. Values are medians and 90 % points, in which an answer that
is not feasible counts as infinitely dear.

    zoviz reproduce simulators --full                           # an hour
    zoviz reproduce simulators --full --only problem=RankineCycle method=auto,COBYLA
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from zoviz.minimize.minimize import minimize
from zoviz.problems.base import Problem
from zoviz.problems.engineering.rankine_cycle import RankineCycle
from zoviz.problems.networks.queueing import QueueingNetwork
from zoviz.problems.power.optimal_power_flow import OptimalPowerFlow
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials

PROBLEMS: dict[str, type[Problem]] = {one.__name__: one for one in (RankineCycle, OptimalPowerFlow, QueueingNetwork)}
CALLS = {"trial": (40, 60), "few": (100, 300), "many": (300, 3000)}
"""Budgets: calls without noise, and of the queues."""
SHARED, OWN = "auto", "independent"
DAYS, FIRST_DAY = 1000, 2**31
"""Days of a point's truth, and the seed of the first: a run's own are smaller."""


class Simulators(Trials):
    """What methods return for three simulators."""

    title = "simulators"
    subject = "Three simulators: what methods return, and how much of it is feasible"
    protocol = f"Each seed has its own start, but for the queues. Their truth by {DAYS} days at every answer."
    sizes: ClassVar = {
        "quick": {
            "problem": ("RankineCycle", "QueueingNetwork"),
            "budget": ("trial",),
            "method": (SHARED, OWN),
            "seed": (0,),
        },
        "full": {
            "problem": tuple(PROBLEMS),
            "budget": ("few", "many"),
            "method": (SHARED, OWN, "COBYLA", "COBYQA", "SLSQP", "NOMAD", "CMAES"),
            "seed": tuple(range(5)),
        },
    }
    lines = ("problem", "budget", "method")

    def parts(self) -> list[str]:
        """Return the names of the trials; a seed for each call is tried where calls have seeds."""
        return [part for part in super().parts() if OWN not in part or QueueingNetwork.__name__ in part]

    def trial(self, problem: str, budget: str, method: str, seed: int) -> Figures:
        own, calls = PROBLEMS[problem](), CALLS[budget]
        if own.seeds:
            own.noise = "common" if method == SHARED else "independent"
        name = "auto" if method == OWN else method
        result = minimize(own, method=name, max_calls=calls[own.seeds], seed=seed, stop="budget")
        optimum = own.known_optimum
        f, h, feasible = float(result.fun), float(result.h.max()), bool(result.feasible)
        if own.seeds:
            truth = own.evaluate(np.tile(result.x, (DAYS, 1)), FIRST_DAY + np.arange(DAYS))
            f, h = float(truth.f.mean()), float(truth.h.mean())
            feasible = h <= 0.0
        return {
            "f": f,
            "h": h,
            "feasible": feasible,
            "best known": np.nan if optimum is None else optimum.value,
            "calls": result.calls,
            "failures": result.failures,
        }

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        f = np.array([one["f"] if one["feasible"] else np.inf for one in rows])
        middle, worst = np.quantile(f, [0.5, 0.9], method="lower")
        excess = (middle - rows[0]["best known"]) / abs(rows[0]["best known"])
        return {
            "answers": str(len(rows)),
            "feasible": f"{100.0 * np.mean([one['feasible'] for one in rows]):.0f} %",
            "median f": f"{middle:.6g}",
            "90 % f": f"{worst:.6g}",
            "above the best known": "" if np.isnan(excess) else f"{100.0 * excess:.4f} %",
            "median h": f"{np.median([one['h'] for one in rows]):.4f}",
            "calls": f"{np.median([one['calls'] for one in rows]):.0f}",
            "failed calls": f"{np.median([one['failures'] for one in rows]):.0f}",
        }
