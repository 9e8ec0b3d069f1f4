"""A functional mock-up unit, made by pythonfmu, is a problem with the points of a function that computes the same."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.doors import BOUNDS, Ledger, assert_resumed_after_kill, assert_same_result, black_box, finished_run
from helpers.project import ROOT
from zoviz.adapters.fmi import FMU

pytest.importorskip("fmpy")
pytest.importorskip("pythonfmu")

UNIT = """
import numpy as np
from helpers.doors import Ledger
from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Unit(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.x, self.y, self.load = 1.0, 1.0, 0.0
        self.f, self.right, self.low = 0.0, 0.0, 0.0
        for name in ("x", "y", "load"):
            tunable = {"causality": Fmi2Causality.parameter, "variability": Fmi2Variability.tunable}
            self.register_variable(Real(name, **tunable))
        for name in ("f", "right", "low"):
            self.register_variable(Real(name, causality=Fmi2Causality.output))

    def do_step(self, time, step):
        self.f, (self.right, self.low) = Ledger()(np.array([self.x, self.y]))
        self.right += self.load
        return True
"""
OUTPUTS = ["f", "right", "low"]


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unit")
    (folder / "unit.py").write_text(UNIT)
    environment = os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'tests'}"}
    command = [sys.executable, "-m", "pythonfmu", "build", "-f", "unit.py"]
    subprocess.run(command, cwd=folder, check=True, env=environment)
    return folder / "Unit.fmu"


def function(unit: str | Path) -> FMU:
    return FMU(unit, ["x", "y"], OUTPUTS, stop_time=0.1)


def test_a_unit_is_a_problem_with_the_points_of_a_function(unit: Path) -> None:
    fmu = function(unit)
    assert fmu.m == 2
    assert set(fmu.units) == {"x", "y", *OUTPUTS}
    assert_same_result(finished_run(fmu).result, finished_run(Ledger()).result)
    x = np.array([1.5, 0.5])
    assert pickle.loads(pickle.dumps(fmu))(x) == Ledger()(x)


def test_a_kill_in_the_middle_loses_nothing(unit: Path, tmp_path: Path) -> None:
    assert_resumed_after_kill("adapters.test_fmi", str(unit), tmp_path)


def test_processes_simulate_for_themselves(unit: Path) -> None:
    points = np.random.default_rng(0).uniform(*np.transpose(BOUNDS), (6, 2))
    values = [problem.evaluate(points).f for problem in (black_box(function(unit), workers=2), black_box(Ledger()))]
    np.testing.assert_array_equal(*values)


def test_other_parameters_may_be_fixed(unit: Path) -> None:
    fmu = FMU(unit, ["x"], ["right"], stop_time=0.1, fixed={"load": 3.0, "y": 0.5})
    assert fmu(np.array([1.5])) == (Ledger()(np.array([1.5, 0.5]))[1][0] + 3.0, [])


def test_names_that_the_unit_does_not_have_are_refused(unit: Path) -> None:
    with pytest.raises(ValueError, match="'depth'"):
        FMU(unit, ["x", "depth"], ["f"])
