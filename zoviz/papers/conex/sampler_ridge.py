"""Paper conex, HMC tuning: where the best settings lie, by brute force, and what a trial costs.

The effective sample size over a grid of leapfrog steps, step sizes and burn-in shares at mass 1 (step and mass act
through step / sqrt(mass) only), means over trials that are none of a solver's; and the processor's time of trials
beside that of their leaps alone.

    zoviz reproduce conex-sampler-ridge conex-sampler-overhead --full     # some minutes
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import ClassVar

import numpy as np

from zoviz.core.threads.blas import SingleBlasThread
from zoviz.core.types import Array
from zoviz.problems.learning.hmc_tuning import HIGHEST, LOWEST, START, HMCTuning
from zoviz.studies.experiment import Figures, Measured
from zoviz.studies.trials import Row, Trials


def point(leaps: float, step: float, mass: float, burn_in: float) -> Array:
    """Return the point of the unit box, (4,), with these settings."""
    return (np.array([*np.log10([leaps, step, mass]), burn_in]) - LOWEST) / (HIGHEST - LOWEST)


class SamplerRidge(Trials):
    """The effective sample size over a grid of settings."""

    title = "conex sampler ridge"
    subject = "HMC tuning: the ten best settings, by the effective sample size of the worst variable of two chains"
    protocol = "Means over trials that are none of a solver's; the share of them within the limits."
    sizes: ClassVar = {
        "quick": {
            "leaps": (4, 6),
            "step": (0.04, 0.07),
            "burn_in": (0.0,),
            "trials": (3,),
            "gradients": (500,),
            "rows": (800,),
        },
        "full": {
            "leaps": (1, 2, 3, 4, 5, 6, 7, 8, 10, 12),
            "step": (0.02, 0.03, 0.04, 0.05, 0.06, 0.07, 0.08),
            "burn_in": (0.0, 0.05, 0.2),
            "trials": (12,),
            "gradients": (2000,),
            "rows": (800,),
        },
    }
    lines = ("leaps", "step", "burn_in")

    def trial(self, leaps: int, step: float, burn_in: float, trials: int, gradients: int, rows: int) -> Figures:
        problem = HMCTuning(gradients=gradients, rows=rows)
        outcomes = problem.trials(point(leaps, step, 1.0, burn_in), trials)
        within = (outcomes.score <= problem.score_limit) & (outcomes.reduction <= problem.reduction_limit)
        size = outcomes.size
        return {"size": float(size.mean()), "spread": float(size.std(ddof=1)), "feasible": float(within.mean())}

    def rows(self, measured: Measured) -> list[Row]:
        """Return the ten best trials, the largest effective sample size first."""
        return sorted(super().rows(measured), key=lambda one: -one["size"])[:10]

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        (one,) = rows
        return {"ESS": f"{one['size']:.0f}", "sd": f"{one['spread']:.0f}", "feasible": f"{one['feasible']:.2f}"}


class SamplerOverhead(Trials):
    """What trials at the start cost beside as many bare leaps, in pairs, one after another.

    The clock is the thread's own, and what else the machine does strikes both of a pair alike.
    """

    title = "conex sampler overhead"
    subject = "HMC tuning: the time of trials over that of their leaps alone, the median of pairs"
    protocol = "Seconds of the thread."
    sizes: ClassVar = {
        "quick": {"trials": (10,), "gradients": (500,), "repeat": (0,)},
        "full": {"trials": (10,), "gradients": (2000,), "repeat": tuple(range(25))},
    }
    lines = ("trials", "gradients")

    def trial(self, trials: int, gradients: int, repeat: int) -> Figures:
        problem = HMCTuning(gradients=gradients)
        posterior, x, numbers = problem.data, np.tile(START, (trials, 1)), np.arange(trials)

        def leaps() -> None:
            at = np.full((trials * problem.chains, posterior.signed.shape[1]), 1e-3)
            half = np.zeros_like(at)
            for _ in range(gradients):
                half = half - 0.02 * posterior.slope(posterior.weights(posterior.margins(at)), at)
                at = at + 0.02 * half

        with SingleBlasThread():
            return {"times": _spent(lambda: problem.evaluate(x, numbers)) / _spent(leaps)}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        return {"times": f"{np.median([one['times'] for one in rows]):.2f}"}


def _spent(work: Callable[[], object]) -> float:
    """Return the seconds of this thread that a piece of work takes."""
    start = time.thread_time()
    work()
    return time.thread_time() - start
