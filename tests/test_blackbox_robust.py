"""Black boxes as they are in practice: they raise, return nonsense, hang, die, and are evaluated in parallel."""

from __future__ import annotations

import gc
import importlib
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.problems import BlackBox
from zoviz.problems.processes import Processes
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.types import Array, OracleError

SOURCE = '''
"""Functions that another process can import."""

import os
import time

import numpy as np


class Peculiar(Exception):
    """Cannot be unpickled: its constructor wants two arguments."""

    def __init__(self, first, second):
        super().__init__(first)


def bowl(x):
    return float(((x - 0.25) ** 2).sum())


def slope(x):
    return 0.5 - float(x[0])


def hangs(x):
    if x[0] > 0.5:
        time.sleep(60.0)
    return bowl(x)


def hangs_in_another(x):
    if x[0] > 0.5:
        os.system("sleep 60")
    return bowl(x)


def dies(x):
    if x[0] > 0.5:
        os._exit(7)
    return bowl(x)


def raises(x):
    if x[0] > 0.5:
        raise ZeroDivisionError("the simulator has burnt down")
    return bowl(x)


def peculiar(x):
    raise Peculiar("the simulator", "has burnt down")


def whoami(x):
    time.sleep(0.02)
    return float(os.getpid())


def matrix(x):
    return float(x @ np.outer(x, x) @ x + x @ x) if np.sin(1e6 * x[0]) < 0.98 else np.nan
'''
BOX = [(-1.0, 1.0)] * 2
POINTS = np.array([[0.0, 0.1], [0.9, 0.0], [0.2, 0.3], [0.3, 0.3]])
"""The second is where the functions misbehave."""
UNSCALED = {"scaled": False} if "scaled" in BlackBox.param else {}
"""Where a test's own steps are in the user's units."""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    folder = tmp_path_factory.mktemp("importable")
    (folder / "slow_functions_of_a_test.py").write_text(SOURCE)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("slow_functions_of_a_test")
    finally:
        sys.path.remove(str(folder))
        sys.modules.pop("slow_functions_of_a_test")


def bowl(x: Array) -> float:
    return float(((x - 0.25) ** 2).sum())


# --- what a function returns ------------------------------------------------------------------------------------------

USELESS: dict[str, tuple[Callable[[Array], Any], Any, str]] = {
    "None": (lambda x: None, None, "Expected a number from the objective, got None: does the function end with a"),
    "text": (lambda x: "0.5", None, r"Expected numbers from the objective, got '0.5' \(str\): return a float"),
    "object": (lambda x: object(), None, "Expected numbers from the objective, got <object"),
    "complex": (lambda x: 1.0 + 2.0j, None, r"Expected numbers from the objective, got \(1\+2j\) \(complex\)"),
    "two numbers": (lambda x: x, None, r"Expected f of shape \(\), got \(2,\): return one number per point"),
    "no h": (bowl, lambda x: None, "Expected a number from the constraints, got None"),
    "text for h": (bowl, lambda x: ["a", "b"], r"Expected numbers from the constraints, got \['a', 'b'\] \(list\)"),
    "ragged h": (bowl, lambda x: [1.0, [2.0, 3.0]], "Expected numbers from the constraints, got"),
    "wrong length of h": (bowl, lambda x: [1.0, 2.0, 3.0], r"Expected h of shape \(2,\), got \(3,\): return one"),
    "None in a list": (bowl, [bowl, lambda x: None], "Expected a number from constraint 2, got None"),
}


@pytest.mark.parametrize("case", USELESS)
def test_a_useless_value_is_an_error_with_a_sentence_and_its_point(case: str) -> None:
    objective, constraints, sentence = USELESS[case]
    problem = BlackBox(objective, constraints, bounds=BOX, m=0 if constraints is None else 2)
    with pytest.raises(OracleError, match=sentence) as caught:
        problem.evaluate(POINTS)
    assert any("Raised by the black box at x = [0.  0.1]" in note for note in caught.value.__notes__)


@pytest.mark.parametrize("case", USELESS)
def test_with_on_error_fail_it_counts_as_failed(case: str) -> None:
    objective, constraints, sentence = USELESS[case]
    m = 0 if constraints is None else 2
    problem = BlackBox(objective, constraints, bounds=BOX, m=m, on_error="fail")
    value = problem.evaluate(POINTS[None])
    assert value.f.shape == (1, 4) and value.h.shape == (1, 4, m) and np.isnan(value.f).all()
    assert problem.mishap.startswith("The first failure, at x = [0.  0.1]: Expected ")


@pytest.mark.parametrize(
    ("value", "sentence"),
    [(None, "got NoneType"), (1.0, "got float"), ((1.0, 2.0, 3.0), "got tuple"), ("ab", "got str")],
)
def test_a_joint_function_must_return_a_pair(value: Any, sentence: str) -> None:
    problem = BlackBox(lambda x: value, bounds=BOX, joint=True, m=1)
    with pytest.raises(OracleError, match=rf"Expected \(f, h\) from a joint function, {sentence}: return a pair"):
        problem.evaluate(POINTS)


