"""Consensus on a random graph: its incidence matrix against one that is built, samples, the centralised solution."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import DistributedConsensus
from zoviz.problems.networks.consensus import COPIES
from zoviz.problems.networks.random_graph import RandomGraph


def built(graph: RandomGraph, edges: Array, d: int) -> Array:
    """W (x) I_d as a matrix, for edges given as weights (pairs,)."""
    w = np.zeros((edges.size, graph.nodes))
    row = 0
    for i in range(graph.nodes):
        for j in range(i + 1, graph.nodes):
            w[row, i], w[row, j] = edges[row], -edges[row]
            row += 1
    return np.kron(w, np.eye(d))


@pytest.fixture
def problem() -> DistributedConsensus:
    return DistributedConsensus(nodes=7, features=3, edge_probability=0.4, probability_spread=0.5)


def test_rows_are_those_of_the_kronecker_product(problem: DistributedConsensus) -> None:
    graph, streams, rng = problem.data.graph, Streams(0, 4), np.random.default_rng(1)
    xi = problem.draw(0, streams)
    assert xi.edges.shape == (4, COPIES, 21) and np.isin(xi.edges, (0.0, 1.0)).all()
    x, y = rng.standard_normal((4, 21)), rng.standard_normal((4, 63))
    expected = built(graph, graph.probability, 3)
    np.testing.assert_allclose(problem.residual(x), x @ expected.T, atol=1e-12)
    np.testing.assert_allclose(problem.adjoint(y), y @ expected, atol=1e-12)
    np.testing.assert_allclose(problem.matrix()[0], expected, atol=1e-15)
    assert problem.operator_norm == pytest.approx(np.linalg.norm(expected, 2))
    for copy in range(COPIES):
        for r in range(4):
            matrix = built(graph, xi.edges[r, copy].astype(float), 3)
            np.testing.assert_allclose(problem.residual(x, xi, copy)[r], matrix @ x[r], atol=1e-12)
            np.testing.assert_allclose(problem.adjoint(y, xi, copy)[r], matrix.T @ y[r], atol=1e-12)
    assert (xi.edges[:, 0] != xi.edges[:, 1]).any(), "the copies are independent"


def test_adjoint_identity_at_fifty_nodes() -> None:
    problem = DistributedConsensus(nodes=50, features=2, edge_probability=0.1)
    rng, xi = np.random.default_rng(2), problem.draw(0, Streams(3, 5))
    x, y = rng.standard_normal((5, 100)), rng.standard_normal((5, problem.rows))
    assert problem.rows == 2450
    for sample, copy in ((None, 0), (xi, 0), (xi, 2)):
        left = (problem.residual(x, sample, copy) * y).sum(-1)
        np.testing.assert_allclose(left, (x * problem.adjoint(y, sample, copy)).sum(-1), rtol=1e-9)


def test_probes_share_a_graph_or_have_their_own(problem: DistributedConsensus) -> None:
    x = problem.initial(Streams(5, 6)).reshape(2, 3, 21)
    shared, own = problem.draw(0, Streams(1, 2)), problem.draw(0, Streams(2, 2), (3,))
    for q in range(3):
        np.testing.assert_array_equal(problem.residual(x, shared)[:, q], problem.residual(x[:, q], shared))
        np.testing.assert_allclose(problem.evaluate(x, shared).f[:, q], problem.evaluate(x[:, q], shared).f, rtol=1e-13)
        one = own[:, q]
        np.testing.assert_array_equal(problem.residual(x, own, 1)[:, q], problem.residual(x[:, q], one, 1))
        np.testing.assert_allclose(problem.evaluate(x, own).f[:, q], problem.evaluate(x[:, q], one).f, rtol=1e-13)
        mine, its = problem.stochastic_gradient(x, own)[:, q], problem.stochastic_gradient(x[:, q], one)
        np.testing.assert_allclose(mine, its, rtol=1e-12, atol=1e-14)


def test_sampled_rows_and_gradients_are_unbiased(problem: DistributedConsensus) -> None:
    problem.points, replicas = 1, 20_000
    rng, xi = np.random.default_rng(0), problem.draw(0, Streams(11, replicas))
    x = np.repeat(problem.initial(Streams(0, 1)), replicas, axis=0)
    y = np.repeat(rng.standard_normal((1, problem.rows)), replicas, axis=0)
    pairs = [(problem.stochastic_gradient(x, xi), problem.stochastic_gradient(x[:1]))]
    pairs += [(problem.residual(x, xi, copy), problem.residual(x[:1])) for copy in range(COPIES)]
    pairs += [(problem.adjoint(y, xi, 1), problem.adjoint(y[:1]))]
    # A'_1 (A_2 x) from two copies has the mean A'A x; from one copy it has not.
    exact = problem.adjoint(problem.residual(x[:1]))
    pairs += [(problem.adjoint(problem.residual(x, xi, 2), xi, 1), exact)]
    for sampled, mean in pairs:
        error = sampled.std(axis=0, ddof=1) / np.sqrt(replicas)
        assert (np.abs(sampled.mean(axis=0) - mean[0]) <= 4.5 * error).all()
    same = problem.adjoint(problem.residual(x, xi, 1), xi, 1)
    assert (np.abs(same.mean(axis=0) - exact[0]) / same.std(axis=0, ddof=1) * np.sqrt(replicas)).max() > 20.0


@pytest.mark.parametrize("loss", ["logistic", "logistic difference", "smoothed 0-1"])
def test_a_sampled_gradient_is_that_of_the_sampled_value(loss: str) -> None:
    problem, streams, h = DistributedConsensus(loss=loss), Streams(1, 3), 1e-6
    x, xi = problem.initial(streams), problem.draw(0, streams, size=2)
    steps = h * np.eye(x.shape[1])
    ahead, behind = (problem.evaluate(x[:, None] + s * steps, xi).f for s in (1, -1))
    np.testing.assert_allclose(problem.stochastic_gradient(x, xi), (ahead - behind) / (2 * h), atol=1e-8)


def test_a_replica_sees_the_same_graphs_whatever_the_others_do() -> None:
    problem = DistributedConsensus()
    many, few = (problem.draw(0, Streams(3, r), size=2) for r in (5, 2))
    np.testing.assert_array_equal(many.edges[:2], few.edges)
    np.testing.assert_array_equal(many.point[:2], few.point)
    x = problem.initial(Streams(0, 5))
    np.testing.assert_array_equal(problem.residual(x, many, 1)[:2], problem.residual(x[:2], few, 1))
    np.testing.assert_array_equal(
        problem.adjoint(problem.residual(x, many), many, 2)[:2], problem.adjoint(problem.residual(x[:2], few), few, 2)
    )


@pytest.mark.parametrize("seed", [0, 3])
def test_the_known_optimum_is_the_centralised_one(seed: int) -> None:
    problem = DistributedConsensus(nodes=8, features=3, difference=1.0, seed=seed)

    def everywhere(centre: Array) -> float:
        return float(problem.evaluate(np.tile(centre, 8)).f)

    solution = minimize(everywhere, np.zeros(3), method="BFGS", options={"gtol": 1e-9})
    optimum = problem.known_optimum
    assert optimum.value == pytest.approx(solution.fun, rel=1e-9)
    np.testing.assert_allclose(optimum.point.reshape(8, 3), np.tile(solution.x, (8, 1)), atol=1e-5)
    # Without the rows, nodes would go their own ways.
    alone = problem.stochastic_gradient(optimum.point)
    assert np.linalg.norm(alone) > 0.01
    np.testing.assert_allclose(problem.adjoint(problem.signed(optimum.multipliers)), -alone, atol=1e-12)


def test_measures_of_agreement() -> None:
    problem = DistributedConsensus(nodes=4, features=2)
    at = np.array([[[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 6.0]]])
    measured = problem.metrics(at.reshape(1, 8), None, None)
    assert measured["consensus_error"][0] == pytest.approx(np.hypot(1.0, 4.0))
    assert measured["mean_objective"][0] == pytest.approx(float(problem.evaluate(np.tile([1.0, 2.0], 4)).f))
    agreed = problem.metrics(np.tile([[1.0, 2.0]], (1, 4)), None, None)
    assert agreed["consensus_error"][0] == 0.0 and agreed["violation"][0] == 0.0


def test_edges_come_with_their_probability() -> None:
    problem = DistributedConsensus(nodes=5, edge_probability=0.3, probability_spread=0.9)
    edges = problem.draw(0, Streams(0, 4000)).edges.reshape(-1, 10)
    p = problem.data.graph.probability
    assert p.min() < 0.15 and p.max() > 0.4
    assert (np.abs(edges.mean(axis=0) - p) <= 4.5 * np.sqrt(p * (1 - p) / len(edges))).all()
    assert np.abs(np.corrcoef(edges.T) - np.eye(10)).max() < 0.05
