"""Paper sogd, Theorem 4.2's factor (d_1 + d_2)^(3/4): later regrets of ZO-SOGD over dimensions.

The samples' variance over all coordinates, the claim's other factor, is the same in every dimension, and T is so large
that the start is forgotten in each. The theorem takes the variance of an estimate for bounded; that of one direction
grows with the dimension, that of ten hardly does up to ten. The factor stands for steps that fall as
(d_1 + d_2)^(-3/4): with the same steps in every dimension the variance is passed on in full. With exact gradients, and
all else the same, a factor of the dimension has no reason: it is the oracle's.
"""

from __future__ import annotations

from zoviz.core.streams import RandomSource
from zoviz.core.types import Array
from zoviz.oracle import BilevelOracle
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.papers.sogd.theorem_3_6 import FIRST_SEED, LATER_REGRET, NOISE, measured
from zoviz.papers.sogd.theorem_4_2 import PRINTED, of_theory
from zoviz.problems import CurvedBilevel
from zoviz.solvers import SOGD, ZOSOGD
from zoviz.solvers.bilevel.base import Triple

SMALLEST = 4
"""n + d from which on the same steps are kept by the ablation."""
SAME_STEPS, EXACT = "the same steps in all dimensions", "exact gradients"
DIRECTIONS = {"one direction": 1, "ten directions": 10}
"""Cases, with the directions of an estimate."""


class _SameSteps(ZOSOGD):
    __abstract = True  # keeps it out of the registry

    def scale(self, n: int, d: int) -> float:
        """Return theory's factor in the smallest dimension."""
        return super().scale(SMALLEST // 2, SMALLEST // 2)


class _ExactGradients(ZOSOGD):
    __abstract = True  # keeps it out of the registry

    def raw(self, rounds: BilevelOracle, at: Triple, streams: RandomSource, t: int) -> tuple[Triple, Array | None]:
        """Return the directions by exact derivatives of the round's batches."""
        return SOGD.raw(self, rounds, at, streams, t)  # type: ignore[arg-type]


CLASSES: dict[str, type[ZOSOGD]] = {PRINTED: ZOSOGD, SAME_STEPS: _SameSteps, EXACT: _ExactGradients}


class DimensionFactor(RateExperiment):
    """Theorem 4.2's factor over dimensions."""

    first_seed = FIRST_SEED
    title = "sogd Theorem 4.2 factor"
    subject = "Later regret of ZO-SOGD against n + d, beside the same steps in every dimension and exact gradients"
    printed = "A bound: the regret grows with the dimension as (d_1 + d_2)^(3/4) at most."
    protocol = (
        "CurvedBilevel without drift, n = d, drawn instances, noise 1 in all, steps, radii and batches of (26); "
        "nothing is tuned."
    )
    variable = "n + d"
    sizes = {
        "quick": {"horizons": [4, 8], "rounds": 500, "instances": 2, "replicas": 4},
        "full": {"horizons": [4, 6, 8, 12, 16, 24], "rounds": 4000, "instances": 5, "replicas": 6},
    }

    def rates(self) -> list[Rate]:
        says, place = "the regret grows at most as (d_1 + d_2)^(3/4)", "Theorem 4.2, factor"
        ours = "(ours) with exact gradients the regret does not grow with the dimension"
        return [
            *(Rate(place, f"{says}, {case}", case, LATER_REGRET, 0.75, PRINTED, SAME_STEPS) for case in DIRECTIONS),
            Rate(place, ours, next(iter(DIRECTIONS)), LATER_REGRET, 0.0, EXACT, PRINTED),
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the later regret on one instance where n and d together are ``horizon``."""
        size, rounds, noise = horizon // 2, self.settings["rounds"], NOISE / (horizon // 2) ** 0.5
        problem = CurvedBilevel(n=size, d=size, drift="none", sampling_noise=noise, conditioning=2.0, seed=seed)
        solver = of_theory(problem, rounds, CLASSES[method], DIRECTIONS[case])
        return {LATER_REGRET: measured(solver, problem, rounds, self.settings["replicas"], seed)}
