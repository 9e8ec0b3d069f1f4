"""Paper splm: its algorithm, the method's step and a loop written by hand, side by side.

Algorithm 1                                                  ``ZOSPLM.step``, without safeguards
  3  draw Delta_1 .. Delta_k from the unit sphere            ``self._gradient(safe.lagrangian(y, value), ...)``:
  4  the estimate of grad_x L(x, z; y) by (3), of            with ``estimate_proximal`` of f + <y, h> + p/2 ||x - z||^2,
     L = f + <y, h> + p/2 ||x - z||^2                        else of f + <y, h>, plus p (x - z) (errata 3)
  5  x+ = Pi_X(x - c estimate)                               ``safe.descend(x, c, gradient)``
  6  y+ = Pi_[0, B]^m(y + alpha h(x+))                       ``safe.ascend(y, alpha, value_next.h)``
  7  z+ = z + beta (x+ - z)                                  ``z + beta * (x_next - z)``
"""

from __future__ import annotations

import numpy as np
import pytest

from helpers.steps import ITERATIONS, REPLICAS, SEED, SPLM, assert_agree, course, lagrangian, problems
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.problems import Problem
from zoviz.solvers import ZOSPLM

RADIUS, K = 0.5, 4


def by_hand(problem: Problem, estimated: bool) -> list[tuple[Array, Array, Array]]:
    c, alpha, beta, p, cap = SPLM.values()
    streams, lower, upper = Streams(SEED, REPLICAS), problem.domain.lower, problem.domain.upper
    x = problem.initial(streams)
    y, z, n, out = np.zeros((REPLICAS, problem.m)), x.copy(), problem.domain.n, []
    for _ in range(ITERATIONS):  # 2
        u = streams.normal("directions", K, n).copy()
        x, y, z = x.copy(), y.copy(), z.copy()
        for r in range(REPLICAS):
            gradient = np.zeros(n)
            for i in range(K):
                delta = u[r, i] / np.sqrt(sum(u[r, i] ** 2))  # 3
                there = x[r] + RADIUS * delta
                rise = lagrangian(problem, there, y[r]) - lagrangian(problem, x[r], y[r])
                if estimated:
                    rise += 0.5 * p * (sum((there - z[r]) ** 2) - sum((x[r] - z[r]) ** 2))
                gradient += n / (RADIUS * K) * rise * delta  # 4
            if not estimated:
                gradient += p * (x[r] - z[r])
            x[r] = np.clip(x[r] - c * gradient, lower, upper)  # 5
            y[r] = np.clip(y[r] + alpha * problem.evaluate(x[r]).h, 0.0, cap)  # 6
            z[r] = z[r] + beta * (x[r] - z[r])  # 7
        out.append((x, y, z))
    return out


@pytest.mark.parametrize("estimated", [True, False], ids=["as published", "exact proximal term"])
@pytest.mark.parametrize("name", problems())
def test_splm_algorithm_1(name: str, estimated: bool) -> None:
    problem = problems()[name]
    estimator = Sphere(smoothing_radius=RADIUS, batch_size=K)
    solver = ZOSPLM.published(**SPLM, estimator=estimator)
    assert solver.form() == "As published: paper splm, Algorithm 1."
    solver.estimate_proximal = estimated
    states, _ = course(solver, problem)
    for state, (x, y, z) in zip(states[1:], by_hand(problem, estimated), strict=True):
        assert_agree(state.x, x, 1e-12), assert_agree(state.y, y, 1e-12), assert_agree(state.z, z, 1e-12)
    assert states[-1].y.max() > 0.0, "the duals never moved: the comparison would not see the dual step"
