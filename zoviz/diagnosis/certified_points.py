"""Points of problems with known gradients, at which the certificate's intervals are compared with the truth.

``python -m zoviz.diagnosis.certified_points`` prints for every problem and noise how many of 200 certificates cover the
true residual, violation and multipliers: half of them at a solution, half at a point between it and the start. 10
minutes or so; ``--replicas 20`` is quicker. The problems of CUTEst are left out where they are not installed.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import Bounds, minimize

from zoviz.certainty.stationarity import Place
from zoviz.core import defaults
from zoviz.core.errors import MissingExtra, ZovizError
from zoviz.core.registry import discover
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.diagnosis.certificate import Certificate, Certifier
from zoviz.problems.base import Problem

NOISES = (0.0, 1e-4, 1e-2)
"""Standard deviations of the noise on f and every h."""
BETWEEN = 0.3
"""Share of the way from a solution to the start at which the second point lies."""
SUITE = ("HS43", "HS76", "DIPIGRI")


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


def problems() -> Iterator[tuple[str, Problem]]:
    """Yield the problems with their names; those of CUTEst only where they are installed."""
    known = discover("zoviz.problems", Problem)
    yield "LoadTracking", known["LoadTracking"](n=10)
    yield "ConexQCQP", known["ConexQCQP"](n=10)
    for name in SUITE:
        problem = known["Suite"](problem_name=name)
        try:
            problem.build()
        except MissingExtra:
            return
        yield name, problem


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


def main(arguments: list[str] | None = None) -> None:
    """Print the coverage on every problem under every noise."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", type=int, default=200, help="certificates of every problem and noise")
    options: Any = parser.parse_args(arguments)
    half = max(options.replicas // 2, 1)
    for name, problem in problems():
        for noise in NOISES:
            for place, x in zip(("solution", "between"), points(problem), strict=True):
                true = truth(problem, x)
                shares = coverage(certificates(problem, x, noise, range(half)), true)
                print(
                    f"{name:<13} sd {noise:<6g} {place:<8} residual {true.residual:8.2e}, covered "
                    f"{shares.residual:.3f} (width {shares.residual_width:.1e}), violation {shares.violation:.3f}, "
                    f"multipliers {shares.multipliers:.3f}; {shares.calls:.0f} calls",
                    flush=True,
                )


if __name__ == "__main__":
    main()
