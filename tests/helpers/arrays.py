"""Lists of arrays, such as all that a solver's state is made of, compared one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from zoviz.core.types import Array


def assert_same_arrays(one: Sequence[Array], other: Sequence[Array]) -> None:
    """As many, at least one, and equal to the bit."""
    assert len(one) == len(other) > 0
    for mine, its in zip(one, other, strict=True):
        np.testing.assert_array_equal(mine, its)


def assert_first_replicas(few: Sequence[Array], many: Sequence[Array], replicas: int) -> None:
    """Arrays of so many replicas are the first rows of those of many, but for the order of sums."""
    assert len(few) == len(many) > 0
    for mine, its in zip(few, many, strict=True):
        np.testing.assert_allclose(mine, its[:replicas], rtol=1e-6, atol=1e-7)