def test_a_joint_function_without_constraints_may_return_none_for_h() -> None:
    problem = BlackBox(lambda x: (bowl(x), None), bounds=BOX, joint=True, m=0)
    assert problem.evaluate(POINTS).h.shape == (4, 0)


def test_not_a_number_is_a_value_that_failed_not_an_error() -> None:
    problem = BlackBox(lambda x: np.nan if x[0] > 0.5 else np.float32(1.0), lambda x: [np.inf, True], bounds=BOX)
    value = problem.evaluate(POINTS)
    np.testing.assert_array_equal(value.f, [1.0, np.nan, 1.0, 1.0])
    np.testing.assert_array_equal(value.h, [[np.inf, 1.0]] * 4)
    assert problem.mishap == ""


def test_a_function_that_writes_into_its_argument_does_no_harm() -> None:
    def careless(x: Array) -> float:
        x -= 0.25
        return float(x @ x)

    def vectorised(x: Array) -> Array:
        x -= 0.25
        return (x * x).sum(axis=-1)

    kept = POINTS.copy()
    expected = BlackBox(bowl, lambda x: x[0], bounds=BOX).evaluate(POINTS)
    for problem in (
        BlackBox(careless, lambda x: x[0], bounds=BOX),
        BlackBox(vectorised, lambda x: x[..., 0], bounds=BOX, vectorised=True, m=1),
    ):
        value = problem.evaluate(POINTS)
        np.testing.assert_array_equal(POINTS, kept)
        np.testing.assert_allclose(value.f, expected.f, rtol=1e-12)
        np.testing.assert_array_equal(value.h, expected.h)


# --- what a function raises -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ZeroDivisionError("burnt down"), StopIteration()], ids=repr)
def test_what_it_raises_ends_the_run_or_is_counted(error: BaseException) -> None:
    def fragile(x: Array) -> float:
        if 0.0 < x[0] < 1e-4:  # half of the first directions of a batch
            raise error
        return bowl(x)

    run = Run(problem=BlackBox(fragile, bounds=BOX, x0=[0.0, 0.5]), solver=ZOSPLM(), replicas=1, iterations=30)
    with pytest.raises(type(error)):
        run.run()
    assert run.status == "failed" and run.error is error
    problem = BlackBox(fragile, bounds=BOX, x0=[0.0, 0.5], on_error="fail")
    result = Run(problem=problem, solver=ZOSPLM(), replicas=1, iterations=30).run()
    assert result.status == "finished" and 10 < result.failures[0] < 50 and result.best_value[0] < 1e-4
    assert "non-finite values. The first failure, at x = [" in result.message
    assert type(error).__name__ in result.message


def test_a_function_cannot_end_the_program() -> None:
    problem = BlackBox(lambda x: sys.exit(3), bounds=BOX)
    with pytest.raises(OracleError, match=r"got SystemExit\(3\) at x = \[0.  0.1\]: a function must not end its"):
        problem.evaluate(POINTS)


def test_all_failures_say_why_in_the_end() -> None:
    def broken(x: Array) -> float:
        raise RuntimeError("no licence for the simulator")

    run = Run(problem=BlackBox(broken, bounds=BOX, on_error="fail"), solver=ZOCEG(), replicas=2, iterations=5)
    with pytest.raises(OracleError, match="every replica.*The first failure, at x = .*RuntimeError: no licence"):
        run.run()


def test_with_vectorised_the_batch_fails() -> None:
    def fragile(x: Array) -> Array:
        if (x[..., 0] > 0.5).any():
            raise ValueError("out of range")
        return (x * x).sum(axis=-1)

    problem = BlackBox(fragile, bounds=BOX, vectorised=True, on_error="fail")
    assert np.isnan(problem.evaluate(POINTS).f).all() and np.isfinite(problem.evaluate(POINTS[:1]).f).all()
    assert "at points of shape (4, 2): ValueError: out of range" in problem.mishap


# --- in parallel ------------------------------------------------------------------------------------------------------


def alive() -> int:
    gc.collect()  # a problem watches itself, hence is a cycle
    return sum(process.name == "zoviz-blackbox" for process in multiprocessing.active_children())


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
        return Run(problem=problem, solver=ZOSPLM(), replicas=2, iterations=5, seed=2).run()

    workers, expected = CREWS[crew](), result(None)
    assert expected.failures.sum() > 0, "values that are not finite are to be met too"
    mine = result(workers)
    if isinstance(workers, Executor):
        workers.shutdown()
    for name in ("x", "fun", "best_value", "calls", "failures"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(expected, name), err_msg=name)
    assert alive() == 0, "a run that has ended lets its processes go"


def test_processes_share_the_work_and_go_with_the_problem(functions: ModuleType) -> None:
    problem = BlackBox(functions.whoami, bounds=BOX, workers=2)
    pids = {int(pid) for pid in problem.evaluate(np.zeros((40, 2))).f}
    assert len(pids) == 2 and os.getpid() not in pids and alive() == 2
    assert {int(pid) for pid in problem.evaluate(np.zeros((40, 2))).f} == pids, "they are kept between batches"
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


