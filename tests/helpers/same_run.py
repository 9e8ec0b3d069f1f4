"""Whether two runs went the same way."""

from __future__ import annotations

from typing import Any

import numpy as np

FIELDS = ("x", "fun", "maxcv", "success", "calls", "multipliers", "best_x", "best_fun", "failures")
"""What is compared of two results. (It stands here, where nothing dear is imported: processes of tests ask for it.)"""


def assert_same_course(one: Any, other: Any) -> None:
    """The same iterates, counts and rows, but for the clock."""
    for name in (*FIELDS, "message", "nit"):
        np.testing.assert_array_equal(getattr(one.result, name), getattr(other.result, name), err_msg=name)
    for left, right in ((one.trace, other.trace), (one.path, other.path)):
        a, b = left.snapshot().columns, right.snapshot().columns
        assert a.keys() == b.keys()
        for name in a.keys() - {"seconds"}:
            np.testing.assert_array_equal(a[name], b[name], err_msg=name)
    assert [(c.iteration, c.name, c.old, c.new) for c in one.journal] == [
        (c.iteration, c.name, c.old, c.new) for c in other.journal
    ]
