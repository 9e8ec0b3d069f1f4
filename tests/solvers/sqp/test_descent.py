"""A descent under noise: variables with far to go, and models that are badly known rather than wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.problems import NonconvexQCQP
from zoviz.solvers import ZOSQP
from zoviz.solvers.sqp import archive as archives
from zoviz.solvers.sqp.candidate import Misfit
from zoviz.solvers.sqp.constants import STANDARD
from zoviz.solvers.sqp.descent import Descent
from zoviz.solvers.sqp.situation import space_of


def peaks(x: Array) -> Array:
    """Return two steep bowls above the level x_3, (2,): both are below it from x_3 = e^4 on, with x_1 = x_2 = 0."""
    return np.exp(np.minimum(x[1] ** 2 + (x[0] + np.array([2.0, -2.0])) ** 2, 50.0)) - x[2]


def level(seed: int, **constants: float) -> Array:
    """Return where ZOSQP ends (3,), of 1000 calls with noise of 0.05, from x_3 = 0.1."""
    noise = np.random.default_rng(seed)

    def values(x: Array) -> tuple[float, Array]:
        return x[2] + 0.05 * noise.standard_normal(), peaks(x) + 0.05 * noise.standard_normal(2)

    method = ZOSQP(constants=constants)
    settings = {"joint": True, "method": method, "noise": "independent", "max_calls": 1000, "seed": seed}
    return np.asarray(minimize(values, [0.1, 0.1, 0.1], **settings).x)


def test_a_variable_with_far_to_go_gets_a_longer_unit() -> None:
    x = level(0)
    assert peaks(x).max() < 0.05 and x[2] == pytest.approx(np.exp(4.0), abs=0.1)
    assert peaks(level(0, longest=1.0)).max() > 10.0, "with one length for all it crawls"


def gap(seed: int) -> float:
    """Return the gap over 1 + |f*| of the answer of 2100 calls with noise of 1 in h; infinite where h > 0."""
    problem, noise = NonconvexQCQP(n=20), np.random.default_rng(seed)

    def values(x: Array) -> tuple[float, Array]:
        value = problem.evaluate(x)
        return float(value.f) + 1e-3 * noise.standard_normal(), value.h + noise.standard_normal(1)

    start = np.random.default_rng(seed).uniform(-1.0, 1.0, 20)
    settings = {"joint": True, "method": "ZOSQP", "noise": "independent", "max_calls": 2100, "seed": seed}
    exact = problem.evaluate(np.asarray(minimize(values, start, bounds=[(-10.0, 10.0)] * 20, **settings).x))
    best = problem.known_optimum.value
    return np.inf if exact.h.max() > 0.0 else float((exact.f - best) / (1.0 + abs(best)))


def test_a_region_does_not_shrink_where_slopes_are_badly_known(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps = [gap(seed) for seed in (0, 2)]
    of = Misfit.of

    def by_noise_alone(*what: Any) -> Misfit:
        misfit = of(*what)
        return misfit._replace(is_bias=misfit.size > 1.0)

    monkeypatch.setattr(Misfit, "of", by_noise_alone)
    ablated = [gap(seed) for seed in (0, 2)]
    print(gaps, ablated)
    assert max(gaps) < min(0.15, 0.5 * min(ablated))


def after(nearby: int, misfit: Misfit) -> Descent:
    """Return a descent of radius 1 in three variables after a step, with so many points nearby."""
    descent = Descent.start(np.zeros(3), 0, 1.0, 1.0, False, 100)
    descent.after_misfit(misfit, nearby, STANDARD)
    return descent


def test_unknown_curvature_gets_points_while_a_quadratic_has_coefficients_for_them() -> None:
    curvature = Misfit(3.0, is_bias=False, is_curvature=True)
    few, many = after(19, curvature), after(20, curvature)  # 10 coefficients
    assert few.whole_design and few.radius == 1.0
    assert not many.whole_design and many.radius == 0.5


def test_a_wrong_form_gets_a_smaller_region_and_noise_gets_calls() -> None:
    assert after(0, Misfit(3.0, is_bias=True, is_curvature=True)).radius == 0.5
    noisy = after(0, Misfit(3.0, is_bias=False, is_curvature=False))
    assert noisy.radius == 1.0 and noisy.limited == 1 and noisy.calls == 9
    assert after(0, Misfit(0.5, is_bias=False, is_curvature=False)).radius > 1.0


def test_an_exact_output_beside_noisy_ones_keeps_its_curvature() -> None:
    generator = np.random.default_rng(3)
    points = generator.uniform(-0.3, 0.3, (60, 2))
    exact = 40.0 * np.square(points).sum(axis=1) + points[:, 0]
    values = np.stack([exact, points.sum(axis=1) + 0.05 * generator.standard_normal(60)], axis=-1)
    archive, _ = archives.add(archives.empty(2, values[0], STANDARD), points, values)
    archive = archive._replace(spread=np.array([0.0, 60 * 0.05**2]), degrees=60.0)
    space = space_of(Box(np.full(2, -1.0), np.ones(2)), np.zeros(2), np.full(1, 1e-6))
    model = Descent.start(np.zeros(2), 1, 0.3, 1.0, False, 1000).fit(archive, space)
    assert 1e-5 < model.noise[0] / np.ptp(exact) < 1e-3 and model.noise[1] > 0.01
    assert abs(model.value(np.array([0.5, 0.0]))[0] - (40.0 * 0.15**2 + 0.15)) < 0.05
