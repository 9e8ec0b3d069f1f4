"""What stands between the gradients of several functions and one estimator."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz.core.streams import Streams
from zoviz.estimators import Block, Coordinate, GradientEstimator, Sphere
from zoviz.estimators.jacobian import jacobian
from zoviz.oracle import DerivedOracle, Oracle
from zoviz.problems import NonconvexQCQP


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize(
    "estimator",
    [Sphere(batch_size=5000), Coordinate(), Block(block_size=2, batch_size=2000)],
    ids=lambda one: type(one).__name__,
)
def test_the_rows_of_the_jacobian_are_the_gradients(estimator: GradientEstimator, shared: bool) -> None:
    """Also by blocks of coordinates, whose subsets come from the folded numbers' own uniform ones."""
    estimator.smoothing_radius = 1e-4
    problem, streams = NonconvexQCQP(n=4), Streams(0, 2)
    x = problem.initial(streams)
    result = jacobian(estimator, x, Oracle(problem, streams), streams, base=None, shared=shared, with_objective=True)
    of_f, of_h = problem.gradient(x)
    exact = np.concatenate([of_f[:, None], of_h], axis=1)
    size = np.linalg.norm(exact, axis=-1).max()
    np.testing.assert_allclose(result.gradients, exact, atol=0.15 * size)


def test_a_derived_oracle_reports_failures_to_the_one_behind_it() -> None:
    oracle = Oracle(NonconvexQCQP(n=3), Streams(0, 3))
    derived = DerivedOracle(DerivedOracle(oracle, oracle), oracle)
    derived.fail(np.array([False, True, False]))
    assert oracle.failed.tolist() == [False, True, False] and derived.contract == oracle.contract
