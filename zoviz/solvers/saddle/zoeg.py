"""ZOEG: zeroth-order extra-gradient with a joint two-point estimate of the saddle function."""

from __future__ import annotations

from typing import Any

import numpy as np

from zoviz.core.parameters import Part
from zoviz.core.streams import Streams
from zoviz.core.types import Constants, Evaluation, ExactValues
from zoviz.estimators import CentralSphere, Gaussian, GradientEstimator, Sphere
from zoviz.estimators.known_part import estimated, saddle
from zoviz.estimators.scalars import Lagrangian, objective
from zoviz.oracle import ProblemOracle
from zoviz.problems.base import Problem
from zoviz.solvers import theorem_steps
from zoviz.solvers.published_form import ALONG_COORDINATES, SEVERAL_DIRECTIONS, Departure
from zoviz.solvers.saddle.extragradient import ExtraGradient, Field, Point
from zoviz.solvers.saddle.safeguards import Safeguards
from zoviz.solvers.step_rules import (
    dual_of,
    dual_parameter,
    joint_target,
    takes_exact_slope,
)
from zoviz.solvers.theory import Info, Target

_PACE, _DUAL_PACE = 0.5, 0.2
"""Primal and dual step in units of what a noiseless field would bear, about half of it (chosen by us)."""
_STEADY_SHARE = 0.1
"""Share of sqrt(k) / G_0 that an estimated dual part's step is bounded by (chosen by us)."""


class ZOEG(ExtraGradient):
    r"""An extra-gradient method whose field comes from one random direction in R^(n + m) per half step.

    .. math:: \hat F(z) = \frac{d}{r}[\varphi(z + r v) - \varphi(z)]\,\tilde v, \qquad v \sim U(\mathbb S^{d-1}),
              \quad d = n + m,\ \tilde v = (v_x, -v_y)

    4 oracle calls per iteration with one direction; k directions are averaged. ``dual="exact"`` perturbs x only and
    takes grad_y phi = h(x), a value that is already paid for: less noise at the same cost. The rule takes it where it
    chooses the step; with steps that are given joint directions are the default, as published.

    Notes
    -----
    The exact dual part is ours (errata 43); the sign vector and the missing parenthesis of the paper's (8)
    are put right (errata 44).

    References
    ----------
    Paper zoeg, Algorithm 1.
    """

    title = "ZOEG"
    source = "paper zoeg, Algorithm 1"
    theorems = {"3.1": theorem_steps.random_directions}
    departures = (
        *ExtraGradient.departures,
        ALONG_COORDINATES,
        SEVERAL_DIRECTIONS,
        Departure("dual", "estimated", "the exact slope in y"),
    )
    families = (Sphere, Gaussian, CentralSphere)
    longest = 10.0  # as for ZOCEG
    dual = dual_parameter()
    estimator = Part(GradientEstimator, default=Sphere(smoothing_radius=None, batch_size=10))

    def directions(self, problem: Problem, constants: Constants) -> dict[str, str]:
        """Return whether directions, in x alone, become coordinates: where values repeat, unless that is set."""
        return self.directions_of(problem, constants) if takes_exact_slope(self) else {}

    def pace(self, n: int, m: int, directions: dict[str, str]) -> tuple[float, float, float]:
        """Return factors of the primal and the dual step, half of the longest stable ones of exact fields, and 1 + v.

        v = (n - 1) / k for the sphere with an exact slope in y, (n + m - 1) / k without, n / k - 1 for a block of
        coordinates; a sweep of them is exact.
        """
        if "sweep" in directions.values():
            return super().pace(n, m, directions)
        return _PACE, _DUAL_PACE, 1.0 + self.variance_along(directions, n if takes_exact_slope(self) else n + m)

    @property
    def testable(self) -> bool:  # type: ignore[override]
        """Whether fields are exact: a sweep of the coordinates in x, and h(x) along y."""
        return self.dual == "exact" and self.estimator.directions == "sweep"

    @property
    def needs_saddle_point(self) -> bool:
        """Whether directions are joint: these see no constraint by itself, which a penalty would take."""
        return not takes_exact_slope(self)

    def from_constants(self, problem: Problem, constants: Constants) -> dict[str, Any]:
        """Return the family's steps, with eta_y at most 0.1 sqrt(k) / G_0 where the dual part is estimated.

        Notes
        -----
        Feasibility has no turn of its own, and there is no penalty, where directions are joint: these see no violation
        without its objective.
        Ours: the estimate of grad_y phi errs by ||grad_x phi|| / sqrt(k), of which y itself makes up to y G_0: with a
        longer step a large y keeps itself large.
        """
        values = super().from_constants(problem, constants) | dual_of(self)
        if values.get("estimator.directions") != "sweep":
            values.pop("contraction", None)
        if not takes_exact_slope(self):
            for name in ("restoration", "augmentation"):
                values.pop(name, None)
            steady = _STEADY_SHARE * self.estimator.batch_size**0.5 / constants.safe_start_slope
            values["dual_step"] = min(values["dual_step"], steady)
        return values

    def field(self, at: Point, radius: float, safe: Safeguards, oracle: ProblemOracle, streams: Streams) -> Field:
        """Estimate the field of the saddle function, by two points in (x, y) or with the exact dual part."""
        x, y, value = at
        if self.dual == "exact":
            phi = safe.lagrangian(y, value, radius)
            estimate = estimated(self.estimator, phi, x, oracle, streams, base=value, radius=radius)
            return Field(estimate.gradient, safe.slope(y, value.h), estimate.variance)
        z, n = np.concatenate([x, y], axis=1), x.shape[1]
        base = Evaluation(Lagrangian(y)(value), value.h)
        estimate = estimated(self.estimator, objective, z, saddle(oracle), streams, base=base, radius=radius)
        return Field(estimate.gradient[:, :n], estimate.gradient[:, n:], estimate.variance)

    def estimate_variance(self, n: int, m: int) -> float:
        """Return the relative variance of the field, whose part in y is estimated too where that is not exact."""
        return self.relative_variance(n if self.dual == "exact" else n + m)

    def target(self, problem: Problem, info: Info, exact: ExactValues | None = None) -> Target | None:
        """Return the magnitudes of the Lagrangian in x, or of the saddle function in (x, y), for theory."""
        target = super().target(problem, info, exact)
        return target if self.dual == "exact" else joint_target(target, problem, info)
