"""What every problem in the registry keeps: its optimum, its constants, its metrics."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.every_problem import EACH_CLASS, inside, small
from helpers.every_solver import PROBLEMS
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems.base import Problem


def near_start(problem: Problem, *shape: int, seed: int = 0) -> Array:
    count = int(np.prod(shape))
    return problem.initial(Streams(seed, count)).reshape(*shape, problem.domain.n)


def known(cls: type[Problem], **settings: Any) -> Problem:
    problem = small(cls, **settings)
    optimum = problem.known_optimum
    if optimum is None or not np.isfinite(optimum.point).all():
        pytest.skip("no known point")
    return problem


@EACH_CLASS
@pytest.mark.parametrize("seed", range(4))
def test_the_known_optimum_is_feasible_and_has_its_value(cls: type[Problem], seed: int) -> None:
    problem = known(cls, **({"seed": seed} if "seed" in cls.param else {}))
    optimum = problem.known_optimum
    value = problem.evaluate(optimum.point)
    assert optimum.source and optimum.multipliers.shape == (problem.m,) and not (optimum.multipliers < 0).any()
    assert value.f == pytest.approx(optimum.value, rel=1e-10)
    assert value.h.max(initial=-np.inf) <= 1e-6 and problem.domain.distance(optimum.point) == 0.0


@EACH_CLASS
@pytest.mark.parametrize("seed", range(4))
def test_the_known_optimum_is_stationary(cls: type[Problem], seed: int) -> None:
    problem = known(cls, **({"seed": seed} if "seed" in cls.param else {}))
    optimum = problem.known_optimum
    value, gradients = problem.evaluate(optimum.point), problem.gradient(optimum.point)
    if gradients is None:
        pytest.skip("no gradients")
    slope = gradients[0] + optimum.multipliers @ gradients[1]
    residual = problem.domain.project(optimum.point - slope) - optimum.point
    scale = 1.0 + np.linalg.norm(gradients[0])
    assert np.linalg.norm(residual) <= 1e-7 * scale
    assert abs(optimum.multipliers @ value.h) <= 1e-7 * scale
    measured = problem.metrics(optimum.point[None], optimum.multipliers[None], None)
    assert measured["stationarity"][0] <= 1e-7 * scale
    assert abs(measured["gap"][0]) <= 1e-8 * scale


@pytest.mark.parametrize(
    "cls, seed", [(cls, seed) for cls in PROBLEMS.values() for seed in range(2 if "seed" in cls.param else 1)]
)
def test_no_feasible_sample_is_better_than_the_optimum(cls: type[Problem], seed: int) -> None:
    problem = known(cls, **({"seed": seed} if "seed" in cls.param else {}))
    if not problem.analytic:
        pytest.skip("ten thousand simulations")
    optimum, rng = problem.known_optimum, np.random.default_rng(seed)
    width = np.abs(optimum.point).max() + 1.0
    around = [optimum.point + s * width * rng.standard_normal((2000, problem.domain.n)) for s in (1.0, 0.1, 1e-2, 1e-4)]
    x = problem.domain.project(np.concatenate([*around, inside(problem, 2000, seed=seed)]))
    # Near an optimum on the constraint, in a corner of the box, only points pulled to another corner are feasible.
    ends = problem.domain.sample(np.array([[0.0], [1.0]]).repeat(problem.domain.n, axis=1))[rng.integers(2, size=2500)]
    x = np.concatenate([x, x[::4] + rng.random((2500, 1)) ** 2 * (ends - x[::4])])
    if getattr(problem, "equations", False):  # no random point satisfies an equation: take the nearest that does
        matrix, offset = problem.matrix()
        x = x - (x @ matrix.T - offset) @ np.linalg.pinv(matrix).T
        x = x[problem.domain.contains(x, 0.0)]
    value = problem.evaluate(x)
    feasible = (value.h <= (1e-12 if getattr(problem, "equations", False) else 0.0)).all(axis=-1)
    assert feasible.sum() > 20
    assert value.f[feasible].min() >= optimum.value - 1e-9 * (1.0 + abs(optimum.value))


def hessians(problem: Problem, x: Array) -> tuple[Array, Array]:
    """(n, n) of f and (m, n, n) of h by differences of the gradients."""
    n, step = x.size, 1e-4 * (1.0 + np.abs(x).max())
    ahead, behind = problem.gradient(x + step * np.eye(n)), problem.gradient(x - step * np.eye(n))
    of_f, of_h = ((a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True))
    return 0.5 * (of_f + of_f.T), np.swapaxes(of_h, 0, 1)


@EACH_CLASS
def test_constants_are_true_bounds(cls: type[Problem]) -> None:
    problem = small(cls)
    constants, gradients = problem.constants, problem.gradient(inside(problem, 1))
    if constants is None or gradients is None:
        pytest.skip("no constants")
    count = int(np.clip(1_000_000 // (problem.m * problem.domain.n), 200, 2000))  # gradients of h fill the memory
    x, z = inside(problem, count), inside(problem, count, seed=1)
    z[::2] = x[::2] + 1e-3 * (z[::2] - x[::2])
    (f_x, h_x), (f_z, h_z) = problem.gradient(x), problem.gradient(z)
    apart = np.linalg.norm(x - z, axis=-1)
    room = 1.0 + 1e-9
    assert (np.linalg.norm(f_x - f_z, axis=-1) <= room * constants.curvature * apart + 1e-9).all()
    assert (np.linalg.norm(h_x - h_z, axis=(-2, -1)) <= room * constants.constraint_curvature * apart + 1e-9).all()
    assert np.linalg.norm(f_x, axis=-1).max() <= room * constants.slope
    assert np.linalg.norm(h_x, axis=(-2, -1)).max() <= room * constants.constraint_slope
    if np.isfinite(constants.weak_convexity):
        monotone = ((f_x - f_z) * (x - z)).sum(axis=-1)
        assert (monotone >= -room * constants.weak_convexity * apart**2 - 1e-9).all()
    for point in x[:3]:
        of_f, of_h = hessians(problem, point)
        weights = np.linalg.eigvalsh(of_f)
        assert np.abs(weights).max() <= constants.curvature * (1.0 + 1e-6)
        assert np.isnan(constants.weak_convexity) or weights[0] >= -constants.weak_convexity - 1e-6 * weights[-1]
        largest = np.sqrt(np.linalg.eigvalsh(np.einsum("jab,jcb->ac", of_h, of_h, optimize=True))[-1])
        assert largest <= constants.constraint_curvature * (1.0 + 1e-6) + 1e-6
    start = np.square(problem.gradient(problem.initial(Streams(0, 2 * count)))[1]).sum(axis=(-2, -1))
    assert constants.start_slope == pytest.approx(np.sqrt(start.mean()), rel=0.05)


@EACH_CLASS
def test_metrics(cls: type[Problem]) -> None:
    problem = small(cls)
    x, y = near_start(problem, 5), np.full((5, problem.m), 0.3)
    value = problem.evaluate(x)
    measured = problem.metrics(x, y, value)
    assert all(column.shape == (5,) for column in measured.values())
    np.testing.assert_allclose(measured["objective"], value.f, rtol=1e-12)
    np.testing.assert_allclose(measured["violation"], np.linalg.norm(np.maximum(value.h, 0), axis=-1), rtol=1e-10)
    if problem.known_optimum is not None:
        np.testing.assert_allclose(measured["gap"], value.f - problem.known_optimum.value, rtol=1e-10)
    gradients = problem.gradient(x)
    assert ("stationarity" in measured) == (problem.analytic and gradients is not None)
    for r in range(5) if "stationarity" in measured else ():
        slope = gradients[0][r] + y[r] @ gradients[1][r]
        projected = np.linalg.norm(problem.domain.project(x[r] - slope) - x[r])
        expected = max(projected, np.linalg.norm(np.maximum(value.h[r], 0)), abs(y[r] @ value.h[r]))
        assert measured["stationarity"][r] == pytest.approx(expected, rel=1e-9)
