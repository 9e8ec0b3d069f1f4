"""The solver that the documentation shows works as it stands, and the commands for contributors exist."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from helpers.project import ROOT
from helpers.shell_blocks import assert_block_runs, blocks

SKELETON = ROOT / "docs" / "how_to" / "penalty.py"

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


def test_its_commands_are_those_there_are() -> None:
    (block,) = blocks(ROOT / "CONTRIBUTING.md", "bash")
    assert_block_runs(block)


def test_the_skeleton_is_found_and_converges(tmp_path: Path) -> None:
    shutil.copy(SKELETON, tmp_path)
    script = tmp_path / "use.py"
    script.write_text(USE.format(root=str(ROOT), folder=str(tmp_path)), encoding="utf-8")
    process = subprocess.run(
        [sys.executable, "-W", "error", script], capture_output=True, text=True, timeout=240, cwd=tmp_path
    )
    assert process.returncode == 0, process.stdout + process.stderr
