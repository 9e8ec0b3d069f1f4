"""Certificates where values are rough (rounded, noisy without a word, or 0 and 1), compared with the truth.

Certificates of eight problems: at the optimum, near it (1e-2 and 1e-3 away), far from it, and elsewhere on the
constraint. A cell has in how many of them a figure is right, and how many say something of it.

    zoviz reproduce robustness-rough-certificates --full               # a minute or so
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.certainty.stationarity import Multipliers, Place
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.diagnosis.certificate import Activity, Certificate, Certifier
from zoviz.problems.base import Problem
from zoviz.problems.user.blackbox import BlackBox
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials

PLACES = ("optimum", "near", "nearer", "far", "constraint")
FIGURES = ("residual", "violation", "complementarity", "multipliers", "active")
_TOLERANCE = Certifier().tolerance
_FLAG = 0.1
"""How far a 0/1 row's jump is away from the optimum."""
_HALF = 4.0
"""Half the width of the box: residuals are no steps to its walls."""
Roughen = Callable[[Array, np.random.Generator], Array]


class Smooth(NamedTuple):
    """A smooth problem with a row that holds its optimum, and another that does not.

    Attributes
    ----------
    values, slopes : callable
        From a point (n,) to f and h, (m + 1,), and to their slopes, (m + 1, n).
    optimum : Array, shape (n,)
    along : Array, shape (n,)
        A point of the same row h1 = 0, elsewhere.
    """

    values: Callable[[Array], Array]
    slopes: Callable[[Array], Array]
    optimum: Array
    along: Array


@dataclass(frozen=True)
class Rough:
    """A smooth problem whose values are roughened, perhaps next to a 0/1 row that jumps where x1 is large."""

    name: str
    smooth: Smooth
    roughen: Roughen
    flag: bool = False

    def problem(self, seed: int) -> Problem:
        """Return the black box that a certificate sees: it declares no noise."""
        random, edge = np.random.default_rng(seed), self.smooth.optimum[0] + _FLAG

        def values(x: Array) -> Array:
            rough = self.roughen(self.smooth.values(x), random)
            return np.append(rough, float(x[0] > edge)) if self.flag else rough

        def pair(x: Array) -> tuple[float, Array]:
            all_values = values(x)
            return float(all_values[0]), all_values[1:]

        m = len(self.smooth.values(self.smooth.optimum)) - 1 + self.flag
        box = [(-_HALF, _HALF)] * self.smooth.optimum.size
        return BlackBox(pair, joint=True, bounds=box, m=m, x0=self.smooth.optimum)

    def point(self, place: str, random: np.random.Generator) -> Array:
        """Draw a point (n,)."""
        x, way = self.smooth.optimum, random.standard_normal(self.smooth.optimum.size)
        way /= np.linalg.norm(way)
        if place == "constraint":
            return self.smooth.along
        return x + {"optimum": 0.0, "near": 1e-2, "nearer": 1e-3, "far": 0.6}[place] * way

    def truth(self, x: Array, allowed: np.ndarray | None = None) -> tuple[Array, Multipliers]:
        """Return h (m,) and the multipliers of exact slopes, of rows that are active or ``allowed`` (m,).

        A 0/1 row has no slope; it is left out.
        """
        h, slopes = self.smooth.values(x)[1:], self.smooth.slopes(x)
        rows = h >= -_TOLERANCE if allowed is None else allowed
        place = Place(Box(np.full(x.size, -_HALF), np.full(x.size, _HALF)), x)
        return h, place.multipliers(slopes[0], slopes[1:], rows)


def bowl() -> Smooth:
    """Return a quadratic of four variables under a linear row, and one that is far from active."""
    centre, tilt = np.array([0.9, 0.3, -0.2, 0.5]), np.array([1.0, 0.5, 0.25, 1.0])
    weights = np.array([2.5, 1.0, 1.5, 2.0])
    inverse = tilt / weights
    y = (tilt @ centre - 0.7) / (tilt @ inverse)
    optimum = centre - y * inverse
    across = np.array([0.5, -1.0, 0.0, 0.0]) * 0.3

    def values(x: Array) -> Array:
        return np.array([0.5 * weights @ np.square(x - centre) + 3.0, tilt @ x - 0.7, x[1] - 3.7])

    def slopes(x: Array) -> Array:
        return np.array([weights * (x - centre), tilt, [0.0, 1.0, 0.0, 0.0]])

    return Smooth(values, slopes, optimum, optimum + across)


def exponential() -> Smooth:
    """Return a sum of exponentials of three variables in a ball of radius 1, and a far product row."""
    optimum = -np.ones(3) / np.sqrt(3.0)
    turn = np.array([np.sqrt(0.5), -np.sqrt(0.5), 0.0])

    def values(x: Array) -> Array:
        return np.array([3.0 * np.exp(x).sum(), x @ x - 1.0, x[0] * x[1] - 3.0 - np.sin(x[2])])

    def slopes(x: Array) -> Array:
        return np.array([3.0 * np.exp(x), 2.0 * x, [x[1], x[0], -np.cos(x[2])]])

    return Smooth(values, slopes, optimum, turn)


