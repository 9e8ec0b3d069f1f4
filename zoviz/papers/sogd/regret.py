"""Paper sogd: regret under rapid drift with and without windows, and the variance of a product.

Figures are means over 20 replicas with 95 % confidence intervals; see ``zoviz.papers.sogd`` for how to run them. What
they say stands in docs/theorems.md.
"""

from __future__ import annotations

import itertools
import math
from functools import partial
from typing import Any

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import CentralSphere
from zoviz.estimators.scalars import objective
from zoviz.oracle import BilevelOracle, Oracle
from zoviz.problems import QuadraticBilevel, ToyBilevel
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.runs.engine.columns import AVERAGE_REGRET
from zoviz.runs.run import Run
from zoviz.solvers import OAGD, SOBOW, SOGD, Solver
from zoviz.solvers.bilevel.base import spread_out

GRID = (0.01, 0.03, 0.1, 0.3, 0.6, 1.0, 1.4, 1.8)
"""Outer steps; 2 / L_F, where descent on F becomes unstable, is 1.2 to 1.45 on the instances with n = d = 10."""
INNER = (0.2, 0.4)
"""Steps of y and, for SOGD, of v; 2 / L_g is 0.5."""


def interval(values: Array) -> tuple[float, float]:
    """Return the mean of ``values`` (R,) and the half-width of its normal 95 % confidence interval."""
    return float(values.mean()), float(1.96 * values.std(ddof=1) / math.sqrt(values.size))


def variations(problem: QuadraticBilevel, horizon: int) -> tuple[float, float, float]:
    """Return H_{2,T}, D_T and G_T of (10)-(14), which are exact here: they do not depend on x and y."""
    moves = np.diff([problem.vectors(t) for t in range(1, horizon + 1)], axis=0)
    a, c, q = np.split(moves, [problem.d, 2 * problem.d], axis=1)
    path = np.square(c @ problem.data.inverse).sum()
    return float(path), float(np.square(a).sum() + np.square(q).sum()), float(np.square(c).sum())


def average_regret(problem: OnlineBilevel, solver: Solver, horizon: int, replicas: int, seed: int = 0) -> Array:
    """Return the bilevel local regret over T rounds, divided by T, (R,)."""
    run = Run(problem=problem, solver=solver, replicas=replicas, iterations=horizon, seed=seed)
    run.run()
    return run.trace[AVERAGE_REGRET][-1]


RIVALS: dict[str, tuple[type[Solver], dict[str, Any]]] = {
    "SOGD": (SOGD, {}),
    "OAGD w = 5": (OAGD, {"window": 5}),
    "SOBOW w = 5": (SOBOW, {"window": 5}),
    "OAGD w = 1": (OAGD, {"window": 1}),
    "SOBOW w = 1": (SOBOW, {"window": 1}),
}


def _quadratic(rate: float, size: int = 10, seed: int = 0) -> QuadraticBilevel:
    return QuadraticBilevel(n=size, d=size, seed=seed, drift="rapid", drift_rate=rate)


def streams_of_tasks() -> dict[str, OnlineBilevel]:
    """Return the streams of tasks on which windows are compared, by name."""
    return {
        "quadratic, ω = 0.3": _quadratic(0.3),
        "quadratic, ω = 1": _quadratic(1.0),
        "quadratic, ω = 0.1": _quadratic(0.1),
        "toy, rapid": ToyBilevel(variant="rapid"),
        "toy, smooth": ToyBilevel(variant="smooth"),
        "ω = 0.3, n = d = 4": _quadratic(0.3, size=4),
        "ω = 0.3, instance 1": _quadratic(0.3, seed=1),
        "ω = 0.3, instance 2": _quadratic(0.3, seed=2),
        "jumps every 20 rounds": QuadraticBilevel(drift="none", phase_length=20),
    }


