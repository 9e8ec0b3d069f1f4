"""Paper zoeg, remark in §4.2: ZOEG and ZOCEG inside of proximal-point stages on nonconvex problems.

The paper derives d / eps^3 and d / eps^2 calls to an eps-KKT point: residuals of order T^(-1/3) and T^(-1/2) of the
steps. Beside each stands the method without stages, on an objective that is concave along the normal of a linear
constraint, and on the nonconvex QCQP of paper splm, whose constraint bends, so that nothing asks for stages.
"""

from __future__ import annotations

from zoviz.estimators import Coordinate, Sphere
from zoviz.papers.proximal_stages import BENT, CONCAVE, StagesExperiment
from zoviz.solvers import ZOCEG, ZOEG

RADIUS = 1e-6


def _random() -> ZOEG:
    return ZOEG(dual="estimated", estimator=Sphere(smoothing_radius=RADIUS, batch_size=10))


def _coordinates() -> ZOCEG:
    return ZOCEG(estimator=Coordinate(smoothing_radius=RADIUS), augmentation=False, restoration=0)


class ProximalPoints(StagesExperiment):
    """The remark: residuals with stages and without."""

    title = "zoeg proximal points"
    subject = "Residuals of ZOEG and ZOCEG against steps T, inside of proximal-point stages and alone"
    printed = "Calls of order d / eps^3 with ZOEG and d / eps^2 with ZOCEG to an eps-KKT point; not measured there."
    protocol = (
        "Residual of stationarity at the end over the start's, n = 10, drawn instances and starts, stages of 20 steps; "
        "every step by the methods' rules."
    )
    sizes = {
        "quick": {"cases": [CONCAVE], "horizons": [100, 400], "instances": 3},
        "full": {"cases": [CONCAVE, BENT], "horizons": [100, 180, 300, 520, 920, 1600], "instances": 8},
    }
    place = "Remark on proximal points"
    inner = {"ZOEG": (-1.0 / 3.0, _random), "ZOCEG": (-1.0 / 2.0, _coordinates)}
