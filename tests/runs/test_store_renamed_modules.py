"""A store outlives its modules: what they are called stands nowhere in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sqlalchemy import select

from zoviz import Run
from zoviz.problems import BlackBox, NonconvexQCQP, StochasticQP, ToyBilevel
from zoviz.runs.storage.schema import SNAPSHOTS
from zoviz.runs.store import Store
from zoviz.solvers import SOBOW, ZOCEG, ZOSPLM, ProximalPoint, StormALM

MOVED = (
    "core/streams",
    "core/types",
    "estimators/sphere",
    "problems/base",
    "problems/user/blackbox",
    "problems/quadratic/nonconvex_qcqp",
    "problems/quadratic/stochastic_qp",
    "problems/quadratic/toy_bilevel",
    "solvers/base",
    "solvers/bilevel/base",
    "solvers/bilevel/sobow",
    "solvers/saddle/extragradient",
    "solvers/saddle/proximal_point",
    "solvers/saddle/zo_splm",
    "solvers/linear/storm_alm",
)
GO_ON = """
import sys
import numpy as np
from zoviz import Store

with Store(sys.argv[1], create=False) as store:
    for number, record in enumerate(store.runs(sort="created")):
        stored = store.load(record.id)
        assert type(stored.solver).__module__.endswith("_moved") or record.solver == "ZOCEG"
        np.save(f"{number}.npy", stored.resume(iterations=12).run().x)
        np.save(f"{number}-again.npy", stored.replay().run().x)
"""


def general(**settings: Any) -> Run:
    return Run(NonconvexQCQP(n=4, noise="common", noise_scale=0.01), ZOSPLM(), **settings)


def nested(**settings: Any) -> Run:
    return Run(BlackBox(), ProximalPoint(inner=ZOCEG(), stage_length=3), **settings)


def linear(**settings: Any) -> Run:
    return Run(StochasticQP(n=8), StormALM(horizon=100), **settings)


def bilevel(**settings: Any) -> Run:
    return Run(ToyBilevel(), SOBOW(), **settings)


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A copy of the package in which fifteen modules have other names."""
    folder = tmp_path_factory.mktemp("moved")
    shutil.copytree(root / "zoviz", folder / "zoviz", ignore=shutil.ignore_patterns("__pycache__"))
    for one in MOVED:
        (folder / "zoviz" / f"{one}.py").rename(folder / "zoviz" / f"{one}_moved.py")
    for file in (folder / "zoviz").rglob("*.py"):
        source = file.read_text(encoding="utf-8")
        for one in MOVED:
            name = "zoviz." + one.replace("/", ".")
            source = source.replace(f"{name} import", f"{name}_moved import")
        file.write_text(source, encoding="utf-8")
    return folder


def test_runs_go_on_and_again_under_renamed_modules(moved: Path, store: Store, tmp_path: Path) -> None:
    makers: tuple[Callable[..., Run], ...] = (general, nested, linear, bilevel)
    runs = [make(replicas=2, seed=3, iterations=7, store=store) for make in makers]
    first = [run.run().x for run in runs]
    for run in runs:
        assert b"zoviz" not in _checkpoint(store, run.id)
    store.close()
    shutil.copy(tmp_path / "zoviz.db", tmp_path / "copy.db")
    subprocess.run(
        [sys.executable, "-c", GO_ON, f"sqlite:///{tmp_path / 'copy.db'}"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(moved), "OMP_NUM_THREADS": "1"},
        check=True,
        timeout=200,
    )
    assert len(list(tmp_path.glob("*.npy"))) == 2 * len(runs) == 8
    for number, run in enumerate(runs):
        here = store.load(run.id).resume(iterations=12).run().x
        np.testing.assert_array_equal(np.load(tmp_path / f"{number}.npy"), here)
        np.testing.assert_array_equal(np.load(tmp_path / f"{number}-again.npy"), first[number])


def _checkpoint(store: Store, run: str) -> bytes:
    """The checkpoint's bytes, but the first line, which names the format."""
    query = select(SNAPSHOTS.c.data).where(SNAPSHOTS.c.run == run, SNAPSHOTS.c.kind == "checkpoint")
    with store.database.reading() as connection:
        return connection.execute(query).scalar_one().partition(b"\n")[2]
