"""The optimal power flow of 14 buses: pandapower's own answer, its rows, and a power flow that fails."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from importlib.util import find_spec
from multiprocessing import get_context

import numpy as np
import pytest

from zoviz import minimize
from zoviz.core.errors import MissingExtra
from zoviz.core.streams import Streams
from zoviz.problems import OptimalPowerFlow

PUBLISHED_COST = 8081.53
"""In $/h: what MATPOWER prints for ``runopf('case14')``."""
needs_pandapower = pytest.mark.skipif(find_spec("pandapower") is None, reason="needs pandapower")


@needs_pandapower
def test_the_optimum_costs_what_is_published() -> None:
    problem = OptimalPowerFlow()
    optimum = problem.known_optimum
    assert round(optimum.value, 2) == PUBLISHED_COST
    value = problem.evaluate(optimum.point)
    assert value.h.max() <= 1e-7 and np.flatnonzero(optimum.multipliers).tolist() == [24]
    assert problem.labels[1][24] == "Q1 MVAr, lowest" and abs(value.h[24]) < 1e-7


@needs_pandapower
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_pandapowers_interior_point_method_finds_the_same() -> None:
    import pandapower

    net = pandapower.networks.case14()
    pandapower.runopp(net, numba=False)
    point = np.concatenate([net.res_gen.p_mw, [net.res_bus.vm_pu.iloc[0]], net.res_gen.vm_pu])
    problem = OptimalPowerFlow()
    value = problem.evaluate(np.clip(point, problem.domain.lower, problem.domain.upper))
    assert float(value.f) == pytest.approx(net.res_cost, rel=1e-6) == pytest.approx(PUBLISHED_COST, abs=5e-3)
    states = np.concatenate([net.res_bus.vm_pu.iloc[[3, 4, 6, 8, 9, 10, 11, 12, 13]], net.res_ext_grid.q_mvar])
    np.testing.assert_allclose(value.h[:10], states - [*[1.06] * 9, 10.0], atol=1e-3)
    np.testing.assert_allclose(value.h[15:25], [*[0.94] * 9, 0.0] - states, atol=1e-3)


@needs_pandapower
def test_a_power_flow_that_does_not_converge_is_a_failed_call() -> None:
    heavy = OptimalPowerFlow(load=5.0)
    assert heavy.known_optimum is None
    assert np.isnan(heavy.evaluate(heavy.domain.upper).stacked).all()


@needs_pandapower
def test_a_call_does_not_see_the_calls_before() -> None:
    problem = OptimalPowerFlow()
    x = problem.initial(Streams(1, 3))
    together = problem.evaluate(x)
    np.testing.assert_array_equal(problem.evaluate(x[1]).stacked, together.stacked[1])
    assert np.isfinite(together.stacked).all() and together.h.shape == (3, 30)


@needs_pandapower
def test_a_run_comes_near_the_published_cost() -> None:
    result = minimize(OptimalPowerFlow(), max_calls=60, seed=1)
    assert result.feasible and result.fun <= 1.01 * PUBLISHED_COST


@needs_pandapower
def test_values_are_the_same_in_another_process() -> None:
    problem = OptimalPowerFlow()
    here = problem.evaluate(problem.domain.upper)
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        there = pool.submit(problem.evaluate, problem.domain.upper).result()
    np.testing.assert_array_equal(there.stacked, here.stacked)


@needs_pandapower
def test_each_set_point_and_row_has_a_name() -> None:
    problem = OptimalPowerFlow()
    variables, rows = problem.labels
    assert len(set(variables)) == problem.n == problem.domain.n and len(set(rows)) == problem.m


def test_without_pandapower_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandapower", None)
    problem = OptimalPowerFlow()
    assert problem.clone().load == 1.0
    with pytest.raises(MissingExtra, match=r"zoviz\[simulators\]"):
        _ = problem.domain


def test_importing_the_problems_loads_no_simulator() -> None:
    script = "import sys, zoviz.problems as p; p.OptimalPowerFlow(), p.RankineCycle(); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    assert "zoviz.problems.power.optimal_power_flow" in loaded
    assert not {"pandapower", "CoolProp"} & set(loaded)
