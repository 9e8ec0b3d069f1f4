"""Problems whose minimum, multipliers and active rows are known, for the certainty's coverage.

Variables are of order 1, except in *machine* and those called wide, which have bounds as engineers give them, some far
wider than the region in which the function matters. ``MADE`` are those by which the rules of ``zoviz.certainty`` were
made, ``JUDGED`` had no part in them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize, nnls

from zoviz.core.types import Array

NEAR_ZERO = 1e-6
"""Size of a row, and distance from a bound, that counts as 0."""


class Posed(NamedTuple):
    """A problem.

    Attributes
    ----------
    values : callable
        A point (n,) to f and h, (1 + m,).
    lower, upper, start : Array, shape (n,)
    units : Units, optional
        Those of a problem that has the same minimum in variables of order 1.
    """

    values: Callable[[Array], Array]
    lower: Array
    upper: Array
    start: Array
    units: Units | None = None


class Units(NamedTuple):
    """A problem in variables x (n,) of order 1, and what ``middle`` + ``size`` x, (n,) each, is in other ones."""

    problem: Posed
    middle: Array
    size: Array

    def values(self, z: Array) -> Array:
        """Return f and h at a point (n,) in the other variables."""
        return self.problem.values((z - self.middle) / self.size)


class Truth(NamedTuple):
    """Its minimum: x (n,), f, the multipliers (m,), and which rows are active, (m,) of bool."""

    x: Array
    f: float
    multipliers: Array
    active: np.ndarray


def _box(values: Callable[[Array], Array], half: float, start: Array | list[float]) -> Posed:
    n = len(start)
    return Posed(values, np.full(n, -half), np.full(n, half), np.array(start, dtype=float))


def _quadratics(n: int, m: int, seed: int) -> Posed:
    """Return a convex quadratic with m convex quadratic rows of random numbers, and a plane that is slack."""
    random = np.random.default_rng(seed)

    def spread(share: float, least: float) -> Array:
        root = random.standard_normal((n, n))
        return np.asarray(share * root @ root.T / n + least * np.eye(n))

    matrix, slope = spread(1.0, 0.3), -2.0 * random.standard_normal(n)
    rows = [(spread(0.5, 0.1), random.standard_normal(n)) for _ in range(m)]

    def values(x: Array) -> Array:
        h = [0.5 * x @ bend @ x + b @ x - 1.0 for bend, b in rows]
        return np.array([0.5 * x @ matrix @ x + slope @ x, *h, x.sum() / n - 3.0])

    return _box(values, 3.0, [0.0] * n)


def _beam(u: Array) -> Array:
    """Return the welded beam's cost and rows (Rao, 1996), in variables and rows of order 1."""
    h, length, t, b = np.maximum(u, 0.05) * [0.2, 3.5, 9.0, 0.2]
    direct = 6000.0 / (np.sqrt(2.0) * h * length)
    moment, arm = 6000.0 * (14.0 + length / 2.0), np.sqrt(length**2 / 4.0 + ((h + t) / 2.0) ** 2)
    polar = 2.0 * np.sqrt(2.0) * h * length * (length**2 / 12.0 + ((h + t) / 2.0) ** 2)
    twist = moment * arm / polar
    shear = np.sqrt(direct**2 + direct * twist * length / arm + twist**2)
    deflection = 4.0 * 6000.0 * 14.0**3 / (30e6 * b * t**3)
    buckling = 4.013 * 30e6 * np.sqrt(t**2 * b**6 / 36.0) / 14.0**2 * (1.0 - t / 28.0 * np.sqrt(30.0 / 48.0))
    return np.array(
        [
            1.10471 * h**2 * length + 0.04811 * t * b * (14.0 + length),
            shear / 13600.0 - 1.0,
            6.0 * 6000.0 * 14.0 / (b * t**2) / 30000.0 - 1.0,
            (h - b) / 0.2,
            deflection / 0.25 - 1.0,
            1.0 - buckling / 6000.0,
        ]
    )


def _curved(x: Array) -> Array:
    f = 2.0 * (x[1] - x[0] ** 2) ** 2 + (1.0 - x[0]) ** 2 + (x[2] - 0.5) ** 2
    return np.array([f, x @ x - 1.2, 0.6 - x[1] * x[2] - 0.4 * x[0], -x[0] - x[1] - 1.0])


def _linear(x: Array) -> Array:
    return np.array([x @ [1.0, -0.5, 0.3, 0.8, -0.2], x @ x - 1.0, x[0] - 1.5])


