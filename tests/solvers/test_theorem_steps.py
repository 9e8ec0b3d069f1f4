"""Steps by theorems: constants that hold, the printed formulas written out, and a bound that a run keeps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from zoviz.estimators import Coordinate
from zoviz.problems import ConexQCQP, CurvedBilevel, Gramacy, LoadTracking, StochasticQP
from zoviz.runs.run import Run
from zoviz.solvers import (
    SOGD,
    ZOBCEG,
    ZOCEG,
    ZOEG,
    ZOSOGD,
    ZOSPLM,
    SampledALM,
    SmoothedALM,
    Solver,
    StormALM,
    SZOConEX,
)
from zoviz.solvers.theorem_steps import Setting, saddle_constants

PROBLEM, CAP, K = LoadTracking(n=4), 40.0, 400


def test_the_constants_of_the_saddle_function_hold_everywhere() -> None:
    curvature, slope, diameter = saddle_constants(Setting(PROBLEM, K, {"dual_cap": CAP}))
    rng = np.random.default_rng(0)
    x = PROBLEM.domain.sample(rng.random((400, PROBLEM.n)))
    y = rng.uniform(0.0, CAP, (400, 1))
    gradient, jacobian = PROBLEM.gradient(x)
    field = np.concatenate([gradient + y * jacobian[:, 0], -PROBLEM.evaluate(x).h], axis=1)
    z = np.concatenate([x, y], axis=1)
    apart, change = (np.linalg.norm(values[:200] - values[200:], axis=1) for values in (z, field))
    assert (change <= curvature * apart).all() and (np.linalg.norm(field, axis=1) <= slope).all()
    assert (apart <= diameter).all() and apart.max() > 0.3 * diameter


@pytest.mark.parametrize(
    ("method", "theorem", "step"),
    [
        (ZOEG, "3.1", lambda L, G, D: D / (6.0 * np.sqrt(6.0 * 5 * K) * G)),
        (ZOCEG, "4.1", lambda L, G, D: 0.5 / L),
        (ZOBCEG, "4.3", lambda L, G, D: D / (2.0 * G * np.sqrt(K))),
    ],
)
def test_steps_of_paper_zoeg(method: type[Any], theorem: str, step: Any) -> None:
    constants = saddle_constants(Setting(PROBLEM, K, {"dual_cap": CAP}))
    solver = method.published(theorem, problem=PROBLEM, iterations=K, dual_cap=CAP)
    assert solver.primal_step == solver.dual_step == pytest.approx(step(*constants))
    assert solver.dual_cap == CAP and solver.differences_from_paper() == ()
    assert method.published(theorem, problem=PROBLEM, iterations=K).dual_cap == PROBLEM.constants.dual_cap
    assert method.published(theorem, problem=PROBLEM, iterations=K, primal_step=0.2).primal_step == 0.2, "given by hand"


def test_a_run_keeps_the_bound_of_theorem_4_1() -> None:
    solver = ZOCEG.published("4.1", problem=PROBLEM, iterations=K, dual_cap=CAP)
    solver.estimator = Coordinate(smoothing_radius=1e-6)
    run = Run(PROBLEM, solver, replicas=3, iterations=K)
    values, optimum = PROBLEM.evaluate(run.run().x), PROBLEM.known_optimum
    gap = values.f + values.h[:, 0] * optimum.multipliers[0] - optimum.value
    _, _, diameter = saddle_constants(Setting(PROBLEM, K, {"dual_cap": CAP}))
    assert (gap > 0.0).all() and (gap <= diameter**2 / (2.0 * K * solver.primal_step)).all()


def test_steps_and_radius_of_paper_conex() -> None:
    problem, n, T = ConexQCQP(n=3), 3, 500
    one, solver = problem.constants, SZOConEX.published("3.1", problem=problem, iterations=T)
    L0, L1, M0, M1 = one.curvature, one.constraint_curvature, one.slope, one.constraint_slope
    lower, upper = problem.domain.lower, problem.domain.upper
    most, D = np.linalg.norm(np.maximum(-lower, upper)), np.linalg.norm(upper - lower) / np.sqrt(2.0)
    nu0 = min(1.0 / np.sqrt(2.0 * L0 * n * np.sqrt(T)), 2.0 / 6.0**1.5, 1.0 / (L0 * 9.0**1.5))
    nu1 = min(
        2.0 / 6.0**1.5,
        1.0 / (2.0 * M1 * np.sqrt(5.0)),
        1.0 / np.sqrt(L1 * n),
        1.0 / np.sqrt(2.0 * L1 * n * most * np.sqrt(T)),
        1.0 / (L1 * 9.0**1.5),
    )
    nu = min(nu0, nu1)
    assert solver.estimator.smoothing_radius == pytest.approx(nu)
    s0, s1 = (
        nu**2 * L**2 * 9.0**3 + 10.0 * 7.0 * (nu / 2.0 * L * 6.0**1.5 + L * D + M) ** 2 for L, M in ((L0, M0), (L1, M1))
    )
    H = L1 * D * np.linalg.norm(problem.known_optimum.multipliers) / 2.0
    eta = max(np.sqrt(2.0 * T * (H**2 + s0 + 48.0 * s1)) / D, 6.0 * max(2.0 * M1, 4.0 * np.sqrt(s1)) / D)
    spread = 4.0 * 5.0 * M1**2 * nu**2 + L1**2 * nu**4 * n**2 + D**2 * s1
    tau = max(np.sqrt(96.0 * T * spread), 2.0 * D * max(M1, 4.0 * np.sqrt(s1)))
    assert (solver.primal_step, solver.dual_step) == pytest.approx((1.0 / (L0 + L1 + eta), 1.0 / tau))
    assert solver.extrapolation == 1.0 and solver.differences_from_paper() == ()


def test_radii_and_batches_of_paper_sogd_and_horizons_of_paper_salm() -> None:
    solver = ZOSOGD.published("4.2", problem=CurvedBilevel(n=1, d=2), iterations=1000)
    assert (solver.outer_batch, solver.inner_batch, solver.schedule) == (2, 44, "theory")
    radii = (solver.estimator.smoothing_radius, solver.outer_estimator.smoothing_radius)
    assert radii == pytest.approx((0.5 / np.sqrt(1000.0), 1.0 / np.sqrt(1000.0)))
    methods: tuple[tuple[type[Solver], str], ...] = ((SmoothedALM, "3.1"), (SampledALM, "4.3"), (StormALM, "5.7"))
    for method, theorem in methods:
        assert method.published(theorem, problem=StochasticQP(), iterations=70).get("horizon") == 70


def test_what_cannot_be_had_is_a_sentence() -> None:
    with pytest.raises(ValueError, match=r"Expected the number of a theorem of ZOSPLM, none, .*, got '1'"):
        ZOSPLM.published("1", problem=PROBLEM, iterations=K)
    with pytest.raises(ValueError, match=r"Expected the number of a theorem of ZOEG, 3.1, got '4.1'"):
        ZOEG.published("4.1", problem=PROBLEM, iterations=K)
    with pytest.raises(ValueError, match=r"Expected the number of a theorem of SOGD, none"):
        SOGD.published("3.6", problem=CurvedBilevel(), iterations=K)
    with pytest.raises(ValueError, match=r"Expected a problem and the number of iterations"):
        ZOEG.published("3.1", iterations=K)
    with pytest.raises(ValueError, match=r"Expected a problem whose constants are known"):
        ZOEG.published("3.1", problem=Gramacy(), iterations=K)
