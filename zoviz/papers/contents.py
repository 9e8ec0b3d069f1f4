"""What the five papers print and claim, row by row, and which experiments measure it."""

from __future__ import annotations

import tomllib
from importlib import resources
from typing import NamedTuple

from zoviz.papers.reproduction import Reproduction, experiments

TITLES = {
    "splm": "A Zeroth-Order Primal-Dual Method for Constrained Black-Box Problem with Black-Box Convex Constraints",
    "zoeg": "A Zeroth-Order Extra-Gradient Method for Black-Box Constrained Optimization",
    "conex": "Stochastic Zeroth-order Functional Constrained Optimization: Oracle Complexity and Applications",
    "salm": "Stochastic Smoothed Primal-Dual Algorithms for Nonconvex Optimization with Linear Inequality Constraints",
    "sogd": "Stochastic Regret Guarantees for Online Zeroth- and First-Order Bilevel Optimization",
}
"""The papers by their short names."""


class Row(NamedTuple):
    """A table, a figure or a claim of a paper, and what is known of it.

    Attributes
    ----------
    paper, place, claim : str
    experiment : str
        The name on the command line of the experiment that measures it; "" where there is none yet.
    verdict : str
        The recorded one of the full size, or why there is none.
    """

    paper: str
    place: str
    claim: str
    experiment: str
    verdict: str


def contents() -> list[Row]:
    """Return a row for every claim of every experiment, and for all else that the papers print and claim.

    Returns
    -------
    list of Row
        In the order of ``contents.toml``.
    """
    text = (resources.files("zoviz.papers") / "contents.toml").read_text(encoding="utf-8")
    measured = _measured()
    rows = []
    for paper, entries in tomllib.loads(text).items():
        for entry in entries:
            place = entry["place"]
            figures = entry.get("figures")
            state = f"not converted: {figures}" if figures else "not measured"
            rows += measured.pop((paper, place), [Row(paper, place, entry["says"], "", state)])
    return rows + [row for own in measured.values() for row in own]


def _measured() -> dict[tuple[str, str], list[Row]]:
    """Return the rows of the experiments by paper and place."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for name, cls in experiments().items():
        one = cls(size="full")
        record = Reproduction.recorded(one)
        verdicts = [] if record.missing else [row["verdict"] for row in record.judged]
        for claim, verdict in zip(one.claims(), verdicts or ["not recorded"] * len(one.claims()), strict=True):
            key = one.paper(), claim.place
            rows.setdefault(key, []).append(Row(*key, claim.says, name, verdict))
    return rows
