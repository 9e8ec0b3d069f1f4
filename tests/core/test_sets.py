"""Projections against solutions that do not use them: bisection on a multiplier, and a general solver."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq, minimize

from zoviz.core.errors import ZovizError
from zoviz.core.sets import Ball, Box, Halfspace, Product, Set, Simplex
from zoviz.core.types import Array

SETS: dict[str, Set] = {
    "box": Box([-1.0, 0.0, -np.inf, 2.0], [1.0, 0.5, 3.0, np.inf]),
    "point box": Box([0.3, 1.0, -2.0, 0.0], [0.3, 1.0, 2.0, 1.0]),
    "free": Box.free(4),
    "ball": Ball([1.0, -1.0, 0.5, 0.0], 1.5),
    "point ball": Ball([1.0, -1.0, 0.5, 0.0], 0.0),
    "simplex": Simplex(4),
    "big simplex": Simplex(4, 5.0),
    "halfspace": Halfspace([1.0, -2.0, 0.0, 0.5], 0.7),
    "product": Product([Box([0.0], [1.0]), Simplex(2, 2.0), Ball([3.0], 0.5)]),
    "nested": Product([Product([Box([0.0], [1.0]), Box([-1.0], [1.0])]), Halfspace([1.0, 1.0], 0.0)]),
}
EACH_SET = pytest.mark.parametrize("set_", SETS.values(), ids=SETS.keys())


def points(count: int, scale: float = 3.0) -> Array:
    return scale * np.random.default_rng(1).standard_normal((count, 4))


def constraints(set_: Set, start: int = 0) -> list[dict]:
    """The set's definition, spelt for scipy."""
    cut = slice(start, start + set_.n)
    if isinstance(set_, Box):
        sides = [
            *[(i, -1.0, -b) for i, b in enumerate(set_.lower) if np.isfinite(b)],
            *[(i, 1.0, b) for i, b in enumerate(set_.upper) if np.isfinite(b)],
        ]
        return [{"type": "ineq", "fun": lambda x, i=i, s=s, b=b: b - s * x[cut][i]} for i, s, b in sides]
    if isinstance(set_, Ball):
        return [{"type": "ineq", "fun": lambda x: set_.radius**2 - ((x[cut] - set_.centre) ** 2).sum()}]
    if isinstance(set_, Simplex):
        positive = [{"type": "ineq", "fun": lambda x, i=i: x[cut][i]} for i in range(set_.n)]
        return [*positive, {"type": "eq", "fun": lambda x: x[cut].sum() - set_.total}]
    if isinstance(set_, Halfspace):
        return [{"type": "ineq", "fun": lambda x: set_.offset - x[cut] @ set_.normal}]
    assert isinstance(set_, Product)
    out = []
    for factor in set_.factors:
        out += constraints(factor, start)
        start += factor.n
    return out


