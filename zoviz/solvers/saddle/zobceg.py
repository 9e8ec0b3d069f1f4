"""ZOBCEG: zeroth-order block-coordinate extra-gradient."""

from __future__ import annotations

import numpy as np
import param

from zoviz.core.parameters import Part
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Constants
from zoviz.estimators import Block
from zoviz.oracle import ProblemOracle
from zoviz.problems.base import Problem
from zoviz.solvers import theorem_steps
from zoviz.solvers.published_form import Departure
from zoviz.solvers.saddle.extragradient import PACE, ExtraGradient, Field, Point
from zoviz.solvers.saddle.safeguards import Safeguards
from zoviz.solvers.step_rules import DUAL_SHARE


class ZOBCEG(ExtraGradient):
    r"""An extra-gradient method that probes and moves a random block of coordinates in each half step.

    Blocks I and J of size tau_x are drawn without replacement and independently for the two half steps, likewise for
    y with tau_y; only sampled entries of z move, from the half step's base point. tau_x + 1 oracle calls per half
    step; tau_x = n and tau_y = m give ZOCEG.

    Notes
    -----
    Under independent noise differences are central (``Block``) and 2 tau_x + 1 calls are paid per half step.
    Needs a domain that projects coordinate by coordinate (errata 39); the index sets for y are the
    corrected ones (errata 37). The paper counts 2 (tau_x + tau_y + 1) evaluations of phi per iteration (errata 42).

    References
    ----------
    Paper zoeg, Algorithm 3.
    """

    title = "ZOBCEG"
    source = "paper zoeg, Algorithm 3"
    theorems = {"4.3": theorem_steps.blocks}
    departures = (
        *ExtraGradient.departures,
        Departure("estimator.scaled", False, "differences that are scaled up by the share of a block"),
    )
    families = (Block,)
    live = (*ExtraGradient.live, "estimator.block_size")

    dual_block_size = param.Integer(
        default=None,
        allow_None=True,
        bounds=(1, None),
        label="Dual block size τ_y",
        doc="Dual variables moved in one half step; empty: all of them.",
    )

    estimator = Part(
        Block,
        default=Block(smoothing_radius=None, block_size=5, scaled=False),
        label="Estimator",
        doc="Differences on a random block.",
    )

    def unsupported_reason(self, problem: Problem) -> str | None:
        """Return a sentence for a domain that is no (product of) boxes; None otherwise."""
        if not problem.domain.separable:
            return (
                f"ZOBCEG moves single coordinates and needs a box as domain; {problem.title or type(problem).__name__} "
                f"has a {type(problem.domain).__name__}: choose ZOCEG or ZOEG."
            )
        return None

    def pace(self, n: int, m: int, directions: dict[str, str]) -> tuple[float, float, float]:
        """Return factors of both steps, the dual one slowed by tau / n since x_i moves more rarely than y; and 1."""
        # Not by pass_length: in this order of operations, recorded runs repeat to the bit.
        return PACE, DUAL_SHARE / PACE * min(self.estimator.block_size, n) / n, 1.0

    def pass_length(self, n: int) -> float:
        """Return n / tau, of blocks of tau variables."""
        return n / min(self.estimator.block_size, n)

    def noise_factor(self, constants: Constants, n: int, radius: float) -> float:
        """Return 1 + N / G^2, N the noise in a sweep of differences, G the gradient's size: blocks share both alike."""
        sigma = constants.lagrangian_noise
        sweep = self.estimator.clone()
        sweep.block_size = n
        noise = float(sweep.predicted_variance(np.zeros(1), n, sigma**2, radius)[0])
        return 1.0 + noise / constants.gradient_size(radius) ** 2

    @property
    def testable(self) -> bool:  # type: ignore[override]
        """Whether slopes are what they are, and not multiplied so that their mean over blocks is the gradient."""
        return not self.estimator.scaled

    def change(self, first: Array, second: Array) -> Array:
        """Return the change of a part of the field in the entries that both blocks hold; 0 in the others."""
        return np.where((first != 0.0) & (second != 0.0), second - first, 0.0)

    def field(self, at: Point, radius: float, safe: Safeguards, oracle: ProblemOracle, streams: Streams) -> Field:
        """Estimate the field: differences on a block of x, h(x) on one of y, 0 elsewhere."""
        x, y, value = at
        phi, slope = safe.lagrangian(y, value, radius), safe.slope(y, value.h)
        estimate = self.estimator.estimate(phi, x, oracle, streams, base=value, radius=radius)
        dual, size = slope, self.dual_block_size
        if size is not None and size < y.shape[1]:
            index, dual = streams.subset("dual blocks", y.shape[1], size)[:, 0], np.zeros_like(slope)
            np.put_along_axis(dual, index, np.take_along_axis(slope, index, axis=1), axis=1)
        return Field(estimate.gradient, dual, estimate.variance)
