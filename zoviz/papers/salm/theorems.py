"""Paper salm: its theorems in their own measures, each beside the same method without what the theorem credits.

Theorem 5.7 bounds ||v||, v in grad f + A^T y + N_X, and ||Ax - b|| at (x_{s+1}, y_{s+1}), s uniform over the
iterations, by O(T^(-1/3)) for Algorithm 3: a = 1 is the same method without its recursion. Corollary 3.2 bounds ||v||
by O(T^(-1/4)) after the last step (3.2) from Algorithm 1's x_{t*}, of size 1 / L_K and with B of order sqrt(T): the
same step of the run's own size tau ~ T^(-1/2) does less and less. Remark 5.8 claims T^(-1/3) for sampled rows too:
a = 1 stands beside it again. On the stochastic QP whose only stationary point is known, with so much noise that it,
not the start, is what is left at the end.
"""

from __future__ import annotations

import math

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.papers.rate_experiment import AT_ITS_T, Rate, RateExperiment
from zoviz.papers.salm.rates import FIRST_SEED, prepared
from zoviz.problems import StochasticQP
from zoviz.runs.engine.columns import ITERATION, NORMAL_RESIDUAL, VIOLATION
from zoviz.solvers import SampledALM, SmoothedALM, Solver, StormALM, StormSampledALM
from zoviz.studies.experiment import Measured
from zoviz.studies.live import Live

NOISE = 5.0
"""Standard deviation of the gradients' noise; that of the curvature, and of sampled rows, is a fiftieth of it."""
DRAWS = 64
"""Iterations s, one from each equal part of T, at which all replicas are measured."""
KNOWN, SAMPLED = "known rows", "sampled rows"
RECURSION, PLAIN = "recursion", "a = 1"
OWN, RUNS = "last step 1/L_K", "last step tau"
NORMAL, RESIDUAL = "||v||", "||Ax - b||"
COLUMNS = {NORMAL: NORMAL_RESIDUAL, RESIDUAL: VIOLATION}
"""Where a run's trace has both measures."""


def problem_for(sampled: bool = False, noise: float = NOISE, seed: int = 0) -> StochasticQP:
    """Return the stochastic QP, n = 20 and 3 rows, with or without sampled rows."""
    return StochasticQP(
        n=20,
        gradient_noise=noise,
        curvature_noise=0.02 * noise,
        sampled_rows=sampled,
        row_noise=0.02 * noise,
        seed=seed,
    )


def along(solver: Solver, problem: StochasticQP, horizon: int, replicas: int, seed: int) -> dict[str, Array]:
    """Return ||v|| and ||Ax - b|| at (x_{s+1}, y_{s+1}), means (R,) over random s."""
    streams = Streams(seed, replicas)
    oracle, method = Oracle(problem, streams), prepared(solver, problem)
    state = method.init(problem.initial(streams), oracle, streams)
    unit = np.random.default_rng([seed, horizon]).random(DRAWS)
    recorded = set(((np.arange(DRAWS) + unit) * horizon / DRAWS).astype(int).tolist())
    normal, residual = np.zeros(replicas), np.zeros(replicas)
    for s in range(horizon):
        state, _ = method.step(state, oracle, streams)
        if s in recorded:
            measured = problem.measures(method.iterate(state), None)
            normal += measured[NORMAL_RESIDUAL] / len(recorded)
            residual += np.linalg.norm(problem.residual(method.output(state)), axis=1) / len(recorded)
    return {NORMAL: normal, RESIDUAL: residual}


def after_last_step(solver: Solver, problem: StochasticQP, horizon: int, replicas: int, size: str, seed: int) -> Array:
    """Return ||v|| (R,) after a last step of size ``OWN`` or ``RUNS`` from x_{t*}; B = 50 sqrt(T)."""
    streams = Streams(seed, replicas)
    oracle, method = Oracle(problem, streams), prepared(solver, problem)
    state = method.init(problem.initial(streams), oracle, streams)
    for _ in range(horizon):
        state, _ = method.step(state, oracle, streams)
    method.set("polish_batch", math.ceil(50.0 * math.sqrt(horizon)))
    method.set("polish_step", method.get("polish_step" if size == OWN else "primal_step"))
    answer = method.polish(state, oracle, streams)
    return np.full(replicas, np.nan) if answer is None else problem.measures(answer, None)[NORMAL_RESIDUAL]


