"""Points of later batches: workers begin with them while a batch waits, each is called once, and nothing is left."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from helpers.faulty_black_box import alive
from helpers.programs import NEEDS_A_SHELL
from helpers.waiting import until
from zoviz import Run
from zoviz.core.types import Array
from zoviz.problems import BlackBox, Executable
from zoviz.problems.user.base import Simulation
from zoviz.solvers import ZOSQP

BOX = [(-4.0, 4.0)] * 2
SLOW, AHEAD, LAST = np.array([1.0, 0.0]), np.array([2.0, 0.0]), np.array([3.0, 0.0])


def waits(x: Array, folder: str) -> float:
    """x1, noted in a file; that of the slow point comes once the point ahead has been called."""
    with open(Path(folder) / "calls", "a") as file:
        file.write(f"{x[0]:g}\n")
    if x[0] == SLOW[0]:
        until(lambda: "2\n" in (Path(folder) / "calls").read_text(), pause=0.01)
    return float(x[0])


PROGRAM = """
import os, sys, time
folder, number = sys.argv[1], float(sys.stdin.readline().split()[0])
with open(os.path.join(folder, "calls"), "a") as file:
    file.write(f"{number:g}\\n")
while number == 1.0 and "2\\n" not in open(os.path.join(folder, "calls")).read():
    time.sleep(0.01)
print(number)
"""


def processes(folder: Path) -> Simulation:
    return BlackBox(partial(waits, folder=str(folder)), bounds=BOX, workers=2)


def threads(folder: Path) -> Simulation:
    return BlackBox(partial(waits, folder=str(folder)), bounds=BOX, workers=ThreadPoolExecutor(2))


def programs(folder: Path) -> Simulation:
    return Executable([sys.executable, "-I", "-S", "-c", PROGRAM, str(folder)], bounds=BOX, m=0, workers=2)


EACH = [processes, threads, pytest.param(programs, marks=NEEDS_A_SHELL)]


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Callable[[], list[str]]]:
    """The numbers that were called so far."""
    yield lambda: (tmp_path / "calls").read_text().split()


@pytest.mark.parametrize("made", EACH)
def test_a_worker_begins_with_what_is_ahead_while_a_batch_waits(
    made: Callable[[Path], Simulation], tmp_path: Path, calls: Callable[[], list[str]]
) -> None:
    problem = made(tmp_path)
    assert problem.collect(SLOW[None], ahead=[AHEAD]).f == [1.0], "else it would wait in vain"
    np.testing.assert_array_equal(problem.collect(np.stack([LAST, AHEAD])).f, [3.0, 2.0])
    assert sorted(calls()) == ["1", "2", "3"], "each once"
    problem.release()
    assert alive() == 0


@pytest.mark.parametrize("made", EACH)
def test_equal_points_ahead_are_calls_of_their_own(
    made: Callable[[Path], Simulation], tmp_path: Path, calls: Callable[[], list[str]]
) -> None:
    problem = made(tmp_path)
    problem.collect(SLOW[None], ahead=[AHEAD, AHEAD])
    np.testing.assert_array_equal(problem.collect(np.stack([AHEAD, AHEAD])).f, [2.0, 2.0])
    assert calls().count("2") == 2
    problem.release()


@pytest.mark.parametrize("made", EACH)
def test_what_is_released_is_called_anew(
    made: Callable[[Path], Simulation], tmp_path: Path, calls: Callable[[], list[str]]
) -> None:
    problem = made(tmp_path)
    # The slow point comes after the point ahead has been noted: a thread of the caller's that has begun is not ended.
    problem.collect(SLOW[None], ahead=[AHEAD])
    problem.release()
    assert problem.collect(AHEAD[None]).f == [2.0] and calls().count("2") == 2
    problem.release()


def test_who_evaluates_here_begins_with_nothing(tmp_path: Path, calls: Callable[[], list[str]]) -> None:
    problem = BlackBox(partial(waits, folder=str(tmp_path)), bounds=BOX)
    problem.collect(LAST[None], ahead=[AHEAD])
    assert calls() == ["3"]
    assert problem.collect(AHEAD[None]).f == [2.0] and calls() == ["3", "2"]


def rough(x: Array) -> float:
    """A bowl with noise that is a function of x: who calls first does not matter."""
    return float(x @ x + 1e-3 * np.sin(1e9 * x.sum()))


def bowl(x: Array) -> float:
    """A bent bowl without noise."""
    return float(x @ x + 10.0 * (x[1] - x[0] ** 2) ** 2)


def nowhere_at_first(x: Array) -> float:
    """The same, undefined at the start."""
    return np.nan if x[0] == 1.0 and x[1] == 2.0 else bowl(x)


@pytest.mark.parametrize(
    ("function", "noise"), [(rough, "independent"), (bowl, "deterministic"), (nowhere_at_first, "deterministic")]
)
def test_a_run_is_the_same_whoever_evaluates_and_every_call_is_charged(
    function: Callable[[Array], float], noise: str
) -> None:
    count, lock = 0, threading.Lock()

    def counted(x: Array) -> float:
        nonlocal count
        with lock:
            count += 1
        return function(x)

    results = []
    for workers in (None, ThreadPoolExecutor(4)):
        count = 0
        problem = BlackBox(counted, bounds=BOX, x0=[1.0, 2.0], noise=noise, workers=workers)
        results.append(Run(problem, ZOSQP(parallel_calls=4), replicas=1, calls=200, seed=2).run())
        assert count == results[-1].calls[0] == 200
    np.testing.assert_array_equal(results[0].x, results[1].x)
