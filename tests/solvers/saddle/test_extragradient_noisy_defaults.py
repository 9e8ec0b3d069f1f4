"""What independent noise changes: scales of its own for f and h, central differences, an average as the report."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.sets import Ball, Box
from zoviz.core.streams import Streams
from zoviz.estimators import Block, Coordinate
from zoviz.oracle import Oracle
from zoviz.problems import ConexQCQP, LoadTracking, NonconvexQCQP, Problem
from zoviz.problems.scaled import Scaled
from zoviz.runs.engine.startup import present
from zoviz.solvers import DSZOG, OGDARR, ZOALM, ZOBCEG, ZOCEG, ZOEG, ZOGDA, ZOSPLM, Solver, SZOConEX, step_rules
from zoviz.solvers.measured_constants import constants_of
from zoviz.solvers.step_rules import central_radius

BOTH = {"noise_scale": 0.3, "noise_constraint_scale": 2.0}


@pytest.mark.parametrize("contract", ["common", "independent"])
@pytest.mark.parametrize("law, heavy", [("normal", 1.0), ("student_t", 5.0 / 3.0)])
def test_f_and_h_have_noise_of_their_own_scale(contract: str, law: str, heavy: float) -> None:
    problem = NonconvexQCQP(n=3, noise=contract, noise_distribution=law, **BOTH)
    streams = Streams(0, 4000)
    oracle, x = Oracle(problem, streams), np.zeros((4000, 3))
    values, exact = [], problem.evaluate(x)
    for _ in range(20):
        value = oracle(x)
        values.append(np.stack([value.f - exact.f, value.h[:, 0] - exact.h[:, 0]]))
        oracle.resample()
    spread = np.concatenate(values, axis=1).var(axis=1)
    np.testing.assert_allclose(spread, [0.09 * heavy, 4.0 * heavy], rtol=0.1)
    independent = float(contract == "independent")
    np.testing.assert_allclose(problem.noise_variances, [0.09 * heavy * independent, 4.0 * heavy * independent])
    dual = np.array([[0.0], [3.0]])
    np.testing.assert_allclose(problem.lagrangian_noise(dual), heavy * independent * np.array([0.09, 36.09]))


def test_an_empty_scale_of_h_is_that_of_f_and_either_may_be_zero() -> None:
    np.testing.assert_array_equal(NonconvexQCQP(n=3, noise_scale=0.3).noise_scales, [0.3, 0.3])
    for f, h in ((0.0, 1.0), (1.0, 0.0)):
        problem = NonconvexQCQP(n=3, noise="independent", noise_scale=f, noise_constraint_scale=h)
        value, exact = Oracle(problem, Streams(0, 2))(np.ones((2, 3))), problem.evaluate(np.ones((2, 3)))
        assert (value.f == exact.f).all() == (f == 0.0) and (value.h == exact.h).all() == (h == 0.0)


def test_rules_are_told_both_scales_also_in_a_solvers_units() -> None:
    problem = LoadTracking(n=4, noise="independent", **BOTH)
    streams = Streams(0, 2)
    oracle = Oracle(problem, streams)
    x0 = problem.initial(streams)
    expected = constants_of(problem, oracle, x0, streams)
    assert (expected.noise, expected.constraint_noise) == pytest.approx((0.3, 2.0)) and oracle.account.spent == 0
    assert problem.noisy_constants == expected and problem.constants.noise == 0.0
    scaled = present(problem, oracle, x0, streams)
    assert isinstance(scaled, Scaled)
    np.testing.assert_allclose(scaled.noise_variances, np.square([0.3 / oracle.units.f, 2.0 / oracle.units.h[0]]))


@pytest.mark.parametrize("estimator, size", [(Coordinate(), 4), (Block(block_size=2, scaled=False), 2)])
def test_differences_are_central_where_noise_is_independent(estimator: Coordinate, size: int) -> None:
    for contract in ("deterministic", "common", "independent"):
        problem, streams = NonconvexQCQP(n=4, noise=contract, noise_scale=0.0), Streams(3, 2)
        points = []

        def asked(x: np.ndarray, log: list = points, problem: NonconvexQCQP = problem) -> object:
            log.append(x)
            return problem.evaluate(x)

        oracle = Oracle(problem, streams)
        x = problem.initial(streams)
        base = oracle(x)
        before = oracle.account.spent
        estimate = estimator.estimate(lambda value: value.f, x, oracle, streams, base=base, radius=0.25)
        of_f, moved = problem.gradient(x)[0], estimate.gradient != 0.0
        assert oracle.account.spent - before == (2 * size if contract == "independent" else size)
        unbiased = np.isclose(estimate.gradient, of_f, atol=1e-9) | ~moved
        assert unbiased.all() == (contract == "independent"), "only forward differences of a quadratic are biased"
    assert estimator.calls(4) == 2 * size
    noise = estimator.predicted_variance(np.zeros(1), 4, 0.5, 0.1)
    forward, central = (
        type(estimator)(**{**given(estimator), "differences": value}) for value in ("forward", "central")
    )
    assert noise == central.predicted_variance(np.zeros(1), 4, 0.5, 0.1)
    assert noise == 0.25 * forward.predicted_variance(np.zeros(1), 4, 0.5, 0.1)


def given(estimator: Coordinate) -> dict:
    return {name: value for name, value in estimator.param.values().items() if name != "name"}


@pytest.mark.parametrize("solver", [ZOEG, ZOCEG, ZOBCEG])
def test_the_report_under_independent_noise_weighs_iterates_by_their_cube(solver: type[Solver]) -> None:
    for contract in ("deterministic", "independent"):
        problem = NonconvexQCQP(n=4, noise=contract, noise_scale=0.1)
        method, streams = solver(), Streams(5, 3)
        oracle = Oracle(problem, streams)
        x0 = problem.initial(streams)
        for name, value in method.from_constants(
            problem, method.measure_constants(problem, oracle, x0, streams)
        ).items():
            method.set(name, value)
        states = [method.init(x0, oracle, streams)]
        np.testing.assert_array_equal(method.output(states[0]), x0)
        for _ in range(8):
            states.append(method.step(states[-1], oracle, streams)[0])
        # Unrolled: (t + 3 - 1)! / (t - 1)! is the weight of iterate t, a polynomial of degree 3.
        weights = np.array([t * (t + 1.0) * (t + 2.0) for t in range(1, 9)])
        expected = np.average([state.x for state in states[1:]], axis=0, weights=weights)
        np.testing.assert_allclose(states[-1].recent, expected, rtol=1e-12)
        noisy = contract == "independent"
        np.testing.assert_array_equal(method.output(states[-1]), states[-1].recent if noisy else states[-1].x)
        for report, field in (("last", "x"), ("average", "average"), ("recent", "recent")):
            method.report = report
            np.testing.assert_array_equal(method.output(states[-1]), getattr(states[-1], field))


# --- what noise is compared with --------------------------------------------------------------------------------------

EVERY = (ZOSPLM, ZOCEG, ZOBCEG, ZOEG, SZOConEX, ZOALM, ZOGDA, OGDARR, DSZOG)


@pytest.mark.parametrize("problem", [ConexQCQP(n=20), NonconvexQCQP(n=10), LoadTracking(n=10)], ids=lambda p: p.title)
def test_noise_is_compared_with_the_gradient_at_the_starts_and_not_with_its_bound(problem: Problem) -> None:
    gradients, _ = problem.gradient(problem.initial(Streams(0, 4000)))
    size = float(np.sqrt(np.square(gradients).sum(axis=1).mean()))
    constants = problem.constants
    assert constants.gradient_size(0.0) == pytest.approx(size, rel=0.02) and constants.slope > 1.4 * size


@pytest.mark.parametrize("cls", EVERY)
def test_every_method_shortens_its_steps_for_noise(cls: type[Solver]) -> None:
    # Central differences have a radius at which a tenth of this noise hardly matters.
    loud = ConexQCQP(n=10, noise="independent", noise_scale=20.0 if cls in (ZOCEG, ZOBCEG) else 2.0)
    quiet, noisy = (cls().from_constants(problem, problem.noisy_constants) for problem in (ConexQCQP(n=10), loud))
    assert noisy["primal_step"] < 0.9 * quiet["primal_step"]
    radius = cls()
    radius.set("estimator.smoothing_radius", 0.1)
    short = radius.from_constants(ConexQCQP(n=10), ConexQCQP(n=10).constants)["primal_step"]
    factor = radius.noise_factor(loud.noisy_constants, 10, 0.1)
    assert factor > 1.2
    assert radius.from_constants(loud, loud.noisy_constants)["primal_step"] == pytest.approx(short / factor)


def test_central_differences_have_a_radius_by_the_width_of_the_box() -> None:
    problem = LoadTracking(n=10, noise="independent", noise_scale=0.02)
    constants, width = problem.noisy_constants, float(np.median(problem.domain.upper - problem.domain.lower))
    sigma, curvature = constants.lagrangian_noise, constants.lagrangian_curvature(constants.multiplier)
    radius = (3.0 * sigma * width / curvature) ** (1.0 / 3.0)
    assert central_radius(constants, problem.domain) == pytest.approx(min(radius, 0.25 * width))
    quiet = replace(constants, noise=sigma / 1e4, constraint_noise=0.0)
    small = (3.0 * sigma / 1e4 * width / curvature) ** (1.0 / 3.0)
    assert central_radius(quiet, problem.domain) == pytest.approx(small) and small < 0.25 * width
    assert central_radius(replace(constants, noise=0.0, constraint_noise=0.0), problem.domain) == 0.0
    for free in (Ball(np.zeros(3), 1.0), Box(np.full(3, -np.inf), np.full(3, np.inf))):
        assert central_radius(constants, free) == 0.0
    central, forward = ZOCEG(), ZOCEG(estimator=Coordinate(smoothing_radius=None, differences="forward"))
    radii = [
        cls.from_constants(problem, constants)["estimator.smoothing_radius"] for cls in (central, forward, ZOSPLM())
    ]
    assert radii[0] >= central_radius(constants, problem.domain) > 1.2 * radii[1]


@pytest.mark.parametrize("cls", [ZOCEG, ZOBCEG])
def test_the_radius_of_forward_differences_leaves_more(monkeypatch: pytest.MonkeyPatch, cls: type[Solver]) -> None:
    """The ablation, on conex's QCQP under its noise: without the width of the box the noise decides."""
    left = []
    for radius in (central_radius, lambda *_: 0.0):
        monkeypatch.setattr(step_rules, "central_radius", radius)
        problem = ConexQCQP(n=50, seed=5, noise="independent", noise_scale=1.0)
        run = Run(problem, cls(), replicas=20, calls=5000, seed=5)
        run.run()
        gap = np.abs(run.trace["gap"])
        left.append(float(np.median(gap[-1] / gap[0])))
    assert left[0] < 0.5 * left[1], left
