r"""A study of ``minimize`` on functions whose values have few digits, as programs print them.

Each problem has a known optimum x^*: with multipliers y >= 0 of rows that hold there, and q positive definite,

.. math:: f(x) = \tfrac12 d^T Q d + \kappa \textstyle\sum_i d_i^4 - \sum_j y_j a_j^T d, \qquad d = x - x^*, \qquad
          h_j(x) = a_j^T d + \tfrac12 c_j |d|^2 \le 0,

and one row more that is slack. What a method sees is rounded: to decimals, to significant digits beside a constant, to
single precision, to multiples of 0.05, or the rows alone. The loss is f(x) - f^* of the point returned, of f as it was
before it was rounded, over what the rounding can hide,

.. math:: \delta = q_0 + \textstyle\sum_j y_j q_j,

where q are the spacings of values; infinite where a row exceeds its own spacing.

    zoviz reproduce minimize-printed-digits --full                               # minutes
    zoviz reproduce minimize-printed-digits --full --only method=auto calls=200,2000 start=0,1
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, across

WIDTH = 5.0
"""Distance of the bounds from the origin; optima are within 2 of it, and starts within 4."""

Rounding = Callable[[Array], Array]


def decimals(digits: int) -> Rounding:
    """Return the rounding to ``digits`` decimals."""
    return lambda values: np.round(values, digits)


def significant(digits: int, offset: float = 0.0) -> Rounding:
    """Return the rounding of offset + value to ``digits`` significant digits."""
    return lambda values: np.array([float(f"{value + offset:.{digits - 1}e}") for value in values]) - 0.0


def multiples(spacing: float) -> Rounding:
    """Return the rounding to multiples of a spacing."""
    return lambda values: np.round(values / spacing) * spacing


def single(values: Array) -> Array:
    """Return values (k,) in single precision."""
    return values.astype(np.float32).astype(np.float64)


def exact(values: Array) -> Array:
    """Return the values (k,) as they are."""
    return values


class Printed(NamedTuple):
    """A problem whose values are rounded.

    Attributes
    ----------
    n, active : int
        Variables, and rows that hold at the optimum; there is one more.
    of_f, of_h : callable
        Roundings of arrays of values.
    grain_f, grain_h : float
        The spacings of values near the optimum.
    offset : float
        A constant in f.
    quartic : float
        kappa.
    seed : int
        Of the numbers.
    """

    n: int
    active: int
    of_f: Rounding
    of_h: Rounding
    grain_f: float
    grain_h: float
    offset: float = 0.0
    quartic: float = 0.0
    seed: int = 0


PROBLEMS: dict[str, Printed] = {
    "one decimal": Printed(4, 2, decimals(1), exact, 0.1, 0.0, 3.0, 0.0, 1),
    "two decimals": Printed(5, 2, decimals(2), decimals(2), 0.01, 0.01, -1.0, 0.1, 2),
    "6 digits": Printed(5, 3, significant(6), exact, 0.01, 0.0, 1000.0, 0.1, 3),
    "5 digits": Printed(6, 2, significant(5), significant(5), 0.1, 1e-5, 1000.0, 0.0, 4),
    "single": Printed(4, 2, single, single, 2.0**-23 * 64.0, 2.0**-23, 100.0, 0.3, 5),
    "twentieths": Printed(6, 3, multiples(0.05), exact, 0.05, 0.0, 0.0, 0.0, 6),
    "rows in 128ths": Printed(4, 2, exact, multiples(1.0 / 128.0), 0.0, 1.0 / 128.0, 0.0, 0.1, 7),
}


class PrintedBox:
    """A problem as a user's function x -> (f, h) of rounded values.

    Parameters
    ----------
    printed : Printed
    """

    def __init__(self, printed: Printed) -> None:
        rng = np.random.default_rng(printed.seed)
        n, k = printed.n, printed.active
        turn = np.linalg.qr(rng.standard_normal((n, n)))[0]
        self.printed, self.m = printed, k + 1
        self.optimum = rng.uniform(-2.0, 2.0, n)
        self._hessian = turn @ np.diag(np.geomspace(0.5, 10.0, n)) @ turn.T
        rows = rng.standard_normal((k + 1, n))
        self._rows = rows / np.linalg.norm(rows, axis=1)[:, None]
        self._curvatures = rng.uniform(0.0, 0.5, k + 1)
        self.multipliers = np.append(rng.uniform(0.5, 3.0, k), 0.0)
        self._slack = np.append(np.zeros(k), 0.5)

    def start(self, number: int) -> Array:
        """Return one of the starts, (n,)."""
        return np.random.default_rng((100 + self.printed.seed, number)).uniform(-4.0, 4.0, self.printed.n).round(1)

    def true(self, x: Array) -> tuple[float, Array]:
        """Return f - f^* and h (m,), before they are rounded."""
        d = x - self.optimum
        f = 0.5 * d @ self._hessian @ d + self.printed.quartic * (d**4).sum() - self.multipliers @ self._rows @ d
        return float(f), self._rows @ d + 0.5 * self._curvatures * (d @ d) - self._slack

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Return f and h (m,) as a method sees them."""
        f, h = self.true(x)
        return float(self.printed.of_f(np.array([f + self.printed.offset]))[0]), self.printed.of_h(h)

    @property
    def hidden(self) -> float:
        """How much of f the rounding can hide."""
        return self.printed.grain_f + float(self.multipliers.sum()) * self.printed.grain_h

    def loss(self, x: Array) -> float:
        """Return the loss of a point (n,) in units of what the rounding hides; infinite outside the constraints."""
        f, h = self.true(x)
        return max(f, 0.0) / self.hidden if h.max() <= self.printed.grain_h + 1e-6 else np.inf


class PrintedDigits(Trials):
    """What methods make of problems whose values are rounded."""

    title = "minimize printed digits"
    subject = "Losses at functions whose values have few digits, over what the rounding hides"
    protocol = "The loss of the point returned, of each start; calls None: the default budget."
    sizes: ClassVar = {
        "quick": {"problem": ("one decimal",), "method": ("COBYQA", "ZOSQP"), "calls": (60,), "start": (0,)},
        "full": {
            "problem": tuple(PROBLEMS),
            "method": ("auto", "ZOSQP", "COBYQA", "CMAES"),
            "calls": (200, 600, 2000, 6000, None),
            "start": (0, 1, 2),
        },
    }
    lines = ("problem", "method")

    def trial(self, problem: str, method: str, calls: int | None, start: int) -> Figures:
        box = PrintedBox(PROBLEMS[problem])
        bounds = [(-WIDTH, WIDTH)] * box.printed.n
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = minimize(
                box,
                box.start(start),
                bounds=bounds,
                joint=True,
                method=method,
                max_calls=calls,
                stop="budget",
                seed=start,
            )
        return {"loss": box.loss(result.x), "spent": result.calls, "message": result.message}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        return across(rows, "calls", lambda own: " ".join(f"{one['loss']:.2g}" for one in own))
