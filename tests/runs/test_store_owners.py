"""A store with owners: each person lists, finds and changes only what is theirs."""

from __future__ import annotations

import pickle

import pytest

from helpers.stores import EACH_KIND
from zoviz import Run
from zoviz.problems import LoadTracking
from zoviz.runs.storage.database import StoreError
from zoviz.runs.store import Store
from zoviz.solvers import ZOCEG


def stored(store: Store, label: str) -> Run:
    run = Run(LoadTracking(n=4), ZOCEG(), replicas=1, iterations=2, label=label, store=store)
    run.run()
    return run


@EACH_KIND
def test_a_person_has_only_their_own_runs(store: Store) -> None:
    ann, bob = store.of_owner("ann"), store.of_owner("bob")
    hers, his = stored(ann, "hers"), stored(bob, "his")
    assert [one.label for one in ann.runs()] == ["hers"] and ann.count() == 1 and ann.count(owner="bob") == 1
    assert ann.record(hers.id) is not None and ann.record(his.id) is None
    for action in (ann.load, ann.delete, ann.restore, lambda id: ann.annotate(id, label="mine")):
        with pytest.raises(StoreError, match="Expected the id of a run"):
            action(his.id)
    bob.delete([his.id])
    assert ann.purge() == [] and [one.id for one in bob.purge()] == [his.id]
    assert [(one.label, one.owner) for one in store.runs()] == [("hers", "ann")], "the store itself has everybody's"
    assert ann.load(hers.id[:8]).label == "hers"


def test_what_comes_of_a_persons_run_is_theirs(store: Store) -> None:
    ann = store.of_owner("ann")
    run = stored(ann, "hers")
    again = ann.load(run.id).replay()
    again.run()
    fork = ann.load(run.id).fork(1, iterations=3)
    fork.run()
    assert {one.owner for one in store.runs()} == {"ann"} and store.count() == 3
    travelled = pickle.loads(pickle.dumps(ann))
    with travelled:
        assert travelled.owner == "ann" and travelled.count() == 3 and travelled.of_owner("bob").count() == 0


def test_a_run_without_an_owner_is_nobodys(store: Store) -> None:
    stored(store, "before there were owners")
    assert store.runs()[0].owner == "" and store.of_owner("ann").count() == 0
