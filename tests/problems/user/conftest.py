"""A program in a file, and functions that other processes can import."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

import pytest

HS22 = '''
"""Problem 22 of Hock and Schittkowski, however x comes and f and h go."""
import json
import os
import sys

def read(text, form):
    return json.loads(text) if form == "json" else [float(word) for word in text.split()]

form, source, target = sys.argv[1:4]
text = sys.stdin.read() if source == "-" else open(source).read()
a, b = read(text, form)
values = [(a - 2) ** 2 + (b - 1) ** 2, a + b - 2, a**2 - b]
if form == "json":
    out = json.dumps({"f": values[0], "h": values[1:]})
else:
    out = {"text": "\\n", "line": " ", "comma": ", "}[form].join(map(repr, values)) + "\\n"
if target == "-":
    print(out)
else:
    print("chatter")
    open(target, "w").write(out)
'''


@pytest.fixture(scope="module")
def hs22(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("program") / "hs22.py"
    path.write_text(HS22)
    return str(path)


SOURCE = '''
"""Functions that another process can import."""

import os
import signal
import time
from pathlib import Path

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
        time.sleep(600.0)
    return bowl(x)


def hangs_in_another(x):
    if x[0] > 0.5:
        os.system("sleep 600")
    return bowl(x)


def dies(x):
    if x[0] > 0.5:
        os._exit(7)
    return bowl(x)


def is_killed(x):
    mark = Path(__file__).parent / f"killed at {x[0]}"
    if x[0] > 0.5 and (x[1] > 0.5 or not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return bowl(x)


def raises(x):
    if x[0] > 0.5:
        raise ZeroDivisionError("the simulator has burnt down")
    return bowl(x)


def peculiar(x):
    raise Peculiar("the simulator", "has burnt down")


def whoami(x):
    # Once two processes have come with this x: else one may do all the work, on a busy machine.
    here = Path(__file__).parent
    (here / f"{x[0]} {os.getpid()}").touch()
    end = time.monotonic() + 240.0
    while len(list(here.glob(f"{x[0]} *"))) < 2 and time.monotonic() < end:
        time.sleep(0.01)
    return float(os.getpid())


def matrix(x):
    return float(x @ np.outer(x, x) @ x + x @ x) if np.sin(1e6 * x[0]) < 0.98 else np.nan
'''


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
