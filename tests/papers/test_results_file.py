"""Outcomes in a file: made once, and the same when they are read again."""

from __future__ import annotations

from pathlib import Path

from zoviz.papers.results_file import ResultsFile


def test_an_outcome_is_made_once_and_read_again(tmp_path: Path) -> None:
    made = []

    def make() -> list[float]:
        made.append(1)
        return [0.1 + 0.2, float("inf")]

    path = tmp_path / "outcomes.jsonl"
    first = ResultsFile(path)
    assert first.of(("a", 1, 0.5), make) == first.of(("a", 1, 0.5), make) == [0.1 + 0.2, float("inf")]
    again = ResultsFile(path)
    assert again.of(("a", 1, 0.5), make) == [0.1 + 0.2, float("inf")] and len(made) == 1
    again.of(("a", 2, 0.5), make)
    assert len(made) == 2 and len(path.read_text(encoding="utf-8").splitlines()) == 2
    assert ResultsFile(None).of(("a",), make) and len(made) == 3, "without a file every study makes its own"
