"""Histories of what libraries were told."""

from __future__ import annotations

import copy

import numpy as np
import pytest

from helpers.peers import FIXED, World, assert_same_states
from zoviz.core.types import Evaluation
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import COBYLA
from zoviz.solvers.external.coroutine import History, Record


def record(value: float) -> Record:
    return Record(np.array([0]), np.array([[value, 1.0]]), Evaluation(np.array([value]), np.array([[0.5]])))


def test_a_digest_is_that_of_what_was_told() -> None:
    start, seeds = np.zeros((1, 2)), np.array([3])
    one = History(start, seeds).extended(record(1.0)).extended(record(2.0))
    assert one.digest == History(start.copy(), seeds.copy()).extended(record(1.0)).extended(record(2.0)).digest
    others = [
        History(start, seeds),
        History(start, seeds).extended(record(1.0)),
        History(start, seeds).extended(record(2.0)).extended(record(1.0)),
        History(start, seeds + 1).extended(record(1.0)).extended(record(2.0)),
        History(start + 1.0, seeds).extended(record(1.0)).extended(record(2.0)),
    ]
    assert len({one.digest, *(other.digest for other in others)}) == 6


def test_a_copied_state_goes_on_with_the_libraries_where_they_stand(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("scipy", reason='python -m pip install "zoviz[peers]"')
    pytest.importorskip("greenlet", reason='python -m pip install "zoviz[peers]"')
    world, other = (World(COBYLA(**FIXED[COBYLA]), NonconvexQCQP(n=3)) for _ in range(2))
    expected = other.step(6)
    world.step(3)
    replays: list[int] = []
    monkeypatch.setattr(History, "replay", lambda self, libraries: replays.append(len(self)))
    for _ in range(3):
        world.state = copy.deepcopy(world.state)
        world.step()
    assert_same_states(world.state, expected)
    assert replays == [], "no library was begun anew"
    world.solver.close()
    other.solver.close()
