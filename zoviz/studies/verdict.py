"""The rules of a verdict, which the claims of all experiments pass through.

A claim's test returns evidence: by how much the claim holds in every independent draw. What follows from it is decided
here: t-intervals over draws, corrected for the number of claims of a figure; equal budgets; rates only by enough
horizons and instances, and where a line fits; and nothing is called reproduced that no ablation turns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from zoviz.core.types import Array

LEVEL = 0.05
"""Chance that any claim of a figure is decided wrongly, both ways together."""
FEWEST_DRAWS = 3
"""Independent draws below which nothing is decided."""
FEWEST_INSTANCES = 5
"""Instances below which no exponent is decided."""
FEWEST_HORIZONS = 6
"""Horizons below which no exponent is decided."""
EQUAL = 1.1
"""Ratio up to which two budgets are equal: a run ends with a whole iteration."""
LACK_LEVEL, LACK = 0.01, 0.1
"""A line does not fit where its lack of fit has at most this chance, and a mean is this far from it, in logarithms."""
MARGIN, ROUNDING = 0.1, 1e-3
"""How far above a claimed exponent an interval may reach that confirms it, and may begin that does not refute it."""


class Verdict(StrEnum):
    """The verdict on a claim."""

    YES = "reproduced"
    NO = "not reproduced"
    OPEN = "cannot be decided"


@dataclass(frozen=True)
class Evidence:
    """What the figures say of a claim on a method, before any rule.

    Attributes
    ----------
    margins : Array, shape (conditions, draws)
        By how much each condition of the claim holds in each independent draw, above 0 where it does. Replicas of an
        instance that is one of several are no independent draws: their mean is.
    figures : str
        The figures in words.
    budgets : mapping of str to float
        What each method that is compared was given, in one unit: calls, samples, rounds or seconds.
    enough, failing : float
        The claim holds where margins are above ``enough``, and fails where one is below ``failing``.
    exact : bool
        Whether nothing is random: one draw then decides.
    doubt : str
        Why nothing can be decided, whatever the margins are; "" else.
    """

    margins: Array
    figures: str
    budgets: Mapping[str, float] = field(default_factory=dict)
    enough: float = 0.0
    failing: float = 0.0
    exact: bool = False
    doubt: str = ""

    @property
    def verdict(self) -> Verdict:
        """The verdict on the method when it is the only one judged."""
        return decided([self])[0]

    @property
    def reason(self) -> str:
        """Why nothing can be decided; "" where the margins decide."""
        if self.doubt:
            return self.doubt
        if len(self.budgets) > 1 and not max(self.budgets.values()) <= EQUAL * min(self.budgets.values()):
            given = ", ".join(f"{name} {budget:,.4g}" for name, budget in self.budgets.items())
            return f"unequal budgets: {given}"
        if self.exact:
            return ""
        if not np.any(self.margins):
            return "no difference in any draw"
        draws = self.margins.shape[1]
        return f"{draws} independent draws, {FEWEST_DRAWS} are needed" if draws < FEWEST_DRAWS else ""

    def half(self) -> Evidence:
        """Return the evidence of the first half of the draws, at the same budgets."""
        return Evidence(self.margins[:, : self.margins.shape[1] // 2], self.figures, {}, self.enough, self.failing)

    def chances(self) -> tuple[float, float]:
        """Return two p-values of the margins: under "the claim does not hold", and under "it does not fail"."""
        if self.exact:
            holds = bool((self.margins >= self.enough).all())
            return float(not holds), float(holds)
        above = [_chance(row - self.enough) for row in self.margins]
        below = [_chance(self.failing - row) for row in self.margins]
        return max(above), min(1.0, len(below) * min(below))


class Judgement(NamedTuple):
    """A verdict, the figures behind it in words, and the reason where nothing can be decided."""

    verdict: Verdict
    figures: str
    reason: str = ""


def _chance(values: Array) -> float:
    """Return the chance of values (draws,) so far above 0 where their mean is at most 0, by Student's t.

    By signed ranks where some are infinite.
    """
    if values.size < 2 or np.isnan(values).any():
        return 1.0
    if not np.isfinite(values).all():
        return _chance_of_ranks(values)
    spread = float(values.std(ddof=1))
    if spread <= 1e-12 * abs(float(values.mean())):
        return float(values.mean() <= 0.0)
    return float(stats.t.sf(values.mean() / (spread / np.sqrt(values.size)), values.size - 1))


def _chance_of_ranks(values: Array) -> float:
    """Return the chance of so large a sum of the ranks of positive values (draws,) where every sign is a coin's.

    It is exact, with ties and values of 0, which have no sign. (SciPy's test computes the ranks anew for every choice
    of signs.)

    References
    ----------
    Wilcoxon (1945), Individual comparisons by ranking methods, Biometrics Bulletin 1.
    """
    values = values[values != 0.0]
    ranks = np.rint(2.0 * stats.rankdata(np.abs(values))).astype(int)  # whole numbers: a tie's are halves
    shares = np.ones(1)  # of all choices of signs, by the sum of those that are positive
    for rank in ranks:
        shares = 0.5 * (np.pad(shares, (0, rank)) + np.pad(shares, (rank, 0)))
    return float(shares[ranks[values > 0.0].sum() :].sum())


def holm(p_values: Array) -> Array:
    """Return p-values (k,) corrected for multiple testing: the chance of any false rejection is controlled.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure, Scandinavian Journal of Statistics 6.
    """
    order = np.argsort(p_values)
    factors = len(p_values) - np.arange(len(p_values))
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return corrected


def decided(evidence: Sequence[Evidence]) -> list[Verdict]:
    """Return verdicts on claims, corrected together by Holm's method; undecidable ones stay open."""
    chances = [one.chances() for one in evidence]
    open_ones = np.array([bool(one.reason) for one in evidence], dtype=bool)
    two_sided = np.array([min(1.0, 2.0 * min(pair)) for pair in chances])
    several = np.array([not one.exact for one in evidence], dtype=bool) & ~open_ones
    two_sided[several] = holm(two_sided[several])
    sure = (two_sided < LEVEL) & ~open_ones
    return [
        Verdict.OPEN if not is_sure else Verdict.NO if fails <= holds else Verdict.YES
        for is_sure, (holds, fails) in zip(sure, chances, strict=True)
    ]


