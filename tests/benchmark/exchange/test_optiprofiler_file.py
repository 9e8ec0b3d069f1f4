"""Files of OptiProfiler: its own profiles of the same runs, to the digit, and what is not read of them."""

from __future__ import annotations

import io
import json
from typing import Any

import numpy as np
import pytest

from helpers.project import ROOT
from zoviz.benchmark.exchange.imported_runs import benchmark_of
from zoviz.benchmark.exchange.optiprofiler_file import read_optiprofiler
from zoviz.benchmark.exchange.result_files import read_results
from zoviz.benchmark.profiles import data_profile, performance_profile
from zoviz.core.errors import ZovizError

h5py = pytest.importorskip("h5py")
FILE = ROOT / "tests" / "data" / "optiprofiler_hs.h5"
CURVES = json.loads(FILE.with_suffix(".json").read_text(encoding="utf-8"))
"""Of each tolerance 1e-1, 1e-2, ..., OptiProfiler's own curves of the two solvers."""


def changed(**values: Any) -> io.BytesIO:
    """The file with some of its entries written anew; None takes one out."""
    out = io.BytesIO()
    with h5py.File(FILE) as old, h5py.File(out, "w") as new:
        old.copy("plib_0", new)
        for name, value in values.items():
            del new["plib_0"][name]
            if value is not None:
                new["plib_0"][name] = value
    out.seek(0)
    return out


def test_the_runs_of_a_file() -> None:
    runs, remarks = read_results([FILE])
    assert [one.solver for one in runs] == ["COBYLA", "SLSQP"] and remarks == []
    problem = runs[0].problems["HS43"]
    assert problem.n == 4 and problem.start == (0.0, 0.0)
    assert len(problem.histories) == 1, "both runs are the same: the method has no chance in it"
    with h5py.File(FILE) as file:
        names = [name.decode() for name in file["plib_0"]["problem_names"]]
        count = file["plib_0"]["n_evals"][names.index("HS43"), 0, 0]
    np.testing.assert_array_equal(problem.histories[0].calls, np.arange(1, count + 1))


@pytest.mark.parametrize("order", range(1, len(CURVES) + 1))
def test_profiles_are_those_that_optiprofiler_drew(order: int) -> None:
    hits = benchmark_of(read_results([FILE]).runs).benchmark.hits(10.0**-order)
    for kind, profile in (("perf", performance_profile(hits)), ("data", data_profile(hits))):
        for s in range(2):
            x, y = map(np.array, CURVES[order - 1][kind][s])
            last = np.append(np.diff(x) > 0.0, False)  # its last point is beyond all runs
            np.testing.assert_allclose(profile.at(x[last])[s], y[last], rtol=0, atol=1e-12)
            np.testing.assert_allclose(profile.x[s], np.unique(x[1:][np.diff(y) > 1e-9]), rtol=1e-14)


def test_runs_that_differ_stay_apart() -> None:
    with h5py.File(FILE) as file:
        f = file["plib_0"]["fun_histories"][()]
    f[:, 0, 1, 3] += 1.0
    runs, _ = read_optiprofiler(changed(fun_histories=f), "a.h5")
    assert [len(one.problems["HS43"].histories) for one in runs] == [2, 1]


def test_values_that_were_changed_are_left_out_and_that_is_said() -> None:
    runs, remarks = read_optiprofiler(changed(feature_stamp="noisy_0.001_mixed_gaussian"), "a.h5")
    assert runs == []
    assert remarks == [
        "a.h5: 3 problems left out, because OptiProfiler had modified their values "
        "(noisy_0.001_mixed_gaussian): only unmodified problems equal those of a study."
    ]


def test_what_is_no_such_file_is_said() -> None:
    with pytest.raises(ZovizError, match="is no HDF5 file"):
        read_optiprofiler(io.BytesIO(b"nothing"), "a.h5")
    with pytest.raises(ZovizError, match="without n_evals"):
        read_optiprofiler(changed(n_evals=None), "a.h5")
    empty = io.BytesIO()
    with h5py.File(empty, "w"):
        pass
    with pytest.raises(ZovizError, match="without results"):
        read_optiprofiler(empty, "a.h5")
