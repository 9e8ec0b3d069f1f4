"""The picture of a solver's region and last batch: whose it is, what it draws, and that a run is the same with it."""

from __future__ import annotations

import numpy as np
import pytest

from helpers.waiting import until
from zoviz import Run
from zoviz.core.registry import discover
from zoviz.core.types import Sketch
from zoviz.problems import BlackBox, PressureVessel
from zoviz.solvers import ALSPG, SLSQP, ZOSPLM, ZOSQP, Portfolio
from zoviz.views.pictures.base import Picture, PictureCard
from zoviz.views.pictures.solvers.step_region import StepRegion


@pytest.mark.parametrize(
    "solver, kinds",
    [
        (ZOSQP(), [StepRegion]),
        (ALSPG(), [StepRegion]),
        (Portfolio(), [StepRegion]),
        (Portfolio(first=SLSQP(), members=1), []),
        (ZOSPLM(), []),
    ],
)
def test_solvers_with_a_region_have_its_picture(solver, kinds) -> None:
    assert [kind for kind in discover("zoviz.views.pictures", Picture).values() if kind.draws(solver)] == kinds


def test_the_card_shows_the_region_of_one_solver_and_nothing_of_another() -> None:
    card = PictureCard("solver")
    run = Run(problem=PressureVessel(), solver=ZOSQP(), replicas=2, calls=60)
    run.run()
    card.update(run)
    assert card.visible and isinstance(card.picture, StepRegion)
    sketch, picture = run.sketch, card.picture
    np.testing.assert_array_equal(picture.region.data["right"], sketch.reach[:1])
    np.testing.assert_array_equal(picture.points.data["y"], sketch.points[:, 1] - sketch.centre[1])
    other = Run(problem=PressureVessel(), solver=ZOSPLM(), replicas=1, iterations=2)
    other.run()
    card.update(other)
    assert not card.visible and other.sketch is None


def test_variables_are_chosen_and_a_number_too_high_means_the_last() -> None:
    picture, rng = StepRegion(horizontal=3, vertical=9), np.random.default_rng(0)
    sketch = Sketch(rng.standard_normal(4), rng.uniform(1.0, 2.0, 4), rng.standard_normal((5, 4)), "design")
    picture.update(ZOSQP(), sketch)
    assert picture.region.data["left"] == [-sketch.reach[2]] and picture.region.data["top"] == [sketch.reach[3]]
    np.testing.assert_array_equal(picture.points.data["x"], (sketch.points - sketch.centre)[:, 2])
    labels = [axis.axis_label for axis in picture.figure.axis]
    assert labels == [f"x3 − {sketch.centre[2]:.6g}", f"x4 − {sketch.centre[3]:.6g}"]
    assert picture.figure.title.text.endswith("design, 5 points")
    picture.update(ZOSQP(), None)
    assert not len(picture.points.data["x"]) and not len(picture.region.data["left"])


def test_the_picture_follows_a_steered_radius_also_while_the_run_holds() -> None:
    run = Run(problem=PressureVessel(noise="independent", noise_scale=1e-2), solver=ZOSQP(), replicas=1, calls=10**6)
    card = PictureCard("solver")
    run.start(steps=12)
    until(lambda: run.status == "paused")
    for _ in range(8):
        card.update(run)
    before = card.picture.region.data["right"][0]
    run.solver.trust_scale = 4.0
    until(lambda: len(run.journal) == 1)
    for _ in range(8):
        card.update(run)
    assert card.picture.region.data["right"][0] == pytest.approx(4.0 * before, rel=1e-12)
    run.step()
    until(lambda: run.progress.iteration == 13 and run.status == "paused")
    radius = run.trace["trust_radius"]
    run.stop()
    run.wait()
    assert radius[13, 0] > 2.0 * radius[12, 0]


def test_a_run_is_the_same_to_the_bit_with_a_viewer() -> None:
    problem = PressureVessel(noise="independent", noise_scale=1e-2)
    alone, watched = (Run(problem=problem, solver=ZOSQP(), replicas=2, calls=50, seed=3) for _ in range(2))
    alone.run()
    card, centres = PictureCard("solver"), []

    def look() -> None:
        card.update(watched)
        centres.append(watched.sketch.centre)

    watched.run(look)
    assert len(centres) == watched.progress.iteration and not np.array_equal(centres[0], centres[-1])
    columns = watched.trace.snapshot().columns
    assert columns.keys() == alone.trace.snapshot().columns.keys()
    for name in columns.keys() - {"seconds"}:
        np.testing.assert_array_equal(columns[name], alone.trace[name])


def test_a_black_box_is_drawn_in_the_user_s_units() -> None:
    box = BlackBox(lambda x: float(x @ x) * 1e4, bounds=[(100.0, 900.0), (0.0, 1e-3)], x0=[500.0, 5e-4])
    run = Run(problem=box, solver=ZOSQP(), replicas=1, iterations=2)
    run.run()
    sketch = run.sketch
    assert run.units is not None and sketch.purpose == "differences" and len(sketch.points) == 2
    np.testing.assert_allclose(sketch.centre, [500.0, 5e-4], rtol=1e-12)
    np.testing.assert_allclose(sketch.reach, [400.0, 5e-4], rtol=1e-9)
    np.testing.assert_allclose(sketch.points, np.tile(sketch.centre, (2, 1)), rtol=1e-4)
