"""One call for replicas that want different numbers of points."""

from __future__ import annotations

import numpy as np

from zoviz.core.streams import Streams
from zoviz.oracle import Oracle
from zoviz.problems import NonconvexQCQP
from zoviz.solvers.replica_batches import evaluate_each


def test_each_replica_has_its_own_points_and_pays_for_them_alone() -> None:
    problem = NonconvexQCQP(n=3)
    oracle = Oracle(problem, Streams(0, 3))
    rng, filler = np.random.default_rng(0), np.full((3, 3), 0.25)
    points = [rng.standard_normal((count, 3)) for count in (2, 0, 1)]
    batch = evaluate_each(oracle, points, filler)
    assert batch.x.shape == (3, 2, 3) and oracle.calls.tolist() == [2, 0, 1]
    for r, own in enumerate(points):
        np.testing.assert_array_equal(batch.x[r, : len(own)], own)
        np.testing.assert_array_equal(batch.value.f[r, : len(own)], problem.evaluate(own).f)
        np.testing.assert_array_equal(batch.mask[r], np.arange(2) < len(own))
    assert np.isnan(batch.value.f[~batch.mask]).all()
    np.testing.assert_array_equal(batch.x[~batch.mask], np.full((3, 3), 0.25))


def test_noise_does_not_depend_on_what_others_want_where_the_width_is_given() -> None:
    values = []
    for others in (1, 4):
        oracle = Oracle(NonconvexQCQP(n=3, noise="independent", noise_scale=1.0), Streams(0, 2))
        points = [np.zeros((2, 3)), np.zeros((others, 3))]
        values.append(evaluate_each(oracle, points, np.zeros((2, 3)), 5).value.f[0, :2])
    np.testing.assert_array_equal(*values)
