"""A descent under noise: variables with far to go, and models that are badly known rather than wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.problems import NonconvexQCQP
from zoviz.solvers.sqp import descent as descents
from zoviz.solvers.sqp.prediction import Misfit


def peaks(x: Array) -> Array:
    """Return two steep bowls above the level x_3, (2,): both are below it from x_3 = e^4 on, with x_1 = x_2 = 0."""
    return np.exp(np.minimum(x[1] ** 2 + (x[0] + np.array([2.0, -2.0])) ** 2, 50.0)) - x[2]


def level(seed: int) -> Array:
    """Return where ZOSQP ends (3,), of 1000 calls with noise of 0.05, from x_3 = 0.1."""
    noise = np.random.default_rng(seed)

    def values(x: Array) -> tuple[float, Array]:
        return x[2] + 0.05 * noise.standard_normal(), peaks(x) + 0.05 * noise.standard_normal(2)

    settings = {"joint": True, "method": "ZOSQP", "noise": "independent", "max_calls": 1000, "seed": seed}
    return np.asarray(minimize(values, [0.1, 0.1, 0.1], **settings).x)


def test_a_variable_with_far_to_go_gets_a_longer_unit(monkeypatch: pytest.MonkeyPatch) -> None:
    x = level(0)
    assert peaks(x).max() < 0.05 and x[2] == pytest.approx(np.exp(4.0), abs=0.1)
    monkeypatch.setattr(descents, "_with_lengths", lambda descent, *_: descent)
    assert peaks(level(0)).max() > 10.0, "with one length for all it crawls"


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
    assert max(gaps) < 0.05 < 0.2 < min(ablated)


def below_the_chain(seed: int) -> float:
    """Return how far x_0 is below its largest value of exp(x_0) <= x_1, exp(x_1) <= x_2, after 1200 noisy calls."""
    noise = np.random.default_rng(seed)

    def values(x: Array) -> tuple[float, Array]:
        h = np.exp(np.minimum(x[:2], 30.0)) - x[1:]
        return -x[0] + 3e-3 * noise.standard_normal(), h + 0.03 * noise.standard_normal(2)

    settings = {"joint": True, "method": "ZOSQP", "noise": "independent", "max_calls": 1200, "seed": seed}
    bounds = [(0.0, 50.0), (0.0, 50.0), (0.0, 8.0)]
    return float(np.log(np.log(8.0)) - minimize(values, [0.0, 1.05, 2.9], bounds=bounds, **settings).x[0])


def test_points_beyond_what_a_quadratic_takes_tell_nothing_of_another_form(monkeypatch: pytest.MonkeyPatch) -> None:
    quadratic = [below_the_chain(seed) for seed in (1, 3)]
    monkeypatch.setattr(descents, "enough_points", descents.most_points)
    assert max(quadratic) < 0.01 and sum(below_the_chain(seed) for seed in (1, 3)) > 5.0 * sum(quadratic)
