"""Other libraries' optimisers: errors, values that are not finite, replicas that fail."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from helpers.peers import BOUNDS, EACH, FIXED, Simulation, each
from zoviz.core.errors import OracleError
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import BlackBox, NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.solvers import COBYLA, SLSQP, TrustConstr
from zoviz.solvers.external.base import ExternalSolver
from zoviz.solvers.external.call_cache import CallCache
from zoviz.solvers.external.coroutine import Ended, Task


class Faulty(COBYLA):
    """Raises in its second replica, or in every one."""

    __abstract = True
    everywhere, asks = False, True
    error: type[Exception] = ArithmeticError

    def play(self, task: Task, ask: Any) -> Ended:
        if self.asks:
            ask(task.start[None])
        if self.everywhere or task.start[0] > 0.0:
            raise self.error("singular")
        return Ended("done")


@each(COBYLA)
def test_an_error_of_a_library_ends_its_replica_and_all_of_them_the_run(cls: type[ExternalSolver]) -> None:
    starts = NonconvexQCQP(n=2).initial(Streams(0, 8))[:, 0]
    assert (starts > 0).any() and (starts < 0).any()
    run = Run(problem=NonconvexQCQP(n=2), solver=Faulty(**FIXED[cls]), replicas=8, calls=5)
    run.run()
    assert run.status == "finished" and "ArithmeticError: singular" in run.message and "done" in run.message


@pytest.mark.parametrize(("kind", "asked"), [(ArithmeticError, False), (RuntimeError, True)])
def test_an_error_of_numbers_leaves_an_answer_where_there_are_values(kind: type[Exception], asked: bool) -> None:
    class Worse(Faulty):
        __abstract = True
        everywhere = True

    run = Run(problem=NonconvexQCQP(n=2), solver=Worse(**FIXED[COBYLA]), replicas=2, calls=5)
    run.run()
    assert run.status == "finished" and "ArithmeticError: singular" in run.message

    class Worst(Worse):
        __abstract = True
        asks, error = asked, kind

    run = Run(problem=NonconvexQCQP(n=2), solver=Worst(**FIXED[COBYLA]), replicas=2, calls=5)
    with pytest.raises(kind, match="singular"):
        run.run()


@EACH
def test_a_value_that_is_not_finite(cls: type[ExternalSolver]) -> None:
    count = itertools.count()

    def holes(x: Array) -> tuple[float, Array]:
        f, h = Simulation()(x)
        return (float("nan") if next(count) in (14, 15, 16, 17) else f), h

    box = BlackBox(holes, scaled=False, bounds=BOUNDS, m=2, joint=True)
    run = Run(problem=box, solver=cls(**FIXED[cls]), replicas=2, calls=120)
    if cls.survives:
        result = run.run()
        assert run.frozen == 0 and (result.failures > 0).any() and np.isfinite(result.fun).all()
        assert (result.fun < 1.3).all()
    else:
        with pytest.raises(OracleError, match="Expected finite values"):
            run.run()
        assert run.frozen == 2 and np.isfinite(run.result.x).all()


@each(SLSQP, TrustConstr)
@pytest.mark.parametrize("fails", [0, 1, 5])
def test_a_replica_that_fails_is_frozen_and_leaves_the_others_intact(cls: type[ExternalSolver], fails: int) -> None:
    starts = BlackBox().initial(Streams(0, 3))
    count = itertools.count()

    def spoiled(x: Array) -> tuple[float, Array]:
        f, h = Simulation()(x)
        return (float("nan") if abs(x - starts[1]).max() < 1e-6 and next(count) >= fails else f), h

    def late(x: Array) -> tuple[float, Array]:
        f, h = Simulation()(x)
        return (float("nan") if abs(x - reached).max() < 1e-6 else f), h

    def run_of(function: Any, iterations: int) -> Run:
        box = BlackBox(function, scaled=False, bounds=BOUNDS, m=2, joint=True, noise="deterministic")
        return Run(problem=box, solver=cls(**FIXED[cls]), replicas=3, iterations=iterations)

    reached = run_of(Simulation(), 4).run().x[1]
    whole = run_of(Simulation(), 9).run()
    run = run_of(late if fails == 5 else spoiled, 9)
    result = run.run()
    replaced = fails == 0  # a start without a value
    assert ("had no value" in result.message) == replaced and run.frozen == (not replaced) and result.failures[1] > 0
    assert replaced or (result.success.tolist()[1] is False and result.calls[1] < whole.calls[1])
    assert np.isfinite(result.x).all(), "a frozen replica keeps its last good point"
    for other in (0, 2):
        np.testing.assert_array_equal(result.x[other], whole.x[other])
        assert result.calls[other] == whole.calls[other]


def test_a_library_that_asks_for_known_points_alone_is_ended() -> None:
    """COBYQA does, now and then, where no point is feasible."""

    def constraint(x: Array) -> float:
        return float(1.0 + (0.6 * x[0]) ** 2)

    class Circling(COBYLA):
        __abstract = True

        def play(self, task: Task, ask: Any) -> Ended:
            cache = CallCache(task, ask)
            for i in itertools.count():
                cache.objective(task.start + 0.1 * (i % 3))
            return Ended("never")

    problem = BlackBox(
        lambda x: float(x @ x), constraint, bounds=[(-4.0, 4.0)], x0=[0.5], scaled=False, noise="deterministic"
    )
    run = Run(problem, Circling(**FIXED[COBYLA]), replicas=2, calls=50)
    run.run()
    assert "it requests only points whose values it has" in run.message and run.status == "finished"
    assert (run.result.calls == 3).all()
