"""Rows that hold for every call: the bounds by hand, steps that stay inside, and no call outside on whole courses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from zoviz import Run, minimize
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.problems import BlackBox
from zoviz.solvers import ZOSQP
from zoviz.solvers.sqp import derivatives, elastic_qp
from zoviz.solvers.sqp.elastic_qp import Balls, Linearisation
from zoviz.solvers.sqp.interior import Interior
from zoviz.solvers.sqp.situation import Space, space_of

KEPT = "while searching"


def space(start: Array) -> Space:
    return space_of(Box(np.full(len(start), -4.0), np.full(len(start), 4.0)), start, np.zeros(1))


def taken(interior: Interior, h: Callable[[Array], Any], x: Array) -> Interior:
    """The interior after forward differences of rows h (and f = 0) at x."""
    steps = derivatives.offsets(x, space(x), np.full(len(x), 1e-7), central=False)
    points = derivatives.points(x, steps, space(x))
    base, *values = (np.append(0.0, h(p)) for p in [x, *points])
    values = np.array(values)
    interior = interior.take(points, values)
    return interior.take_slopes(x, base, derivatives.quotients(base, values, steps), steps, np.ones(len(x)))


def disc(x: Array) -> float:
    return float(x @ x - 1.0)


def test_a_curvature_is_taken_from_two_slopes_and_from_what_a_prediction_missed() -> None:
    first = taken(Interior.of(np.array([0])), disc, np.array([0.2, 0.0]))
    assert first.curvature == pytest.approx([0.4], rel=1e-6), "the slope, per unit length, before any is seen"
    point = np.array([0.2, 0.3])
    second = first.take(point[None], np.array([[0.0, disc(point)]]))
    assert second.curvature == pytest.approx([2.5 * 2.0], rel=1e-4), "two and a half times that of x'x"
    third = taken(second, disc, point)
    assert third.curvature == pytest.approx([2.5 * 2.0], rel=1e-4) and third.first == pytest.approx(0.1)


def test_a_way_is_cut_where_the_bound_is_0() -> None:
    # h = x1 - 1 at 0, of slope 1: L = 1, and half of its slope may change, so 1.5 s + s^2 / 2 = 1.
    interior = taken(Interior.of(np.array([0])), lambda x: float(x[0] - 1.0), np.zeros(2))
    assert interior.within(np.array([[2.0, 0.0]]))[0, 0] == pytest.approx(0.05), "the first step goes no farther"
    interior = interior._replace(reach=10.0)
    (cut,) = interior.within(np.array([[2.0, 0.0]]))
    np.testing.assert_allclose(cut, [(-1.5 + np.sqrt(1.5**2 + 2.0)), 0.0], atol=1e-5)
    (inwards,) = interior.within(np.array([[-0.5, 0.0]]))
    np.testing.assert_allclose(inwards, [-0.5, 0.0], atol=1e-12)
    line = interior.line(np.zeros(2), np.array([0.0, -1.0]), np.array([[1.0, 0.0], [2.0, 0.0]]))
    np.testing.assert_allclose(line, [cut / 2.0, cut], atol=1e-9)


def test_differences_turn_to_the_inside_and_are_shorter_in_a_corner() -> None:
    x = np.array([1.0 - 1e-8, 0.0])
    interior = taken(Interior.of(np.array([0])), lambda x: float(x[0] - 1.0), x)
    value = np.array([0.0, x[0] - 1.0])
    usual = derivatives.offsets(x, space(x), np.full(2, 1e-7), central=False)
    turned = interior.offsets(x, value, usual, space(x))
    np.testing.assert_allclose(turned.first, [-1e-7, 1e-7])
    both = derivatives.offsets(x, space(x), np.full(2, 1e-5), central=True)
    inside = interior.offsets(x, value, both, space(x))
    np.testing.assert_allclose(inside.first, [-1e-5, 1e-5])
    np.testing.assert_allclose(inside.second, [-2e-5, -1e-5]), "both to one side along x1"
    start = np.array([1e-9, 0.0])
    corner = taken(Interior.of(np.arange(2)), lambda x: np.array([x[0] - 2e-9, -x[0]]), start)
    shorter = corner.offsets(start, np.array([0.0, -1e-9, -1e-9]), usual, space(x))
    assert abs(shorter.first[0]) < 1e-9, "between two rows"
    assert abs(shorter.first[1]) == pytest.approx(1e-7)


def test_a_step_of_the_programme_ends_on_the_ball() -> None:
    # min y1 with y1 >= -1 by its box, and -0.5 - y1 + y1^2 <= 0 kept: y1 = (1 - sqrt(3)) / 2.
    model = Linearisation(
        np.zeros((2, 2)),
        np.array([1.0, 0.0]),
        np.array([[-1.0, 0.0]]),
        np.array([-0.5]),
        -np.ones(2),
        np.ones(2),
        Balls(np.ones(1), np.ones(2), np.zeros((1, 2))),
    )
    step = elastic_qp.solve(model, 1.0, 1e-12)
    np.testing.assert_allclose(step.d[0], (1.0 - np.sqrt(3.0)) / 2.0, atol=1e-7)
    doubtful = model._replace(balls=Balls(np.zeros(1), np.ones(2), np.array([[1.0, 0.0]])))
    np.testing.assert_allclose(elastic_qp.solve(doubtful, 1.0, 1e-12).d[0], -0.25, atol=1e-7)


class Watched:
    """f and rows of one point, and all rows that were asked for."""

    def __init__(self, f: Callable[[Array], float], *rows: Callable[[Array], float]) -> None:
        self._f, self._rows = f, rows
        self.asked: list[Array] = []

    def __call__(self, x: Array) -> tuple[float, Array]:
        h = np.array([row(x) for row in self._rows])
        self.asked.append(h)
        return self._f(x), h


def tilted(x: Array) -> float:
    return float(-x[0] - 0.3 * x[1])


def wavy(x: Array) -> float:
    return float(x[1] - 0.4 * np.sin(3.0 * x[0]) - 0.2)


def huge(x: Array) -> float:
    return float(1e6 * (x[0] ** 2 + 0.1 * x[1] ** 2 - 1.0))


def tiny(x: Array) -> float:
    return float(1e-6 * (x[1] + x[0] * x[1] - 0.2))


CASES = {
    "disc": (tilted, (disc,), [0.1, 0.2], -np.sqrt(1.09)),
    "nonconvex": (lambda x: float((x[0] - 1.0) ** 2 + (x[1] - 1.0) ** 2), (wavy,), [-1.0, -1.0], None),
    "units": (tilted, (huge, tiny), [0.0, 0.0], None),
}


@pytest.mark.parametrize("case", CASES)
def test_no_call_is_outside_and_the_answer_is_that_of_the_free_method(case: str) -> None:
    f, rows, start, known = CASES[case]
    best = []
    for keep, parallel in ((KEPT, 1), ("", 1), (KEPT, 8)):
        watched = Watched(f, *rows)
        problem = BlackBox(watched, bounds=[(-4, 4)] * 2, x0=start, m=len(rows), joint=True, keep=keep)
        options = {"parallel_calls": parallel} if keep else {}
        result = minimize(problem, max_calls=250, stop="budget", tolerance=0.0, options=options)
        outside = sum((h > 0.0).any() for h in watched.asked)
        assert outside == 0 if keep else outside > 0
        assert result.method == "ZOSQP" and ("no call was outside" in result.message) == bool(keep)
        best.append(result.fun)
    assert best[0] == pytest.approx(best[1] if known is None else known, abs=1e-6) and best[2] == best[0]


def test_some_rows_are_kept_while_others_are_left_on_the_way() -> None:
    watched = Watched(tilted, disc, lambda x: float(x[1] - 0.1 - x[0] ** 2))
    problem = BlackBox(watched, bounds=[(-4, 4)] * 2, x0=[0.0, 0.3], m=2, joint=True, keep=["h1"])
    result = minimize(problem, max_calls=200, stop="budget", tolerance=1e-9)
    asked = np.array(watched.asked)
    assert (asked[:, 0] <= 0.0).all() and (asked[:, 1] > 0.0).any()
    assert result.feasible and result.fun == pytest.approx(-np.sqrt(1.09), abs=1e-6)


def test_a_start_outside_is_refused_before_anything_else_is_asked_for() -> None:
    watched = Watched(tilted, disc)
    named = {"keep": KEPT, "constraint_names": ["radius"]}
    problem = BlackBox(watched, bounds=[(-4, 4)] * 2, x0=[2.0, 0.0], m=1, joint=True, **named)
    with pytest.raises(ValueError, match="Expected a start inside the constraints .* got radius = 3: begin where it"):
        minimize(problem, max_calls=50)
    assert len(watched.asked) == 1
    with pytest.raises(ValueError, match="got radius = 3"):
        Run(problem=problem, solver=ZOSQP(), replicas=2, calls=50).run()


def test_other_methods_refuse_and_an_unknown_name_is_named() -> None:
    problem = BlackBox(Watched(tilted, disc), bounds=[(-4, 4)] * 2, x0=[0.0, 0.0], m=1, joint=True, keep=KEPT)
    with pytest.raises(ValueError, match='keeps constraints "while searching", got COBYLA.* choose ZOSQP'):
        minimize(problem, method="COBYLA", max_calls=20)
    problem.keep = "h2"
    with pytest.raises(ValueError, match="or names of constraints, got 'h2': they are h1"):
        minimize(problem, max_calls=20)


def trajectory(run: Any) -> Array:
    return np.stack([run.trace["objective"], run.trace["violation"]])


def test_a_replay_takes_the_same_course_to_the_bit() -> None:
    problem = BlackBox(Watched(*[tilted, wavy]), bounds=[(-4, 4)] * 2, x0=[-1.0, -1.0], m=1, joint=True, keep=KEPT)
    run = Run(problem=problem, solver=ZOSQP(), replicas=2, calls=150)
    run.run()
    replayed = run.replay()
    replayed.run()
    np.testing.assert_array_equal(trajectory(run), trajectory(replayed))


def test_few_calls_are_outside_under_noise() -> None:
    outside, calls, values = 0, 0, []
    for seed in range(6):
        random, asked = np.random.default_rng(seed), []

        def noisy(x: Array, random: np.random.Generator = random, asked: list[float] = asked) -> tuple[float, Array]:
            asked.append(disc(x))
            return tilted(x) + 0.01 * random.standard_normal(), np.array([disc(x) + 0.01 * random.standard_normal()])

        kept = {"keep": KEPT, "noise": "independent"}
        problem = BlackBox(noisy, bounds=[(-4, 4)] * 2, x0=[0.1, 0.2], m=1, joint=True, **kept)
        result = minimize(problem, max_calls=250, stop="budget", seed=seed)
        outside, calls = outside + sum(h > 0.0 for h in asked), calls + len(asked)
        values.append(tilted(result.x))
        assert "calls around x might be outside" in result.certainty.note
    assert outside <= 0.05 * calls
    assert np.median(values) < -1.0, "the optimum is at -1.044"
