"""Paper salm: its theorems in their own measures, each beside the same method without what the theorem credits.

Theorem 5.7 bounds ||v||, v in grad f + A^T y + N_X, and ||Ax - b|| at (x_{s+1}, y_{s+1}), s uniform over the
iterations, by O(T^(-1/3)) for Algorithm 3: a = 1 is the same method without its recursion. Corollary 3.2 bounds ||v||
by O(T^(-1/4)) after the last step (3.2) from Algorithm 1's x_{t*}, of size 1 / L_K and with B of order sqrt(T): the
same step of the run's own size tau ~ T^(-1/2) does less and less. Remark 5.8 claims T^(-1/3) for sampled rows too:
a = 1 stands beside it again. On the stochastic QP whose only stationary point is known, with so much noise that it,
not the start, is what is left at the end.

    python -m zoviz.papers.salm.theorems                   # horizons 1000, 4000, 16 000: some minutes
    python -m zoviz.papers.salm.theorems --horizons 250 1000 4000 --replicas 40
"""

from __future__ import annotations

import argparse
import math

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.papers.comparison import Comparison, compared, report
from zoviz.papers.salm.rates import prepared
from zoviz.problems import StochasticQP
from zoviz.runs.engine.columns import NORMAL_RESIDUAL
from zoviz.solvers import SampledALM, SmoothedALM, Solver, StormALM, StormSampledALM

NOISE = 5.0
"""Standard deviation of the gradients' noise; that of the curvature, and of sampled rows, is a fiftieth of it."""
DRAWS = 64
"""Iterations s, one from each equal part of T, at which all replicas are measured."""


def problem_for(sampled: bool = False, noise: float = NOISE) -> StochasticQP:
    """Return the stochastic QP, n = 20 and 3 rows, with or without sampled rows."""
    return StochasticQP(
        n=20, gradient_noise=noise, curvature_noise=0.02 * noise, sampled_rows=sampled, row_noise=0.02 * noise
    )


def along(solver: Solver, problem: StochasticQP, horizon: int, replicas: int, seed: int) -> tuple[Array, Array, Array]:
    """Return ||v|| and ||Ax - b|| at (x_{s+1}, y_{s+1}), means (R,) over random s, and ||v|| after two last steps.

    The last steps, (2, R), are of size 1 / L_K and of the run's; B = 50 sqrt(T).
    """
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
    last = []
    method.set("polish_batch", math.ceil(50.0 * math.sqrt(horizon)))
    for size in (method.get("polish_step"), method.get("primal_step")):
        method.set("polish_step", size)
        answer = method.polish(state, oracle, streams)
        unknown = np.full(replicas, np.nan)
        last.append(unknown if answer is None else problem.measures(answer, None)[NORMAL_RESIDUAL])
    return normal, residual, np.array(last)


def theorem_5_7(horizons: list[int], replicas: int, seed: int = 0, sampled: bool = False) -> dict[str, Comparison]:
    """Compare Algorithm 3 with a = 1, by ||v|| and by ||Ax - b||; with sampled rows Remark 5.8's method."""
    problem = problem_for(sampled)

    def solvers_for(horizon: int) -> list[Solver]:
        if sampled:
            return [StormSampledALM(horizon=horizon), StormSampledALM(horizon=horizon, momentum=1.0)]
        return [StormALM(horizon=horizon), StormALM(horizon=horizon, momentum=1.0)]

    measured = [[along(one, problem, T, replicas, seed)[:2] for T in horizons for one in solvers_for(T)]]
    table = np.array(measured).reshape(len(horizons), 2, 2, replicas)  # horizon, method, measure, replica
    by = np.moveaxis(table, (2, 1), (0, 1))  # measure, method, horizon, replica
    return {name: compared(-1.0 / 3.0, horizons, by[i]) for i, name in enumerate(("||v||", "||Ax - b||"))}


def corollary_3_2(horizons: list[int], replicas: int, seed: int = 0, sampled: bool = False) -> Comparison:
    """Compare the last step of size 1 / L_K with one of the run's tau, from the same iterations t*."""
    problem, cls = problem_for(sampled), SampledALM if sampled else SmoothedALM
    rows = [along(cls(horizon=T), problem, T, replicas, seed)[2] for T in horizons]
    return compared(-1.0 / 4.0, horizons, np.moveaxis(np.array(rows), 1, 0))


def main() -> None:
    """Print a verdict for each claim."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--horizons", type=int, nargs="+", default=[1000, 4000, 16_000])
    parser.add_argument(
        "--replicas", type=int, default=100, help="four times as many for the last step, from one s each"
    )
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    horizons, replicas, seed = options.horizons, options.replicas, options.seed
    print(f"horizons {horizons}, {replicas} replicas, noise {NOISE:g}: means, exponents of T ± standard errors")
    for sampled, title in ((False, "Theorem 5.7"), (True, "Remark 5.8, sampled rows")):
        for measure, outcome in theorem_5_7(horizons, replicas, seed, sampled).items():
            report(f"{title}, {measure}", outcome, ("recursion", "a = 1"), -1.0 / 3.0)
    for sampled, title in ((False, "Corollary 3.2"), (True, "the same for Algorithm 2")):
        outcome = corollary_3_2(horizons, 4 * replicas, seed, sampled)
        report(f"{title}, ||v||", outcome, ("last step 1 / L_K", "last step tau"), -1.0 / 4.0)


if __name__ == "__main__":
    main()
