"""The simulated network of queues: one day by hand, its seeds, and what more service does."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import numpy as np
import pytest

from zoviz.core.errors import MissingExtra
from zoviz.core.streams import Streams
from zoviz.problems import QueueingNetwork
from zoviz.problems.networks.queueing import HOLDING, LATE_SHARE, LATEST, PRICES, VISITS, simulate

needs_simpy = pytest.mark.skipif(find_spec("simpy") is None, reason="needs SimPy")


@needs_simpy
def test_a_day_is_that_of_lindleys_recursion() -> None:
    rates, seed, customers = np.array([1.5, 1.0, 0.7, 1.0, 1.4]), 11, 60
    random = np.random.default_rng(seed)
    arrivals = np.cumsum(random.exponential(size=customers))
    services = random.exponential(size=(customers, 5)) / rates
    repaired, tested = random.random((2, customers)) < [[0.6], [0.5]]
    present = arrivals.copy()
    for station, visits in enumerate([np.ones(customers, bool), repaired, ~repaired, tested, np.ones(customers, bool)]):
        free = 0.0
        for i in sorted(np.flatnonzero(visits), key=lambda i: present[i]):
            free = present[i] = max(free, present[i]) + services[i, station]
    np.testing.assert_allclose(simulate(rates, seed, customers), present - arrivals, rtol=1e-12)


@needs_simpy
def test_values_are_cost_and_late_customers_of_the_seeds_that_lead_the_points() -> None:
    problem, x = QueueingNetwork(customers=30), np.stack([2.0 * VISITS, 1.5 * VISITS])
    value = problem.evaluate(np.stack([x, x]), np.array([3, 4]))
    for i, seed in enumerate((3, 4)):
        for j, rates in enumerate(x):
            times = simulate(rates, seed, 30)
            assert value.f[i, j] == PRICES @ rates + HOLDING * times.mean()
            assert value.h[i, j, 0] == (times > LATEST).mean() - LATE_SHARE
    assert problem.draw(0, Streams(1, 3), (4,)).shape == (3, 4)
    assert problem.labels[1] == ("late customers",) and problem.m == 1


@needs_simpy
def test_differences_under_one_seed_are_more_precise_than_values() -> None:
    problem, seeds = QueueingNetwork(), np.arange(60)
    here, there = (problem.evaluate(np.tile(rates, (60, 1)), seeds) for rates in (2.0 * VISITS, 2.1 * VISITS))
    assert (there.f - here.f).std() < 0.3 * here.f.std()
    assert (there.h - here.h).std() < 0.5 * here.h.std()
    assert there.h.mean() < here.h.mean()


def test_without_simpy_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "simpy", None)
    with pytest.raises(MissingExtra, match=r"zoviz\[simulators\]"):
        QueueingNetwork().evaluate(2.0 * VISITS[None])
