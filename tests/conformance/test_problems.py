"""What every problem in the registry keeps: shapes, gradients, optima, bounds; and checks of the built-in ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP
from zoviz.problems.base import Problem
from zoviz.registry import discover, required
from zoviz.streams import Streams
from zoviz.types import Array, MissingExtra

# A class that another test defines is no concern of this one.
PROBLEMS = {name: cls for name, cls in discover("zoviz.problems", Problem).items() if cls.__module__[:6] == "zoviz."}
# One that asks for something, as a program's does for the program, has tests of its own.
PROBLEMS = {name: cls for name, cls in PROBLEMS.items() if not required(cls)}
# tests/conformance/test_bilevel.py has those of other forms.
PROBLEMS = {name: cls for name, cls in PROBLEMS.items() if cls.form == "constrained"}
EACH_CLASS = pytest.mark.parametrize("cls", PROBLEMS.values(), ids=PROBLEMS.keys())


def small(cls: type[Problem], n: int = 10, **settings: Any) -> Problem:
    """An instance of modest size; where the package that it needs is missing, the test is skipped."""
    problem = cls(n=n, **settings) if "n" in cls.param else cls(**settings)
    try:
        _ = problem.domain
    except MissingExtra as error:
        pytest.skip(str(error))
    return problem


def inside(problem: Problem, *shape: int, seed: int = 0) -> Array:
    return problem.domain.sample(np.random.default_rng(seed).random((*shape, problem.domain.n)))


def near_start(problem: Problem, *shape: int, seed: int = 0) -> Array:
    count = int(np.prod(shape))
    return problem.initial(Streams(seed, count)).reshape(*shape, problem.domain.n)


@EACH_CLASS
def test_it_says_what_it_is(cls: type[Problem]) -> None:
    problem = small(cls)
    assert problem.title and cls.__doc__
    assert problem.domain.n > 0 and problem.m >= 0
    for name, parameter in cls.param.objects().items():
        if name != "name":
            # Param makes up a label where none is given: only the private one tells.
            assert parameter.doc and parameter._label, f"{cls.__name__}.{name} needs a doc and a label"


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
    kept = first.f.copy(), first.h.copy()
    problem.evaluate(inside(problem, 3, 2, seed=5))
    again = problem.evaluate(x)
    np.testing.assert_array_equal(x, before)
    for one, other, old in zip(first, again, kept, strict=True):
        np.testing.assert_array_equal(one, old)
        np.testing.assert_array_equal(other, old)


@EACH_CLASS
def test_a_clone_is_equal_and_independent(cls: type[Problem]) -> None:
    problem = small(cls, noise="independent", noise_scale=0.25)
    twin = problem.clone()
    assert type(twin) is cls and twin is not problem
    mine, its = problem.param.values(), twin.param.values()
    assert {k: v for k, v in mine.items() if k != "name"} == {k: v for k, v in its.items() if k != "name"}
    x = inside(problem, 4)
    np.testing.assert_array_equal(problem.evaluate(x).f, twin.evaluate(x).f)
    np.testing.assert_array_equal(problem.evaluate(x).h, twin.evaluate(x).h)
    twin.noise_scale = 0.5
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
    first = problem.evaluate(x).f
    problem.seed = 7
    np.testing.assert_array_equal(problem.evaluate(x).f, small(cls, seed=7).evaluate(x).f)
    assert (problem.evaluate(x).f != first).all()


@EACH_CLASS
def test_starts_lie_in_the_domain(cls: type[Problem]) -> None:
    problem = small(cls)
    x0 = problem.initial(Streams(3, 50))
    assert x0.shape == (50, problem.domain.n)
    assert problem.domain.distance(x0).max() == 0.0
    np.testing.assert_array_equal(x0, problem.initial(Streams(3, 50)))
    np.testing.assert_array_equal(x0[:4], problem.initial(Streams(3, 4)))


def known(cls: type[Problem], **settings: Any) -> Problem:
    problem = small(cls, **settings)
    optimum = problem.known_optimum
    if optimum is None or not np.isfinite(optimum.point).all():
        pytest.skip("no known point")
    return problem


@EACH_CLASS
@pytest.mark.parametrize("seed", range(4))
def test_the_known_optimum_is_feasible_and_has_its_value(cls: type[Problem], seed: int) -> None:
    problem = known(cls, **({"seed": seed} if "seed" in cls.param else {}))
    optimum = problem.known_optimum
    value = problem.evaluate(optimum.point)
    assert optimum.source and optimum.multipliers.shape == (problem.m,) and (optimum.multipliers >= 0).all()
    assert value.f == pytest.approx(optimum.value, rel=1e-10)
    assert value.h.max(initial=-np.inf) <= 1e-6 and problem.domain.distance(optimum.point) == 0.0
    gradients = problem.gradient(optimum.point)
    if gradients is None:
        return
    slope = gradients[0] + optimum.multipliers @ gradients[1]
    residual = problem.domain.project(optimum.point - slope) - optimum.point
    scale = 1.0 + np.linalg.norm(gradients[0])
    assert np.linalg.norm(residual) <= 1e-7 * scale
    assert abs(optimum.multipliers @ value.h) <= 1e-7 * scale
    measured = problem.metrics(optimum.point[None], optimum.multipliers[None], None)
    assert measured["stationarity"][0] <= 1e-7 * scale
    assert abs(measured["gap"][0]) <= 1e-8 * scale


@pytest.mark.parametrize(
    "cls, seed", [(cls, seed) for cls in PROBLEMS.values() for seed in range(4 if "seed" in cls.param else 1)]
)
def test_no_feasible_sample_is_better_than_the_optimum(cls: type[Problem], seed: int) -> None:
    problem = known(cls, **({"seed": seed} if "seed" in cls.param else {}))
    optimum, rng = problem.known_optimum, np.random.default_rng(seed)
    width = np.abs(optimum.point).max() + 1.0
    around = [optimum.point + s * width * rng.standard_normal((4000, problem.domain.n)) for s in (1.0, 0.1, 1e-2, 1e-4)]
    x = problem.domain.project(np.concatenate([*around, inside(problem, 4000, seed=seed)]))
    # Near an optimum on the constraint, in a corner of the box, only points pulled to another corner are feasible.
    ends = problem.domain.sample(np.array([[0.0], [1.0]]).repeat(problem.domain.n, axis=1))[rng.integers(2, size=5000)]
    x = np.concatenate([x, x[::4] + rng.random((5000, 1)) ** 2 * (ends - x[::4])])
    if getattr(problem, "equations", False):  # no random point satisfies an equation: take the nearest that does
        matrix, offset = problem.matrix()
        x = x - (x @ matrix.T - offset) @ np.linalg.pinv(matrix).T
        x = x[problem.domain.contains(x, 0.0)]
    value = problem.evaluate(x)
    feasible = (value.h <= (1e-12 if getattr(problem, "equations", False) else 0.0)).all(axis=-1)
    assert feasible.sum() > 20
    assert value.f[feasible].min() >= optimum.value - 1e-9 * (1.0 + abs(optimum.value))


def hessians(problem: Problem, x: Array) -> tuple[Array, Array]:
    """(n, n) of f and (m, n, n) of h by differences of the gradients."""
    n, step = x.size, 1e-4 * (1.0 + np.abs(x).max())
    ahead, behind = problem.gradient(x + step * np.eye(n)), problem.gradient(x - step * np.eye(n))
    of_f, of_h = ((a - b) / (2 * step) for a, b in zip(ahead, behind, strict=True))
    return 0.5 * (of_f + of_f.T), np.swapaxes(of_h, 0, 1)


@EACH_CLASS
def test_constants_are_true_bounds(cls: type[Problem]) -> None:
    problem = small(cls)
    constants, gradients = problem.constants, problem.gradient(inside(problem, 1))
    if constants is None or gradients is None:
        pytest.skip("no constants")
    count = int(np.clip(1_000_000 // (problem.m * problem.domain.n), 200, 2000))  # gradients of h fill the memory
    x, z = inside(problem, count), inside(problem, count, seed=1)
    z[::2] = x[::2] + 1e-3 * (z[::2] - x[::2])
    (f_x, h_x), (f_z, h_z) = problem.gradient(x), problem.gradient(z)
    apart = np.linalg.norm(x - z, axis=-1)
    room = 1.0 + 1e-9
    assert (np.linalg.norm(f_x - f_z, axis=-1) <= room * constants.curvature * apart + 1e-9).all()
    assert (np.linalg.norm(h_x - h_z, axis=(-2, -1)) <= room * constants.constraint_curvature * apart + 1e-9).all()
    assert np.linalg.norm(f_x, axis=-1).max() <= room * constants.slope
    assert np.linalg.norm(h_x, axis=(-2, -1)).max() <= room * constants.constraint_slope
    if np.isfinite(constants.weak_convexity):
        monotone = ((f_x - f_z) * (x - z)).sum(axis=-1)
        assert (monotone >= -room * constants.weak_convexity * apart**2 - 1e-9).all()
    for point in x[:3]:
        of_f, of_h = hessians(problem, point)
        weights = np.linalg.eigvalsh(of_f)
        assert np.abs(weights).max() <= constants.curvature * (1.0 + 1e-6)
        assert np.isnan(constants.weak_convexity) or weights[0] >= -constants.weak_convexity - 1e-6 * weights[-1]
        largest = np.sqrt(np.linalg.eigvalsh(np.einsum("jab,jcb->ac", of_h, of_h, optimize=True))[-1])
        assert largest <= constants.constraint_curvature * (1.0 + 1e-6) + 1e-6
    start = np.square(problem.gradient(problem.initial(Streams(0, 2 * count)))[1]).sum(axis=(-2, -1))
    assert constants.start_slope == pytest.approx(np.sqrt(start.mean()), rel=0.05)


@EACH_CLASS
def test_metrics(cls: type[Problem]) -> None:
    problem = small(cls)
    x, y = near_start(problem, 5), np.full((5, problem.m), 0.3)
    value = problem.evaluate(x)
    measured = problem.metrics(x, y, value)
    assert all(column.shape == (5,) for column in measured.values())
    np.testing.assert_allclose(measured["objective"], value.f, rtol=1e-12)
    np.testing.assert_allclose(measured["violation"], np.linalg.norm(np.maximum(value.h, 0), axis=-1), rtol=1e-10)
    if problem.known_optimum is not None:
        np.testing.assert_allclose(measured["gap"], value.f - problem.known_optimum.value, rtol=1e-10)
    gradients = problem.gradient(x)
    assert ("stationarity" in measured) == (problem.analytic and gradients is not None)
    for r in range(5) if "stationarity" in measured else ():
        slope = gradients[0][r] + y[r] @ gradients[1][r]
        projected = np.linalg.norm(problem.domain.project(x[r] - slope) - x[r])
        expected = max(projected, np.linalg.norm(np.maximum(value.h[r], 0)), abs(y[r] @ value.h[r]))
        assert measured["stationarity"][r] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    "seed, value", [(0, -1.327402), (1, -1.370462), (2, -0.762884), (3, -0.918215), (4, -1.827046)]
)
def test_qcqp_optimum_at_n_50(seed: int, value: float) -> None:
    problem = NonconvexQCQP(n=50, seed=seed)
    assert problem.known_optimum.value == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("n", [5, 50])
def test_qcqp_is_indefinite_by_a_tenth_and_strictly_feasible_at_0(n: int) -> None:
    problem = NonconvexQCQP(n=n)
    hessian = problem.gradient(np.eye(n))[0] - problem.gradient(np.zeros((n, n)))[0]
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-9)
    assert np.linalg.eigvalsh(hessian)[0] == pytest.approx(-0.1, abs=1e-9)
    assert problem.evaluate(np.zeros(n)).h.item() == -1.0


def solve(problem: Problem, start: Array) -> tuple[float, Array]:
    """SLSQP's local solution from a start."""
    box = problem.domain
    found = minimize(
        lambda x: float(problem.evaluate(x).f),
        start,
        jac=lambda x: problem.gradient(x)[0],
        bounds=list(zip(box.lower, box.upper, strict=True)),
        constraints={
            "type": "ineq",
            "fun": lambda x: -problem.evaluate(x).h,
            "jac": lambda x: -problem.gradient(x)[1],
        },
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    return float(found.fun), found.x


@pytest.mark.parametrize("seed", [0, 1])
def test_qcqp_optimum_is_the_best_of_many_local_solves(seed: int) -> None:
    problem = NonconvexQCQP(n=10, seed=seed)
    optimum = problem.known_optimum
    assert optimum is not None
    starts = np.random.default_rng(seed).uniform(-1.0, 1.0, (12, 10))
    best, where = min((solve(problem, start) for start in starts), key=lambda pair: pair[0])
    assert best == pytest.approx(optimum.value, rel=1e-6)
    np.testing.assert_allclose(where, optimum.point, atol=1e-3)


def test_qcqp_claims_no_optimum_outside_its_box() -> None:
    wide = NonconvexQCQP(n=10, seed=0)
    edge = np.abs(wide.known_optimum.point).max()
    assert NonconvexQCQP(n=10, seed=0, half_width=1.01 * edge).known_optimum is not None
    assert NonconvexQCQP(n=10, seed=0, half_width=0.99 * edge).known_optimum is None


@pytest.mark.parametrize("seed", [0, 3])
def test_load_tracking_optimum_is_slsqps(seed: int) -> None:
    problem = LoadTracking(n=20, seed=seed)
    best, where = solve(problem, 0.5 * problem.domain.upper)
    optimum = problem.known_optimum
    assert best == pytest.approx(optimum.value, rel=1e-7)
    np.testing.assert_allclose(where, optimum.point, atol=1e-3)
    assert problem.evaluate(optimum.point).h.item() == pytest.approx(0.0, abs=1e-6)


def test_load_tracking_at_its_ends() -> None:
    idle = LoadTracking(n=10, curtailment=0.0)
    assert idle.known_optimum.value == 0.0 and idle.known_optimum.multipliers[0] == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(ValueError, match="Expected a curtailment of at most"):
        _ = LoadTracking(n=10, curtailment=1e5).known_optimum


def test_black_box_default_is_hock_schittkowski_22() -> None:
    problem, point, multipliers = BlackBox(), np.ones(2), np.full(2, 2.0 / 3.0)
    value = problem.evaluate(point)
    assert value.f == problem.known_optimum.value == 1.0 and value.h.tolist() == [0.0, 0.0]
    of_f, of_h = np.array([-2.0, 0.0]), np.array([[1.0, 1.0], [2.0, -1.0]])
    np.testing.assert_allclose(of_f + multipliers @ of_h, 0.0, atol=1e-15)


def test_black_box_point_by_point_equals_vectorised() -> None:
    both, alone = BlackBox(), BlackBox(vectorised=False)
    x = inside(both, 3, 4)
    np.testing.assert_array_equal(both.evaluate(x).f, alone.evaluate(x).f)
    np.testing.assert_array_equal(both.evaluate(x).h, alone.evaluate(x).h)