class Theorem57(RateExperiment):
    """Theorem 5.7 in its own measure, and Remark 5.8 for sampled rows."""

    first_seed = FIRST_SEED
    title = "salm Theorem 5.7"
    subject = "||v|| and ||Ax - b|| at a random iterate of Algorithm 3 against T, with its recursion and without"
    printed = "Bounds of order T^(-1/3); Remark 5.8: the same for rows that are only sampled."
    protocol = "StochasticQP, n = 20, three rows, drawn instances, gradient noise 5, default steps; nothing is tuned."
    sizes = {
        "quick": {"horizons": [400, 1600], "instances": 2, "replicas": 6},
        "full": {"horizons": [1000, 1741, 3031, 5278, 9190, 16_000], "instances": 6, "replicas": 8},
    }

    def rates(self) -> list[Rate]:
        places = {KNOWN: "Theorem 5.7", SAMPLED: "Remark 5.8"}
        return [
            Rate(place, f"{measure} falls as T^(-1/3), {rows}", rows, measure, -1.0 / 3.0, RECURSION, PLAIN)
            for rows, place in places.items()
            for measure in (NORMAL, RESIDUAL)
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return both measures of Algorithm 3, or of its form for sampled rows."""
        cls = StormSampledALM if case == SAMPLED else StormALM
        solver = cls(horizon=horizon, momentum=1.0) if method == PLAIN else cls(horizon=horizon)
        return along(solver, problem_for(case == SAMPLED, seed=seed), horizon, self.settings["replicas"], seed)

    def live(self, measured: Measured) -> list[Live]:
        """Return Algorithm 3 for known and for sampled rows at the second T, with both claimed orders."""
        horizon, out = self.settings["horizons"][1], []
        for case, cls in ((KNOWN, StormALM), (SAMPLED, StormSampledALM)):
            references = tuple(
                line
                for rate in self.rates()
                if rate.case == case
                for line in self.claimed_order(measured, rate, COLUMNS[rate.measure], ITERATION)
            )
            title, part = f"Algorithm 3, {case}, T = {horizon}", f"{case} / {RECURSION} / {horizon}"
            seed = self.seeds(part)[0]
            settings = {"seed": seed, "replicas": self.settings["replicas"], "iterations": horizon}
            problem, solver = problem_for(case == SAMPLED, seed=seed), cls(horizon=horizon)
            out.append(Live(title, problem, solver, settings, (part,), references, ITERATION, True, AT_ITS_T))
        return out


class Corollary32(RateExperiment):
    """Corollary 3.2's last step, for Algorithm 1 and, with sampled rows, Algorithm 2."""

    first_seed = FIRST_SEED
    title = "salm Corollary 3.2"
    subject = "||v|| after the last step of Algorithms 1 and 2 against T, of size 1 / L_K and of the run's size"
    printed = "A bound of order T^(-1/4) after the last step (3.2)."
    protocol = "StochasticQP as for Theorem 5.7; from one random iterate t* each, B = 50 sqrt(T); nothing is tuned."
    sizes = {
        "quick": {"horizons": [1000, 4000], "instances": 2, "replicas": 30},
        "full": {"horizons": [1000, 1741, 3031, 5278, 9190, 16_000], "instances": 6, "replicas": 24},
    }

    def rates(self) -> list[Rate]:
        return [
            Rate("Corollary 3.2", f"||v|| falls as T^(-1/4), {rows}", rows, NORMAL, -1.0 / 4.0, OWN, RUNS)
            for rows in (KNOWN, SAMPLED)
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return ||v|| after a last step of either size, from the same iterates."""
        solver = SampledALM(horizon=horizon) if case == SAMPLED else SmoothedALM(horizon=horizon)
        problem = problem_for(case == SAMPLED, seed=seed)
        return {NORMAL: after_last_step(solver, problem, horizon, self.settings["replicas"], method, seed)}
