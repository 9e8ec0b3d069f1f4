"""Tidy data of a benchmark: a line for each replica, in three formats that other programs read to the bit."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas
import pytest

from helpers.stores import whole_study
from zoviz.benchmark.courses import Benchmark, Course, Hits
from zoviz.benchmark.exchange.imported_runs import History, ImportedProblem, ImportedRuns, join
from zoviz.benchmark.exchange.tables import profile_table, table_file, tidy, tidy_courses
from zoviz.benchmark.profiles import data_profile
from zoviz.core.errors import ZovizError
from zoviz.problems import LoadTracking
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG
from zoviz.studies.study import Study

TABLE = tidy_courses(
    Benchmark(
        ["P", "Q"],
        ["A", "B"],
        [2, 3],
        {
            ("P", "A"): [
                Course(np.array([1.0, 7.0]), np.array([1.0, 1 / 3])),
                Course(np.array([1.0]), np.array([1.0])),
            ],
            ("Q", "B"): [Course(np.array([1.0, 5.0]), np.array([2.0, np.inf]))],
        },
    )
)


def test_a_line_for_each_replica_and_for_imported_runs(tmp_path: Path) -> None:
    store = Store(f"sqlite:///{tmp_path}/a.db")
    study = Study("s", {"load": LoadTracking(n=3)}, ZOCEG(), seeds=(0, 1), replicas=2, sweeps=20, store=store)
    study.run(progress=False)
    bench = Benchmark.of_study(study)
    snapshot = whole_study(store, "s")
    table = tidy(snapshot, bench)
    hits = bench.hits(1e-1)
    assert list(table["replica"]) == [0, 1, 2, 3] and set(table["n"]) == {3} and set(table["solver"]) == {"ZOCEG"}
    np.testing.assert_array_equal(table["calls to 0.1"], hits.calls[0, 0])
    assert list(table["run"]) == [id for one in study.cells for id in (one.id, one.id)]
    history = History(np.array([1.0, 2.0]), np.array([1e9, -1e9]), np.zeros(2))
    runs = [ImportedRuns("X", "COCO", {"load": ImportedProblem(3, [history])})]
    joined = join(bench, snapshot.definition.problems, 0.0, runs).benchmark
    more = tidy(snapshot, joined)
    assert list(more["solver"][4:]) == ["X (imported)"] * 4 and set(more["run"][4:]) == {""}
    assert list(more["calls to 0.1"][4:]) == [2.0] * 4 and list(more["merit"][:4]) == list(table["merit"])


def test_formats_hold_every_bit() -> None:
    read = pandas.read_csv(io.BytesIO(table_file(TABLE, ".csv")), keep_default_na=False)
    assert read.equals(TABLE)
    pytest.importorskip("pyarrow")
    assert pandas.read_parquet(io.BytesIO(table_file(TABLE, ".parquet"))).equals(TABLE)


def test_netcdf_has_an_axis_for_what_says_which_line_it_is(tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    pytest.importorskip("h5netcdf")
    (tmp_path / "a.nc").write_bytes(table_file(TABLE, ".nc"))
    with xarray.open_dataset(tmp_path / "a.nc", engine="h5netcdf") as data:
        assert dict(data.sizes) == {"problem": 2, "solver": 2, "replica": 2}
        here = data.sel(problem="P", solver="A")
        np.testing.assert_array_equal(here["merit"], [1 / 3, 1.0])
        assert np.isnan(data["calls"].sel(problem="P", solver="B")).all() and data["verdict"].dtype.kind in "OU"


def test_a_profile_is_a_line_for_each_step() -> None:
    calls = np.array([[[6.0], [3.0]], [[np.inf], [8.0]]])
    profile = data_profile(Hits(("P", "Q"), ("A", "B"), np.array([2.0, 3.0]), calls, np.full(calls.shape, 9.0)))
    table = profile_table({"data": profile})
    assert table.values.tolist() == [
        ["data", "A", 0, 2.0, 0.5],
        ["data", "B", 0, 1.0, 0.5],
        ["data", "B", 1, 2.0, 1.0],
    ]


def test_what_cannot_be_written_is_said() -> None:
    with pytest.raises(ZovizError, match=r"ends in .csv, .parquet, .nc, got '.xls'"):
        table_file(TABLE, ".xls")
    with pytest.raises(ZovizError, match="run the study first"):
        table_file(TABLE[:0], ".csv")
