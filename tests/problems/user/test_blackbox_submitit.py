"""Calls as jobs of submitit, whose futures call nobody back: by its local executor, and jobs that were lost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.doors import Ledger, assert_same_result, finished_run
from zoviz.core.errors import OracleError
from zoviz.core.types import Array
from zoviz.problems import BlackBox

BOX = [(-1.0, 1.0)] * 2
POINTS = np.column_stack([np.linspace(-1, 1, 4), np.zeros(4)])


def test_jobs_are_processes_and_one_that_fails_is_a_failed_call(tmp_path: Path) -> None:
    submitit = pytest.importorskip("submitit", reason='python -m pip install "zoviz[submitit]"')

    def objective(x: Array) -> float:  # a closure: it travels whole
        if x[0] > 0.9:
            raise ArithmeticError("no convergence")
        return float(x[0])

    executor = submitit.LocalExecutor(folder=tmp_path)
    problem = BlackBox(objective, bounds=BOX, m=0, on_error="fail", workers=executor)
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, [*POINTS[:3, 0], np.nan])
    assert "no convergence" in problem.failure_message
    (row,) = problem.worker_table.rows  # this machine
    assert row.calls == 4 and problem.worker_table.under_way == 0


class UncompletedJobError(Exception):
    """As submitit has it for a job without a result."""


class Job:
    """A job, which may be lost."""

    def __init__(self, work: Any, lost: bool) -> None:
        self.work, self.lost = work, lost

    def done(self) -> bool:
        return True

    def exception(self) -> Exception | None:
        return UncompletedJobError("Job 7 has not produced any output. See its log.") if self.lost else None

    def result(self) -> Any:
        if self.lost:
            raise UncompletedJobError("Job 7 has not produced any output. See its log.")
        return self.work()

    def cancel(self) -> None:
        raise RuntimeError("scancel: no such job")


class Cluster:
    """An executor that loses the jobs of the first point, so many times."""

    def __init__(self, losses: int) -> None:
        self.losses, self.jobs = losses, 0

    def submit(self, function: Any, *arguments: Any) -> Job:
        lost = self.losses > 0 and arguments[1][0] == POINTS[0, 0]
        self.jobs, self.losses = self.jobs + 1, self.losses - lost
        return Job(lambda: function(*arguments), lost)


def test_a_job_that_was_lost_is_made_again_once() -> None:
    cluster = Cluster(1)
    problem = BlackBox(lambda x: float(x[0]), bounds=BOX, m=0, workers=cluster)
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, POINTS[:, 0])
    assert cluster.jobs == 5 and problem.failure_message == ""
    problem = BlackBox(lambda x: float(x[0]), bounds=BOX, m=0, workers=Cluster(2), on_error="fail")
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, [np.nan, *POINTS[1:, 0]])
    assert "the end of the worker processes: Job 7 has not produced any output." in problem.failure_message
    problem = BlackBox(lambda x: float(x[0]), bounds=BOX, m=0, workers=Cluster(2))
    with pytest.raises(OracleError, match="Job 7"):  # nor does a job that cannot be cancelled hide it
        problem.evaluate(POINTS)


def test_a_run_by_jobs_is_the_run_here() -> None:
    mine, expected = finished_run(Ledger(), workers=Cluster(0)), finished_run(Ledger())
    assert_same_result(mine.result, expected.result)
