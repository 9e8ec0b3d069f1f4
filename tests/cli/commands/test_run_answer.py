"""What ``zoviz run`` and ``zoviz certify`` print of an answer is minimize's, to the digit."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from helpers.command_line import Told, store
from helpers.own_simulations import CALLS, MODULE, NAMES, SEED, solved
from zoviz.cli.command import FINE


@pytest.mark.parametrize("name", NAMES)
def test_what_is_printed_agrees_with_minimize(name: str, zoviz: Callable[..., Told], folder: Path) -> None:
    (folder / "answer_module.py").write_text(MODULE, encoding="utf-8")
    result = solved(name)
    words = f"answer_module:{name}", "ZOSQP", "--calls", CALLS, "--seed", SEED, "--quiet"
    told = zoviz("run", *words)
    assert told.code == FINE, told.err
    assert str(result.certainty) in told.out and f"f = {result.fun:.10g}" in told.out
    assert "objective " not in told.out, "the last iterate's value would contradict the answer's"
    assert re.search(r"^\d+ oracle calls, \d+ iterations, ", told.out, re.MULTILINE), "a call's own sample is no news"
    with store(folder) as kept:
        (record,) = kept.runs()
    certified = zoviz("certify", record.id, "--trust", "answer_module")
    assert certified.code == FINE and str(result.certainty) in certified.out, certified.err
    answer = zoviz("run", *words, "--json", "--no-store").json["answer"]
    assert answer["fun"] == result.fun and answer["x"] == result.x.tolist()
    assert answer["certainty"]["sentence"] == result.certainty.sentence
