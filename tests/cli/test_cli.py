"""The command line as a user types it: every command, bad arguments, exit codes, what is printed for scripts."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from zoviz.cli.command import FAILED, FINE, INFEASIBLE, MISUSED
from zoviz.cli.main import commands, main
from zoviz.runs import database
from zoviz.runs.store import Store

SMALL = ["LoadTracking", "ZOCEG", "n=5", "curtailment=40", "--iterations", "20", "--replicas", "2", "--quiet"]

BEAM = """
import numpy as np

from zoviz.problems import BlackBox


def beam(x):
    weight = 0.0624 * x.sum(axis=-1)
    deflection = (np.array([61, 37, 19, 7, 1]) / x**3).sum(axis=-1)
    return weight, (deflection - 1.0)[..., None]


def broken(x):
    raise RuntimeError("the licence server is down")


problem = BlackBox(beam, joint=True, m=1, vectorised=True, bounds=[(1, 10)] * 5, x0=[5] * 5)
failing = BlackBox(broken, bounds=[(0, 1)] * 2)
alone = BlackBox(lambda x: x @ x, bounds=[(0, 1)] * 2)
number = 3
"""

SIMULATION = """
import sys

source = open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin
sink = open(sys.argv[2], "w") if len(sys.argv) > 1 else sys.stdout
x = [float(word) for word in source.read().split()]
print(sum((value - 1) ** 2 for value in x), 1.5 - sum(x), sep="\\n", file=sink)
"""


class Told(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ZOVIZ_STORE", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "beam_module.py").write_text(BEAM)
    (tmp_path / "sim.py").write_text(textwrap.dedent(SIMULATION))
    yield tmp_path
    sys.modules.pop("beam_module", None)


@pytest.fixture
def zoviz(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    def call(*words: str) -> Told:
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:  # argparse's way
            code = int(end.code or 0)
        return Told(code, *capsys.readouterr())

    return call


@pytest.fixture
def small(zoviz: Callable[..., Told]) -> str:
    """Id of a stored run."""
    told = zoviz("run", *SMALL, "--json", "--label", "first", "--tag", "paper", "--tag", "box")
    assert told.code == FINE, told.err
    return told.json["id"]


def store(folder: Path, **options: Any) -> Store:
    return Store(f"sqlite:///{folder / 'zoviz.db'}", **options)


def test_run_is_stored_and_told(zoviz: Callable[..., Told], folder: Path) -> None:
    told = zoviz("run", *SMALL, "primal_step=1e-3", "--json", "estimator.smoothing_radius=1e-4", "--target", "gap=1e9")
    assert told.code == FINE and told.err == ""
    whole = told.json
    with store(folder) as kept:
        (record,) = kept.runs()
        stored = kept.load(record.id)
        assert whole["id"] == record.id and record.status == whole["status"] == "finished"
        np.testing.assert_array_equal(stored.result.x, whole["x"])
        assert whole["parameters"]["primal_step"] == stored.solver.primal_step == 1e-3
        assert stored.solver.estimator.smoothing_radius == 1e-4 and stored.problem.n == 5
        assert whole["hits"] == {"gap 1e+09": stored.hits[0].calls.tolist()}
    plain = zoviz("run", *SMALL, "primal_step=1e-3", "estimator.smoothing_radius=1e-4")
    assert f"best feasible  {whole['best_value']:.10g} at" in plain.out
    assert " in " in plain.out.splitlines()[-1] and plain.out.splitlines()[-1].endswith("zoviz.db")


def test_a_bar_shows_the_way(zoviz: Callable[..., Told]) -> None:
    told = zoviz("run", *[word for word in SMALL if word != "--quiet"], "--no-store")
    assert "20/20" in told.err and "it/s" in told.err and "objective " in told.err and "violation " in told.err
    assert "zoviz.db" not in told.out


def test_no_store_keeps_nothing(zoviz: Callable[..., Told], folder: Path) -> None:
    assert zoviz("run", *SMALL, "--no-store").code == FINE
    assert not (folder / "zoviz.db").exists()


def test_the_readme_s_beam_in_one_line(zoviz: Callable[..., Told]) -> None:
    told = zoviz("run", "beam_module:problem", "ZOCEG", "--calls", "3000", "--quiet", "--json")
    assert told.code == FINE, told.err
    assert told.json["best_value"] == pytest.approx(1.34, abs=2e-3)
    again = zoviz("replay", told.json["id"][:8], "--trust", "beam_module", "--quiet", "--json")
    assert again.json["x"] == told.json["x"]
    refused = zoviz("replay", told.json["id"][:8], "--quiet")
    assert refused.code == MISUSED and "--trust beam_module:beam" in refused.err


def test_no_feasible_point_and_a_failing_function_have_codes(zoviz: Callable[..., Told]) -> None:
    outside = zoviz("run", "beam_module:problem", "ZOSPLM", "--iterations", "1", "--quiet", "--json", "x0=[1,1,1,1,1]")
    assert outside.code == INFEASIBLE and outside.json["best_value"] is None
    failed = zoviz("run", "beam_module:failing", "ZOSPLM", "--calls", "50", "--quiet", "--json")
    assert failed.code == FAILED and failed.json["status"] == "failed" and "licence server" in failed.err


@pytest.mark.parametrize("command", ["sim.py {input} {output}", "sim.py"], ids=["files", "streams"])
def test_a_program(command: str, zoviz: Callable[..., Told]) -> None:
    options = ["--bounds", "0:2*2", "--constraints", "1", "--calls", "12", "--quiet", "--json"]
    told = zoviz("run", "--exe", f"{sys.executable} {command}", *options, "SLSQP")
    assert told.code == FINE, told.err
    best = np.array(told.json["best_feasible"])
    assert told.json["best_value"] == np.square(best - 1).sum() < 0.1 and best.sum() >= 1.5
    assert max(told.json["calls"]) <= 12
    refused = zoviz("replay", told.json["id"], "--quiet", "--json")
    assert refused.code == MISUSED and "--trust" in refused.err
    again = zoviz("replay", told.json["id"], "--quiet", "--json", "--trust", f"{sys.executable} {command}")
    assert again.json["x"] == told.json["x"]


def test_list_show_note_delete_restore(zoviz: Callable[..., Told], small: str) -> None:
    listed = zoviz("runs")
    assert small[:8] in listed.out and "finished" in listed.out and "box paper" in listed.out
    (record,) = zoviz("runs", "list", "--tag", "paper", "--json", "--status", "finished", "--sort", "objective").json
    assert record["id"] == small and record["label"] == "first" and record["tags"] == ["box", "paper"]
    assert zoviz("runs", "--solver", "ZOSPLM", "--json").json == []
    assert zoviz("runs", "note", small[:6], "--label", "second", "--notes", "see there", "--tag", "new").code == FINE
    shown = zoviz("runs", "show", small[:6], "--json").json
    assert (shown["label"], shown["notes"], shown["tags"]) == ("second", "see there", ["new"])
    assert shown["parameters"]["problem"]["values"]["n"] == 5 and shown["settings"]["iterations"] == 20
    assert "see there" in zoviz("runs", "show", small[:6]).out
    assert zoviz("runs", "delete", small[:6]).code == FINE
    assert zoviz("runs", "--json").json == [] and len(zoviz("runs", "--deleted", "--json").json) == 1
    assert zoviz("runs", "restore", small[:6]).code == FINE and len(zoviz("runs", "--json").json) == 1
    assert zoviz("runs", "check", "--json").json == [] and "All is well" in zoviz("runs", "check").out


def test_export(zoviz: Callable[..., Told], small: str, folder: Path) -> None:
    assert zoviz("runs", "export", small, "course.csv").code == FINE
    assert len((folder / "course.csv").read_text().splitlines()) == 1 + 21 * 2
    told = zoviz("runs", "export", small, "course.xls")
    assert told.code == MISUSED and ".parquet" in told.err


def test_replay_and_fork(zoviz: Callable[..., Told], small: str, folder: Path) -> None:
    again = zoviz("replay", small[:8], "--quiet", "--json").json
    fork = ["fork", small[:8], "--at", "10", "--quiet", "--json", "--iterations", "40"]
    other = zoviz(*fork, "primal_step=1e-4").json
    with store(folder) as kept:
        first, second, third = (kept.load(one) for one in (small, again["id"], other["id"]))
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

    with store(folder) as kept:
        settings = {"iterations": 20, "replicas": 2, "store": kept}
        run = Run(problem=LoadTracking(n=5, curtailment=40), solver=ZOCEG(), **settings)
        run.run(lambda: run.progress.iteration == 7 and run.stop())
    assert run.status == "stopped"
    told = zoviz("resume", run.id[:8], "--quiet", "--json")
    assert told.code == FINE and told.json["id"] == run.id and told.json["x"] == whole["x"]


def test_compare(zoviz: Callable[..., Told], small: str, folder: Path) -> None:
    other = zoviz("run", *SMALL, "--json", "primal_step=1e-4").json["id"]
    lines = zoviz("compare", small, other, "--json").json
    assert [line["id"] for line in lines] == [small[:8], other[:8]] and lines[0]["gap"] != lines[1]["gap"]
    told = zoviz("compare", small, other, "--column", "violation", "--save", "figure.html")
    assert told.code == FINE and small[:8] in told.out
    page = (folder / "figure.html").read_text()
    assert "bokeh" in page.lower() and "cdn.bokeh.org" not in page.split("<body>")[0].replace("CDN", "")


def test_export_script_repeats_the_run(zoviz: Callable[..., Told], small: str, folder: Path) -> None:
    source = zoviz("export-script", small[:8]).out
    scope: dict[str, Any] = {}
    exec(compile(source, "again.py", "exec"), scope)
    with store(folder) as kept:
        np.testing.assert_array_equal(scope["result"].x, kept.load(small).result.x)
    assert zoviz("export-script", small[:8], "again.py").code == FINE
    assert (folder / "again.py").read_text() == source


def test_sweep_runs_what_is_missing(zoviz: Callable[..., Told], folder: Path) -> None:
    words = ["sweep", *SMALL, "--json"]
    first = zoviz(*words, "primal_step=1e-3,1e-4")
    assert first.code == FINE and [line["primal_step"] for line in first.json["runs"]] == [1e-3, 1e-4]
    with store(folder) as kept:
        begun = {record.id: record.created for record in kept.runs()}
    more = zoviz(*words, "primal_step=log:1e-5:1e-3:3")
    assert [line["primal_step"] for line in more.json["runs"]] == pytest.approx([1e-5, 1e-4, 1e-3])
    with store(folder) as kept:
        now = {record.id: record.created for record in kept.runs(study="LoadTracking ZOCEG")}
    assert len(now) == 3 and begun.items() <= now.items(), "two were there"
    assert len(more.json["replicas"]) == 6


def test_sweep_draws(zoviz: Callable[..., Told]) -> None:
    words = ["sweep", *SMALL, "--json", "--random", "3", "--name", "steps", "primal_step=log:1e-5:1e-3"]
    steps = [line["primal_step"] for line in zoviz(*words).json["runs"]]
    assert len(set(steps)) == 3 and all(1e-5 <= step <= 1e-3 for step in steps)
    assert [line["primal_step"] for line in zoviz(*words).json["runs"]] == steps
    plain = zoviz(*[word for word in words if word != "--json"])
    assert "PRIMAL_STEP" in plain.out and "--study" in plain.err


def test_problems_and_solvers(zoviz: Callable[..., Told]) -> None:
    for name, one, parameter in (("problems", "LoadTracking", "curtailment"), ("solvers", "ZOSPLM", "primal_step")):
        assert one in [line["name"] for line in zoviz(name, "--json").json] and one in zoviz(name).out
        whole = zoviz(name, one, "--json").json
        assert parameter in [line["name"] for line in whole["parameters"]] and parameter in zoviz(name, one).out
    assert "command" not in zoviz("problems", "Executable").out.split("PARAMETER")[1].split()
    assert zoviz("solvers", "nothing like it").code == MISUSED


RUN = ["run", *SMALL]
BAD = {
    "a problem": (["run", "LoadTraking", "ZOCEG"], "LoadTracking"),
    "an incomplete problem": (["run", "Executable", "ZOCEG"], "--exe"),
    "a solver": (["run", "LoadTracking", "ZOCEQ"], "ZOCEG"),
    "a parameter": ([*RUN, "primal_stp=1"], "primal_step"),
    "a value": ([*RUN, "primal_step=-1"], "primal_step"),
    "a word for a number": ([*RUN, "primal_step=fast"], "a number for primal_step"),
    "a part of a whole number": ([*RUN, "n=2.5"], "a whole number for n"),
    "an infinite whole number": ([*RUN, "n=inf"], "a whole number for n"),
    "three words": (["run", "LoadTracking", "ZOCEG", "again"], "name=value"),
    "no word": (["run"], "zoviz problems"),
    "a module": (["run", "no_such_module:problem"], "no_such_module"),
    "an object": (["run", "beam_module:nothing"], "nothing"),
    "what is no problem": (["run", "beam_module:number"], "BlackBox"),
    "a target": ([*RUN, "--target", "gap"], "gap=1e-2"),
    "a target's metric": ([*RUN, "--target", "nonsense=1"], "nonsense"),
    "a target's value": ([*RUN, "--target", "gap=small"], "gap=1e-2"),
    "calls": ([*RUN, "--calls", "0"], "calls"),
    "a checkpoint": ([*RUN, "--checkpoint", "often"], "every call"),
    "workers": ([*RUN, "--workers", "2"], "leave it out"),
    "both kinds of workers": ([*RUN, "--workers", "2", "--dask", "tcp://127.0.0.1:1"], "got both"),
    "a program without bounds": (["run", "--exe", "true"], "--bounds"),
    "bounds": (["run", "--exe", "true", "--bounds", "0-1"], "0:1"),
    "a start": (["run", "--exe", "true", "--x0", "a,b"], "numbers"),
    "output types": (["run", "--exe", "true", "--x0", "0", "--output-types", "OBJ XX"], "XX"),
    "an option": ([*RUN, "--cals", "3"], "--cals"),
    "a command": (["rum"], "rum"),
    "an action": (["runs", "lits"], "lits"),
    "an id": (["runs", "show", "0123"], "0123"),
    "no id": (["runs", "show"], "id of a run"),
    "a status": (["runs", "--status", "done"], "finished"),
    "a column": (["runs", "--sort", "speed"], "created"),
    "a limit": (["runs", "--limit", "-1"], "--limit"),
    "a suffix": (["compare", "0123", "--save", "figure.xyz"], ".html"),
    "an address": (["serve", "--address", "0.0.0.0"], "--basic-auth"),
    "a sweep's count": (["sweep", *SMALL, "primal_step=log:1:2"], "log:low:high:count"),
    "a sweep's value": (["sweep", *SMALL, "primal_step=1,-1"], "primal_step"),
    "a sweep's parameter": (["sweep", *SMALL, "primal_stp=1,2"], "primal_step"),
    "a sweep's range": (["sweep", *SMALL, "primal_step=1,2", "--random", "3"], "log:low:high"),
}


@pytest.mark.parametrize(("words", "named"), BAD.values(), ids=BAD)
def test_bad_arguments_get_a_sentence(words: list[str], named: str, zoviz: Callable[..., Told], folder: Path) -> None:
    store(folder).close()  # what only reads makes none, and would say so
    told = zoviz(*words)
    assert told.code == (FAILED if "nonsense=1" in words else MISUSED)
    assert named in told.err and "Traceback" not in told.err
    assert told.out == "" or told.code == FAILED


def test_an_ambiguous_id(zoviz: Callable[..., Told], small: str, folder: Path) -> None:
    from zoviz.runs.tables import RUNS

    with store(folder) as kept, kept.database.writing() as connection:
        row = dict(connection.execute(RUNS.select()).one()._mapping)
        twin = small[:-1] + ("0" if small[-1] != "0" else "1")
        connection.execute(RUNS.insert().values(**row | {"id": twin}))
    told = zoviz("runs", "delete", small[:5])
    assert told.code == MISUSED and "several" in told.err


def test_a_store_that_cannot_be_opened(zoviz: Callable[..., Told], folder: Path) -> None:
    (folder / "text.db").write_text("certainly no database " * 100)
    for url in ("sqlite:////nowhere/at/all.db", "sqlite:///text.db", "nonsense", "mysql://x/y"):
        told = zoviz("runs", "--store", url)
        assert told.code == FAILED and told.err.startswith("zoviz runs: Expected"), (url, told)


def test_a_store_that_fails_in_mid_run_is_told(
    zoviz: Callable[..., Told], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    store(folder).close()
    assert zoviz("runs").code == FINE
    begin = database._on_begin

    def without_room(connection: Any) -> None:
        begin(connection)
        connection.exec_driver_sql("PRAGMA max_page_count = 1")  # as on a full disk

    monkeypatch.setattr(database, "_on_begin", without_room)
    told = zoviz("run", *SMALL, "--json")
    assert told.code == FAILED and told.json["status"] == "finished" and told.json["iterations"] == 20
    assert "Storing failed: Expected room on the disk" in told.err


def test_help_teaches(zoviz: Callable[..., Told]) -> None:
    whole = zoviz("--help").out
    for command in commands():
        told = zoviz(command.name, "--help")
        assert command.name in whole and told.code == FINE
        assert command.examples.strip().splitlines()[0] in told.out or not command.examples
    assert zoviz().out == whole and zoviz("--version").out.startswith("zoviz")


def test_nothing_draws_that_need_not(folder: Path, root: Path) -> None:
    source = f"""
import sys
import zoviz
assert "sqlalchemy" not in sys.modules and {{"Store", "Study"}} <= set(zoviz.__all__)
from zoviz import Store, Study
from zoviz.cli.main import main
for words in (["--help"], ["runs"], ["run", *{SMALL!r}]):
    try:
        main(words)
    except SystemExit:
        pass
print("loaded", *sorted({{"panel", "holoviews", "bokeh", "distributed"}} & sys.modules.keys()))
"""
    environment = {"PYTHONPATH": str(root), "PATH": "", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, env=environment, cwd=folder, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "loaded"
