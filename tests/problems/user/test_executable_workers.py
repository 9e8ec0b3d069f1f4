"""Real programs as black boxes: launches in parallel, and values told as they come."""

from __future__ import annotations

import multiprocessing
import time
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.programs import BOX, NEEDS_A_SHELL, POINTS, PYTHON, shell
from helpers.waiting import until
from zoviz.core.types import Array
from zoviz.problems import Executable

pytestmark = NEEDS_A_SHELL


# --- in parallel ----------------------------------------------------------------------------------------------------


def intervals(folder: Path) -> Array:
    """Start and end of every launch, by the clock of the machine."""
    return np.array([sorted(map(int, path.read_text().split())) for path in sorted(folder.iterdir())])


def logging(folder: Path, crowd: int) -> list[str]:
    """A program that writes when it starts, and ends when so many have started."""
    source = (
        "import os, sys, time\n"
        "folder, crowd, start = sys.argv[1], int(sys.argv[2]), time.monotonic_ns()\n"
        "with open(os.path.join(folder, os.environ['ZOVIZ_CALL']), 'w') as file:\n"
        "    print(start, file=file, flush=True)  # taken before the file is there, which lets the others end\n"
        "    deadline = time.monotonic() + 120\n"
        "    while len(os.listdir(folder)) < crowd and time.monotonic() < deadline:\n"
        "        time.sleep(0.005)\n"
        "    print(time.monotonic_ns(), file=file)\n"
        "print(sys.stdin.readline())\n"
    )
    folder.mkdir()
    return [*PYTHON, "-c", source, str(folder), str(crowd)]


def test_launches_overlap_where_there_are_workers_for_them(tmp_path: Path) -> None:
    points = np.column_stack([np.arange(6.0), np.zeros(6)])
    problem = Executable(logging(tmp_path / "three", 3), bounds=BOX, m=0, workers=3)
    np.testing.assert_array_equal(problem.evaluate(points).f, np.arange(6.0))
    times = intervals(tmp_path / "three")
    assert times[:3, 0].max() < times[:3, 1].min(), "three at once"
    together = (times[:, None, 0] < times[None, :, 1]) & (times[None, :, 0] < times[:, None, 1])
    at_starts = (times[:, 0] <= times[:, None, 0]) & (times[:, None, 0] < times[:, 1])
    assert together.any() and at_starts.sum(axis=1).max() == 3, "and never more"

    alone = Executable(logging(tmp_path / "one", 1), bounds=BOX, m=0)
    alone.evaluate(points[:3])
    times = intervals(tmp_path / "one")
    assert (times[1:, 0] >= times[:-1, 1]).all(), "one after the other"


CREWS: dict[str, Callable[[], Any]] = {
    "threads": lambda: ThreadPoolExecutor(2),
    "processes": lambda: ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")),
    "map of a pool": lambda: ThreadPoolExecutor(2).map,
    "one per core": lambda: -1,
}


@pytest.mark.parametrize("crew", CREWS)
def test_any_executor_launches_gives_up_and_tells_what_was_printed(crew: str) -> None:
    workers = CREWS[crew]()
    problem = shell("read a; test $a = 3.0 && sleep 600; echo $a; echo word >&2", timeout=2.5, workers=workers)
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, [POINTS[0, 0], POINTS[1, 0], np.nan])
    assert "Expected a value within 2.5 s" in problem.failure_message
    assert sorted((one.call, one.errors) for one in problem.printed) == [(1, "word\n"), (2, "word\n"), (3, "")]
    if isinstance(workers, Executor):
        workers.shutdown()


def test_values_are_told_as_they_come(tmp_path: Path) -> None:
    source = f"read a; test $a = 0.1 && while ! test -e {tmp_path}/go; do sleep 0.01; done; echo $a"
    problem, arrivals = shell(source, workers=2), []

    def hear(i: int, value: Any) -> None:
        arrivals.append((i, float(value.f)))
        if len(arrivals) == 2:
            (tmp_path / "go").touch()

    value = problem.collect(POINTS, hear)
    assert arrivals == [(1, POINTS[1, 0]), (2, 3.0), (0, 0.1)]
    np.testing.assert_array_equal(value.f, POINTS[:, 0])


def test_a_value_is_told_before_its_worker_begins_another_point(tmp_path: Path) -> None:
    """So that what is kept by then is all but as many launches as there are workers."""
    points = np.column_stack([np.arange(8.0), np.zeros(8)])
    for workers in (None, 3):
        folder = tmp_path / str(workers)
        folder.mkdir()
        crew, behind = workers or 1, []

        def hear(i: int, value: Any, folder: Path = folder, crew: int = crew, behind: list[int] = behind) -> None:
            until(lambda: len(list(folder.iterdir())) - len(behind) >= min(crew, 8 - len(behind)))
            time.sleep(0.02)  # in which one too many would begin
            behind.append(len(list(folder.iterdir())) - len(behind))

        shell(f"read a; touch {folder}/$a; echo $a", workers=workers).collect(points, hear)
        assert len(behind) == 8 and max(behind) == crew
