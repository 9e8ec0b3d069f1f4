"""Paper salm: rates against T, and what multipliers do that a penalty of the same weight does not.

The paper prints no experiments. Theorems 3.1 and 4.3 bound E ||grad Psi(z_t*)||, t* uniform over the iterations, by
O(T^(-1/4)) for Algorithms 1 and 2 with steps of order T^(-1/2); for Algorithm 3, whose steps are of order T^(-1/3), it
is measured too, though Theorem 5.7 bounds ||v|| and ||Ax - b||: ``theorems`` has these, beside what the method would
do without its recursion, which this measure hardly tells from it.
``--rates`` measures it on the stochastic QP whose only stationary point is known, and fits the slope of its logarithm;
the interval, 95%, is that of the replicas, each of which draws iterations t* of its own.

    python -m zoviz.papers.salm.rates --rates          # four horizons, 1000 to 64000: some minutes
    python -m zoviz.papers.salm.rates --penalty        # ||Ax - b|| at one constant weight: seconds
    python -m zoviz.papers.salm.rates --applications   # section 6, beside general solvers: minutes
"""

from __future__ import annotations

import argparse

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.papers.comparison import Slope
from zoviz.papers.salm import applications
from zoviz.problems import StochasticQP
from zoviz.runs.engine.columns import VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import LinearisedALM, PenaltySGD, SampledALM, SmoothedALM, Solver, StormALM

THEOREM = {"SmoothedALM": -1.0 / 4.0, "SampledALM": -1.0 / 4.0, "StormALM": -1.0 / 3.0}
"""Exponents of the theorems, by solver."""


def problem_for(name: str, null_curvature: float = 0.5) -> StochasticQP:
    """Return the stochastic QP with an indefinite f for a method; for Algorithm 2 its rows are only sampled."""
    return StochasticQP(
        n=10, rows=3, gradient_noise=1.0, null_curvature=null_curvature, sampled_rows=name == "SampledALM"
    )


def prepared(solver: Solver, problem: StochasticQP) -> Solver:
    """Return the solver with the parameters that its rule chooses for the problem and the solver's horizon."""
    steps = solver.suggest(problem, problem.constants)
    for name in solver.suggestible():
        solver.set(name, float(steps[name]))
    return solver


def near_stationarity(name: str, horizon: int, replicas: int, draws: int, seed: int, null_curvature: float) -> Array:
    """Measure ||grad Psi(z_t)|| at random iterations, one from each equal part of T; shape (draws, replicas)."""
    problem = problem_for(name, null_curvature)
    methods = {cls.__name__: cls for cls in (SmoothedALM, SampledALM, StormALM)}
    solver, streams = prepared(methods[name](horizon=horizon), problem), Streams(seed, replicas)
    oracle = Oracle(problem, streams)
    state = solver.init(problem.initial(streams), oracle, streams)
    unit = np.random.default_rng([seed, horizon]).random((draws, replicas))
    iterations = ((np.arange(draws)[:, None] + unit) * horizon / draws).astype(int)
    recorded, out = set(iterations.ravel().tolist()), np.empty((draws, replicas))
    for t in range(horizon):
        if t in recorded:
            part, replica = np.nonzero(iterations == t)
            iterate = solver.iterate(state)
            z = iterate.x if iterate.centre is None else iterate.centre
            out[part, replica] = problem.near_stationarity(z[replica])
        state, _ = solver.step(state, oracle, streams)
    return out


def fit(horizons: list[int], means: Array) -> Slope:
    """Fit the exponent of T to means over t*, (horizons, replicas), by least squares on logarithms.

    The error is that of the logarithms of means over independent replicas, sd / (mean sqrt(R)).
    """
    logs = np.log(np.asarray(horizons, dtype=float))
    weights = (logs - logs.mean()) / np.square(logs - logs.mean()).sum()
    level = means.mean(axis=1)
    errors = means.std(axis=1, ddof=1) / (level * np.sqrt(means.shape[1]))
    return Slope(float(weights @ np.log(level)), float(np.sqrt(np.square(weights * errors).sum())))


