"""The elastic quadratic programme against its optimality conditions and a linear programme of SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from zoviz.core.types import Array
from zoviz.solvers.sqp.elastic_qp import Linearisation, solve, steered


def programme(seed: int, n: int = 5, m: int = 4, curved: bool = True) -> Linearisation:
    generator = np.random.default_rng(seed)
    root = generator.standard_normal((n, n)) * curved
    size = 10.0 ** generator.uniform(-3, 3, (m, 1))
    jacobian, value = size * generator.standard_normal((m, n)), size[:, 0] * generator.uniform(-1, 0.5, m)
    return Linearisation(
        root @ root.T, generator.standard_normal(n), jacobian, value, np.full(n, -0.7), np.full(n, 1.0)
    )


def residual(model: Linearisation, d: Array, multipliers: Array) -> Array:
    """The part of the Lagrangian's gradient that the box does not explain."""
    slope = model.gradient + model.hessian @ d + model.jacobian.T @ multipliers
    at_lower, at_upper = d <= model.lower + 1e-6, d >= model.upper - 1e-6
    return np.where(at_lower, np.minimum(slope, 0.0), np.where(at_upper, np.maximum(slope, 0.0), slope))


@pytest.mark.parametrize("seed", range(8))
def test_optimality_conditions(seed: int) -> None:
    model, penalty = programme(seed), 3.0
    step = solve(model, penalty)
    h = model.value + model.jacobian @ step.d
    scale = np.abs(model.jacobian).max(axis=1)
    assert (step.d >= model.lower).all() and (step.d <= model.upper).all()
    assert (step.multipliers >= 0.0).all() and (step.multipliers <= penalty * (1 + 1e-6)).all()
    assert np.abs(residual(model, step.d, step.multipliers)).max() < 1e-5 * max(1.0, (penalty * scale).max())
    inside, violated = h < -1e-5 * scale, h > 1e-5 * scale
    np.testing.assert_allclose(step.multipliers[inside] * scale[inside], 0.0, atol=1e-4)
    np.testing.assert_allclose(step.multipliers[violated], penalty, rtol=1e-4)
    assert step.violation == np.maximum(h, 0.0).sum()


@pytest.mark.parametrize("seed", range(4))
def test_without_curvature_it_is_a_linear_programme(seed: int) -> None:
    model, penalty = programme(seed, curved=False), 2.0
    step = solve(model, penalty)
    n, m = 5, 4
    bounds = [*zip(model.lower, model.upper, strict=True), *[(0.0, None)] * m]
    rows = np.concatenate([model.jacobian, -np.eye(m)], axis=1)
    cost = np.concatenate([model.gradient, np.full(m, penalty)])
    best = linprog(cost, rows, -model.value, bounds=bounds, method="highs")
    assert model.gradient @ step.d + penalty * step.violation == pytest.approx(best.fun, rel=1e-5, abs=1e-5)
    assert np.abs(step.d - best.x[:n]).max() < 1e-2


def test_rows_that_cannot_become_active_change_nothing() -> None:
    model = programme(1)
    far = np.concatenate([model.jacobian, np.ones((3, 5))])
    more = model._replace(jacobian=far, value=np.concatenate([model.value, np.full(3, -100.0)]))
    one, other = solve(model, 3.0), solve(more, 3.0)
    np.testing.assert_array_equal(one.d, other.d)
    np.testing.assert_array_equal(other.multipliers[4:], 0.0)


def test_no_constraints_and_one_variable() -> None:
    one = Linearisation(
        np.array([[2.0]]), np.array([-2.0]), np.empty((0, 1)), np.empty(0), np.array([-3.0]), np.array([3.0])
    )
    assert solve(one, 1.0).d == pytest.approx([1.0], abs=1e-6)
    assert solve(one._replace(upper=np.array([0.25])), 1.0).d == pytest.approx([0.25], abs=1e-6)


def test_the_penalty_rises_until_the_constraint_is_met() -> None:
    # min -10 d with d <= 0.5: a penalty of 1 is too small, 10 times itself is not quite enough, 100 is.
    model = Linearisation(
        np.zeros((1, 1)), np.array([-10.5]), np.array([[1.0]]), np.array([-0.5]), np.array([-1.0]), np.array([1.0])
    )
    assert solve(model, 1.0).d == pytest.approx([1.0], abs=1e-5)
    step = steered(model, 1.0, 1e6, 1e-9)
    assert step.penalty == 100.0 and step.d == pytest.approx([0.5], abs=1e-5)
    assert step.multipliers == pytest.approx([10.5], rel=1e-4) and step.largest_multiplier == pytest.approx(
        10.5, rel=1e-4
    )


def test_a_saturated_multiplier_says_nothing_of_the_size_that_is_needed() -> None:
    # d >= 2 cannot be met in the box: its multiplier is the penalty's.
    model = Linearisation(
        np.eye(1), np.array([0.0]), np.array([[-1.0]]), np.array([2.0]), np.array([-1.0]), np.array([1.0])
    )
    step = steered(model, 5.0, 1e6, 1e-9)
    assert step.penalty == 5.0 and step.d == pytest.approx([1.0], abs=1e-6)
    assert step.multipliers == pytest.approx([5.0], rel=1e-3) and step.largest_multiplier == 0.0
