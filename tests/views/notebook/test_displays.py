"""What a cell is given of each object, without a browser: tests/apps/test_jupyter_lab.py has a front end."""

from __future__ import annotations

from typing import Any

import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_notebook

from helpers.project import ROOT

pytestmark = pytest.mark.slow  # a kernel that imports all that pages need

CELLS = (
    """
from zoviz import Run, Study
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSPLM
problem = NonconvexQCQP(n=5)
run = Run(problem, ZOSPLM(), replicas=2, iterations=30, label="</script><b>mine")
run
""",
    "result = run.run(); result",
    "run",
    "problem",
    "run.solver",
    "study = Study('s', problem, ZOSPLM(), iterations=5, replicas=2, store='sqlite:///study.db'); study.run(); study",
    "run.try_remedies(60)",
)


@pytest.fixture(scope="module")
def cells(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    """The outputs of the cells above, executed in a kernel."""
    notebook = new_notebook(cells=[new_code_cell(source) for source in CELLS])
    folder = tmp_path_factory.mktemp("cells")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(ROOT))
        patch.setenv("ZOVIZ_STORE", "none")
        NotebookClient(
            notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}
        ).execute()
    return [cell.outputs for cell in notebook.cells]


def html(outputs: list[Any]) -> str:
    return "".join(out["data"].get("text/html", "") for out in outputs if "data" in out)


def test_each_object_shows_what_there_is_to_see_of_it(cells: list[Any]) -> None:
    first, result, ended, problem, solver, study, trial = cells
    assert "best feasible objective" in html(result)
    assert "best feasible objective" in html(ended) and "source-run1" in html(ended)
    assert "</script><b>mine" not in html(ended) and "<b>mine" in html(ended), "it is data, and begins no markup"
    assert any("\\min" in out["data"].get("text/markdown", "") for out in problem)
    assert any(r"\hat" in out["data"].get("text/markdown", "") for out in solver)
    assert "Primal step c" in html(solver) and "picture-QuadraticSlice" in html(problem)
    assert "times as near" in html(trial) and "source-run2" in html(trial) and "no remedy" in html(trial)
    assert "1 of 1 runs have ended" in html(study) and "<table>" in html(study)
    # Its outcome comes in place of its fields, as a message of the first cell, which this client no longer hears.
    assert "Primal step c" in html(first)


def test_nothing_is_fetched(cells: list[Any]) -> None:
    everything = "".join(str(out) for outputs in cells for out in outputs)
    assert "cdn.holoviz.org" not in everything, "no address of a content delivery network"
    print(f"{len(everything):,} characters")
