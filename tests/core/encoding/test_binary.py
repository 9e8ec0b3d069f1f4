"""What a checkpoint is packed into: values come back as they were, damage is found out, nothing is imported."""

from __future__ import annotations

import sys
import threading
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pytest

from zoviz.core.encoding import binary
from zoviz.core.encoding.binary import pack, unpack
from zoviz.core.errors import ZovizError
from zoviz.runs.engine.steering import Change


def test_nested_values_come_back_as_they_were() -> None:
    shared, bits = np.arange(6.0).reshape(2, 3), np.array([np.nan, -0.0, np.inf, 5e-324])
    change = Change(3, 4, 0.1 + 0.2, "a", None, np.int64(7))
    value = {"a": [shared, (shared, True, 2**127)], ("b", 1): change, "c": bits, "d": np.empty((0, 4)), "e": "ü\n"}
    back = unpack(pack(value), {"Change": Change})
    assert back["a"][0] is back["a"][1][0] and back["a"][1][1:] == (True, 2**127)
    assert back["b", 1] == change and isinstance(back["b", 1], Change) and type(back["b", 1].new) is np.int64
    assert back["c"].tobytes() == bits.tobytes() and back["d"].shape == (0, 4) and back["e"] == "ü\n"
    np.testing.assert_array_equal(back["a"][0], shared)


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24.0).reshape(2, 3, 4).transpose(2, 0, 1),
        np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        np.arange(12.0)[::3],
        np.arange(12.0).reshape(3, 4)[::-1, 1:3],
        np.broadcast_to(np.arange(3.0), (2, 3)),
    ],
    ids=["transposed", "Fortran", "strided", "reversed", "broadcast"],
)
def test_an_array_comes_back_in_the_layout_that_it_had(array: np.ndarray) -> None:
    one, two = unpack(pack([array, np.ascontiguousarray(array)]))
    assert one.strides == array.strides and two.flags.c_contiguous
    np.testing.assert_array_equal(one, array)
    np.testing.assert_array_equal(two, array)


def test_a_view_with_far_more_gaps_than_numbers_is_packed_close() -> None:
    wide = np.zeros((5, 1000))
    assert unpack(pack(wide[:, 0])).strides == (8,)


def test_threads_read_archives_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    data, load, reading, overlaps = pack({"a": np.arange(3.0)}), np.load, [0], []

    class Slow:
        """An archive that is open for a while."""

        def __init__(self, archive: Any) -> None:
            self._archive = archive

        def __enter__(self) -> Any:
            reading[0] += 1
            time.sleep(0.02)
            overlaps.append(reading[0])
            return self._archive.__enter__()

        def __exit__(self, *error: Any) -> None:
            self._archive.__exit__(*error)
            reading[0] -= 1

    monkeypatch.setattr(binary.np, "load", lambda *args, **kwargs: Slow(load(*args, **kwargs)))
    threads = [threading.Thread(target=unpack, args=(data,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert overlaps == [1, 1, 1, 1]


@pytest.mark.parametrize("value", [{1, 2}, object(), np.array([object()]), lambda: 0, b"bytes"])
def test_other_values_are_refused(value: Any) -> None:
    with pytest.raises(ZovizError, match="Expected (arrays|an array) of numbers"):
        pack({"state": value})


def test_damaged_bytes_are_found_out() -> None:
    data = pack({"a": np.arange(50.0)})
    for broken in (data[:-9], data[:100] + bytes([data[100] ^ 1]) + data[101:], b"", b"zoviz pack 9\n" + data[14:]):
        with pytest.raises(ZovizError, match="Expected"):
            unpack(broken)


class Own(NamedTuple):
    """A state of somebody else's."""

    x: np.ndarray
    step: int = 0


def test_a_state_is_stored_by_the_names_of_its_class_and_fields() -> None:
    change, own = Change(1, 2, 3.0, "a", 1, 2), Own(np.ones(2), 3)
    data = pack([change, own])
    assert b"journal" not in data and f"{__name__}:Own".encode() in data
    back = unpack(data, {"Change": Change})
    assert back[0] == change and isinstance(back[1], Own) and back[1].step == 3
    assert unpack(data)[0] == change._asdict()
    for classes, sentence in (({}, "got 'Change': another version stored it"), ({"Change": Own}, "Expected Change")):
        with pytest.raises(ZovizError, match=sentence):
            unpack(data, classes)


@dataclass
class Held:
    place: np.ndarray
    inner: Own
    turns: int = 3

    @cached_property
    def size(self) -> float:
        return float(np.abs(self.place).max())


def test_a_dataclass_is_stored_by_its_fields_and_nothing_that_it_makes_of_them() -> None:
    held = Held(np.arange(3.0), Own(np.ones(2), 4))
    assert held.size == 2.0
    back = unpack(pack(held), {})
    assert type(back) is Held and type(back.inner) is Own and back.turns == 3 and "size" not in vars(back)
    np.testing.assert_array_equal(back.place, held.place)


def test_fields_may_change_their_order_and_new_ones_have_defaults() -> None:
    class Change2(NamedTuple):
        new: int
        old: int
        name: str
        seconds: float
        calls: int
        iteration: int
        who: str = "nobody"

    assert unpack(pack(Change(1, 2, 3.0, "a", 4, 5)), {"Change": Change2}) == (5, 4, "a", 3.0, 2, 1, "nobody")


def test_no_module_is_imported_for_a_name() -> None:
    for name in ("antigravity:Change", "subprocess:Popen", "builtins:eval"):
        with pytest.raises(ZovizError, match="Expected a NamedTuple at"):
            binary._Reader({}, {}).read({"named": name, "fields": {}})
    assert "antigravity" not in sys.modules


@pytest.mark.parametrize("head", [b"zoviz pack 2\n", b"zoviz pack 9\n", b""])
def test_bytes_of_another_version_are_refused(head: bytes) -> None:
    data = head + pack(1.0)[len(b"zoviz pack 1\n") :] if head else b""
    with pytest.raises(ZovizError, match="Expected bytes that begin with .*zoviz pack 1.*use a copy, or that version"):
        unpack(data)
