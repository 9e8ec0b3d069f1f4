"""What a function finds around it in a process of its own: what it would find outside."""

from __future__ import annotations

import os
import zlib
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from zoviz import BlackBox, Run
from zoviz.core.threads.blas import SingleBlasThread
from zoviz.core.types import Array
from zoviz.evaluation.surroundings import Surroundings

BOUNDS = [(-1.0, 1.0)] * 2


def folder_and_variable(x: Array) -> float:
    return float(zlib.crc32(f"{os.getcwd()} {os.environ.get('LICENCE')} {'GONE' in os.environ}".encode()))


def blas_threads(x: Array) -> float:
    return float(max(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"))


@pytest.mark.parametrize("forked", [False, True])
def test_folder_and_environment_are_the_present_ones(
    forked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GONE", "1")
    BlackBox(folder_and_variable, bounds=BOUNDS, workers=2).evaluate(np.zeros((1, 2)))  # the fork server is there
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LICENCE", "27000@there")
    monkeypatch.delenv("GONE")
    function = (lambda x: folder_and_variable(x)) if forked else folder_and_variable  # a closure goes to a fork
    problem = BlackBox(function, bounds=BOUNDS, workers=2)
    assert problem.evaluate(np.zeros((1, 2))).f[0] == folder_and_variable(np.zeros(2))
    problem.release()


@pytest.mark.parametrize(("workers", "threads"), [(None, 4), (1, 4), (2, 2), (3, 1)])
def test_linear_algebra_has_its_threads_in_a_function(workers: int | None, threads: int) -> None:
    with threadpool_limits(4, user_api="blas"):
        timeout = None if workers is None else 500.0
        problem = BlackBox(blas_threads, bounds=BOUNDS, x0=[0.5, 0.5], workers=workers, timeout=timeout)
        outcome = Run(problem, "COBYLA", replicas=1, calls=12).run()
        assert outcome.fun[0] == threads and blas_threads(np.zeros(2)) == 4


def test_several_runs_at_a_time_have_one_thread() -> None:
    with threadpool_limits(4, user_api="blas"):
        with SingleBlasThread():
            assert blas_threads(np.zeros(2)) == 1 and SingleBlasThread.threads_outside() == 4
            with SingleBlasThread.released():
                assert blas_threads(np.zeros(2)) == 4
                with SingleBlasThread():
                    assert blas_threads(np.zeros(2)) == 1
                assert blas_threads(np.zeros(2)) == 4
            assert blas_threads(np.zeros(2)) == 1
        assert blas_threads(np.zeros(2)) == SingleBlasThread.threads_outside() == 4


def test_a_handler_that_cannot_be_sent_is_left_out() -> None:
    with np.errstate(all="call", call=lambda kind, flag: None):
        assert Surroundings.here(1).errors == {"divide": "warn", "over": "warn", "under": "warn", "invalid": "warn"} | {
            "call": None
        }
