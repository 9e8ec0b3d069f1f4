"""The command line as a user types it: what it teaches, what it lists, and what it does not load."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.command_line import SMALL, Told
from zoviz.cli.command import FINE, MISUSED
from zoviz.cli.main import commands


def test_problems_and_solvers(zoviz: Callable[..., Told]) -> None:
    for name, one, parameter in (("problems", "LoadTracking", "curtailment"), ("solvers", "ZOSPLM", "primal_step")):
        assert one in [line["name"] for line in zoviz(name, "--json").json] and one in zoviz(name).out
        whole = zoviz(name, one, "--json").json
        assert parameter in [line["name"] for line in whole["parameters"]] and parameter in zoviz(name, one).out
    assert "command" not in zoviz("problems", "Executable").out.split("PARAMETER")[1].split()
    assert zoviz("solvers", "nothing like it").code == MISUSED


def test_help_teaches(zoviz: Callable[..., Told]) -> None:
    whole = zoviz("--help").out
    for command in commands():
        outcome = zoviz(command.name, "--help")
        example = command.examples.splitlines()[0]
        assert command.name in whole and outcome.code == FINE and example.startswith(f"  zoviz {command.name}")
        assert outcome.out.index(example) < outcome.out.index("options:")
    assert zoviz("--version").out.startswith("zoviz")


def test_help_fits_a_screen(zoviz: Callable[..., Told], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for words in ([], *([command.name] for command in commands())):
        lines = zoviz(*words, "--help").out.splitlines()
        assert 0 < len(lines) <= 40 and max(map(len, lines)) <= 105, words


def test_rare_options_are_in_the_whole_help(zoviz: Callable[..., Told], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    for command, usual, rare in (("run", "--calls", "--target"), ("serve", "--port", "--turns")):
        short, whole = zoviz(command, "--help").out, zoviz(command, "--help-all").out
        assert usual in short and f"  {rare} " not in short and "--help-all" in short
        assert set(re.findall("--[a-z-]+", short)) < set(re.findall("--[a-z-]+", whole)) and f"  {rare} " in whole
    assert "--help-all" not in zoviz("demo", "--help").out


def test_the_bare_word_says_what_to_begin_with(zoviz: Callable[..., Told]) -> None:
    bare = zoviz()
    named = re.findall(r"^  zoviz (\w+)", bare.out, re.MULTILINE)
    assert bare.code == FINE and "zoviz --help" in bare.out
    assert named == ["demo", "serve", "doctor"] and set(named) <= {command.name for command in commands()}


def test_nothing_draws_that_need_not(folder: Path, root: Path) -> None:
    source = f"""
import sys
import zoviz
assert "sqlalchemy" not in sys.modules and {{"Store", "Study"}} <= set(zoviz.__all__)
from zoviz import Store, Study
from zoviz.cli.main import main
for words in (["--help"], ["runs"], ["run", *{SMALL!r}]):
    try:
        main(words)
    except SystemExit:
        pass
print("loaded", *sorted({{"panel", "holoviews", "bokeh", "distributed"}} & sys.modules.keys()))
"""
    environment = {"PYTHONPATH": str(root), "PATH": "", "OMP_NUM_THREADS": "1"}
    process = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, env=environment, cwd=folder, timeout=240
    )
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines()[-1] == "loaded"
