"""All notebooks, those of the papers too, run from the first cell to the last, and are stored without outputs."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import Any

import nbformat
import pytest

from helpers.shell_blocks import assert_block_runs, unnamed

FOLDER = Path(__file__).resolve().parents[2] / "notebooks"
NOTEBOOKS = sorted(FOLDER.rglob("*.ipynb"))
EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_the_notebooks_are_there() -> None:
    assert [path.stem for path in sorted(FOLDER.glob("*.ipynb"))] == [
        "01_tour",
        "02_your_own_black_box",
        "03_write_your_own_solver",
        "04_diagnose_and_steer",
        "05_compare",
        "06_program_on_a_cluster",
    ]


@EACH
def test_notebook_is_stored_clean(path: Path) -> None:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert (notebook.nbformat, notebook.nbformat_minor) == (4, 5)
    assert notebook.metadata.kernelspec.name == "python3"
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not [cell.id for cell in code if cell.outputs or cell.execution_count is not None]


def texts(cell: Any) -> str:
    """What a cell printed, and the names of errors that were only shown."""
    streams = [out.get("text", "") for out in cell.outputs if out.output_type == "stream"]
    return "".join(streams)


def with_text_run(notebook: Any) -> Any:
    """The notebook with the blocks of Python in its text as cells, each after the text that it stands in."""
    cells = []
    for cell in notebook.cells:
        cells.append(cell)
        if cell.cell_type == "markdown":
            blocks = re.findall(r"^```python\n(.*?)^```$", cell.source, re.MULTILINE | re.DOTALL)
            cells += [nbformat.v4.new_code_cell(block) for block in blocks]
    notebook.cells = cells
    return notebook


@EACH
def test_blocks_of_a_shell_in_its_text_run(path: Path) -> None:
    text = "\n".join(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "markdown")
    assert unnamed(text) == []
    for block in re.findall(r"^```bash\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        assert_block_runs(block)


def long(path: Path) -> list[pytest.MarkDecorator]:
    """The tour runs every time; the others take a quarter of a minute and more each."""
    return [] if path.name.startswith("01") else [pytest.mark.slow]


@pytest.mark.parametrize("path", [pytest.param(path, id=path.stem, marks=long(path)) for path in NOTEBOOKS])
def test_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ZOVIZ_SMOKE", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(FOLDER.parent), os.environ.get("PYTHONPATH")])))
    notebook = with_text_run(nbformat.read(path, as_version=4))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the client's libraries, not of ours
        from nbclient import NotebookClient

        NotebookClient(
            notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(FOLDER)}}
        ).execute()
    printed = "\n".join(texts(cell) for cell in notebook.cells if cell.cell_type == "code")
    assert "Traceback" not in printed
    figures = [out for cell in notebook.cells for out in cell.get("outputs", []) if "text/html" in out.get("data", {})]
    assert len(figures) >= 2, "Expected figures among the outputs."
