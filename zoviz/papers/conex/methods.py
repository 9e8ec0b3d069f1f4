"""The methods that paper conex compares: SZO-ConEX as published, without its extrapolation, and Bayesian methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from zoviz.estimators import Gaussian
from zoviz.solvers.bayesian.admmbo import ADMMBO
from zoviz.solvers.bayesian.albo import ALBO, SlackAL
from zoviz.solvers.bayesian.base import BayesianSolver
from zoviz.solvers.bayesian.pesc_lite import PESCLite
from zoviz.solvers.saddle.szo_conex import SZOConEX

OURS, PLAIN = "SZO-ConEX", "SZO-ConEX, θ = 0"
"""The paper's method, and the same without extrapolation."""
RIVALS: Mapping[str, type[BayesianSolver]] = {
    "ALBO": ALBO,
    "Slack-AL": SlackAL,
    "ADMMBO": ADMMBO,
    "PESC-lite": PESCLite,
}
"""The four methods of the paper; PESC in its lite form."""


def conex(radius: float, batch: int, extrapolation: float = 1.0, **options: Any) -> SZOConEX:
    """Return SZO-ConEX as published, but with one set of directions for all functions and the last iterate as answer.

    Parameters
    ----------
    radius : float
        nu.
    batch : int
        Directions of an estimate; 1 in the paper.
    extrapolation : float
        theta; 0 for the ablation.
    **options
        Other parameters of ``SZOConEX``; steps that are not among them come from its rule.
    """
    estimator = Gaussian(smoothing_radius=radius, batch_size=batch)
    readings: dict[str, Any] = {"directions": "shared", "report": "last", "extrapolation": extrapolation}
    return SZOConEX.published(estimator=estimator, **(readings | options))
