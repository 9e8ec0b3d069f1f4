"""AC power flow on a feeder, against two other programs, and the problem's values where it fails."""

from __future__ import annotations

import copy
import csv
import re
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from helpers.case141 import BUSES, LOADS
from helpers.function_calls import function_calls
from helpers.project import ROOT
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.oracle import Oracle
from zoviz.problems import ACLoadTracking
from zoviz.problems.power.feeder import Feeder

DATA = ROOT / "tests" / "data" / "case141_pandapower.csv"


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


def test_a_batch_calls_hardly_more_functions_than_a_single_flow(feeder: Feeder) -> None:
    p, q = scenarios(feeder, 1000)
    single = function_calls(lambda: feeder.solve(p[:1], q[:1]))
    assert function_calls(lambda: feeder.solve(p, q)) < 3 * single, "1000 one by one call a thousand times as many"


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
    assert oracle.account.failures.tolist() == [0, 1, 0] and oracle.active.all()
    assert np.isnan(value.f[1, 2]) and np.isnan(value.h[1, 2, 0]) and np.isfinite(value.f).sum() == 11
    x0[2] = -50.0 * problem.domain.upper
    oracle(x0)
    assert oracle.account.failures.tolist() == [0, 1, 1] and oracle.active.tolist() == [True, True, False]
    of_f, of_h = problem.gradient(x0)
    assert np.isnan(of_f[2]).all() and np.isnan(of_h[2]).all() and np.isfinite(of_f[:2]).all()
