"""Units along which functions bend alike, for methods that estimate gradients."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import Run
from zoviz.core.sets import Ball
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.core.units import Units, coordinates
from zoviz.estimators import Coordinate, GradientEstimator, Sphere
from zoviz.oracle import Oracle
from zoviz.papers.zoeg.load_tracking import posed, solve
from zoviz.problems import BlackBox
from zoviz.runs.engine.startup import present
from zoviz.solvers import ZOBCEG, ZOCEG, ZOSPLM, Solver

WEIGHTS = np.array([0.01, 0.5, 1.0, 2.0, 9.0, 1e4, 0.0])
"""Half the curvatures along seven coordinates; the median is 1."""
SIZES = 10.0 ** np.arange(-3.0, 4.0)
LENGTHS = np.sqrt(np.array([0.25, 0.5, 1.0, 2.0, 9.0, 100.0, 0.25]))
"""What the intervals measure in the solver's units: roots of the curvatures, no less than 0.5 and no more than 10."""


QUIET = {"noise": "independent", "noise_scale": 0.0}
"""Noise that happens to be none: the look is the one under noise."""


def bowl(signs: float = 1.0, **settings: object) -> BlackBox:
    """f bends by ``WEIGHTS`` along intervals that are ``SIZES`` long, h not at all."""
    return BlackBox(
        lambda x: signs * (WEIGHTS * np.square(x / SIZES)).sum(axis=-1) + (x / SIZES).sum(axis=-1),
        lambda x: 0.5 - (x / SIZES).sum(axis=-1),
        bounds=[(-0.5 * size, 0.5 * size) for size in SIZES],
        vectorised=True,
        **(QUIET | settings),
    )


def shown(
    problem: BlackBox, estimator: object, replicas: int = 2, limit: int | None = None, seed: int = 3
) -> tuple[Units, int]:
    streams = Streams(seed, replicas)
    oracle = Oracle(problem, streams, {"calls": limit})
    present(problem, oracle, problem.initial(streams), streams, estimator)
    assert (oracle.calls == oracle.account.spent).all() and not oracle.any_failed
    return oracle.units, oracle.account.spent


@pytest.mark.parametrize("signs", [1.0, -1.0])
def test_intervals_are_as_long_as_the_roots_of_their_curvatures(signs: float) -> None:
    units, calls = shown(bowl(signs), Coordinate())
    np.testing.assert_allclose(units.width, SIZES / LENGTHS, rtol=1e-6)
    np.testing.assert_allclose(units.domain.upper - units.domain.lower, LENGTHS, rtol=1e-6)
    assert calls == 5 + 2 * 7 + 8


def test_noise_is_seen_through_where_it_can_be() -> None:
    """Noise of 0.01: differences of half an interval show curvatures down to about 0.25, and of less they say so."""
    units, calls = shown(bowl(noise="independent", noise_scale=0.01), Coordinate())
    assert calls == 5 + 2 * 7 + 8
    np.testing.assert_allclose(units.width, SIZES / LENGTHS, rtol=0.1)


def test_noise_alone_moves_no_unit_by_a_factor_of_two() -> None:
    widths = []
    for seed in range(40):
        flat = BlackBox(lambda x: x.sum(axis=-1), bounds=[(0.0, 3.0)] * 9, vectorised=True, noise="independent")
        flat.noise_scale = 1e6
        widths.append(shown(flat, Coordinate(), seed=seed)[0].width / 3.0)
    assert np.min(widths) > 0.5 and np.max(widths) < 1.1
    assert np.mean(np.ptp(widths, axis=1) == 0.0) > 0.8, "and mostly none at all"


def test_without_curvature_units_are_the_boxs() -> None:
    exact = BlackBox(lambda x: 1e9 + np.pi * x.sum(axis=-1), bounds=[(0.0, 3.0)] * 5, vectorised=True, **QUIET)
    np.testing.assert_array_equal(shown(exact, Coordinate())[0].width, 3.0)


def test_few_bent_coordinates_are_told_from_straight_ones() -> None:
    problem = BlackBox(lambda x: x.sum(axis=-1) + x[..., 2] ** 2, bounds=[(0.0, 1.0)] * 5, vectorised=True, **QUIET)
    np.testing.assert_allclose(shown(problem, Coordinate())[0].width, [2.0, 2.0, 0.1, 2.0, 2.0], rtol=1e-6)


def test_who_does_not_probe_coordinates_or_has_few_calls_sees_the_box() -> None:
    for problem, estimator, limit in (
        (bowl(), Sphere(), None),
        (bowl(), None, None),
        (bowl(noise="deterministic"), None, None),
        (bowl(), Coordinate(), 5 + 10 * 22 - 1),
        (bowl(noise="deterministic"), Sphere(), 5 + 10 * 30 - 1),
    ):
        units, calls = shown(problem, estimator, limit=limit)
        assert calls == 5
        np.testing.assert_array_equal(units.width, SIZES)
    assert shown(bowl(), Coordinate(), limit=5 + 10 * 22)[1] == 5 + 22
    assert shown(bowl(noise="deterministic"), Sphere(), limit=5 + 10 * 30)[1] == 5 + 30


