"""The command ``zoviz benchmark``: tables, what is missing alone, a figure, and sentences for what it cannot read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.command_line import Told, store
from helpers.project import ROOT
from zoviz.cli.command import FAILED, FINE, MISUSED
from zoviz.studies.definition import Definition

RESULTS, COCO = (ROOT / "tests" / "data" / name for name in ("optiprofiler_hs.h5", "coco_bbob.zip"))
WORDS = (
    "benchmark",
    "--problems",
    "LoadTracking:n=3",
    "NonconvexQCQP:n=3,seed=2",
    "--sweeps",
    "20",
    "--replicas",
    "2",
    "--quiet",
)


def test_tables_and_only_what_is_missing(zoviz: Callable[..., Told], folder: Path) -> None:
    first = zoviz(*WORDS, "--solvers", "ZOCEG", "--json")
    assert first.code == FINE, first.err
    assert first.json["problems"] == ["LoadTracking:n=3", "NonconvexQCQP:n=3,seed=2"] and not first.json["comparisons"]
    with store(folder) as runs:
        before = {record.id: record.updated for record in runs.runs()}
        assert len(before) == 2 and all(runs.record(one).calls <= 80 for one in before)
    second = zoviz(*WORDS, "--solvers", "ZOCEG", "ZOSPLM:estimator.batch_size=2", "--save", "out.html")
    assert second.code == FINE, second.err
    assert (
        "ZOCEG  has too few pairs for a test against  ZOSPLM:estimator.batch_size=2" in second.out
        and "NonconvexQCQP:n=3,seed=2" in second.out
    )
    assert "Data profile" in (folder / "out.html").read_text(encoding="utf-8")
    with store(folder) as runs:
        after = {record.id: record.updated for record in runs.runs()}
        other = next(one for one in after if one not in before)
        assert runs.load(other).solver.estimator.batch_size == 2
    assert len(after) == 4 and before.items() <= after.items()


def test_the_cost_is_told_and_nothing_is_run(zoviz: Callable[..., Told], folder: Path) -> None:
    outcome = zoviz(*WORDS, "--solvers", "ZOCEG", "ZOSPLM", "--plan", "--json")
    assert outcome.code == FINE, outcome.err
    assert outcome.json["runs"] == 4 and outcome.json["calls"] == 2 * 2 * 20 * (4 + 4) and outcome.json["seconds"] > 0
    with store(folder) as runs:
        assert runs.count() == 0 and not runs.studies()


def test_the_store_keeps_the_command_that_makes_the_study_again(zoviz: Callable[..., Told], folder: Path) -> None:
    outcome = zoviz(*WORDS, "--solvers", "ZOCEG", "--noise", "0.1", "--name", "noisy", "--seed", "7")
    assert outcome.code == FINE, outcome.err
    with store(folder) as runs:
        record = runs.study("noisy")
        assert record is not None and not record.active
        definition = Definition.of(record.definition)
        before = {one.id: one.updated for one in runs.runs()}
        assert before.keys() == {run.id for run in definition.runs}
        problems = [runs.load(one).problem for one in before]
        assert {(one.noise, one.noise_scale) for one in problems} == {("independent", 0.1)}
    again = zoviz("benchmark", *definition.command, "--quiet")
    assert again.code == FINE, again.err
    with store(folder) as runs:
        assert {one.id: one.updated for one in runs.runs()} == before


def test_failed_runs_are_said(zoviz: Callable[..., Told], folder: Path) -> None:
    (folder / "broken.py").write_text(
        "from zoviz.problems import BlackBox\n"
        "def function(x):\n    raise RuntimeError('no licence')\n"
        "problem = BlackBox(function, bounds=[(-1, 1)] * 2)\n"
    )
    words = [*WORDS[:2], "broken:problem", *WORDS[2:]]
    outcome = zoviz(*words, "--solvers", "ZOCEG")
    assert outcome.code == FAILED and "1 of 3 runs failed" in outcome.err and "no licence" in outcome.err


def test_imported_results_stand_beside_the_studys_and_all_is_exported(zoviz: Callable[..., Told], folder: Path) -> None:
    pytest.importorskip("h5py")
    suite = ["--problems", "Suite:problem_name=HS43", "LoadTracking:n=3", "--solvers", "COBYLA", "--sweeps", "16"]
    files = ["runs.csv", "table.tex", "table.md"]
    words = ["--import", str(RESULTS), "--by", "kind", "--export", *files, "--export-profiles", "profiles.csv"]
    outcome = zoviz("benchmark", *suite, "--replicas", "1", "--quiet", *words)
    assert outcome.code == FINE, outcome.err
    assert "SLSQP, imported: 1 of the file's 3 problems are in this study, too" in outcome.err
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert "COBYLA has too few pairs for a test against COBYLA (imported) 1" in lines
    assert "Published test sets: nonlinear constraints: 1 problem\n" in outcome.out
    runs = (folder / "runs.csv").read_text(encoding="utf-8").splitlines()
    assert len(runs) == 1 + 2 + 2 and runs[-1].startswith("Suite:problem_name=HS43,4,SLSQP (imported),0,,,")
    assert r"COBYLA (imported) & 1 &" in (folder / "table.tex").read_text(encoding="utf-8")
    assert "| SLSQP (imported) | 1 |" in (folder / "table.md").read_text(encoding="utf-8")
    steps = (folder / "profiles.csv").read_text(encoding="utf-8").splitlines()
    assert {line.split(",")[0] for line in steps[1:]} == {"data", "performance", "targets"}


def test_imported_results_alone_need_neither_problems_nor_solvers(zoviz: Callable[..., Told], folder: Path) -> None:
    outcome = zoviz("benchmark", "--import", str(COCO), "--by", "dimension", "--json", "--export", "runs.csv")
    assert outcome.code == FINE, outcome.err
    assert outcome.json["solvers"] == ["nelder-mead (imported)", "random (imported)"]
    assert {title: len(names) for title, names in outcome.json["parts"].items()} == {"n = 2": 6, "n = 5": 6}
    assert len((folder / "runs.csv").read_text(encoding="utf-8").splitlines()) == 1 + 24


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("--problems", "PressureVessel"), "Expected --problems and --solvers, or --import"),
        (("--import", "nowhere.h5"), "nowhere.h5, which does not exist"),
        (("--import", str(COCO), "--export", "a.xls"), "ends in .csv, .parquet, .nc, .tex, .md, got 'a.xls'"),
        (("--import", str(COCO), "--export-profiles", "a.tex"), "ends in .csv, .parquet, .nc, got 'a.tex'"),
    ],
)
def test_what_cannot_be_imported_or_exported_is_said(
    zoviz: Callable[..., Told], words: tuple[str, ...], sentence: str
) -> None:
    outcome = zoviz("benchmark", *words)
    assert outcome.code in (MISUSED, FAILED) and sentence in outcome.err


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("--solvers", "ZOCEG", "--levels", "2"), "levels between 0 and 1"),
        (("--solvers", "ZOCEG", "--save", "out.png"), "suffix .html"),
        (("--solvers", "ZOCEG:bogus=1"), "parameters of ZOCEG"),
        (("--solvers", "ZOCEK"), "ZOCEG"),
    ],
)
def test_what_it_cannot_read_is_said(zoviz: Callable[..., Told], words: tuple[str, ...], sentence: str) -> None:
    outcome = zoviz(*WORDS, *words)
    assert outcome.code == MISUSED and sentence in outcome.err
