"""Files of COCO's loggers: calls to targets and ERT as cocopp reads them off, and what is said of the others."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest

from helpers.project import ROOT
from zoviz.benchmark.courses import Hits
from zoviz.benchmark.exchange.coco_archive import read_coco
from zoviz.benchmark.exchange.imported_runs import ImportedRuns
from zoviz.benchmark.running_time import expected_running_time
from zoviz.core.errors import ZovizError

FILE = ROOT / "tests" / "data" / "coco_bbob.zip"
TARGETS = [10.0, 1.0, 0.1, 1e-3, 1e-8]
OLD = """% function evaluation | noise-free fitness - Fopt (7.948000000000e+01) | best noise-free fitness - Fopt | x
1 +3.0e+00 +3.0e+00 +8.248e+01 +8.248e+01 +1.0e+00
4 +5.0e+00 +3.0e+00 +8.448e+01 +8.248e+01 +1.0e+00
9 +1.0e-01 +1.0e-01 +7.958e+01 +7.958e+01 +1.0e+00
"""
INFO = "funcId = 1, DIM = 2, Precision = 1.000e-08, algId = 'OLD'\n% comment\ndata_f1\\run_f1_DIM2.dat, 5:12|9.0e-02\n"


def texts() -> dict[str, str]:
    with zipfile.ZipFile(FILE) as archive:
        return {one: archive.read(one).decode() for one in archive.namelist()}


def hits(runs: ImportedRuns, function: int, n: int, target: float) -> Hits:
    """What a method took to a target of a function in a dimension, its instances as replicas."""
    problems = [runs.problems[f"bbob_f{function:03d}_i{k:02d}_d{n:02d}"] for k in (1, 2, 3)]
    courses = [(one.optimum, one.courses(0.0, 0.0)[0]) for one in problems]
    calls = np.array([course.calls_to(optimum + target) for optimum, course in courses])
    spent = np.array([course.calls[-1] for _, course in courses])
    return Hits(("F",), (runs.solver,), np.array([float(n)]), calls[None, None], spent[None, None])


def test_calls_to_targets_and_expected_running_times_are_cocopps() -> None:
    runs, remarks = read_coco(texts(), FILE.name)
    assert {one.solver for one in runs} == {"random", "nelder-mead"} and remarks == []
    expected = json.loads(FILE.with_suffix(".json").read_text(encoding="utf-8"))
    compared = 0
    for one in runs:
        for line in expected[one.solver]:
            for target, calls, ert in zip(TARGETS, line["calls"], line["ert"], strict=True):
                ours = hits(one, line["function"], line["n"], target)
                theirs = np.where(np.isnan(calls), np.inf, calls)
                np.testing.assert_array_equal(ours.calls[0, 0], theirs)
                assert expected_running_time(ours)[0, 0] == pytest.approx(ert, rel=1e-12)
                compared += int(np.isfinite(theirs).sum())
    assert compared > 40


def test_an_archive_of_the_first_format_by_hand() -> None:
    """Values are the function's own; the run ended after 12 calls; backslashes part folders, as on its machine."""
    (runs,), remarks = read_coco({"a/f.info": INFO, "a/data_f1/run_f1_DIM2.dat": OLD}, "a")
    problem = runs.problems["bbob_f001_i05_d02"]
    assert (runs.solver, problem.n, problem.optimum, problem.start, remarks) == ("OLD", 2, 79.48, None, [])
    (history,) = problem.histories
    np.testing.assert_array_equal(history.calls, [1.0, 4.0, 9.0, 12.0])
    np.testing.assert_allclose(history.f, [82.48, 82.48, 79.58, 79.58])


def test_runs_of_one_instance_stand_side_by_side() -> None:
    info = INFO.replace("5:12|9.0e-02", "5:12|9.0e-02, 5:9|1.0e-01")
    (runs,), _ = read_coco({"f.info": info, "data_f1/run_f1_DIM2.dat": OLD + OLD}, "a")
    assert [one.calls[-1] for one in runs.problems["bbob_f001_i05_d02"].histories] == [12.0, 9.0]


def test_suites_without_an_objective_by_itself_are_left_out_and_that_is_said() -> None:
    info = f"suite = 'bbob-constrained', {INFO}"
    runs, remarks = read_coco({"f.info": info}, "cons")
    assert runs == [] and remarks == [
        "cons: 1 functions of the suite bbob-constrained left out: COCO's files do not hold their objective."
    ]


def test_what_is_missing_or_damaged_is_said() -> None:
    with pytest.raises(ZovizError, match="an .info file among them, got none in a.zip"):
        read_coco({"a.dat": OLD}, "a.zip")
    with pytest.raises(ZovizError, match=r"Expected the file data_f1/run_f1_DIM2.dat"):
        read_coco({"f.info": INFO}, "a")
    with pytest.raises(ZovizError, match="Expected 1 runs in .* got 2"):
        read_coco({"f.info": INFO, "data_f1/run_f1_DIM2.dat": OLD + OLD}, "a")
