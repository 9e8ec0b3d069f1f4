"""Paper conex, Theorem 3.1: the error of SZO-ConEX's averaged iterate on convex problems against the iterations T.

With steps of order T^(-1/2), f(x) - f* and ||[h(x)]_+|| of the average are of order T^(-1/2), so that calls to eps are
of order n / eps^2. Beside it stand the same steps at every T, which leave what random directions do not average out.

The error is f(x) - f* + 2 y* [h(x)]_+, which is 0 at the optimum only, over that of the start.
"""

from __future__ import annotations

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.papers.conex.methods import conex
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.problems import ConexQCQP
from zoviz.runs.run import Run

FALLING, SAME = "steps of order T^(-1/2)", "the same steps at every T"
ERROR = "error of the average"
RADIUS, SIZE = 1e-4, 10
PRIMAL, DUAL, SHORTER = 2.0, 2.0, 0.15
"""Steps at the least T, in 1 / (L_f + L_h) over the n that one direction costs, and in L_f / (n G_0^2), and the
share of both that is taken against n; by hand."""
FIRST_SEED = 6000
"""Of the reported instances and runs: steps were looked at on seeds from 0 on."""


def errors_of(problem: ConexQCQP, x: Array) -> Array:
    """Return f - f* + 2 y* [h]_+ (R,) at x (R, n).

    Raises
    ------
    ZovizError
        Where the instance's optimum is not certified.
    """
    optimum = problem.known_optimum
    if optimum is None:
        raise ZovizError(f"Expected an instance whose optimum is certified, got none for seed {problem.seed}.")
    values = problem.evaluate(x)
    return values.f - optimum.value + 2.0 * optimum.multipliers[0] * np.maximum(values.h[:, 0], 0.0)


def error_after(problem: ConexQCQP, iterations: int, scale: float) -> float:
    """Return the averaged iterate's error over the start's, NaN where the run diverges."""
    constants = problem.data.constants
    curvature = constants.curvature + constants.constraint_curvature
    solver = conex(
        RADIUS,
        1,
        directions="separate",
        report="average",
        primal_step=scale * PRIMAL / (problem.n * curvature),
        dual_step=scale * DUAL * constants.curvature / (problem.n * constants.start_slope**2),
    )
    run = Run(problem=problem, solver=solver, seed=problem.seed, iterations=iterations)
    start = errors_of(problem, problem.initial(Streams(problem.seed, 1)))
    run.run()
    return float(errors_of(problem, run.result.x)[0] / start[0]) if run.result.nit == iterations else np.nan


class AveragedError(RateExperiment):
    """Theorem 3.1: the error of the average with steps that fall with T, and with the same."""

    first_seed = FIRST_SEED
    title = "conex Theorem 3.1"
    subject = "Error of SZO-ConEX's averaged iterate on the convex QCQP against the iterations T"
    printed = "f - f* and ||[h]_+|| of the average of order T^(-1/2), calls of order (m + 1) n / eps^2; no figures."
    protocol = (
        "ConexQCQP, convex, n = 10, drawn instances and starts, one direction for each function; steps at the least T "
        "by hand, on instances that are not reported."
    )
    sizes = {
        "quick": {"horizons": [400, 1600], "instances": 4},
        "full": {"horizons": [400, 696, 1213, 2111, 3676, 6400], "instances": 10},
    }

    def rates(self) -> list[Rate]:
        says = "calls of order 1 / eps^2: the average's error falls as T^(-1/2)"
        return [Rate("Theorem 3.1", says, "convex QCQP", ERROR, -1.0 / 2.0, FALLING, SAME)]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the error (1,) after T iterations, as a share of the first."""
        scale = (self.settings["horizons"][0] / horizon) ** 0.5 if method == FALLING else 1.0
        return {ERROR: np.array([error_after(ConexQCQP(n=SIZE, seed=seed), horizon, scale)])}


class AveragedErrorBySize(RateExperiment):
    """Theorem 3.1: the error of the average after iterations of order n, against n."""

    first_seed = FIRST_SEED
    title = "conex Theorem 3.1, n"
    subject = "Error of SZO-ConEX's averaged iterate on the convex QCQP after iterations of order n, against n"
    printed = "Calls of order (m + 1) n / eps^2: at calls of order n the error stays; no figures."
    protocol = (
        "ConexQCQP, convex, drawn instances and starts, 60 n iterations, one direction for each function; steps of "
        "order 1 / n by hand, on instances that are not reported."
    )
    variable = "n"
    sizes = {
        "quick": {"horizons": [5, 20], "instances": 4},
        "full": {"horizons": [5, 7, 10, 14, 20, 28, 40], "instances": 10},
    }

    def rates(self) -> list[Rate]:
        says = "calls of order n: after them the average's error does not grow with n"
        return [Rate("Theorem 3.1", says, "against n", ERROR, 0.0, "iterations of order n", "as many at every n")]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the error (1,) with n variables, as a share of the first."""
        size = horizon if method == "iterations of order n" else self.settings["horizons"][0]
        return {ERROR: np.array([error_after(ConexQCQP(n=horizon, seed=seed), 60 * size, SHORTER)])}
