"""What a checkpoint is packed into: values come back as they were, damage is found out, nothing is imported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.binary import pack, unpack
from zoviz.core.errors import ZovizError
from zoviz.runs.engine.journal import Change


def test_nested_values_come_back_as_they_were() -> None:
    shared, bits = np.arange(6.0).reshape(2, 3), np.array([np.nan, -0.0, np.inf, 5e-324])
    change = Change(3, 4, 0.1 + 0.2, "a", None, np.int64(7))
    value = {"a": [shared, (shared, True, 2**127)], ("b", 1): change, "c": bits, "d": np.empty((0, 4)), "e": "ü\n"}
    back = unpack(pack(value))
    assert back["a"][0] is back["a"][1][0] and back["a"][1][1:] == (True, 2**127)
    assert back["b", 1] == change and isinstance(back["b", 1], Change) and type(back["b", 1].new) is np.int64
    assert back["c"].tobytes() == bits.tobytes() and back["d"].shape == (0, 4) and back["e"] == "ü\n"
    np.testing.assert_array_equal(back["a"][0], shared)


@pytest.mark.parametrize("value", [{1, 2}, object(), np.array([object()]), lambda: 0, b"bytes"])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(ZovizError, match="Expected (arrays|an array) of numbers"):
        pack({"state": value})


def test_damaged_bytes_are_found_out() -> None:
    data = pack({"a": np.arange(50.0)})
    for broken in (data[:-9], data[:100] + bytes([data[100] ^ 1]) + data[101:], b"", b"zoviz pack 9\n" + data[14:]):
        with pytest.raises(ZovizError, match="Expected"):
            unpack(broken)


def test_no_module_is_imported_for_a_name() -> None:
    change = pack(Change(1, 2, 3.0, "a", 1, 2))
    assert b"zoviz.runs.engine.journal:Change" in change
    for name in ("antigravity:Change_______", "subprocess:Popen_________", "builtins:eval____________"):
        from zoviz.core import binary

        spelt = {"named": name.rstrip("_"), "parts": []}
        with pytest.raises(ZovizError, match="Expected a NamedTuple at"):
            binary._Reader({}).read(spelt)
