"""Legends of figures that have one, in as many columns as there is room for."""

from __future__ import annotations

import pytest

from zoviz.views.common.figure_frame import columns_of


@pytest.mark.parametrize(
    ("labels", "columns"), [(["x" * 60] * 2, 1), (["current", "best feasible"], 2), ([], 1), (["a"] * 8, 6)]
)
def test_long_entries_stand_below_each_other(labels: list[str], columns: int) -> None:
    assert columns_of(labels) == columns
