"""A store: what is kept is replayed and forked, and travels."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import numpy as np
import pytest

from helpers.stores import EACH_KIND, Small, rows
from zoviz import Run
from zoviz.core.errors import ZovizError
from zoviz.problems import BlackBox
from zoviz.runs.storage.schema import JOURNAL
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG

pytestmark = EACH_KIND

# --- once more --------------------------------------------------------------------------------------------------------


def steered(small: Small, until: Callable[..., None]) -> Run:
    run = small(checkpoint=0.05).start()
    until(lambda: run.progress.iteration > 10)
    run.set({"primal_step": 0.5 * run.resolved["primal_step"]})
    run.set({"estimator.smoothing_radius": 1e-4})
    until(lambda: len(run.journal) == 2 and run.progress.iteration > run.journal[1].iteration + 20)
    run.stop()
    run.wait(120)
    return run


def test_replay_repeats_every_bit(
    store: Store, small: Small, until: Callable[..., None], same_trace: Callable[..., None]
) -> None:
    run = steered(small, until)
    again = store.load(run.id).replay()
    result = again.run()
    np.testing.assert_array_equal(result.x, run.result.x)
    same_trace(again.trace, run.trace, but=("seconds",))
    assert again.id != run.id and store.load(again.id).record.parent == run.id
    assert [c.name for c in store.load(again.id).journal] == ["primal_step", "estimator.smoothing_radius"]
    assert len(store.load(again.id).schedule) == 2 and store.runs(parent=run.id)[0].id == again.id


def test_fork_goes_another_way(store: Store, small: Small, until: Callable[..., None]) -> None:
    run = steered(small, until)
    at = run.journal[0].iteration
    fork = store.load(run.id).fork(at, {"primal_step": 1e-3}, iterations=at + 20)
    fork.run()
    live = run.fork(at, {"primal_step": 1e-3}, iterations=at + 20)
    np.testing.assert_array_equal(live.run().x, fork.result.x)
    np.testing.assert_array_equal(fork.trace["objective"][: at + 1], run.trace["objective"][: at + 1])
    assert not np.array_equal(fork.trace["objective"][at + 1], run.trace["objective"][at + 1])
    assert {r.id for r in store.runs(parent=run.id)} == {fork.id, live.id}
    with pytest.raises(ValueError, match="to change, got 'seed'"):
        store.load(run.id).fork(at, {"seed": 1})


def test_the_calls_that_ended_a_run_end_its_replay(store: Store, small: Small) -> None:
    run = small(calls=101)
    run.run()
    again = store.load(run.id).replay()
    assert again.run().nit == run.result.nit and again.status == "finished"
    np.testing.assert_array_equal(again.result.x, run.result.x)


def test_functions_without_a_name_are_passed_along(store: Store) -> None:
    problem = BlackBox(lambda x: float(x @ x), bounds=[(-1.0, 2.0)] * 2)
    run = Run(problem=problem, solver=ZOCEG(), replicas=1, iterations=5, store=store)
    run.run()
    with pytest.raises(ZovizError, match="Pass the problem"):
        store.load(run.id).replay()
    np.testing.assert_array_equal(store.load(run.id).replay(problem=problem).run().x, run.result.x)
    with pytest.raises(ZovizError, match="Expected problem"):
        store.load(run.id).replay(problem=BlackBox(lambda x: 0.0, bounds=[(-1.0, 3.0)] * 2))


def test_a_store_travels_by_its_url(store: Store, small: Small) -> None:
    small(iterations=2).run()
    clone = pickle.loads(pickle.dumps(store))
    assert clone.count() == 1 and clone.url == store.url
    clone.close()
    assert rows(store, JOURNAL) == 0


def test_checkpoint_takes_seconds_or_every_call(small: Small) -> None:
    for bad in (0, -1.0, "often", None, True, float("nan")):
        with pytest.raises(ValueError, match="a positive number of seconds or 'every call'"):
            small(checkpoint=bad)
    assert small(checkpoint="every call").checkpoint == "every call"
