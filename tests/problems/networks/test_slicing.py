"""Network slicing: its rows written out one by one, its instances, the regulariser, the assignment read off."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems import NetworkSlicing
from zoviz.problems.networks.slicing_network import Network

SIZES = [{}, {"nodes": 9, "degree": 3, "flows": 3, "chain": 1, "sites": 5, "providers": 4, "seed": 4}]
EACH_SIZE = pytest.mark.parametrize("sizes", SIZES, ids=["default", "larger"])


def written_out(problem: NetworkSlicing, x: Array, demand: Array) -> list[float]:
    """A x - b, a row at a time, from the text of the problem."""
    net: Network = problem.data.network
    plan = problem.parts(x)
    flows, chain, providers = net.provider.shape
    links, rows = range(len(net.tails)), []
    for k in range(flows):
        rows += [plan.totals[k, link] - sum(plan.segments[k, s, link] for s in range(chain + 1)) for link in links]
    for k in range(flows):
        rows += [sum(plan.choices[k, s]) - 1.0 for s in range(chain)]
    for k in range(flows):
        for s in range(chain + 1):
            for node in range(problem.nodes):
                out = sum(plan.segments[k, s, link] for link in links if net.tails[link] == node)
                into = sum(plan.segments[k, s, link] for link in links if net.heads[link] == node)
                share = [0.0, 0.0]  # of f_s and of f_{s+1} that this node provides
                for end, stage in enumerate((s - 1, s)):
                    if stage < 0:
                        share[end] = float(net.source[k] == node)
                    elif stage == chain:
                        share[end] = float(net.target[k] == node)
                    else:
                        at = [i for i in range(providers) if net.sites[net.provider[k, stage, i]] == node]
                        share[end] = sum(plan.choices[k, stage, i] for i in at)
                rows.append(out - into - demand[k] * (share[0] - share[1]))
    for link in links:
        used = sum(plan.totals[k, link] for k in range(flows))
        rows.append(used + plan.link_slack[link] - net.capacity[link])
    for i in range(len(net.sites)):
        work = 0.0
        for k, s, q in np.ndindex(flows, chain, providers):
            work += demand[k] * plan.choices[k, s, q] * (net.provider[k, s, q] == i)
        rows.append(work + plan.node_slack[i] - net.node_capacity[i])
    return rows


@EACH_SIZE
def test_the_rows_written_out(sizes: dict[str, int]) -> None:
    problem = NetworkSlicing(demand_spread=0.4, **sizes)
    x, xi = problem.initial(Streams(0, 2)), problem.draw(0, Streams(1, 2))
    assert problem.residual(x).shape == (2, problem.rows)
    for r in range(2):
        np.testing.assert_allclose(
            problem.residual(x)[r], written_out(problem, x[r], problem.data.network.demand), atol=1e-12
        )
        for copy in range(3):
            result = problem.residual(x, xi, copy)[r]
            np.testing.assert_allclose(result, written_out(problem, x[r], xi.demand[r, copy]), atol=1e-12)


@EACH_SIZE
def test_adjoint_identity(sizes: dict[str, int]) -> None:
    problem, rng = NetworkSlicing(demand_spread=0.4, **sizes), np.random.default_rng(0)
    xi = problem.draw(0, Streams(1, 4))
    x, y = rng.standard_normal((4, problem.domain.n)), rng.standard_normal((4, problem.rows))
    for sample, copy in ((None, 0), (xi, 0), (xi, 2)):
        linear = problem.residual(x, sample, copy) - problem.residual(np.zeros_like(x), sample, copy)
        np.testing.assert_allclose((linear * y).sum(-1), (x * problem.adjoint(y, sample, copy)).sum(-1), rtol=1e-10)


def test_the_regulariser_is_nought_at_binaries_and_positive_between() -> None:
    problem = NetworkSlicing(weight=2.0)
    x = np.zeros((3, problem.domain.n))
    choices = problem.parts(x).choices
    choices[0, ..., 1] = 1.0
    choices[1, ..., :2] = 0.5
    choices[2] = 1.0 / 3.0
    f, (p, eps) = problem.evaluate(x).f, (problem.exponent, problem.offset)
    assert f[0] == pytest.approx(0.0, abs=1e-12)
    each = 2 * (0.5 + eps) ** p + eps**p - (1 + eps) ** p - 2 * eps**p
    assert f[1] == pytest.approx(2.0 * problem.flows * problem.chain * each)
    assert 0.0 < f[1] < f[2]


def test_a_sampled_gradient_is_that_of_the_sampled_value() -> None:
    problem, streams, h = NetworkSlicing(), Streams(1, 3), 1e-6
    x, xi = problem.initial(streams) - 0.02, problem.draw(0, streams, size=2)  # and a little outside of X
    steps = h * np.eye(x.shape[1])
    ahead, behind = (problem.evaluate(x[:, None] + s * steps, xi).f for s in (1, -1))
    np.testing.assert_allclose(problem.stochastic_gradient(x, xi), (ahead - behind) / (2 * h), atol=2e-5)


def test_samples_are_unbiased_and_a_replicas_own() -> None:
    problem, replicas = NetworkSlicing(demand_spread=0.5), 4000
    x = np.repeat(problem.initial(Streams(0, 1)), replicas, axis=0)
    y = np.repeat(np.random.default_rng(0).standard_normal((1, problem.rows)), replicas, axis=0)
    xi = problem.draw(0, Streams(5, replicas))
    pairs = [(problem.stochastic_gradient(x, xi), problem.stochastic_gradient(x[:1]))]
    pairs += [(problem.residual(x, xi, 1), problem.residual(x[:1])), (problem.adjoint(y, xi), problem.adjoint(y[:1]))]
    for sampled, mean in pairs:
        error = sampled.std(axis=0, ddof=1) / np.sqrt(replicas)
        assert (np.abs(sampled.mean(axis=0) - mean[0]) <= 4.5 * error + 1e-10).all() and error.max() > 1e-4
    few = problem.draw(0, Streams(5, 2))
    np.testing.assert_array_equal(few.cost, xi.cost[:2])
    np.testing.assert_array_equal(few.demand, xi.demand[:2])
    batch = problem.draw(0, Streams(5, 4000), size=16).cost
    assert batch.std(axis=0) == pytest.approx(xi.cost.std(axis=0) / 4.0, rel=0.1)


def test_rows_are_sampled_only_where_demands_vary() -> None:
    sure, unsure = NetworkSlicing(), NetworkSlicing(demand_spread=0.1)
    assert not sure.sampled_rows and unsure.sampled_rows
    x = sure.initial(Streams(0, 2))
    np.testing.assert_array_equal(sure.residual(x, sure.draw(0, Streams(0, 2))), sure.residual(x))
    assert (unsure.residual(x, unsure.draw(0, Streams(0, 2))) != unsure.residual(x)).any()


def test_probes_share_a_sample_or_have_their_own() -> None:
    problem = NetworkSlicing(demand_spread=0.3)
    x = problem.initial(Streams(5, 6)).reshape(2, 3, -1)
    shared, own = problem.draw(0, Streams(1, 2)), problem.draw(0, Streams(2, 2), (3,))
    for q in range(3):
        np.testing.assert_allclose(problem.evaluate(x, shared).h[:, q], problem.evaluate(x[:, q], shared).h, atol=1e-12)
        np.testing.assert_allclose(problem.evaluate(x, own).f[:, q], problem.evaluate(x[:, q], own[:, q]).f, rtol=1e-12)
        np.testing.assert_allclose(problem.evaluate(x, own).h[:, q], problem.evaluate(x[:, q], own[:, q]).h, atol=1e-12)


def cheapest(problem: NetworkSlicing, assignment: Array | None = None) -> float:
    """Cost of the best binary plan, or of the best routes for an assignment, by SciPy's HiGHS; inf: there is none."""
    a, b = problem.matrix()
    cost, whole = np.zeros((2, problem.domain.n))
    problem.parts(cost).totals[...] = problem.data.network.cost
    problem.parts(whole).choices[...] = 1.0
    lower, upper = np.broadcast_to(problem.domain.lower, cost.shape).copy(), problem.domain.upper.copy()
    if assignment is None:
        solution = milp(cost, constraints=LinearConstraint(a, b, b), integrality=whole, bounds=Bounds(lower, upper))
    else:
        fixed = np.arange(problem.providers) == assignment[..., None]
        problem.parts(lower).choices[...] = problem.parts(upper).choices[...] = fixed
        solution = linprog(cost, A_eq=a, b_eq=b, bounds=np.stack([lower, upper], axis=1))
    return float(solution.fun) if solution.success else np.inf


