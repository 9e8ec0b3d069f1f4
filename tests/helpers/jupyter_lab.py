"""A JupyterLab in a process of its own, and a notebook in it as a person meets it."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import nbformat

from helpers.ports import free_port, until_listening
from helpers.project import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Page

OPTIONS = (
    "--no-browser",
    "--allow-root",
    "--ServerApp.token=",
    "--ServerApp.password=",
    "--ServerApp.disable_check_xsrf=True",
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
)
PATIENCE = 300.0
"""Seconds: on a busy machine a kernel takes long to import what a page needs."""


@contextlib.contextmanager
def jupyter_lab(folder: Path, **environment: str) -> Iterator[str]:
    """Serve a folder's notebooks, and give the address; settings and trust are kept beside the folder."""
    port = free_port()
    places = {
        f"JUPYTER{name}_DIR": str(folder.parent / name.lower())
        for name in ("_CONFIG", "LAB_SETTINGS", "LAB_WORKSPACES", "_RUNTIME", "_DATA")
    }
    command = [sys.executable, "-m", "jupyterlab", *OPTIONS, f"--port={port}", f"--ServerApp.root_dir={folder}"]
    values = {**os.environ, **places, "PYTHONPATH": str(ROOT), "ZOVIZ_STORE": "none", **environment}
    with (folder.parent / "lab.log").open("ab") as log:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=values)
    try:
        until_listening(port, process, folder.parent / "lab.log", PATIENCE)
        yield f"http://127.0.0.1:{port}/lab"
    finally:
        process.terminate()
        process.wait(120)


def write(path: Path, *sources: str) -> None:
    """Write a notebook with these cells."""
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = [nbformat.v4.new_code_cell(source) for source in sources]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), path)


class OpenNotebook:
    """A notebook that is open in a browser.

    Parameters
    ----------
    page : playwright.sync_api.Page
    lab : str
        Address of the JupyterLab.
    name : str
        Of the file.
    """

    def __init__(self, page: Page, lab: str, name: str) -> None:
        self.page = page
        page.goto(f"{lab}/tree/{name}?reset", timeout=1000 * PATIENCE)
        page.locator(".jp-Notebook .jp-Cell").first.wait_for(timeout=1000 * PATIENCE)

    def cell(self, number: int) -> Any:
        """A code cell, counted from 0."""
        return self.page.locator(".jp-Notebook .jp-CodeCell").nth(number)

    def idle(self) -> None:
        """Wait until the kernel is there and has nothing to do."""
        self.until(lambda: self.page.get_by_text("| Idle").count() > 0, "the kernel is idle")

    def execute(self, number: int, wait: bool = True) -> None:
        """Execute a cell."""
        self.cell(number).locator(".jp-InputArea-editor").click()
        self.page.keyboard.press("Control+Enter")
        if wait:
            self.until(lambda: self.count(number).strip("[]: ").isdigit(), f"cell {number} is executed")

    def count(self, number: int) -> str:
        """What stands before a cell: its count, ``[*]`` while it waits or is executed."""
        return self.cell(number).locator(".jp-InputArea-prompt").inner_text()

    def text(self, number: int) -> str:
        """What a cell has put out, as text."""
        return "\n".join(self.cell(number).locator(".jp-OutputArea-output").all_inner_texts())

    def until(self, condition: Any, what: str) -> None:
        """Wait until a condition holds."""
        end = time.monotonic() + PATIENCE
        while not condition():
            assert time.monotonic() < end, f"Waited in vain until {what}."
            self.page.wait_for_timeout(50)

    def save(self) -> None:
        """Save the notebook."""
        self.page.keyboard.press("Escape")
        self.page.keyboard.press("Control+s")
        self.page.get_by_text("Saving completed").wait_for(timeout=1000 * PATIENCE)

    def last_calls(self) -> float:
        """How far the longest of all lines reaches, whatever cell it is in; -1 without one."""
        return float(self.page.evaluate(_LAST))


_LAST = """() => {
    let last = -1;
    for (const d of window.Bokeh?.documents ?? []) for (const m of d._all_models.values())
        try { if (m.name?.startsWith("source-run")) last = Math.max(last, ...Array.from(m.data.x).slice(-1)) } catch {}
    return last;
}"""
