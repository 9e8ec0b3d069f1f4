"""Real programs as black boxes: no launch outlives Ctrl-C, its problem, or the process that began it."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from helpers.programs import NEEDS_A_SHELL, POINTS, gone, pids, shell
from zoviz.core.errors import OracleError

pytestmark = NEEDS_A_SHELL


# --- nothing is left running ----------------------------------------------------------------------------------------


@pytest.fixture
def heeded() -> Iterator[None]:
    """Python's own answer to Ctrl-C: NOMAD's library, where a test has called it in this process, leaves another."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    if before is not None:
        signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeded")
@pytest.mark.parametrize("workers", [None, 2])
def test_ctrl_c_ends_the_launches(workers: int | None, tmp_path: Path) -> None:
    pid_file = tmp_path / "pids"
    problem = shell(f"sleep 600 & echo $! > {pid_file}; wait; echo 1", workers=workers, retries=5)

    def interrupt() -> None:
        pids(pid_file, 1)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        problem.evaluate(POINTS[:1])
    assert gone(pids(pid_file, 1)[0])


def test_release_ends_the_launches_and_the_next_evaluation_starts_afresh(tmp_path: Path) -> None:
    pid_file = tmp_path / "pids"
    problem = shell(f"test -e {pid_file} && {{ echo 1; exit; }}; echo $$ > {pid_file}; exec sleep 600", retries=3)
    values: list[Any] = []

    def evaluate() -> None:
        with pytest.raises(OracleError, match="got the end of the run"):
            problem.evaluate(POINTS[:1])
        values.append(problem.evaluate(POINTS[:1]).f)

    thread = threading.Thread(target=evaluate)
    thread.start()
    (pid,) = pids(pid_file, 1)
    problem.release()
    thread.join(120.0)
    assert gone(pid) and values == [1.0]


PARENT = """
import sys
from zoviz import Run
from zoviz.problems import Executable
from zoviz.solvers import ZOCEG

if __name__ == "__main__":
    how, seen = sys.argv[1:]
    workers = {{"alone": None, "exit": 2, "threads": 2}}[how]
    source = "trap '' TERM HUP INT; kill 0; sleep 600 & echo $$ $! > " + seen + "; wait; wait"
    problem = Executable(["/bin/sh", "-c", source], bounds=[(-1, 1)] * 2, m=0, workers=workers)
    run = Run(problem=problem, solver=ZOCEG(), replicas=1, iterations=2)
    if how != "exit":
        run.run()
    run.start()
    import os, time
    while not os.path.exists(seen) or not open(seen).read().endswith("\\n"):
        time.sleep(0.01)
"""


@pytest.mark.parametrize("how", ["alone", "threads", "exit"])
def test_no_child_outlives_its_parent(how: str, tmp_path: Path) -> None:
    pid_file, file = tmp_path / "pids", tmp_path / "parent.py"
    file.write_text(PARENT.format())
    parent = subprocess.Popen([sys.executable, str(file), how, str(pid_file)])
    children = pids(pid_file, 2)
    if how != "exit":
        parent.kill()
    parent.wait(120.0)
    assert all(map(gone, children))
