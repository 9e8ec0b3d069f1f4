"""What the peers' own rules give them where there is noise, and where there are many variables."""

from __future__ import annotations

import importlib.util
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from zoviz.papers.zoeg.load_tracking import posed
from zoviz.problems import LoadTracking, NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.solvers import COBYLA, COBYQA, NOMAD, SLSQP, TrustConstr
from zoviz.solvers.external.base import ExternalSolver
from zoviz.solvers.external.coroutine import Task

SCIPY = pytest.mark.skipif(
    importlib.util.find_spec("scipy") is None or importlib.util.find_spec("greenlet") is None,
    reason='python -m pip install "zoviz[peers]"',
)


def suggested(cls: type[ExternalSolver], noise: float) -> tuple[dict[str, Any], float, float]:
    """The rule's values on load tracking, the median width of its box, and r* = 8^(1/4) sqrt(sigma / L)."""
    problem = LoadTracking(n=100)
    constants = replace(problem.constants, noise=noise)
    width = float(np.median(problem.domain.upper))
    return cls().from_constants(problem, constants), width, float((8.0 * (noise / constants.curvature) ** 2) ** 0.25)


@pytest.mark.parametrize("cls", [SLSQP, TrustConstr])
def test_the_difference_step_is_that_of_more_and_wild_until_half_of_the_box(cls: type[ExternalSolver]) -> None:
    values, width, best = suggested(cls, 23.4)
    assert 0.1 * width < best < 0.5 * width, "a step that a tenth of the box would cut"
    assert values["difference"] == pytest.approx(best)
    values, width, best = suggested(cls, 1e4)
    assert best > width and values["difference"] == pytest.approx(0.5 * width)


@pytest.mark.parametrize("cls", [COBYLA, COBYQA])
@pytest.mark.parametrize("noise", [0.0, 1e-3, 1.0, 23.4, 1e4])
def test_a_radius_has_room_to_shrink_down_to_what_noise_leaves(cls: type[ExternalSolver], noise: float) -> None:
    values, width, best = suggested(cls, noise)
    assert values["initial_radius"] == pytest.approx(np.clip(2.0 * best, 0.1 * width, 0.4 * width))
    assert values["final_radius"] <= 0.5 * values["initial_radius"]
    if best < 0.2 * width:
        assert values["final_radius"] == pytest.approx(max(1e-6 * width, best))


@SCIPY
def test_the_longer_step_tells_slopes_from_noise() -> None:
    """Errors of a difference are of the order sigma / h: a tenth of the box is too short on load tracking."""
    problem = posed(0, 40, True)
    problem.noise_scale = 100.0
    width = float(np.median(problem.domain.upper))
    loss = {}
    for name, solver in (("rule", SLSQP()), ("tenth", SLSQP(difference=0.1 * width))):
        run = Run(problem=problem, solver=solver, replicas=10, calls=4000)
        result = run.run()
        if name == "rule":
            assert run.resolved["difference"] > 0.2 * width
        optimum = problem.known_optimum
        price = optimum.multipliers[0]
        loss[name] = (result.fun - optimum.value + price * result.violation) / abs(optimum.value)
    assert np.median(loss["rule"]) < 0.5 * np.median(loss["tenth"]), loss


def order(n: int, **settings: Any) -> list[str]:
    task = Task(np.zeros(n), -np.ones(n), np.ones(n), 1, "deterministic", 3)
    return NOMAD(initial_radius=0.2, **settings).order(task)["parameters"]


def test_nomad_works_without_models_from_the_dimension_on_where_it_searches_without_them() -> None:
    def told(lines: list[str]) -> list[str]:
        return [line for line in lines if line.split()[0] in ("QUAD_MODEL_SEARCH", "EVAL_QUEUE_SORT", "DIRECTION_TYPE")]

    bare = ["QUAD_MODEL_SEARCH no", "EVAL_QUEUE_SORT DIR_LAST_SUCCESS"]
    assert told(order(49)) == [] and told(order(49, models=False)) == bare
    assert told(order(50)) == told(order(50, models=False)) == [*bare, "DIRECTION_TYPE ORTHO 2N"]


@pytest.mark.skipif(
    importlib.util.find_spec("PyNomad") is None or importlib.util.find_spec("greenlet") is None,
    reason='python -m pip install "zoviz[nomad]"',
)
def test_nomad_at_many_variables_gets_on() -> None:
    """With its models it would think for minutes."""
    problem = NonconvexQCQP(n=60)
    run = Run(problem=problem, solver=NOMAD(), replicas=2, calls=400)
    result = run.run()
    outside = run.trace.snapshot().columns["violation"]
    assert (result.calls == 400).all() and (result.violation < 0.7 * outside[0]).all()


@SCIPY
def test_trust_constr_solves_what_it_cannot_when_it_is_kept_in_the_box() -> None:
    """On this instance a step that leaves a narrow side of the box is cut, again and again."""
    problem, outside = posed(1, 100, False), {}
    for inside in (False, True):
        run = Run(problem=problem, solver=TrustConstr(keep_feasible=inside), replicas=2, calls=1500)
        outside[inside] = run.run().violation
    assert (outside[False] < 1.0).all() and (outside[True] > 10.0).all(), outside


def test_the_radius_of_trust_constr_knows_the_units() -> None:
    values, width, best = suggested(TrustConstr, 23.4)
    assert values["initial_radius"] == pytest.approx(np.clip(2.0 * best, 0.1 * width, 0.4 * width))
    assert suggested(TrustConstr, 0.0)[0]["initial_radius"] == pytest.approx(0.1 * width)
