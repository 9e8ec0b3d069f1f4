"""Commands that only read make no store where there is none, and say so."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from zoviz.cli.command import FAILED, FINE, MISUSED
from zoviz.cli.main import main
from zoviz.runs.storage.database import NoStore
from zoviz.runs.store import Store

READING = {
    "runs": ["runs"],
    "JSON": ["runs", "--json"],
    "show": ["runs", "show", "3f2a", "--json"],
    "note": ["runs", "note", "3f2a", "--label", "new"],
    "delete": ["runs", "delete", "3f2a"],
    "restore": ["runs", "restore", "3f2a"],
    "export a run": ["runs", "export", "3f2a", "course.csv"],
    "check": ["runs", "check", "--json"],
    "compare": ["compare", "3f2a", "--json"],
    "resume": ["resume", "3f2a", "--json"],
    "replay": ["replay", "3f2a"],
    "fork": ["fork", "3f2a"],
    "report": ["report", "3f2a"],
    "export a script": ["export-script", "3f2a", "again.py"],
}


@pytest.fixture
def zoviz(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ZOVIZ_STORE", raising=False)

    def call(*words: str) -> tuple[int, str, str]:
        capsys.readouterr()
        return (main(words), *capsys.readouterr())

    return call


@pytest.mark.parametrize("words", READING.values(), ids=READING)
def test_what_only_reads_makes_no_store(words: list[str], zoviz: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = zoviz(*words)
    assert (code, out) == (MISUSED, "")
    sentence = "Expected a store at sqlite:///zoviz.db, got none: name the one that you mean, or store a run first."
    assert err == f"zoviz {words[0]}: {sentence}\n"
    assert list(Path().iterdir()) == []


def test_another_url_is_named(zoviz: Callable[..., tuple[int, str, str]], tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'other.db'}"
    code, _, err = zoviz("runs", "--store", url)
    assert code == MISUSED and f"Expected a store at {url}, got none" in err
    code, _, err = zoviz("runs", "--store", f"sqlite:///{tmp_path / 'nowhere' / 'other.db'}")
    assert code == FAILED and "check that its folder exists" in err
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_tables_is_no_store_and_stays_as_it_is(tmp_path: Path) -> None:
    empty, others = tmp_path / "empty.db", tmp_path / "others.db"
    empty.touch()
    with sqlite3.connect(others) as connection:
        connection.execute("CREATE TABLE mine (x)")
    connection.close()
    before = others.read_bytes()
    for path in (empty, others):
        with pytest.raises(NoStore, match="got none"):
            Store(f"sqlite:///{path}", create=False)
    assert empty.read_bytes() == b"" and others.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.db", "others.db"]


def test_what_keeps_a_run_makes_the_store_that_is_read_then(zoviz: Callable[..., tuple[int, str, str]]) -> None:
    small = ["LoadTracking", "ZOCEG", "n=5", "curtailment=40", "--iterations", "2", "--replicas", "1", "--quiet"]
    assert zoviz("run", *small)[0] == FINE
    code, out, _ = zoviz("runs")
    assert code == FINE and "LoadTracking" in out
    assert zoviz("sweep", *small, "--store", "sqlite:///swept.db")[0] == FINE and Path("swept.db").exists()
