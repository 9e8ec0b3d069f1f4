"""Paper conex, Fig. 2: the proximal-point meta-algorithm with K = 50 stages on the nonconvex QCQP, by KKT residual.

Both quadratics are indefinite. The figure's "norm of the gradient of the objective" says nothing of a constrained
problem: the KKT residual stands here, the largest of the projected gradient of the Lagrangian, the violation and the
complementarity, at the multiplier y >= 0 for which it is least, so that methods with other multipliers, or none, are
judged alike. Courses are at a run's own multipliers, where it is no smaller.
"""

from __future__ import annotations

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.papers.conex.methods import OURS, PLAIN, RIVALS, conex
from zoviz.papers.conex.radii import BATCH, RADII, SMALL, Course, OverRadii, with_radius
from zoviz.problems import ConexQCQP
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import CALLS, STATIONARITY, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.solvers.saddle.proximal_point import ProximalPoint

STAGES = 50
"""K."""
WITHOUT = f"{OURS} without stages"
_HALVINGS = 60


def least_residual(problem: Problem, x: Array) -> Array:
    """Return the KKT residual (R,) at x (R, n) of a problem with one constraint, at the multiplier where it is least.

    Up to the multiplier with the shortest gradient of the Lagrangian that gradient shrinks and the complementarity
    grows: the larger of them is least where they cross, found by bisection. Bounds must not be active there.
    """
    value, gradients = problem.value_and_gradient(x)
    if gradients is None:
        raise ValueError(f"Expected a problem with gradients, got {type(problem).__name__} without.")
    slope, rows, h = *gradients, value.h
    row = rows[:, 0]

    def parts(y: Array) -> tuple[Array, Array]:
        step = problem.domain.project(x - slope - y[:, None] * row) - x
        return np.linalg.norm(step, axis=1), np.abs(y * h[:, 0])

    low = np.zeros(len(x))
    high = np.maximum(-(slope * row).sum(axis=1) / np.maximum(np.square(row).sum(axis=1), 1e-300), 0.0)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        gradient, complementarity = parts(middle)
        short = gradient > complementarity
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    return np.maximum(np.maximum(*parts(high)), np.maximum(h[:, 0], 0.0))


def chain(radius: float, calls: int, extrapolation: float = 1.0) -> ProximalPoint:
    """Return the meta-algorithm with K stages that share a budget of calls, around SZO-ConEX as published."""
    per_step = 3 * BATCH + 2
    inner = conex(radius, BATCH, extrapolation, directions="separate")
    return ProximalPoint(stages=STAGES, stage_length=max(1, calls // (STAGES * per_step)), inner=inner)


class NonconvexStages(OverRadii):
    """Fig. 2."""

    title = "conex Fig. 2"
    subject = "KKT residual of the meta-algorithm around SZO-ConEX on the nonconvex QCQP, beside Bayesian methods"
    printed = (
        "Curves against oracle calls for K = 50, the laws, radii and trials of Fig. 1, no numbers; claims: better than "
        "ALBO, Slack-AL, ADMMBO and PESC, robust to small radii, diverges for large ones."
    )
    protocol = (
        "ConexQCQP with indefinite matrices; least KKT residual over multipliers as a share of the start's; 50 stages "
        "share the calls; else as Fig. 1. No setting was tried for any method."
    )
    sizes = {
        "quick": {
            "panels": [[8, "normal", "common"]],
            "replicas": 8,
            "calls": 8000,
            "rivals": 2,
            "rival_calls": 24,
        },
        "full": {
            "panels": [[200, "normal", "common"]],
            "replicas": 20,
            "calls": 40_000,
            "rivals": 14,
            "rival_calls": 30,
        },
    }
    place = "Fig. 2"
    convex = False
    near = 0.1
    measure_of_error = "KKT residual, share of the start's"
    ideas = {
        "the extrapolation makes": with_radius(PLAIN, SMALL[0]),
        "proximal stages make": with_radius(WITHOUT, SMALL[0]),
    }

    def solvers(self) -> dict[str, Solver]:
        """Return the meta-algorithm with every radius, without extrapolation, and SZO-ConEX without stages."""
        calls = self.settings["calls"]
        out: dict[str, Solver] = {with_radius(OURS, radius): chain(radius, calls) for radius in RADII}
        out[with_radius(PLAIN, SMALL[0])] = chain(SMALL[0], calls, 0.0)
        out[with_radius(WITHOUT, SMALL[0])] = conex(SMALL[0], BATCH, directions="separate")
        return out

    def course(self, problem: ConexQCQP, run: Run) -> Course:
        """Return a run's residuals by rows, and those of its answers at its end and after a Bayesian method's calls."""
        start = starts(problem, run.replicas)
        error = np.nan_to_num(run.trace[STATIONARITY], nan=np.inf) / start
        short = run if run.label in RIVALS else self.run(problem, run.label, calls=self.settings["rival_calls"])
        end, early = (residuals(problem, one.result.x) / start for one in (run, short))
        return Course(run.trace[CALLS], error, run.trace[VIOLATION], end, early)


def residuals(problem: ConexQCQP, x: Array) -> Array:
    """Return the least KKT residuals (R,) at x (R, n); inf where a run ran away."""
    with np.errstate(all="ignore"):
        return np.nan_to_num(least_residual(problem, x), nan=np.inf)


def starts(problem: ConexQCQP, replicas: int) -> Array:
    """Return the KKT residuals (R,) of the trials' starts."""
    return least_residual(problem, problem.initial(Streams(problem.seed, replicas)))
