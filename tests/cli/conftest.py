"""The command line in a folder of its own, with a module and a program to call, and a stored run."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.command_line import SMALL, Told
from zoviz.cli.command import FINE
from zoviz.cli.main import main

BEAM = """
import numpy as np

from zoviz.problems import BlackBox


def beam(x):
    weight = 0.0624 * x.sum(axis=-1)
    deflection = (np.array([61, 37, 19, 7, 1]) / x**3).sum(axis=-1)
    return weight, (deflection - 1.0)[..., None]


def broken(x):
    raise RuntimeError("the licence server is down")


problem = BlackBox(beam, joint=True, m=1, vectorised=True, bounds=[(1, 10)] * 5, x0=[5] * 5)
failing = BlackBox(broken, bounds=[(0, 1)] * 2)
unreachable = BlackBox(lambda x: (x @ x, [1.0]), joint=True, m=1, bounds=[(0, 1)] * 2)
alone = BlackBox(lambda x: x @ x, bounds=[(0, 1)] * 2)
number = 3
"""

SIMULATION = """
import sys

source = open(sys.argv[1]) if len(sys.argv) > 1 else sys.stdin
sink = open(sys.argv[2], "w") if len(sys.argv) > 1 else sys.stdout
x = [float(word) for word in source.read().split()]
print(sum((value - 1) ** 2 for value in x), 1.5 - sum(x), sep="\\n", file=sink)
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("ZOVIZ_STORE", raising=False)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "beam_module.py").write_text(BEAM)
    (tmp_path / "sim.py").write_text(textwrap.dedent(SIMULATION))
    yield tmp_path
    sys.modules.pop("beam_module", None)


@pytest.fixture
def zoviz(folder: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Told]:
    def call(*words: str) -> Told:
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as end:  # argparse's way
            code = int(end.code or 0)
        return Told(code, *capsys.readouterr())

    return call


@pytest.fixture
def small(zoviz: Callable[..., Told]) -> str:
    """Id of a stored run."""
    outcome = zoviz("run", *SMALL, "--json", "--label", "first", "--tag", "paper", "--tag", "box")
    assert outcome.code == FINE, outcome.err
    return outcome.json["id"]
