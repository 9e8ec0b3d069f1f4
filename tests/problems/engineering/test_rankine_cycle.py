"""The organic Rankine cycle: its balances by hand, its optimum, and where a call fails."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

from zoviz import minimize
from zoviz.core.errors import MissingExtra
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import RankineCycle

needs_coolprop = pytest.mark.skipif(find_spec("CoolProp") is None, reason="needs CoolProp")

RUNNING = np.array([85.0, 22.0, 4.0, 262.0, 14.0, 680.0])
AIR, SOURCE = 101325.0, 3.0 * 101325.0


@pytest.fixture
def property_of() -> Callable[..., Any]:
    """CoolProp's other interface: an output from two named inputs."""
    return pytest.importorskip("CoolProp.CoolProp").PropsSI


def enthalpies(point: Array, property_of: Callable[..., Any]) -> tuple[float, float]:
    """Return h5 and h8, after the pump and after the turbine, in J/kg."""
    _, _, p4, h4, p7, h7 = point * [1.0, 1.0, 1e5, 1e3, 1e5, 1e3]
    entropies = [property_of("S", "H", h, "P", p, "Isobutane") for h, p in ((h4, p4), (h7, p7))]
    pumped = property_of("H", "P", p7 / 0.98, "S", entropies[0], "Isobutane")
    expanded = property_of("H", "P", p4 / 0.98, "S", entropies[1], "Isobutane")
    return h4 + (pumped - h4) / 0.7, h7 - 0.7 * (h7 - expanded)


def test_power_is_what_the_first_law_leaves(property_of: Callable[..., Any]) -> None:
    h4, h7 = 1e3 * RUNNING[[3, 5]]
    h5, h8 = enthalpies(RUNNING, property_of)
    hot, cold = 1e3 * 4.19 * (120.0 - RUNNING[0]), 1e3 * 4.19 * (RUNNING[1] - 10.0)
    flow = hot / (h7 - h5)
    cooling = flow * (h8 - h4) / cold
    pumps = (0.02 * SOURCE + (1.0 / 0.98 - 1.0) * AIR * cooling) / 0.7 / 1000.0  # a cubic metre of water has 1000 kg
    expected = flow * (h7 - h8 - h5 + h4) - pumps
    assert float(RankineCycle().evaluate(RUNNING).f) == pytest.approx(-1e-3 * expected, rel=0.01)


def test_the_pinch_is_the_least_temperature_difference(property_of: Callable[..., Any]) -> None:
    problem, share = RankineCycle(), np.linspace(0.0, 1.0, 401)
    point = problem.known_optimum.point
    h5, _ = enthalpies(point, property_of)
    hot, cold = (property_of("H", "P", SOURCE, "T", t, "Water") for t in (393.15, 273.15 + point[0]))
    water = property_of("T", "P", SOURCE, "H", cold + share * (hot - cold), "Water")
    p7, h7 = 1e5 * point[4], 1e3 * point[5]
    pressure, enthalpy = p7 * (1.0 + (1.0 - share) * (1.0 / 0.98 - 1.0)), h5 + share * (h7 - h5)
    isobutane = property_of("T", "P", pressure, "H", enthalpy, "Isobutane")
    rows = problem.evaluate(point).h
    assert (water - isobutane).min() == pytest.approx(10.0 - rows[:3].max(), abs=0.1)
    assert [water[0] - isobutane[0], water[-1] - isobutane[-1]] == pytest.approx(
        [10.0 - rows[0], 10.0 - rows[2]], abs=0.1
    )


@needs_coolprop
def test_the_optimum_is_at_six_limits() -> None:
    problem = RankineCycle()
    optimum, rows = problem.known_optimum, [1, 4, 7, 8]
    assert optimum.value == pytest.approx(-15.2936951, abs=1e-7)
    assert np.flatnonzero(optimum.multipliers).tolist() == rows
    np.testing.assert_allclose(problem.evaluate(optimum.point).h[rows], 0.0, atol=1e-7)
    assert (optimum.point == problem.domain.lower).tolist() == [True, True, False, False, False, False]
    step = 1e-3 * np.eye(6)
    ahead, behind = (problem.evaluate(np.maximum(optimum.point + s * step, problem.domain.lower)) for s in (1, -1))
    lagrangian = [one.f + one.h @ optimum.multipliers for one in (ahead, behind)]
    slope = (lagrangian[0] - lagrangian[1]) / 1e-3
    assert (slope[:2] > 0.1).all()
    np.testing.assert_allclose(slope[2:], 0.0, atol=1e-5)


@needs_coolprop
@pytest.mark.parametrize(
    "place, value", [(4, 38.0), (4, 44.0), (5, 250.0)], ids=["critical pressure", "far above it", "no heat taken in"]
)
def test_a_call_fails_where_there_is_no_state_or_no_cycle(place: int, value: float) -> None:
    x = np.tile(RUNNING, (2, 1))
    x[0, place] = value
    outcome = RankineCycle().evaluate(x)
    assert np.isnan(outcome.stacked[0]).all()
    np.testing.assert_array_equal(outcome.stacked[1], RankineCycle().evaluate(RUNNING).stacked)


@needs_coolprop
def test_starts_have_values_and_part_of_the_box_has_none() -> None:
    problem = RankineCycle()
    assert np.isfinite(problem.evaluate(problem.initial(Streams(1, 100))).stacked).all()
    values = problem.evaluate(problem.domain.sample(np.random.default_rng(0).random((200, 6))))
    assert 0.3 < np.isnan(values.f).mean() < 0.45


@needs_coolprop
def test_a_run_gets_near_its_optimum() -> None:
    result = minimize(RankineCycle(), max_calls=150, seed=1)
    assert result.feasible and -15.3 < result.fun < -15.0


@needs_coolprop
def test_a_problem_that_was_evaluated_is_pickled() -> None:
    problem = RankineCycle()
    here = problem.evaluate(RUNNING)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(problem)).evaluate(RUNNING).stacked, here.stacked)


def test_each_variable_and_row_has_a_name() -> None:
    problem = RankineCycle()
    variables, rows = problem.labels
    assert len(variables) == problem.n == problem.domain.n and len(set(rows)) == problem.m == 11


def test_without_coolprop_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "CoolProp", None)
    with pytest.raises(MissingExtra, match=r"zoviz\[simulators\]"):
        RankineCycle().evaluate(RUNNING)
