"""Paper sogd, Table 1: regret against rounds of SOGD, and of OAGD, SOBOW and SOBBO with a window, under slow drift.

The bounds of the others have a term T / w (with w fixed an average regret that stays), and, but for SOBBO, none for
noise; SOGD's average regret is of order T^(-1/3) without a window. All have noisy rounds, SOGD its schedule of theory,
the others constant steps as in theirs. What is measured is the mean squared hypergradient over the later half of the
rounds, as for Theorem 3.6; no step is tuned, so that exponents are compared and not sizes.
"""

from __future__ import annotations

from zoviz.papers.rate_experiment import Rate
from zoviz.papers.sogd.theorem_3_6 import EXPONENTS, FIRST_STEP, LATER_REGRET, SLOW, RegretsOfInstances
from zoviz.problems import QuadraticBilevel
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.solvers import OAGD, SOBBO, SOBOW, SOGD, Solver
from zoviz.solvers.published_form import FAR

RIVALS: dict[str, type[Solver]] = {"OAGD": OAGD, "SOBOW": SOBOW, "SOBBO": SOBBO}
OURS, WINDOW = "SOGD", 5
STEP = 0.1
"""Of the leader and the follower in the methods with a window, whose theory has constant steps."""
NOISE = 0.3
"""Of the samples: with that of Theorem 3.6, 1, a sampled curvature may be 0, which the others' systems divide by."""
CASE = "slow drift"


class Regrets(RegretsOfInstances):
    """Table 1: later regrets of four methods against T under slow drift."""

    title = "sogd Table 1"
    subject = "Later regret of SOGD without a window, and of OAGD, SOBOW and SOBBO with one, against rounds"
    printed = (
        "Regret bounds T / w + H_1,T + H_2,T of OAGD, T / w + V_T + H_2,T of SOBOW, sigma^2 T / w + V_T + H_2,T of "
        "SOBBO, T^(1/3) (sigma^2 + Delta_T) + T^(2/3) Psi_T of SOGD; no figures."
    )
    protocol = (
        "QuadraticBilevel, n = d = 10, drawn instances, noise 0.3, a random walk with steps of order 1 / t; SOGD's "
        "schedule of theory with alpha_1 = 0.3, the others' steps constant at 0.1, w = 5; nothing is tuned."
    )
    sizes = {
        "quick": {"horizons": [64, 128, 256], "instances": 2, "replicas": 4},
        "full": {"horizons": [256, 512, 1024, 2048, 4096, 8192], "instances": 6, "replicas": 4},
    }

    def rates(self) -> list[Rate]:
        says = "SOGD's average regret falls as T^(-1/3), and not that of"
        out = [
            Rate("Table 1", f"{says} {name} with w = {WINDOW}", CASE, LATER_REGRET, EXPONENTS[SLOW], OURS, name)
            for name in RIVALS
        ]
        return out + [
            Rate("Table 1", f"{name}'s average regret does not grow, w = {WINDOW}", CASE, LATER_REGRET, 0.0, name, "")
            for name in RIVALS
        ]

    def instance(self, case: str, seed: int) -> OnlineBilevel:
        return QuadraticBilevel(drift="walk", sampling_noise=NOISE, seed=seed)

    def solver(self, method: str) -> Solver:
        if method == OURS:
            return SOGD(schedule="theory", outer_step=FIRST_STEP)
        return RIVALS[method](outer_step=STEP, inner_step=STEP, window=WINDOW, system_radius=FAR)
