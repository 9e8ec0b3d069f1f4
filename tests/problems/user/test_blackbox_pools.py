"""Functions that have processes of their own, and black boxes in a daemonic process: as outside, and none is left."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from helpers.faulty_black_box import BOX, alive
from helpers.programs import gone
from zoviz.problems import BlackBox

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups")

SOURCE = '''
"""An objective with a pool of its own, as finite-element codes and Monte Carlo simulations have it."""

import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path


def square(number):
    return number * number


def sleep(folder):
    (Path(folder) / f"pid {os.getpid()}").touch()
    time.sleep(600.0)


def pooled(x, method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        return sum(pool.map(square, x.tolist()))


def by_fork(x):
    return pooled(x, "fork")


def by_spawn(x):
    return pooled(x, "spawn")


def by_forkserver(x):
    return pooled(x, "forkserver")


def by_executor(x):
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        return sum(pool.map(square, x.tolist()))


def by_joblib(x):
    from joblib import Parallel, delayed

    return sum(Parallel(n_jobs=2)(delayed(square)(number) for number in x.tolist()))


def hangs(x, method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        pool.map(sleep, [os.environ["FOLDER"]] * 2, chunksize=1)


def hangs_by_fork(x):
    hangs(x, "fork")


def hangs_by_forkserver(x):
    hangs(x, "forkserver")


def here(queue):
    from zoviz import minimize

    queue.put(minimize(square_sum, [1.0, 2.0], max_calls=30, workers=2, method="COBYLA").fun)


def square_sum(x):
    return float(x @ x)


def nested(method):
    """Minimise by workers in a process that may have no children."""
    context = multiprocessing.get_context(method)
    queue = context.Queue()
    process = context.Process(target=here, args=(queue,), daemon=True)
    process.start()
    value = queue.get(timeout=200)
    process.join()
    return value


if __name__ == "__main__":
    from zoviz import minimize

    minimize(globals()[sys.argv[1]], [0.5, 0.5], timeout=500.0)
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("pools")
    (path / "pools_of_a_test.py").write_text(SOURCE)
    sys.path.insert(0, str(path))
    yield path
    sys.path.remove(str(path))
    sys.modules.pop("pools_of_a_test", None)


def sleepers(folder: Path) -> list[int]:
    """The two processes of the pool, once both are there."""
    import time

    deadline = time.monotonic() + 120.0
    while time.monotonic() < deadline:
        found = [int(path.name.split()[1]) for path in folder.glob("pid *")]
        if len(found) == 2:
            return found
        time.sleep(0.01)
    raise AssertionError("the pool did not begin")


SLOW = pytest.mark.slow
WAYS = [
    "by_fork",
    "by_forkserver",
    "by_joblib",
    *(pytest.param(name, marks=SLOW) for name in ("by_spawn", "by_executor")),
]


@pytest.mark.parametrize("name", WAYS)
def test_a_function_has_its_own_pool_wherever_it_is_called(name: str, folder: Path) -> None:
    if name == "by_joblib" and find_spec("joblib") is None:
        pytest.skip("joblib is not installed")
    import pools_of_a_test as module

    problem = BlackBox(getattr(module, name), bounds=BOX, timeout=500.0)
    np.testing.assert_array_equal(problem.evaluate(np.array([[0.5, 0.25], [1.0, 0.0]])).f, [0.3125, 1.0])
    assert alive() == 1
    problem.release()
    assert alive() == 0


@SLOW
@pytest.mark.parametrize("name", ["hangs_by_fork", "hangs_by_forkserver"])
def test_a_pool_that_takes_too_long_ends_with_its_call(
    name: str, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import pools_of_a_test as module

    monkeypatch.setenv("FOLDER", str(tmp_path))
    problem = BlackBox(getattr(module, name), bounds=BOX, timeout=20.0)
    assert np.isnan(problem.evaluate(np.zeros((1, 2))).f[0])
    assert all(map(gone, sleepers(tmp_path))), "what the function started outlived its call"


@pytest.mark.parametrize("name", ["hangs_by_fork", "hangs_by_forkserver"])
def test_a_pool_ends_with_a_parent_that_is_killed(name: str, folder: Path, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path), "FOLDER": str(tmp_path)}
    command = [sys.executable, str(folder / "pools_of_a_test.py"), name]
    with subprocess.Popen(command, env=environment) as parent:
        found = sleepers(tmp_path)
        parent.kill()
    try:
        assert all(map(gone, found)), "what the function started outlived the parent"
    finally:
        for one in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=SLOW)])
def test_workers_in_a_daemonic_process(method: str, folder: Path) -> None:
    import pools_of_a_test as module

    assert module.nested(method) < 0.1


def test_the_pool_of_a_fork(tmp_path: Path) -> None:
    """A closure goes to a fork, which may have processes too."""
    scale = 2.0

    def objective(x: np.ndarray) -> float:
        with multiprocessing.get_context("fork").Pool(1) as pool:
            return scale * sum(pool.map(abs, x.tolist()))

    problem = BlackBox(objective, bounds=BOX, timeout=500.0)
    assert problem.evaluate(np.array([[0.5, -0.25]])).f[0] == 1.5
    problem.release()
    assert alive() == 0
