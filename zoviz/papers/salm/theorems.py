"""Paper salm: its theorems in their own measures, each beside the same method without what the theorem credits.

Theorem 5.7 bounds ||v||, v in grad f + A^T y + N_X, and ||Ax - b|| at (x_{s+1}, y_{s+1}), s uniform over the iterations,
by O(T^(-1/3)) for Algorithm 3: a = 1 is the same method without its recursion. Corollary 3.2 bounds ||v|| by O(T^(-1/4))
after the last step (3.2) from Algorithm 1's x_{t*}, of size 1 / L_K and with B of order sqrt(T): the same step of the
run's own size tau ~ T^(-1/2) does less and less. Remark 5.8 claims T^(-1/3) for sampled rows too: Algorithm 2, whose
steps shrink as T^(-1/2), and a = 1 stand beside it. On the stochastic QP whose only stationary point is known, with so
much noise that it, not the start, is what is left at the end.

    python -m zoviz.papers.salm.theorems                   # horizons 1000, 4000, 16 000: some minutes
    python -m zoviz.papers.salm.theorems --horizons 250 1000 4000 --replicas 40
"""

from __future__ import annotations

import argparse
import math
from typing import NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.papers.salm.rates import Slope, prepared
from zoviz.problems import StochasticQP
from zoviz.solvers import SampledALM, SmoothedALM, Solver, StormALM, StormSampledALM

NOISE = 5.0
"""Standard deviation of the gradients' noise; that of the curvature, and of sampled rows, is a fiftieth of it."""
DRAWS = 64
"""Iterations s, one from each equal part of T, at which all replicas are measured."""
APART = 3.0
"""Standard errors by which the slopes of a method and of its ablation have to differ."""


class Comparison(NamedTuple):
    """Means (horizons, 2) of a measure under a method and its ablation, their exponents of T, and the verdicts.

    Attributes
    ----------
    holds : bool
        Whether the method's exponent is the theorem's or below, by its 95 % interval's lower end.
    discriminates : bool
        Whether the ablation's exponent is above the method's by more than three standard errors.
    ablation_fails : bool
        Whether the ablation's exponent is above the theorem's, by its interval.
    """

    levels: Array
    method: Slope
    ablation: Slope
    holds: bool
    discriminates: bool
    ablation_fails: bool


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
            normal += measured["normal_residual"] / len(recorded)
            residual += np.linalg.norm(problem.residual(state.x), axis=1) / len(recorded)
    last = []
    method.set("polish_batch", math.ceil(50.0 * math.sqrt(horizon)))
    for size in (method.get("polish_step"), method.get("primal_step")):
        method.set("polish_step", size)
        answer = method.polish(state, oracle, streams)
        unknown = np.full(replicas, np.nan)
        last.append(unknown if answer is None else problem.measures(answer, None)["normal_residual"])
    return normal, residual, np.array(last)


def compared(exponent: float, horizons: list[int], rows: Array) -> Comparison:
    """Return the comparison of measures (2, horizons, R), the method's first; replicas are paired.

    Exponents are fitted to the logarithms of means over replicas; errors are those of their linear parts, replica by
    replica.
    """
    logs = np.log(np.asarray(horizons, dtype=float))
    weights = (logs - logs.mean()) / np.square(logs - logs.mean()).sum()
    levels = rows.mean(axis=2)
    values = np.log(levels) @ weights
    parts = np.einsum("h,mhr->mr", weights, rows / levels[..., None])
    errors = parts.std(axis=1, ddof=1) / math.sqrt(parts.shape[1])
    method, ablation = (Slope(float(value), float(error)) for value, error in zip(values, errors, strict=True))
    apart = float((parts[1] - parts[0]).std(ddof=1)) / math.sqrt(parts.shape[1])
    return Comparison(
        levels.T,
        method,
        ablation,
        holds=method.interval[0] <= exponent,
        discriminates=ablation.value - method.value > APART * apart,
        ablation_fails=ablation.interval[0] > exponent,
    )


def theorem_5_7(horizons: list[int], replicas: int, seed: int = 0, sampled: bool = False) -> dict[str, Comparison]:
    """Compare Algorithm 3 with a = 1, by ||v|| and by ||Ax - b||; with sampled rows Remark 5.8's method."""
    problem = problem_for(sampled)

    def made(horizon: int) -> list[Solver]:
        if sampled:
            return [StormSampledALM(horizon=horizon), StormSampledALM(horizon=horizon, momentum=1.0)]
        return [StormALM(horizon=horizon), StormALM(horizon=horizon, momentum=1.0)]

    measured = [[along(one, problem, T, replicas, seed)[:2] for T in horizons for one in made(T)]]
    table = np.array(measured).reshape(len(horizons), 2, 2, replicas)  # horizon, method, measure, replica
    by = np.moveaxis(table, (2, 1), (0, 1))  # measure, method, horizon, replica
    return {name: compared(-1.0 / 3.0, horizons, by[i]) for i, name in enumerate(("||v||", "||Ax - b||"))}


def corollary_3_2(horizons: list[int], replicas: int, seed: int = 0, sampled: bool = False) -> Comparison:
    """Compare the last step of size 1 / L_K with one of the run's tau, from the same iterations t*."""
    problem, cls = problem_for(sampled), SampledALM if sampled else SmoothedALM
    rows = [along(cls(horizon=T), problem, T, replicas, seed)[2] for T in horizons]
    return compared(-1.0 / 4.0, horizons, np.moveaxis(np.array(rows), 1, 0))


def report(title: str, horizons: list[int], outcome: Comparison, names: tuple[str, str], exponent: float) -> None:
    """Print a comparison: means at every horizon, exponents with standard errors, and the verdicts."""
    print(f"{title}: exponent {exponent:.3f} claimed")
    for i, (name, slope) in enumerate(zip(names, (outcome.method, outcome.ablation), strict=True)):
        cells = "".join(f"{level:11.4g}" for level in outcome.levels[:, i])
        print(f"  {name:>28}{cells}   {slope.value:7.3f} ± {slope.error:.3f}")
    answers = {
        "the claim is met": outcome.holds,
        "apart by more than 3 standard errors": outcome.discriminates,
        "the ablation fails the claim": outcome.ablation_fails,
    }
    print(
        "  " + "; ".join(f"{sentence}: {'yes' if answer else 'no'}" for sentence, answer in answers.items()), flush=True
    )


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
            report(f"{title}, {measure}", horizons, outcome, ("recursion", "a = 1"), -1.0 / 3.0)
    for sampled, title in ((False, "Corollary 3.2"), (True, "the same for Algorithm 2")):
        outcome = corollary_3_2(horizons, 4 * replicas, seed, sampled)
        report(f"{title}, ||v||", horizons, outcome, ("last step 1 / L_K", "last step tau"), -1.0 / 4.0)


if __name__ == "__main__":
    main()
