"""Samples count when they are first seen, replica by replica, up to their budget."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.errors import BudgetSpent
from zoviz.core.streams import Streams
from zoviz.oracle import FirstOrder, Oracle
from zoviz.oracle.samples import XI, ZETA, SampleCounts
from zoviz.problems import LoadTracking, StochasticQP


def test_a_batch_counts_once_and_each_copy_of_zeta_by_itself() -> None:
    counts = SampleCounts(2)
    counts.begin((3, 5))
    for parts, points in (((XI,), 1), ((XI, ZETA), 4), ((ZETA,), 1), ((ZETA + 2,), np.array([0, 1]))):
        counts.pay(parts, points, False, counts.bill(parts, points, False))
    assert counts.xi.tolist() == [3, 3] and counts.zeta.tolist() == [5, 10]
    counts.begin(2)
    counts.pay((XI,), 7, True, counts.bill((XI,), 7, True))
    assert counts.xi.tolist() == [17, 17], "each of 7 points had a mini-batch of 2"


def test_a_probe_that_is_masked_out_and_a_frozen_replica_see_none() -> None:
    problem = LoadTracking(n=3, noise="common")
    oracle = Oracle(problem, Streams(0, 3))
    probes = np.repeat(problem.initial(Streams(0, 3))[:, None], 2, axis=1)
    oracle(probes, np.array([[True, False], [False, False], [True, True]]))
    assert oracle.account.samples.xi.tolist() == [1, 0, 1]
    oracle.freeze(np.array([True, False, False]))
    oracle(probes)
    oracle.resample()
    oracle(probes)
    assert oracle.account.samples.xi.tolist() == [1, 2, 2]


def test_the_budget_is_never_exceeded_and_nothing_is_counted_beyond_it() -> None:
    oracle = Oracle(StochasticQP(n=9), Streams(0, 2), budgets={"samples": 10})
    first, x = FirstOrder(oracle), np.zeros((2, 9))
    oracle.resample(7)
    for _ in range(3):
        first.gradient(x)
    oracle.resample(4)
    with pytest.raises(BudgetSpent, match="The budget of 10 samples is spent"):
        first.gradient(x)
    assert oracle.account.samples.xi.tolist() == [7, 7] and oracle.calls.tolist() == [3, 3]
    with pytest.raises(BudgetSpent, match="10 samples"):
        oracle(x)
    assert oracle.calls.tolist() == [3, 3]


def test_an_oracle_goes_on_counting_where_its_snapshot_was_made() -> None:
    problem, x = StochasticQP(n=9, sampled_rows=True), np.zeros((2, 9))
    oracle, other = (Oracle(problem, Streams(0, 2)) for _ in range(2))
    oracle.resample(5)
    oracle(x)
    other.restore(oracle.snapshot())
    for each in (oracle, other):
        each(x)
        FirstOrder(each).residual(x, copy=2)
        assert (each.account.samples.xi.tolist(), each.account.samples.zeta.tolist()) == ([5, 5], [10, 10])
