"""A user's type checker knows what zoviz takes: a right script passes, one with a misspelt name does not."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.project import ROOT

SCRIPT = """
import numpy as np
from numpy.typing import NDArray

import zoviz
from zoviz import AskTell, Run, Study, minimize
from zoviz.estimators import Sphere
from zoviz.problems import BlackBox, LoadTracking
from zoviz.solvers import COBYLA, ZOCEG, ZOSPLM


def cost(x: NDArray[np.float64]) -> float:
    return float(x @ x)


def limit(x: NDArray[np.float64]) -> float:
    return float(1.0 - x.sum())


loads = LoadTracking(n=10, seed=1)
optimum: float = loads.known_optimum.value
solver = ZOSPLM(primal_step=0.1, estimator=Sphere(batch_size=20, smoothing_radius=None), estimate_proximal=True)
step: float | None = solver.primal_step
solver.dual_cap = 10.0
probes: int = solver.estimator.batch_size

run = Run(problem=loads, solver=solver, replicas=4, iterations=10)
x: NDArray[np.float64] = run.run().x

box = BlackBox(cost, [limit], bounds=[(0.0, 1.0), (None, 1.0)], x0=[0.5, 0.5], workers=2, on_error="fail")
answer = minimize(cost, [0.5, 0.5], bounds=[(0.0, 1.0), (0.0, 1.0)], constraints=limit, timeout=60.0)
print(answer.fun, answer.x, zoviz.__version__)

session = AskTell(box, "ZOCEG", calls=60)
batch = session.ask()
session.tell(batch.take(batch.ids < 3), [cost(point) for point in batch.x[batch.ids < 3]])

study = Study("tour", [loads, box], {"field": ZOCEG(schedule="diminishing"), "library": COBYLA()}, calls=100)
study.run()
"""
MISTAKES = {
    "solver": ("primal_step=0.1", "primal_stp=0.1"),
    "solver_value": ('schedule="diminishing"', 'schedule="deminishing"'),
    "solver_attribute": ("solver.dual_cap = 10.0", 'solver.dual_cap = "10"'),
    "problem": ("LoadTracking(n=10", "LoadTracking(nn=10"),
    "black_box": ("workers=2", "worker=2"),
    "estimator": ("batch_size=20", "batchsize=20"),
    "class_name": ("import COBYLA, ", "import COBLYA, "),
    "run": ("replicas=4", "replicaz=4"),
    "minimize": ("timeout=60.0", "time_out=60.0"),
    "ask_tell": ("batch.take(", "batch.took("),
    "study": ("calls=100", "call=100"),
}
EACH_MISTAKE = pytest.mark.parametrize("mistake", MISTAKES)

# Errors of zoviz itself are none of the user's where it is installed; here it is found as a folder of sources. What
# else it imports (Panel, Bokeh, Dask and so on: 2000 modules) is no part of the types that a script meets.
MYPY = """
[mypy]
strict = true
follow_imports = skip
[mypy-zoviz.*,numpy.*,param.*]
follow_imports = silent
"""

Errors = dict[str, list[int]]
"""Lines with errors by the name of the script."""


def with_mistake(mistake: str) -> str:
    right, wrong = MISTAKES[mistake]
    assert SCRIPT.count(right) == 1
    return SCRIPT.replace(right, wrong)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scripts")
    (folder / "right.py").write_text(SCRIPT, encoding="utf-8")
    for mistake in MISTAKES:
        (folder / f"{mistake}.py").write_text(with_mistake(mistake), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def mypy(folder: Path) -> Errors:
    """All scripts checked at once, as a user would: without the project's settings and without a plugin."""
    settings = folder / "mypy.ini"
    settings.write_text(MYPY, encoding="utf-8")
    options = [f"--config-file={settings}", f"--cache-dir={folder / 'cache'}"]
    process = subprocess.run(
        [sys.executable, "-m", "mypy", *options, *sorted(str(path) for path in folder.glob("*.py"))],
        capture_output=True,
        text=True,
        cwd=folder,
        env={"MYPYPATH": str(ROOT), "PATH": ""},
    )
    assert process.returncode in (0, 1), process.stdout + process.stderr
    return {
        path.stem: [int(line) for line in re.findall(rf"^{path.name}:(\d+): error", process.stdout, re.MULTILINE)]
        for path in folder.glob("*.py")
    }


@pytest.fixture(scope="module")
def pyright(folder: Path) -> Errors:
    """The same by Pyright, which needs Node, or the network to fetch it."""
    command = [sys.executable, "-m", "pyright"]
    version = subprocess.run([*command, "--version"], capture_output=True, text=True)
    if version.returncode != 0:
        pytest.skip(f"Pyright does not start here: {version.stderr.strip()[-200:]}")
    settings = {"include": ["."], "extraPaths": [str(ROOT)], "typeCheckingMode": "strict"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    process = subprocess.run(
        [*command, "--outputjson", "--pythonpath", sys.executable, "-p", str(folder)], capture_output=True, text=True
    )
    assert process.returncode in (0, 1), process.stdout + process.stderr
    errors: Errors = {path.stem: [] for path in folder.glob("*.py")}
    for entry in json.loads(process.stdout)["generalDiagnostics"]:
        if entry["severity"] == "error":
            errors[Path(entry["file"]).stem].append(entry["range"]["start"]["line"] + 1)
    return errors


def lines_of(mistake: str) -> list[int]:
    """Where the script with the mistake differs from the right one."""
    pairs = zip(SCRIPT.splitlines(), with_mistake(mistake).splitlines(), strict=True)
    return [number for number, (right, wrong) in enumerate(pairs, start=1) if right != wrong]


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_right_script_passes(checker: str, request: pytest.FixtureRequest) -> None:
    assert request.getfixturevalue(checker)["right"] == []


@EACH_MISTAKE
@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_a_mistake_is_found_where_it_is(checker: str, mistake: str, request: pytest.FixtureRequest) -> None:
    errors = request.getfixturevalue(checker)[mistake]
    assert set(lines_of(mistake)) <= set(errors)
