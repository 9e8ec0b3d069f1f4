"""A level is moved smoothly over ten thousand runs: a redraw costs little more than that of a single run."""

from __future__ import annotations

import time

import numpy as np
import pytest

from zoviz.benchmark.courses import Benchmark, Course
from zoviz.benchmark.profiles import data_profile, performance_profile
from zoviz.views.benchmark.profile_plots import ProfilePlot

pytestmark = [pytest.mark.bench, pytest.mark.slow]
ROWS = 60


def benchmark_of(problems: int, solvers: int, replicas: int) -> Benchmark:
    generator = np.random.default_rng(0)
    names = [f"P{p}" for p in range(problems)], [f"S{s}" for s in range(solvers)]
    courses = {
        (problem, solver): [
            Course(
                np.cumsum(generator.integers(1, 30, ROWS)).astype(float),
                np.minimum.accumulate(np.exp(-generator.exponential(3.0, ROWS) * np.arange(ROWS) / 20.0)),
            )
            for _ in range(replicas)
        ]
        for problem in names[0]
        for solver in names[1]
    }
    return Benchmark(*names, [5] * problems, courses)


def redraw_time(bench: Benchmark) -> float:
    plots = [ProfilePlot("data", lambda *_: None) for _ in range(2)]
    times = []
    for k in range(15):
        began = time.process_time()
        hits = bench.hits(10.0 ** (-0.5 - 0.25 * k))
        plots[0].update(data_profile(hits))
        plots[1].update(performance_profile(hits))
        times.append(time.process_time() - began)
    return float(np.median(times))


def test_ten_thousand_runs_are_redrawn_in_at_most_a_hundred_times_what_one_takes() -> None:
    """One run takes about 0.3 ms here, so that this is well below the tenth of a second at which a slider drags."""
    one, many = redraw_time(benchmark_of(1, 1, 1)), redraw_time(benchmark_of(50, 40, 5))
    print(f"redraw: one run {1e3 * one:.2f} ms, 10,000 runs {1e3 * many:.2f} ms, ratio {many / one:.0f}")
    assert many < 100.0 * one
