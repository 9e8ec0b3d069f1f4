"""What the five papers print and claim, row by row, and which experiments measure it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from importlib import resources
from typing import Any, NamedTuple

from zoviz.studies.reproduction import PACKAGE, Reproduction, experiments


def _listed() -> dict[str, Any]:
    """Return what ``contents.toml`` has: the papers' titles, and for each paper its entries."""
    return tomllib.loads((resources.files(PACKAGE) / "contents.toml").read_text(encoding="utf-8"))


TITLES: Mapping[str, str] = _listed()["titles"]
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
    listed, measured = _listed(), _measured()
    rows = []
    for paper in TITLES:
        for entry in listed[paper]:
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