def test_a_process_pool_of_the_user_says_why_it_cannot_take_a_lambda() -> None:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver")) as pool:
        problem = BlackBox(lambda x: 0.0, bounds=BOX, workers=pool, on_error="fail")
        with pytest.raises(OracleError, match="Expected a black box that ProcessPoolExecutor can evaluate, got"):
            problem.evaluate(POINTS)


@pytest.mark.parametrize("timeout", [None, 60.0], ids=["here", "processes"])
def test_errors_come_back_from_processes(timeout: float | None, functions: ModuleType) -> None:
    with pytest.raises(ZeroDivisionError, match="burnt down") as caught:
        BlackBox(functions.raises, bounds=BOX, timeout=timeout).evaluate(POINTS)
    assert "Raised by the black box at x = [0.9 0. ]." in caught.value.__notes__
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
    assert "exit code 7" in problem.mishap
    problem.release()


SCRIPT = """
from zoviz import minimize

def bowl(x):
    return float((x - 0.25) @ (x - 0.25))

print(minimize(bowl, [0.5, 0.5], maxfev=40, workers=2).success)
"""


@pytest.mark.parametrize("how", ["interactive", "script", "guarded script"])
def test_functions_of_a_session_and_of_a_script(how: str, tmp_path: Path) -> None:
    text = SCRIPT.replace("print", 'if __name__ == "__main__":\n    print') if how == "guarded script" else SCRIPT
    (tmp_path / "script.py").write_text(text)
    command = [sys.executable, "-c", text] if how == "interactive" else [sys.executable, str(tmp_path / "script.py")]
    root = str(Path(__file__).resolve().parent.parent)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=60, check=False)
    if how == "script":
        assert done.returncode and 'put the call under if __name__ == "__main__":' in done.stderr
    else:
        assert (done.returncode, done.stdout.strip()) == (0, "True"), done.stderr


HANGING = """
import os, sys, time
from zoviz import minimize

def hangs(x):
    print(os.getpid(), flush=True)
    time.sleep(120.0)

if __name__ == "__main__":
    minimize(hangs, [0.5, 0.5], timeout=100.0)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_hang_does_not_outlive_a_parent_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(HANGING)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "script.py")], stdout=subprocess.PIPE, text=True, env=environment
    ) as parent:
        child = int(parent.stdout.readline())
        parent.kill()
    deadline = time.monotonic() + 10.0
    while time.monotonic() < deadline:
        try:
            os.kill(child, 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    os.kill(child, signal.SIGKILL)
    pytest.fail("the process that evaluated outlived its parent")


# --- calls that take too long -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["hangs", "hangs_in_another"])
def test_a_hang_costs_one_timeout_and_is_counted(name: str, functions: ModuleType) -> None:
    problem = BlackBox(getattr(functions, name), functions.slope, bounds=BOX, timeout=0.4)
    expected = BlackBox(functions.bowl, functions.slope, bounds=BOX).evaluate(POINTS)
    problem.evaluate(POINTS[:1])  # the first process is there
    started = time.monotonic()
    value = problem.evaluate(POINTS)
    assert time.monotonic() - started < 20.0
    np.testing.assert_array_equal(np.isnan(value.f), [False, True, False, False])
    np.testing.assert_array_equal(value.f[[0, 2, 3]], expected.f[[0, 2, 3]])
    np.testing.assert_array_equal(value.h[[0, 2, 3]], expected.h[[0, 2, 3]])
    assert "Expected a value within 0.4 s, got none at x = [0.9 0. ]." in problem.mishap
    problem.release()
    assert alive() == 0


def test_hangs_in_several_processes_are_waited_for_together(functions: ModuleType) -> None:
    processes = Processes(lambda x: time.sleep(60.0), 4, 0.5)
    try:
        started = time.monotonic()
        outcomes = processes.outcomes(list(np.zeros((8, 2))))
        assert time.monotonic() - started < 8 * 0.5, "eight hangs in four processes: two timeouts, not eight"
    finally:
        processes.close()
    assert all(outcome.counted and isinstance(outcome.error, TimeoutError) for outcome in outcomes)


def test_a_run_with_hangs_ends(functions: ModuleType) -> None:
    problem = BlackBox(functions.hangs, bounds=BOX, x0=[0.49, 0.5], timeout=0.3, workers=2, **UNSCALED)
    solver = ZOCEG(primal_step=0.2, dual_step=0.2, dual_cap=1.0)
    started = time.monotonic()
    result = Run(problem=problem, solver=solver, replicas=1, iterations=20).run()
    assert time.monotonic() - started < 20.0
    assert result.status == "finished" and result.failures[0] >= 1 and result.best_value[0] < 1e-4


def test_counting_constraints_does_not_hang(functions: ModuleType) -> None:
    problem = BlackBox(functions.bowl, functions.hangs, bounds=BOX, x0=[0.9, 0.0], timeout=0.3)
    with pytest.raises(TimeoutError, match="Expected a value within 0.3 s") as caught:
        _ = problem.m
    assert any("with m given it is not needed" in note for note in caught.value.__notes__)


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
