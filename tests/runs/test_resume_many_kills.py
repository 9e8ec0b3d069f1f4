"""Kills and resumes in processes of their own: see helpers/kill_resume.py."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from helpers.project import ROOT
from zoviz.core.registry import discover
from zoviz.solvers.bayesian.base import BayesianSolver

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="parts of a run are forks")

# Microseconds a call: no log of evaluations, a checkpoint ten times a second.
FAST = "--solver ZOSPLM --workers 0 --calls 16000000"


def killed(*arguments: str) -> str:
    """What the script says."""
    paths = os.pathsep.join([str(ROOT), str(ROOT / "tests"), *filter(None, [os.environ.get("PYTHONPATH")])])
    process = subprocess.run(
        [sys.executable, "-m", "helpers.kill_resume", *arguments],
        env=os.environ | {"PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert process.returncode == 0, process.stdout + process.stderr
    return process.stdout


@pytest.mark.parametrize(
    "arguments, calls", [("--solver ZOCEG --workers 2", "60"), ("--solver COBYLA --replicas 1", "40")]
)
def test_a_few_kills(arguments: str, calls: str) -> None:
    output = killed("--kills", "2", "--calls", calls, "--longest", "0.4", *arguments.split())
    assert "2 kills" in output and "agree to the bit" in output


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        "--solver ZOCEG",
        "--solver ZOSPLM --workers 3 --calls 4000",
        "--solver COBYLA --replicas 1 --longest 0.2",  # it ends by itself, after 19 calls
        "--solver CMAES",
        FAST,
    ],
)
def test_fifty_kills(arguments: str) -> None:
    assert "50 kills" in killed("--kills", "50", "--calls", "1500", *arguments.split())


@pytest.mark.slow
def test_the_servers_kills() -> None:
    assert "5 kills" in killed("--server", "--kills", "5", "--longest", "3", "--solver", "ZOCEG", "--calls", "900")


@pytest.mark.slow
@pytest.mark.parametrize("solver", discover("zoviz.solvers.bayesian", BayesianSolver))
def test_kills_of_bayesian_methods(solver: str) -> None:
    pytest.importorskip("botorch", reason='python -m pip install "zoviz[bo]"')
    output = killed("--solver", solver, "--kills", "3", "--calls", "16", "--replicas", "2", "--longest", "0.5")
    assert "3 kills" in output and "agree to the bit" in output
