"""``zoviz doctor``: an installation that works, and each fault with what to do."""

from __future__ import annotations

import socket
import sys
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from helpers.command_line import Told
from zoviz import Run
from zoviz.cli.command import FAILED, FINE
from zoviz.runs.storage.signature import key_file

METADATA = """Metadata-Version: 2.4
Name: zoviz
Version: 0.1.0
Requires-Python: >=3.11
Requires-Dist: numpy>={numpy}
Provides-Extra: ghost
Requires-Dist: no-such-package-anywhere>=2; extra == "ghost"
Provides-Extra: arrays
Requires-Dist: scipy>=1.0; extra == "arrays"
"""


@pytest.fixture
def installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Has the metadata of an installation of zoviz be found first, with a lower bound of NumPy."""

    def install(numpy: str) -> None:
        info = folder / "site" / "zoviz-0.1.0.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(METADATA.format(numpy=numpy))
        monkeypatch.setattr(sys, "path", [str(folder / "site"), *sys.path])

    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder / "settings"))
    return install


@pytest.fixture
def look(zoviz: Callable[..., Told]) -> Iterator[Callable[..., tuple[int, dict[str, tuple[str, str]]]]]:
    def call(*words: str) -> tuple[int, dict[str, tuple[str, str]]]:
        told = zoviz("doctor", "--json", *words)
        return told.code, {one["subject"]: (one["state"], one["sentence"]) for one in told.json}

    yield call


def test_an_installation_that_is_well(installed, look, folder: Path) -> None:
    installed("2.0")
    code, findings = look()
    assert code == FINE and not [subject for subject, (state, _) in findings.items() if state == "broken"]
    assert findings["Python"][0] == findings["zoviz"][0] == findings["exact replay"][0] == "OK"
    assert findings["extra arrays"][0] == "OK"
    state, sentence = findings["extra ghost"]
    assert state == "missing" and "no-such-package-anywhere" in sentence
    assert 'python -m pip install "zoviz[ghost]"' in sentence
    assert "none yet" in findings["store"][1] and not list(folder.glob("*.db"))
    assert not (folder / "settings").exists()


def test_a_package_that_is_too_old_is_a_fault(installed, look) -> None:
    installed("99.0")
    code, findings = look()
    assert code == FAILED and findings["zoviz"][0] == "broken"
    assert "numpy>=99.0, not " in findings["zoviz"][1] and "pip install" in findings["zoviz"][1]


def test_a_store_that_is_whole_is_counted(look, zoviz: Callable[..., Told], small: str) -> None:
    code, findings = look()
    assert code == FINE and findings["store"] == ("OK", "1 runs in zoviz.db, all intact")


@pytest.mark.parametrize("content", [b"no database at all, but text of some length" * 40])
def test_a_damaged_store_is_a_fault(look, folder: Path, content: bytes) -> None:
    (folder / "zoviz.db").write_bytes(content)
    code, findings = look()
    assert code == FAILED and findings["store"][0] == "broken" and "damaged" in findings["store"][1]


def test_nothing_is_to_be_kept(look) -> None:
    assert look("--store", "none")[1]["store"][0] == "OK"


def test_a_key_that_others_can_read_is_a_fault(installed, look) -> None:
    installed("2.0")
    key_file().parent.mkdir(parents=True)
    key_file().write_bytes(bytes(32))
    key_file().chmod(0o644)
    code, findings = look()
    assert code == FAILED and f"chmod 600 {key_file()}" in findings["signing key"][1]
    key_file().chmod(0o600)
    assert look()[0] == FINE


def test_a_machine_that_does_not_repeat_is_a_fault(look, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "replay", lambda run: Run(run.problem, run.solver, replicas=2, iterations=3))
    code, findings = look()
    assert code == FAILED and findings["exact replay"][0] == "broken"


def test_no_browser_and_a_busy_port_are_notes(look, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> None:
        raise webbrowser.Error("none")

    monkeypatch.setattr(webbrowser, "get", none)
    with socket.socket() as busy:
        busy.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            busy.bind(("127.0.0.1", 5006))
            busy.listen()
        except OSError:
            assert True  # somebody else has it, which serves as well
        code, findings = look()
    assert code == FINE
    assert "--no-show" in findings["browser"][1] and "--port 0" in findings["port"][1]
