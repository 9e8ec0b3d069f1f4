"""A stored row cannot have a program launched by leaving out the mark that says it is one."""

from __future__ import annotations

from typing import Any

import pytest

from zoviz.core.errors import Untrusted
from zoviz.problems import Executable
from zoviz.runs.storage.recipe import describe, rebuild


@pytest.mark.parametrize(
    "command",
    [
        ["touch", "x"],
        "touch x",
        {"tuple": ["touch", "x"]},
        {"program": ["touch", "x"]},
        {"array": ["touch", "x"], "dtype": "<U5", "shape": [2]},
        {"dict": [["touch", "x"]]},
    ],
)
def test_a_program_needs_trust_however_it_is_spelled(command: Any) -> None:
    row = describe(Executable("./sim", bounds=[(-1.0, 1.0)], m=1))
    (program,) = (row["values"]["command"]["program"],)
    assert rebuild(row, trusted=[program]).command
    row["values"]["command"] = command
    with pytest.raises(Untrusted, match="Expected a program that you trust, got .*touch"):
        rebuild(row, trusted=[program])