def best_of_grid(rival: str, problem: OnlineBilevel, horizon: int, replicas: int) -> tuple[float, float, Array]:
    """Return the steps of x and y with the least average regret on other seeds, and the regrets (R,) on seed 0."""
    cls, settings = RIVALS[rival]

    def solver_with(outer: float, inner: float) -> Solver:
        own = {"system_step": inner} if cls is SOGD else {}
        return cls(outer_step=outer, inner_step=inner, **own, **settings)

    grid = list(itertools.product(GRID, INNER))
    trials = {steps: average_regret(problem, solver_with(*steps), horizon, 3, seed=1).mean() for steps in grid}
    best = min(grid, key=lambda steps: np.nan_to_num(trials[steps], nan=np.inf))
    return *best, average_regret(problem, solver_with(*best), horizon, replicas)


def compare_windows(problem: OnlineBilevel, horizon: int, replicas: int) -> dict[str, tuple[float, float, Array]]:
    """Return the best steps and regrets (R,) of every rival, by name."""
    return {rival: best_of_grid(rival, problem, horizon, replicas) for rival in RIVALS}


def verdict(mine: Array, its: Array) -> str:
    """Return "yes", "no" or "undecided": whether ``mine`` (R,) is below ``its`` (R,) by the paired interval."""
    mean, half = interval(mine - its)
    return "undecided" if abs(mean) <= half else "yes" if mean < 0 else "no"


def report_windows(horizon: int, replicas: int) -> None:
    """Print each rival's regret at its best steps of one grid; a star marks the outer grid's edge."""
    print(f"\nrapid drift: average regret after {horizon} rounds at the best steps of {GRID} and {INNER}")
    print(f"{'stream':>21} " + " ".join(f"{rival:>24}" for rival in RIVALS) + "  SOGD beats w = 5")
    for name, problem in streams_of_tasks().items():
        regrets = compare_windows(problem, horizon, replicas)
        cells = []
        for outer, inner, values in regrets.values():
            edge = "*" if outer in (GRID[0], GRID[-1]) else " "
            cells.append("{:7.3g} ± {:<6.2g}".format(*interval(values)) + f"{outer:4g}{edge}/{inner:g}")
        mine = regrets["SOGD"][-1]
        sentence = ", ".join(
            f"{rival.split()[0]} {verdict(mine, regrets[rival][-1])}" for rival in RIVALS if "5" in rival
        )
        print(f"{name:>21} " + " ".join(cells) + f"  {sentence}", flush=True)


def product_spread(radius: float, shared: bool, replicas: int = 200, directions: int = 10) -> Array:
    """Return the squared errors (R,) of an estimated Hessian-vector product at the radius rho_v."""
    problem = QuadraticBilevel(noise="deterministic")
    streams, rng = Streams(4, replicas), np.random.default_rng(0)
    oracle = Oracle(problem, streams)
    rounds = BilevelOracle(oracle)
    x, y, v = (np.repeat(rng.standard_normal((1, 10)), replicas, axis=0) for _ in range(3))
    estimator = CentralSphere(smoothing_radius=5e-3, batch_size=directions)

    def inner(points: Array, sign: float) -> Array:
        return rounds.inner(spread_out(x, points), points + sign * radius * spread_out(v, points))

    if shared:
        view = rounds.view(lambda points: (inner(points, 1.0) - inner(points, -1.0)) / (2.0 * radius))
        estimate = estimator.estimate(objective, y, view, streams).gradient
    else:
        ends = [
            estimator.estimate(objective, y, rounds.view(partial(inner, sign=sign)), streams).gradient
            for sign in (1.0, -1.0)
        ]
        estimate = (ends[0] - ends[1]) / (2.0 * radius)
    return np.square(estimate - rounds.hessian_vector(x, y, v)).sum(axis=-1)


def report_variance(replicas: int) -> None:
    """Print the mean square error of a Hessian-vector product against rho_v, with directions shared and not."""
    print("\nmean square error of an estimated Hessian-vector product, ten directions (± 95 %)")
    print(f"{'ρ_v':>8} {'directions shared':>24} {'directions of their own':>26}")
    for radius in (1e-1, 1e-2, 1e-3, 1e-4, 1e-5):
        cells = [
            "{:10.4g} ± {:<8.2g}".format(*interval(product_spread(radius, one, replicas))) for one in (True, False)
        ]
        print(f"{radius:8g} {cells[0]:>24} {cells[1]:>26}", flush=True)
