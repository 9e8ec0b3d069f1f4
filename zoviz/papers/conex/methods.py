"""The methods that paper conex compares: SZO-ConEX as published, without its extrapolation, and Bayesian methods."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from zoviz.benchmark.paired_comparison import Decision, compare
from zoviz.core.types import Array
from zoviz.estimators import Gaussian
from zoviz.solvers.bayesian.admmbo import ADMMBO
from zoviz.solvers.bayesian.albo import ALBO, SlackAL
from zoviz.solvers.bayesian.base import BayesianSolver
from zoviz.solvers.bayesian.constrained_ei import ConstrainedEI
from zoviz.solvers.bayesian.pesc_lite import PESCLite
from zoviz.solvers.constrained.szo_conex import SZOConEX
from zoviz.solvers.step_rules import FAR

OURS, PLAIN = "SZO-ConEX", "SZO-ConEX, θ = 0"
"""The paper's method, and the same without extrapolation."""
RIVALS: Mapping[str, type[BayesianSolver]] = {
    "ALBO": ALBO,
    "Slack-AL": SlackAL,
    "ADMMBO": ADMMBO,
    "PESC-lite": PESCLite,
}
"""The four methods of the paper; PESC in its lite form."""
BASELINE: Mapping[str, type[BayesianSolver]] = {"constrained log-EI": ConstrainedEI}
"""What people use today, which the paper has not."""
ANSWERS = {
    Decision.BETTER: "yes",
    Decision.WORSE: "no, worse",
    Decision.ALIKE: "no, no difference that matters",
    Decision.CANNOT_TELL: "cannot be decided",
}
"""Verdicts on the claim that the first method of a comparison is better."""


def conex(radius: float, batch: int, extrapolation: float = 1.0, **options: Any) -> SZOConEX:
    """Return SZO-ConEX as published: constant steps, no restoration, no penalty, the same radius for every function.

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
    return SZOConEX(
        estimator=Gaussian(smoothing_radius=radius, batch_size=batch),
        extrapolation=extrapolation,
        restoration=0,
        augmentation=False,
        step_reach=FAR,
        **options,
    )


class Claim(NamedTuple):
    """That a method's losses (k,) are lower than others (k,) on the same k draws, with the sentence that says so."""

    sentence: str
    losses: Array
    others: Array


def judged(claims: Sequence[Claim], least: float, unit: str = "", seed: int = 0) -> list[str]:
    """Return a line for each of the claims of a figure or a table: the verdict, and what it rests on.

    p-values are of signed ranks and corrected for the number of claims, all of which belong into one call: k pairs
    decide nothing where that number times 2^(1 - k) is above 0.01, twelve for eighteen claims.

    Parameters
    ----------
    claims : sequence of Claim
    least : float
        The least median difference that matters, in the losses' unit.
    unit : str
        Of the losses, for the text.
    seed : int
        Of the intervals' resampling.
    """
    losses = {f"first {i}": claim.losses for i, claim in enumerate(claims)}
    losses |= {f"second {i}": claim.others for i, claim in enumerate(claims)}
    pairs = [(f"first {i}", f"second {i}") for i in range(len(claims))]
    outcomes = compare(losses, np.random.default_rng(seed), pairs, least)
    return [
        f"{claim.sentence}: {ANSWERS[one.decision]} (median difference {one.difference:.3g}{unit}, 99 % interval "
        f"{one.lower:.3g} to {one.upper:.3g}, p = {one.p_value:.2g}, {one.pairs} pairs)"
        for claim, one in zip(claims, outcomes, strict=True)
    ]


def last_crossing(calls: Array, values: Array, level: Array | float) -> Array:
    """Return the calls (R,) from which on values (rows, R) stay at or below a level; inf for never."""
    below = np.logical_and.accumulate((values <= level)[::-1], axis=0)[::-1]
    return np.where(below.any(axis=0), calls[below.argmax(axis=0), np.arange(calls.shape[1])], np.inf)


def alike(counts: Sequence[Array], ratio: float = 2.0) -> str:
    """Return the verdict on settings being alike in the calls (R,) that each takes: medians within a ratio."""
    medians = [float(np.median(one)) for one in counts]
    said = ", ".join("never" if np.isinf(one) else f"{one:.0f}" for one in medians)
    if np.isinf(medians).all():
        return f"cannot be decided, as none gets there (medians of calls: {said})"
    return f"{'reproduced' if max(medians) <= ratio * min(medians) else 'not reproduced'} (medians of calls: {said})"


def diverges(shares: Array) -> str:
    """Return the verdict on divergence by errors (R,) as shares of the start's: in nearly all trials above 1."""
    share = float((shares > 1.0).mean())
    answer = "reproduced" if share >= 0.95 else "not reproduced" if share <= 0.05 else "cannot be decided"
    return f"{answer} (above the start's in {100 * share:.0f} % of the trials, median {np.median(shares):.3g} times it)"
