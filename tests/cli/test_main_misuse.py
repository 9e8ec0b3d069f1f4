"""The command line as a user types it: bad arguments, bad stores, and the sentences and codes for them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from helpers.command_line import SMALL, Told, store
from zoviz.cli.command import FAILED, FINE, MISUSED
from zoviz.runs.storage import database

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
    "an address": (["serve", "--address", "0.0.0.0"], "--basic-auth"),
    "a sweep's count": (["sweep", *SMALL, "primal_step=log:1:2"], "log:low:high:count"),
    "a sweep's value": (["sweep", *SMALL, "primal_step=1,-1"], "primal_step"),
    "a sweep's parameter": (["sweep", *SMALL, "primal_stp=1,2"], "primal_step"),
    "a sweep's range": (["sweep", *SMALL, "primal_step=1,2", "--random", "3"], "log:low:high"),
}


@pytest.mark.parametrize(("words", "named"), BAD.values(), ids=BAD)
def test_bad_arguments_get_a_sentence(words: list[str], named: str, zoviz: Callable[..., Told], folder: Path) -> None:
    store(folder).close()  # what only reads makes none, and would say so
    outcome = zoviz(*words)
    assert outcome.code == (FAILED if "nonsense=1" in words else MISUSED)
    assert named in outcome.err and "Traceback" not in outcome.err
    assert outcome.out == "" or outcome.code == FAILED


def test_an_ambiguous_id(zoviz: Callable[..., Told], small: str, folder: Path) -> None:
    from zoviz.runs.storage.schema import RUNS

    with store(folder) as run_store, run_store.database.writing() as connection:
        row = dict(connection.execute(RUNS.select()).mappings().one())
        clone = small[:-1] + ("0" if small[-1] != "0" else "1")
        connection.execute(RUNS.insert().values(**row | {"id": clone}))
    outcome = zoviz("runs", "delete", small[:5])
    assert outcome.code == MISUSED and "several" in outcome.err


def test_a_store_that_cannot_be_opened(zoviz: Callable[..., Told], folder: Path) -> None:
    (folder / "text.db").write_text("certainly no database " * 100)
    for url in ("sqlite:////nowhere/at/all.db", "sqlite:///text.db", "nonsense", "mysql://x/y"):
        outcome = zoviz("runs", "--store", url)
        assert outcome.code == FAILED and outcome.err.startswith("zoviz runs: Expected"), (url, outcome)


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
    outcome = zoviz("run", *SMALL, "--json")
    assert outcome.code == FAILED and outcome.json["status"] == "finished" and outcome.json["iterations"] == 20
    assert "Storing failed: Expected room on the disk" in outcome.err
