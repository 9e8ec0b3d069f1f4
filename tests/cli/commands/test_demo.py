"""``zoviz demo``: a first problem, solved to the published value, repeated, and nothing left behind."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.command_line import Told
from zoviz import Run
from zoviz.cli.command import FAILED, FINE


def test_the_beam_is_solved_and_repeated_and_nothing_is_stored(zoviz: Callable[..., Told], folder: Path) -> None:
    before = sorted(folder.iterdir())
    told = zoviz("demo", "--quiet")
    best = re.search(r"^Best feasible point: f = (\S+)", told.out, re.MULTILINE)
    assert told.code == FINE and best and float(best[1]) == pytest.approx(1.724852, abs=1e-5)
    assert "same answer, bit for bit" in told.err and "zoviz serve" in told.err
    assert sorted(folder.iterdir()) == before


def test_another_answer_of_the_repetition_is_said(zoviz: Callable[..., Told], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "replay", lambda run: Run(run.problem, run.solver, replicas=4, calls=40, seed=1))
    told = zoviz("demo", "--quiet")
    assert told.code == FAILED and "DIFFERENT" in told.err and "zoviz doctor" in told.err
