"""Rows of two states put together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from zoviz.core.replica_rows import choose_rows


class Watched(NamedTuple):
    """A state with an array that is there only now and then."""

    x: np.ndarray
    leaving: np.ndarray | None


def test_a_replica_that_is_not_chosen_keeps_its_state_and_has_no_part_in_an_array_that_is_new() -> None:
    old, active = Watched(np.array([1.0, 2.0]), None), np.array([False, True])
    new = choose_rows(active, Watched(np.array([3.0, 4.0]), np.array([True, True])), old)
    assert new.x.tolist() == [1.0, 4.0] and new.leaving is not None
    assert new.leaving.tolist() == [False, True] and new.leaving.dtype == bool
    assert choose_rows(active, Watched(np.array([5.0, 6.0]), None), new).leaving is None
