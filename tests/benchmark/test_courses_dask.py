"""A benchmark on a cluster of Dask's two workers: the same tables as in one process, to the bit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from helpers.stores import whole_study
from zoviz.benchmark.courses import Benchmark
from zoviz.benchmark.exchange.tables import tidy
from zoviz.benchmark.report import latex
from zoviz.problems import LoadTracking, NonconvexQCQP, PressureVessel
from zoviz.runs.store import Store
from zoviz.solvers import COBYLA, ZOCEG, ZOSQP
from zoviz.studies.study import Study

TAUS = (0.5, 1e-1, 1e-3, 1e-5)


def study(path: Path) -> Study:
    problems = {
        "load": LoadTracking(n=4),
        "noisy": NonconvexQCQP(n=4, noise="independent", noise_scale=0.01),
        "vessel": PressureVessel(),
    }
    store = Store(f"sqlite:///{path}")
    return Study("s", problems, [COBYLA(), ZOCEG(), ZOSQP()], sweeps=15, replicas=2, store=store)


@pytest.mark.slow
def test_a_benchmark_on_two_dask_workers_gives_the_same_tables_to_the_bit(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    here, there = study(tmp_path / "here.db"), study(tmp_path / "there.db")
    here.run(progress=False)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0", local_directory=tmp_path
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        there.run(executor=client.get_executor(), progress=False)
    assert len({one.pid for one in there.store.runs()} - {one.pid for one in here.store.runs()}) == 2, "both took part"
    one, other = Benchmark.of_study(here), Benchmark.of_study(there)
    for tau in TAUS:
        for first, second in zip(one.hits(tau), other.hits(tau), strict=True):
            np.testing.assert_array_equal(first, second)
        assert latex(one, tau) == latex(other, tau)
    first, second = (tidy(whole_study(own.store, own.name), bench) for own, bench in ((here, one), (there, other)))
    assert len(first) == 3 * 3 * 2 and first.equals(second)
    rows = [[{k: v for k, v in row.items() if k != "seconds"} for row in own.table()] for own in (here, there)]
    assert repr(rows[0]) == repr(rows[1])
