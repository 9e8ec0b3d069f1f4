"""Running times against a table that is worked out by hand, and simulated restarts against their expectation."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.benchmark.courses import Hits
from zoviz.benchmark.running_time import expected_running_time, running_time_distribution, simulated_restarts

CALLS = np.array([[[10.0, 30.0, np.inf], [np.inf, np.inf, np.inf]], [[5.0, 5.0, 5.0], [20.0, np.inf, np.nan]]])
SPENT = np.array([[[50.0, 60.0, 100.0], [100.0, 100.0, 100.0]], [[9.0, 9.0, 9.0], [40.0, 60.0, np.nan]]])
HITS = Hits(("P", "Q"), ("A", "B"), np.array([2.0, 5.0]), CALLS, SPENT)


def test_expected_running_times_by_hand() -> None:
    """P, A: (10 + 30 + 100) / 2; Q, B: (20 + 60) / 1, of two runs."""
    np.testing.assert_array_equal(expected_running_time(HITS), [[70.0, np.inf], [5.0, 80.0]])


def test_simulated_restarts_take_the_expected_running_time_in_the_mean() -> None:
    times = simulated_restarts(CALLS[0, 0], SPENT[0, 0], 200_000, np.random.default_rng(1))
    assert times.mean() == pytest.approx(70.0, abs=4 * times.std() / 200_000**0.5)
    assert set(np.unique(times % 100.0)) == {10.0, 30.0}


def test_restarts_of_what_never_or_always_succeeds() -> None:
    generator = np.random.default_rng(2)
    assert np.isinf(simulated_restarts(CALLS[0, 1], SPENT[0, 1], 5, generator)).all()
    assert (simulated_restarts(CALLS[1, 0], SPENT[1, 0], 5, generator) == 5.0).all()


def test_the_distribution_over_two_targets_by_hand() -> None:
    """Calls over n = 2 of P at two levels: A 5, 15, never and 10, 15, never; Q is left out, as B lacks a run."""
    harder = HITS._replace(calls=np.where(CALLS == 10.0, 20.0, CALLS))
    profile = running_time_distribution([HITS, harder])
    np.testing.assert_allclose(profile.at(np.array([4.9, 5.0, 10.0, 15.0]))[0], [0, 1 / 6, 2 / 6, 4 / 6])
    assert profile.solvers == ("A", "B") and not len(profile.x[1])


def test_with_restarts_what_succeeds_at_all_succeeds_at_last() -> None:
    profile = running_time_distribution([HITS], np.random.default_rng(3), 50)
    np.testing.assert_allclose(profile.at(np.array([1e9])), [[1.0], [0.0]])
