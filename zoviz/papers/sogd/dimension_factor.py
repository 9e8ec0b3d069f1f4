"""Paper sogd, Theorem 4.2's factor (d_1 + d_2)^(3/4): later regrets of ZO-SOGD over dimensions.

The samples' variance over all coordinates, the claim's other factor, is the same in every dimension, and T is so large
that the start is forgotten in each. One direction in each estimate, whose variance grows as the dimension. The factor
comes of steps that fall as (d_1 + d_2)^(-3/4): with the same steps in every dimension the noise of the estimates is
passed on in full.
"""

from __future__ import annotations

from zoviz.core.types import Array
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.papers.sogd.theorem_3_6 import LATER_REGRET, NOISE, measured
from zoviz.papers.sogd.theorem_4_2 import PRINTED, of_theory
from zoviz.problems import CurvedBilevel
from zoviz.solvers import ZOSOGD

SMALLEST = 4
"""n + d from which on the same steps are kept by the ablation."""
SAME_STEPS = "the same steps in all dimensions"


class _SameSteps(ZOSOGD):
    __abstract = True  # keeps it out of the registry

    def scale(self, n: int, d: int) -> float:
        """Return theory's factor in the smallest dimension."""
        return super().scale(SMALLEST // 2, SMALLEST // 2)


class DimensionFactor(RateExperiment):
    """Theorem 4.2's factor over at least four dimensions."""

    title = "sogd Theorem 4.2 factor"
    subject = "Later regret of ZO-SOGD against n + d, with theory's steps and with the same steps in every dimension"
    printed = "A bound: the regret grows with the dimension as (d_1 + d_2)^(3/4) at most."
    protocol = "CurvedBilevel without drift, n = d, noise 1 in all, steps, radii and batches of (26), one direction."
    variable = "n + d"
    sizes = {
        "quick": {"horizons": [4, 16], "rounds": 1000, "replicas": 4},
        "full": {"horizons": [4, 8, 16, 32], "rounds": 8000, "replicas": 20},
    }

    def rates(self) -> list[Rate]:
        """Return the claim on the exponent of the dimension."""
        says = "the regret grows at most as (d_1 + d_2)^(3/4)"
        place = "Theorem 4.2, factor"
        return [Rate(place, says, "drift none", LATER_REGRET, 0.75, PRINTED, SAME_STEPS)]

    def values(self, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the later regret in so many dimensions, n and d together."""
        size, rounds = horizon // 2, self.settings["rounds"]
        problem = CurvedBilevel(n=size, d=size, drift="none", sampling_noise=NOISE / size**0.5, conditioning=2.0)
        cls = _SameSteps if method == SAME_STEPS else ZOSOGD
        solver = of_theory(problem, rounds, cls, directions=1)
        return {LATER_REGRET: measured(solver, problem, rounds, self.settings["replicas"])}
