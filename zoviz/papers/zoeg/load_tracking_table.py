"""The table of methods on load tracking: a row per method, and comparisons of ours with other libraries'."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

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
    calls : Array
    message : str
        How the run ended.
    seconds : float
    """

    hits: tuple[Array, ...]
    error: Array
    violation: Array
    loss: Array
    best: Array
    calls: Array
    message: str
    seconds: float

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
    return f"{middle(hits):>6} ({np.isfinite(hits).sum()}/{hits.size})"


def share(values: Array | float) -> str:
    """Return the median of ``values`` (R,) in percent as text; a dash where it is infinite."""
    median = np.median(values)
    return f"{100.0 * median:.3g} %" if np.isfinite(median) else "-"


COLUMNS = {
    "calls to 5 %": 14,
    "calls to 1 %": 14,
    "error": 9,
    "violation": 10,
    "within 1 kW": 11,
    "error within": 12,
    "loss": 9,
    "best queried": 12,
    "calls": 6,
}
"""Heads and widths."""


def line(name: str, outcome: Outcome) -> str:
    """Return one method's row of the table as text."""
    inside = int((outcome.violation <= FEASIBLE).sum())
    cells = (
        *(count(hits) for hits in outcome.hits),
        share(outcome.error),
        f"{np.median(outcome.violation):.2f} kW",
        f"{inside}/{outcome.error.size}",
        share(outcome.joint),
        share(outcome.loss),
        share(outcome.best),
        f"{np.median(outcome.calls):.0f}",
    )
    return f"{name:>13} " + " ".join(f"{cell:>{width}}" for cell, width in zip(cells, COLUMNS.values(), strict=True))


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
    outcomes: dict[str, Outcome], peers: set[str], measures: dict[str, Measure] = AT_THE_END
) -> dict[str, list[str]]:
    """Print, for every measure, our best default beside every peer; return the peers that it does not beat.

    A peer is beaten where our median is the smaller one.
    """
    ours = [name for name in outcomes if name not in peers]
    lost: dict[str, list[str]] = {}
    for measure, (words, of, show) in measures.items():
        values = {name: of(outcome) for name, outcome in outcomes.items()}
        if not ours:
            continue
        best = min(ours, key=lambda name: np.median(values[name]))
        print(f"{words}: our best default is {best} with {show(values[best])}")
        lost[measure] = []
        for name in outcomes:
            if name in peers:
                beaten = bool(np.median(values[best]) < np.median(values[name]))
                lost[measure] += [] if beaten else [name]
                print(
                    f"  {name:>11} {'beaten' if beaten else 'NOT beaten'}: {compare(values[best], values[name], show)}"
                )
    return lost
