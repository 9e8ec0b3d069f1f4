"""The certificate: known multipliers, intervals that cover the truth, and a run that is left as it was."""

from __future__ import annotations

import numpy as np
import pytest

from zoviz import BlackBox, Run, ZovizError
from zoviz.certainty.own_calls import needed
from zoviz.core.types import Array
from zoviz.diagnosis.certificate import Activity, Certificate, Certifier, certificate_of
from zoviz.papers.robustness.certified_points import CertifiedPoints, certificates, coverage, points, truth
from zoviz.problems import ConexQCQP, LoadTracking, QuadraticBilevel, WeldedBeam
from zoviz.problems.base import Problem
from zoviz.solvers import ZOCEG
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import grouped


def known() -> list[Problem]:
    return [LoadTracking(n=8), ConexQCQP(n=8)]


@pytest.mark.parametrize("problem", known(), ids=lambda problem: type(problem).__name__)
def test_a_known_optimum_has_no_residual_and_its_known_multipliers(problem: Problem) -> None:
    optimum = problem.known_optimum
    made = Certifier().certify(problem, optimum.point)
    assert made.residual.low == 0.0 and made.residual.high < 1e-8 and made.floor < 1e-8
    assert made.multipliers == pytest.approx(optimum.multipliers, rel=1e-6)
    assert made.active == (Activity.ACTIVE,) and made.violation.high < 1e-9 and made.nearly is None
    assert made.sentence.startswith("KKT residual ") and "active: h1;" in made.sentence


def test_a_point_that_is_not_stationary_has_the_residual_of_exact_gradients() -> None:
    problem = ConexQCQP(n=8)
    x = points(problem)[1]
    made, true = Certifier().certify(problem, x), truth(problem, x)
    assert true.residual > 1.0 and made.residual.value == pytest.approx(true.residual, rel=1e-6)
    assert made.residual.low <= true.residual * (1 + 1e-9) and true.residual * (1 - 1e-9) <= made.residual.high


def test_a_row_a_little_below_zero_is_inactive_and_the_sentence_says_what_it_would_change() -> None:
    problem = LoadTracking(n=8)
    inside = problem.known_optimum.point.copy()
    inside[int(np.argmax(problem.domain.upper - inside))] += 1e-3  # a little more curtailed than need be
    made = Certifier().certify(problem, inside)
    assert made.active == (Activity.INACTIVE,) and made.residual.low > 1.0 and made.multipliers == pytest.approx([0.0])
    assert made.nearly.rows == (0,) and made.nearly.residual < 0.1
    assert made.sentence.startswith(
        f"KKT residual {made.nearly.residual:.1e} with h1 = -1.1e-03 counted as active, |y h| "
    )
    assert f"({made.residual.value:.1e} (" in made.sentence and "otherwise)" in made.sentence
    tolerant = Certifier(tolerance=1e-2).certify(problem, inside)
    assert tolerant.active == (Activity.ACTIVE,) and tolerant.residual.high < 0.1
    assert tolerant.complementarity.value == pytest.approx(1e-3 * problem.known_optimum.multipliers[0], rel=0.2)


def test_the_residual_without_a_row_that_is_far_from_active_comes_first() -> None:
    problem = LoadTracking(n=8)
    inside = 0.5 * (problem.known_optimum.point + problem.domain.upper)
    made = Certifier().certify(problem, inside)
    assert made.sentence.startswith(f"KKT residual {made.residual.value:.1e} (")
    assert made.nearly is None or made.nearly.distance > 1e-3


@pytest.mark.parametrize("noise", [1e-3, 1e-1])
def test_intervals_cover_the_truth_under_noise(noise: float) -> None:
    problem = ConexQCQP(n=8)
    for x in points(problem):
        made, true = certificates(problem, x, noise, range(10)), truth(problem, x)
        shares = coverage(made, true)
        assert min(shares.residual, shares.violation, shares.multipliers) >= 0.7, shares  # 10 of 95 %
    assert all(one.floor > 0.1 * noise for one in made), "noise has a floor"


def test_intervals_of_no_noise_taken_for_those_under_noise_cover_nothing() -> None:
    """The ablation: without standard errors the same figures are wrong."""
    problem, noise = ConexQCQP(n=8), 1e-2
    x = points(problem)[1]
    true = truth(problem, x)
    values = [one.residual.value for one in certificates(problem, x, noise, range(6))]
    exact = Certifier().certify(problem, x).residual
    width = exact.high - exact.low
    assert not any(abs(value - true.residual) <= width for value in values)


def test_the_floor_falls_with_the_root_of_the_repeats() -> None:
    problem = ConexQCQP(n=8, noise="independent", noise_scale=1e-2)
    x = problem.known_optimum.point
    floors = [Certifier(repeats=repeats).certify(problem, x).floor for repeats in (4, 64)]
    assert floors[0] / floors[1] == pytest.approx(4.0, rel=0.35)


def test_the_cost_is_linear_in_n_and_told_before() -> None:
    calls = {}
    for n in (10, 20, 40):
        for noise in ("deterministic", "independent"):
            problem = ConexQCQP(n=n, noise=noise, noise_scale=1e-3)
            made = Certifier().certify(problem, problem.domain.project(np.full(n, 0.1)))
            least, most = Certifier().cost(problem)
            assert least <= made.calls <= most
            calls[noise, n] = made.calls
    for noise in ("deterministic", "independent"):
        assert 3.0 * calls[noise, 10] <= calls[noise, 40] <= 4.5 * calls[noise, 10]


