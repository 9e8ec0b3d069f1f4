"""Comparison of two methods by pairs of runs on the same problems and seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.studies.verdict import holm

LEVEL = 0.01
"""Probability of calling two equal methods different; at 0.05 one self-comparison of 20 would."""
_RESAMPLES = 2000
_FEWEST = 8
"""Pairs that differ, below which the test of signed ranks cannot reach ``LEVEL``: k pairs give 2^(1 - k) at best."""


class Decision(StrEnum):
    """The verdict of a paired comparison on its first method."""

    BETTER = "better"
    WORSE = "worse"
    CANNOT_TELL = "cannot tell"
    TOO_FEW = "too few pairs"
    """Fewer pairs differ than the test needs to reach its level, whatever they say."""


class Comparison(NamedTuple):
    """The paired difference of two methods.

    Attributes
    ----------
    first, second : str
    pairs : int
    lower_pairs, higher_pairs : int
        Pairs in which the first's loss is the lower, and the higher one.
    difference : float
        Median of the first's losses minus the second's.
    lower, upper : float
        Ends of the interval of that median, by the bootstrap.
    p_value : float
        Of Wilcoxon's signed ranks; corrected by Holm where it is one of several.
    decision : Decision
    """

    first: str
    second: str
    pairs: int
    lower_pairs: int
    higher_pairs: int
    difference: float
    lower: float
    upper: float
    p_value: float
    decision: Decision

    @property
    def verb(self) -> str:
        """The words between the names of the two methods."""
        words = {
            Decision.BETTER: "is better than",
            Decision.WORSE: "is worse than",
            Decision.TOO_FEW: "has too few pairs for a test against",
        }
        return words.get(self.decision, "shows no significant difference from")

    @property
    def evidence(self) -> str:
        """The figures behind the decision, in words."""
        if self.decision is Decision.TOO_FEW:
            differing = self.lower_pairs + self.higher_pairs
            counted = f"{self.pairs} pair{'s' * (self.pairs != 1)}"
            counted += "" if differing == self.pairs else f", of which {differing} differ"
            return f"{counted}: too few to test, {_FEWEST} are needed; better in {self.lower_pairs} of {self.pairs}"
        if not self.lower_pairs + self.higher_pairs:
            return f"equal in all {self.pairs} pairs"
        if np.isinf(self.difference):
            without = self.second if self.difference < 0 else self.first
            middle = f"{without} has no value in half of the pairs or more"
        else:
            ends = [f"{end:.2g}".replace("inf", "∞") for end in (self.lower, self.upper)]
            middle = f"median difference {self.difference:.2g} ({' to '.join(ends)})"
        return f"{middle}, better in {self.lower_pairs} of {self.pairs} pairs, p = {self.p_value:.2g}"


def compare(
    losses: Mapping[str, Array],
    generator: np.random.Generator,
    pairs: Sequence[tuple[str, str]] | None = None,
) -> list[Comparison]:
    """Compare methods by their losses on the same problems and seeds, corrected for the number of comparisons.

    Parameters
    ----------
    losses : mapping of str to Array, shape (k,)
        Of each method, in one order of problems and seeds; +inf where it failed, and a pair in which both failed is
        a tie. Runs of one problem are no independent draws: give one number for each problem where there are several.
    generator : numpy.random.Generator
        For the interval.
    pairs : sequence of (str, str), optional
        Names to compare; default: all pairs.

    Raises
    ------
    ValueError
        For a pair of methods with unequally many losses.
    """
    names = list(combinations(losses, 2)) if pairs is None else list(pairs)
    for first, second in names:
        sizes = len(losses[first]), len(losses[second])
        if sizes[0] != sizes[1]:
            raise ValueError(
                f"Expected as many losses of {first} as of {second}, got {sizes[0]} and {sizes[1]}: compare common "
                "problems."
            )
    differences = [_difference(losses[first], losses[second]) for first, second in names]
    p_values = holm(np.array([_p_value(_signed_ranks(one)) for one in differences]))
    return [
        _comparison(first, second, one, float(p), generator)
        for (first, second), one, p in zip(names, differences, p_values, strict=True)
    ]


def _difference(first: Array, second: Array) -> Array:
    """Return differences (k,); a pair in which both are infinite is a tie."""
    with np.errstate(invalid="ignore"):
        difference = np.asarray(first, dtype=float) - np.asarray(second, dtype=float)
    return np.where(np.isnan(difference), 0.0, difference)


def _signed_ranks(difference: Array) -> Array:
    """Return the ranks (k,) of the differences' sizes with their signs: a failure's is the largest."""
    from scipy.stats import rankdata

    return np.where(difference == 0.0, 0.0, np.sign(difference) * rankdata(np.abs(difference)))


def _p_value(signed_ranks: Array) -> float:
    from scipy.stats import wilcoxon

    if np.count_nonzero(signed_ranks) < _FEWEST:
        return 1.0
    return float(wilcoxon(signed_ranks, zero_method="pratt").pvalue)


def _comparison(first: str, second: str, difference: Array, p: float, generator: np.random.Generator) -> Comparison:
    k = len(difference)
    draws = difference[generator.integers(k, size=(_RESAMPLES, k))]
    medians = np.quantile(draws, 0.5, axis=1, method="inverted_cdf")  # no mean of an infinite and a finite one
    lower, upper = np.quantile(medians, [LEVEL / 2.0, 1.0 - LEVEL / 2.0], method="inverted_cdf")
    centre = float(np.quantile(difference, 0.5, method="inverted_cdf"))
    lower_is_first = _signed_ranks(difference).sum() < 0.0
    lower_pairs, higher_pairs = int((difference < 0.0).sum()), int((difference > 0.0).sum())
    if 0 < lower_pairs + higher_pairs < _FEWEST:
        decision = Decision.TOO_FEW
    elif p >= LEVEL:
        decision = Decision.CANNOT_TELL
    else:
        decision = Decision.BETTER if lower_is_first else Decision.WORSE
    return Comparison(first, second, k, lower_pairs, higher_pairs, centre, float(lower), float(upper), p, decision)
