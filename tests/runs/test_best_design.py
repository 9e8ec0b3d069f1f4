"""The best design of a run: x, f and h by their names, from live runs, stored ones, the command line's and scripts'."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.types import Array
from zoviz.problems import BlackBox, LoadTracking, Problem, QuadraticBilevel, StochasticQP, WeldedBeam
from zoviz.runs.export import export
from zoviz.runs.script import script
from zoviz.runs.store import Store
from zoviz.solvers import SOGD, ZOCEG, SmoothedALM, Solver

NAMES: dict[str, Any] = {"variable_names": ["width", "height"], "constraint_names": ["stress"]}


def objective(x: Array) -> float:
    return float(x[0] + x[1])


def stress(x: Array) -> float:
    return float(0.25 - x[0] * x[1])


def solved(store: Store | None = None, **params: Any) -> Run:
    problem = BlackBox(objective, stress, bounds=[(0.1, 2.0), (0.1, None)], x0=[1.5, 1.0], **params)
    run = Run(problem, "ZOSQP", replicas=2, calls=150, store=store)
    run.run()
    return run


def test_it_has_every_name_with_its_value_and_bounds() -> None:
    design = solved(**NAMES).best_design
    assert design.variables == ("width", "height") and design.constraints == ("stress",)
    assert design.f == objective(design.x) == pytest.approx(1.0, abs=1e-4) and design.h == [stress(design.x)]
    assert design.feasible and design.kind == "best feasible point" and design.replicas == 2
    plain = design.plain()
    assert json.loads(json.dumps(plain)) == plain
    assert plain["x"] == {"width": design.x[0], "height": design.x[1]} and plain["h"] == {"stress": design.h[0]}
    assert plain["bounds"] == {"width": [0.1, 2.0], "height": [0.1, None]}


def test_its_table_has_every_bit() -> None:
    design = solved(**NAMES).best_design
    rows = [line.split(",") for line in design.csv().splitlines()]
    assert [row[0] for row in rows] == ["name", "f", "width", "height", "stress"]
    assert [float(row[1]) for row in rows[1:]] == [design.f, *design.x, *design.h]
    assert rows[2][2:] == ["0.1", "2.0"] and rows[3][3] == "" and rows[4][3] == "0.0"
    assert str(design).splitlines()[0] == f"Best feasible point: f = {design.f:.10g}"
    assert f"height  {design.x[1]:.10g}" in str(design) and "<= 0" in str(design)


def test_the_store_the_script_and_the_file_have_the_same(tmp_path: Path) -> None:
    with Store(f"sqlite:///{tmp_path / 'runs.db'}") as store:
        run = solved(store, **NAMES)
        stored = store.load(run.id)
        live, kept = run.best_design, stored.best_design
        assert live.plain() == kept.plain() and stored.result.best_h.tolist() == run.result.best_h.tolist()
        export(stored, tmp_path / "design.json")
    assert json.loads((tmp_path / "design.json").read_text()) == live.plain()
    assert "print(run.best_design)" in script(run)


def test_without_a_feasible_point_it_is_the_least_violating_one() -> None:
    problem = BlackBox(objective, [stress, lambda x: 1.0], bounds=[(0.1, 2.0)] * 2, x0=[1.5, 1.0])
    run = Run(problem, "ZOSQP", replicas=1, calls=60)
    run.run()
    design = run.best_design
    assert not design.feasible and design.kind == "iterate that violates least, as no point is feasible"
    assert design.h.max() == 1.0 and design.h[1] == 1.0 and "h2  1 " in str(design)


@pytest.mark.parametrize("problem", [WeldedBeam(), LoadTracking(n=4)], ids=lambda one: type(one).__name__)
def test_built_in_problems_have_one_by_formula(problem: Any) -> None:
    run = Run(problem, ZOCEG(), replicas=2, iterations=50)
    run.run()
    design = run.best_design
    value = problem.evaluate(design.x)
    assert design.variables == tuple(f"x{i + 1}" for i in range(4)) and len(design.constraints) == problem.m
    np.testing.assert_allclose(design.h, value.h, rtol=1e-12, atol=1e-12)


def test_names_of_another_number_are_refused_in_a_sentence() -> None:
    problem = BlackBox(objective, stress, bounds=[(0.1, 2.0)] * 2, variable_names=["width"])
    with pytest.raises(ValueError, match="Expected 2 names in variable_names, got 1: give one for each"):
        _ = problem.labels


@pytest.mark.parametrize(
    ("problem", "solver", "words"),
    [(StochasticQP(), SmoothedALM(), "mean over samples"), (QuadraticBilevel(), SOGD(), "objective of the round")],
)
def test_what_no_call_gives_is_measured_and_said(problem: Problem, solver: Solver, words: str) -> None:
    run = Run(problem, solver, replicas=2, iterations=5)
    run.run()
    design = run.best_design
    assert words in design.kind and design.f == run.trace["objective"][-1][design.replica]
    assert "nan" not in str(design)
