"""The picture of the toy of Gramacy and others: what is greyed is infeasible, and the marks stand where they belong."""

from __future__ import annotations

import numpy as np

from zoviz.core.registry import discover
from zoviz.problems import Gramacy, NonconvexQCQP
from zoviz.views.pictures.base import Picture
from zoviz.views.pictures.unit_square import CELLS, UnitSquare


def test_only_the_toy_has_this_picture() -> None:
    kinds = discover("zoviz.views.pictures", Picture).values()
    assert [kind for kind in kinds if kind.draws(Gramacy())] == [UnitSquare]
    assert not UnitSquare.draws(NonconvexQCQP())


def test_grey_cells_are_the_infeasible_ones_and_marks_are_optimum_and_iterate() -> None:
    problem, picture = Gramacy(), UnitSquare()
    path = np.array([[0.9, 0.9], [0.5, 0.6], [0.25, 0.45]])
    picture.update(problem, path)
    grey, level = picture.image.data["outside"][0], picture.image.data["value"][0]
    for row, cell in ((5, 70), (40, 20), (72, 72), (33, 16)):
        x = (np.array([cell, row]) + 0.5) / CELLS
        value = problem.evaluate(x)
        assert grey[row, cell] == float((value.h > 0).any()) and level[row, cell] == value.f
    assert 0.0 < grey.mean() < 1.0
    ends = np.stack([picture.ends.data["x"], picture.ends.data["y"]], axis=1)
    np.testing.assert_allclose(ends, [problem.known_optimum.point, path[-1]])
    np.testing.assert_array_equal(picture.path.data["y"], path[:, 1])