@pytest.mark.parametrize("name", [name for name in SETS if not name.startswith(("point", "free"))])
def test_projection_is_what_a_general_solver_finds(name: str) -> None:
    set_, places = SETS[name], points(12)
    for i in range(12):
        x = places[i]
        solution = minimize(
            lambda z, x=x: 0.5 * ((z - x) ** 2).sum(),
            set_.sample(np.full(4, 0.4)),
            jac=lambda z, x=x: z - x,
            constraints=constraints(set_),
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        np.testing.assert_allclose(set_.project(x), solution.x, atol=2e-6)


def test_simplex_by_bisection_on_its_threshold() -> None:
    for n, total, scale in ((1, 1.0, 1.0), (3, 1.0, 0.1), (20, 2.5, 5.0), (200, 1.0, 1e3)):
        set_, rng = Simplex(n, total), np.random.default_rng(n)
        for _ in range(20):
            x = scale * rng.standard_normal(n)
            level = brentq(
                lambda t, x=x, s=total: np.maximum(x - t, 0).sum() - s, x.min() - total - 1, x.max(), xtol=1e-14
            )
            np.testing.assert_allclose(set_.project(x), np.maximum(x - level, 0.0), atol=1e-9 * scale)


def test_simplex_with_ties() -> None:
    np.testing.assert_allclose(Simplex(4).project(np.zeros(4)), np.full(4, 0.25))
    np.testing.assert_allclose(Simplex(3).project(np.array([5.0, 5.0, -1.0])), [0.5, 0.5, 0.0])
    np.testing.assert_allclose(Simplex(3).project(np.array([9.0, 0.0, 0.0])), [1.0, 0.0, 0.0])


def test_ball_by_bisection_on_its_multiplier() -> None:
    ball = SETS["ball"]
    assert isinstance(ball, Ball)
    for x in points(20):
        offset = x - ball.centre
        if np.linalg.norm(offset) <= ball.radius:
            np.testing.assert_allclose(ball.project(x), x, rtol=1e-14)
            continue
        lam = brentq(lambda t, o=offset: np.linalg.norm(o / (1 + t)) - ball.radius, 0.0, 1e3, xtol=1e-14)
        np.testing.assert_allclose(ball.project(x), ball.centre + offset / (1 + lam), atol=1e-10)


@EACH_SET
def test_projection_is_the_nearest_of_the_sets_points(set_: Set) -> None:
    inside = set_.sample(np.random.default_rng(2).random((300, 4)))
    places = points(20)
    for i in range(20):
        nearest = set_.project(places[i])
        # The obtuse angle that characterises a projection on a convex set.
        assert ((inside - nearest) @ (places[i] - nearest)).max() <= 1e-9
        assert set_.distance(places[i]) == pytest.approx(np.linalg.norm(places[i] - nearest))


@EACH_SET
def test_idempotent_and_nonexpansive(set_: Set) -> None:
    x, z = points(200), points(200, 0.5) + 0.3
    once = set_.project(x)
    np.testing.assert_allclose(set_.project(once), once, atol=1e-13)
    assert set_.distance(once).max() < 1e-12
    before, after = np.linalg.norm(x - z, axis=1), np.linalg.norm(once - set_.project(z), axis=1)
    assert (after <= before + 1e-12).all()


@EACH_SET
def test_samples_lie_in_the_set(set_: Set) -> None:
    unit = np.random.default_rng(3).random((7, 50, 4))
    unit[0, 0], unit[0, 1] = 0.0, 1.0 - 2.0**-53
    inside = set_.sample(unit)
    assert inside.shape == unit.shape and np.isfinite(inside).all()
    assert set_.distance(inside).max() < 1e-12


@EACH_SET
def test_contains_agrees_with_the_distance(set_: Set) -> None:
    x = points(300, 1.5)
    inside = set_.sample(np.random.default_rng(4).random((300, 4)))
    assert set_.contains(inside, 1e-9).all()
    distance = set_.distance(x)
    assert not set_.contains(x[distance > 1e-3], 1e-4).any()
    assert set_.contains(x[distance <= 1e-3], 1e-3).all()
    assert set_.contains(x.reshape(10, 30, 4), 0.5).shape == (10, 30)


@EACH_SET
def test_leading_axes_are_free(set_: Set) -> None:
    x = points(30).reshape(5, 6, 4)
    assert set_.project(x).shape == (5, 6, 4)
    assert set_.distance(x).shape == (5, 6)
    for i, j in ((0, 0), (4, 5)):
        np.testing.assert_allclose(set_.project(x)[i, j], set_.project(x[i, j]), rtol=1e-14, atol=1e-14)


@EACH_SET
def test_inputs_are_left_alone(set_: Set) -> None:
    x, unit = points(10), np.full((3, 4), 0.2)
    before = x.copy()
    set_.project(x), set_.distance(x), set_.sample(unit)
    np.testing.assert_array_equal(x, before)
    assert (unit == 0.2).all()


@pytest.mark.parametrize("name", ["box", "ball", "simplex", "halfspace", "product"])
def test_nan_stays_nan(name: str) -> None:
    assert np.isnan(SETS[name].project(np.full(4, np.nan))).all()


def test_product_projects_factor_by_factor() -> None:
    product, x = SETS["product"], points(15)
    assert isinstance(product, Product)
    parts = [f.project(part) for f, part in zip(product.factors, (x[:, :1], x[:, 1:3], x[:, 3:]), strict=True)]
    np.testing.assert_array_equal(product.project(x), np.concatenate(parts, axis=1))


def test_separable_only_where_coordinates_project_one_by_one() -> None:
    assert [name for name, set_ in SETS.items() if set_.separable] == ["box", "point box", "free"]
    assert Product([Box.free(2), Box([0.0], [1.0])]).separable


def test_reversed_bounds_say_which_and_ask() -> None:
    with pytest.raises(ValueError, match=r"got lower\[1\] = 2 and upper\[1\] = 1: did you swap"):
        Box([0.0, 2.0], [1.0, 1.0])
    with pytest.raises(ValueError, match="Expected lower <= upper for each variable"):
        Box([0.0, np.nan], [1.0, 1.0])


def test_what_cannot_be_a_set_says_why() -> None:
    with pytest.raises(ValueError, match="radius >= 0, got -1"):
        Ball([0.0], -1.0)
    with pytest.raises(ValueError, match="radius >= 0, got nan"):
        Ball([0.0], np.nan)
    with pytest.raises(ValueError, match="total > 0, got 0"):
        Simplex(3, 0.0)
    with pytest.raises(ValueError, match="non-zero, got all zeros"):
        Halfspace([0.0, 0.0], 1.0)


def test_who_needs_a_box_says_so() -> None:
    assert Box.of(SETS["box"]) is SETS["box"]
    with pytest.raises(ZovizError, match="Expected a box as domain, got a Ball: choose another solver"):
        Box.of(SETS["ball"])


def test_a_box_knows_which_coordinates_its_bounds_fix() -> None:
    box = Box([0.0, 0.5, -np.inf], [1.0, 0.5, 2.0])
    assert box.variable.tolist() == [True, False, True]
    np.testing.assert_array_equal(box.embed(np.array([[0.1, 0.2], [0.3, 0.4]])), [[0.1, 0.5, 0.2], [0.3, 0.5, 0.4]])
