"""Points of problems with known gradients, at which the certificate's intervals are compared with the truth.

Half of the certificates are made at a solution, half at a point between it and the start. Columns: the true residual;
shares, in per cent, of intervals that hold the true residual, violation and multipliers; the width of the residual's
interval; calls.

    zoviz reproduce robustness-certified-points --full                 # 10 minutes or so
    zoviz reproduce robustness-certified-points --full --only problem=ConexQCQP
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

from zoviz.certainty.stationarity import Place
from zoviz.core import defaults
from zoviz.core.errors import ZovizError
from zoviz.core.registry import discover
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.diagnosis.certificate import Certificate, Certifier
from zoviz.problems.base import Problem
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials

NOISES = (0.0, 1e-4, 1e-2)
"""Standard deviations of the noise on f and every h."""
BETWEEN = 0.3
"""Share of the way from a solution to the start at which the second point lies."""
SUITE = ("HS43", "HS76", "DIPIGRI")
PLACES = ("solution", "between")


class Truth(NamedTuple):
    """The figures of a point by exact gradients."""

    residual: float
    violation: float
    multipliers: Array


class Coverage(NamedTuple):
    """Shares of certificates whose intervals hold the truth."""

    residual: float
    violation: float
    multipliers: float
    calls: float
    residual_width: float


def problem_named(name: str) -> Problem:
    """Return the problem of 10 variables by its class's name, or one of the CUTEst collection."""
    known = discover("zoviz.problems", Problem)
    return known["Suite"](problem_name=name) if name in SUITE else known[name](n=10)


def points(problem: Problem) -> tuple[Array, Array]:
    """Return a solution (n,), the known one or SLSQP's by exact gradients, and a point between it and the start."""
    start, optimum = problem.initial(Streams(1, 1))[0], problem.known_optimum
    solution = _solution(problem, start) if optimum is None else optimum.point
    return solution, Box.of(problem.domain).project(solution + BETWEEN * (start - solution))


def _slopes(problem: Problem, x: Array) -> tuple[Array, Array]:
    """Return the exact gradients (n,) of f and (m, n) of h at a point (n,)."""
    gradients = problem.gradient(x[None])
    if gradients is None:
        raise ZovizError(f"Expected a problem with known gradients, got a {type(problem).__name__}: choose another.")
    return gradients[0][0], gradients[1][0]


def _solution(problem: Problem, start: Array) -> Array:
    rows = {
        "type": "ineq",
        "fun": lambda x: -problem.evaluate(x[None]).h[0],
        "jac": lambda x: -_slopes(problem, x)[1],
    }
    box = Box.of(problem.domain)
    answer = minimize(
        lambda x: float(problem.evaluate(x[None]).f[0]),
        start,
        jac=lambda x: _slopes(problem, x)[0],
        bounds=Bounds(box.lower, box.upper),
        constraints=rows,
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return box.project(np.asarray(answer.x))


def truth(problem: Problem, x: Array, allowed: np.ndarray | None = None) -> Truth:
    """Return the figures at a point (n,) by exact gradients; rows below 0 by the usual tolerance have no multiplier."""
    (gradient, jacobian), h = _slopes(problem, x), problem.evaluate(x[None]).h[0]
    active = h >= -defaults.FEASIBILITY_TOLERANCE if allowed is None else allowed
    best = Place(Box.of(problem.domain), x).multipliers(gradient, jacobian, active)
    return Truth(best.norm, float(np.sqrt(np.square(np.maximum(h, 0.0)).sum())), best.y)


def certificates(problem: Problem, x: Array, noise: float, seeds: Iterable[int]) -> list[Certificate]:
    """Make a certificate of a point (n,) for every seed, under noise of this standard deviation."""
    noisy = problem.clone()
    if noise:
        noisy.noise, noisy.noise_scale = "independent", noise
    return [Certifier().certify(noisy, x, seed) for seed in seeds]


def coverage(made: list[Certificate], true: Truth) -> Coverage:
    """Return the shares of certificates that cover the truth, up to the round-off of exact gradients."""
    slack = 1e-9 * (1.0 + true.residual)
    covered = [
        (
            one.residual.low - slack <= true.residual <= one.residual.high + slack,
            one.violation.low - slack <= true.violation <= one.violation.high + slack,
            # Several rows at once: the share of rows.
            np.mean(
                (one.multipliers_low - slack <= true.multipliers) & (true.multipliers <= one.multipliers_high + slack)
            ),
            one.calls,
            one.residual.high - one.residual.low,
        )
        for one in made
    ]
    return Coverage(*np.mean(np.array(covered, dtype=float), axis=0))


class CertifiedPoints(Trials):
    """Certificates of points whose residual is known."""

    title = "robustness certified points"
    subject = "How often a certificate's intervals of 95 % hold the truth, in per cent"
    protocol = f"At a solution, and {BETWEEN:g} of the way from it to the start; exact gradients have the truth."
    sizes: ClassVar = {
        "quick": {"problem": ("ConexQCQP",), "noise": (1e-2,), "place": PLACES, "seed": (0,)},
        "full": {
            "problem": ("LoadTracking", "ConexQCQP", *SUITE),
            "noise": NOISES,
            "place": PLACES,
            "seed": tuple(range(100)),
        },
    }
    lines = ("problem", "noise", "place")
    shared = ("problem",)

    def reference(self, problem: str) -> Figures:
        return {place: x.tolist() for place, x in zip(PLACES, points(problem_named(problem)), strict=True)}

    def trial(self, problem: str, noise: float, place: str, seed: int, **places: Any) -> Figures:
        posed, x = problem_named(problem), np.array(places[place])
        true = truth(posed, x)
        return {"truth": true.residual, **coverage(certificates(posed, x, noise, [seed]), true)._asdict()}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        mean = {name: float(np.mean([row[name] for row in rows])) for name in Coverage._fields}
        shares = {name: f"{100.0 * mean[name]:.0f}" for name in ("residual", "violation", "multipliers")}
        width = {"width": f"{mean['residual_width']:.1e}", "calls": f"{mean['calls']:.0f}"}
        return {"truth": f"{rows[0]['truth']:.2e}", **shares, **width}