def rates(
    name: str, horizons: list[int], replicas: int = 24, draws: int = 32, seed: int = 0, null_curvature: float = 0.5
) -> tuple[Slope, Slope, Array]:
    """Return exponents of T of ||grad Psi||, fitted to its mean and root mean square, and these (horizons, 2)."""
    measures = [near_stationarity(name, T, replicas, draws, seed, null_curvature) for T in horizons]
    means = np.array([rows.mean(axis=0) for rows in measures])
    squares = np.array([np.square(rows).mean(axis=0) for rows in measures])
    half = fit(horizons, squares)
    levels = np.stack([means.mean(axis=1), np.sqrt(squares.mean(axis=1))], axis=1)
    return fit(horizons, means), Slope(0.5 * half.value, 0.5 * half.error), levels


def violations(iterations: int = 20_000, replicas: int = 20, penalty: float = 5.0, seed: int = 0) -> dict[str, Array]:
    """Measure ||Ax - b|| along a run relative to its start, by method with and without multipliers, (rows, R)."""
    problem = StochasticQP(gradient_noise=0.1, curvature_noise=0.02)
    solvers = {
        "SmoothedALM": SmoothedALM(penalty=penalty, horizon=iterations),
        "LinearisedALM": LinearisedALM(penalty=penalty, horizon=iterations),
        "StormALM": StormALM(penalty=penalty, horizon=iterations),
        "PenaltySGD": PenaltySGD(penalty=penalty, growth=0.0, horizon=iterations),
    }
    out = {}
    for name, solver in solvers.items():
        run = Run(problem=problem, solver=solver, replicas=replicas, iterations=iterations, seed=seed)
        run.run()
        out[name] = run.trace[VIOLATION] / run.trace[VIOLATION][0]
    return out


def main() -> None:
    """Print the fitted rates of the methods that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rates", action="store_true", help="slopes against the horizon")
    parser.add_argument("--penalty", action="store_true", help="||Ax - b|| at a constant penalty")
    parser.add_argument("--horizons", type=int, nargs="+", default=[1000, 4000, 16_000, 64_000])
    parser.add_argument("--replicas", type=int, default=24)
    parser.add_argument("--draws", type=int, default=32, help="iterations t* at which a run is measured")
    parser.add_argument("--null-curvature", type=float, default=0.5, help="negative: f is nonconvex on Ax = b too")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--applications", action="store_true", help="the three applications, see salm_applications")
    options = parser.parse_args()
    if options.applications:
        applications.report(list(applications.PARTS), ["logistic"], ["Alg. 1"], 4, 8000)
        return
    if options.rates or not options.penalty:
        print_rates(options)
    if options.penalty:
        print("||Ax - b|| at the end, share of its start: mean over replicas, standard error")
        for name, course in violations(seed=options.seed).items():
            last = course[-1]
            print(f"{name:>14} {last.mean():.2e} ± {last.std(ddof=1) / np.sqrt(last.size):.0e}", flush=True)


def print_rates(options: argparse.Namespace) -> None:
    """Print E ||grad Psi|| at every horizon T, its exponent of T with the interval, and the root mean square's."""
    print("   method " + "".join(f"{f'T = {T}':>12}" for T in options.horizons) + "    slope [95%]  theorem  (rms)")
    for name, theorem in THEOREM.items():
        mean, root, levels = rates(
            name, options.horizons, options.replicas, options.draws, options.seed, options.null_curvature
        )
        low, high = mean.interval
        figures = "".join(f"{level:12.4f}" for level in levels[:, 0])
        print(
            f"{name:>12}{figures}  {mean.value:.3f} [{low:.3f}, {high:.3f}]  {theorem:.3f}  "
            f"{root.value:.3f} [{root.interval[0]:.3f}, {root.interval[1]:.3f}]",
            flush=True,
        )


if __name__ == "__main__":
    main()
