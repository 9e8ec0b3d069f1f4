"""Feasibility first: Polyak's steps for the violation, and multipliers that wait."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Evaluation
from zoviz.estimators import Block, Coordinate, Sphere
from zoviz.oracle import Oracle
from zoviz.papers.robustness.boxes import boxes
from zoviz.problems import BlackBox, ConexQCQP, Gramacy, NonconvexQCQP, Spring
from zoviz.solvers import DSZOG, ZOALM, ZOBCEG, ZOCEG, ZOEG, ZOGDA, ZOSPLM, ProximalPoint, Solver, SZOConEX
from zoviz.solvers.saddle import restoration as rules
from zoviz.solvers.saddle.restoration import ViolationWhereRestoring, first_place, start_restoration, violation_of

EVERY = (ZOSPLM, ZOCEG, ZOBCEG, SZOConEX, ZOALM, ZOGDA)


def value(f: list[float], h: list[list[float]]) -> Evaluation:
    return Evaluation(np.array(f), np.array(h))


def test_a_step_is_polyaks_for_the_violation_and_only_while_restoring() -> None:
    # h = (3, 4, -1) at x with gradients (1, 0), (0, 2) and (5, 5): v = 5, grad v = (3/5, 8/5).
    here = value([7.0, 7.0], [[3.0, 4.0, -1.0], [-1.0, -1.0, -1.0]])
    restoration = start_restoration(here, 10)
    assert restoration.mask.tolist() == [True, False]
    y = np.full((2, 3), 0.5)
    weights = restoration.weights(y, here)
    np.testing.assert_allclose(weights, [[0.6, 0.8, 0.0], [0.5, 0.5, 0.5]])
    np.testing.assert_allclose(ViolationWhereRestoring(restoration, y, here)(here), [5.0, 7.0 - 1.5])
    gradient = np.array([[0.6, 1.6], [1.0, 1.0]])
    x = restoration.projected_step(np.zeros((2, 2)), 0.1, gradient, here, Box([-99.0] * 2, [99.0] * 2))
    np.testing.assert_allclose(x[0], -1.2 * 5.0 * gradient[0] / (0.36 + 2.56))
    np.testing.assert_allclose(x[1], [-0.1, -0.1])


def test_a_coordinate_that_a_bound_holds_has_no_part_in_the_step() -> None:
    here = value([0.0], [[2.0]])
    box = Box([0.0] * 2, [9.0] * 2)
    x = start_restoration(here, 10).projected_step(np.array([[0.0, 5.0]]), 0.1, np.array([[1.0, 1.0]]), here, box)
    np.testing.assert_allclose(x, [[0.0, 5.0 - 2.4]])


def test_it_ends_where_nothing_is_violated_or_nothing_is_gained() -> None:
    restoration = start_restoration(value([0.0] * 3, [[1.0]] * 3), 2)
    restoration = restoration.advance(violation_of(value([0.0] * 3, [[-1.0], [0.5], [0.95]])))
    assert restoration.clock.tolist() == [0.0, 2.0, 1.0]
    restoration = restoration.advance(violation_of(value([0.0] * 3, [[1.0], [0.9e-6], [0.95]])))
    assert restoration.clock.tolist() == [-1.0, 0.0, 0.0]


def test_it_begins_again_where_the_method_stays_far_outside() -> None:
    restoration = start_restoration(value([0.0] * 3, [[-1.0]] * 3), 2)
    assert not restoration.mask.any()
    # Far outside; coming back; as far outside as the first, but little beside what it was before.
    first = np.ones(3)
    restoration = restoration._replace(reference=first, window_max=np.array([1.0, 2.0, 1.0]))
    restoration = restoration._replace(overall_max=np.array([1.0, 2.0, 11.0]))
    masks = []
    for _ in range(20):
        restoration = restoration.advance(violation_of(value([0.0] * 3, [[1.0]] * 3)))
        masks.append(restoration.mask.tolist())
    assert not np.any(masks[:-1])
    assert masks[-1] == [True, False, False]


def test_a_replica_that_restored_twice_in_vain_begins_elsewhere() -> None:
    """One that gains nothing, and one that gains slowly, from u_0 = 1/4 in [0, 10]: u_1 = 1/4 + 0.618."""
    here, box, x = value([0.0] * 2, [[1.0]] * 2), Box([0.0], [10.0]), np.full((2, 1), 3.0)
    state, y, level = start_restoration(here, 2, np.full((2, 1), 0.25)), np.ones((2, 1)), 1.0
    steps = 0
    while state.leaving is None:
        assert (steps := steps + 1) < 40
        level *= 0.99
        *_, state = state.keep_or_take_back((x, here), (x, value([0.0] * 2, [[1.0], [level]])))
    assert state.leaving.tolist() == [True, False] and steps == 2 + 20 + 2
    there = state.projected_step(x, 0.1, np.ones((2, 1)), here, box)
    assert there[0, 0] == pytest.approx(10.0 * (0.25 + 2.0 / (1.0 + 5.0**0.5)))
    assert state.duals(y, y + 1.0)[0, 0] == 0.0, "they are another place's"
    end, _, arrived = state.keep_or_take_back((x, here), (there, value([0.0] * 2, [[7.0], [level]])))
    assert end[0, 0] == there[0, 0], "farther outside, and not taken back"
    assert arrived.leaving is None and arrived.mask[0] and arrived.reference[0] == 7.0


@pytest.mark.parametrize("places", [rules._PLACES, 0])
def test_the_corner_where_the_toy_is_least_violated_is_left(places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """At (1, 0) the wavy constraint is 1/2 and rises along both edges; with no place to go to all runs end there."""
    monkeypatch.setattr(rules, "_PLACES", places)
    run = Run(problem=Gramacy(), solver=ZOSPLM(), replicas=4, iterations=1600, seed=3)
    run.run()
    if places:
        assert run.trace["violation"][-1].max() < 1e-3
    else:
        np.testing.assert_allclose(run.result.x, [[1.0, 0.0]] * 4)
        np.testing.assert_allclose(run.trace["violation"][-1], 0.5)


@pytest.mark.parametrize(
    ("estimator", "tells"),
    [
        (Sphere(batch_size=20), False),
        (Sphere(batch_size=100), True),
        (Sphere(batch_size=1, directions="sweep"), True),
        (Sphere(batch_size=5, directions="block"), False),
        (Sphere(batch_size=20, directions="block"), True),
        (Coordinate(), True),
        (Block(block_size=5), False),
        (Block(block_size=20), True),
    ],
)
def test_few_random_directions_do_not_tell_that_nothing_is_gained(estimator: Any, tells: bool) -> None:
    solver, streams = ZOSPLM(), Streams(0, 2)
    solver.estimator = estimator
    place = first_place(solver, Oracle(NonconvexQCQP(n=100), streams), streams)
    assert (place is not None) == tells and (place is None or place.shape == (2, 100))


def test_multipliers_wait_and_theory_is_told_none() -> None:
    problem, streams = BlackBox(lambda x: (0.0, x - 1.0), bounds=[(0.0, 3.0)], m=1, joint=True), Streams(0, 2)
    solver, oracle = ZOSPLM(primal_step=0.1, dual_cap=9.0, restoration=2), Oracle(problem, streams)
    state = solver.init(np.array([[2.0], [0.5]]), oracle, streams)._replace(y=np.array([[0.0], [1.0]]))
    safe = solver.guarded(state, oracle)
    safe.lagrangian(state.y, state.value)
    np.testing.assert_array_equal(safe.ascend(state.y, 1.0, np.full((2, 1), 3.0)), [[0.0], [4.0]])
    np.testing.assert_array_equal(safe.info(np.zeros(2)).dual, [[np.nan], [1.0]])


@pytest.mark.parametrize("cls", EVERY)
def test_every_method_comes_to_a_feasible_point_before_it_trades(cls: type[Solver]) -> None:
    box = boxes(1)["hyperbolas"]
    outside: list[Array] = []
    for restoration in (None, 0):
        problem = BlackBox(box.value, x0=box.x0, bounds=box.bounds, m=box.m, joint=True, vectorised=True)
        run = Run(problem=problem, solver=cls(restoration=restoration), replicas=1, calls=1200, seed=3)
        run.run()
        outside.append(run.trace["violation"][:, 0])
        if restoration is None:
            until = int(np.argmax(outside[0] <= 1e-6 * outside[0][0]))
            assert until > 0 and (run.trace["dual_norm"][: until + 1, 0] == 0.0).all()
    assert outside[0].min() <= 1e-6 * outside[0][0] < outside[1][: until + 1].min()


@pytest.mark.slow
@pytest.mark.parametrize("cls, seed, iterations", [(DSZOG, 4, 1500), (ProximalPoint, 3, 4000)])
def test_penalties_and_stages_alone_stay_outside_of_the_spring(cls: type[Solver], seed: int, iterations: int) -> None:
    """Its constraints are flat in most of the box, so that a penalty's slope is small beside the objective's there."""
    left = []
    for restoration in (None, 0):
        solver = cls()
        (solver.inner if isinstance(solver, ProximalPoint) else solver).restoration = restoration
        run = Run(problem=Spring(), solver=solver, replicas=8, iterations=iterations, seed=seed)
        run.run()
        violation = run.trace["violation"]
        left.append(float(violation[-1].mean() / violation[0].mean()))
    assert left[0] < 0.01 and left[1] > 0.1, left


def test_a_given_step_goes_as_published_and_noise_hides_what_is_gained() -> None:
    run = Run(problem=ConexQCQP(n=4), solver=ZOSPLM(primal_step=0.01), replicas=1, iterations=2)
    run.run()
    assert "restoration" not in run.resolved
    noisy = Run(problem=ConexQCQP(n=4, noise="independent", noise_scale=0.1), solver=ZOSPLM(), replicas=1, iterations=2)
    noisy.run()
    assert noisy.resolved["restoration"] and noisy.state.safeguards.restoration is None
    run = Run(problem=ConexQCQP(n=4), solver=ZOEG(dual="estimated"), replicas=1, iterations=2)
    run.run()
    assert "restoration" not in run.resolved, "its joint directions see no violation by itself"
