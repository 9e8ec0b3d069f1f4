"""Black boxes as they are in practice: evaluated in threads and processes, which may die."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

import numpy as np
import pytest

from helpers.faulty_black_box import BOX, POINTS, alive, bowl
from helpers.project import ROOT
from zoviz import Run
from zoviz.core.errors import OracleError
from zoviz.estimators import Sphere
from zoviz.problems import BlackBox
from zoviz.solvers import ZOSPLM

CREWS: dict[str, Callable[[], Any]] = {
    "threads": lambda: ThreadPoolExecutor(3),
    "processes": lambda: ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("forkserver")),
    "map": lambda: map,
    "map of a pool": lambda: ThreadPoolExecutor(2).map,
    "two": lambda: 2,
}


@pytest.mark.parametrize("crew", CREWS)
def test_workers_give_what_a_single_thread_gives(crew: str, functions: ModuleType) -> None:
    def result(workers: Any) -> Any:
        problem = BlackBox(functions.matrix, [functions.slope, functions.bowl], bounds=BOX, workers=workers)
        solver = ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=50, directions="random"))
        return Run(problem=problem, solver=solver, replicas=2, iterations=5, seed=2).run()

    workers, expected = CREWS[crew](), result(None)
    assert expected.failures.sum() > 0, "values that are not finite are to be met too"
    mine = result(workers)
    if isinstance(workers, Executor):
        workers.shutdown()
    for name in ("x", "fun", "best_fun", "calls", "failures"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(expected, name), err_msg=name)
    assert alive() == 0, "a run that has ended lets its processes go"


def test_processes_share_the_work_and_go_with_the_problem(functions: ModuleType) -> None:
    problem = BlackBox(functions.whoami, bounds=BOX, workers=2)
    pids = {int(pid) for pid in problem.evaluate(np.zeros((40, 2))).f}
    assert len(pids) == 2 and os.getpid() not in pids and alive() == 2
    assert {int(pid) for pid in problem.evaluate(np.full((40, 2), 0.5)).f} == pids, "they are kept between batches"
    pickle.loads(pickle.dumps(problem))
    del problem
    assert alive() == 0


def test_lambdas_and_closures_go_to_processes_where_the_platform_forks() -> None:
    if "fork" not in multiprocessing.get_all_start_methods():
        pytest.skip("no fork here")
    shift = 0.25
    problem = BlackBox(lambda x: float(((x - shift) ** 2).sum()), bounds=BOX, workers=2)
    np.testing.assert_array_equal(problem.evaluate(POINTS).f, BlackBox(bowl, bounds=BOX).evaluate(POINTS).f)
    problem.release()
    assert alive() == 0


def test_functions_that_only_this_process_has_go_there_too(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("loaded_by_a_server")
    exec("def bowl(x):\n    return float(((x - 0.25) ** 2).sum())", vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    problem = BlackBox(module.bowl, bounds=BOX, workers=2)
    if "fork" in multiprocessing.get_all_start_methods():
        np.testing.assert_array_equal(problem.evaluate(POINTS).f, BlackBox(bowl, bounds=BOX).evaluate(POINTS).f)
        problem.release()
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    problem = BlackBox(module.bowl, bounds=BOX, workers=2)
    with pytest.raises(OracleError, match="got others .*No module named 'loaded_by_a_server'.*define them at the top"):
        problem.evaluate(POINTS)


def test_where_it_does_not_they_are_refused_with_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(multiprocessing, "get_all_start_methods", lambda: ["spawn"])
    problem = BlackBox(lambda x: 0.0, bounds=BOX, workers=2)
    with pytest.raises(OracleError, match="Expected functions that another process can import, got others .*module"):
        problem.evaluate(POINTS)


def test_a_process_pool_of_the_user_says_why_it_cannot_take_a_lambda(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*task: Any) -> NoReturn:
        pytest.fail("its shutdown may hang once a task is in its queue that it cannot pickle")

    monkeypatch.setattr(ProcessPoolExecutor, "submit", refuse)
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver")) as pool:
        problem = BlackBox(lambda x: 0.0, bounds=BOX, workers=pool, on_error="fail")
        with pytest.raises(OracleError, match="Expected a black box that ProcessPoolExecutor can evaluate, got"):
            problem.evaluate(POINTS)


@pytest.mark.parametrize("timeout", [None, 60.0], ids=["here", "processes"])
def test_errors_come_back_from_processes(timeout: float | None, functions: ModuleType) -> None:
    with pytest.raises(ZeroDivisionError, match="burnt down") as caught:
        BlackBox(functions.raises, bounds=BOX, timeout=timeout).evaluate(POINTS)
    assert caught.value.__notes__[0].startswith("Raised by the black box at x = [0.9 0. ].")
    counted = BlackBox(functions.raises, bounds=BOX, timeout=timeout, on_error="fail")
    np.testing.assert_array_equal(np.isnan(counted.evaluate(POINTS).f), [False, True, False, False])
    counted.release()
    expected = OracleError if timeout else functions.Peculiar
    with pytest.raises(expected, match="the simulator"):
        BlackBox(functions.peculiar, bounds=BOX, timeout=timeout).evaluate(POINTS)


def test_a_process_that_dies_is_a_failure_and_is_replaced(functions: ModuleType) -> None:
    with pytest.raises(OracleError, match=r"got a process that ended with exit code 7 at x = \[0.9 0. \]"):
        BlackBox(functions.dies, bounds=BOX, timeout=60.0).evaluate(POINTS)
    problem = BlackBox(functions.dies, bounds=BOX, timeout=60.0, on_error="fail")
    for _ in range(2):
        np.testing.assert_array_equal(np.isnan(problem.evaluate(POINTS).f), [False, True, False, False])
    assert "exit code 7" in problem.failure_message
    problem.release()


@pytest.mark.skipif(os.name != "posix", reason="a process is killed by a signal")
def test_a_call_of_a_process_that_was_killed_is_made_once_more(functions: ModuleType) -> None:
    problem = BlackBox(functions.is_killed, bounds=BOX, workers=2, timeout=60.0, on_error="fail")
    values = problem.evaluate(np.array([[0.1, 0.0], [0.9, 0.0], [0.3, 0.0], [0.9, 0.9]])).f
    np.testing.assert_allclose(values, [0.085, 0.485, 0.065, np.nan])
    assert "exit code -9" in problem.failure_message
    problem.release()


SCRIPT = """
from zoviz import minimize

