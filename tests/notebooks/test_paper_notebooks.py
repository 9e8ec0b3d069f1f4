"""The papers' notebooks run from the first cell to the last, and are stored without outputs."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).resolve().parents[2] / "notebooks" / "papers"
EACH = pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)


@EACH
def test_a_papers_notebook_is_stored_clean(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not [cell.id for cell in code if cell.outputs or cell.execution_count is not None]


@EACH
def test_a_papers_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOVIZ_SMOKE", "1")
    root = str(FOLDER.parents[1])
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")])))
    notebook = nbformat.read(path, as_version=4)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client's libraries, not of ours
        from nbclient import NotebookClient

        resources = {"metadata": {"path": str(FOLDER)}}
        NotebookClient(notebook, timeout=120, kernel_name="python3", resources=resources).execute()
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    printed = "".join(out.get("text", "") for out in outputs if out.output_type == "stream")
    assert "Traceback" not in printed
    assert len([out for out in outputs if "text/html" in out.get("data", {})]) >= 2, (
        "Expected figures among the outputs."
    )
