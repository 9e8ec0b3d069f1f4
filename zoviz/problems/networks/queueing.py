"""A network of queues, simulated: the cheapest rates of service at which few customers are late."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import param

from zoviz.core.optional import require
from zoviz.core.seeds import seeds_of_points
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.problems.base import Problem

STATIONS = ("reception", "repair", "exchange", "test", "dispatch")
VISITS = np.array([1.0, 0.6, 0.4, 0.5, 1.0])
"""Shares of the customers that visit each station: repair or exchange, and half of them the test."""
PRICES = np.array([1.0, 2.0, 3.0, 2.0, 1.0])
"""Of a unit of each station's rate."""
HOLDING = 0.5
"""Price of a customer's mean time in the network."""
LATEST, LATE_SHARE = 8.0, 0.1
"""Time in the network beyond which a customer is late, and the share of customers that may be."""


class QueueingNetwork(Problem):
    r"""The rates of service at five stations, at least cost, with at most a tenth of the customers late.

    .. math:: \min_x\ c^T x + \tfrac12\,\mathrm E\,\bar T(x) \quad\text{s.t.}\quad
              \mathrm E\,\bar L(x) - 0.1 \le 0, \qquad 1.05\,v_i \le x_i \le 4\,v_i

    Customers arrive at rate 1, are received, repaired (60 %) or given another device, half of them tested, and
    dispatched; every station serves one after the other, for exponential times of rate x_i. v_i is the share of
    customers that visit station i, T their mean time in the network and L the share that takes longer than 8. A call
    simulates a day of ``customers`` from an empty network on, in SimPy, from a seed: it gives each customer's arrival,
    way and unit service times, whatever x is, so that days of one seed differ by x alone.

    Raises
    ------
    MissingExtra
        When it is first evaluated, without SimPy, the extra ``simulators``.

    References
    ----------
    Law (2015), Simulation Modeling and Analysis, §11.2 (common random numbers) and §11.2.3 (their synchronisation).
    """

    title = "Network of queues"
    order = 33
    analytic = False
    costly = True
    seeds = True
    n: ClassVar[int] = 5
    m: ClassVar[int] = 1

    noise: param.Selector[str] = param.Selector(default="common")
    noise_scale = param.Number(default=0.0)
    scaled = param.Boolean(default=True)
    customers = param.Integer(
        default=50, bounds=(1, 100_000), softbounds=(20, 500), label="Customers", doc="Customers of a simulated day."
    )

    @cached_property
    def domain(self) -> Box:
        """Rates at which every station keeps up with its customers, up to four times as many as come."""
        return Box(1.05 * VISITS, 4.0 * VISITS)

    @property
    def labels(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The stations, and the service level."""
        return STATIONS, ("late customers",)

    def initial(self, streams: Streams) -> Array:
        """Return twice the customers that come to each station, for every replica, (R, 5)."""
        return np.tile(2.0 * VISITS, (streams.replicas, 1))

    def evaluate(self, x: Array, xi: np.ndarray | None = None) -> Evaluation:
        """Return costs (...) and excess shares of late customers (..., 1) at rates x (..., 5)."""
        points = x.reshape(-1, self.n)
        seeds = seeds_of_points(xi, len(points)).tolist()
        days = [simulate(rates, seed, self.customers) for rates, seed in zip(points, seeds, strict=True)]
        f = [PRICES @ rates + HOLDING * times.mean() for rates, times in zip(points, days, strict=True)]
        h = [(times > LATEST).mean() - LATE_SHARE for times in days]
        return Evaluation(np.reshape(f, x.shape[:-1]), np.reshape(h, (*x.shape[:-1], 1)))


def simulate(rates: Array, seed: int, customers: int) -> Array:
    """Return each customer's time in the network (customers,), of one day at rates (5,)."""
    simpy = require("simpy", "simulators")
    random = np.random.default_rng(seed)
    arrivals = np.cumsum(random.exponential(size=customers)).tolist()
    services = (random.exponential(size=(customers, 5)) / rates).tolist()
    repaired, tested = random.random((2, customers)) < [[0.6], [0.5]]
    day = simpy.Environment()
    stations, times = [simpy.Resource(day) for _ in STATIONS], np.zeros(customers)

    def customer(i: int) -> Iterator[Any]:
        yield day.timeout(arrivals[i])
        for station in (0, 1 if repaired[i] else 2, *([3] if tested[i] else []), 4):
            with stations[station].request() as turn:
                yield turn
                yield day.timeout(services[i][station])
        times[i] = day.now - arrivals[i]

    for i in range(customers):
        day.process(customer(i))
    day.run()
    return times