def bowl(x):
    return float((x - 0.25) @ (x - 0.25))

print(minimize(bowl, [0.5, 0.5], max_calls=40, workers=2).feasible)
"""


@pytest.mark.parametrize("how", ["interactive", "script", "guarded script"])
def test_functions_of_a_session_and_of_a_script(how: str, tmp_path: Path) -> None:
    text = SCRIPT.replace("print", 'if __name__ == "__main__":\n    print') if how == "guarded script" else SCRIPT
    (tmp_path / "script.py").write_text(text)
    command = [sys.executable, "-c", text] if how == "interactive" else [sys.executable, str(tmp_path / "script.py")]
    root = str(ROOT)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    process = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=240, check=False)
    if how == "script":
        assert process.returncode and 'put the call under if __name__ == "__main__":' in process.stderr
    else:
        assert (process.returncode, process.stdout.strip()) == (0, "True"), process.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"workers": 0}, "Expected workers a number from 1, -1 for one per core, or an executor, got 0"),
        ({"workers": True}, "Expected workers a number, an executor or a map-like callable, got True"),
        ({"workers": "two"}, "Expected workers a number, an executor or a map-like callable, got 'two'"),
        ({"workers": map, "timeout": 1.0}, "Expected workers as a number with a timeout, got type: its tasks cannot"),
        ({"workers": 2, "vectorised": True}, "Expected vectorised=False with workers or a timeout, got True"),
        ({"timeout": 1.0, "vectorised": True}, "Expected vectorised=False with workers or a timeout, got True"),
        ({"timeout": 0.0}, "timeout"),
        ({"on_error": "ignore"}, "on_error"),
    ],
)
def test_workers_and_timeouts_that_make_no_sense_are_refused(arguments: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        BlackBox(bowl, bounds=BOX, **arguments)


def test_a_map_that_loses_points_is_found_out() -> None:
    problem = BlackBox(bowl, bounds=BOX, workers=lambda function, points: [function(points[0])])
    with pytest.raises(OracleError, match=r"Expected 4 values from workers\(function, points\), got 1"):
        problem.evaluate(POINTS)