def test_noise_that_all_points_share_cancels_in_slopes_and_not_in_constraints() -> None:
    problem = ConexQCQP(n=8, noise="common", noise_scale=1e-2)
    made = Certifier().certify(problem, problem.known_optimum.point)
    assert made.floor < 1e-6 and made.h_error[0] > 1e-3 and made.multipliers_low[0] > 0


def test_a_run_that_was_certified_is_as_one_that_was_not() -> None:
    problem = LoadTracking(n=5, noise="independent", noise_scale=0.1)
    looked, alone = (Run(problem, ZOCEG(), replicas=2, iterations=20, seed=3) for _ in range(2))
    made: list[Certificate] = []
    looked.run(lambda: made.append(certificate_of(looked, 1)) if looked.progress.iteration % 10 == 0 else None)
    alone.run()
    assert len(made) == 2 and all(one.calls > 0 for one in made)
    assert np.array_equal(looked.result.x, alone.result.x) and looked.result.calls[0] == alone.result.calls[0]


def failing(x: Array) -> float:
    return float("nan") if x[0] != 0.5 else float(x @ x)


def test_failed_coordinates_are_left_out_and_counted() -> None:
    problem = BlackBox(failing, bounds=[(0, 1)] * 2, x0=[0.5, 0.5])
    made = Certifier().certify(problem, np.array([0.5, 0.5]))
    assert made.failed == 1 and made.residual.value == pytest.approx(0.5) and "1 of 2 coordinates" in made.sentence


def test_a_point_at_a_bound_is_asked_inside_the_box_alone() -> None:
    asked: list[Array] = []

    def bowl(x: Array) -> float:
        asked.append(x.copy())
        return float(np.square(x - 2.0).sum())

    made = Certifier().certify(BlackBox(bowl, bounds=[(0, 1)] * 3, x0=[0.5] * 3), np.array([1.0, 1.0, 0.25]))
    assert np.min(asked) >= 0.0 and np.max(asked) <= 1.0
    # The first two push outwards; the third may move by 0.75 alone.
    assert made.residual.value == pytest.approx(0.75, rel=1e-6)


def test_it_may_be_cancelled_between_two_calls() -> None:
    calls: list[Array] = []

    def slow(x: Array) -> float:
        calls.append(x)
        return float(x @ x)

    def proceed() -> None:
        if len(calls) >= 20:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Certifier().certify(BlackBox(slow, bounds=[(-1, 1)] * 30, x0=[0.1] * 30), np.full(30, 0.1), proceed=proceed)
    assert len(calls) == 20


def test_what_cannot_be_certified_is_refused_with_a_sentence() -> None:
    with pytest.raises(ZovizError, match="form 'constrained'"):
        Certifier().certify(QuadraticBilevel(), np.zeros(2))
    with pytest.raises(ZovizError, match="inside the bounds"):
        Certifier().certify(LoadTracking(n=2), np.array([-1.0, 0.0]))
    nothing = BlackBox(lambda x: float("nan"), bounds=[(0, 1)])
    with pytest.raises(ZovizError, match="finite values at the point"):
        Certifier().certify(nothing, np.array([0.5]))


@pytest.mark.slow
def test_coverage_over_200_certificates_of_every_problem_and_noise() -> None:
    study = CertifiedPoints(only={"noise": (1e-4, 1e-2)})
    measured: dict[str, Figures] = {}
    for part in study.parts():
        measured[part] = study.measure_after(part, {need: measured[need] for need in study.needs(part)})
    print(study.tables(measured))
    lines = [rows for _, rows in grouped(study.rows(measured), *study.lines)]
    names = ("residual", "violation", "multipliers")
    assert min(np.mean([row[name] for row in rows]) for rows in lines for name in names) >= 0.9


def test_under_noise_it_tells_how_sure_the_minimum_is_by_calls_that_are_counted() -> None:
    problem = ConexQCQP(n=6, noise="independent", noise_scale=1e-2)
    optimum = problem.known_optimum
    made = Certifier().certify(problem, optimum.point)
    sure = made.certainty
    least, most = Certifier().cost(problem)
    assert sure.calls == 4 * 4 * 7 and least <= made.calls <= most
    assert sure.f_star.low <= optimum.value <= sure.f_star.high and sure.activity == (Activity.ACTIVE,)
    assert sure.multipliers[0].low <= optimum.multipliers[0] <= sure.multipliers[0].high < 2.0


@pytest.mark.parametrize("problem", [ConexQCQP(n=8), WeldedBeam()], ids=lambda one: type(one).__name__)
def test_without_noise_calls_around_the_point_tell_the_minimum_if_wanted(problem: Problem) -> None:
    optimum = problem.known_optimum
    certifier = Certifier(minimum=True)
    made, plain = certifier.certify(problem, optimum.point), Certifier().certify(problem, optimum.point)
    f_star, further = made.certainty.f_star, needed(problem.domain)
    assert (
        f_star.low <= optimum.value + 1e-9 and optimum.value - 1e-9 <= f_star.high and f_star.high - f_star.low < 1e-3
    )
    assert made.calls == plain.calls + further <= certifier.cost(problem)[1] and made.certainty.calls == further
    assert made.residual == plain.residual and np.isnan(plain.certainty.f_star.value)


def test_without_noise_its_certainty_has_what_slopes_tell() -> None:
    problem = ConexQCQP(n=8)
    made = Certifier().certify(problem, problem.known_optimum.point)
    sure = made.certainty
    assert np.isnan(sure.f_star.value) and sure.f_x.value == pytest.approx(problem.known_optimum.value)
    assert sure.activity == made.active and sure.multipliers[0].value == made.multipliers[0] and not sure.noisy
