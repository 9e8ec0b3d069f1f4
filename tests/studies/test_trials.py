"""Trials: every place of the axes is tried once, kept in a file, and stands in a table."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from zoviz.cli.command import FINE, MISUSED
from zoviz.cli.main import main
from zoviz.studies.experiment import Figures
from zoviz.studies.reports import html, markdown
from zoviz.studies.reproduction import Reproduction, experiments, trials
from zoviz.studies.trials import Row, Trials, across, grouped, narrowed

TRIED: list[tuple[Any, ...]] = []


class Sums(Trials):
    """Sums of what stands on the axes."""

    __abstract = True

    title = "tests sums"
    subject = "Sums"
    protocol = "Adding."
    sizes: ClassVar = {
        "quick": {"word": ("a", "bb"), "number": (1, None), "seed": (0,)},
        "full": {"word": ("a", "bb"), "number": (1, 2, None), "seed": (0, 1)},
    }
    lines = ("word",)

    def trial(self, word: str, number: int | None, seed: int) -> Figures:
        TRIED.append((word, number, seed))
        return {"sum": float("inf") if number is None else float(len(word) + number + seed), "note": word}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        return across(rows, "number", lambda own: " ".join(f"{one['sum']:g}" for one in own))

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        yield {"word": "all"}, rows


@pytest.fixture(autouse=True)
def _nothing_tried() -> None:
    TRIED.clear()


def test_each_place_is_tried_once_and_stands_in_the_table(tmp_path: Path) -> None:
    work = Reproduction(Sums(size="full"), tmp_path).run()
    assert len(TRIED) == len(set(TRIED)) == 12
    (table,) = work.experiment.tables(work.measured)
    assert table.heads == ("word", "1", "2", "None")
    assert list(table.rows) == [
        ("a", "2 3", "3 4", "inf inf"),
        ("bb", "3 4", "4 5", "inf inf"),
        ("all", "2 3 3 4", "3 4 4 5", "inf inf inf inf"),
    ]
    for text in (markdown(work), html(work)):
        assert "tests sums" in text and "The paper prints" not in text and "Verdicts" not in text


def test_a_study_goes_on_where_it_was_and_keeps_what_others_tried(tmp_path: Path) -> None:
    Reproduction(narrowed(Sums, "full", ["word=a", "seed=1"]), tmp_path).run()
    first = list(TRIED)
    assert first == [("a", 1, 1), ("a", 2, 1), ("a", None, 1)]
    beyond = Reproduction(narrowed(Sums, "full", ["number=7", "seed=1"]), tmp_path).run()
    assert TRIED[3:] == [("a", 7, 1), ("bb", 7, 1)]
    assert [row["sum"] for row in beyond.experiment.rows(beyond.measured)] == [9.0, 10.0]
    whole = Reproduction(Sums(size="full"), tmp_path).run()
    assert len(TRIED) == 5 + 9 and set(first) <= set(TRIED)
    stored = json.loads(whole.path.read_text(encoding="utf-8"))
    assert len(stored["parts"]) == 12 + 2 and '"a", 7, 1' in stored["parts"]


class Shared(Sums):
    """Sums that begin with a number of the word's own."""

    __abstract = True

    shared = ("word",)

    def reference(self, word: str) -> Figures:
        TRIED.append((word,))
        return {"begin": float("inf") if word == "bb" else 100.0}

    def trial(self, word: str, number: int | None, seed: int, begin: float) -> Figures:
        return {"sum": begin + (number or 0)}


def test_a_reference_is_made_once_and_given_to_the_trials_that_share_it(tmp_path: Path) -> None:
    work = Reproduction(Shared(size="full"), tmp_path).run()
    assert TRIED == [("a",), ("bb",)] and len(work.parts) == 2 + 12
    (table,) = work.experiment.tables(work.measured)
    assert table.rows[:2] == [("a", "101 101", "102 102", "100 100"), ("bb", "inf inf", "inf inf", "inf inf")]


def test_what_is_not_finite_is_kept() -> None:
    study = Sums(size="quick")
    kept = json.loads(json.dumps({part: study.measure(part) for part in study.parts()}, allow_nan=False))
    assert [row["sum"] for row in study.rows(kept)] == [2.0, np.inf, 3.0, np.inf]
    assert [place for place, _ in grouped(study.rows(kept), "number")] == [{"number": 1}, {"number": None}]


@pytest.mark.parametrize(
    ("words", "axis", "values"),
    [
        (["word=bb"], "word", ["bb"]),
        (["word=other"], "word", ["other"]),
        (["number=1,9"], "number", [1, 9]),
        (["number=None"], "number", [None]),
    ],
)
def test_words_narrow_an_axis(words: list[str], axis: str, values: list[Any]) -> None:
    assert narrowed(Sums, "full", words).axes[axis] == values


@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("colour=red", "one of the axes word, number, seed, got 'colour=red'"),
        ("word", "Expected AXIS=VALUE"),
        ("seed=one", "Expected a number for seed, as 0, 1, got 'one'"),
    ],
)
def test_words_that_narrow_nothing_are_refused(word: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        narrowed(Sums, "full", [word])


def test_studies_of_trials_are_no_claims_of_papers() -> None:
    assert {"minimize-printed-digits", "robustness-boxes"} <= trials().keys()
    assert not trials().keys() & experiments().keys()
    for cls in trials().values():
        for size in ("quick", "full"):
            study = cls(size=size)
            assert study.claims() == [] and study.parts() and study.subject and study.protocol
            assert set(study.lines) <= study.axes.keys()


def test_the_command_line_narrows_a_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["reproduce", "minimize-undeclared-noise", "--folder", str(tmp_path), "--only", "declared=False"]
    assert main([*words, "budget=30"]) == FINE
    assert "| none | 30 | False | 0 |" in capsys.readouterr().out
    assert main(["reproduce", "minimize-undeclared-noise", "--only", "budgets=30"]) == MISUSED
    assert "axes case, budget" in capsys.readouterr().err
    assert main(["reproduce", "sogd-remark-4-4", "--only", "budget=30"]) == MISUSED
    assert "Expected a study of trials for --only" in capsys.readouterr().err
    assert main(["reproduce", "--list"]) == FINE
    assert "minimize-undeclared-noise" in capsys.readouterr().out
