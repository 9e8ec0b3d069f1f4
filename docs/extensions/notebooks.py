"""Notebooks as pages: copied from the folder where people run them, so that none is written twice."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from extensions.reference import write_all

FOLDERS = {"tutorials": ".", "papers": "papers"}
"""Folders of pages, and the folder of notebooks that each shows."""


def write_pages(app: Sphinx) -> None:
    """Copy the notebooks, and let their kernels import this checkout."""
    source = Path(app.srcdir).parent / "notebooks"
    for folder, origin in FOLDERS.items():
        notebooks = sorted((source / origin).glob("*.ipynb"))
        texts = {path.name: path.read_text(encoding="utf-8") for path in notebooks}
        write_all(Path(app.srcdir) / folder / "notebooks", texts)
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(source.parent), os.environ.get("PYTHONPATH")]))


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the copying."""
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
