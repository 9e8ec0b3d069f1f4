"""What storing costs a fast run, and how quick 10,000 stored runs are, as ratios in one process."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from sqlalchemy import insert, select

from zoviz import Run
from zoviz.problems import NonconvexQCQP
from zoviz.runs.storage.schema import RECIPES, RUNS
from zoviz.runs.store import Store
from zoviz.solvers import ZOSPLM

pytestmark = [pytest.mark.bench, pytest.mark.slow]

FEW, MANY, PAGE = 200, 10_000, 50
"""Runs of a small store and of a big one, of which each look finds a page full."""


LEAST, MOST, SECONDS = 3, 12, 1.3
"""Pairs of runs, with a store and without: so many at least, more where the machine is disturbed; and how long a run
takes, so that it is stored on its way more than once."""


def cost(store: Store | None, interval: float, iterations: int) -> tuple[float, float]:
    """Processor time of the solver's thread, and time by the wall, from start to end."""
    common = {"replicas": 8, "iterations": iterations, "seed": 1, "store": store, "checkpoint": interval}
    run = Run(problem=NonconvexQCQP(n=6), solver=ZOSPLM(), **common)
    wall, own = time.perf_counter(), time.thread_time()
    run.run()
    return time.thread_time() - own, time.perf_counter() - wall


def test_storing_costs_under_five_percent_of_a_fast_run(store: Store) -> None:
    """Steps per second of processor time of the solver's thread, so that other programs take nothing from them.

    That thread hands over its state once a second, tests a flag after every step, and begins and ends the run in the
    store; the rest is another thread's. The median of pairs, each kind first in turn; that of the times by the wall is
    printed beside it, and what a run of 30 iterations costs more: beginning and ending.
    """
    own, wall = cost(None, 1.0, 1000)
    iterations = int(1000 * SECONDS / own)
    # Where other programs take most of the machine, a second by the wall is little of the solver's own time: a second
    # of that is what lies between two checkpoints on a machine that is free.
    interval, pairs, ratio = max(1.0, wall / own), [], np.inf
    while len(pairs) < LEAST or (len(pairs) < MOST and ratio >= 1.05):
        order = [store, None] if len(pairs) % 2 else [None, store]
        figures = {one is not None: cost(one, interval, iterations) for one in order}
        pairs.append(np.divide(figures[True], figures[False]))
        ratio, beside = np.median(pairs, axis=0)
    ends = np.median([np.subtract(cost(store, 1.0, 30), cost(None, 1.0, 30)) for _ in range(5)], axis=0)
    print(f"\nwith over without a store, {len(pairs)} pairs: processor {ratio:.4f}, wall {beside:.4f}")
    print("beginning and ending: {:.1f} ms of processor, {:.1f} ms by the wall".format(*(1e3 * ends)))
    assert ratio < 1.05


def filled(path: Path, runs: int, like: Run) -> Store:
    """A store with copies of one run's lines."""
    store = Store(f"sqlite:///{path}")
    like.param.update(store=store)
    like.run()
    with store.database.writing() as connection:
        row, recipe = (dict(connection.execute(select(table)).mappings().one()) for table in (RUNS, RECIPES))
        ids = [f"{i:032x}" for i in range(runs - 1)]
        kinds = ("ZOSPLM", "ZOCEG", "ZOEG", "CMAES")
        connection.execute(
            insert(RUNS),
            [
                row
                | {"id": one, "created": float(i), "solver": kinds[i % 4], "label": f"run {i}", "tags": f"\n{i % 7}\n"}
                for i, one in enumerate(ids)
            ],
        )
        connection.execute(insert(RECIPES), [recipe | {"run": one} for one in ids])
    return store


LOOKS: dict[str, Callable[[Store], object]] = {
    "the first page": lambda store: store.runs(limit=PAGE),
    "a page of one solver": lambda store: store.runs(solver="ZOCEG", limit=PAGE),
    "a page of the finished": lambda store: store.runs(status="finished", limit=PAGE),
    "one run": lambda store: store.load(store.runs(limit=1)[0].id),
}


def test_a_store_of_ten_thousand_runs_is_quick(tmp_path: Path, small: Callable[..., Run]) -> None:
    few, many = (filled(tmp_path / f"{n}.db", n, small(iterations=5, store=None)) for n in (FEW, MANY))
    assert many.count() == MANY and len(many.runs(limit=PAGE)) == PAGE

    def quickest(look: Callable[[Store], object], store: Store) -> float:
        times = []
        for _ in range(7):
            started = time.perf_counter()
            look(store)
            times.append(time.perf_counter() - started)
        return min(times)

    figures = {name: (quickest(look, many), quickest(look, few)) for name, look in LOOKS.items()}
    slow = {"text": lambda store: store.runs(text="run 99", limit=PAGE), "count": lambda store: store.count(tag="3")}
    figures |= {name: (quickest(look, many), quickest(look, few)) for name, look in slow.items()}
    for name, (long, short) in figures.items():
        print(f"\n{name}: {1e3 * long:.1f} ms with {MANY} runs, {1e3 * short:.1f} ms with {FEW}")
    # As many lines are read out of fifty times as many: what is not found by an index would take that much longer.
    assert all(figures[name][0] <= 5.0 * figures[name][1] for name in LOOKS), figures
    every = quickest(lambda store: store.runs(), many)
    assert all(figures[name][0] <= every for name in slow), "a search reads every line, but makes no more of it"
    for store in (few, many):
        store.close()