@EACH_SIZE
def test_the_planted_assignment_can_be_routed_and_the_best_is_no_worse(sizes: dict[str, int]) -> None:
    for seed in range(3):
        problem = NetworkSlicing(**{**sizes, "seed": seed})
        planted = cheapest(problem, problem.data.network.planted)
        best = cheapest(problem)
        assert np.isfinite(planted) and best <= planted + 1e-9
        tight = NetworkSlicing(**{**sizes, "seed": seed}, tightness=1.0)
        assert np.isfinite(cheapest(tight, tight.data.network.planted))


def test_an_assignment_is_read_off_and_checked() -> None:
    problem = NetworkSlicing()
    net, a = problem.data.network, problem.matrix()[0]
    lower, upper = np.zeros(problem.domain.n), problem.domain.upper.copy()
    fixed = np.arange(problem.providers) == net.planted[..., None]
    problem.parts(lower).choices[...] = problem.parts(upper).choices[...] = fixed
    cost = np.zeros(problem.domain.n)
    problem.parts(cost).totals[...] = net.cost
    x = linprog(cost, A_eq=a, b_eq=problem.matrix()[1], bounds=np.stack([lower, upper], axis=1)).x
    measured = problem.metrics(x[None], None, None)
    assert measured["binary_distance"][0] < 1e-9 and measured["assignment_violation"][0] < 1e-8
    np.testing.assert_array_equal(problem.assignment(x[None])[0], net.planted)
    blurred = x.copy()
    problem.parts(blurred).choices[0, 0] = 0.8 * fixed[0, 0] + 0.2 * np.roll(fixed[0, 0], 1)
    measured = problem.metrics(blurred[None], None, None)
    assert measured["binary_distance"][0] == pytest.approx(0.2)
    np.testing.assert_array_equal(problem.assignment(blurred), net.planted)
    assert measured["assignment_violation"][0] < 1e-8, "the routes are still those of the rounded assignment"
    wrong = x.copy()
    problem.parts(wrong).choices[0, 0] = np.roll(fixed[0, 0], 1)
    assert problem.metrics(wrong[None], None, None)["assignment_violation"][0] >= net.demand[0] - 1e-9


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="Expected providers <= function nodes <= nodes, got 5, 4 and 6"):
        _ = NetworkSlicing(providers=5).domain
