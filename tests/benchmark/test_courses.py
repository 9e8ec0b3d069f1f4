"""Courses of stored runs, the published merit, and levels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz.benchmark.courses import Benchmark, Course, merit
from zoviz.benchmark.paired_comparison import Decision, compare
from zoviz.benchmark.profiles import data_profile
from zoviz.problems import LoadTracking, NonconvexQCQP
from zoviz.solvers import ZOCEG, ZOEG, ZOSPLM
from zoviz.studies.study import Study


def test_the_merit_by_hand() -> None:
    """v_0 = 1: up to 1e-10 feasible, up to 2 penalised by 1e5, beyond infinite."""
    f, v = np.array([3.0, 3.0, 3.0, 3.0, np.nan, 3.0]), np.array([0.0, 1e-10, 1.0, 2.1, 0.0, np.nan])
    np.testing.assert_allclose(
        merit(f, v, 1.0), [3.0, 3.0, 3.0 + 1e5 * (1.0 - 1e-10), np.inf, np.inf, np.inf], rtol=1e-15
    )
    np.testing.assert_array_equal(merit(f[:1], np.array([1e-6]), 0.0, tolerance=1e-6), [3.0])


def test_the_merit_is_optiprofilers() -> None:
    theirs = pytest.importorskip("optiprofiler.profile_utils")._default_merit
    generator = np.random.default_rng(1)
    for first in (0.0, 1e-3, 1.0, 1e9, 1e12):
        f, v = (
            generator.normal(size=50),
            first * 10.0 ** generator.uniform(-14, 1, 50) + generator.choice([0.0, 0.05], 50),
        )
        np.testing.assert_array_equal(merit(f, v, first), [theirs(*one, first) for one in zip(f, v, strict=True)])


def test_calls_to_a_level_and_merit_within_calls() -> None:
    course = Course(np.array([0.0, 10.0, 25.0]), np.array([np.inf, 4.0, 1.0]))
    assert [course.calls_to(level) for level in (5.0, 4.0, 3.9, 1.0, 0.9)] == [10.0, 10.0, 25.0, 25.0, np.inf]
    assert [course.merit_at(calls) for calls in (0.0, 9.0, 10.0, 1e9)] == [np.inf, np.inf, 4.0, 1.0]


def test_levels_by_hand() -> None:
    """Of 8 to 0 the level 0.25 is 2; the other solver begins at 4, and 8 is the start; no start has a merit in Q."""
    courses = {
        ("P", "A"): [Course(np.array([0.0, 3.0, 9.0]), np.array([8.0, 2.0, 0.0]))],
        ("P", "B"): [Course(np.array([0.0, 5.0]), np.array([8.0, 4.0]))],
        ("Q", "A"): [Course(np.array([0.0, 6.0]), np.array([np.inf, np.inf]))],
    }
    bench = Benchmark(["P", "Q"], ["A", "B"], [1, 1], courses)
    hits = bench.hits(0.25)
    np.testing.assert_array_equal(hits.calls[:, :, 0], [[3.0, np.inf], [np.inf, np.nan]])
    np.testing.assert_array_equal(bench.shortfalls()[0, :, 0], [0.0, 0.5])
    np.testing.assert_array_equal(bench.shortfalls(2.0)[0, :, 0], [0.25, 1.0])  # 4 calls
    assert hits.complete().problems == ("P",)
    with pytest.raises(ValueError, match="between 0 and 1"):
        bench.hits(1.0)


def test_a_study_gives_its_courses(tmp_path: Path) -> None:
    problems = {"load": LoadTracking(n=4), "qcqp": NonconvexQCQP(n=4)}
    study = Study(
        "bench", problems, [ZOCEG(), ZOEG()], seeds=(0, 1), replicas=2, calls=300, store=f"sqlite:///{tmp_path}/s.db"
    )
    bench = Benchmark.of_study(study.run(progress=False))
    assert bench.problems == ("load", "qcqp") and bench.solvers == ("ZOCEG", "ZOEG")
    hits = bench.hits(0.5)
    there = [study.store.load(cell.id) for cell in study.cells]
    assert hits.calls.shape[2] == 4 and np.nansum(np.isfinite(hits.spent)) == 2 * len(there)
    assert bench.best("load") == pytest.approx(problems["load"].known_optimum.value)
    profile = data_profile(hits)
    assert set(profile.solvers) == {"ZOCEG", "ZOEG"} and (profile.at(np.array([1e9])) > 0.0).any()


@pytest.mark.slow
def test_a_method_equals_itself_and_is_worse_with_half_its_budget(tmp_path: Path) -> None:
    """Of 200 comparisons of ZO-SPLM with itself under other seeds 95 % cannot tell; half of its calls are worse."""
    problems = {f"{n} {seed}": NonconvexQCQP(n=n, seed=seed) for n in (20, 30, 40) for seed in range(4)}
    study = Study("self", problems, ZOSPLM(), replicas=60, calls=600, store=f"sqlite:///{tmp_path}/s.db")
    bench, generator = Benchmark.of_study(study.run(progress=False)), np.random.default_rng(7)
    whole = bench.shortfalls()[:, 0]
    half = np.stack([bench.shortfalls(300 / (p.domain.n + 1))[i, 0] for i, p in enumerate(problems.values())])
    silent = 0
    for _ in range(200):
        drawn = generator.permuted(np.tile(np.arange(60), (len(problems), 1)), axis=1)
        first, second = (
            np.median(np.take_along_axis(whole, part, axis=1), axis=1) for part in (drawn[:, :5], drawn[:, 5:10])
        )
        silent += compare({"A": first, "B": second}, generator)[0].decision is Decision.CANNOT_TELL
    print(f"{silent} of 200 self-comparisons cannot tell")
    assert silent >= 190
    one = compare({"half": np.median(half[:, :5], axis=1), "whole": np.median(whole[:, 5:10], axis=1)}, generator)[0]
    print(f"half against whole: {one}")
    assert one.decision is Decision.WORSE


def test_rows_at_which_nothing_changes_are_left_out_and_levels_are_as_with_them() -> None:
    merit = np.array([np.inf, np.inf, 4.0, 4.0, 4.0, 1.0, 1.0, 1.0])
    whole = Course(np.arange(8.0), merit)
    thin = whole.thinned()
    np.testing.assert_array_equal(thin.calls, [0.0, 2.0, 5.0, 7.0])
    for level in (5.0, 4.0, 2.0, 1.0, 0.0):
        assert thin.calls_to(level) == whole.calls_to(level)
    for calls in np.arange(-0.5, 9.0, 0.5):
        assert thin.merit_at(calls) == whole.merit_at(calls)


def test_levels_of_many_courses_at_once_are_those_of_each() -> None:
    generator = np.random.default_rng(3)
    problems, solvers = ["P", "Q", "R"], ["A", "B"]
    courses = {
        (p, s): [
            Course(
                np.cumsum(generator.integers(1, 9, k)).astype(float), np.minimum.accumulate(generator.normal(size=k))
            )
            for k in generator.integers(1, 40, 3)
        ]
        for p in problems
        for s in solvers
        if (p, s) != ("Q", "B")
    }
    bench = Benchmark(problems, solvers, [1, 2, 3], courses, {"R": -10.0})
    for tau in (0.5, 1e-2, 1e-8):
        hits = bench.hits(tau)
        for (p, s), own in courses.items():
            level = bench.best(p) + tau * (bench.first(p) - bench.best(p))
            here = problems.index(p), solvers.index(s)
            np.testing.assert_array_equal(hits.calls[here], [one.calls_to(level) for one in own])
            np.testing.assert_array_equal(hits.spent[here], [one.calls[-1] for one in own])
        assert np.isnan(hits.spent[1, 1]).all() and np.isnan(hits.calls[1, 1]).all()
