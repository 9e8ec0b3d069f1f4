"""What every problem in the registry keeps: shapes, gradients, purity, clones, starts."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.every_problem import EACH_CLASS, inside, small
from helpers.parameters import assert_documented
from zoviz.core.streams import Streams
from zoviz.problems import NonconvexQCQP
from zoviz.problems.base import Problem
from zoviz.solvers import OGDARR, ZOEG, ZOSPLM


@EACH_CLASS
def test_it_says_what_it_is(cls: type[Problem]) -> None:
    problem = small(cls)
    assert problem.title and cls.__doc__
    assert problem.domain.n > 0 and problem.m >= 0
    assert_documented(cls)


@EACH_CLASS
def test_batch_shapes_agree(cls: type[Problem]) -> None:
    problem = small(cls)
    x = inside(problem, 3, 4)
    batch = problem.evaluate(x)
    assert batch.f.shape == (3, 4) and batch.h.shape == (3, 4, problem.m)
    assert batch.f.dtype == batch.h.dtype == np.float64
    rows = problem.evaluate(x[:, 0])
    assert rows.f.shape == (3,) and rows.h.shape == (3, problem.m)
    np.testing.assert_allclose(rows.f, batch.f[:, 0], rtol=1e-12)
    np.testing.assert_allclose(rows.h, batch.h[:, 0], rtol=1e-12, atol=1e-12)
    one = problem.evaluate(x[2, 3])
    assert np.shape(one.f) == () and one.h.shape == (problem.m,)
    np.testing.assert_allclose(one.f, batch.f[2, 3], rtol=1e-12)
    np.testing.assert_allclose(one.h, batch.h[2, 3], rtol=1e-12, atol=1e-12)


@EACH_CLASS
def test_gradients_are_those_of_central_differences(cls: type[Problem]) -> None:
    problem = small(cls)
    x = inside(problem, 2, 3)
    gradients = problem.gradient(x)
    if gradients is None:
        pytest.skip("no exact gradients")
    n, m, step = problem.domain.n, problem.m, 1e-5 * (1.0 + np.abs(x).max())
    assert gradients[0].shape == (2, 3, n) and gradients[1].shape == (2, 3, m, n)
    ahead = problem.evaluate(x[..., None, :] + step * np.eye(n))
    behind = problem.evaluate(x[..., None, :] - step * np.eye(n))
    of_f = (ahead.f - behind.f) / (2 * step)
    of_h = np.swapaxes((ahead.h - behind.h) / (2 * step), -1, -2)
    for exact, measured in zip(gradients, (of_f, of_h), strict=True):
        np.testing.assert_allclose(exact, measured, rtol=1e-5, atol=1e-5 * (1.0 + np.abs(exact).max()))
    for point in (x[0], x[0, 0]):
        f_part, h_part = problem.gradient(point)
        assert f_part.shape == point.shape and h_part.shape == (*point.shape[:-1], m, n)
    value, both = problem.value_and_gradient(x)
    np.testing.assert_allclose(value.f, problem.evaluate(x).f, rtol=1e-10)
    np.testing.assert_allclose(value.h, problem.evaluate(x).h, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(both[0], gradients[0], rtol=1e-12)
    np.testing.assert_allclose(both[1], gradients[1], rtol=1e-12)


@EACH_CLASS
def test_evaluate_is_pure(cls: type[Problem]) -> None:
    problem = small(cls)
    x = inside(problem, 3, 2)
    before = x.copy()
    first = problem.evaluate(x)
    copies = first.f.copy(), first.h.copy()
    problem.evaluate(inside(problem, 3, 2, seed=5))
    again = problem.evaluate(x)
    np.testing.assert_array_equal(x, before)
    for one, other, old in zip(first, again, copies, strict=True):
        np.testing.assert_array_equal(one, old)
        np.testing.assert_array_equal(other, old)


@EACH_CLASS
def test_a_clone_is_equal_and_independent(cls: type[Problem]) -> None:
    problem = small(cls, noise="independent", noise_scale=0.25)
    clone = problem.clone()
    assert type(clone) is cls and clone is not problem
    mine, its = problem.param.values(), clone.param.values()
    assert {k: v for k, v in mine.items() if k != "name"} == {k: v for k, v in its.items() if k != "name"}
    x = inside(problem, 4)
    np.testing.assert_array_equal(problem.evaluate(x).f, clone.evaluate(x).f)
    np.testing.assert_array_equal(problem.evaluate(x).h, clone.evaluate(x).h)
    clone.noise_scale = 0.5
    assert problem.noise_scale == 0.25


@EACH_CLASS
def test_a_problem_can_be_rebuilt_from_its_parameters(cls: type[Problem]) -> None:
    problem, again = small(cls), small(cls)
    x = inside(problem, 4)
    np.testing.assert_array_equal(problem.evaluate(x).f, again.evaluate(x).f)


@EACH_CLASS
def test_a_changed_parameter_changes_the_data(cls: type[Problem]) -> None:
    if "seed" not in cls.param:
        pytest.skip("one instance only")
    problem = small(cls)
    x = inside(problem, 4)
    first = problem.evaluate(x)
    problem.seed = 7
    again = problem.evaluate(x)
    np.testing.assert_array_equal(again.f, small(cls, seed=7).evaluate(x).f)
    if cls.costly:  # where a simulation fails, its value is the same whatever the data
        assert (again.stacked != first.stacked).any()
    else:
        assert (again.f != first.f).all()


@EACH_CLASS
def test_starts_lie_in_the_domain(cls: type[Problem]) -> None:
    problem = small(cls)
    x0 = problem.initial(Streams(3, 50))
    assert x0.shape == (50, problem.domain.n)
    assert problem.domain.distance(x0).max() == 0.0
    np.testing.assert_array_equal(x0, problem.initial(Streams(3, 50)))
    np.testing.assert_array_equal(x0[:4], problem.initial(Streams(3, 4)))


@EACH_CLASS
def test_constraints_that_are_said_not_to_be_convex_are_not(cls: type[Problem]) -> None:
    """Between two points one lies above the chord; methods for which that matters refuse the problem, with a reason."""
    problem = small(cls)
    if problem.convex_constraints is not False:
        pytest.skip("nothing is said")
    x = inside(problem, 2, 2000)
    ends, middle = problem.evaluate(x).h, problem.evaluate(x.mean(axis=0)).h
    assert (middle - ends.mean(axis=0) > 1e-6 * np.abs(ends).max(axis=0)).any()
    joint = ZOEG(dual="estimated")
    assert "not convex" in (joint.accepts(problem) or "") and "ZO-SPLM" in (OGDARR().accepts(problem) or "")
    assert ZOSPLM().accepts(problem) is None and joint.accepts(NonconvexQCQP()) is None
    assert ZOEG().accepts(problem) is None and ZOEG(primal_step=0.1).accepts(problem) == joint.accepts(problem)
