"""The table of methods on load tracking: a row per method, and comparisons of ours with other libraries'."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np

from zoviz.core.types import Array

LEVELS = (0.05, 0.01)
FEASIBLE = 1.0
"""Violation in kW up to which a point counts."""


class Outcome(NamedTuple):
    """The figures of one method, every array of shape (R,).

    Attributes
    ----------
    hits : tuple of Array
        Calls until each level was met, infinite where it never was.
    error, violation, loss : Array
        Of the reported point at the end; the loss is (f - f* + lambda* violation) / f*.
    best : Array
        Error of the best feasible point that was queried, infinite where there is none.
    spent : Array
        Calls.
    message : str
        How the run ended.
    """

    hits: tuple[Array, ...]
    error: Array
    violation: Array
    loss: Array
    best: Array
    spent: Array
    message: str

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Self:
        """Return the figures of a trial as arrays."""
        arrays = {name: np.array(row[name]) for name in ("error", "violation", "loss", "best", "spent")}
        return cls(tuple(np.array(hit) for hit in row["hits"]), **arrays, message=row["message"])

    @property
    def joint(self) -> Array:
        """The error of the reported point, (R,), infinite where it violates by more than 1 kW."""
        return np.where(self.violation <= FEASIBLE, self.error, np.inf)


def middle(values: Array) -> str:
    """Return the median of ``values`` (R,) as text; a dash where it is infinite."""
    median = np.median(values)
    return f"{median:.0f}" if np.isfinite(median) else "-"


def count(hits: Array) -> str:
    """Return the median of first hits (R,) as text, and how many replicas have one."""
    return f"{middle(hits)} ({np.isfinite(hits).sum()}/{hits.size})"


def share(values: Array | float) -> str:
    """Return the median of ``values`` (R,) in percent as text; a dash where it is infinite."""
    median = np.median(values)
    return f"{100.0 * median:.3g} %" if np.isfinite(median) else "-"


def line(outcome: Outcome) -> dict[str, str]:
    """Return one method's figures as text, by the heads of the table."""
    inside = int((outcome.violation <= FEASIBLE).sum())
    return {
        **{f"calls to {100 * level:g} %": count(hits) for level, hits in zip(LEVELS, outcome.hits, strict=True)},
        "error": share(outcome.error),
        "violation": f"{np.median(outcome.violation):.2f} kW",
        "within 1 kW": f"{inside}/{outcome.error.size}",
        "error within": share(outcome.joint),
        "loss": share(outcome.loss),
        "best queried": share(outcome.best),
        "spent": f"{np.median(outcome.spent):.0f}",
    }


class Measure(NamedTuple):
    """A measure by which two methods are compared, the smaller the better.

    Attributes
    ----------
    words : str
    of : callable
        From an outcome to values (R,).
    show : callable
        From values to their median as text.
    """

    words: str
    of: Callable[[Outcome], Array]
    show: Callable[[Array], str] = share


def _calls(i: int, level: float) -> Measure:
    return Measure(f"calls to {100 * level:g} %", lambda outcome: outcome.hits[i], middle)


AT_THE_END = {
    "joint": Measure("error within 1 kW", lambda outcome: outcome.joint),
    "loss": Measure("loss", lambda outcome: outcome.loss),
    "best": Measure("best feasible point queried", lambda outcome: outcome.best),
}
ON_THE_WAY = {f"calls {level:g}": _calls(i, level) for i, level in enumerate(LEVELS)}


def compare(mine: Array, its: Array, show: Callable[[Array], str] = share) -> str:
    """Return as text two methods' medians of values (R,), how often each is smaller, and the mean difference.

    The mean of the differences, with its standard error, where all of them are finite.
    """
    common = min(mine.size, its.size)
    a, b = mine[:common], its[:common]
    sentence = f"{show(mine)} against {show(its)}, smaller in {(a < b).sum()} and larger in {(a > b).sum()} of {common}"
    if common < 2 or not np.isfinite(a).all() or not np.isfinite(b).all():
        return sentence
    error = float(np.std(a - b, ddof=1) / np.sqrt(common))
    return f"{sentence}, on average by {show(np.array(np.mean(a - b)))} +- {show(np.array(error))}"


def verdicts(
    outcomes: Mapping[str, Outcome], peers: set[str], measures: Mapping[str, Measure] = AT_THE_END
) -> list[tuple[str, ...]]:
    """Return for every measure our best default beside every peer.

    Returns
    -------
    list of tuple of str
        Measure, our method with its median, peer, whether it is beaten: our median is the smaller one; and both.
    """
    lines: list[tuple[str, ...]] = []
    for words, of, show in measures.values() if outcomes.keys() - peers else ():
        values = {name: of(outcome) for name, outcome in outcomes.items()}
        best = min((name for name in outcomes if name not in peers), key=lambda name: np.median(values[name]))
        for name in outcomes:
            if name in peers:
                beaten = "yes" if np.median(values[best]) < np.median(values[name]) else "no"
                lines.append((words, best, name, beaten, compare(values[best], values[name], show)))
    return lines
