"""What people read on the page, in a terminal and in messages is plain English, without words of this project's own."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from helpers.project import ROOT

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


def sentences(path: Path) -> Iterator[str]:
    """Yield the texts of a module that are no docstrings, and the documentation of its parameters."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, owners)]
    silent = {id(one.value) for body in bodies for one in body if isinstance(one, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield re.sub(r"//.*", "", node.value)  # without comments of scripts for a browser


@pytest.mark.parametrize("room", ROOMS)
def test_what_people_read_is_plain_english(room: str) -> None:
    files = sorted((ROOT / "zoviz" / room).rglob("*.py"))
    found = [f"{path.name}: {text!r}" for path in files for text in sentences(path) if ODD.search(text)]
    assert files and found == []


WRITTEN = [page for page in sorted((ROOT / "docs").rglob("*.md")) if not {"_build", "experiments"} & set(page.parts)]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *WRITTEN]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_are_plain_english(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|^\.\./\S+$", "", text, flags=re.DOTALL | re.MULTILINE)
    assert text and ODD.findall(prose) == []
