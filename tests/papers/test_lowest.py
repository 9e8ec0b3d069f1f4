"""The lowest value that SLSQP reaches off the books."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.papers.lowest import lowest


def two_wells(x: Array) -> tuple[float, Array]:
    """Wells at -1 and, lower, at 2, of which a row allows what is below 1.5."""
    return float(min((x[0] + 1.0) ** 2, (x[0] - 2.0) ** 2 - 1.0)), np.array([x[0] - 1.5])


@pytest.mark.parametrize(
    ("starts", "limit", "value"),
    [([-2.0], 3.0, 0.0), ([-2.0, 1.4], 3.0, -0.75), ([9.0], 1.0, 0.0), ([-2.0], -3.0, 4.0)],
)
def test_it_is_the_lowest_of_all_starts_within_bounds_and_rows(starts: list[float], limit: float, value: float) -> None:
    found = lowest(two_wells, (np.array([start]) for start in starts), [(None, limit)], unit=10.0)
    assert found == pytest.approx(value, abs=1e-6)


def test_where_no_point_is_feasible_there_is_none() -> None:
    assert lowest(lambda x: (float(x @ x), np.ones(1)), [np.ones(2)], [(-2.0, 2.0)] * 2) == np.inf