def _interior(x: Array) -> Array:
    z = x - [0.3, -0.2, 0.5, 0.0]
    f = z @ z + 0.5 * z[0] * z[1] + 0.3 * (z**4).sum() + 0.2 * z[2] ** 3
    return np.array([f, x @ x - 3.0, x.sum() - 2.5])


def _geometric(x: Array) -> Array:
    a, b, c = np.exp(x)
    f = 0.5 * a * b + 1.0 / (a * c) + 0.3 * c + 0.2 / b
    return np.array([f, 0.4 * a / b + 0.3 * c - 1.0, 0.25 * b * c / a + 0.35 * a - 1.0])


def _weak(x: Array) -> Array:
    """Return a problem with multipliers of 1 and 0.05, and a row that is slack by 0.02."""
    d = x - [0.5, 0.3, 0.2, -0.4]
    first, second = np.array([1.0, 1.0, 0.0, 0.5]), np.array([0.0, 1.0, -1.0, 0.3])
    f = 0.7 * d @ d + 0.3 * d[0] * d[2] - (first + 0.05 * second) @ d
    return np.array([f, first @ d + 0.4 * d @ d, second @ d + 0.3 * d[1] ** 2, d @ [1.0, 0.0, 1.0, -1.0] - 0.02])


def _valley(x: Array) -> Array:
    return np.array([(1.0 - x[0]) ** 2 + 10.0 * (x[1] - x[0] ** 2) ** 2, x @ x - 1.0])


def _vertex(x: Array) -> Array:
    f = x @ x - 3.0 * x[0] - 2.0 * x[1]
    return np.array([f, x[0] + 2.0 * x[1] - 1.5 + 0.2 * x[0] ** 2, x[0] - 0.6 + 0.3 * x[1] ** 2])


def _bound(x: Array) -> Array:
    f = (x[0] - 1.5) ** 2 + (x[1] + 0.3) ** 2 + 1.5 * (x[2] - 0.4) ** 2 + (x[3] - 0.2) ** 2
    f += 0.5 * x[1] * x[2] + 0.2 * x[0] * x[3] ** 2
    return np.array([f, x[1] + x[2] + x[3] - 0.3, x[0] * x[1] + x[2] ** 2 - 0.5])


def _rosen_suzuki(x: Array) -> Array:
    """Return problem 43 of Hock and Schittkowski (1981), divided to order 1."""
    a, b, c, d = x
    squares = x**2
    f = squares @ [1.0, 1.0, 2.0, 1.0] - 5.0 * a - 5.0 * b - 21.0 * c + 7.0 * d
    first = squares.sum() + a - b + c - d - 8.0
    second = squares @ [1.0, 2.0, 1.0, 2.0] - a - d - 10.0
    third = squares @ [2.0, 1.0, 1.0, 0.0] + 2.0 * a - b - d - 5.0
    return np.array([f / 10.0, first / 5.0, second / 5.0, third / 5.0])


def _hs65(x: Array) -> Array:
    """Return problem 65 of Hock and Schittkowski (1981), its row divided by 10."""
    f = (x[0] - x[1]) ** 2 + (x[0] + x[1] - 10.0) ** 2 / 9.0 + (x[2] - 5.0) ** 2
    return np.array([f, (x @ x - 48.0) / 10.0])


def _waves(x: Array) -> Array:
    f = np.sin(x[0]) * np.cos(x[1]) + 0.6 * ((x - 0.2) ** 2).sum() + 0.2 * np.sin(2.0 * x[2])
    return np.array([f, x.sum() - 2.0, -x[0] - 2.0])


def _equality(x: Array) -> Array:
    row = x[0] * x[1] + x[2] ** 2 - 0.8
    return np.array([x @ x + x[0] - 0.5 * x[2], row, -row, x[1] - 1.6])


def _single(x: Array) -> Array:
    return np.array([np.cosh(x[0] - 0.7), x[0] ** 2 - 0.16])


def _entropy(x: Array) -> Array:
    z = np.exp(x)
    return np.array([z @ np.linspace(0.5, 1.5, 6) - x.sum(), 0.4 * x @ x - 0.2, x[0] - x[5] - 0.3])


def _fit(x: Array) -> Array:
    """Return a regularised logistic loss of eight weights, limited in their norm."""
    random = np.random.default_rng(7)
    points = random.standard_normal((40, 8))
    margin = np.where(points @ np.linspace(-1.0, 1.0, 8) + 0.5 * random.standard_normal(40) > 0.0, 1.0, -1.0)
    f = np.log1p(np.exp(-margin * (points @ x))).mean() + 0.05 * x @ x
    return np.array([f, x @ x - 0.6, x[7] - 1.5])