def exact(values: Array, random: np.random.Generator) -> Array:
    """Return values (m + 1,) as they are."""
    return values


def noisy(sd: float, of_all: bool = True) -> Roughen:
    """Return what adds noise of a standard deviation, to all functions or to f alone."""

    def roughen(values: Array, random: np.random.Generator) -> Array:
        noise = sd * random.standard_normal(values.size)
        return values + (noise if of_all else np.where(np.arange(values.size) == 0, noise, 0.0))

    return roughen


def printed(digits: int, of_all: bool = True) -> Roughen:
    """Return what prints values with a number of significant digits, those of all functions or of f alone."""

    def roughen(values: Array, random: np.random.Generator) -> Array:
        short = np.array([float(f"{value:.{digits}g}") for value in values])
        return short if of_all else np.append(short[:1], values[1:])

    return roughen


def both(first: Roughen, second: Roughen) -> Roughen:
    """Return a function that applies two roundings one after the other."""
    return lambda values, random: second(first(values, random), random)


def cases() -> Iterator[Rough]:
    """Yield the problems."""
    yield Rough("bowl, noise 1e-3", bowl(), noisy(1e-3))
    yield Rough("exponential, noise 1e-2", exponential(), noisy(1e-2))
    yield Rough("exponential, noise 1e-2 on f", exponential(), noisy(1e-2, False))
    yield Rough("bowl, f of 6 digits, 0/1 row", bowl(), printed(6, False), True)
    yield Rough("exponential, 4 digits", exponential(), printed(4))
    yield Rough("bowl, 5 digits", bowl(), printed(5))
    yield Rough("exponential, exact, 0/1 row", exponential(), exact, True)
    yield Rough("bowl, noise 1e-3, 5 digits, 0/1 row", bowl(), both(noisy(1e-3), printed(5)), True)


class Verdicts(NamedTuple):
    """Of every figure, in the order of ``FIGURES``, whether it says something and whether that is right."""

    said: np.ndarray
    right: np.ndarray


def judged(case: Rough, x: Array, made: Certificate) -> Verdicts:
    """Compare a certificate of a point (n,) with the truth.

    Multipliers are those of the rows that the certificate counts; the residual is to cover that of active rows, too.
    """
    m, slack = len(case.smooth.values(x)) - 1, 1e-9
    may = np.array([word is not Activity.INACTIVE for word in made.active[:m]])
    h, true = case.truth(x)
    _, counted = case.truth(x, may)
    active = h >= -_TOLERANCE

    def within(value: Array | float, low: Array | float, high: Array | float) -> bool:
        room = slack * (1.0 + np.abs(value))
        return bool(np.all((low <= value + room) & (value <= high + room)))

    violation = float(
        np.sqrt(np.square(np.maximum(h, 0.0)).sum() + (case.flag and x[0] > case.smooth.optimum[0] + 0.1))
    )
    product, high = float(np.abs(true.y * h).max()), made.multipliers_high[:m]
    words = [(word is Activity.ACTIVE) == yes for word, yes in zip(made.active, active, strict=False)]
    known = [word is not Activity.UNDECIDED for word in made.active[:m]]
    right = (
        within(true.norm, made.residual.low, made.residual.high)
        and within(counted.norm, made.counted.low, made.counted.high),
        within(violation, made.violation.low, made.violation.high),
        within(product, made.complementarity.low, made.complementarity.high),
        within(counted.y, made.multipliers_low[:m], high),
        all(right for right, known_ in zip(words, known, strict=True) if known_)
        and all(word is not Activity.ACTIVE for word in made.active[m:]),
    )
    said = (
        made.residual.low > 0.0 or made.residual.high < 0.5 * np.linalg.norm(case.smooth.slopes(x)[0]),
        True,
        np.isfinite(made.complementarity.high),
        bool(np.isfinite(high).all()),
        any(known),
    )
    return Verdicts(np.array(said, dtype=bool), np.array(right, dtype=bool))


class RoughCertificates(Trials):
    """Certificates of points of problems whose values are rough."""

    title = "robustness rough certificates"
    subject = "Figures of certificates that are right / that say something"
    protocol = "One certificate a point; a figure that says nothing is right."
    sizes: ClassVar = {
        "quick": {"case": ("bowl, noise 1e-3",), "place": ("near",), "seed": (0,)},
        "full": {"case": tuple(case.name for case in cases()), "place": PLACES, "seed": tuple(range(5))},
    }
    lines = ("case",)

    def trial(self, case: str, place: str, seed: int) -> Figures:
        rough = next(one for one in cases() if one.name == case)
        x = rough.point(place, np.random.default_rng([seed, PLACES.index(place)]))
        found = judged(rough, x, Certifier().certify(rough.problem(seed), x, seed))
        return {"said": found.said.tolist(), "right": found.right.tolist()}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        right, said = (np.sum([row[part] for row in rows], axis=0) for part in ("right", "said"))
        counts = {name: f"{a} / {b}" for name, a, b in zip(FIGURES, right, said, strict=True)}
        return {"points": str(len(rows)), **counts}

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        yield {"case": "all"}, rows
