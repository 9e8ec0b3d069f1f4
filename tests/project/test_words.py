"""What people read on the page, in a terminal and in messages is plain English, without words of this project's own."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.project import ROOT
from helpers.sources import for_each, parse

ROOMS = (
    "views",
    "cli",
    "diagnosis",
    "runs",
    "oracle",
    "estimators",
    "problems",
    "solvers",
    "certainty",
    "benchmark",
    "minimize",
)
ODD = re.compile(
    r"\b(un)?told\b|\bstrangers?\b|\basked (for|again)\b|\bfor (ever|good)\b|\bbears\b|\bheeded\b|\bhardly\b"
    r"|\bhas come to\b|\bfirst task\b|\btake a look\b|\bcannot see\b|\bstands? still\b|\bticked\b|\bset beside\b",
    re.IGNORECASE,
)
"""Words that a reader stumbles over, or that mean something here that they mean nowhere else."""
AMERICAN = re.compile(
    r"\b\w*(optimiz|minimiz|maximiz|normaliz|regulariz|randomiz|lineariz|analyz|behavior|neighbor|favor)\w*"
    r"|\b(modeling|labeled|canceled|gray)\b",
    re.IGNORECASE,
)
"""Spellings that are British here (CONTRIBUTING.md); names of libraries and ours for SciPy's users are not."""


def sentences(path: Path) -> Iterator[str]:
    """Yield the texts of a module that are no docstrings, and the documentation of its parameters."""
    tree = parse(path)
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, owners)]
    silent = {id(one.value) for body in bodies for one in body if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield re.sub(r"//.*", "", node.value)  # without comments of scripts for a browser


def american(text: str) -> list[str]:
    """Return the American spellings of a text, but for names in code and for titles of papers, which are in italics."""
    prose = re.sub(r"`[^`]*`|\*[^*\n]+\*|[\w.]*\b\w+[._(=][\w.]*", "", text)
    words = [match[0] for match in AMERICAN.finditer(prose)]
    return [word for word in words if word not in ("minimize", "OptiProfiler") and " " in text]


@pytest.mark.parametrize("room", ROOMS)
def test_what_people_read_is_plain_english(room: str) -> None:
    files = sorted((ROOT / "zoviz" / room).rglob("*.py"))
    found = [
        f"{path.name}: {text!r}" for path in files for text in sentences(path) if ODD.search(text) or american(text)
    ]
    assert files and found == []


def test_texts_name_a_number_instead_of_saying_so_many() -> None:
    files = sorted((ROOT / "zoviz").rglob("*.py"))
    assert files and [path.name for path in files if re.search(r"\bso many\b", path.read_text(encoding="utf-8"))] == []


WRITTEN = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "experiments"} & set(page.parts)]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *WRITTEN]


@for_each(PAGES)
def test_pages_are_plain_english(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|^\.\./\S+$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert text and ODD.findall(prose) == [] and american(prose) == []


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_are_plain_english(path: Path) -> None:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    assert texts and [text for text in texts if ODD.search(text) or american(text)] == []
