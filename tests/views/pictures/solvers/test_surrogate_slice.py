"""The picture of a surrogate: whose it is, what it draws, its words in the first design, and user's units."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.registry import discover
from zoviz.core.types import Array
from zoviz.problems import BlackBox, Gramacy
from zoviz.solvers import SCBO, ZOSQP, ConstrainedEI
from zoviz.solvers.bayesian.model_slice import ModelSlice
from zoviz.views.pictures.base import Picture
from zoviz.views.pictures.solvers.surrogate_slice import SurrogateSlice, scaled

pytest.importorskip("botorch", reason='python -m pip install "zoviz[bo]"')


def drawn(run: Run, picture: SurrogateSlice) -> ModelSlice | None:
    newest = picture.data(run)
    assert newest is not None
    drawing = picture.prepare(run.initial.solver.clone(), newest[1])
    picture.update(run.initial.solver, drawing)
    return drawing[0]


def made(problem: object, calls: int) -> Run:
    run = Run(problem, ConstrainedEI(initial_points=4, candidates=40, restarts=1), replicas=2, calls=calls)
    run.run()
    return run


def test_it_is_the_picture_of_bayesian_methods_alone() -> None:
    kinds = discover("zoviz.views.pictures", Picture).values()
    assert [kind for kind in kinds if kind.draws(SCBO())] == [SurrogateSlice]
    assert not SurrogateSlice.draws(ZOSQP())


def test_the_first_design_has_words_only_and_a_model_a_band_and_two_points() -> None:
    picture = SurrogateSlice()
    assert drawn(made(Gramacy(), 3), picture) is None
    assert "first design" in picture.figure.title.text and not picture.incumbent.visible and not picture.drawn
    run = made(Gramacy(), 7)
    model = drawn(run, picture)
    curves = picture.curves.data
    np.testing.assert_allclose(curves["high"] - curves["low"], 4.0 * model.deviation)
    assert (picture.incumbent.location, picture.following.location) == (0.0, 1.0)
    assert picture.drawn and picture.incumbent.visible and "Surrogate of 7: f " in picture.figure.title.text
    picture.along = 9
    assert picture.data(run)[0] != (run.progress.iteration, 0, 0)
    assert drawn(run, picture).variable == 1, "a number too high means the last"
    assert picture.figure.xaxis[0].axis_label.startswith("x2")


def thousands(x: Array) -> Array:
    return 5000.0 + 1000.0 * x.sum(axis=-1)


def test_a_scaled_problem_is_drawn_in_the_users_units() -> None:
    problem = BlackBox(thousands, bounds=[(0.0, 1.0)] * 2, vectorised=True)
    picture = SurrogateSlice()
    drawn(made(problem, 16), picture)
    assert 4000.0 < picture.curves.data["mean"].min() < picture.curves.data["mean"].max() < 8000.0


def test_an_acquisition_is_scaled_to_its_range_and_cut_far_below_its_best() -> None:
    np.testing.assert_allclose(scaled(np.array([0.0, 1.0, 2.0])), [0.0, 0.5, 1.0])
    np.testing.assert_allclose(scaled(np.array([-1e9, -10.0, 0.0, -np.inf])), [0.0, 0.5, 1.0, 0.0])
    np.testing.assert_array_equal(scaled(np.ones(3)), np.zeros(3))
    assert np.isnan(scaled(np.full(3, np.nan))).all()
