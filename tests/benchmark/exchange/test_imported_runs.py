"""Imported runs beside a study's: which problems are the same, how many replicas count, and what is said."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.project import ROOT
from zoviz.benchmark.courses import Benchmark, Course
from zoviz.benchmark.exchange.imported_runs import History, ImportedProblem, ImportedRuns, benchmark_of, join
from zoviz.benchmark.exchange.result_files import read_results
from zoviz.benchmark.profiles import data_profile
from zoviz.core.errors import ZovizError
from zoviz.problems import Suite
from zoviz.runs.store import Store
from zoviz.solvers import COBYLA, ZOSQP
from zoviz.studies.definition import ProblemFacts
from zoviz.studies.study import Study

FACTS = {"P": ProblemFacts(2, None), "own name": ProblemFacts(3, None, published="Q")}


def history(*f: float) -> History:
    return History(np.arange(1.0, len(f) + 1.0), np.array(f), np.zeros(len(f)))


def own(replicas: int = 3, starts: float = 8.0) -> Benchmark:
    """A study of one solver on P and Q, each from 8 to 0 in so many replicas."""
    courses = {
        (name, "A"): [Course(np.array([1.0, 4.0 + r]), np.array([starts, 0.0])) for r in range(replicas)]
        for name in FACTS
    }
    return Benchmark(list(FACTS), ["A"], [2, 3], courses)


def imported(n: int = 2, start: float = 8.0, runs: int = 1) -> ImportedRuns:
    """A solver A that is at -8 with its third call on P, at 2 with its second on Q; and a problem that nobody has."""
    return ImportedRuns(
        "A",
        "OptiProfiler",
        {
            "P": ImportedProblem(n, [history(8.0, 4.0, -8.0)] * runs, (start, 0.0)),
            "Q": ImportedProblem(3, [history(8.0, 2.0)] * runs, (8.0, 0.0)),
            "R": ImportedProblem(3, [history(8.0, 2.0)] * runs, (8.0, 0.0)),
        },
    )


def test_an_imported_solver_stands_beside_the_others_by_hand() -> None:
    """Of P the best is -8 now, so that the level 0.5 is 0; of Q it is 0, and the level 4."""
    joined, remarks = join(own(), FACTS, 0.0, [imported()])
    assert joined.solvers == ("A", "A (imported)")
    hits = joined.hits(0.5)
    np.testing.assert_array_equal(hits.calls[:, 0], [[4.0, 5.0, 6.0]] * 2)
    np.testing.assert_array_equal(hits.calls[:, 1], [[3.0] * 3, [2.0] * 3])
    assert remarks == [
        "A, imported: 2 of the file's 3 problems are in this study, too; the others are left out.",
        "A (imported) ended within 1 sweeps of n + 1 calls, the study within 2: beyond that its profile is "
        "flat for lack of calls.",
    ]


def test_another_dimension_and_another_start_are_no_common_problem() -> None:
    joined, remarks = join(own(), FACTS, 0.0, [imported(n=5)])
    assert np.isnan(joined.hits(0.5).calls[0, 1]).all() and joined.best("P") == 0.0
    assert "A, imported: P left out, of another number of variables here." in remarks
    joined, remarks = join(own(), FACTS, 0.0, [imported(start=8.1)])
    assert np.isnan(joined.hits(0.5).calls[0, 1]).all()
    assert "A, imported: P left out, since the file's runs begin elsewhere." in remarks
    assert data_profile(joined.hits(0.5)).problems == ("own name",)


def test_as_many_replicas_count_as_all_have() -> None:
    joined, remarks = join(own(replicas=5), FACTS, 0.0, [imported(runs=2)])
    assert joined.hits(0.5).calls.shape == (2, 2, 2)
    assert "Only the first 2 of 5 replicas are compared, since a file has no more runs." in remarks


def test_violations_count_by_the_studys_tolerance() -> None:
    problem = ImportedProblem(2, [History(np.array([1.0, 2.0]), np.array([8.0, 0.0]), np.array([0.0, 1e-6]))], (8, 0))
    runs = [ImportedRuns("A", "OptiProfiler", {"P": problem})]
    assert join(own(), FACTS, 1e-6, runs).benchmark.courses["P", "A (imported)"][0].merit[-1] == 0.0
    strict = join(own(), FACTS, 0.0, runs).benchmark.courses["P", "A (imported)"][0].merit[-1]
    assert strict == pytest.approx(0.1, rel=1e-3)


def test_no_common_problem_is_said_and_nothing_is_added() -> None:
    joined, remarks = join(
        own(), {"P": ProblemFacts(2, None, published="X"), "own name": FACTS["P"]}, 0.0, [imported()]
    )
    assert joined.solvers == ("A",)
    assert len(remarks) == 1 and "none of the file's 3 problems, P, Q, R, is in this study" in remarks[0]


def test_files_alone_are_a_benchmark_of_their_own() -> None:
    bench, _ = benchmark_of([imported(runs=2), imported()])
    assert bench.solvers == ("A (imported)", "A (imported 2)") and bench.problems == ("P", "Q", "R")
    assert bench.hits(0.5).calls.shape == (3, 2, 2) and bench.first("P") == 8.0
    with pytest.raises(ZovizError, match="choose other files"):
        benchmark_of([])


def test_real_results_join_a_study_of_the_same_problems(tmp_path: Path) -> None:
    """Both libraries ran SciPy's COBYLA from the same starts; with noise a problem is another one."""
    pytest.importorskip("h5py")
    runs = read_results([ROOT / "tests" / "data" / "optiprofiler_hs.h5"]).runs
    problems = {
        "Suite:problem_name=HS43": Suite(problem_name="HS43"),
        "ten": Suite(problem_name="HS10"),
        "noisy": Suite(problem_name="HS12", noise="independent", noise_scale=0.1),
    }
    store = Store(f"sqlite:///{tmp_path}/a.db")
    study = Study("s", problems, [COBYLA(), ZOSQP()], sweeps=16, replicas=2, store=store).run(progress=False)
    facts = study.definition.problems
    assert facts["ten"].published == "HS10" and facts["noisy"].published == ""
    assert facts["ten"].kind == "Published test sets: nonlinear constraints"
    joined, remarks = join(Benchmark.of_study(study), facts, study.definition.tolerance, runs)
    profile = data_profile(joined.hits(1e-1))
    assert set(profile.problems) == {"Suite:problem_name=HS43", "ten"}
    assert profile.solvers == ("COBYLA", "ZOSQP", "COBYLA (imported)", "SLSQP (imported)")
    assert "COBYLA, imported: 2 of the file's 3 problems are in this study, too; the others are left out." in remarks
    assert joined.first("ten") == pytest.approx(runs[0].problems["HS10"].start[0] + 1e5 * 599.0, rel=1e-6)
