"""Drawings of designs: which problem has which, true to scale, and the constraints that are at their limit marked."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.problems import PressureVessel, SpeedReducer, Spring, WeldedBeam
from zoviz.problems.engineering.base import DesignProblem
from zoviz.solvers import ZOCEG
from zoviz.views.pictures.base import Picture, PictureCard
from zoviz.views.pictures.designs.base import STEEL, WELD, DesignPicture, State, disc, half_ring, states
from zoviz.views.pictures.designs.beam_drawing import BeamDrawing
from zoviz.views.pictures.designs.spring_section import SpringSection
from zoviz.views.pictures.designs.vessel_section import VesselSection

PICTURES = discover("zoviz.views.pictures", Picture)
DRAWN = [(PressureVessel, VesselSection), (WeldedBeam, BeamDrawing), (Spring, SpringSection)]


def area(x: Array, y: Array) -> float:
    """Of a polygon, by the shoelace formula."""
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2.0


@pytest.mark.parametrize(("problem", "kind"), [*DRAWN, (SpeedReducer, None)])
def test_each_design_has_its_drawing(problem: type[DesignProblem], kind: type[DesignPicture] | None) -> None:
    assert [one for one in PICTURES.values() if one.draws(problem())] == ([] if kind is None else [kind])


@pytest.mark.parametrize(("problem", "kind"), DRAWN)
def test_the_best_known_design_is_at_its_active_constraints(
    problem: type[DesignProblem], kind: type[DesignPicture]
) -> None:
    best = problem().known_optimum
    stands = states(problem(), best.point)
    assert {j for j, state in enumerate(stands) if state is not State.WITHIN} >= set(problem.active)
    assert all(stands[j] is State.AT for j in problem.active)
    picture = kind()
    picture.update(problem(), best.point[None])
    drawn = picture.drawing.data
    for x, y, dashed_x in zip(drawn["xs"], drawn["ys"], picture.best.data["xs"], strict=True):
        np.testing.assert_array_equal(np.append(x, x[0]), dashed_x)
        assert np.isfinite(y).all()
    assert len(picture.marks.data["x"]) == problem.m
    assert [item.label.value.startswith(f"{j + 1} ") for j, item in enumerate(picture.words)] == [True] * problem.m
    assert picture.figure.match_aspect


def test_states_know_no_unit() -> None:
    """The weld that is to be no thicker than the beam is wide, half a per cent of the box from that and beyond."""
    problem = WeldedBeam()
    x = np.array([0.5, 4.0, 8.0, 0.5])
    width = 1.9 + 1.9  # of x1 and of x4, in which the third constraint x1 - x4 <= 0 is
    for share, state in ((0.0, State.AT), (0.004, State.AT), (0.006, State.BEYOND), (-0.006, State.WITHIN)):
        assert states(problem, x + [share * width, 0.0, 0.0, 0.0])[2] is state, share


def test_the_vessels_drawing_has_its_measures() -> None:
    x = np.array([2.0, 1.0, 30.0, 50.0])
    parts = VesselSection.parts(x)
    steel = sum(area(part.x, part.y) for part in parts if part.colour == STEEL)
    exact = 2.0 * 50.0 * 2.0 + np.pi * (31.0**2 - 30.0**2)
    assert steel == pytest.approx(exact, rel=2e-3)
    assert min(part.x.min() for part in parts) == pytest.approx(-31.0) and max(
        part.x.max() for part in parts
    ) == pytest.approx(81.0)


def test_the_beams_drawing_has_its_measures() -> None:
    x = np.array([0.5, 4.0, 8.0, 1.5])
    parts = BeamDrawing.parts(x)
    beam, section = (part for part in parts if part.colour == STEEL)
    assert np.ptp(beam.x) == 18.0 and np.ptp(beam.y) == 8.0 and np.ptp(section.x) == 1.5 and np.ptp(section.y) == 8.0
    assert [round(area(part.x, part.y), 9) for part in parts if part.colour == WELD] == [2.0, 2.0, 0.125, 0.125]


def test_the_springs_drawing_has_each_coil_twice() -> None:
    parts = SpringSection.parts(np.array([0.1, 0.5, 7.2]))
    assert len(parts) == 16
    assert {round(float(np.ptp(part.x)), 9) for part in parts} == {0.1}
    middles = {round(float(part.y.mean()), 9) for part in parts}
    assert middles == {0.25, -0.25}


def test_shapes() -> None:
    ring = half_ring(3.0, 1.0, 2.0, -1)
    assert ring.x.max() == pytest.approx(3.0) and ring.x.min() == pytest.approx(1.0, abs=1e-2)
    assert area(ring.x, ring.y) == pytest.approx(0.5 * np.pi * 3.0, rel=2e-3)
    assert area(*disc(0.0, 0.0, 2.0)[:2]) == pytest.approx(4.0 * np.pi, rel=5e-3)


def test_a_runs_design_is_drawn_in_the_problems_units() -> None:
    """A design problem is scaled: its solver sees variables between 0 and 1."""
    run = Run(WeldedBeam(), ZOCEG(), replicas=2, iterations=20)
    run.run()
    card = PictureCard()
    card.update(run)
    assert isinstance(card.picture, BeamDrawing) and run.units is not None
    beam = card.picture.drawing.data["xs"][1]
    assert np.ptp(beam) == pytest.approx(run.units.point(run.state.x)[0][1] + 14.0)
