"""The picture of problems in two variables: what is infeasible is grey, and marks stand where they belong."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.problems import BlackBox, Gramacy, LoadTracking, NonconvexQCQP, QuadraticBilevel
from zoviz.problems.base import Problem
from zoviz.solvers import ZOCEG
from zoviz.views.pictures.base import Picture, PictureCard
from zoviz.views.pictures.loads import Loads
from zoviz.views.pictures.quadratic_slice import QuadraticSlice
from zoviz.views.pictures.two_variables import CELLS, TwoVariables, rectangle_around


def drawn(problem: Problem, path: Array) -> TwoVariables:
    """The picture of a path."""
    picture = TwoVariables()
    picture.update(problem, picture.prepare(problem, path))
    return picture


def test_problems_in_two_variables_without_a_picture_of_their_own_have_this_one() -> None:
    kinds = discover("zoviz.views.pictures", Picture).values()
    assert [kind for kind in kinds if kind.draws(Gramacy())] == [TwoVariables]
    assert TwoVariables.draws(BlackBox()) and not TwoVariables.draws(NonconvexQCQP(n=3))
    assert not TwoVariables.draws(QuadraticBilevel()) and not TwoVariables.draws(ZOCEG())
    for problem, own in ((LoadTracking(n=2), Loads), (NonconvexQCQP(n=2), QuadraticSlice)):
        run = Run(problem, ZOCEG(), replicas=1, iterations=2)
        run.run()
        card = PictureCard()
        card.update(run)
        assert isinstance(card.picture, own) and TwoVariables.draws(problem)


def test_grey_cells_are_the_infeasible_ones_and_marks_are_start_iterate_and_optimum() -> None:
    problem = Gramacy()
    path = np.array([[0.9, 0.9], [0.5, 0.6], [0.25, 0.45]])
    picture = drawn(problem, path)
    grey, level = picture.image.data["outside"][0], picture.image.data["value"][0]
    for row, cell in ((5, 60), (40, 20), (62, 62), (33, 16)):
        x = (np.array([cell, row]) + 0.5) / CELLS
        value = problem.evaluate(x)
        assert grey[row, cell] == float((value.h > 0).any()) and level[row, cell] == value.f
    assert 0.0 < grey.mean() < 1.0
    for name, point in (("start", path[0]), ("now", path[-1]), ("optimum", problem.known_optimum.point)):
        np.testing.assert_allclose([picture.ends[name].data[axis][0] for axis in "xy"], point)
    np.testing.assert_array_equal(picture.path.data["y"], path[:, 1])


def test_contours_and_boundary_are_where_f_and_h_are_constant() -> None:
    problem = Gramacy()
    picture = drawn(problem, np.array([[0.9, 0.9], [0.25, 0.45]]))
    for x, y in zip(picture.contours.data["xs"], picture.contours.data["ys"], strict=True):
        assert np.ptp(x + y) < 1e-9, "the objective is x1 + x2"
    edges = np.concatenate([np.stack(line, axis=1) for line in zip(*picture.boundary.data.values(), strict=True)])
    assert np.abs(problem.evaluate(edges).h).min(axis=1).max() < 0.1


def test_of_a_persons_function_there_is_the_path_alone() -> None:
    calls = []

    def objective(x: Array) -> float:
        calls.append(x)
        return float(x @ x)

    problem = BlackBox(objective, lambda x: np.array([x[0]]), bounds=[(-1.0, 1.0)] * 2)
    before = len(calls)
    picture = drawn(problem, np.array([[0.5, 0.5], [-0.5, 0.0]]))
    assert len(calls) == before and np.isnan(picture.image.data["value"][0]).all()
    assert picture.image.data["x"] == [-1.0] and picture.image.data["w"] == [2.0]
    assert picture.ends["now"].data["x"][0] == -0.5 and not len(picture.ends["optimum"].data["x"])


class Plane(Gramacy):
    """The toy without an end above."""

    __abstract = True
    upper = (np.inf, np.inf)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 300.0])
def test_without_a_box_it_shows_what_the_points_span_and_rarely_changes(scale: float) -> None:
    points = scale * np.array([[1.0, 2.0], [1.7, 2.2]])
    corner, widths = rectangle_around(Plane(), points)
    assert (corner >= 0.0).all() and (corner <= points).all() and (corner + widths >= points).all()
    assert (widths <= 4.0 * np.ptp(points, axis=0)).all()
    moved = rectangle_around(Plane(), np.concatenate([points, points[-1:] + 1e-4 * scale]))
    np.testing.assert_array_equal(moved, [corner, widths])
