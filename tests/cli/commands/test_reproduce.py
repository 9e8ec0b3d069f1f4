"""The command ``zoviz reproduce``: lists, measures what is missing, and says where a verdict has changed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from zoviz.cli.command import CHANGED, FAILED, FINE, MISUSED
from zoviz.cli.main import main
from zoviz.core.durations import duration
from zoviz.core.errors import MissingExtra
from zoviz.papers.sogd.product_variance import ProductVariance
from zoviz.papers.sogd.single_level import Remark44
from zoviz.studies import planning
from zoviz.studies.experiment import Figures
from zoviz.studies.reproduction import Reproduction

NAME = "sogd-remark-4-4"


def test_the_list_has_every_experiment(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "--list", "--json"]) == FINE
    rows = json.loads(capsys.readouterr().out)
    assert {"salm-table-1", NAME, "sogd-fig-2", "sogd-fig-3"} <= {row["experiment"] for row in rows}
    assert {row["paper"] for row in rows} == {"splm", "zoeg", "conex", "salm", "sogd"}
    words = ("not converted: ", "not measured", "reproduced", "not reproduced", "cannot be decided", "not recorded")
    assert all(row["verdict"].lstrip("0123456789 ").startswith(words) for row in rows)
    assert main(["reproduce", "salm", NAME, "--list", "--json"]) == FINE
    assert {(row["paper"], row["experiment"] == NAME) for row in json.loads(capsys.readouterr().out)} == {
        ("salm", False),
        ("sogd", True),
    }


def test_a_name_that_another_begins_with_is_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "sogd-theorem-4-2", "--list", "--json"]) == FINE
    assert {row["experiment"] for row in json.loads(capsys.readouterr().out)} == {"sogd-theorem-4-2"}


def test_an_experiment_is_measured_once_and_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["reproduce", "sogd-21", "--quick", "--folder", str(tmp_path)]
    assert main(words) == FINE
    first = capsys.readouterr()
    assert "| reproduced |" in first.out and "0 to go" in first.err
    assert main([*words, "--save", str(tmp_path / "report.md")]) == FINE
    again = capsys.readouterr()
    assert again.out == "" and "to go" not in again.err
    assert (tmp_path / "report.md").read_text(encoding="utf-8") == first.out.removesuffix("\n")
    assert main([*words, "--json"]) == FINE
    (content,) = json.loads(capsys.readouterr().out)
    assert content["experiment"] == "sogd (21)" and len(content["claims"]) == 1


def test_a_plan_says_how_long_what_is_missing_takes_and_measures_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(planning, "reference_seconds", lambda: 0.05)
    entries = Reproduction.recorded(Remark44(size="full")).parts.values()
    count, seconds = len(entries), sum(0.05 * entry["seconds"] / entry["reference"] for entry in entries)
    words = ["reproduce", NAME, "simulators", "--full", "--plan", "--folder", str(tmp_path)]
    assert main(words) == FINE
    lines = capsys.readouterr().out.splitlines()
    assert lines[1].split() == [NAME, str(count), "of", str(count), *duration(seconds).split()]
    assert lines[2].endswith("an unknown time") and lines[3].endswith(duration(seconds))
    assert main([*words, "--json"]) == FINE
    first, second = json.loads(capsys.readouterr().out)
    assert first == {"experiment": NAME, "missing": count, "parts": count, "seconds": pytest.approx(seconds)}
    assert second["seconds"] is None and not list(tmp_path.iterdir())


def test_the_page_has_figures_and_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["reproduce", NAME, "--quick", "--folder", str(tmp_path)]
    page = tmp_path / "report.html"
    assert main([*words, "--save", str(page)]) == FINE
    text = page.read_text(encoding="utf-8")
    assert "sogd Remark 4.4" in text and "later squared gradient" in text and "<script" in text
    assert text.count("</h3><table>") == 2
    assert main([*words, "--save", str(tmp_path / "report.json")]) == FINE
    (content,) = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert content["experiment"] == "sogd Remark 4.4"
    assert main([*words, "--save", "report.pdf"]) == MISUSED
    assert "Expected a file with one of the suffixes .md, .html, .json" in capsys.readouterr().err


def test_a_verdict_that_has_changed_has_its_exit_code(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded = Reproduction(ProductVariance(size="quick"), tmp_path / "recorded").run()
    for k, part in enumerate(recorded.parts.values()):  # as if errors grew with every horizon
        part["figures"] = {"squared error": [2.0**k * value for value in part["figures"]["squared error"]]}
    monkeypatch.setattr(Reproduction, "recorded", lambda experiment: recorded)
    assert main(["reproduce", "sogd-21", "--quick", "--folder", str(tmp_path)]) == CHANGED
    printed = capsys.readouterr().err
    assert "sogd (21), (21), " in printed and ": reproduced, recorded as " in printed


def test_an_experiment_without_its_package_leaves_the_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def measure(self: Remark44, part: str) -> Figures:
        raise MissingExtra("Expected the package x, found none.")

    monkeypatch.setattr(Remark44, "measure", measure)
    assert main(["reproduce", NAME, "sogd-21", "--quick", "--folder", str(tmp_path)]) == FAILED
    printed = capsys.readouterr()
    assert f"{NAME}: Expected the package x, found none." in printed.err
    assert "sogd (21)" in printed.out and "Remark 4.4" not in printed.out


def test_an_unknown_experiment_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "sogd-fig-7"]) == MISUSED
    assert "Expected the name of a paper's experiment" in capsys.readouterr().err


def test_a_draw_that_there_is_not_is_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["reproduce", "sogd-21", "--draw", "-1"]) == MISUSED
    assert "Expected a number from 0 to 1000 for --draw, got -1" in capsys.readouterr().err
    assert main(["reproduce", "simulators", "--draw", "1"]) == MISUSED
    assert "Expected a paper's experiment for --draw, got simulators" in capsys.readouterr().err
