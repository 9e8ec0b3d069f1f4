"""The command line as a user types it: what is done with runs that are stored."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.command_line import SMALL, Told, store
from zoviz import Run
from zoviz.cli.command import FAILED, FINE, MISUSED
from zoviz.problems import BlackBox


def test_list_show_note_delete_restore(zoviz: Callable[..., Told], small: str) -> None:
    listed = zoviz("runs")
    assert small[:8] in listed.out and "finished" in listed.out and "box paper" in listed.out
    (record,) = zoviz("runs", "list", "--tag", "paper", "--json", "--status", "finished", "--sort", "objective").json
    assert record["id"] == small and record["label"] == "first" and record["tags"] == ["box", "paper"]
    assert zoviz("runs", "--solver", "ZOSPLM", "--json").json == []
    assert zoviz("runs", "note", small[:6], "--label", "second", "--notes", "see there", "--tag", "new").code == FINE
    outcome = zoviz("runs", "show", small[:6], "--json").json
    assert (outcome["label"], outcome["notes"], outcome["tags"]) == ("second", "see there", ["new"])
    assert outcome["parameters"]["problem"]["values"]["n"] == 5 and outcome["settings"]["iterations"] == 20
    assert "see there" in zoviz("runs", "show", small[:6]).out
    assert zoviz("runs", "delete", small[:6]).code == FINE
    assert zoviz("runs", "--json").json == [] and len(zoviz("runs", "--deleted", "--json").json) == 1
    assert zoviz("runs", "restore", small[:6]).code == FINE and len(zoviz("runs", "--json").json) == 1
    assert zoviz("runs", "check", "--json").json == [] and "No faults found" in zoviz("runs", "check").out


def test_samples_are_listed_where_some_run_has_any(zoviz: Callable[..., Told], small: str) -> None:
    assert "SAMPLES" not in zoviz("runs").out
    budget = ("--zeta-samples", "30", "--replicas", "2", "--quiet")
    outcome = zoviz("run", "StochasticQP", "SampledALM", "n=9", "sampled_rows=true", *budget)
    assert "10 oracle calls, 30 samples of zeta in each of 2 replicas, 10 iterations" in outcome.out
    head, newest, other = zoviz("runs").out.splitlines()[:3]
    assert "CALLS  SAMPLES  ZETA SAMPLES  OBJECTIVE" in head
    assert newest.split()[6:9] == ["10", "10", "30"] and other.split()[7:9] == ["0", "0"]


def test_show_tells_what_the_calls_were_for(zoviz: Callable[..., Told], small: str) -> None:
    ledger = zoviz("runs", "show", small[:6], "--ledger", "--json").json
    total = np.sum([one["calls"] for one in ledger.values()], axis=0)
    (record,) = zoviz("runs", "--json").json
    assert set(total) == {record["calls"]} and {"base point", "directions"} <= ledger.keys()
    printed = zoviz("runs", "show", small[:6], "--ledger")
    assert printed.code == FINE and "directions" in printed.out and "SHARE" in printed.out


def test_show_tells_who_made_the_calls(zoviz: Callable[..., Told], folder: Path) -> None:
    problem = BlackBox(np.sum, bounds=[(0, 1)] * 2, m=0, workers=ThreadPoolExecutor(1))
    with store(folder) as kept:
        run = Run(problem, "ZOSQP", replicas=1, calls=20, store=kept)
        run.run()
    assert "WORKER" in zoviz("runs", "show", run.id[:6], "--ledger").out
    (worker,) = zoviz("runs", "show", run.id[:6], "--json").json["workers"]
    assert worker["calls"] == 20 and worker["worker"]


def deleted(zoviz: Callable[..., Told]) -> list[str]:
    return [one["id"] for one in zoviz("runs", "--deleted", "--json").json]


def test_purge_removes_what_was_deleted_and_says_what(zoviz: Callable[..., Told], small: str) -> None:
    outcome = zoviz("runs", "purge", "--yes")
    assert outcome.code == FINE and "Removed 0 runs" in outcome.err, "nothing is deleted yet"
    outcome = zoviz("runs", "purge", small[:6], "--yes")
    assert outcome.code == FAILED and "Expected a deleted run" in outcome.err and "delete it first" in outcome.err
    assert zoviz("runs", "delete", small[:6]).code == FINE
    outcome = zoviz("runs", "purge", "--older-than", "1", "--yes")
    assert outcome.code == FINE and "Removed 0 runs" in outcome.err and deleted(zoviz) == [small]
    outcome = zoviz("runs", "purge", "--older-than", "0", "--yes")
    assert outcome.code == FINE and "Removed 1 run permanently" in outcome.err and small[:8] in outcome.out
    assert deleted(zoviz) == [] and zoviz("runs", "restore", small).code != FINE
    for days in ("-1", "nan", "soon"):
        assert zoviz("runs", "purge", "--older-than", days).code == MISUSED


def test_purge_asks_first(zoviz: Callable[..., Told], small: str, monkeypatch: pytest.MonkeyPatch) -> None:
    zoviz("runs", "delete", small[:6])
    monkeypatch.setattr("sys.stdin", io.StringIO("y\n"))
    outcome = zoviz("runs", "purge")
    assert outcome.code == MISUSED and "Expected --yes" in outcome.err and deleted(zoviz) == [small]
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    for answer, rest in (("", [small]), ("n", [small]), ("y", [])):
        monkeypatch.setattr("builtins.input", lambda question, answer=answer: answer)
        outcome = zoviz("runs", "purge")
        assert outcome.code == FINE and small[:8] in outcome.out and deleted(zoviz) == rest


def test_purge_tells_programs_too(zoviz: Callable[..., Told], small: str) -> None:
    zoviz("runs", "delete", small)
    assert [one["id"] for one in zoviz("runs", "purge", "--yes", "--json").json] == [small]


def test_export(zoviz: Callable[..., Told], small: str, folder: Path) -> None:
    assert zoviz("runs", "export", small, "course.csv").code == FINE
    assert len((folder / "course.csv").read_text().splitlines()) == 1 + 21 * 2
    outcome = zoviz("runs", "export", small, "course.xls")
    assert outcome.code == MISUSED and ".parquet" in outcome.err


def test_replay_and_fork(zoviz: Callable[..., Told], small: str, folder: Path) -> None:
    again = zoviz("replay", small[:8], "--quiet", "--json").json
    fork = ["fork", small[:8], "--at", "10", "--quiet", "--json", "--iterations", "40"]
    other = zoviz(*fork, "primal_step=1e-4").json
    with store(folder) as run_store:
        first, second, third = (run_store.load(one) for one in (small, again["id"], other["id"]))
        np.testing.assert_array_equal(first.result.x, second.result.x)
        assert second.record.parent == third.record.parent == small
        np.testing.assert_array_equal(third.trace["objective"][:11], first.trace["objective"][:11])
        assert third.progress.iteration == 40 and not np.array_equal(third.trace["objective"][20], first.result.fun)
        assert [(change.iteration, change.name, change.new) for change in third.journal] == [(10, "primal_step", 1e-4)]
    assert zoviz(*fork, "replicas=3").code == MISUSED
    assert zoviz(*fork, "primal_step=-1").code == MISUSED
    assert zoviz(*fork, "nonsense").code == MISUSED


def test_a_stopped_run_goes_on(zoviz: Callable[..., Told], folder: Path) -> None:
    whole = zoviz("run", *SMALL, "--json").json
    from zoviz import Run
    from zoviz.problems import LoadTracking
    from zoviz.solvers import ZOCEG

    with store(folder) as run_store:
        settings = {"iterations": 20, "replicas": 2, "store": run_store}
        run = Run(problem=LoadTracking(n=5, curtailment=40), solver=ZOCEG(), **settings)
        run.run(lambda: run.progress.iteration == 7 and run.stop())
    assert run.status == "stopped"
    outcome = zoviz("resume", run.id[:8], "--quiet", "--json")
    assert outcome.code == FINE and outcome.json["id"] == run.id and outcome.json["x"] == whole["x"]


def test_compare(zoviz: Callable[..., Told], small: str) -> None:
    other = zoviz("run", *SMALL, "--json", "primal_step=1e-4").json["id"]
    lines = zoviz("compare", small, other, "--json").json
    assert [line["id"] for line in lines] == [small[:8], other[:8]] and lines[0]["gap"] != lines[1]["gap"]
    violations = zoviz("compare", small, other, "--column", "violation")
    assert violations.code == FINE and small[:8] in violations.out and "VIOLATION" in violations.out


def test_export_script_repeats_the_run(zoviz: Callable[..., Told], small: str, folder: Path) -> None:
    source = zoviz("export-script", small[:8]).out
    scope: dict[str, Any] = {}
    exec(compile(source, "again.py", "exec"), scope)
    with store(folder) as run_store:
        np.testing.assert_array_equal(scope["result"].x, run_store.load(small).result.x)
    assert zoviz("export-script", small[:8], "again.py").code == FINE
    assert (folder / "again.py").read_text() == source


def test_report_writes_one_file_of_several_runs(zoviz: Callable[..., Told], small: str, folder: Path) -> None:
    assert zoviz("report", small[:8]).code == FINE
    page = (folder / "run.html").read_text(encoding="utf-8")
    assert f'"id": "{small}"' in page and "first" in page
    other = zoviz("run", *SMALL, "--json", "primal_step=1e-4").json["id"]
    outcome = zoviz("report", small[:8], other, "-o", "both.md")
    assert outcome.code == FINE and "Written to both.md" in outcome.err
    assert other[:8] in (folder / "both.md").read_text(encoding="utf-8")
    outcome = zoviz("report", small[:8], "-o", "run.doc")
    assert outcome.code == MISUSED and ".html" in outcome.err


def test_a_report_finds_the_module_of_ones_own_problem(
    zoviz: Callable[..., Told], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = zoviz("run", "beam_module:problem", "ZOCEG", "--calls", "60", "--quiet", "--json").json["id"]
    # As in a process that begins: a console script does not look for modules in the working folder.
    monkeypatch.delitem(sys.modules, "beam_module")
    monkeypatch.setattr(sys, "path", [one for one in sys.path if Path(one or ".").resolve() != folder.resolve()])
    assert zoviz("report", run[:8]).code == FINE, "as run, replay and certify do"
