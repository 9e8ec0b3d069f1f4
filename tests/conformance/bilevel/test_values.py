"""What every online bilevel problem in the registry keeps: shapes over probes, purity, clones, derivatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.core.registry import discover
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Iterate
from zoviz.problems.base import Problem
from zoviz.problems.bilevel import OnlineBilevel

R, Q = 3, 4
PROBLEMS = {
    name: cls
    for name, cls in discover("zoviz.problems", Problem).items()
    if issubclass(cls, OnlineBilevel) and cls.__module__.startswith("zoviz.")
}
EACH_CLASS = pytest.mark.parametrize("cls", PROBLEMS.values(), ids=PROBLEMS.keys())


def small(cls: type[OnlineBilevel], **settings: Any) -> OnlineBilevel:
    quick = {"channels": 2, "hidden_units": 5}
    return cls(**{name: value for name, value in quick.items() if name in cls.param} | settings)


def world(cls: type[OnlineBilevel], replicas: int = R, **settings: Any) -> tuple[OnlineBilevel, Array, Array, Any]:
    """A problem, points of both levels, and a round's sample."""
    problem, streams = small(cls, **settings), Streams(1, replicas)
    x, y = problem.initial(streams), problem.initial_inner(streams)
    y = problem.inner_domain.project(y + 0.1 * streams.normal("test", problem.inner_domain.n))
    return problem, x, y, problem.draw(7, streams, size=(5, 6))


def probes(point: Array) -> Array:
    return point[:, None] + 0.01 * np.random.default_rng(0).standard_normal((len(point), Q, point.shape[1]))


@EACH_CLASS
@pytest.mark.parametrize("noise", ["common", "deterministic"])
def test_a_batch_of_probes_equals_its_points(cls: type[OnlineBilevel], noise: str) -> None:
    problem, x, y, xi = world(cls, noise=noise)
    xs, ys = probes(x), probes(y)
    for method in (problem.outer, problem.inner):
        batch = method(xs, ys, xi)
        assert batch.shape == (R, Q) and batch.dtype == np.float64
        for q in range(Q):
            np.testing.assert_allclose(batch[:, q], method(xs[:, q], ys[:, q], xi), rtol=1e-11)
        for r in range(R):
            alone = method(xs[r : r + 1], ys[r : r + 1], xi[r : r + 1])
            np.testing.assert_allclose(batch[r], alone[0], rtol=1e-11, err_msg="a frozen replica changes no other")


@EACH_CLASS
def test_it_is_pure_and_its_twin_the_same(cls: type[OnlineBilevel]) -> None:
    problem, x, y, xi = world(cls)
    copies, first = (x.copy(), y.copy()), problem.inner(x, y, xi)
    problem.inner(x + 0.1, y + 0.1, xi)
    clone = problem.clone()
    for other in (problem, clone, small(cls)):
        np.testing.assert_array_equal(other.inner(x, y, xi), first)
    np.testing.assert_array_equal(x, copies[0])
    np.testing.assert_array_equal(y, copies[1])
    assert clone is not problem and type(clone) is cls


@EACH_CLASS
def test_a_replicas_round_does_not_depend_on_how_many_there_are(cls: type[OnlineBilevel]) -> None:
    problem, x, y, xi = world(cls)
    _, x1, y1, few = world(cls, replicas=1)
    np.testing.assert_array_equal(y[:1], y1)
    np.testing.assert_allclose(problem.inner(x1, y1, few), problem.inner(x, y, xi)[:1], rtol=1e-11)
    np.testing.assert_allclose(problem.outer(x1, y1, few), problem.outer(x, y, xi)[:1], rtol=1e-11)


@EACH_CLASS
def test_derivatives_are_those_of_central_differences(cls: type[OnlineBilevel]) -> None:
    problem, x, y, xi = world(cls)
    if problem.differentiable:
        assert_derivatives(problem, x, y, xi)
    else:
        with pytest.raises(NotImplementedError, match="values only"):
            problem.inner_gradient(x, y, xi)


def assert_derivatives(problem: OnlineBilevel, x: Array, y: Array, xi: Any) -> None:
    rng, h = np.random.default_rng(2), 1e-6
    dx, dy, v = rng.standard_normal(x.shape), rng.standard_normal(y.shape), rng.standard_normal(y.shape)

    def slope(of: Any, a: Array, b: Array) -> Array:
        return (of(x + h * a, y + h * b) - of(x - h * a, y - h * b)) / (2.0 * h)

    def assert_agree(exact: Array, measured: Array) -> None:
        np.testing.assert_allclose(exact, measured, rtol=1e-5, atol=1e-6 * (1.0 + np.abs(measured).max()))

    of_x, of_y = problem.outer_gradients(x, y, xi)
    assert_agree((of_x * dx).sum(-1), slope(lambda a, b: problem.outer(a, b, xi), dx, 0.0 * dy))
    assert_agree((of_y * dy).sum(-1), slope(lambda a, b: problem.outer(a, b, xi), 0.0 * dx, dy))
    gradient = problem.inner_gradient(x, y, xi)
    assert_agree((gradient * dy).sum(-1), slope(lambda a, b: problem.inner(a, b, xi), 0.0 * dx, dy))
    along = slope(lambda a, b: problem.inner_gradient(a, b, xi), 0.0 * dx, v)
    assert_agree(problem.inner_hessian_vector(x, y, v, xi), along)
    mixed = slope(lambda a, b: (problem.inner_gradient(a, b, xi) * v).sum(-1, keepdims=True), dx, 0.0 * dy)
    assert_agree((problem.inner_jacobian_vector(x, y, v, xi) * dx).sum(-1, keepdims=True), mixed)


@EACH_CLASS
def test_its_measures_have_a_number_for_each_replica(cls: type[OnlineBilevel]) -> None:
    problem, x, y, xi = world(cls)
    measures = problem.measures(Iterate(x, inner=y), xi)
    assert "objective" in measures
    assert all(column.shape == (R,) and np.isfinite(column).all() for column in measures.values())
