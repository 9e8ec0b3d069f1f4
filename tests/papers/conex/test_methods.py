"""Verdicts on radii and on divergence, and the crossing of a level for the last time."""

from __future__ import annotations

import numpy as np

from zoviz.papers.conex.methods import alike, diverges, last_crossing


def test_verdicts_tell_settings_that_differ_from_those_that_are_alike() -> None:
    a, b, never = np.array([90.0, 100.0, 120.0]), np.array([150.0, 190.0, np.inf]), np.full(3, np.inf)
    assert alike([a, b]).startswith("reproduced") and alike([a, 3.0 * a]).startswith("not reproduced")
    assert alike([a, never]).startswith("not reproduced") and alike([never, never]).startswith("cannot be decided")
    assert diverges(np.array([2.0, 3.0])).startswith("reproduced")
    assert diverges(np.array([0.2, 0.3])).startswith("not reproduced")
    assert diverges(np.array([0.2, 3.0])).startswith("cannot be decided")
    calls = np.arange(4.0)[:, None] * np.ones(3)
    values = np.array([[5.0, 1.0, 5.0], [1.0, 2.0, 5.0], [2.0, 5.0, 5.0], [1.0, 1.0, 5.0]])
    np.testing.assert_array_equal(last_crossing(calls, values, 1.0), [3.0, 3.0, np.inf])
    np.testing.assert_array_equal(last_crossing(calls, values, 2.0), [1.0, 3.0, np.inf])