@pytest.mark.parametrize("estimator", [Coordinate(), Sphere()])
def test_without_noise_two_looks_that_agree_even_the_units_for_any_gradients(estimator: GradientEstimator) -> None:
    units, calls = shown(bowl(noise="deterministic"), estimator)
    np.testing.assert_allclose(units.width, SIZES / LENGTHS, rtol=1e-6)
    assert calls == 5 + 2 * (2 * 7 + 1)


@pytest.mark.parametrize("varies", [True, False])
def test_curvatures_that_vary_over_the_box_move_no_unit(varies: bool) -> None:
    """Those of x^4 at the start are a hundredth of those half of the box away: a look from there alone misleads."""

    def objective(x: Array) -> Array:
        return x[..., 0] ** (4 if varies else 2) + 50.0 * x[..., 1] ** 2

    problem = BlackBox(objective, bounds=[(-1.0, 1.0)] * 2, x0=[0.0, 0.0], vectorised=True)
    units, calls = shown(problem, Coordinate())
    assert (units.width == 2.0).all() == varies and calls == 5 + 2 * 5


def test_a_coordinate_along_which_nothing_is_defined_keeps_its_unit() -> None:
    def objective(x: Array) -> Array:
        return np.where(np.abs(x[..., 1]) > 0.2, np.nan, x[..., 0] ** 2 + 4.0 * x[..., 2] ** 2 + x[..., 1])

    problem = BlackBox(objective, bounds=[(-0.5, 0.5)] * 3, vectorised=True, **QUIET, x0=[0.1, 0.0, 0.1])
    units, _ = shown(problem, Coordinate())
    np.testing.assert_allclose(units.width[1], 1.0)
    np.testing.assert_allclose(units.width[0] / units.width[2], 2.0, rtol=1e-6)


def test_every_call_before_the_first_step_is_inside() -> None:
    points: list[Array] = []

    def objective(x: Array) -> Array:
        points.append(x.reshape(-1, 7).copy())
        return (WEIGHTS * np.square(x)).sum(axis=-1)

    problem = BlackBox(objective, bounds=[(-1.0, 1.0)] * 7, vectorised=True, noise="independent", noise_scale=0.3)
    Run(problem=problem, solver=ZOCEG(), replicas=3, iterations=0).run()
    everything = np.concatenate(points)
    assert len(everything) > 3 * 30 and np.abs(everything).max() <= 1.0 + 1e-12


def test_a_replica_does_not_depend_on_how_many_there_are() -> None:
    few, many = (shown(bowl(noise_scale=0.1), Coordinate(), count)[0] for count in (1, 5))
    np.testing.assert_allclose(few.width, many.width, rtol=1e-9)


@pytest.mark.parametrize("solver", [ZOCEG, ZOBCEG, ZOSPLM])
def test_one_step_serves_all_coordinates(solver: type[Solver]) -> None:
    """Curvatures apart by 125 along the intervals, which one step of 1 / L would need as many iterations for."""
    weights = np.array([40.0, 80.0, 160.0, 5000.0])
    problem = BlackBox(
        lambda x: (weights * np.square(x - 0.3)).sum(axis=-1), bounds=[(0.0, 1.0)] * 4, vectorised=True, **QUIET
    )
    settings = {"estimator": Coordinate(smoothing_radius=None)} if solver is ZOSPLM else {}
    run = Run(problem=problem, solver=solver(**settings), replicas=3, calls=600)
    assert np.abs(run.run().x - 0.3).max() < 1e-2


@pytest.mark.parametrize("method", [ZOCEG, ZOBCEG], ids=lambda cls: cls.__name__)
def test_load_tracking_in_units_of_its_box_under_noise(method: type[Solver]) -> None:
    """Nearer, as a factor, to the loss that the problem has in kW than to that in plain units of the box."""
    in_kilowatts, in_plain_units = 0.003, 0.07  # of ZOCEG at this budget, measured when units were first evened
    result = solve(method, posed(0, 100, True, "scaled"), 2, 20_000)
    assert result.loss.max() < np.sqrt(in_kilowatts * in_plain_units)


def test_other_sets_keep_one_width_when_they_are_put_back() -> None:
    one = coordinates(Ball([1e3, 2e3], 500.0), np.full((1, 2), 1e3), 1)
    again = one.with_width(one.width)
    far = np.array([[9e3, -1e3], [1e3, 2e3]])
    np.testing.assert_array_equal(again.domain.project(far), one.domain.project(far))


@pytest.mark.parametrize(
    ("noise", "scaling", "look"),
    [
        ({"noise": "deterministic"}, "always", 2 * (2 * 7 + 1)),
        ({"noise": "deterministic"}, "under noise", 0),
        ({"noise": "deterministic"}, "never", 0),
        (QUIET, "always", 2 * 7 + 8),
        (QUIET, "under noise", 2 * 7 + 8),
        (QUIET, "never", 0),
    ],
)
def test_a_run_says_when_units_are_evened(noise: dict[str, object], scaling: str, look: int) -> None:
    run = Run(bowl(**noise), ZOCEG(), iterations=0, curvature_scaling=scaling)
    run.run()
    assert run.result.ledger is not None
    # The start has been paid for already, as what it is.
    assert run.result.ledger.calls["scaling"].tolist() == [4 + look] * run.replicas
    assert run.measured_units is not None
    assert (run.measured_units["width"] == SIZES).all() == (look == 0)
