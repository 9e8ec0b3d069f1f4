"""Paper conex: its algorithm, the method's step and a loop written by hand, side by side; and its calls.

Algorithm 1                                                  ``SZOConEX.step``, without safeguards
  1  x(-1) = x(0), l(x(-1)) = l(x(0))                        ``init``: ``level`` twice
  3  s = (1 + theta) l(x(t)) - theta l(x(t-1))               ``safe.extrapolated(level, previous, theta)``
  4  y(t+1) = [y(t) + s / tau]_+                             ``safe.ascend(y, per_tau, s)``
  5  x(t+1) = prox(G_0 + sum_i y_i(t+1) G_i, x(t), eta)      ``self._gradient(y_next, ...)``, then
                                                             ``safe.projected_step(x, per_eta, gradient)``
  6  the mean of x(1) .. x(T)                                ``average``, which ``report="average"`` returns

l(x(t)) = F(x(t-1)) + G(x(t-1))' (x(t) - x(t-1)) has a draw of its own, the one with a bar, which
``self._linearisation`` takes at the end of an iteration.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from helpers.conex import REPLICAS, SEED, STEPS, course
from helpers.known_problems import TwoConstraints
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import Gaussian, Sphere
from zoviz.oracle import Oracle
from zoviz.problems import LoadTracking, NonconvexQCQP, Problem
from zoviz.solvers import SZOConEX


class Counted:
    """One replica's black box, with its noise and its own count of calls."""

    def __init__(self, problem: Problem, replica: int) -> None:
        self.problem, self.calls, self.contract = problem, 0, problem.noise
        rows = Streams(SEED, REPLICAS).normal("noise", 5000, problem.m + 1)[replica]
        self._rows = iter(problem.noise_scale * rows)
        self._normals = iter(Streams(SEED, REPLICAS).normal("directions", 5000, problem.n)[replica])
        self.shared = np.zeros(problem.m + 1)
        self.resample()

    def resample(self) -> None:
        if self.contract == "common":
            self.shared = next(self._rows)

    def direction(self) -> Array:
        return next(self._normals)

    def __call__(self, x: Array) -> Array:
        """F_0 .. F_m."""
        self.calls += 1
        value = self.problem.evaluate(x)
        noise = next(self._rows) if self.contract == "independent" else self.shared
        return np.concatenate([[value.f], value.h]) + noise


def draw(box: Counted, x: Array, base: Array, solver: SZOConEX, functions: range) -> tuple[Array, Array]:
    """Gradients (m + 1, n) and mean perturbed values (m + 1) of the functions asked for, direction by direction."""
    estimator = solver.estimator
    k, r, n = estimator.batch_size, estimator.smoothing_radius, len(x)
    gradients, values = np.zeros((len(base), n)), np.zeros(len(base))
    for _ in range(k):
        for group in [functions] if solver.directions == "shared" else [range(i, i + 1) for i in functions]:
            u = box.direction()
            unit = u / np.sqrt(u @ u)
            there = box(x + r * (u if isinstance(estimator, Gaussian) else unit))
            for i in group:
                rise = (there[i] - base[i]) / r
                gradients[i] += (rise * u if isinstance(estimator, Gaussian) else n * rise * unit) / k
                values[i] += there[i] / k
    return gradients, values


def by_hand(box: Counted, x: Array, solver: SZOConEX, iterations: int) -> Iterator[tuple[Array, Array, Array]]:
    """x, y and the average after each iteration: paper conex, Algorithm 1, each bar draw taken one iteration early."""
    m, theta, lower, upper = box.problem.m, solver.extrapolation, box.problem.domain.lower, box.problem.domain.upper
    noisy, constraints = box.contract != "deterministic", range(1, m + 1)
    here, y, points = box(x), np.zeros(m), []
    _, values = draw(box, x, here, solver, constraints)
    level = values[1:] if solver.value == "perturbed" else here[1:]
    previous = level
    if noisy:
        box.resample()
        here = box(x)
    for t in range(iterations):
        damp = 1.0 if solver.schedule == "constant" else 1.0 / np.sqrt(t + 1.0)
        s = (1.0 + theta) * level - theta * previous  # 3
        y = np.minimum(np.maximum(y + damp * solver.dual_step * s, 0.0), solver.dual_cap)  # 4
        gradients, _ = draw(box, x, here, solver, range(m + 1))
        gradient = gradients[0] + sum(y[i] * gradients[i + 1] for i in range(m))
        x_next = np.clip(x - damp * solver.primal_step * gradient, lower, upper)  # 5
        base = here
        if noisy:
            box.resample()
            base = box(x)
        bar, values = draw(box, x, base, solver, constraints)
        value = values if solver.value == "perturbed" else base
        previous = level
        level = np.array([value[i] + bar[i] @ (x_next - x) for i in constraints])
        box.resample()
        x, here = x_next, box(x_next)
        points.append(x)
        yield x, y, np.mean(points, axis=0)  # 6


