"""Profiles against values worked out by hand, and against OptiProfiler's on the same runs."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.benchmark.courses import Hits
from zoviz.benchmark.profiles import band, data_profile, performance_profile
from zoviz.core.errors import ZovizError

NEVER = np.inf


def hits(calls: list[list[list[float]]], dimensions: tuple[int, ...] = (1, 3, 9)) -> Hits:
    """Hits of solvers A and B, of which all runs had 100 calls."""
    array = np.array(calls)
    names = tuple(f"P{i}" for i in range(len(array)))
    return Hits(names, ("A", "B"), np.array(dimensions, float)[: len(array)], array, np.full(array.shape, 100.0))


TABLE = hits([[[10.0, 20.0], [20.0, 10.0]], [[8.0, 8.0], [NEVER, 16.0]], [[NEVER, NEVER], [NEVER, 50.0]]])


def test_a_performance_profile_by_hand() -> None:
    """Ratios of A: 1, 2, 1, 1, never, never; of B: 2, 1, never, 2, never, 1; six problems and replicas."""
    profile = performance_profile(TABLE)
    np.testing.assert_allclose(
        profile.at(np.array([0.99, 1.0, 1.99, 2.0, 1e9])), [[0, 3, 3, 4, 4], [0, 2, 2, 4, 4]] / np.array(6)
    )
    assert profile.runs_at("B", 2.0) == [("P0", 0), ("P1", 1)]


def test_a_data_profile_by_hand() -> None:
    """Sweeps of n + 1 = 2, 4 and 10 calls: A 5, 10, 2, 2; B 10, 5, 4, 5."""
    profile = data_profile(TABLE)
    np.testing.assert_allclose(profile.at(np.array([2.0, 4.0, 5.0, 10.0])), [[2, 2, 3, 4], [0, 1, 3, 4]] / np.array(6))


def test_a_start_that_is_best_costs_nothing() -> None:
    profile = performance_profile(hits([[[0.0], [5.0]], [[4.0], [2.0]]]))
    np.testing.assert_allclose(profile.at(np.array([1.0, 2.0])), [[0.5, 1.0], [0.5, 0.5]])


def test_problems_with_missing_runs_are_left_out() -> None:
    spent = TABLE.spent.copy()
    spent[1, 0, 1] = np.nan
    profile = data_profile(TABLE._replace(spent=spent))
    assert profile.problems == ("P0", "P2") and profile.cost.shape == (2, 2, 2)
    with pytest.raises(ZovizError, match="run the study"):
        data_profile(TABLE._replace(spent=np.full_like(spent, np.nan)))


@pytest.mark.parametrize("seed", range(3))
def test_profiles_are_those_of_optiprofiler(seed: int) -> None:
    plotting = pytest.importorskip("optiprofiler.plotting")
    from optiprofiler.utils import ProfileOption

    generator = np.random.default_rng(seed)
    work = generator.integers(1, 400, (30, 3, 4)).astype(float)
    work[generator.random(work.shape) < 0.3] = np.nan  # OptiProfiler's word for never
    dimensions = generator.integers(1, 20, 30).astype(float)
    curves = {kind: [[None] * 5 for _ in range(3)] for kind in ("perf", "data")}
    axes = plotting._get_extended_performances_data_profile_axes
    theirs = axes(work.copy(), dimensions, {ProfileOption.SEMILOGX: False}, curves)[-1]
    names = tuple(f"P{i}" for i in range(30))
    ours = Hits(names, ("A", "B", "C"), dimensions, np.where(np.isnan(work), np.inf, work), np.full(work.shape, 400.0))
    for kind, profile in (("perf", performance_profile(ours)), ("data", data_profile(ours))):
        for s in range(3):
            x, y = theirs[kind][s][4]  # the mean over their runs
            last = np.append(np.diff(x) > 0.0, True) & (x <= profile.cost[np.isfinite(profile.cost)].max())
            np.testing.assert_allclose(profile.at(x[last])[s], y[last], rtol=0, atol=1e-12)


def test_a_band_holds_what_other_problems_would_have_given() -> None:
    """Of 200 draws of 40 problems from one law, the 90 % band at a place holds the law's own share in 90 % or so."""
    generator, inside = np.random.default_rng(5), 0
    for _ in range(200):
        calls = generator.integers(1, 11, (40, 2, 1)).astype(float)
        names = tuple(map(str, range(40)))
        profile = data_profile(Hits(names, ("A", "B"), np.zeros(40), calls, np.full(calls.shape, 10.0)))
        lower, upper = band(profile, np.array([3.0]), generator, resamples=200)
        inside += int(lower[0, 0] <= 0.3 <= upper[0, 0])
    assert 168 <= inside <= 196  # 180 +- 3 standard errors, more where the band's steps are coarse
