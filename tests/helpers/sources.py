"""The sources of the package and the apps, as syntax trees."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from helpers.project import ROOT

SOURCES = sorted(p for folder in ("zoviz", "apps") for p in (ROOT / folder).rglob("*.py"))
EACH_FILE = pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())


def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
