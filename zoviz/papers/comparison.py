"""Exponents of T under a method and under its ablation, and the verdicts on a claim."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array

APART = 3.0
"""Standard errors by which the slopes of a method and of its ablation have to differ."""


class Slope(NamedTuple):
    """An exponent of T by a fit, with its standard error over the replicas."""

    value: float
    error: float

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the exponent, lower and upper end."""
        return self.value - 1.96 * self.error, self.value + 1.96 * self.error


class Comparison(NamedTuple):
    """Means (horizons, 2) of a measure under a method and its ablation, their exponents of T, and the verdicts.

    Attributes
    ----------
    holds : bool
        Whether the method's exponent is the theorem's or below, by its 95 % interval's lower end.
    discriminates : bool
        Whether the ablation's exponent is above the method's by more than three standard errors.
    ablation_fails : bool
        Whether the ablation's exponent is above the theorem's, by its interval.
    lower : bool
        Whether the method's mean is below the ablation's at every horizon, by more than three standard errors.
    """

    levels: Array
    method: Slope
    ablation: Slope
    holds: bool
    discriminates: bool
    ablation_fails: bool
    lower: bool


def compared(exponent: float, horizons: list[int], rows: Array) -> Comparison:
    """Return the comparison of measures (2, horizons, R), the method's first; replicas are paired.

    Exponents are fitted to the logarithms of means over replicas; errors are those of their linear parts, replica by
    replica.
    """
    logs = np.log(np.asarray(horizons, dtype=float))
    weights = (logs - logs.mean()) / np.square(logs - logs.mean()).sum()
    levels = rows.mean(axis=2)
    values = np.log(levels) @ weights
    parts = np.einsum("h,mhr->mr", weights, rows / levels[..., None])
    errors = parts.std(axis=1, ddof=1) / math.sqrt(parts.shape[1])
    method, ablation = (Slope(float(value), float(error)) for value, error in zip(values, errors, strict=True))
    differences = rows[1] - rows[0]
    margins = differences.mean(axis=1) - APART * differences.std(axis=1, ddof=1) / math.sqrt(rows.shape[2])
    apart = float((parts[1] - parts[0]).std(ddof=1)) / math.sqrt(parts.shape[1])
    return Comparison(
        levels.T,
        method,
        ablation,
        holds=method.interval[0] <= exponent,
        discriminates=ablation.value - method.value > APART * apart,
        ablation_fails=ablation.interval[0] > exponent,
        lower=bool((margins > 0.0).all()),
    )


def report(title: str, outcome: Comparison, names: tuple[str, str], exponent: float) -> None:
    """Print a comparison: means at every horizon, exponents with standard errors, and the verdicts."""
    print(f"{title}: exponent {exponent:.3f} claimed")
    for i, (name, slope) in enumerate(zip(names, (outcome.method, outcome.ablation), strict=True)):
        cells = "".join(f"{level:11.4g}" for level in outcome.levels[:, i])
        print(f"  {name:>28}{cells}   {slope.value:7.3f} ± {slope.error:.3f}")
    answers = {
        "the claim is met": outcome.holds,
        "apart by more than 3 standard errors": outcome.discriminates,
        "the ablation fails the claim": outcome.ablation_fails,
        "lower at every T": outcome.lower,
    }
    print(
        "  " + "; ".join(f"{sentence}: {'yes' if answer else 'no'}" for sentence, answer in answers.items()), flush=True
    )
