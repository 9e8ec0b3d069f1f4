"""A batch evaluated on a Dask cluster of two processes; one of them killed while it does."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.errors import OracleError
from zoviz.core.types import Array
from zoviz.problems import BlackBox, Executable
from zoviz.solvers import ZOSPLM

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

BOX = [(-1.0, 1.0)] * 2


@contextmanager
def cluster(patience: int = 3) -> Iterator[Any]:
    """Two processes; a task is given up when more than ``patience`` (Dask's default is 3) have died of it."""
    timeouts = {f"distributed.comm.timeouts.{name}": "200s" for name in ("connect", "tcp")}  # of a busy machine
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": patience, **timeouts}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as two,
        distributed.Client(two) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with cluster() as client:
        yield client


@pytest.fixture
def mortal() -> Iterator[Any]:
    """A cluster whose workers may be killed: nobody waits for their successors."""
    with cluster() as client:
        yield client


def test_a_run_on_the_cluster_is_the_run_here(client: Any) -> None:
    matrix = np.array([[2.0, 0.3], [0.3, 1.0]])

    def objective(x: Array) -> float:  # a closure: it travels whole
        return float(x @ matrix @ x)

    def result(workers: Any) -> Any:
        problem = BlackBox(objective, lambda x: 0.2 - x[0], bounds=BOX, workers=workers)
        solver = ZOSPLM()
        solver.estimator.batch_size = 5
        return Run(problem=problem, solver=solver, replicas=2, iterations=2, seed=2).run()

    mine, expected = result(client.get_executor()), result(None)
    for name in ("x", "fun", "calls", "multipliers"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(expected, name), err_msg=name)


def test_both_processes_work_and_equal_points_are_called_again(client: Any, tmp_path: Path) -> None:
    def clock(x: Array) -> float:
        (tmp_path / str(os.getpid())).touch()
        end = time.monotonic() + 240.0
        while len(list(tmp_path.iterdir())) < 2 and time.monotonic() < end:  # the other process may be slow to begin
            time.sleep(0.02)
        return float(time.perf_counter())

    workers = client.get_executor()
    problem = BlackBox(clock, lambda x: float(os.getpid()), bounds=BOX, m=1, workers=workers)
    value = problem.evaluate(np.zeros((10, 2)))
    assert np.unique(value.f).size == 10, "Dask takes tasks with equal arguments for one"
    assert set(value.h[:, 0]) == set(client.run(os.getpid).values())


def test_an_executable_tells_from_there_what_it_printed(client: Any) -> None:
    command = ["/bin/sh", "-c", "read a; test $ZOVIZ_CALL = 3 && exit 5; echo $a; echo $PPID >&2"]
    problem = Executable(command, bounds=BOX, m=0, workers=client.get_executor(), timeout=120.0)
    points = np.column_stack([np.linspace(-1, 1, 6), np.zeros(6)])
    value = problem.evaluate(points)
    np.testing.assert_array_equal(value.f, np.where(np.arange(6) == 2, np.nan, points[:, 0]))
    assert "got exit status 5" in problem.failure_message
    parents = {int(one.errors) for one in problem.printed if one.call != 3}
    assert parents <= set(client.run(os.getpid).values()) and os.getpid() not in parents


def deadly(folder: Path, times: int) -> Any:
    """A function that kills its process at some points, so many times."""

    def objective(x: Array) -> float:
        if x[0] > 0.5:
            deaths = len(list(folder.iterdir()))
            if deaths < times:
                (folder / str(deaths)).touch()
                os.kill(os.getpid(), signal.SIGKILL)
        return float(x[0])

    return objective


def test_calls_of_a_killed_worker_are_made_elsewhere(mortal: Any, tmp_path: Path) -> None:
    points = np.column_stack([np.linspace(-1, 0.6, 8), np.zeros(8)])
    problem = BlackBox(deadly(tmp_path, 1), bounds=BOX, workers=mortal.get_executor())
    np.testing.assert_array_equal(problem.evaluate(points).f, points[:, 0])
    assert problem.failure_message == "" and len(list(tmp_path.iterdir())) == 1


class LosingExecutor:
    """An executor that passes for Dask's and loses the outcome of its third task, so many times."""

    __module__ = "distributed.cfexecutor"

    def __init__(self, losses: int) -> None:
        self.losses, self.tasks = losses, 0

    def submit(self, function: Any, *arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.tasks += 1
        if self.tasks >= 3 and self.losses:
            self.losses -= 1
            future.set_exception(ValueError("not enough values to unpack (expected 3, got 2)"))
        else:
            future.set_result(function(*arguments))
        return future


def test_an_outcome_that_was_lost_on_its_way_is_found_again_once() -> None:
    points = np.column_stack([np.linspace(-1, 1, 5), np.zeros(5)])
    executor = LosingExecutor(1)
    problem = BlackBox(lambda x: float(x[0]), bounds=BOX, workers=executor)
    np.testing.assert_array_equal(problem.evaluate(points).f, points[:, 0])
    assert executor.tasks == 6
    with pytest.raises(OracleError, match="got ValueError: not enough values"):
        BlackBox(lambda x: float(x[0]), bounds=BOX, workers=LosingExecutor(99)).evaluate(points)


@pytest.mark.slow
def test_a_program_goes_with_its_worker_and_is_launched_elsewhere(mortal: Any, tmp_path: Path) -> None:
    pid_file = tmp_path / "pids"
    source = f"test -e {pid_file} && {{ echo 1; exit; }}; echo $$ $PPID > {pid_file}; trap '' TERM; sleep 600"

    def kill() -> None:
        while not (pid_file.exists() and pid_file.read_text().endswith("\n")):
            time.sleep(0.01)
        os.kill(int(pid_file.read_text().split()[1]), signal.SIGKILL)

    threading.Thread(target=kill, daemon=True).start()
    problem = Executable(["/bin/sh", "-c", source], bounds=BOX, m=0, workers=mortal.get_executor(), timeout=60.0)
    np.testing.assert_array_equal(problem.evaluate(np.zeros((1, 2))).f, 1.0)
    program = int(pid_file.read_text().split()[0])
    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline and running(program):
        time.sleep(0.01)
    assert not running(program)


def running(pid: int) -> bool:
    """Whether the process is there, and no zombie."""
    process = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return process.stdout.strip()[:1] not in ("", "Z")


def test_a_call_that_is_given_up_is_a_failure_with_a_sentence(tmp_path: Path) -> None:
    sentence = "Expected a value, got the end of the worker processes: Attempted to run task .* on 1 "
    with cluster(patience=0) as client:  # each of the two calls takes one of the two workers with it
        problem = BlackBox(deadly(tmp_path, 99), bounds=BOX, workers=client.get_executor(), on_error="fail")
        assert np.isnan(problem.evaluate(np.array([[0.9, 0.0]])).f).all()
        with pytest.raises(OracleError, match=r"at x = \[0.9 0. \]: " + sentence):
            raise OracleError(problem.failure_message)
        problem.on_error = "raise"
        with pytest.raises(OracleError, match=sentence):
            problem.evaluate(np.array([[0.9, 0.0]]))


def test_a_function_that_is_not_there_is_named(client: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "only_the_parent_has_this.py").write_text("def bowl(x):\n    return float(x @ x)\n")
    monkeypatch.syspath_prepend(tmp_path)
    import only_the_parent_has_this as module

    problem = BlackBox(module.bowl, bounds=BOX, workers=client.get_executor(), on_error="fail")
    with pytest.raises(OracleError, match="Expected a black box that ClientExecutor can evaluate, got"):
        problem.evaluate(np.zeros((2, 2)))
    sys.modules.pop("only_the_parent_has_this")
