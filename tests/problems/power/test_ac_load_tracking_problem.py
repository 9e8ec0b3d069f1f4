"""Load tracking with AC power flow: the problem against its formula, its gradients, its optimum."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.case141 import BUSES, LOADS
from zoviz.core.streams import Streams
from zoviz.problems import ACLoadTracking
from zoviz.problems.power.feeder import Feeder

# --- the problem ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loads", ["case", "drawn"])
def test_values_are_those_of_the_formula(feeder: Feeder, loads: str) -> None:
    problem = ACLoadTracking(seed=3, loads=loads, target=0.2, penalty=7.0, lowest=0.97, highest=1.0)
    data, x = problem.data, problem.initial(Streams(1, 4))
    x[3] = 1.5 * data.upper  # more than the load: generation, which lifts the voltages over the band
    value, voltages = problem.evaluate(x), problem.voltages(x)
    assert value.f.shape == (4,) and value.h.shape == (4, 1) and voltages.shape == (4, BUSES)
    for r in range(4):
        flow = feeder.solve(data.upper[:LOADS] - x[r, :LOADS], data.upper[LOADS:] - x[r, LOADS:])
        expected = 7.0 * (float(flow.source) - 0.2) ** 2
        for v in flow.voltage.tolist():
            expected += 7.0 * (max(v - 1.0, 0.0) ** 2 + max(0.97 - v, 0.0) ** 2)
        for a, b, one in zip(data.a.tolist(), data.b.tolist(), x[r].tolist(), strict=True):
            expected += a * one**2 + b * one
        assert value.f[r] == pytest.approx(expected, rel=1e-12)
        assert value.h[r, 0] == pytest.approx(float(flow.source) - 0.2, rel=1e-12)
        np.testing.assert_array_equal(voltages[r], flow.voltage)
    assert voltages[3].max() > 1.0 and (loads == "drawn" or voltages[0].min() < 0.97)


def test_the_instance_is_the_papers(problem: ACLoadTracking) -> None:
    data, feeder = problem.data, problem.feeder
    assert (problem.n, problem.m, problem.target, problem.penalty) == (2 * LOADS, 1, 0.15, 20.0)
    assert (problem.lowest, problem.highest) == (0.96, 1.04) and problem.target * feeder.base == 1500e3
    np.testing.assert_array_equal(problem.domain.upper, np.concatenate([feeder.active, feeder.reactive]))
    assert not problem.domain.lower.any()
    random = ACLoadTracking(loads="drawn").data
    assert 0.0 <= random.upper.min() and 45e3 < random.upper.max() * feeder.base <= 50e3
    for other in (data, random):
        assert 0.5 <= other.a.min() and other.a.max() <= 1.5 and 0.0 <= other.b.min() and other.b.max() <= 5.0
    everything = problem.flow(problem.domain.upper)
    assert everything.source == pytest.approx(0.0, abs=1e-12) and everything.voltage == pytest.approx(1.0)


def test_starts_miss_the_target_and_the_voltage_band(problem: ACLoadTracking) -> None:
    x0 = problem.initial(Streams(0, 20))
    assert (problem.evaluate(x0).h > 0.9).all() and (problem.voltages(x0).min(axis=1) < 0.95).all()
    assert (ACLoadTracking(loads="drawn").evaluate(0.2 * problem.domain.lower).h > 0.0).all()


@pytest.mark.parametrize(
    "settings, share", [({}, 0.1), ({"loads": "drawn", "lowest": 0.999}, 0.5), ({"highest": 1.0}, 1.3)]
)
def test_gradients_where_the_voltages_leave_their_band(feeder: Feeder, settings: dict[str, Any], share: float) -> None:
    problem, step = ACLoadTracking(**settings), 1e-5
    x = share * problem.domain.upper * np.random.default_rng(0).uniform(0.9, 1.1, problem.n)
    assert problem._deviation(problem.flow(x)).any()
    of_f, of_h = problem.gradient(x)
    ahead, behind = (problem.evaluate(x + sign * step * np.eye(problem.n)) for sign in (1.0, -1.0))
    np.testing.assert_allclose(of_f, (ahead.f - behind.f) / (2 * step), atol=1e-5 * np.abs(of_f).max())
    np.testing.assert_allclose(of_h[0], (ahead.h - behind.h)[:, 0] / (2 * step), atol=1e-6)


@pytest.mark.parametrize("settings", [{}, {"loads": "drawn"}, {"target": 0.4}])
def test_the_optimum_rests_on_a_convex_flow(feeder: Feeder, settings: dict[str, Any]) -> None:
    problem = ACLoadTracking(seed=1, **settings)
    optimum, rng, n = problem.known_optimum, np.random.default_rng(0), problem.n
    assert optimum is not None and problem.evaluate(optimum.point).h[0] == pytest.approx(0.0, abs=1e-12)
    assert not problem._deviation(problem.flow(optimum.point)).any()
    ends = problem.domain.sample(rng.integers(0, 2, (2, 300, n)) * 1.0)  # pairs of corners, far apart
    p_c, middle = problem.flow(ends).source, problem.flow(ends.mean(axis=0)).source
    assert (middle <= p_c.mean(axis=0) + 1e-12).all() and (middle < p_c.mean(axis=0)).any()


def test_no_optimum_is_claimed_where_the_voltages_have_a_say(feeder: Feeder) -> None:
    assert ACLoadTracking(target=1.0).known_optimum is None
    assert ACLoadTracking(target=2.0).known_optimum is None, "the target lies above what the loads ever take"
