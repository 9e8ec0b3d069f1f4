"""The microscope against closed forms on a quadratic, on black boxes, and beside a run that it leaves alone."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

from zoviz import BlackBox, Run, ZovizError
from zoviz.core.types import Array
from zoviz.diagnosis.microscope import Curve, Magnified, Microscope, Spot, families, microscope_of
from zoviz.estimators import CentralSphere, Coordinate, Gaussian, GradientEstimator, Sphere
from zoviz.problems import ConexQCQP
from zoviz.solvers import ZOSPLM

N, K = 6, 4
NOISES = [0.0, 1e-6, 1e-3, 1.0]


class Forms(NamedTuple):
    """Closed forms of an estimate's squared bias and variance on f = x'Hx/2 + b'x."""

    bias_square: Array
    variance: Array
    round_off: Array


def problem_of(noise: float) -> ConexQCQP:
    return ConexQCQP(n=N, noise="independent" if noise else "deterministic", noise_scale=noise or 1.0)


def spot() -> Spot:
    return Spot(np.linspace(-1.0, 1.0, N), np.zeros(1))


def closed_forms(estimator: GradientEstimator, noise: float, radii: Array) -> Forms:
    problem = problem_of(0.0)
    slope = problem.gradient(spot().x)[0]
    hessian = np.array([problem.gradient(spot().x + one)[0] - slope for one in np.eye(N)])
    square, trace, frobenius = slope @ slope, np.trace(hessian), np.square(hessian).sum()
    moment, zero = trace**2 + 2.0 * frobenius, 0.0 * radii
    diagonal = 0.25 * radii**2 * np.square(np.diag(hessian)).sum()
    quiet = noise**2 / radii**2
    forms = {
        "Sphere": (zero, ((N - 1) * square + N * radii**2 * moment / (4 * (N + 2)) + 2 * N**2 * quiet) / K),
        "CentralSphere": (zero, ((N - 1) * square + 0.5 * N**2 * quiet) / K),
        "Gaussian": (zero, ((N + 1) * square + 0.25 * radii**2 * (N + 4) * moment + 2 * N * quiet) / K),
        "forward": (diagonal, 2.0 * N * quiet),
        "central": (zero, 0.5 * N * quiet),
    }
    name = estimator.differences if isinstance(estimator, Coordinate) else type(estimator).__name__
    size = abs(float(problem.evaluate(spot().x).f)) + 1.0
    return Forms(*forms[name], np.square(1e-15 * size * N / radii + 1e-13))


def deviations(curve: Curve, forms: Forms) -> Array:
    """Return how many standard errors the figures lie from their closed forms, (3, G)."""
    figures = [
        (curve.bias_square, curve.bias_error, forms.bias_square),
        (curve.variance, curve.variance_error, forms.variance),
        (curve.error, curve.error_error, forms.bias_square + forms.variance),
    ]
    # Round-off in a difference of squares shows beside the square itself.
    return np.array(
        [
            np.abs(seen - true) / (error + forms.round_off + 3.0 * np.sqrt(forms.round_off * forms.bias_square))
            for seen, error, true in figures
        ]
    )


@pytest.mark.parametrize("noise", NOISES)
def test_bias_variance_and_error_are_those_of_closed_forms_over_the_whole_grid(noise: float) -> None:
    chosen = families(K)
    seen = Microscope(accuracy=0.02).measure(problem_of(noise), spot(), chosen)
    assert seen.floor == 0.0 and [len(curve.radii) for curve in seen.curves] == [13] * 5
    off = np.array(
        [
            deviations(curve, closed_forms(one, noise, curve.radii))
            for one, curve in zip(chosen, seen.curves, strict=True)
        ]
    )
    # Of the 130 biases and variances a third of one is expected beyond 3 standard errors, were all normal.
    assert (off[:, :2] > 3.0).sum() <= 2 and off.max() < 4.0, off.max()


