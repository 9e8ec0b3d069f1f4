"""Blocks of a shell on pages: run as a reader would, or, where that cannot be, read by the program's own parser."""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.project import ROOT
from zoviz.cli.command import FINE
from zoviz.cli.main import main, parser, with_negative_values


def declared(line: str) -> None:
    """The extras that an installation asks for are those of pyproject.toml, one by one."""
    data = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    asked = re.findall(r"\[([\w,]+)\]", line) + [",".join(re.findall(r"--extra (\w+)", line))]
    names = {name for group in asked for name in group.split(",") if name}
    assert names <= data["project"]["optional-dependencies"].keys(), line


def uv(line: str) -> None:
    declared(line)
    execute(re.sub(r"^uv run (--extra \w+ )*", "", line))


def served(line: str) -> None:
    """Panel's parser takes the line, and its files are there."""
    from panel.command.serve import Serve

    options = argparse.ArgumentParser(exit_on_error=False)
    Serve(parser=options)
    assert all((ROOT / name).exists() for name in options.parse_args(shlex.split(line)[2:]).files), line


def zoviz_read(line: str) -> None:
    words = shlex.split(line)[1:]
    assert parser().parse_args(with_negative_values(words)).command == words[0]


def built(line: str) -> None:
    """Sphinx's parser takes the line, and its sources are there; it comes with an extra that tests do without."""
    get_parser = pytest.importorskip("sphinx.cmd.build", reason='python -m pip install -e ".[docs]"').get_parser
    words = shlex.split(line)
    assert (ROOT / get_parser().parse_args(words[words.index("sphinx") + 1 :]).sourcedir / "conf.py").exists()


def tested(line: str) -> None:
    """The markers, extras and folders are the project's."""
    markers = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    words = shlex.split(line, comments=True)
    if "-m" in (rest := words[words.index("pytest") + 1 :]):
        assert f'"{rest[rest.index("-m") + 1].removeprefix("not ")}:' in markers, line
    assert all((ROOT / word).exists() for word in rest if "/" in word), line


def there(line: str) -> None:
    """Files that the line names are the project's."""
    words = shlex.split(line, comments=True)
    assert all((ROOT / word).exists() for word in words if "/" in word or word.endswith(".yml")), line


READ: dict[str, tuple[str, Callable[[str], None]]] = {
    "python -m pip install": ("the tests already run in such an environment", declared),
    "python -m venv": ("the tests already run in an environment", there),
    ". .venv/bin/activate": ("the tests already run in an environment", lambda line: None),
    "conda env create": ("another package manager's", there),
    "uv run": ("another package manager's; what follows it is read in turn", uv),
    "zoviz serve": ("it serves until it is interrupted", zoviz_read),
    "panel serve": ("it serves until it is interrupted", served),
    "python -m sphinx": ("it takes minutes, and has a test of its own", built),
    "python -m pytest": ("these tests themselves", tested),
    "pytest": ("these tests themselves", tested),
    "mypy": ("it has a test of its own", there),
    "bash .ci/run": ("it runs these tests", there),
    "bash .ci/packages": ("it runs these tests in other environments", there),
}
"""Beginnings of lines that are not run, why not, and how they are read instead."""


def execute(line: str) -> None:
    """Run one command as its reader would, zoviz's own in this process; those of ``READ`` are only read."""
    line = " ".join(line.split())
    for beginning, (_, check) in READ.items():
        if line == beginning or line.startswith(f"{beginning} "):
            return check(line)
    words = shlex.split(line, comments=True)
    assert words[0] == "zoviz", f"Expected a command of zoviz's, or one of READ, got {line!r}."
    words = [word.replace("python3 ", f"{shlex.quote(sys.executable)} ", 1) for word in words[1:]]
    try:
        assert main(words) == FINE, line
    except SystemExit as end:  # argparse's way of --help
        assert not end.code, line


def assert_block_runs(text: str) -> None:
    """Let bash read the whole block, then run its commands one after the other."""
    read = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True)
    assert read.returncode == 0, read.stderr
    for line in text.replace("\\\n", " ").splitlines():
        for command in line.split(" && "):
            if command.strip():
                execute(command.strip())


def blocks(path: Path, language: str) -> list[str]:
    """Return the fenced blocks of a page in a language."""
    text = path.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def unnamed(text: str) -> list[str]:
    """Return the fences that open a block without saying what it is in."""
    return [fence for fence in re.findall(r"^ *(```.*)$", text, re.MULTILINE)[::2] if len(fence) == 3]
