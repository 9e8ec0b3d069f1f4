"""Paper splm, Theorem 1 and Table 1: stationarity against iterations, and against n with k of order n^2.

The proof of Theorem 1 bounds the mean over t < T of E[residual^2] by an order of 1 / T: that is what is measured, the
residual being the largest of the three of Definition 1. Iterations of order eps^-a are then a mean of order T^(-2 / a).
Table 1's rates of others are of their own papers' settings (ZO-ConEX's of its proximal stages, ZO-ALM's of three loops
and equalities); here all are as the paper's experiments have them.

The objective is concave along the normal of the constraint, where neither descent nor ascent comes to rest: it is the
slowly moving centre that the method credits. On the nonconvex QCQP of the experiments, whose constraint bends, no
method needs it (the default beta = 1 / 2 serves there, and not here).
"""

from __future__ import annotations

import numpy as np

from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.papers.concave_normal import ConcaveNormal
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.papers.splm.figure_1 import OURS, RADIUS, calls_of_iteration, published
from zoviz.runs.engine.columns import STATIONARITY
from zoviz.runs.run import Run
from zoviz.solvers import Solver

SIZE, SLOW = 10, 0.1
"""Variables of the experiments against T, and the step beta of the centre, chosen by hand on seeds from 0 on."""
FIRST_SEED = 4000
"""Of the reported instances and runs."""
SLOWLY, AT_ONCE, ONE = "ZOSPLM, beta = 0.1", "ZOSPLM, beta = 1", "ZOSPLM, k = 1 at the same steps"
SQUARE, LINEAR, CONSTANT = "k = n^2", "k = 5 n", "k = 5 at every n"
RESIDUAL = "mean of the squared residual"
SHARE = "mean of the squared residual over the first"
OTHERS = {"SZOConEX": -2.0 / 3.0, "ZOALM": -4.0 / 5.0, "DSZOG": -1.0 / 2.0}
"""Methods of others with the exponents of T by Table 1's eps^-3, eps^-2.5 and eps^-4."""


def solver_of(method: str, problem: ConcaveNormal, directions: int) -> Solver:
    """Return a method as published, with the steps that its rule gives for n^2 directions on the sphere."""
    solver = published(method)
    solver.estimator = Sphere(smoothing_radius=RADIUS, batch_size=problem.n**2)
    if method == OURS:
        solver.set("proximal_step", SLOW)
    for name, value in solver.from_constants(problem, problem.constants).items():
        if name in solver.open_scales():
            solver.set(name, value)
    solver.estimator = Sphere(smoothing_radius=RADIUS, batch_size=directions)
    return solver


def residuals(solver: Solver, problem: ConcaveNormal, iterations: int) -> Array:
    """Return the squared residuals (iterations,) before every iteration of a run, NaN where it diverged."""
    run = Run(problem=problem, solver=solver, seed=problem.seed, iterations=iterations)
    run.run()
    out = np.full(iterations, np.nan)
    rows = np.square(run.trace[STATIONARITY][:, 0])[:iterations]
    out[: len(rows)] = rows
    return out


class Residuals(RateExperiment):
    """Theorem 1 and Table 1: the residual of four methods against iterations."""

    first_seed = FIRST_SEED
    title = "splm Theorem 1"
    subject = "Mean of the squared residual of stationarity of ZO-SPLM and three others against iterations T"
    printed = (
        "Iterations to eps: O(eps^-2) of ZO-SPLM with k of order n^2, eps^-3 of ZO-ConEX, eps^-2.5 of ZO-ALM, eps^-4 "
        "of DSZOG; no figures."
    )
    protocol = (
        "A quadratic, n = 10, concave along the normal of a linear constraint, drawn instances and starts, k = n^2; "
        "steps by each method's rule, beta by hand on instances that are not reported."
    )
    sizes = {
        "quick": {"horizons": [200, 400, 800], "instances": 2},
        "full": {"horizons": [100, 200, 400, 800, 1600, 3200], "instances": 6},
    }
    anytime = True

    def rates(self) -> list[Rate]:
        mine, case = "ZO-SPLM takes iterations of order eps^-2", "concave along the normal"
        credited = {AT_ONCE: "not without a slow centre", ONE: "not with one direction at the same steps"}
        out = [
            Rate("Theorem 1", f"{mine}: {words}", case, RESIDUAL, -1.0, SLOWLY, name)
            for name, words in credited.items()
        ]
        out += [Rate("Table 1", f"{mine}, and {name} does not", case, RESIDUAL, -1.0, SLOWLY, name) for name in OTHERS]
        return out + [
            Rate(
                "Table 1", f"{name} takes iterations of order eps^-{-2.0 / power:.3g}", case, RESIDUAL, power, name, ""
            )
            for name, power in OTHERS.items()
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the means over the first T iterations of the squared residuals, (horizons, 1)."""
        problem = ConcaveNormal(seed=seed)
        solver = solver_of(method.split(",")[0], problem, 1 if method == ONE else SIZE**2)
        if method == AT_ONCE:
            solver.set("proximal_step", 1.0)
        squares = residuals(solver, problem, horizon)
        return {RESIDUAL: np.array([[squares[:T].mean()] for T in self.settings["horizons"]])}

    def cost(self, case: str, method: str) -> float:
        """Return the values that an iteration asks for, over those of one of ZO-SPLM."""
        directions = 1 if method == ONE else SIZE**2
        return calls_of_iteration(method, directions) / calls_of_iteration(OURS, SIZE**2)


class Directions(RateExperiment):
    """Theorem 1: the residual after equally many iterations against n, with k of order n^2."""

    first_seed = FIRST_SEED
    title = "splm Theorem 1, k"
    subject = "Mean of the squared residual of ZO-SPLM over a number of iterations, against n"
    printed = "k >= c n^2 C_0 directions serve at every n: with them iterations do not grow with n; no figures."
    protocol = (
        "A quadratic, concave along the normal of a linear constraint, whose curvatures do not depend on n, drawn "
        "instances and starts; shares of the first squared residual; the same steps for every k."
    )
    variable = "n"
    sizes = {
        "quick": {"horizons": [5, 10, 20], "instances": 2, "iterations": 100},
        "full": {"horizons": [5, 8, 12, 18, 27, 40], "instances": 8, "iterations": 100},
    }

    def rates(self) -> list[Rate]:
        says = "the residual after T iterations does not grow with n"
        return [
            Rate("Theorem 1", f"{says}, with k = n^2", "against n", SHARE, 0.0, SQUARE, CONSTANT),
            Rate("Theorem 1", f"(ours) {says}, with k = 5 n", "against n", SHARE, 0.0, LINEAR, CONSTANT),
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the share (1,) with n variables."""
        directions = {SQUARE: horizon**2, LINEAR: 5 * horizon, CONSTANT: 5}[method]
        problem = ConcaveNormal(n=horizon, seed=seed)
        squares = residuals(solver_of(OURS, problem, directions), problem, self.settings["iterations"])
        return {SHARE: squares.mean(keepdims=True) / squares[0]}
