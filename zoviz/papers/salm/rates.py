"""Paper salm, Theorems 3.1 and 4.3: near-stationarity against T.

They bound E ||grad Psi(z_t*)||, t* uniform over the iterations, by O(T^(-1/4)) for Algorithms 1 and 2 with steps of
order T^(-1/2): beside them stand the steps of the least T at every T. For Algorithm 3, whose steps are of order
T^(-1/3), it is measured too, though Theorem 5.7 bounds ||v|| and ||Ax - b||: ``theorems`` has these; this measure
hardly tells the method from what it would be without its recursion. On the stochastic QP whose only stationary point
is known.
"""

from __future__ import annotations

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.papers.rate_experiment import AT_ITS_T, Rate, RateExperiment
from zoviz.problems import StochasticQP
from zoviz.runs.engine.columns import ITERATION, NEAR_STATIONARITY
from zoviz.solvers import SampledALM, SmoothedALM, Solver, StormALM
from zoviz.studies.experiment import Measured
from zoviz.studies.live import Live

NEAR = "||grad Psi||"
OWN_STEPS, SAME_STEPS = "steps that fall with T", "the same steps at every T"
RECURSION, PLAIN = "recursion", "a = 1"
ALGORITHMS: dict[str, type[Solver]] = {
    "Algorithm 1": SmoothedALM,
    "Algorithm 2, sampled rows": SampledALM,
    "Algorithm 3": StormALM,
}
FIRST, SECOND, THIRD = ALGORITHMS
FIRST_SEED = 10_000
"""Of the recorded instances and runs; nothing is tuned."""


def problem_for(sampled: bool, null_curvature: float = 0.5, seed: int = 0) -> StochasticQP:
    """Return the stochastic QP with an indefinite f, with rows that are known or only sampled."""
    return StochasticQP(
        n=10, rows=3, gradient_noise=1.0, null_curvature=null_curvature, sampled_rows=sampled, seed=seed
    )


def prepared(solver: Solver, problem: StochasticQP) -> Solver:
    """Return the solver with the parameters that its rule chooses for the problem and the solver's horizon."""
    steps = solver.from_constants(problem, problem.constants)
    for name in solver.open_scales():
        solver.set(name, float(steps[name]))
    return solver


def near_stationarity(
    solver: Solver, problem: StochasticQP, horizon: int, replicas: int, draws: int, seed: int
) -> Array:
    """Return ||grad Psi(z_t)|| (draws, R) at random iterations, one of every replica from each equal part of T."""
    method, streams = prepared(solver, problem), Streams(seed, replicas)
    oracle = Oracle(problem, streams)
    state = method.init(problem.initial(streams), oracle, streams)
    unit = np.random.default_rng([seed, horizon]).random((draws, replicas))
    iterations = ((np.arange(draws)[:, None] + unit) * horizon / draws).astype(int)
    recorded, out = set(iterations.ravel().tolist()), np.empty((draws, replicas))
    for t in range(horizon):
        if t in recorded:
            part, replica = np.nonzero(iterations == t)
            iterate = method.iterate(state)
            z = iterate.x if iterate.centre is None else iterate.centre
            out[part, replica] = problem.near_stationarity(z[replica])
        state, _ = method.step(state, oracle, streams)
    return out


class Theorem31(RateExperiment):
    """Theorems 3.1 and 4.3, and the same measure of Algorithm 3."""

    first_seed = FIRST_SEED
    title = "salm Theorem 3.1"
    subject = "||grad Psi(z)|| at a random iterate against T, of Algorithms 1 and 2, and of Algorithm 3"
    printed = "Bounds of order T^(-1/4) for Algorithm 1 and, with sampled rows (Theorem 4.3), Algorithm 2."
    protocol = "StochasticQP, n = 10, three rows, drawn instances, gradient noise 1, default steps; nothing is tuned."
    sizes = {
        "quick": {"horizons": [400, 1600], "instances": 2, "replicas": 6, "draws": 10},
        "full": {"horizons": [1000, 2297, 5278, 12_126, 27_858, 64_000], "instances": 5, "replicas": 4, "draws": 32},
    }

    def rates(self) -> list[Rate]:
        places = {FIRST: "Theorem 3.1", SECOND: "Theorem 4.3"}
        says, ours = "||grad Psi|| falls as T^(-1/4)", "(ours) ||grad Psi|| of Algorithm 3 falls as T^(-1/3)"
        return [
            *(
                Rate(place, f"{says}, {case}", case, NEAR, -1.0 / 4.0, OWN_STEPS, SAME_STEPS)
                for case, place in places.items()
            ),
            Rate("Theorem 5.7, ours", ours, THIRD, NEAR, -1.0 / 3.0, RECURSION, PLAIN),
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the mean of ||grad Psi|| over the drawn iterations of every replica."""
        problem = problem_for(case == SECOND, seed=seed)
        sized = self.settings["horizons"][0] if method == SAME_STEPS else horizon
        solver = ALGORITHMS[case](horizon=sized, **({"momentum": 1.0} if method == PLAIN else {}))
        rows = near_stationarity(solver, problem, horizon, self.settings["replicas"], self.settings["draws"], seed)
        return {NEAR: rows.mean(axis=0)}

    def live(self, measured: Measured) -> list[Live]:
        """Return each algorithm at the second T with the order that its theorem claims."""
        horizon, out = self.settings["horizons"][1], []
        for rate in self.rates():
            # What is claimed of Algorithm 3 in this measure is ours.
            lines = self.claimed_order(measured, rate, NEAR_STATIONARITY, ITERATION) if rate.case != THIRD else ()
            part = f"{rate.case} / {rate.method} / {horizon}"
            seed = self.seeds(part)[0]
            solver, problem = ALGORITHMS[rate.case](horizon=horizon), problem_for(rate.case == SECOND, seed=seed)
            settings = {"seed": seed, "replicas": self.settings["replicas"], "iterations": horizon}
            out.append(
                Live(
                    f"{rate.case}, T = {horizon}", problem, solver, settings, (part,), lines, ITERATION, True, AT_ITS_T
                )
            )
        return out
