"""Pictures of problems: which is chosen, what it draws, and the path that a run keeps for it."""

from __future__ import annotations

import numpy as np
import pytest
from bokeh.models.annotations import Title

from zoviz import Run
from zoviz.core.registry import discover
from zoviz.core.streams import Streams
from zoviz.problems import BlackBox, LoadTracking, NonconvexQCQP
from zoviz.runs.engine.history import PATH_POINTS
from zoviz.solvers import ZOCEG, ZOSPLM
from zoviz.views.common.figure_frame import EVERY
from zoviz.views.pictures.base import Picture, PictureCard
from zoviz.views.pictures.loads import Loads
from zoviz.views.pictures.quadratic_slice import CELLS, QuadraticSlice, plane, rectangle

PICTURES = discover("zoviz.views.pictures", Picture)
HIGHER = BlackBox(lambda x: float(x @ x), bounds=[(-1.0, 1.0)] * 3)


@pytest.mark.parametrize(
    "problem, kind", [(LoadTracking(n=5), Loads), (NonconvexQCQP(n=6), QuadraticSlice), (HIGHER, None)]
)
def test_each_problem_has_its_picture(problem, kind) -> None:
    fitting = [cls for cls in PICTURES.values() if cls.draws(problem)]
    assert fitting == ([] if kind is None else [kind])


def test_the_plane_holds_the_three_points() -> None:
    optimum, start, now = np.random.default_rng(1).standard_normal((3, 7))
    along, across = plane(optimum, start, now)
    basis = np.stack([along, across])
    np.testing.assert_allclose(basis @ basis.T, np.eye(2), atol=1e-12)
    for point in (start, now):
        np.testing.assert_allclose(optimum + basis.T @ (basis @ (point - optimum)), point, atol=1e-12)


def test_points_on_a_line_still_span_a_plane() -> None:
    optimum = np.array([1.0, 2.0, 3.0])
    for start, now in [(optimum + 1.0, optimum + 2.0), (optimum, optimum), (optimum + 1.0, optimum)]:
        along, across = plane(optimum, start, now)
        assert np.linalg.norm(along) == pytest.approx(1) and np.linalg.norm(across) == pytest.approx(1)
        assert abs(along @ across) < 1e-12


def test_a_slice_shows_f_where_it_says() -> None:
    problem = NonconvexQCQP(n=5, seed=2)
    picture, optimum = QuadraticSlice(), problem.known_optimum
    path = np.random.default_rng(0).uniform(-1, 1, (6, 5))
    picture.update(problem, path)
    data = picture.image.data
    along, across = plane(optimum.point, path[0], path[-1])
    at = lambda i, size, start: start + size * (i + 0.5) / CELLS  # noqa: E731
    for row, column in [(3, 40), (CELLS - 1, 0)]:
        x, y = at(column, data["w"][0], data["x"][0]), at(row, data["h"][0], data["y"][0])
        point = optimum.point + x * along + y * across
        value = problem.evaluate(point)
        assert data["value"][0][row, column] == pytest.approx(np.log10(abs(value.f - optimum.value)), abs=1e-9)
        assert data["outside"][0][row, column] == float(value.h[0] > 0 or np.abs(point).max() > 10)
    newest = np.array([picture.path.data["x"][-1], picture.path.data["y"][-1]])
    np.testing.assert_allclose(optimum.point + newest @ np.stack([along, across]), path[-1], atol=1e-10)


def test_a_picture_comes_to_the_page_once_something_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    run = Run(NonconvexQCQP(n=6), ZOSPLM(), replicas=1, iterations=3)
    run.run()
    card = PictureCard()
    with monkeypatch.context() as context:
        context.setattr(QuadraticSlice, "data", lambda self, run: None)
        card.update(run)
        assert not card.visible and card.picture is not None
    card.update(run)
    assert card.visible and card.picture.drawn


@pytest.mark.parametrize("across", [0.0, 2e-4, 3.0, 1e3])
def test_a_slice_has_equal_scales_and_everything_in_it(across: float) -> None:
    """Where they differed, a step of 0.0002 beside a way of 5 was a zigzag over the whole height."""
    x, y = np.array([5.0, 2.0, 1e-3]), across * np.array([0.0, 1.0, -0.5])
    corner, widths = rectangle(x, y)
    assert widths[0] / widths[1] == pytest.approx(1.6)
    for axis, values in enumerate((x, y, [0.0], [0.0])):
        side = axis % 2
        assert corner[side] <= np.min(values) and np.max(values) <= corner[side] + widths[side]
    assert QuadraticSlice().figure.match_aspect


def test_a_picture_says_of_which_run_it_is() -> None:
    card, run = PictureCard(), Run(NonconvexQCQP(n=4), ZOCEG(), replicas=1, iterations=2)
    run.run()
    card.update(run, "mine")
    assert card.picture is not None
    texts = [one.text for one in card.picture.figure.above if isinstance(one, Title)]
    assert texts == ["mine, replica 1"]
    card.update(run, "yours")
    assert [one.text for one in card.picture.figure.above if isinstance(one, Title)] == ["yours, replica 1"]


