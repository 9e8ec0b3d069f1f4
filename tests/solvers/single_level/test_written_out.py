"""The single-level optimisers against loops written out, their calls, and what they cannot do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import CentralSphere, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP, QuadraticBilevel
from zoviz.runs.run import Run
from zoviz.solvers import ZOGD, Solver, ZOAdam, ZOConservSGD, ZORecursiveGD, ZOSignSGD

R, N, D, K, BATCH, RADIUS, RATE, STEPS = 3, 4, 6, 5, 7, 0.1, 0.05, 12
LOW, HIGH = -0.08, 0.1
METHODS: list[tuple[type[Solver], dict[str, Any]]] = [
    (ZOGD, {}),
    (ZOGD, {"schedule": "diminishing"}),
    (ZOSignSGD, {}),
    (ZOConservSGD, {}),
    (ZORecursiveGD, {"weight": 0.4}),
    (ZORecursiveGD, {"schedule": "theory", "weight": 0.9}),
    (ZOAdam, {"first_decay": 0.8, "second_decay": 0.6, "epsilon": 1e-3}),
    (ZOAdam, {"variant": "AdaMM", "first_decay": 0.8, "second_decay": 0.3, "schedule": "diminishing"}),
]
NAMES = ["GD", "GD diminishing", "sign", "conserv", "recursive", "recursive theory", "Adam", "AdaMM"]
EACH = pytest.mark.parametrize("cls, settings", METHODS, ids=NAMES)
EACH_FAMILY = pytest.mark.parametrize("family", [Sphere, CentralSphere])


class Boxed(QuadraticBilevel):
    """A follower in a box that some of its coordinates come to."""

    __abstract = True  # a test's own class

    @property
    def inner_domain(self) -> Any:
        return Box(np.full(self.d, LOW), np.full(self.d, HIGH))


def task(**settings: Any) -> QuadraticBilevel:
    return Boxed(n=N, d=D, drift="rapid", sampling_noise=0.3, **settings)


def estimated(value: Callable[[Array], float], y: Array, directions: Array, central: bool) -> Array:
    total = np.zeros(D)
    for normal in directions:
        u = normal / np.sqrt((normal**2).sum())
        if central:
            total += D / (2.0 * RADIUS) * (value(y + RADIUS * u) - value(y - RADIUS * u)) * u
        else:
            total += D / RADIUS * (value(y + RADIUS * u) - value(y)) * u
    return total / K


def by_hand(cls: type[Solver], settings: dict[str, Any], central: bool) -> Array:
    problem, streams = task(), Streams(3, R)
    x = problem.initial(streams)
    y = problem.initial_inner(streams).copy()
    last, direction = y.copy(), np.zeros((R, D))
    mean, square, peak = np.zeros((R, D)), np.zeros((R, D)), np.full((R, D), 1e-5)
    problem.draw(0, streams)  # the oracle's own, before the first round
    b1, b2 = settings.get("first_decay"), settings.get("second_decay")
    for t in range(STEPS):
        rate = RATE / np.sqrt(t + 1.0) if settings.get("schedule") == "diminishing" else RATE
        xi = problem.draw(t + 1, streams, size=(1, BATCH))
        normals = streams.normal("directions", K, D).copy()
        for r in range(R):

            def value(point: Array, r: int = r, xi: Any = xi) -> float:
                return float(problem.inner(x[r : r + 1], point[None], xi[r : r + 1])[0])

            g = estimated(value, y[r], normals[r], central)
            mean[r] = 0.0 if b1 is None else b1 * mean[r] + (1 - b1) * g
            square[r] = 0.0 if b2 is None else b2 * square[r] + (1 - b2) * g * g
            if cls is ZOGD:
                moved = y[r] - rate * g
            elif cls is ZORecursiveGD:
                decay = (t + 1.0) ** (-1.0 / 3.0) if "schedule" in settings else 1.0
                keep = 1.0 - settings["weight"] * decay if t else 0.0
                direction[r] = g + keep * (direction[r] - estimated(value, last[r], normals[r], central))
                last[r] = y[r]
                moved = y[r] - RATE * decay * direction[r]
            elif cls is ZOSignSGD:
                moved = y[r] - rate * np.sign(g)
            elif settings.get("variant") == "AdaMM":
                peak[r] = [max(p, s) for p, s in zip(peak[r], square[r], strict=True)]
                moved = y[r] - rate * mean[r] / np.sqrt(peak[r])
            elif cls is ZOAdam:
                corrected = mean[r] / (1 - b1 ** (t + 1)), square[r] / (1 - b2 ** (t + 1))
                moved = y[r] - rate * corrected[0] / (np.sqrt(corrected[1]) + settings["epsilon"])
            else:
                tried = [y[r], *(np.clip(y[r] + s * rate * g, LOW, HIGH) for s in (-1.0, 1.0))]
                moved = min(tried, key=value)
            y[r] = np.clip(moved, LOW, HIGH)
    return y


@EACH_FAMILY
@EACH
def test_steps_equal_a_hand_written_loop(cls: type[Solver], settings: dict[str, Any], family: type) -> None:
    estimator = family(smoothing_radius=RADIUS, batch_size=K)
    solver = cls(inner_step=RATE, inner_batch=BATCH, estimator=estimator, **settings)
    run = Run(problem=task(), solver=solver, replicas=R, seed=3, iterations=STEPS)
    run.run()
    expected = by_hand(cls, settings, family is CentralSphere)
    assert (expected == LOW).any() or (expected == HIGH).any(), "the box is to be felt"
    np.testing.assert_allclose(run.state.inner, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(run.state.x, task().initial(Streams(3, R)))


@EACH_FAMILY
@EACH
def test_calls_of_a_round(cls: type[Solver], settings: dict[str, Any], family: type) -> None:
    estimator = family(smoothing_radius=RADIUS, batch_size=K)
    run = Run(problem=task(), solver=cls(estimator=estimator, **settings), replicas=R, iterations=4)
    run.run()
    expected = 2 * K if family is CentralSphere else K + 1
    if cls is ZOConservSGD:
        expected += 3 if family is CentralSphere else 2
    rounds = 7 if cls is ZORecursiveGD else 4  # twice the values in all but the first
    assert (run.trace["calls"][-1] == rounds * expected).all()
    assert (run.trace["calls: g value"][-1] == rounds * expected).all(), "values of g are all that is asked for"


def test_the_conservative_one_never_gets_worse_on_its_own_sample() -> None:
    problem, streams = QuadraticBilevel(n=N, d=D), Streams(0, R)
    oracle, solver = Oracle(problem, streams), ZOConservSGD(inner_step=0.5)
    state, moved = solver.init(problem.initial(streams), oracle, streams), 0
    for _ in range(30):
        before = state
        state, _ = solver.step(before, oracle, streams)
        old, new = (problem.inner(one.x, one.inner, oracle.sample) for one in (before, state))
        assert (new <= old).all()
        moved += (new < old).sum()
    assert 0 < moved < 30 * R, "some steps are taken, some refused"


def test_all_minimise_a_follower_that_stands_still() -> None:
    problem = QuadraticBilevel(n=N, d=D, drift="none", sampling_noise=0.0)
    for cls, rate in ((ZOGD, 0.02), (ZOConservSGD, 0.02), (ZORecursiveGD, 0.02), (ZOAdam, 0.02), (ZOSignSGD, 0.01)):
        solver = cls(inner_step=rate, estimator=Sphere(smoothing_radius=1e-3, batch_size=10))
        run = Run(problem=problem, solver=solver, replicas=2, iterations=600)
        run.run()
        y, _ = problem.solution(run.state.x, None)
        assert np.linalg.norm(run.state.inner - y, axis=1).max() < 0.1, cls.__name__


def test_they_take_online_bilevel_problems_only() -> None:
    assert ZOGD().accepts(QuadraticBilevel()) is None
    assert "is constrained" in str(ZOGD().accepts(NonconvexQCQP()))
