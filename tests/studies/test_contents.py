"""The list of what the papers print and claim has each row once, and every experiment in it."""

from __future__ import annotations

import tomllib

from helpers.project import ROOT
from zoviz.studies.contents import contents
from zoviz.studies.reproduction import experiments

TEXT = tomllib.loads((ROOT / "zoviz" / "papers" / "contents.toml").read_text(encoding="utf-8"))
PAPERS = list(TEXT.pop("titles"))


def test_each_place_of_a_paper_stands_there_once_and_says_what_is_missing() -> None:
    for paper, entries in TEXT.items():
        places = [entry["place"] for entry in entries]
        assert len(places) == len(set(places)), paper
        assert all(set(entry) <= {"place", "says", "missing"} and entry["says"] for entry in entries)
    assert list(TEXT) == PAPERS == ["splm", "zoeg", "conex", "salm", "sogd"]


def test_no_experiment_replaces_a_row_and_what_is_not_measured_says_why() -> None:
    rows = contents()
    for paper, entries in TEXT.items():
        printed = [row for row in rows if row.paper == paper and not row.experiment]
        assert [(row.place, row.claim) for row in printed] == [(entry["place"], entry["says"]) for entry in entries]
        for row in printed:
            claims = [one for one in rows if (one.paper, one.place) == (paper, row.place) and one.experiment]
            assert claims or row.missing, f"{paper}, {row.place}: say why it is not measured"
            assert row.verdict.endswith(f"not measured: {row.missing}" if row.missing else row.verdict)


def test_every_claim_of_an_experiment_has_its_row() -> None:
    rows = contents()
    listed = {(row.experiment, row.place, row.claim) for row in rows}
    for name, cls in experiments().items():
        places = {entry["place"] for entry in TEXT[cls.paper()]}
        for claim in cls().claims():
            assert (name, claim.place, claim.says) in listed
            assert claim.place in places or "ours" in claim.place, (name, claim.place)
    assert all(row.verdict for row in rows)
