"""A few steps of the proximal-point chain, with several inner solvers."""

from __future__ import annotations

from functools import partial
from typing import Any

from helpers import steps
from zoviz.estimators import Coordinate, Gaussian, Sphere
from zoviz.solvers import ZOCEG, ZOEG, Solver, SZOConEX

SEED, REPLICAS, STEP, DUAL, CAP = 6, 4, 0.03, 0.05, 100.0
WEIGHTS = {"objective_weight": 0.8, "constraint_weight": 0.3}
course = partial(steps.course, replicas=REPLICAS, seed=SEED)


def inner_solvers(**options: Any) -> dict[str, Solver]:
    common = {"primal_step": STEP, "dual_step": DUAL, "dual_cap": CAP} | options
    sphere = {"smoothing_radius": 0.05, "batch_size": 3}
    return {
        "conex": SZOConEX(**common, estimator=Gaussian(**sphere)),
        "zoceg": ZOCEG(**common, estimator=Coordinate(smoothing_radius=0.05)),
        "zoeg": ZOEG(**common, dual="estimated", estimator=Sphere(**sphere)),
        "zoeg, exact dual": ZOEG(**common, dual="exact", estimator=Sphere(**sphere)),
    }