PROBLEMS = {
    "qcqp": lambda **noise: NonconvexQCQP(n=5, seed=3, **noise),
    "load": lambda **noise: LoadTracking(n=6, seed=1, curtailment=60.0, **noise),
    "two": lambda **noise: TwoConstraints(**noise),
}
OPTIONS = {
    "default": {},
    "separate": {"directions": "separate"},
    "base": {"value": "base"},
    "separate, base": {"directions": "separate", "value": "base"},
    "diminishing": {"schedule": "diminishing"},
    "no extrapolation": {"extrapolation": 0.0},
    "half, capped": {"extrapolation": 0.5, "dual_cap": 0.03},
    "sphere": {"estimator": Sphere(smoothing_radius=0.05, batch_size=3)},
    "sphere, separate": {"directions": "separate", "estimator": Sphere(smoothing_radius=0.05, batch_size=3)},
}


def assert_written_out(problem: Problem, options: dict[str, Any], iterations: int = 4, published: bool = False) -> None:
    """The class and the hand-written loop agree on every replica, and on the number of calls."""
    options = {"estimator": Gaussian(smoothing_radius=0.05, batch_size=3)} | options
    solver = SZOConEX(**(STEPS | options))
    assert (solver.differences_from_paper() == ()) is published
    states, oracle = course(solver, problem, iterations)
    for r in range(REPLICAS):
        box = Counted(problem, r)
        result = by_hand(box, states[0].x[r], solver, iterations)
        for state, (x, y, average) in zip(states[1:], result, strict=True):
            np.testing.assert_allclose(state.x[r], x, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(state.y[r], y, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(state.average[r], average, rtol=1e-12, atol=1e-12)
        assert oracle.calls[r] == box.calls
    assert states[-1].y.max() > 0.0, "the duals never moved: the comparison would not see the dual step"


@pytest.mark.parametrize("name", PROBLEMS)
def test_conex_algorithm_1(name: str) -> None:
    published = SZOConEX.published()
    assert published.form() == "As published: paper conex, Algorithm 1."
    names = [departure.name for departure in SZOConEX.departures if "." not in departure.name]
    options = {one: getattr(published, one) for one in names}
    estimator = Gaussian(smoothing_radius=0.05, batch_size=1, directions="random")
    assert_written_out(PROBLEMS[name](), options | {"estimator": estimator}, published=True)


@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS.keys())
@pytest.mark.parametrize("name", PROBLEMS)
def test_equals_a_hand_written_loop(name: str, options: dict[str, Any]) -> None:
    assert_written_out(PROBLEMS[name](), options)


@pytest.mark.parametrize("directions", ["shared", "separate"])
@pytest.mark.parametrize("value", ["perturbed", "base"])
@pytest.mark.parametrize("noise", ["common", "independent"])
def test_equals_a_hand_written_loop_under_noise(noise: str, value: str, directions: str) -> None:
    assert_written_out(TwoConstraints(noise=noise, noise_scale=0.02), {"value": value, "directions": directions})


@pytest.mark.parametrize("noise, extra", [("deterministic", 1), ("common", 2), ("independent", 2)])
def test_calls_per_iteration(noise: str, extra: int) -> None:
    k, m = 7, 2
    for directions, draws in (("shared", 2), ("separate", 2 * m + 1)):
        for value in ("perturbed", "base"):
            estimator = Gaussian(smoothing_radius=0.01, batch_size=k)
            solver = SZOConEX(**STEPS, estimator=estimator, directions=directions, value=value)
            streams = Streams(0, 2)
            oracle = Oracle(TwoConstraints(noise=noise, noise_scale=0.1), streams)
            state = solver.init(np.zeros((2, 5)), oracle, streams)
            before = oracle.calls.copy()
            for _ in range(5):
                state, _ = solver.step(state, oracle, streams)
            assert (oracle.calls - before == 5 * (draws * k + extra)).all()


def test_one_direction_costs_three_calls_or_four() -> None:
    # Errata 18: 3 calls with a cached base, 4 without; 2m + 2 with a direction for each function.
    for noise, directions, calls in [("deterministic", "shared", 3), ("common", "shared", 4)]:
        solver = SZOConEX(**STEPS, directions=directions, estimator=Gaussian(smoothing_radius=0.01, batch_size=1))
        states, oracle = course(solver, TwoConstraints(noise=noise, noise_scale=0.1), 1)
        start = oracle.calls.copy()
        solver.step(states[-1], oracle, Streams(1, REPLICAS))
        assert (oracle.calls - start == calls).all()
    solver = SZOConEX(**STEPS, directions="separate", estimator=Gaussian(smoothing_radius=0.01, batch_size=1))
    states, oracle = course(solver, TwoConstraints(), 1)
    start = oracle.calls.copy()
    solver.step(states[-1], oracle, Streams(1, REPLICAS))
    assert (oracle.calls - start == 2 * 2 + 2).all()
