"""What is drawn of a trace: as much for a million iterations as for a thousand, with bands that NumPy confirms."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest

from helpers.function_calls import function_calls
from zoviz.runs.engine.trace import CAPACITY, Snapshot, Trace
from zoviz.views.plots.board import Board
from zoviz.views.plots.line_data import (
    AXES,
    BANDS,
    POINTS,
    Series,
    axis_values,
    has_zeros,
    keys_of,
    line_data,
    row_indices,
)
from zoviz.views.plots.paper_figure import PaperFigure
from zoviz.views.plots.static import convergence, course, plot

DRAWERS = (convergence, course, plot, PaperFigure)
LINES = [Series("gap", "current"), Series("best_gap", "best"), Series("dual", "y2", index=1)]


def trace_of(iterations: int, replicas: int = 4, capacity: int = CAPACITY) -> Trace:
    """A trace as a run of this length leaves it, its last row included."""
    trace, rng = Trace(capacity), np.random.default_rng(0)
    iteration = 0
    while iteration < iterations:
        if trace.wants(iteration):
            trace.append(row(iteration, replicas, rng))
        iteration += trace.stride - iteration % trace.stride
    trace.append(row(iterations, replicas, rng))
    return trace


def row(iteration: int, replicas: int, rng: np.random.Generator) -> dict[str, object]:
    return {
        "iteration": iteration,
        "seconds": 1e-4 * iteration,
        "calls": np.full(replicas, 51.0 * iteration + 1.0),
        "samples": np.full(replicas, 3.0 * iteration),
        "zeta_samples": np.full(replicas, 9.0 * iteration),
        "gap": rng.standard_normal(replicas) / (1.0 + iteration),
        "best_gap": np.full(replicas, np.nan),
        "dual": rng.standard_normal((replicas, 3)),
    }


def snapshot_of(gap: np.ndarray, x: np.ndarray | None = None) -> Snapshot:
    steps = np.arange(len(gap), dtype=float) if x is None else x
    columns = {"iteration": steps, "seconds": steps, "calls": np.repeat(steps[:, None], gap.shape[1], 1), "gap": gap}
    return Snapshot(columns, len(gap), 0)


def test_against_samples_a_run_without_them_has_no_line() -> None:
    columns = line_data(snapshot_of(np.ones((5, 2))), LINES, "samples", "std", True, True)
    assert columns.keys == keys_of(LINES) and columns.values.shape[1] == 0


@pytest.mark.parametrize("log_x", [False, True])
@pytest.mark.parametrize("iterations", [10, 299, 300, 4096, 10_000, 1_000_000])
def test_the_size_does_not_depend_on_the_length_of_a_run(iterations: int, log_x: bool) -> None:
    snapshot = trace_of(iterations).snapshot()
    for axis in AXES:
        columns = line_data(snapshot, LINES, axis, "std", log_x, True)
        x = columns.columns()["x"]
        assert columns.keys == keys_of(LINES) and columns.values.dtype == np.float32
        assert len(x) <= POINTS + 1 and len(x) >= min(snapshot.rows - log_x, POINTS // 3)
        assert x[-1] == np.float32(axis_values(snapshot, axis)[-1]), "the last row is drawn"
        assert x[0] == np.float32(axis_values(snapshot, axis)[0]) or log_x
        assert (np.diff(x) >= 0).all()


@pytest.mark.parametrize("log_x", [False, True])
def test_points_are_even_on_the_axis_they_are_drawn_against(log_x: bool) -> None:
    x = np.cumsum(np.random.default_rng(0).exponential(size=CAPACITY)) + 1.0
    at, place = row_indices(x, log_x), np.log(x) if log_x else x
    own = np.append(0.0, np.diff(place))  # no closer than the rows themselves allow
    even = (place[-1] - place[0]) / (POINTS - 1)
    assert (np.diff(place[at]) <= even + own[at[1:]] + 1e-9).all()
    assert at[0] == 0 and at[-1] == CAPACITY - 1 and (np.diff(at) > 0).all()


def test_a_logarithmic_axis_may_begin_at_zero_and_an_axis_may_stand_still() -> None:
    assert row_indices(np.arange(1000.0), True)[-1] == 999
    assert row_indices(np.zeros(1000), True)[-1] == 999 and row_indices(np.zeros(1000), False)[-1] == 999
    assert row_indices(np.arange(0.0), False).size == 0


def test_the_cost_does_not_depend_on_the_length_of_a_run() -> None:
    """As many functions are called for a million iterations as for four thousand, on no more rows."""
    short, long = (trace_of(n, replicas=20).snapshot() for n in (4_000, 1_000_000))
    calls = [
        function_calls(lambda one=one: line_data(one, LINES, "calls", "std", False, True)) for one in (short, long)
    ]
    assert calls[1] < 1.5 * calls[0] and long.rows < 1.5 * short.rows


@pytest.fixture
def holes() -> np.ndarray:
    """Random replicas of which some are missing, here and there all of them."""
    rng = np.random.default_rng(1)
    gap = rng.lognormal(size=(200, 9)) * rng.choice([-1.0, 1.0], size=(200, 9))
    gap[rng.random(gap.shape) < 0.3] = np.nan
    gap[17] = np.nan
    gap[31, 1:] = np.nan
    return gap


@pytest.mark.filterwarnings("ignore:All-NaN", "ignore:Mean of empty slice", "ignore:Degrees of freedom")
@pytest.mark.parametrize("log_y", [False, True])
@pytest.mark.parametrize("band", BANDS.values())
def test_bands_agree_with_numpy(holes: np.ndarray, band: str, log_y: bool) -> None:
    columns = line_data(snapshot_of(holes), [Series("gap", "current")], "iteration", band, False, log_y).columns()
    values = np.abs(holes) if log_y else holes
    quartiles = np.nanquantile(values, [0.25, 0.5, 0.75], axis=1)
    mean = quartiles[1]
    low = high = np.full(200, np.nan)
    if band == "std":
        mean = np.nanmean(values, axis=1)
        spread = np.nan_to_num(np.nanstd(values, axis=1, ddof=1))
        low, high = mean - spread, mean + spread
        low = np.maximum(low, np.nanmin(values, axis=1)) if log_y else low
    elif band == "range":
        low, high = np.nanmin(values, axis=1), np.nanmax(values, axis=1)
    elif band == "quartiles":
        low, _, high = quartiles
    empty = np.isnan(holes).all(axis=1)
    np.testing.assert_allclose(columns["gap"], mean, rtol=1e-5)
    for name, expected in (("gap.low", low), ("gap.high", high)):
        np.testing.assert_allclose(columns[name][~empty], expected[~empty], rtol=1e-5, atol=1e-5)
        # An area would bridge NaN: where nothing is known, the band has no width at its neighbour.
        assert band == "none" or np.isfinite(columns[name]).all()
    if band != "none":
        np.testing.assert_array_equal(columns["gap.low"][empty], columns["gap.high"][empty])


def test_one_replica_that_went_astray_does_not_move_the_line_by_default() -> None:
    """As verdicts have it, which are of medians."""
    gap = np.ones((5, 5))
    gap[:, 0] = 1e9
    for default in (Board.param.band.default, *(signature(one).parameters["band"].default for one in DRAWERS)):
        columns = line_data(snapshot_of(gap), [Series("gap", "current")], "iteration", default, False, True).columns()
        assert (columns["gap"] == 1.0).all() and (columns["gap.high"] == 1.0).all()


def test_a_band_on_a_logarithmic_axis_stays_positive() -> None:
    gap = np.array([[1e-6, 1.0, 3.0], [0.0, 2.0, 4.0]])
    columns = line_data(snapshot_of(gap), [Series("gap", "current")], "iteration", "std", False, True).columns()
    assert (columns["gap.low"] > 0).all() and columns["gap"][1] == 2.0, "a replica at 0 counts"


def test_zeros_have_a_line_of_their_own_and_a_lone_point_is_one() -> None:
    values = np.array([[588.0, 3.0], [0.0, 0.0], [0.0, 0.0], [2.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    one, snapshot = Series("gap", "current", zeros=True), snapshot_of(values)
    columns = line_data(snapshot, [one], "iteration", "std", False, True, lane=0.25).columns()
    np.testing.assert_array_equal(columns["gap"], [295.5, np.nan, np.nan, 1.0, 0.5, np.nan])
    np.testing.assert_array_equal(columns["gap.lone"], [295.5, *[np.nan] * 5])
    np.testing.assert_array_equal(columns["gap.zero"], [np.nan, *[0.25] * 5])
    assert has_zeros(snapshot, one) and not has_zeros(snapshot_of(values[:1]), one)
    assert not has_zeros(snapshot, Series("gap", "current"))
    linear = line_data(snapshot, [one], "iteration", "std", False, False).columns()
    assert np.isfinite(linear["gap"]).all() and np.isnan(linear["gap.zero"]).all()


def with_calls(calls: list[float], gap: list[list[float]]) -> Snapshot:
    columns = {"iteration": np.arange(len(calls), dtype=float), "calls": np.array(calls)[:, None], "gap": np.array(gap)}
    return Snapshot(columns, len(calls), 0)


# Calls of the rows of a trace, and where its line is broken on a logarithmic axis.
HOLES: dict[str, tuple[list[float], list[float]]] = {
    "none": ([1, 2, 3, 5, 9, 17], []),
    "after the first row": ([1, 42, 83, 124], [1]),
    "an old trace": ([1, 2, 3, 3000, 3064, 3128], [3]),
    "two": ([1, 10, 11, 12, 40, 60], [1, 12]),
    "every step": ([1, 10, 100, 1000], [1, 10, 100]),
    "one row": ([7], []),
    "a row at 0": ([0, 1, 2, 4], []),
}


@pytest.mark.parametrize("name", HOLES)
@pytest.mark.parametrize("zeros", [False, True])
def test_no_line_goes_across_more_than_a_factor_of_two(name: str, zeros: bool) -> None:
    calls, ends = HOLES[name]
    gap = [[0.0, 0.0] if zeros else [1.0 / (1 + k), 3.0 / (1 + k)] for k in range(len(calls))]
    one, snapshot = Series("gap", "current", zeros=True), with_calls(calls, gap)
    columns = line_data(snapshot, [one], "calls", "range", True, True).columns()
    x, y = columns["x"], columns["gap.zero" if zeros else "gap"]
    assert (np.diff(x) >= 0).all() and x[0] > 0.0
    joined = np.isfinite(y[1:]) & np.isfinite(y[:-1])
    assert (x[1:][joined] <= 2.0 * x[:-1][joined]).all(), "no line there"
    drawn = x[np.isfinite(y)]
    assert set(np.float32([one for one in calls if one > 0])) <= set(drawn), "and no row is lost"
    assert [end for end in calls[:-1] if end in ends] == ends
    for end in ends:
        assert not joined[np.flatnonzero(x <= 1.1 * end)[-1]], "a gap after it"
    everywhere = line_data(snapshot, [one], "calls", "range", False, True).columns()
    np.testing.assert_array_equal(everywhere["x"], np.float32(calls), "a linear axis has no gaps")
    low, high = columns["gap.low"], columns["gap.high"]
    assert zeros or (low[~np.isfinite(y)] == high[~np.isfinite(y)]).all(), "the band has no width there"


def test_the_best_so_far_never_rises_nor_comes_back_from_below_the_optimum() -> None:
    """One replica is feasible late and far off; the best of all ends below f*."""
    best = np.array([[np.nan, np.nan], [1.0, np.nan], [0.5, np.nan], [0.4, 9.0], [1e-3, 1e-3], [-1.3e-3, -1.3e-3]])
    one = Series("gap", "best", zeros=True, best=True)
    drawn = line_data(snapshot_of(best), [one], "iteration", "std", False, True).columns()
    np.testing.assert_allclose(drawn["gap"], [np.nan, np.nan, np.nan, 4.7, 1e-3, np.nan], rtol=1e-6)
    assert np.isfinite(drawn["gap.zero"][-1]) and has_zeros(snapshot_of(best), one)
    signed = line_data(snapshot_of(best), [one], "iteration", "std", False, False).columns()["gap"]
    assert signed[-1] == np.float32(-1.3e-3) and (np.diff(signed[3:]) < 0).all()


def test_a_line_of_a_linear_axis_keeps_its_sign_beside_logarithmic_ones() -> None:
    falling = np.linspace(0.0, -40.0, 5)[:, None]
    lines = [Series("gap", "f", linear=True), Series("calls", "c")]
    columns = line_data(snapshot_of(falling), lines, "iteration", "std", False, True).columns()
    np.testing.assert_array_equal(columns["gap"], falling[:, 0])
    assert np.isnan(columns["calls"][0]) and columns["calls"][-1] == 4.0


def test_one_replica_has_no_band_and_a_missing_line_is_nan() -> None:
    series = [Series("gap", "current"), Series("stationarity", "current")]
    columns = line_data(snapshot_of(np.ones((5, 1))), series, "seconds", "std", False, True).columns()
    assert (columns["gap"] == 1).all() and np.isnan(columns["gap.low"]).all()
    assert np.isnan(columns["stationarity"]).all()
