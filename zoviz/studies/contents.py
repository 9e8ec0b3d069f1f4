"""What the five papers print and claim, row by row, and which experiments measure it."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from importlib import resources
from typing import Any, NamedTuple

from zoviz.studies.reproduction import PACKAGE, Reproduction, experiments
from zoviz.studies.verdict import stated, without


def _listed() -> dict[str, Any]:
    """Return what ``contents.toml`` has: the papers' titles, and for each paper its entries."""
    return tomllib.loads((resources.files(PACKAGE) / "contents.toml").read_text(encoding="utf-8"))


TITLES: Mapping[str, str] = _listed()["titles"]
"""The papers by their short names."""


class Row(NamedTuple):
    """A printed cell, curve, theorem or claim of a paper, or an experiment's claim on it, and what is known of it.

    Attributes
    ----------
    paper, place, claim : str
    experiment : str
        The name on the command line of the experiment whose claim it is; "" for what the paper prints.
    verdict : str
        The recorded one of the full size, with the reason where nothing can be decided; of what the paper prints, how
        many claims on it have which, and what is not measured and why.
    missing : str
        What is not measured of what the paper prints, and why; "" where nothing is missing.
    figures, without : str
        What was measured of an experiment's claim, and what the same test says without what the claim credits.
    """

    paper: str
    place: str
    claim: str
    experiment: str
    verdict: str
    missing: str = ""
    figures: str = ""
    without: str = ""


def contents() -> list[Row]:
    """Return a row for each thing the papers print or claim, followed by the experiments' claims on it.

    Returns
    -------
    list of Row
        In the order of ``contents.toml``; what experiments claim beside the papers stands last.
    """
    listed, measured = _listed(), _measured()
    rows = []
    for paper in TITLES:
        for entry in listed[paper]:
            place, missing = entry["place"], entry.get("missing", "")
            own = measured.pop((paper, place), [])
            state = ", ".join(f"{count} {verdict}" for verdict, count in Counter(map(_short, own)).items())
            parts = [state] if state else []
            parts += [f"not measured: {missing}"] if missing else []
            rows += [Row(paper, place, entry["says"], "", "; ".join(parts), missing), *own]
    return rows + [row for own in measured.values() for row in own]


def _short(row: Row) -> str:
    return row.verdict.split(":")[0].split(" (")[0]


def _measured() -> dict[tuple[str, str], list[Row]]:
    """Return the rows of the experiments' claims by paper and place."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for name, cls in experiments().items():
        one = cls(size="full")
        record = Reproduction.recorded(one)
        claims = one.claims()
        said = [("not recorded", "", "", "")] * len(claims)
        if not record.missing:
            said = [(stated(row), "", row["figures"], without(row)) for row in record.judged]
        for claim, words in zip(claims, said, strict=True):
            key = one.paper(), claim.place
            rows.setdefault(key, []).append(Row(*key, claim.says, name, *words))
    return rows
