"""The command line as a user types it: certificates of stored runs."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.command_line import Told
from zoviz.cli.command import FINE, MISUSED


def test_certify_prints_a_sentence_and_leaves_the_run_as_it_was(zoviz: Callable[..., Told], small: str) -> None:
    before = zoviz("runs", "show", small[:6], "--json").json
    outcome = zoviz("certify", small[:6])
    assert outcome.code == FINE and outcome.out.startswith("KKT residual ")
    assert "extra calls, not charged to the run" in outcome.err
    made = zoviz("certify", small[:6], "--replica", "1", "--tolerance", "0.1", "--json").json
    assert len(made["x"]) == 5 and made["residual"][0] >= 0 and made["sentence"].startswith("KKT residual ")
    assert zoviz("runs", "show", small[:6], "--json").json == before
    assert zoviz("certify", small[:6], "--replica", "99").code == MISUSED
    assert zoviz("certify", small[:6], "--repeats", "0").code == MISUSED


def test_a_program_is_not_launched_before_somebody_agreed(
    zoviz: Callable[..., Told], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = f"{sys.executable} sim.py {{input}} {{output}}"
    run = zoviz("run", "--exe", program, "--bounds", "0:2*2", "--constraints", "1", "ZOSPLM", "--calls", "60", "--json")
    assert run.code == FINE, run.err
    refused = zoviz("certify", run.json["id"])
    assert refused.code == MISUSED and "Expected --yes" in refused.err and refused.out == ""
    terminal = io.StringIO("n\n")
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    outcome = zoviz("certify", run.json["id"])
    assert outcome.code == FINE and "No calls were made" in outcome.err and "KKT" not in outcome.out