def test_the_card_follows_the_run() -> None:
    card = PictureCard()
    card.update(None)
    assert not card.visible
    run = Run(problem=LoadTracking(n=6), solver=ZOCEG(), replicas=2, iterations=20)
    run.run()
    for _ in range(EVERY):
        card.update(run)
    assert card.visible and isinstance(card.picture, Loads)
    order = np.argsort(run.problem.data.upper)
    np.testing.assert_array_equal(card.picture.bars.data["load"], run.state.x[0][order])
    other = Run(problem=HIGHER, solver=ZOCEG(), replicas=1, iterations=2)
    other.run()
    card.update(other)
    assert not card.visible and card.picture is None
    card.update(run)
    assert card.visible and isinstance(card.picture, Loads)


def test_a_picture_that_is_made_ahead_waits_for_its_look() -> None:
    """Also where another run has come before that look: each is on the page with its own widgets."""
    card = PictureCard()
    first = Run(LoadTracking(n=5), ZOCEG(), replicas=1, iterations=2)
    second = Run(NonconvexQCQP(n=6), ZOCEG(), replicas=1, iterations=2)
    for run in (first, second):
        run.run()
        card.prepare(run)
    assert card.picture is None and not card.visible and len(card.__panel__()) == 0
    pictures = []
    for run in (second, first, second):
        card.update(run)
        pictures.append(card.picture)
        shown = [pane for pane in card.__panel__() if pane.visible]
        assert [pane[0].object for pane in shown if hasattr(pane[0], "object")] in ([], [card.picture.figure])
        assert len(shown) == 1
    assert pictures[0] is pictures[2] is not pictures[1] and len(card.__panel__()) == 2


def test_a_run_keeps_a_bounded_path_of_its_first_replica() -> None:
    run = Run(problem=NonconvexQCQP(n=3), solver=ZOSPLM(), replicas=2, iterations=700, seed=4)
    run.run()
    path = run.path.snapshot().columns
    assert len(path["x"]) <= PATH_POINTS and path["iteration"][0] == 0 and path["iteration"][-1] >= 696
    again = Run(problem=NonconvexQCQP(n=3), solver=ZOSPLM(), replicas=2, iterations=int(path["iteration"][100]), seed=4)
    again.run()
    np.testing.assert_array_equal(path["x"][100], again.state.x[0])


def test_a_feeders_laterals_do_not_cross() -> None:
    pytest.importorskip("power_grid_model", reason='python -m pip install "zoviz[grid]"')
    from zoviz.problems import ACLoadTracking
    from zoviz.views.pictures.feeder_map import FeederMap, rows

    problem = ACLoadTracking()
    feeder, picture = problem.feeder, FeederMap()
    row, at = rows(feeder), feeder.distance
    spots = set(zip(at.tolist(), row.tolist(), strict=True))
    assert len(spots) == len(feeder.buses) == 141, "each bus has a place of its own"
    near, far = feeder.edges.T
    for a, b in zip(near, far, strict=True):
        level = row == row[b]
        assert not (level & (at > at[a]) & (at < at[b])).any(), "no other bus stands on a branch"
    x = problem.initial(Streams(0, 1))
    picture.update(problem, x)
    data = picture.buses.data
    np.testing.assert_array_equal(data["voltage"], problem.voltages(x)[0])
    total = (feeder.active.sum() - x[0, : len(feeder.load_buses)].sum()) * feeder.base / 1e3
    assert data["load"].sum() == pytest.approx(total)


def test_a_slice_has_its_contours_and_the_boundary_of_the_feasible_part() -> None:
    problem = NonconvexQCQP(n=5, seed=2)
    picture, optimum = QuadraticSlice(), problem.known_optimum
    path = np.random.default_rng(0).uniform(-6, 6, (6, 5))
    picture.update(problem, path)
    directions = np.stack(plane(optimum.point, path[0], path[-1]))
    assert picture.contours.data["xs"] and picture.boundary.data["xs"]
    cells = np.array([picture.image.data["w"][0], picture.image.data["h"][0]]) / CELLS
    around = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]) * cells
    for x, y in zip(picture.boundary.data["xs"], picture.boundary.data["ys"], strict=True):
        beside = np.stack([x, y], axis=-1)[:, None] + around
        h = problem.evaluate(optimum.point + beside @ directions).h[..., 0]
        assert (h.min(axis=1) <= 0).all() and (h.max(axis=1) >= 0).all(), "it parts feasible points from others"
    assert picture.ends.data["name"] == ["optimum", "start", "now"]
    assert picture.ends.data["x"][1] == picture.path.data["x"][0]