@pytest.mark.parametrize("noise", NOISES[1:])
def test_the_suggested_radius_is_within_three_times_that_of_the_closed_form(noise: float) -> None:
    chosen = [Sphere(batch_size=K), Gaussian(batch_size=K), Coordinate(differences="forward")]
    seen = Microscope().measure(problem_of(noise), spot(), chosen)
    for one, curve in zip(chosen, seen.curves, strict=True):
        fine = np.geomspace(curve.radii[0], curve.radii[-1], 2000)
        forms = closed_forms(one, noise, fine)
        best = fine[np.argmin(forms.bias_square + forms.variance)]
        assert 1 / 3 <= curve.radius / best <= 3, curve.title
        assert 1 / 30 <= curve.predicted_radius / best <= 30, "theory has bounds, not values"


def test_a_bias_that_noise_hides_is_a_ceiling_and_no_figure() -> None:
    hidden, seen = Microscope().measure(problem_of(1.0), spot(), [Coordinate(differences="forward")]).curves[0], None
    assert hidden.bias_hidden[:5].all() and (hidden.bias_ceiling[:5] > 0).all()
    seen = Microscope().measure(problem_of(0.0), spot(), [Coordinate(differences="forward")]).curves[0]
    assert not seen.bias_hidden[5:].any()


def test_without_gradients_the_reference_is_measured_and_has_a_floor() -> None:
    exact = problem_of(1e-3)
    box = BlackBox(
        lambda x: exact.evaluate(x).f,
        lambda x: exact.evaluate(x).h,
        bounds=list(zip(exact.domain.lower, exact.domain.upper, strict=True)),
        vectorised=True,
        m=1,
        noise="independent",
        noise_scale=1e-3,
    )
    setting, chosen = Microscope(count=5, shortest=1e-4), [Sphere(batch_size=K)]
    seen = setting.measure(box, Spot(spot().x, np.array([0.5])), chosen)
    true = exact.gradient(spot().x)
    assert np.abs(seen.gradient - true[0] - 0.5 * true[1][0]).max() < 5.0 * seen.gradient_error.max()
    assert 0.0 < seen.floor < 1e-2 and seen.calls >= setting.cost(box, chosen)[0]
    assert np.isnan(seen.curves[0].predicted_radius), "its curvature is unknown"
    with pytest.raises(ZovizError, match="Expected at least"):
        Microscope(calls=10).measure(box, spot())


def test_a_run_that_was_looked_at_is_as_one_that_was_not() -> None:
    problem = ConexQCQP(n=4, noise="independent", noise_scale=0.1)
    looked, alone = (Run(problem, ZOSPLM(), replicas=2, iterations=20, seed=3) for _ in range(2))
    setting, made = Microscope(count=3), list[Magnified]()
    looked.run(lambda: made.append(microscope_of(looked, 1, setting)) if looked.progress.iteration % 10 == 0 else None)
    alone.run()
    assert len(made) == 2 and all(one.calls > 0 for one in made)
    assert np.array_equal(looked.result.x, alone.result.x) and looked.result.calls[0] == alone.result.calls[0]


def test_a_scaled_run_is_looked_at_in_the_units_of_its_solver() -> None:
    problem = BlackBox(
        lambda x: 1e4 * np.square(x / 100.0 - 0.3).sum(axis=-1), bounds=[(0, 100)] * 3, vectorised=True, x0=[50] * 3
    )
    run = Run(problem, ZOSPLM(), replicas=1, iterations=3)
    run.run()
    seen = microscope_of(run, microscope=Microscope(count=3), estimators=[CentralSphere(batch_size=2)])
    slope = 1e4 * 2.0 * (run.result.x[0] / 100.0 - 0.3) / 100.0
    assert seen.gradient == pytest.approx(slope * run.units.width / run.units.f, rel=1e-5)
    assert seen.curves[0].radii[-1] == pytest.approx(1.0)


def test_it_may_be_cancelled_between_batches() -> None:
    batches: list[int] = []

    def proceed() -> None:
        batches.append(1)
        if len(batches) == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Microscope().measure(problem_of(0.0), spot(), proceed=proceed)
    assert len(batches) == 3
