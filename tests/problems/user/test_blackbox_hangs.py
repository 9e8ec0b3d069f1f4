"""Black boxes as they are in practice: calls that take too long, and a parent that is killed meanwhile."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from helpers.faulty_black_box import BOX, POINTS, UNSCALED, alive
from helpers.programs import gone
from zoviz import Run
from zoviz.evaluation.worker_processes import WorkerProcesses
from zoviz.problems import BlackBox
from zoviz.solvers import ZOCEG

HANGING = """
import os, sys, time
from zoviz import minimize

def hangs(x):
    print(os.getpid(), flush=True)
    time.sleep(120.0)

if __name__ == "__main__":
    minimize(hangs, [0.5, 0.5], timeout=100.0)
"""

SERVING = """
import asyncio, os, signal, weakref
weakref.finalize(asyncio.Lock, print)  # what weakref does at exit then comes after what multiprocessing does
import numpy as np
from zoviz.evaluation.worker_processes import WorkerProcesses

loop = asyncio.new_event_loop()
loop.add_signal_handler(signal.SIGTERM, loop.stop)
workers = WorkerProcesses(lambda x: float(x.sum()), 1, None)
print(workers.outcomes([np.ones(2)]), flush=True)
os.kill(os.getpid(), signal.SIGTERM)
loop.run_forever()
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_fork_of_a_server_does_not_keep_it_from_ending() -> None:
    """With the server's handler of SIGTERM the fork would live on, and multiprocessing wait for it without end."""
    with subprocess.Popen([sys.executable, "-c", SERVING], stdout=subprocess.PIPE, start_new_session=True) as server:
        try:
            written, _ = server.communicate(timeout=240)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
    assert server.returncode == 0 and written.startswith(b"[2.0]")


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_hang_does_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(HANGING)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py")], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    try:
        assert gone(child), "the process that evaluated outlived its parent"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


# --- calls that take too long -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hangs", "hangs_in_another"])
def test_a_hang_costs_one_timeout_and_is_counted(name: str, functions: ModuleType) -> None:
    problem = BlackBox(getattr(functions, name), functions.slope, bounds=BOX, timeout=2.0)
    expected = BlackBox(functions.bowl, functions.slope, bounds=BOX).evaluate(POINTS)
    problem.evaluate(POINTS[:1])  # the first process is there
    value = problem.evaluate(POINTS)  # the function would be there for ten minutes: longer than a test may take
    np.testing.assert_array_equal(np.isnan(value.f), [False, True, False, False])
    np.testing.assert_array_equal(value.f[[0, 2, 3]], expected.f[[0, 2, 3]])
    np.testing.assert_array_equal(value.h[[0, 2, 3]], expected.h[[0, 2, 3]])
    assert "Expected a value within 2 s, got none at x = [0.9 0. ]." in problem.failure_message
    problem.release()
    assert alive() == 0


def test_hangs_in_several_processes_are_waited_for_together(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl", reason="locks of files")

    def hang(x: np.ndarray) -> None:
        with open(tmp_path / str(int(x[0])), "w") as mine:
            fcntl.flock(mine, fcntl.LOCK_EX)  # as long as this process lives
            while not any(map(held, set(tmp_path.iterdir()) - {Path(mine.name)})):
                time.sleep(0.01)
            (tmp_path / "together").touch()
            time.sleep(600.0)

    def held(path: Path) -> bool:
        with open(path) as other:
            try:
                fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
        return False

    processes = WorkerProcesses(hang, 4, 2.0)
    try:
        outcomes = processes.outcomes([np.full(2, float(i)) for i in range(5)])
    finally:
        processes.close()
    assert all(outcome.counted and isinstance(outcome.error, TimeoutError) for outcome in outcomes)
    assert (tmp_path / "together").exists(), "one after the other none would ever meet another"


def test_a_run_with_hangs_ends(functions: ModuleType) -> None:
    problem = BlackBox(functions.hangs, bounds=BOX, x0=[0.49, 0.5], timeout=2.0, workers=2, **UNSCALED)
    solver = ZOCEG(primal_step=0.2, dual_step=0.2, dual_cap=1.0)
    result = Run(problem=problem, solver=solver, replicas=1, iterations=20).run()
    assert result.status == "finished" and result.failures[0] >= 1 and result.best_fun[0] < 1e-4


def test_counting_constraints_does_not_hang(functions: ModuleType) -> None:
    problem = BlackBox(functions.bowl, functions.hangs, bounds=BOX, x0=[0.9, 0.0], timeout=0.3)
    with pytest.raises(TimeoutError, match="Expected a value within 0.3 s") as caught:
        _ = problem.m
    assert any("with m given it is not needed" in note for note in caught.value.__notes__)