def _tilted(x: Array) -> Array:
    f = np.exp(0.5 * x[0]) + (x[1] - 0.4) ** 2 + 0.5 * (x[2] + x[0]) ** 2
    return np.array([f, -x[0] - 0.3 * x[1] ** 2 - 0.2, 0.1 - x[2] + 0.5 * x[0], x[1] - x[2] - 1.2])


def _machine(x: Array) -> Array:
    f = x[0] ** 2 + x[1] ** 2 + 4.0 * x[2] * x[3] + 5.0 * (x[4] - 1.0) ** 2 + 0.5 * abs(x[5]) + 0.2 * (x[2] - 1.5) ** 2
    return np.array([f, 4.0 - 4.0 * x[2] * x[3], x[0] + x[4] - 0.5, 0.5 - 0.5 * x[5]])


def _wide(
    posed: Posed, middle: list[float], size: list[float], lower: list[float], upper: list[float], start: list[float]
) -> Posed:
    """Return a problem in variables middle + size x, with wider bounds."""
    units = Units(posed, np.array(middle), np.array(size))
    return Posed(units.values, np.array(lower), np.array(upper), np.array(start), units)


MADE: dict[str, Posed] = {
    "quadratics 4": _quadratics(4, 3, 1),
    "quadratics 10": _quadratics(10, 4, 2),
    "beam": Posed(
        _beam, np.array([0.6, 0.3, 0.3, 0.6]), np.array([5.0, 3.0, 1.1, 5.0]), np.array([1.5, 1.5, 1.0, 1.5])
    ),
    "curved": _box(_curved, 2.0, [0.2, 1.0, 1.0]),
    "linear": _box(_linear, 2.0, [0.0] * 5),
    "interior": _box(_interior, 2.0, [1.0, 1.0, -0.5, 0.5]),
    "geometric": _box(_geometric, 2.0, [0.0, 0.5, 0.0]),
    "weak": _box(_weak, 2.0, [-0.3, -0.3, 0.5, 0.0]),
    "valley": _box(_valley, 2.0, [-0.5, 0.5]),
    "vertex": _box(_vertex, 2.0, [0.0, 0.0]),
    "bound": Posed(_bound, np.zeros(4), np.ones(4), np.full(4, 0.5)),
}
MADE |= {
    "machine": _wide(
        Posed(_machine, np.full(6, -3.0), np.full(6, 3.0), np.ones(6)),
        [300.0, 0.02, 0.0, 0.0, 0.0, 0.0],
        [100.0, 0.01, 2.0, 2.0, 1.0, 0.5],
        [0.0, 0.0, 0.1, 0.1, -5.0, 0.0],
        [1000.0, 1.0, 10.0, 10.0, 5.0, 10.0],
        [500.0, 0.5, 5.0, 5.0, 0.0, 5.0],
    ),
    "wide curved": _wide(
        MADE["curved"], [0.5, 0.0, 300.0], [0.02, 1.0, 1.0], [0.0, -2.0, 0.0], [1.0, 2.0, 1000.0], [0.3, 1.0, 310.0]
    ),
    "wide quadratics 4": _wide(
        MADE["quadratics 4"],
        [0.3, 0.0, 0.0, 100.0],
        [0.01, 1.0, 1.0, 3.0],
        [0.0, -3.0, -3.0, 0.0],
        [1.0, 3.0, 3.0, 400.0],
        [0.4, 0.0, 0.0, 130.0],
    ),
    "wide quadratics 10": _wide(
        MADE["quadratics 10"],
        [0.1, 0.0, 0.0, 0.0, 0.0, 300.0, 0.0, 0.0, 0.0, 0.0],
        [0.02, 1.0, 1.0, 1.0, 1.0, 1.0, 20.0, 1.0, 1.0, 1.0],
        [0.0, -3.0, -3.0, -3.0, -3.0, 0.0, -1000.0, -3.0, -30.0, -100.0],
        [1.0, 3.0, 3.0, 3.0, 3.0, 1000.0, 1000.0, 3.0, 30.0, 100.0],
        [0.5, 0.0, 0.0, 0.0, 0.0, 350.0, 200.0, 0.0, 10.0, 20.0],
    ),
    "wide linear": _wide(
        MADE["linear"],
        [0.5, 0.0, 0.0, 200.0, 0.0],
        [0.02, 1.0, 1.0, 1.0, 50.0],
        [0.0, -2.0, -10.0, 0.0, -1000.0],
        [1.0, 2.0, 10.0, 1000.0, 1000.0],
        [0.6, 0.0, 1.0, 250.0, 200.0],
    ),
    "wide interior": _wide(
        MADE["interior"],
        [0.05, 0.0, 50.0, 0.0],
        [0.02, 1.0, 1.0, 5.0],
        [0.0, -2.0, 0.0, -300.0],
        [1.0, 2.0, 100.0, 300.0],
        [0.5, 1.0, 40.0, 100.0],
    ),
    "wide weak": _wide(
        MADE["weak"],
        [0.05, 0.0, 0.0, 0.0],
        [0.02, 1.0, 30.0, 1.0],
        [0.0, -2.0, -500.0, -100.0],
        [1.0, 2.0, 500.0, 100.0],
        [0.5, -0.3, 100.0, 10.0],
    ),
}
JUDGED: dict[str, Posed] = {
    "quadratics 6": _quadratics(6, 4, 11),
    "rosen-suzuki": _box(_rosen_suzuki, 3.0, [0.0] * 4),
    "hs65": Posed(_hs65, np.array([-4.5, -4.5, -5.0]), np.array([4.5, 4.5, 5.0]), np.ones(3)),
    "waves": _box(_waves, 2.0, [1.0, 1.0, 1.0]),
    "equality": _box(_equality, 2.0, [1.0, 1.0, 0.5]),
    "single": _box(_single, 2.0, [0.0]),
    "entropy": _box(_entropy, 2.0, [0.0] * 6),
    "fit": _box(_fit, 2.0, [0.0] * 8),
    "tilted": _box(_tilted, 2.0, [0.5, 0.0, 0.5]),
}
JUDGED |= {
    "wide rosen-suzuki": _wide(
        JUDGED["rosen-suzuki"],
        [0.4, 0.0, 500.0, 0.0],
        [0.02, 1.0, 2.0, 30.0],
        [0.0, -3.0, 0.0, -500.0],
        [1.0, 3.0, 1000.0, 500.0],
        [0.5, 0.0, 520.0, 20.0],
    ),
    "wide fit": _wide(
        JUDGED["fit"],
        [0.4, 0.0, 0.0, 0.0, 0.0, 100.0, 0.0, 0.0],
        [0.02, 1.0, 1.0, 1.0, 50.0, 1.0, 1.0, 1.0],
        [0.0, -2.0, -2.0, -2.0, -500.0, 0.0, -2.0, -2.0],
        [1.0, 2.0, 2.0, 2.0, 500.0, 1000.0, 2.0, 2.0],
        [0.5, 0.0, 0.0, 0.0, 50.0, 120.0, 0.0, 0.0],
    ),
}
PROBLEMS = MADE | JUDGED


