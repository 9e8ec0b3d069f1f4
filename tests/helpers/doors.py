"""What doors from other tools are tested with: a constrained problem with noise and failed calls, and a Run of it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import zlib
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from helpers.project import ROOT
from helpers.same_run import FIELDS
from zoviz import Run, Store
from zoviz.core.types import Array
from zoviz.problems import BlackBox

BOUNDS = [(-2.0, 2.0), (-2.0, 3.0)]
START = [1.9, 0.5]
CALLS = 80


class Ledger:
    """A noisy function (f, h) of two variables with two constraints; one call in twelve fails; points are kept.

    Noise and failures follow from the bytes of x, so that they are the same in any order and in another process.
    """

    def __init__(self) -> None:
        self.points: list[list[float]] = []

    def __call__(self, x: Array) -> tuple[float, list[float]]:
        x = np.array(x, dtype=float)
        self.points.append(x.tolist())
        random = np.random.default_rng(zlib.crc32(x.tobytes()))
        if random.random() < 1 / 12:
            raise ArithmeticError("no convergence")
        f = (x[0] - 0.5) ** 2 + (x[1] - 1.5) ** 2 + 1e-3 * random.standard_normal()
        h = [1.0 - x[0] + 1e-3 * random.standard_normal(), x[0] ** 2 + x[1] - 2.5 + 1e-3 * random.standard_normal()]
        return float(f), [float(one) for one in h]


def black_box(function: Any, **changes: Any) -> BlackBox:
    """The function as a problem."""
    given = {"bounds": BOUNDS, "x0": START, "noise": "independent", "on_error": "fail", "m": 2} | changes
    return BlackBox(function, joint=True, **given)


def finished_run(function: Any, solver: str = "auto", seed: int = 1, calls: int = CALLS, **changes: Any) -> Run:
    """A Run of the function, which has ended."""
    run = Run(problem=black_box(function, **changes), solver=solver, seed=seed, calls=calls, replicas=1)
    run.run()
    return run


def assert_same_result(one: Any, other: Any) -> None:
    """Two results are the same to the bit, and have failed calls."""
    for name in FIELDS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
    assert one.failures.sum() > 0


KILLED = """
import os, signal, sys
from importlib import import_module
from helpers.doors import CALLS, black_box
from zoviz import Run

module, argument, store = sys.argv[1:]
function, calls = import_module(module).function(argument), 0


def dying(x):
    global calls
    calls += 1
    if calls == 40:
        os.kill(os.getpid(), signal.SIGKILL)
    return function(x)


Run(black_box(dying), seed=1, calls=CALLS, replicas=1, store=store, checkpoint="every call").run()
"""


def assert_resumed_after_kill(module: str, argument: str, folder: Path) -> None:
    """A run of ``module.function(argument)`` that is killed in a call, and resumed, is that of a ``Ledger``."""
    url = f"sqlite:///{folder / 'runs.db'}"
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    command = [sys.executable, "-c", KILLED, module, argument, url]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ended.returncode == -signal.SIGKILL, ended.stderr
    function, calls = import_module(module).function(argument), []

    def counted(x: Array) -> Any:
        calls.append(x)
        return function(x)

    with Store(url) as store:
        (record,) = store.runs()
        result = store.load(record.id).resume(problem=black_box(counted)).run()
    assert_same_result(result, finished_run(Ledger()).result)
    assert len(calls) == CALLS - 39, "no call that was paid for is made again"
