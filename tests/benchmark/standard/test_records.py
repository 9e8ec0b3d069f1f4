"""Files of the standing benchmark: what came of a study by hand, and every number read again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from zoviz.benchmark.courses import LEVELS, Benchmark
from zoviz.benchmark.standard.forms import NOISY, QUICK, QUIET
from zoviz.benchmark.standard.records import FOLDER, Cell, Record, record_of, recorded
from zoviz.problems import LoadTracking
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.studies.study import Study


@pytest.fixture
def made(tmp_path: Path) -> tuple[Study, Record]:
    store = Store(f"sqlite:///{tmp_path}/a.db")
    problems = {"load": LoadTracking(n=3)}
    study = Study("s", problems, [ZOCEG(), ZOSPLM()], sweeps=QUICK.sweeps, replicas=QUICK.replicas, store=store)
    return study.run(progress=False), record_of(QUICK, "1.2", [("exact values", study)])


def test_a_cell_is_medians_counts_and_running_times(made: tuple[Study, Record]) -> None:
    study, record = made
    bench, part = Benchmark.of_study(study), record.parts["exact values"]
    cell = part.cells["load"]["ZOCEG"]
    ends = [one.merit[-1] for one in bench.courses["load", "ZOCEG"]]
    assert cell.merit[-1] == pytest.approx(min(ends), rel=1e-5), "the lower one of two"
    hits = bench.hits(LEVELS[0])
    assert cell.solved[0] == int(np.isfinite(hits.calls[0, 0]).sum())
    assert record.dimensions == {"load": 3} and part.best["load"] == pytest.approx(bench.best("load"), rel=1e-5)
    assert part.failures == 0 and record.path == FOLDER / "1.2-quick.json"


def test_what_is_written_is_read_again(made: tuple[Study, Record], tmp_path: Path) -> None:
    _, record = made
    never = Cell([None, None, 3.0], [0, 0, 0], [None, 1.5, None])
    record.parts["exact values"].cells["load"]["never"] = never
    record.write(tmp_path / "1.2-quick.json")
    assert Record.read(tmp_path / "1.2-quick.json") == record
    record._replace(version="1.10").write(tmp_path / "1.10-quick.json")
    record._replace(version="1.11").write(tmp_path / "1.11-full.json")
    assert [one.version for one in recorded("quick", tmp_path)] == ["1.2", "1.10"]


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.json")), ids=lambda path: path.name)
def test_a_recorded_file_is_whole_and_small(path: Path) -> None:
    record = Record.read(path)
    assert path.name == f"{record.version}-{record.form}.json" and path.stat().st_size < 400_000
    assert set(record.parts) == {QUIET, NOISY}
    for part in record.parts.values():
        assert set(part.cells) == set(record.dimensions) == set(part.starts)
        cells = [cell for own in part.cells.values() for cell in own.values()]
        assert all(0 <= count <= record.replicas for cell in cells for count in cell.solved)
        assert all(cell.solved[0] >= cell.solved[1] >= cell.solved[2] for cell in cells)
