"""A study of methods whose constraints hold while searching, on COCO's constrained functions from feasible starts.

Each function is shown as in the study of all methods, noise included, and every constraint is to hold for every call.
The columns are ZOSQP, which ``auto`` is then, the safe methods of the literature, and ``free``: ``auto`` without that
demand, for what it costs. Parameters were chosen on instances 1 and 2.

    zoviz reproduce minimize-kept --full
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from zoviz.papers.minimize.coco import FEASIBLE, watched
from zoviz.papers.minimize.watched import ended, six_digits
from zoviz.problems.coco.bbob_constrained import FUNCTIONS, BBOBConstrained
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, across

SECONDS = 100.0
"""Of a trial: Gaussian processes of 500 points take minutes."""


class Kept(Trials):
    """How many calls of methods are outside of constraints that are to hold for each, and what they reach."""

    title = "minimize kept"
    subject = "Calls outside in the mean, functions without any after the first n + 1 calls, and the median loss"
    protocol = "The loss is the gap of the point given back over that of the start, without noise."
    sizes: ClassVar = {
        "quick": {
            "dimension": (2,),
            "calls": (50,),
            "noise": (0.0,),
            "function": (1, 26),
            "instance": (1,),
            "seed": (0,),
            "method": ("auto", "LogBarrier", "free"),
        },
        "full": {
            "dimension": (5,),
            "calls": (500,),
            "noise": (0.0, 1e-3, 1e-2),
            "function": tuple(FUNCTIONS),
            "instance": (3,),
            "seed": (0,),
            "method": ("auto", "LogBarrier", "SafeOpt", "free"),
        },
    }
    lines = ("dimension", "calls", "noise")

    def trial(
        self, dimension: int, calls: int, noise: float, function: int, instance: int, seed: int, method: str
    ) -> Figures:
        problem = BBOBConstrained(function=function, dimension=dimension, instance=instance)
        own, sizes = watched(problem, noise, seed)
        name, keep = ("auto", "") if method == "free" else (method, "while searching")
        answer = ended(own, name, calls, seed, SECONDS, FEASIBLE, keep).answer
        loss = min(answer.gap / sizes[0], 1.0) if answer.violation <= FEASIBLE else 1.0
        return {
            "loss": six_digits(loss),
            "spent": len(own.outside),
            "outside": sum(own.outside),
            "later": sum(own.outside[dimension + 1 :]),
        }

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        return across(rows, "method", summary)


def summary(rows: Sequence[Row]) -> str:
    """Return the mean share of calls outside, the functions without any after the first n + 1, the median loss."""
    share = np.mean([one["outside"] / max(one["spent"], 1) for one in rows])
    clean = sum(not one["later"] for one in rows)
    loss = max(0.0, float(np.median([one["loss"] for one in rows])))  # below 0 by what feasibility leaves room for
    return f"{100 * share:.1f} %; {clean} of {len(rows)}; {loss:.2g}"
