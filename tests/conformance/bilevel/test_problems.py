"""What every online bilevel problem of modest size keeps: shapes, solutions, slopes, samples, starts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from helpers.every_bilevel import CORE, DERIVATIVES, EACH_PROBLEM, small
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.problems.bilevel import OnlineBilevel


def inside(problem: OnlineBilevel, *shape: int, seed: int = 0) -> tuple[Array, Array, Array]:
    """Points x, y and v."""
    rng, d = np.random.default_rng(seed), problem.inner_domain.n
    x = problem.domain.sample(rng.random((*shape, problem.domain.n)))
    return x, problem.inner_domain.sample(rng.random((*shape, d))), rng.standard_normal((*shape, d))


def instance(cls: type[OnlineBilevel], **settings: Any) -> OnlineBilevel:
    """Of modest size; where the package that it needs is missing, the test is skipped."""
    if cls.__name__ not in CORE:
        pytest.skip("its own tests look at it")
    return small(cls.__name__, **settings)


@EACH_PROBLEM
def test_batch_shapes_agree(cls: type[OnlineBilevel]) -> None:
    problem = instance(cls)
    xi = problem.draw(3, Streams(0, 3), size=(2, 4))
    x, y, v = inside(problem, 3, 6)
    for name in ("outer", "inner", *DERIVATIVES):
        more = (v,) if "vector" in name else ()
        batch, rows = (
            getattr(problem, name)(*(place[index] for place in (x, y, *more)), xi)
            for index in (slice(None), (slice(None), 2))
        )
        one = getattr(problem, name)(*(place[1:2, 2] for place in (x, y, *more)), xi[np.array([1])])
        pairs = list(zip(*(part if isinstance(part, tuple) else (part,) for part in (batch, rows, one)), strict=True))
        assert len(pairs) == (2 if name == "outer_gradients" else 1)
        for several, flat, single in pairs:
            assert several.shape[:2] == (3, 6) and several.dtype == np.float64
            np.testing.assert_allclose(flat, several[:, 2], rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(single[0], several[1, 2], rtol=1e-12, atol=1e-12)


@EACH_PROBLEM
def test_the_solution_solves_and_the_hypergradient_is_the_slope(cls: type[OnlineBilevel]) -> None:
    problem = instance(cls)
    for t in (1, 7):
        xi = problem.draw(t, Streams(0, 3), size=(2, 4))
        exact, (x, _, _) = problem.exact(xi), inside(problem, 3)
        y, v = problem.solution(x, xi)
        assert np.abs(problem.inner_gradient(x, y, exact)).max() < 1e-10
        system = problem.outer_gradients(x, y, exact)[1] + problem.inner_hessian_vector(x, y, v, exact)
        assert np.abs(system).max() < 1e-10
        np.testing.assert_allclose(problem.evaluate(x, xi).f, problem.outer(x, y, exact), rtol=1e-12)
        h = 1e-5 * np.eye(problem.domain.n)
        rises = [(problem.evaluate(x + e, xi).f - problem.evaluate(x - e, xi).f) / 2e-5 for e in h]
        np.testing.assert_allclose(problem.hypergradient(x, y, v, xi), np.stack(rises, axis=-1), rtol=1e-6, atol=1e-6)


@EACH_PROBLEM
def test_samples_are_unbiased_and_their_noise_falls_with_the_batch(cls: type[OnlineBilevel]) -> None:
    problem = instance(cls, sampling_noise=0.5)
    streams, spread = Streams(0, 4000), []
    x, y, v = (np.repeat(place, 4000, axis=0) for place in inside(problem, 1))
    for size in ((1, 1), (16, 16)):
        xi = problem.draw(4, streams, size=size)
        samples = [*problem.outer_gradients(x, y, xi), problem.inner_gradient(x, y, xi)]
        exact = problem.exact(xi)
        expected = [*problem.outer_gradients(x, y, exact), problem.inner_gradient(x, y, exact)]
        errors = np.concatenate([a - b for a, b in zip(samples, expected, strict=True)], axis=-1)
        assert (np.abs(errors.mean(axis=0)) <= 5.0 * errors.std(axis=0) / np.sqrt(4000)).all()
        spread.append(np.square(errors).sum(axis=-1).mean())
    assert spread[0] / spread[1] == pytest.approx(16.0, rel=0.15)


@EACH_PROBLEM
def test_problems_are_rebuilt_cloned_and_start_alike(cls: type[OnlineBilevel]) -> None:
    problem = instance(cls)
    clones = problem.clone(), instance(cls)
    x, y, _ = inside(problem, 3)
    value = problem.outer(x, y, problem.draw(2, Streams(0, 3)))
    for clone in clones:
        np.testing.assert_array_equal(clone.outer(x, y, clone.draw(2, Streams(0, 3))), value)
    x0 = problem.initial(Streams(3, 50))
    assert x0.shape == (50, problem.domain.n) and problem.domain.distance(x0).max() == 0.0
    np.testing.assert_array_equal(x0[:4], problem.initial(Streams(3, 4)))
    assert problem.initial_inner(Streams(3, 50)).shape == (50, problem.inner_domain.n)
    assert all(isinstance(text, str) and 0 < at <= 50 for at, text in problem.phases(50))
