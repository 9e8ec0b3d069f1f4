"""ZO-SPLM: its proximal weight, its order of steps, and what theory says of its estimates."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.steps import REPLICAS, SEED, SPLM, TwoConstraints, course
from zoviz.core.streams import Streams
from zoviz.estimators import Sphere
from zoviz.oracle import Oracle
from zoviz.problems import LoadTracking, NonconvexQCQP
from zoviz.solvers import ZOSPLM


def test_the_proximal_weight_is_twice_the_weak_convexity_not_a_multiple_of_the_curvature() -> None:
    problem = NonconvexQCQP(n=20)
    rho = problem.constants.weak_convexity
    suggestions = ZOSPLM().from_constants(problem, problem.constants)["proximal_weight"]
    hessian = problem.data.matrices[:, :20]
    assert rho == pytest.approx(-np.linalg.eigvalsh(hessian)[0])
    assert suggestions == pytest.approx(2.0 * rho)
    assert np.linalg.eigvalsh(hessian + suggestions * np.eye(20))[0] > 0.0
    convex = LoadTracking()
    assert ZOSPLM().from_constants(convex, convex.constants)["proximal_weight"] == 1.0


def test_splm_dual_step_uses_the_new_point() -> None:
    problem = TwoConstraints()
    solver = ZOSPLM(**(SPLM | {"dual_cap": 100.0}), estimator=Sphere(smoothing_radius=1e-3, batch_size=8))
    (before, after), _ = course(solver, problem, iterations=1)
    new, old = problem.evaluate(after.x).h, problem.evaluate(before.x).h
    np.testing.assert_allclose(after.y, np.maximum(SPLM["dual_step"] * new, 0.0), rtol=1e-12)
    assert not np.allclose(after.y, np.maximum(SPLM["dual_step"] * old, 0.0), rtol=1e-3)


def test_theory_allows_for_a_proximal_term_that_is_estimated() -> None:
    problem, p = NonconvexQCQP(n=8), 200.0
    settings = SPLM | {"proximal_weight": p, "proximal_step": 1e-3, "primal_step": 1e-3}
    predicted, measured = [], []
    for estimated in (True, False):
        estimator = Sphere(smoothing_radius=1e-6, batch_size=400)
        solver = ZOSPLM(**settings, estimate_proximal=estimated, estimator=estimator)
        streams = Streams(SEED, REPLICAS)
        oracle = Oracle(problem, streams)
        state = solver.init(problem.initial(streams), oracle, streams)
        for _ in range(20):
            before, (state, info) = state, solver.step(state, oracle, streams)
        predicted.append(solver.theory(problem, info)["variance_predicted"])
        measured.append(info.variance)
        exact = problem.gradient(before.x)[0] + (before.y[:, None] @ problem.gradient(before.x)[1])[:, 0]
        exact += p * (before.x - before.z) if estimated else 0.0
        np.testing.assert_allclose(predicted[-1], 7.0 / 400.0 * np.square(exact).sum(axis=1), rtol=1e-3)
    np.testing.assert_allclose(predicted, measured, rtol=0.3)
    assert not np.allclose(predicted[0], predicted[1], rtol=0.3), "the term is too small to tell"
