"""The report of the standing benchmark by hand, and the recorded one as its file gives it."""

from __future__ import annotations

import pytest

from zoviz.benchmark.standard.comparison import compared_versions
from zoviz.benchmark.standard.records import FOLDER, Cell, Part, Record
from zoviz.benchmark.standard.report import report, solver_table

CELLS = {
    "P": {
        "COBYLA": Cell([0.0] * 3, [2, 2, 0], [1.0, 2.0, None]),
        "ZOSQP": Cell([0.0] * 3, [2, 1, 0], [1.0, 30.0, None]),
    },
    "Q": {"ZOSQP": Cell([0.0] * 3, [2, 2, 2], [1.0, 3.0, 9.0])},
    "R": {"ZOSQP": Cell([1.0] * 3, [1, 0, 0], [5.0, None, None]), "COBYLA": Cell([1.0] * 3, [0, 0, 0], [None] * 3)},
}
PART = Part(dict.fromkeys("PQR", 1.0), dict.fromkeys("PQR", 0.0), CELLS, 1)
RECORD = Record("1.0", "quick", "The rule.", 20.0, 2, {"numpy": "2.0"}, dict.fromkeys("PQR", 3), {"exact values": PART})


def test_the_table_of_solvers_by_hand() -> None:
    """To 1e-3 ZOSQP solved 1, 2 and 0 of 2 replicas of three problems, COBYLA 2 and 0 of two."""
    heads, rows = solver_table(PART, 2)
    assert heads[-1] == "Fastest to 0.001 on"
    assert rows == [
        ["COBYLA (peer)", "2", "50 %", "50 %", "0 %", "1"],
        ["ZOSQP", "3", "83 %", "50 %", "33 %", "1"],
    ]


def test_weak_spots_and_the_last_version_are_told() -> None:
    text = report(RECORD, compared_versions(RECORD, RECORD._replace(version="0.9")))
    assert "| P | COBYLA | 2 | 30, 1/2 | never |" in text and "| Q |" not in text
    assert "No solver reached it on R." in text and "1 runs failed" in text
    assert "### Against version 0.9" in text and "Of 2 solvers and noises 0 are better or worse" in text


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.name)
def test_the_recorded_report_is_that_of_its_file(path: object) -> None:
    text = FOLDER.joinpath(path.name).with_suffix(".md").read_text(encoding="utf-8")
    whole = report(Record.read(path))
    assert text == whole or text.startswith(whole.rstrip() + "\n\n### Against version")
