"""What README.md promises: its commands, its Python, its lists and its links."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.project import ROOT
from helpers.shell_blocks import assert_block_runs, blocks
from zoviz import estimators, problems, solvers
from zoviz.core.registry import discover

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = blocks(ROOT / "README.md", "python")
COMMANDS = [
    "python -m pip install -e . && panel serve apps/dashboard.py --show",
    'python -m pip install -e ".[test]" && python -m pytest -n 2',
    "panel serve apps/dashboard.py --show --args my_module:problem",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_stands_on_a_line_of_its_own(command: str) -> None:
    assert command in TEXT.splitlines()


def test_it_is_read_in_minutes() -> None:
    assert len(TEXT.split()) <= 1200
    assert len(BLOCKS) == 2 and all(len(block.rstrip().splitlines()) <= 15 for block in BLOCKS)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_a_python_block_runs(number: int, tmp_path: Path) -> None:
    # In a process of its own, as a reader would: its problems and threads are no concern of other tests.
    script = tmp_path / f"block_{number}.py"
    script.write_text(f"import sys\nsys.path.insert(0, {str(ROOT)!r})\n{BLOCKS[number]}", encoding="utf-8")
    process = subprocess.run([sys.executable, "-W", "error", script], capture_output=True, text=True, timeout=240)
    assert process.returncode == 0, process.stderr
    assert process.stdout
    if number == 0:
        assert process.stdout.strip() == BLOCKS[0].rpartition("# ")[2].strip(), "what it prints stands beside it"


MODULE = """from zoviz.problems import BlackBox

problem = BlackBox(lambda x: (float(x @ x), [1.0 - x[0]]), joint=True, m=1, bounds=[(-5, 5)] * 2, x0=[3, 3])
"""
PROGRAM = """#!/bin/sh
awk '{ f += $1 * $1; s += $1 } END { print f; print 1 - s; print s - 4 }' "$1" > "$2"
"""


def marks(block: str) -> list[pytest.MarkDecorator]:
    """Launching a program five hundred times takes many seconds."""
    return [pytest.mark.slow] if "--exe" in block else []


@pytest.mark.parametrize(
    "block", [pytest.param(block, marks=marks(block)) for block in blocks(ROOT / "README.md", "bash")]
)
def test_a_block_of_a_shell_runs(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "my_module.py").write_text(MODULE, encoding="utf-8")
    (tmp_path / "sim").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / "sim").chmod(0o755)
    assert_block_runs(block)
    sys.modules.pop("my_module", None)


def test_every_class_is_listed() -> None:
    names = []
    for package, base in (("problems", problems.Problem), ("solvers", solvers.Solver)):
        names += [n for n, c in discover(f"zoviz.{package}", base).items() if c.__module__.startswith("zoviz.")]
    names += [name for name in estimators.__all__ if name != "GradientEstimator"]
    page = (ROOT / "docs" / "reference" / "problems_and_solvers.md").read_text(encoding="utf-8")
    assert [name for name in names if f"`{name}`" not in page] == []


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_to_files(name: str) -> None:
    text = re.sub(r"^```.*?^```$", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    targets = re.findall(r"\]\(([^)#]+)\)", text)
    local = [target for target in targets if not target.startswith("http")]
    assert [target for target in local if not (ROOT / target).exists()] == []
