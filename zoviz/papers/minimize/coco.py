r"""A study of ``minimize`` and its peers on COCO's constrained functions, without and with noise in f and h.

Each function is shown as values alone, from COCO's start, in [-5, 5]^n, with a budget in multiples of n. Methods were
chosen on instances 1 and 2, figures are of 3 to 5, and 6 to 15 are left for others to judge by. A point counts as
feasible where max h <= 1e-6, the tolerance that ``minimize`` is given. Of a function 41 targets are reached,
f - f^* <= 10^2, ..., 10^-6 at equal steps of the exponent,

- without noise by the best point at which it was evaluated; beside the share the number of functions that it solves,
  f - f^* <= 10^-1, 10^-3, 10^-6;
- with noise by the point given back, by its values without noise; beside the share how many lose no more than 10^-1,
  10^-2, 10^-3 by

  .. math:: \max\Big(\frac{f(x) - f^*}{f(x^0) - f^*}, \frac{\max_i h_i(x)}{\min_i |h_i(x^0)|}\Big).

Noise is independent and normal: ``noise`` times those two denominators on f and on every h. It is not declared.

    zoviz reproduce minimize-coco --full --only instance=4 dimension=5 calls=30,100 noise=0 method=auto,SLSQP
    zoviz reproduce minimize-coco --full --folder docs/performance --only ...    # adds to the recorded results
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.minimize.watched import Watched, ended, six_digits
from zoviz.problems.coco.bbob_constrained import FUNCTIONS, BBOBConstrained
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, across

FEASIBLE = 1e-6
TARGETS = 10.0 ** np.linspace(2, -6, 41)
SOLVED, LOST = (1e-1, 1e-3, 1e-6), (1e-1, 1e-2, 1e-3)
"""Gaps without noise, and losses with it, of the counts."""
METHODS = ("auto", "SLSQP", "COBYLA", "COBYQA", "TrustConstr", "NOMAD", "CMAES")
SECONDS = {"NOMAD": 20.0}
"""Computing time of a trial of methods that take long for a point."""


def watched(problem: BBOBConstrained, noise: float, seed: int) -> tuple[Watched, Array]:
    """Return a function with noise as a user's, and the sizes (m + 1,) of its gap and of its rows at the start."""
    start, optimum = problem.data.start, problem.data.optimum.value
    f, h = problem.data.value(start)
    sizes = np.array([f - optimum] + [np.abs(h).min()] * problem.m)
    plain = np.ones(problem.m + 1)
    return Watched(problem, problem.domain, start, optimum, plain, FEASIBLE, noise * sizes, seed), sizes


class Coco(Trials):
    """What methods make of COCO's constrained functions."""

    title = "minimize COCO"
    subject = (
        "Share of the targets reached, and functions solved to 1e-1 / 1e-3 / 1e-6, under noise to 1e-1 / 1e-2 / 1e-3"
    )
    protocol = "The best point evaluated, under noise the one given back, by values without noise."
    sizes: ClassVar = {
        "quick": {
            "dimension": (2,),
            "calls": (30,),
            "noise": (0.0, 1e-3),
            "function": (1, 26),
            "instance": (1,),
            "seed": (0,),
            "method": ("auto", "SLSQP"),
        },
        "full": {
            "dimension": (3, 5, 10, 20),
            "calls": (30, 100, 1000),
            "noise": (0.0, 1e-3, 1e-2),
            "function": tuple(FUNCTIONS),
            "instance": (3, 4, 5),
            "seed": (0,),
            "method": METHODS,
        },
    }
    lines = ("dimension", "calls", "noise")

    def trial(
        self, dimension: int, calls: int, noise: float, function: int, instance: int, seed: int, method: str
    ) -> Figures:
        problem = BBOBConstrained(function=function, dimension=dimension, instance=instance)
        own, sizes = watched(problem, noise, seed)
        answer, spent, _, _ = ended(own, method, calls * dimension, seed, SECONDS.get(method), FEASIBLE)
        if not noise:
            return {"gap": six_digits(own.gap), "spent": spent}
        gap = answer.gap if answer.violation <= FEASIBLE else np.inf
        loss = max(answer.gap / sizes[0], answer.violation / sizes[1])
        return {"gap": six_digits(gap), "loss": six_digits(loss), "spent": spent}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        return across(rows, "method", summary)


def summary(rows: Sequence[Row]) -> str:
    """Return the share of targets and the counts of trials without noise, or with it."""
    gaps = np.array([one["gap"] for one in rows])
    share = (gaps[:, None] <= TARGETS).mean()
    losses, levels = (np.array([one["loss"] for one in rows]), LOST) if rows[0]["noise"] else (gaps, SOLVED)
    return f"{share:.3f}; {'/'.join(str((losses <= level).sum()) for level in levels)} of {len(rows)}"
