"""A slice through a surrogate: predictions on the line, both points on it, and a run that is the same with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.registry import discover
from zoviz.core.threads.blas import quiet_pytorch
from zoviz.problems import Gramacy
from zoviz.problems.base import Problem
from zoviz.solvers.bayesian.base import BayesianSolver, surrogate_of
from zoviz.solvers.bayesian.model_slice import model_slice

SOLVERS = discover("zoviz.solvers.bayesian", BayesianSolver)
QUICK: dict[str, Any] = {"initial_points": 4, "candidates": 40, "restarts": 1}
CLIMBERS = ("ALBO", "ConstrainedEI", "SlackAL")
"""Methods that climb their acquisition; the others take the best of their candidates."""
PLAIN, NOISY = Gramacy(), Gramacy(noise="independent", noise_scale=0.05)


def made(name: str, problem: Problem, calls: int = 7) -> Run:
    solver = SOLVERS[name](**QUICK | ({"samples": 16} if "samples" in SOLVERS[name].param else {}))
    run = Run(problem, solver, replicas=1, calls=calls, seed=2)
    run.run()
    return run


def test_the_slice_along_a_variable_has_the_surrogates_moments() -> None:
    run = made("ConstrainedEI", NOISY)
    one = model_slice(run.solver, run.state, 1e-6, variable=1)
    assert one is not None and one.evaluations == 7
    state = run.state
    with quiet_pytorch():
        surrogate = surrogate_of(state.points[0], state.values[0], True, state.hyper[0], False)
        evidence = run.solver.evidence(surrogate, 1e-6)
        line = np.tile(surrogate.points[evidence.best], (len(one.places), 1))
        line[:, 1] = one.places
        mean, deviation = surrogate.moments(line)
    assert one.incumbent == surrogate.points[evidence.best][1]
    np.testing.assert_allclose(one.mean, mean[:, 0])
    np.testing.assert_allclose(one.deviation, deviation[:, 0])
    assert ((one.chance >= 0.0) & (one.chance <= 1.0)).all() and one.chance.std() > 0.0


@pytest.mark.parametrize("name", SOLVERS)
def test_the_line_to_the_next_point_has_its_best_score_there(name: str) -> None:
    run = made(name, PLAIN)
    one = model_slice(run.solver, run.state, 1e-6)
    assert one is not None and (one.incumbent, one.following) == (0.0, 1.0)
    assert {0.0, 1.0} <= set(one.places.tolist())
    assert np.isnan(one.score).all() if name == "SCBO" else np.isfinite(one.score.max()), "a draw has no acquisition"
    if name in CLIMBERS:
        at = one.score[one.places.tolist().index(1.0)]
        spread = np.ptp(np.maximum(one.score, one.score.max() - 20.0))
        assert at >= one.score.max() - 0.05 * spread, "nothing on the line is much better than the next point"


def test_where_the_incumbent_comes_next_the_line_is_that_of_a_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line through one point has one value: the picture would show a flat surrogate."""
    run = made("ConstrainedEI", PLAIN)

    def again(solver: Any, surrogate: Any, evidence: Any, *_: Any) -> Any:
        return surrogate.points[evidence.best]

    monkeypatch.setattr(SOLVERS["ConstrainedEI"], "acquire", again)
    one, along = model_slice(run.solver, run.state, 1e-6), model_slice(run.solver, run.state, 1e-6, variable=0)
    assert one is not None and along is not None and one.variable == 0 and one.incumbent == one.following
    assert np.ptp(one.mean) > 0.0
    np.testing.assert_array_equal(one.mean, along.mean)


def test_there_is_none_in_the_first_design_and_a_run_goes_on_as_without() -> None:
    early = made("ALBO", PLAIN, calls=3)
    assert model_slice(early.solver, early.state, 1e-6) is None
    looked, plain = (Run(PLAIN, SOLVERS["ALBO"](**QUICK, samples=16), replicas=1, calls=8) for _ in range(2))
    looked.run(lambda: model_slice(looked.solver, looked.state, 1e-6))
    plain.run()
    np.testing.assert_array_equal(looked.state.points, plain.state.points)