def judge(pairs: Sequence[tuple[Evidence, Evidence | None]]) -> list[tuple[Judgement, Judgement | None, str]]:
    """Return the judgements on a figure's claims, each given with its ablation's evidence or None.

    Returns
    -------
    list of (Judgement, Judgement or None, str)
        On the claim, on the method without what the claim credits, and the verdict on the claim at half of the draws
        where that is another, "" else.
    """
    halves = _judge([(one.half(), None if other is None else other.half()) for one, other in pairs])
    out = []
    for (ours, without), (half, _), (one, _) in zip(_judge(pairs), halves, pairs, strict=True):
        asked = not (one.exact or ours.reason) and one.margins.shape[1] >= 2 * FEWEST_DRAWS
        out.append((ours, without, str(half.verdict) if asked and half.verdict is not ours.verdict else ""))
    return out


def _judge(pairs: Sequence[tuple[Evidence, Evidence | None]]) -> list[tuple[Judgement, Judgement | None]]:
    first = decided([ours for ours, _ in pairs])
    others = [other for _, other in pairs if other is not None]
    second = iter(decided(others))
    out: list[tuple[Judgement, Judgement | None]] = []
    for verdict, (ours, other) in zip(first, pairs, strict=True):
        without = None if other is None else Judgement(next(second), other.figures, other.reason)
        reason = ours.reason or (_ablation_says_nothing(ours, other, without) if verdict is Verdict.YES else "")
        out.append((Judgement(Verdict.OPEN if reason else verdict, ours.figures, reason), without))
    return out


def _ablation_says_nothing(ours: Evidence, other: Evidence | None, without: Judgement | None) -> str:
    """Return why a claim that holds says nothing for what it credits; "" where the ablation turns it."""
    if other is None or without is None:
        return "no ablation was run"
    together = Evidence(ours.margins, "", {**other.budgets, **ours.budgets}, exact=True)
    if together.reason:
        return together.reason
    if without.verdict is Verdict.YES:
        return "the ablation passes, too"
    if without.verdict is Verdict.OPEN and not _apart(ours.margins, other.margins):
        return "the ablation is not seen to fail"
    return ""


def _apart(ours: Array, other: Array) -> bool:
    """Return whether a condition holds by more with the idea than without, draw by draw."""
    if ours.shape != other.shape:
        return False
    return bool(len(ours) * min(_chance(mine - its) for mine, its in zip(ours, other, strict=True)) < 0.5 * LEVEL)


class Fit(NamedTuple):
    """An exponent fitted as the slope of a line through logarithms of means.

    Attributes
    ----------
    levels : Array, shape (horizons,)
        The means.
    draws : Array, shape (draws,)
        What each draw contributes: the exponent is their mean, its error theirs.
    steepest : Array, shape (draws,)
        The same of the exponent between the two neighbouring horizons between which it is least.
    off : float
        Largest distance of a mean from the line, in logarithms.
    lack : float
        Chance of means so far from a line where there is one.
    """

    levels: Array
    draws: Array
    steepest: Array
    off: float
    lack: float

    @property
    def value(self) -> float:
        """The exponent."""
        return float(self.draws.mean())

    @property
    def error(self) -> float:
        """The standard error of the exponent over the draws."""
        return float(self.draws.std(ddof=1) / np.sqrt(self.draws.size)) if self.draws.size > 1 else np.inf

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.error:.3f}"


