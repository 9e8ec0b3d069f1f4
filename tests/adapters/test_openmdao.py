"""A driver for OpenMDAO: the points of a Run, its own examples, scaling, failures, the recorder, and a kill."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.doors import BOUNDS, CALLS, START, Ledger, assert_same_result, finished_run
from zoviz.core.errors import ZovizError

om = pytest.importorskip("openmdao.api", reason='python -m pip install "zoviz[openmdao]"')
from zoviz.adapters.openmdao import ZovizDriver  # noqa: E402  # once it is known that it can be

SCALE = 4.0
"""Of x; a power of two, so that scaling rounds nothing."""


class Component(om.ExplicitComponent):
    """The noisy function as a component, which ends the process at a call of a given number."""

    def initialize(self) -> None:
        self.options.declare("ledger")
        self.options.declare("last", default=10**6)

    def setup(self) -> None:
        for name, start in zip("xy", START, strict=True):
            self.add_input(name, start)
        for name in ("f", "right", "low"):
            self.add_output(name, 0.0)
        self.declare_partials("*", "*")  # none are asked for; without the declaration OpenMDAO warns

    def compute(self, inputs: Any, outputs: Any) -> None:
        ledger = self.options["ledger"]
        if len(ledger.points) == self.options["last"]:
            raise KeyboardInterrupt
        try:
            f, h = ledger(np.concatenate([inputs["x"], inputs["y"]]))
        except ArithmeticError as error:
            raise om.AnalysisError(str(error)) from None
        outputs["f"], outputs["right"], outputs["low"] = f, -h[0], h[1]


def posed(ledger: Ledger, driver: ZovizDriver, last: int = 10**6) -> Any:
    problem = om.Problem(reports=False)
    problem.model.add_subsystem("it", Component(ledger=ledger, last=last), promotes=["*"])
    problem.model.add_design_var("x", lower=BOUNDS[0][0], upper=BOUNDS[0][1], ref=SCALE)
    problem.model.add_design_var("y", lower=BOUNDS[1][0], upper=BOUNDS[1][1])
    problem.model.add_objective("f")
    problem.model.add_constraint("right", lower=0.0, upper=0.75, ref=2.0)
    problem.model.add_constraint("low", upper=0.0)
    problem.driver = driver
    problem.setup()
    return problem


def by_run(solver: str) -> tuple[Any, list[list[float]]]:
    """A Run of the same function, in the driver's scaling."""
    ledger = Ledger()

    def scaled(z: np.ndarray) -> tuple[float, list[float]]:
        f, h = ledger(np.array([z[0] * SCALE, z[1]]))
        return f, [0.0 - -h[0] / 2.0, -h[0] / 2.0 - 0.375, h[1]]

    bounds = [(end[0] / scale, end[1] / scale) for end, scale in zip(BOUNDS, (SCALE, 1.0), strict=True)]
    run = finished_run(scaled, solver, bounds=bounds, x0=[START[0] / SCALE, START[1]], m=3)
    return run.result, ledger.points


def driver(**options: Any) -> ZovizDriver:
    return ZovizDriver(**{"noise": "independent", "seed": 1, "calls": CALLS} | options)


@pytest.mark.parametrize("solver", ["auto", "ZOSPLM"])
def test_runs_of_the_model_are_the_calls_of_a_run(solver: str, tmp_path: Path) -> None:
    result, points = by_run(solver)
    ledger, mine = Ledger(), driver(solver=solver)
    mine.add_recorder(om.SqliteRecorder(tmp_path / "cases.sql"))
    problem = posed(ledger, mine)
    outcome = problem.run_driver()
    problem.cleanup()
    assert ledger.points[:-1] == points
    assert ledger.points[-1] == [result.best_x[0, 0] * SCALE, result.best_x[0, 1]], "the model is left at the best"
    assert_same_result(mine.session.result, result)
    assert outcome.success and problem.get_val("x").item() == ledger.points[-1][0]
    cases = om.CaseReader(tmp_path / "cases.sql")
    recorded = [
        cases.get_case(name).get_design_vars(scaled=False) for name in cases.list_cases("driver", out_stream=None)
    ]
    assert [[one["x"].item(), one["y"].item()] for one in recorded] == ledger.points


def test_a_kill_in_the_middle_loses_nothing(tmp_path: Path) -> None:
    result, points = by_run("auto")
    ledger, file = Ledger(), tmp_path / "session.pkl"
    with pytest.raises(KeyboardInterrupt):
        posed(ledger, driver(checkpoint=file), last=30).run_driver()
    again = driver(checkpoint=file)
    posed(ledger, again).run_driver()
    assert ledger.points[:-1] == points
    assert_same_result(again.session.result, result)


def test_the_paraboloid_and_sellar_are_solved() -> None:
    from openmdao.test_suite.components.sellar import SellarDerivatives

    problem = om.Problem(reports=False)
    problem.model.add_subsystem("it", om.ExecComp("f = (x-3)**2 + x*y + (y+4)**2 - 3"), promotes=["*"])
    problem.model.add_subsystem("sum", om.ExecComp("c = x + y"), promotes=["*"])
    for name in "xy":
        problem.model.add_design_var(name, lower=-50.0, upper=50.0)
    problem.model.add_objective("f")
    problem.model.add_constraint("c", lower=0.0, upper=10.0)
    problem.driver = ZovizDriver(calls=150)
    problem.setup()
    assert problem.run_driver().success
    np.testing.assert_allclose([problem.get_val("x").item(), problem.get_val("y").item()], [7.0, -7.0], atol=1e-4)

    problem = om.Problem(SellarDerivatives(), reports=False)
    problem.model.add_design_var("z", lower=np.array([-10.0, 0.0]), upper=np.array([10.0, 10.0]))
    problem.model.add_design_var("x", lower=0.0, upper=10.0)
    problem.model.add_objective("obj")
    problem.model.add_constraint("con1", upper=0.0)
    problem.model.add_constraint("con2", upper=0.0)
    problem.driver = ZovizDriver(calls=200)
    problem.setup()
    problem.set_solver_print(level=-1)
    assert problem.run_driver().success
    np.testing.assert_allclose(problem.get_val("obj").item(), 3.18339, atol=1e-3)
    np.testing.assert_allclose(problem.get_val("z"), [1.97764, 0.0], atol=1e-3)


def test_an_equality_holds_within_its_tolerance() -> None:
    problem = om.Problem(reports=False)
    problem.model.add_subsystem("it", om.ExecComp(["f = x**2 + y**2", "c = x + y"], x=2.0, y=0.0), promotes=["*"])
    for name in "xy":
        problem.model.add_design_var(name, lower=-3.0, upper=3.0)
    problem.model.add_objective("f")
    problem.model.add_constraint("c", equals=1.0)
    problem.driver = ZovizDriver(calls=200)
    problem.setup()
    assert problem.run_driver().success
    np.testing.assert_allclose(problem.get_val("f").item(), 0.5, atol=1e-4)


def test_what_it_cannot_do_is_said() -> None:
    mine = driver()
    with pytest.raises(ZovizError, match="Expected a driver that has run"):
        _ = mine.session
    problem = om.Problem(reports=False)
    problem.model.add_subsystem("it", om.ExecComp(["f = x", "g = -x"]), promotes=["*"])
    problem.model.add_design_var("x", lower=0.0, upper=1.0)
    problem.model.add_objective("f")
    problem.model.add_objective("g")
    problem.driver = driver()
    problem.setup()
    with pytest.raises(ValueError, match="Expected one objective, got f, g: make all but one constraints"):
        problem.run_driver()
