"""The skeleton of CONTRIBUTING.md is a solver that works as it stands."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from helpers.project import ROOT
from helpers.shell_blocks import assert_block_runs, blocks

TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")

# In a process of its own: the other tests' registry does not see the class.
USE = """
import sys

sys.path.insert(0, {root!r})
import numpy as np

import zoviz.solvers.saddle

zoviz.solvers.saddle.__path__.append({folder!r})  # as if the file lay there

from zoviz import Run
from zoviz.problems import LoadTracking, NonconvexQCQP
from zoviz.core.registry import discover
from zoviz.solvers import Solver

found = discover("zoviz.solvers", Solver)
assert "QuadraticPenalty" in found and found["QuadraticPenalty"].__module__ == "zoviz.solvers.saddle.penalty"
for problem in (LoadTracking(n=10), NonconvexQCQP(n=10)):
    solver = found["QuadraticPenalty"]()
    run = Run(problem=problem, solver=solver, replicas=4, iterations=800)
    run.start()
    solver.penalty = 20.0
    result = run.wait()
    assert [change.name for change in run.journal] == ["penalty"]
    first, last = run.trace["gap"][0], run.trace["gap"][-1]
    print(type(problem).__name__, np.abs(first).mean(), np.abs(last).mean(), result.violation.max())
    assert np.abs(last).mean() < 0.2 * np.abs(first).mean()
    assert np.array_equal(run.replay().run().x, result.x)
    assert np.isfinite(run.trace["variance_predicted"][-1]).all()
"""


def skeleton() -> str:
    (block,) = blocks(ROOT / "CONTRIBUTING.md", "python")
    return block


def test_its_commands_are_those_there_are() -> None:
    (block,) = blocks(ROOT / "CONTRIBUTING.md", "bash")
    assert_block_runs(block)


def test_it_opens_with_a_solver_in_one_file() -> None:
    assert re.findall(r"^## (.*)$", TEXT, re.MULTILINE)[0] == "Add a solver in one file"


def test_the_skeleton_is_found_and_converges(tmp_path: Path) -> None:
    (tmp_path / "penalty.py").write_text(skeleton(), encoding="utf-8")
    script = tmp_path / "use.py"
    script.write_text(USE.format(root=str(ROOT), folder=str(tmp_path)), encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-W", "error", script], capture_output=True, text=True, timeout=240, cwd=tmp_path
    )
    assert process.returncode == 0, process.stdout + process.stderr


def test_the_skeleton_follows_the_rules(tmp_path: Path) -> None:
    file = tmp_path / "penalty.py"
    file.write_text(skeleton(), encoding="utf-8")
    command = [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), str(file)]
    process = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert process.returncode == 0, process.stdout + process.stderr
