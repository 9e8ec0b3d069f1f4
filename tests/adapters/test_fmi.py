"""A functional mock-up unit, made by pythonfmu, is a problem with the points of a function that computes the same."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from zoviz import BlackBox, Run
from zoviz.adapters.fmi import FMU

pytest.importorskip("fmpy")
pytest.importorskip("pythonfmu")

UNIT = """
from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Tank(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.width, self.height, self.load = 1.0, 1.0, 1.0
        self.cost, self.excess = 0.0, 0.0
        for name in ("width", "height", "load"):
            tunable = {"causality": Fmi2Causality.parameter, "variability": Fmi2Variability.tunable}
            self.register_variable(Real(name, **tunable))
        for name in ("cost", "excess"):
            self.register_variable(Real(name, causality=Fmi2Causality.output))

    def do_step(self, time, step):
        if self.width < -1.0:
            raise ValueError("no tank")
        self.cost = self.width * self.width + self.height * self.height
        self.excess = self.load - self.width
        return True
"""
OPTIONS = {"bounds": [(-2.0, 2.0)] * 2, "x0": [1.5, 1.0], "joint": True, "m": 1, "on_error": "fail"}


def tank(x: np.ndarray) -> tuple[float, float]:
    if x[0] < -1.0:
        raise ValueError("no tank")
    return float(x[0] * x[0] + x[1] * x[1]), float(1.0 - x[0])


@pytest.fixture(scope="module")
def unit(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("unit")
    (folder / "tank.py").write_text(UNIT)
    subprocess.run([sys.executable, "-m", "pythonfmu", "build", "-f", "tank.py"], cwd=folder, check=True)
    return folder / "Tank.fmu"


def test_a_unit_is_a_problem_with_the_points_of_a_function(unit: Path) -> None:
    fmu = FMU(unit, ["width", "height"], ["cost", "excess"], stop_time=0.1)
    assert fmu.m == 1
    assert set(fmu.units) == {"width", "height", "cost", "excess"}
    result = Run(BlackBox(fmu, noise="deterministic", **OPTIONS), "ZOSQP", replicas=1, calls=30).run()
    expected = Run(BlackBox(tank, noise="deterministic", **OPTIONS), "ZOSQP", replicas=1, calls=30).run()
    assert np.array_equal(result.x, expected.x)
    assert pickle.loads(pickle.dumps(fmu))(np.array([1.0, 0.5])) == (1.25, [0.0])


def test_other_parameters_may_be_fixed(unit: Path) -> None:
    fmu = FMU(unit, ["width"], ["cost", "excess"], stop_time=0.1, fixed={"load": 3.0, "height": 0.0})
    assert fmu(np.array([2.0])) == (4.0, [1.0])


def test_a_simulation_that_fails_is_a_failed_call(unit: Path) -> None:
    problem = BlackBox(FMU(unit, ["width", "height"], ["cost", "excess"], stop_time=0.1), **OPTIONS)
    assert np.isnan(problem.evaluate(np.array([[-1.5, 0.0]])).f).all()


def test_names_that_the_unit_does_not_have_are_refused(unit: Path) -> None:
    with pytest.raises(ValueError, match="'depth'"):
        FMU(unit, ["width", "depth"], ["cost"])
