"""What a run is called whose budget ended: solved where its searches ended at a minimum that is its best point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz import BlackBox, Run
from zoviz.core.types import Array, Iterate
from zoviz.runs.engine.confidence import BUDGET, CONFIDENT
from zoviz.runs.engine.stopping import Ending
from zoviz.solvers import ZOSQP
from zoviz.solvers.base import Searches


def bowl(x: Array) -> tuple[float, list[float]]:
    return float(np.square(x - 1.0).sum()), [float(x[0] + x[1] - 1.0)]


class NoisyFrom:
    """A bowl with noise of 1e-2 from some call on."""

    def __init__(self, first: int) -> None:
        self._first, self._calls, self._random = first, 0, np.random.default_rng(0)

    def __call__(self, x: Array) -> tuple[float, list[float]]:
        self._calls += 1
        f, h = bowl(x)
        return f + (1e-2 * float(self._random.standard_normal()) if self._calls >= self._first else 0.0), h


class OneStillSearches(ZOSQP):
    """The second replica's searches have not ended."""

    def searches(self, state: Any) -> Searches | None:
        known = super().searches(state)
        return known and known._replace(ended=known.ended * [1, 0], minima=known.minima * [1, 0])


class CannotTell(ZOSQP):
    """Searches end, at what may be no minimum."""

    def searches(self, state: Any) -> Searches | None:
        known = super().searches(state)
        return known and known._replace(minima=0 * known.minima)


class ReportsAnother(ZOSQP):
    """The point that it reports is not the best one that was met."""

    def iterate(self, state: Any) -> Iterate:
        at, apart = super().iterate(state), 1e-3
        return at._replace(x=at.x + apart, value=None if at.value is None else at.value._replace(f=at.value.f + apart))

    def output(self, state: Any) -> Array:
        return self.iterate(state).x


def ended(solver: ZOSQP, function: Any = bowl, replicas: int = 1, calls: int = 600) -> Run:
    problem = BlackBox(function, joint=True, m=1, bounds=[(-5, 5)] * 2, x0=[3.0, 3.0])
    run = Run(problem, solver, replicas=replicas, calls=calls, stop_when=BUDGET)
    run.run()
    assert run.status == "finished" and run.result.calls[0] == calls, "its budget ended it"
    return run


@pytest.mark.parametrize("replicas", [1, 2])
def test_a_search_that_ended_at_the_best_point_solves_it(replicas: int) -> None:
    assert ended(ZOSQP(), replicas=replicas).ending is Ending.SOLVED


def test_a_search_that_has_not_ended_does_not() -> None:
    assert ended(ZOSQP(), calls=9).ending is Ending.BUDGET


def test_every_replica_is_to_have_ended_its_search() -> None:
    assert ended(OneStillSearches(), replicas=2).ending is Ending.BUDGET


def test_a_search_that_may_have_ended_at_no_minimum_does_not() -> None:
    assert ended(CannotTell()).ending is Ending.BUDGET


def test_nor_one_that_ended_elsewhere_than_at_the_best_point() -> None:
    assert ended(ReportsAnother()).ending is Ending.BUDGET


def test_a_point_that_is_lower_by_round_off_alone_keeps_no_run_from_its_end() -> None:
    """Two difference points are as good as each other there, and which is lower depends on the units."""

    def half_way(x: Array) -> tuple[float, list[float]]:
        return float(np.square(x - 1.0).sum()), [x.sum() - 15.0, x @ x - 10.0]

    problem = BlackBox(half_way, joint=True, m=2, x0=[0.0] * 30)
    run = Run(problem, ZOSQP(), replicas=1, calls=2000, stop_when=CONFIDENT)
    assert run.run().ending is Ending.SOLVED and run.result.calls[0] < 1000, run.message
    assert run.result.best_fun[0] == pytest.approx(7.5, abs=1e-5)


def test_nor_one_whose_values_turn_out_to_be_noisy_later() -> None:
    run = ended(ZOSQP(), NoisyFrom(150))
    assert run.ending is Ending.BUDGET and "Values are noisy" in run.message
