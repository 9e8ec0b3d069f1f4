"""Runs of a user's black box, in all its forms, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.errors import OracleError
from zoviz.core.sets import Ball
from zoviz.core.types import Array
from zoviz.estimators import Sphere
from zoviz.problems import BlackBox, LoadTracking, Problem
from zoviz.solvers import ZOBCEG, ZOCEG, ZOSPLM, Solver

# --- a user's black box -----------------------------------------------------------------------------------------------


def f_at(x: Array) -> Any:
    return (x[..., 0] - 2.0) * (x[..., 0] - 2.0) + (x[..., 1] - 1.0) * (x[..., 1] - 1.0)


def h_first(x: Array) -> Any:
    return x[..., 0] + x[..., 1] - 2.0


def h_second(x: Array) -> Any:
    return x[..., 0] * x[..., 0] - x[..., 1]


def h_both(x: Array) -> Array:
    return np.stack([h_first(x), h_second(x)], axis=-1)


BOX = [(-4.0, 4.0), (-4.0, 4.0)]
FORMS = {
    "one point at a time": BlackBox(f_at, h_both, bounds=BOX),
    "vectorised": BlackBox(f_at, h_both, bounds=BOX, vectorised=True),
    "joint": BlackBox(lambda x: (f_at(x), h_both(x)), bounds=BOX, joint=True, m=2),
    "joint, vectorised": BlackBox(lambda x: (f_at(x), h_both(x)), bounds=BOX, joint=True, m=2, vectorised=True),
    "list of constraints": BlackBox(f_at, [h_first, h_second], bounds=BOX),
    "list, vectorised": BlackBox(f_at, (h_first, h_second), bounds=BOX, vectorised=True),
    "floats and lists": BlackBox(
        lambda x: float(f_at(x)), lambda x: [float(h_first(x)), float(h_second(x))], bounds=BOX
    ),
}


@pytest.mark.parametrize(
    ("solver", "iterations"),
    [(ZOCEG(), 250), (ZOSPLM(estimator=Sphere(smoothing_radius=None, batch_size=10)), 50)],
    ids=["ZOCEG", "ZO-SPLM"],
)
def test_all_forms_of_a_black_box_agree(solver: Solver, iterations: int) -> None:
    results = {
        form: Run(problem=problem, solver=solver, replicas=3, iterations=iterations, seed=4).run()
        for form, problem in FORMS.items()
    }
    expected = results["vectorised"]
    for form, result in results.items():
        np.testing.assert_allclose(result.x, expected.x, rtol=1e-6, atol=1e-7, err_msg=form)
        # Point by point none is asked for twice.
        assert (result.calls <= expected.calls).all() and (result.calls > 0.9 * expected.calls).all()
    if isinstance(solver, ZOCEG):
        np.testing.assert_allclose(expected.x, 1.0, atol=0.02)
        np.testing.assert_allclose(expected.best_fun, 1.0, atol=0.05)


def test_one_constraint_may_be_a_number() -> None:
    number, row, vectorised = (
        Run(problem=problem, solver=ZOCEG(), replicas=2, iterations=50).run().x
        for problem in (
            BlackBox(f_at, h_first, bounds=BOX),
            BlackBox(f_at, lambda x: h_first(x)[..., None], bounds=BOX),
            BlackBox(f_at, h_first, bounds=BOX, vectorised=True),
        )
    )
    np.testing.assert_allclose(row, number, rtol=1e-9)
    np.testing.assert_allclose(vectorised, number, rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: BlackBox(f_at, bounds=[(1, 0), (0, 1)]), "Expected lower <= upper.*did you swap"),
        (
            lambda: BlackBox(f_at, bounds=BOX, x0=[5.0, 0.0]),
            r"Expected x0 inside the bounds, got x0\[0\] = 5.0 outside",
        ),
        (lambda: BlackBox(f_at, bounds=BOX, x0=[np.nan, 0.0]), r"Expected x0 inside the bounds, got x0\[0\] = nan"),
        (lambda: BlackBox(f_at, bounds=BOX, x0=[0.0]), r"got x0 of shape \(1,\) and 2 pairs of bounds: give as many"),
        (lambda: BlackBox(f_at, bounds=BOX[:1], x0=[0.0, 0.0]), r"got x0 of shape \(2,\) and 1 pair of bounds: give"),
        (lambda: BlackBox(f_at), "Expected bounds or x0"),
        (lambda: BlackBox(f_at, bounds=3), "Expected bounds as n pairs"),
        (lambda: BlackBox(f_at, bounds=[(0, 1, 2)]), "Expected bounds as n pairs"),
    ],
)
def test_a_black_box_that_makes_no_sense_is_refused(make: Callable[[], Problem], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("problem", "sentence"),
    [
        (BlackBox(f_at, h_both, bounds=BOX, m=1), r"Expected h of shape \(1,\), got \(2,\): return one column per"),
        (BlackBox(f_at, h_both, bounds=BOX, m=3, vectorised=True), r"Expected h of shape \(.*3\), got \(.*2\)"),
        (BlackBox(f_at, [h_both], bounds=BOX), "Expected one number per point from constraint 1"),
        (BlackBox(h_both, bounds=BOX), r"Expected f of shape \(\), got \(2,\): return one number per point"),
        (BlackBox(lambda x: f_at(x)[..., None], bounds=BOX, vectorised=True), r"Expected f of shape \(.*\), got"),
        (BlackBox(lambda x: (f_at(x), 0.0), bounds=BOX, joint=True), "Expected m with joint=True, got none"),
        (BlackBox(f_at, bounds=BOX, joint=True, m=1), r"Expected \(f, h\) from a joint function"),
    ],
)
def test_a_black_box_of_wrong_shapes_fails_with_a_sentence(problem: Problem, sentence: str) -> None:
    run = Run(problem=problem, solver=ZOCEG(), iterations=5)
    with pytest.raises((OracleError, ValueError), match=sentence):
        run.run()
    assert run.status == "failed"


class Disc(LoadTracking):
    """Load tracking on a ball: it does not project coordinate by coordinate."""

    __abstract = True

    domain = Ball(np.zeros(100), 100.0)


def test_zobceg_refuses_a_domain_that_is_not_a_box() -> None:
    run = Run(problem=Disc(), solver=ZOBCEG(), iterations=5)
    with pytest.raises(ValueError, match="ZOBCEG moves single coordinates and needs a box.*has a Ball: choose ZOCEG"):
        run.run()
    assert run.status == "ready"
    assert Run(problem=Disc(), solver=ZOCEG(), iterations=5).run().status == "finished"