def truth_of(posed: Posed, starts: int = 8) -> Truth:
    """Return the minimum, the lowest that SLSQP reaches from the start and points around it."""
    if posed.units:
        found = truth_of(posed.units.problem, starts)
        return found._replace(x=posed.units.middle + posed.units.size * found.x)
    random, best = np.random.default_rng(0), None
    for k in range(starts):
        start = posed.start + (0.4 * random.standard_normal(len(posed.start)) if k else 0.0)
        found = minimize(
            lambda x: posed.values(x)[0],
            np.clip(start, posed.lower, posed.upper),
            method="SLSQP",
            bounds=list(zip(posed.lower, posed.upper, strict=True)),
            constraints={"type": "ineq", "fun": lambda x: -posed.values(x)[1:]},
            options={"ftol": 1e-14, "maxiter": 500},
        )
        if posed.values(found.x)[1:].max(initial=0.0) < 1e-7 and (best is None or found.fun < best.fun - 1e-9):
            best = found
    if best is None:
        raise ValueError("Expected a problem with a feasible minimum near its start, got none.")
    steps = 1e-5 * np.eye(len(best.x))
    slopes = np.stack([(posed.values(best.x + step) - posed.values(best.x - step)) / 2e-5 for step in steps], axis=1)
    values = posed.values(best.x)
    active = values[1:] > -NEAR_ZERO
    free = (best.x > posed.lower + NEAR_ZERO) & (best.x < posed.upper - NEAR_ZERO)
    multipliers = np.zeros(active.size)
    if active.any():
        multipliers[active] = nnls(slopes[1:][active][:, free].T, -slopes[0][free])[0]
    return Truth(best.x, float(values[0]), multipliers, active)