def fit(horizons: Sequence[int], rows: Array) -> Fit:
    """Return the exponent of T by measures (horizons, draws), with the lack of fit of the line.

    A draw's contribution is the linear part of the logarithms of means in it. The lack of fit is the mean squared
    distance of means from the line over their variances, by Fisher's F.
    """
    logs = np.log(np.asarray(horizons, dtype=float))
    weights = (logs - logs.mean()) / np.square(logs - logs.mean()).sum()
    levels = rows.mean(axis=1)
    parts = np.log(levels)[:, None] + rows / levels[:, None] - 1.0
    heights = np.log(levels)
    residuals = heights - heights.mean() - (weights @ heights) * (logs - logs.mean())
    free, draws = len(logs) - 2, rows.shape[1]
    lack = 1.0
    if free > 0 and draws > 1:
        errors = parts.std(axis=1, ddof=1) / np.sqrt(draws)
        with np.errstate(divide="ignore", invalid="ignore"):
            score = float(np.nan_to_num(np.square(residuals / errors), nan=0.0).sum() / free)
        lack = float(stats.f.sf(score, free, draws - 1))
    pieces = np.diff(parts, axis=0) / np.diff(logs)[:, None]
    steepest = pieces[pieces.mean(axis=1).argmin()]
    return Fit(levels, weights @ parts, steepest, float(np.abs(residuals).max()), lack)


def falling(exponent: float, horizons: Sequence[int], rows: Array, budgets: Mapping[str, float]) -> Evidence:
    """Return the evidence that measures (horizons, instances) grow at most, or fall at least, as T^exponent.

    Where no line fits nothing is decided, but that a claim fails where even the steepest piece falls too slowly.
    """
    if not np.isfinite(rows).all():
        return Evidence(np.array([[-1.0]]), "some replicas diverge", budgets, exact=True)
    line = fit(horizons, rows)
    figures = f"{line}, claimed {exponent:.3f}; means {', '.join(f'{level:.3g}' for level in line.levels)}"
    doubt, slopes = "", line.draws
    if len(horizons) < FEWEST_HORIZONS:
        doubt = f"{len(horizons)} horizons, {FEWEST_HORIZONS} are needed for an exponent"
    elif rows.shape[1] < FEWEST_INSTANCES:
        doubt = f"instances: {rows.shape[1]}, {FEWEST_INSTANCES} are needed for an exponent"
    elif line.lack < LACK_LEVEL and line.off > LACK:
        if _chance(line.steepest - exponent - ROUNDING) <= 0.5 * LEVEL:
            slopes = line.steepest
        else:
            doubt = f"no line fits: a mean is off by {100.0 * line.off:.0f} %, p = {line.lack:.1g}"
    return Evidence(exponent - slopes[None], figures, budgets, -MARGIN, -ROUNDING, doubt=doubt)


def of_instances(rows: Array, instances: int) -> Array:
    """Return the means (..., instances) over the replicas of each instance, which are adjacent in the rows."""
    return rows.reshape(*rows.shape[:-1], instances, -1).mean(axis=-1)


def gain(mine: Array, other: Array) -> Array:
    """Return others minus losses, (..., draws) each; 0 where both are infinite, since both methods failed."""
    with np.errstate(invalid="ignore"):
        return np.nan_to_num(other - mine, nan=0.0, posinf=np.inf, neginf=-np.inf)


def row_of(ours: Judgement, without: Judgement | None, at_half: str, ablation: str) -> dict[str, Any]:
    """Return judgements in the form that a record stores."""
    row: dict[str, Any] = {"verdict": str(ours.verdict), "figures": ours.figures}
    if ours.reason:
        row["reason"] = ours.reason
    if at_half:
        row["at_half"] = at_half
    if without is not None:
        row |= {"ablation": ablation, "ablation_verdict": str(without.verdict), "ablation_figures": without.figures}
    return row


def without(row: Mapping[str, Any]) -> str:
    """Return the recorded verdict on the claim's ablation; "" if no ablation was run."""
    if "ablation" not in row:
        return ""
    return f"{row['ablation']}: {row['ablation_verdict']}, {row['ablation_figures']}"


def stated(row: Mapping[str, Any]) -> str:
    """Return a recorded verdict with its reason, and that at half of the draws where it is another."""
    said = str(row["verdict"]) + (f": {row['reason']}" if "reason" in row else "")
    return said + (f" (at half of the draws {row['at_half']})" if "at_half" in row else "")
