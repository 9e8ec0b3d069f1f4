"""The recorded results of experiments: judged anew they say the same, and quick ones measured anew, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from helpers.project import ROOT
from zoviz.core.errors import MissingExtra
from zoviz.studies.reproduction import Reproduction, changes, experiment_named

FILES = sorted((ROOT / "zoviz" / "papers" / "recorded").glob("*.json"))
DRAWS = sorted((ROOT / "docs" / "papers" / "draws").glob("*.json"))
QUICK = [path for path in FILES if path.stem.endswith("-quick")]


def record(path: Path) -> Reproduction:
    name, _, size = path.stem.rpartition("-")
    return Reproduction.recorded(experiment_named(name)(size=size))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_recorded_results_are_whole_and_judged_anew_the_same(path: Path) -> None:
    work = record(path)
    assert work.missing == []
    assert json.loads(path.read_text(encoding="utf-8")) == json.loads(json.dumps(work.content()))
    names = {"date", "commit", "seconds", "reference", "figures"}
    assert all(set(part) - {"scaled"} == names and part["reference"] > 0.0 for part in work.parts.values())
    rows = work.judgements()
    assert rows and not any(row["verdict"] == row.get("ablation_verdict") == "reproduced" for row in rows)


@pytest.mark.parametrize("path", DRAWS, ids=lambda path: path.stem)
def test_results_of_other_draws_are_whole_and_judged_anew_the_same(path: Path) -> None:
    stem, _, draw = path.stem.rpartition("-draw-")
    name, _, size = stem.rpartition("-")
    work = Reproduction(experiment_named(name)(size=size, draw=int(draw)), path.parent)
    assert work.missing == [] and work.judged == json.loads(json.dumps(work.judgements()))
    claims = [(row["place"], row["says"]) for row in Reproduction.recorded(work.experiment).judged]
    assert [(row["place"], row["says"]) for row in work.judged] == claims


@pytest.mark.slow
def test_several_processes_and_dask_give_the_same_figures(tmp_path: Path) -> None:
    work = record(ROOT / "zoviz" / "papers" / "recorded" / "sogd-remark-4-4-quick.json")
    here = Reproduction(work.experiment, tmp_path / "here").run()  # not the recorded digits: another processor's
    assert Reproduction(work.experiment, tmp_path / "processes").run(workers=2).measured == here.measured
    distributed = pytest.importorskip("distributed", reason='python -m pip install "zoviz[dask]"')
    with distributed.Client(n_workers=2, threads_per_worker=1, dashboard_address=None) as client:
        there = Reproduction(work.experiment, tmp_path / "dask").run(executor=client.get_executor())
    assert there.measured == here.measured and there.judgements() == here.judgements()
    assert changes(there, work) == []


@pytest.mark.slow
@pytest.mark.parametrize("path", QUICK, ids=lambda path: path.stem)
def test_quick_experiments_have_the_verdicts_that_are_recorded(path: Path, tmp_path: Path) -> None:
    work = record(path)
    try:
        again = Reproduction(work.experiment, tmp_path).run()
    except MissingExtra as error:
        pytest.skip(str(error))
    assert changes(again, work) == []
