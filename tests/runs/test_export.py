"""Stored runs as CSV, Parquet and NetCDF files, read back by other libraries, bit for bit."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.errors import MissingExtra, ZovizError
from zoviz.runs.store import Store


@pytest.fixture
def run(small: Callable[..., Run]) -> Run:
    one = small(iterations=20, label="exported", replicas=3)
    one.run()
    return one


def test_csv(store: Store, run: Run, tmp_path: Path) -> None:
    store.load(run.id).export(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 21 * 3 and list(lines[0])[:3] == ["iteration", "seconds", "replica"]
    read = np.array([float(line["objective"]) for line in lines]).reshape(21, 3)
    np.testing.assert_array_equal(read, run.trace["objective"])
    read = np.array([float(line["dual_1"]) for line in lines]).reshape(21, 3)
    np.testing.assert_array_equal(read, run.trace["dual"][:, :, 0])


def test_parquet(store: Store, run: Run, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    store.load(run.id[:8]).export(str(tmp_path / "run.parquet"))
    table = parquet.read_table(tmp_path / "run.parquet")
    assert table.num_rows == 63 and table.schema.metadata[b"label"] == b"exported"
    np.testing.assert_array_equal(table["objective"].to_numpy().reshape(21, 3), run.trace["objective"])
    np.testing.assert_array_equal(table["replica"].to_numpy()[:4], [0, 1, 2, 0])
    assert json.loads(table.schema.metadata[b"problem"])["class"] == "LoadTracking"


def test_netcdf(store: Store, run: Run, tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    store.load(run.id).export(tmp_path / "run.nc")
    with xarray.open_dataset(tmp_path / "run.nc", engine="h5netcdf") as data:
        for name, column in run.trace.snapshot().columns.items():
            np.testing.assert_array_equal(data[name], column, err_msg=name)
        np.testing.assert_array_equal(data["path"], run.path["x"])
        np.testing.assert_array_equal(data["final_x"], run.result.x)
        assert data.sizes["replica"] == 3 and data["objective"].dims == ("iteration", "replica")
        assert data.attrs["id"] == run.id and data.attrs["seed"] == "3"


def test_other_files_are_refused(store: Store, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ZovizError, match="Expected a name that ends in .json, .csv, .parquet, .nc, got 'run.xlsx'"):
        store.load(run.id).export(tmp_path / "run.xlsx")
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    sentence = r"Expected the package pyarrow, which a \.parquet file needs, .*pip install \"zoviz\[export\]\""
    with pytest.raises(MissingExtra, match=sentence):
        store.load(run.id).export(tmp_path / "run.parquet")


def test_a_run_that_has_not_come_to_anything_is_exported_too(
    store: Store, small: Callable[..., Run], tmp_path: Path
) -> None:
    run = small(calls=1)
    run.problem.param.update(scaled=True)
    assert run.run().nit == 0
    for suffix in ("csv", "parquet", "nc"):
        store.load(run.id).export(tmp_path / f"run.{suffix}")
        assert (tmp_path / f"run.{suffix}").exists()
