"""Experiments on proximal-point stages: a convex problem's method inside of them, and the same without."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.concave_normal import ConcaveNormal
from zoviz.papers.rate_experiment import Rate, RateExperiment
from zoviz.problems import NonconvexQCQP
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import ITERATION, STATIONARITY
from zoviz.runs.run import Run
from zoviz.solvers import ProximalPoint, Solver

SIZE = 10
FIRST_SEED = 5000
"""Of the reported instances and runs: they were tried by hand on seeds from 0 on."""
CONCAVE, BENT = "concave along the normal", "nonconvex QCQP"
CASES: Mapping[str, type[Problem]] = {CONCAVE: ConcaveNormal, BENT: NonconvexQCQP}
RESIDUAL = "residual"


def residuals(problem: Problem, solver: Solver, seed: int, horizons: Sequence[int]) -> Array:
    """Return the residuals (horizons,) after iterations of a run over its start's; NaN once it has diverged."""
    run = Run(problem=problem, solver=solver, seed=seed, iterations=horizons[-1])
    run.run()
    values = run.trace[STATIONARITY][:, 0]
    after = dict(zip(run.trace[ITERATION].tolist(), (values / values[0]).tolist(), strict=True))
    return np.array([after.get(T, np.nan) if T <= run.result.nit else np.nan for T in horizons])


class StagesExperiment(RateExperiment):
    """An experiment on the residual after T steps in stages, on drawn instances.

    A subclass has ``place`` and ``inner``: for each method the exponent of T that is claimed with stages, and what
    makes it.
    """

    __abstract = True

    place: ClassVar[str]
    inner: ClassVar[Mapping[str, tuple[float, Any]]]
    anytime = True
    first_seed = FIRST_SEED

    def rates(self) -> list[Rate]:
        return [
            Rate(
                self.place,
                f"{name} in stages comes to a KKT point in iterations of order eps^{1.0 / power:g}: {case}",
                case,
                RESIDUAL,
                power,
                f"{name} in stages",
                f"{name} alone",
            )
            for case in self.settings["cases"]
            for name, (power, _) in self.inner.items()
        ]

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the residuals (horizons, 1) after every T, as shares of the first."""
        name, _, how = method.partition(" ")
        solver = self.inner[name][1]()
        if how == "in stages":
            solver = ProximalPoint(inner=solver)
        return {RESIDUAL: residuals(CASES[case](n=SIZE, seed=seed), solver, seed, self.settings["horizons"])[:, None]}
