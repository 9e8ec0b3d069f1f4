"""``python -m zoviz`` as a process: Ctrl-C once and twice, kill -9 and resume, a pipe whose reader has gone."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers import waiting
from zoviz.runs.store import Store

# Problem 22 of Hock and Schittkowski; every launch leaves a line, and the 14th waits where its run is to be killed.
PROGRAM = """\
echo launched >> "$3"
while [ -e "$3.hold" ] && [ "$(wc -l < "$3")" -gt 13 ]; do sleep 0.02; done
awk '{ x[NR] = $1 } END { printf "%.17g\\n%.17g\\n%.17g\\n",
    (x[1] - 2)^2 + (x[2] - 1)^2, x[1] + x[2] - 2, x[1]^2 - x[2] }' "$1" > "$2"
"""
LONG = ["run", "LoadTracking", "ZOCEG", "n=5", "curtailment=40", "--calls", "100000000", "--json", "--quiet"]


@pytest.fixture
def begin(tmp_path: Path, root: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts ``python -m zoviz`` in a session of its own."""
    begun: list[subprocess.Popen[str]] = []
    environment = os.environ | {"PYTHONPATH": str(root), "OMP_NUM_THREADS": "1"}
    environment.pop("ZOVIZ_STORE", None)

    def start(*words: str, **settings: str) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            [sys.executable, "-m", "zoviz", *words],
            cwd=tmp_path,
            env=environment | settings,
            stdout=pipe,
            stderr=pipe,
            text=True,
        )
        begun.append(process)
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def until(condition: Callable[[], Any], seconds: float = 120.0) -> None:
    waiting.until(condition, seconds, pause=0.05)


def records(folder: Path) -> list[Any]:
    if not (folder / "zoviz.db").exists():
        return []
    with Store(f"sqlite:///{folder / 'zoviz.db'}") as store:
        return store.runs()


def at_work(folder: Path, calls: int = 1) -> bool:
    """Whether a run has come so far."""
    return any(record.calls >= calls for record in records(folder))


def ended(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=240)
    return process.returncode, out, err


def test_ctrl_c_once_stops_cleanly_and_the_run_goes_on(begin: Any, tmp_path: Path) -> None:
    process = begin(*LONG)
    until(lambda: at_work(tmp_path))
    process.send_signal(signal.SIGINT)
    code, out, err = ended(process)
    assert code == 130 and "Stopping after this step" in err and "Traceback" not in err
    report = json.loads(out)
    (record,) = records(tmp_path)
    assert record.status == report["status"] == "stopped" and record.iterations == report["iterations"] > 0
    with Store(f"sqlite:///{tmp_path / 'zoviz.db'}") as store:
        run = store.load(record.id).resume(iterations=record.iterations + 5)
        assert run.run().nit == report["iterations"] + 5


@pytest.mark.parametrize("kind", ["program", "function"])
def test_ctrl_c_twice_ends_at_once(kind: str, begin: Any, tmp_path: Path) -> None:
    if kind == "program":
        (tmp_path / "slow.sh").write_text("echo $$ > pid; exec sleep 600")
        words = ["--exe", "sh slow.sh", "--folder", ".", "--bounds", "0:1"]
    else:
        source = "from zoviz.problems import BlackBox\nimport time\ndef slow(x):\n    open('pid', 'w').write('0\\n')\n"
        source += "    time.sleep(600)\nproblem = BlackBox(slow, bounds=[(0, 1)])\n"
        (tmp_path / "slow.py").write_text(source)
        words = ["slow:problem"]
    process = begin("run", *words, "--calls", "9", "--quiet")
    until(lambda: (tmp_path / "pid").exists() and (tmp_path / "pid").read_text().strip())
    process.send_signal(signal.SIGINT)
    assert any("Stopping after this step" in line for line in iter(process.stderr.readline, ""))
    assert process.poll() is None, "the first waits for the step"
    process.send_signal(signal.SIGINT)
    code, _, err = ended(process)
    assert code == 130 and "interrupted" in err and "Traceback" not in err
    assert [record.status for record in records(tmp_path)] == ["interrupted"]
    pid = int((tmp_path / "pid").read_text())
    if pid:
        until(lambda: not Path(f"/proc/{pid}").exists())


def test_a_killed_program_s_run_is_resumed(begin: Any, tmp_path: Path) -> None:
    (tmp_path / "program.sh").write_text(PROGRAM)

    def words(name: str) -> list[str]:
        return ["--exe", f"sh program.sh {{input}} {{output}} {tmp_path / name}"]

    options = ["--bounds=-4:4*2", "--constraints", "2", "--calls", "40", "--quiet", "--json", "ZOCEG"]
    whole = ended(begin("run", *words("whole"), *options, "--store", "sqlite:///whole.db"))
    assert whole[0] == 0, whole[2]
    hold = tmp_path / "broken.hold"
    hold.touch()
    process = begin("run", *words("broken"), *options)
    until(lambda: (tmp_path / "broken").exists() and len((tmp_path / "broken").read_text().splitlines()) > 12)
    process.kill()
    process.communicate()
    hold.unlink()
    (record,) = records(tmp_path)
    assert record.status == "interrupted"
    stranger = begin("resume", record.id[:8], "--quiet", XDG_CONFIG_HOME=str(tmp_path / "of somebody else"))
    code, _, err = ended(stranger)
    assert code == 2 and "Expected a program that you trust" in err and "--trust" in err
    again = begin("resume", record.id[:8], "--quiet", "--json")
    code, out, err = ended(again)
    assert code == 0, err
    expected, report = json.loads(whole[1]), json.loads(out)
    assert report["id"] == record.id
    for name in ("x", "fun", "calls", "best_fun", "iterations"):
        np.testing.assert_array_equal(report[name], expected[name], err_msg=name)
    launches = [len((tmp_path / name).read_text().splitlines()) for name in ("whole", "broken")]
    assert launches[0] <= launches[1] <= launches[0] + 1, "one was in flight"


def test_a_reader_that_has_gone(begin: Any) -> None:
    process = begin("problems")
    process.stdout.close()
    process.wait(240)
    assert process.returncode == 0 and process.stderr.read() == ""


def test_ctrl_c_ends_a_sweep_that_goes_on_later(begin: Any, tmp_path: Path) -> None:
    words = ["sweep", *LONG[1:], "primal_step=1e-3,1e-4,1e-5", "--workers", "2"]
    process = begin(*words)
    until(lambda: len(records(tmp_path)) == 2 and all(one.iterations > 0 for one in records(tmp_path)))
    process.send_signal(signal.SIGINT)
    code, _, err = ended(process)
    assert code == 130 and "Traceback" not in err
    assert [one.status for one in records(tmp_path)] == ["interrupted"] * 2
