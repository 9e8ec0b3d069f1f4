"""Every paper's method as its paper prints it, and what the safeguarded ones say of themselves."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as parquet
import pytest

from zoviz import Run
from zoviz.cli.main import main
from zoviz.core.registry import discover
from zoviz.estimators import Block, Coordinate, Sphere
from zoviz.problems import NonconvexQCQP
from zoviz.runs.store import Store
from zoviz.solvers import OGDARR, SOGD, ZOCEG, ZOSOGD, ZOSPLM, ZOSQP, ProximalPoint, Solver, SZOConEX
from zoviz.views.controls.picker import Picker

PRINTED = {name: cls for name, cls in discover("zoviz.solvers", Solver).items() if cls.source}
OPEN = {"ZOEG", "ZOCEG", "ZOBCEG"}
"""Those whose rule chooses a step of its own for y where that of x is open."""


def test_the_papers_own_methods_are_among_them() -> None:
    papers = {cls.source for cls in PRINTED.values() if cls.source.startswith("paper")}
    algorithms = {"splm": 1, "conex": 2, "zoeg": 3, "salm": 3, "sogd": 2}
    printed = {f"paper {paper}, Algorithm {k}" for paper, count in algorithms.items() for k in range(1, count + 1)}
    assert printed <= papers


@pytest.mark.parametrize("name", PRINTED)
def test_a_published_method_says_so_and_the_default_says_what_differs(name: str) -> None:
    cls = PRINTED[name]
    steps = {"primal_step": 0.1} if name in OPEN else {}
    published = cls.published(**steps)
    assert published.differences_from_paper() == () and published.form() == f"As published: {cls.source}."
    assert published.clone().form() == published.form()
    words = cls().differences_from_paper()
    assert words and cls().form().startswith(f"Differs from {cls.source} by {words[0]}")


def test_what_is_given_stays_and_what_is_open_in_a_part_is_as_published() -> None:
    solver = ZOSPLM.published(primal_step=0.3, restoration=5, estimator=Sphere(smoothing_radius=0.1, batch_size=3))
    assert (solver.primal_step, solver.restoration, solver.estimator.batch_size) == (0.3, 5, 3)
    assert solver.estimator.directions == "random" and solver.estimator.smoothing_radius == 0.1
    assert solver.differences_from_paper() == ("restoration of feasibility first",)
    assert ZOSPLM.published().estimator.smoothing_radius == 1e-5, "printed in §4"
    assert ZOCEG.published(primal_step=0.2).dual_step == 0.2, "one step for x and y"
    kept = ProximalPoint(inner=SZOConEX.published()).differences_from_paper()[-1]
    assert kept == "multipliers that are kept from stage to stage"
    assert SOGD.published().schedule == "theory" and not ZOSOGD.published().project_inner
    assert OGDARR.published().dual == "estimated"
    with pytest.raises(ValueError, match=r"Expected a method that a paper prints, got ZOSQP"):
        ZOSQP.published()


def test_another_kind_of_estimator_is_a_difference_too() -> None:
    solver = ZOSPLM.published(primal_step=0.1, estimator=Coordinate(smoothing_radius=1e-5))
    assert solver.differences_from_paper() == ("directions along coordinates",)
    run = Run(NonconvexQCQP(n=4), ZOSPLM(estimator=Block(smoothing_radius=None)), replicas=1, iterations=3)
    run.run()
    assert "directions along coordinates" in run.result.form


def test_a_run_its_store_and_its_export_say_which_form_it_is(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/runs.db")
    forms = []
    for solver in (ZOSPLM(), ZOSPLM.published(), ZOSPLM(primal_step=1e-3), ZOSQP()):
        run = Run(NonconvexQCQP(n=4), solver, replicas=1, iterations=3, store=store)
        run.run()
        stored = store.load(run.id)
        stored.export(tmp_path / "run.parquet")
        metadata = parquet.read_schema(tmp_path / "run.parquet").metadata
        assert stored.result.form == run.result.form == metadata[b"form"].decode()
        forms.append(run.result.form)
    assert forms[0] == (
        "Differs from paper splm, Algorithm 1 by restoration of feasibility first, a penalty where multipliers alone "
        "do not suffice, steps that are shortened for large multipliers and the exact gradient of the proximal term."
    )
    assert forms[1:] == [
        "As published: paper splm, Algorithm 1.",
        "Differs from paper splm, Algorithm 1 by the exact gradient of the proximal term.",
        "",
    ]


def test_the_command_line_and_the_page_say_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["solvers", "ZOSPLM", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["form"] == ZOSPLM().form()
    assert main(["solvers", "ZOSPLM"]) == 0
    assert "ZOSPLM.published() is as published." in capsys.readouterr().out
    picker = Picker()
    assert picker.pick("Nonconvex QCQP", "ZO-SPLM")
    picker.suggest()
    assert "Differs from paper splm, Algorithm 1</summary>" in picker.form.object and picker.form.visible
    for name, value in (("restoration", 0), ("augmentation", False), ("step_reach", 1e9), ("estimate_proximal", True)):
        picker.solver.set(name, value)
    picker.suggest()
    assert "As published: paper splm, Algorithm 1." in picker.form.object
    assert picker.pick("Nonconvex QCQP", "ZOSQP")
    picker.suggest()
    assert not picker.form.visible
