r"""A study of ``minimize`` on nine black boxes whose variables have scales that neither start nor bounds tell.

Each box is a function of z, from a start z^0 at which |z| is of order 1, that is shown as a function of

.. math:: x_i = x^0_i + s_i (z_i - z^0_i), \qquad \log_{10} s_i \text{ uniform on } [-3, 3],
          \qquad x^0 = 0 \text{ or } 1,

so that neither the start nor, where there are none, the bounds tell s. The boxes: a convex function with an inactive
constraint; a curved valley in a ball; a quadratic with an active plane; curvatures from 1e-3 to 1e3; large values with
a large constant; a nonlinear equality as two rows; hyperbolas and an infeasible start; entropy on a simplex that is two
rows; an indefinite quadratic with 15 planes. Their numbers are drawn from fixed seeds.

f* is in closed form for the entropy and where no constraint holds; else the lowest value that SLSQP reached from 400
starts in z (``references`` finds it again). A box counts as solved where

.. math:: \max_i [h_i(x)]_+ / \max(1, |h_i(x^0)|) \le 10^{-4}, \qquad f(x) - f^* \le 10^{-3} (1 + |f^*|).

For ``values`` the second line is in the units of the function that was multiplied by 1e6.

    zoviz reproduce minimize-hidden-scales --full                          # every method, minutes
    zoviz reproduce minimize-hidden-scales --full --only method=ALSPG,SLSQP
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.papers.lowest import lowest
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, across, grouped

SPAN = 3.0
"""Powers of ten to both sides between which the scales are drawn."""
FEASIBLE, NEAR = 1e-4, 1e-3
METHODS = ("auto", "ZOSQP", "ALSPG", "SLSQP", "COBYLA", "COBYQA", "TrustConstr", "CMAES") + (
    "ZOSPLM", "ZOCEG", "ZOBCEG", "ZOALM",
)  # fmt: skip
OPTIMA: dict[str, float] = {
    "inactive": 1.0,
    "valley": 0.0763256437047486,
    "plane": -4.492026177856164,
    "curvatures": 3.1396834408733144e-05,
    "values": 10777632.63736428,
    "equality": 0.7875949019679874,
    "hyperbolas": 10.106252329995755,
    "entropy": -3.641087513911752,
    "indefinite": -36.58838669888924,
}
"""f*, found by ``references``."""


class HiddenBox(NamedTuple):
    """A black box: a function of z, shown as a function of x with other scales and another start.

    Attributes
    ----------
    value : callable
        z (n,) to f and h (m,).
    z0, scale, x0 : Array, shape (n,)
    lower, upper : Array, shape (n,)
        Bounds of z.
    unit : float
        What f was multiplied by.
    """

    value: Callable[[Array], tuple[float, Array]]
    z0: Array
    scale: Array
    x0: Array
    lower: Array
    upper: Array
    unit: float = 1.0

    def z(self, x: Array) -> Array:
        """Return the point z (n,) that x (n,) stands for."""
        return self.z0 + (x - self.x0) / self.scale

    def at(self, x: Array) -> tuple[float, Array]:
        """Return f and h (m,) at x (n,)."""
        return self.value(self.z(x))

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The bounds (lower, upper) of every component of x."""
        low, high = (self.x0 + self.scale * (end - self.z0) for end in (self.lower, self.upper))
        return list(zip(low.tolist(), high.tolist(), strict=True))


def _disguise(
    seed: int,
    value: Callable[[Array], tuple[float, Array]],
    z0: Array,
    ends: tuple[float, float] = (-np.inf, np.inf),
    unit: float = 1.0,
) -> HiddenBox:
    """Disguise a function of z by scales from a seed; odd seeds start at 1, even ones at 0."""
    n = len(z0)
    scale = 10.0 ** np.random.default_rng(1000 + seed).uniform(-SPAN, SPAN, n)
    return HiddenBox(value, z0, scale, np.full(n, float(seed % 2)), np.full(n, ends[0]), np.full(n, ends[1]), unit)


def _inactive() -> HiddenBox:
    def value(z: Array) -> tuple[float, Array]:
        return float(np.cosh(z[0] - 0.3) + 2.0 * (z[1] + 0.4 * z[0]) ** 2), np.array([z @ z - 9.0])

    return _disguise(10, value, np.array([1.7, -1.1]))


def _valley() -> HiddenBox:
    def value(z: Array) -> tuple[float, Array]:
        f = (50.0 * (z[1:] - z[:-1] ** 2) ** 2 + (1.0 - z[:-1]) ** 2).sum()
        return float(f), np.array([z @ z - 3.5])

    return _disguise(1, value, np.array([-0.4, 0.7, 0.2, -0.3, 0.5]))


def _plane() -> HiddenBox:
    rng = np.random.default_rng(12)
    a, c = rng.standard_normal((10, 10)), rng.standard_normal(10)
    matrix = a @ a.T / 10.0 + 0.5 * np.eye(10)

    def value(z: Array) -> tuple[float, Array]:
        return float(0.5 * z @ matrix @ z - c @ z), np.array([z.sum() + 2.0, z[0] - z[1] - 1.0])

    return _disguise(2, value, rng.uniform(-1.0, 1.0, 10))


def _curvatures() -> HiddenBox:
    rng = np.random.default_rng(13)
    curvature, c = 10.0 ** np.linspace(-3.0, 3.0, 10), rng.uniform(-1.0, 1.0, 10)

    def value(z: Array) -> tuple[float, Array]:
        return float(curvature @ (z - c) ** 2), np.array([(z - c) @ (z - c) - 30.0, z[:5].sum() - c[:5].sum() + 0.2])

    return _disguise(3, value, c + rng.choice([-1.0, 1.0], 10))


def _values() -> HiddenBox:
    c = np.random.default_rng(14).uniform(0.5, 1.5, 10)

    def value(z: Array) -> tuple[float, Array]:
        return float(1e6 * ((z - c) ** 4).sum() + 1e7), np.array([z @ z - 4.0])

    return _disguise(4, value, np.full(10, -0.3), unit=1e6)


def _equality() -> HiddenBox:
    def value(z: Array) -> tuple[float, Array]:
        row = z[0] * z[1] + z[2] ** 2 + z[3] - 2.0
        return float(z @ z + z[0] - np.sin(z[3])), np.array([row, -row])

    return _disguise(5, value, np.array([0.6, 1.4, -0.9, 0.8]))


def _hyperbolas() -> HiddenBox:
    c = np.random.default_rng(16).uniform(0.5, 2.0, 8)

    def value(z: Array) -> tuple[float, Array]:
        return float(c @ z), np.append(1.0 - z[:-1] * z[1:], 1.5 - z[0] * z[7])

    return _disguise(6, value, np.full(8, 0.4), (0.01, 20.0))


def _entropy_prices() -> Array:
    return np.random.default_rng(17).uniform(-1.0, 1.0, 30)


def _entropy() -> HiddenBox:
    c = _entropy_prices()

    def value(z: Array) -> tuple[float, Array]:
        row = z.sum() - 1.0
        return float(c @ z + (z * np.log(z)).sum()), np.array([row, -row])

    return _disguise(7, value, np.full(30, 0.2), (1e-4, 1.0))


def _indefinite() -> HiddenBox:
    rng = np.random.default_rng(18)
    a = rng.standard_normal((20, 20))
    matrix, c = 0.5 * (a + a.T), rng.standard_normal(20)
    rows, limits = rng.standard_normal((15, 20)), rng.uniform(0.5, 1.5, 15)

    def value(z: Array) -> tuple[float, Array]:
        return float(0.5 * z @ matrix @ z + c @ z), rows @ z - limits

    return _disguise(8, value, np.zeros(20), (-1.0, 1.0))


BOXES: dict[str, Callable[[], HiddenBox]] = {
    "inactive": _inactive,
    "valley": _valley,
    "plane": _plane,
    "curvatures": _curvatures,
    "values": _values,
    "equality": _equality,
    "hyperbolas": _hyperbolas,
    "entropy": _entropy,
    "indefinite": _indefinite,
}


def references(starts: int = 400) -> dict[str, float]:
    """Return f* of every box: the lowest that SLSQP reaches in z, by differences, from this many starts."""
    return {name: _lowest(make(), starts) for name, make in BOXES.items()}


def _lowest(box: HiddenBox, starts: int) -> float:
    rng, n = np.random.default_rng(0), len(box.z0)
    others = (box.z0 + rng.uniform(-2.0, 2.0, n) for _ in range(starts - 1))
    bounds = list(zip(box.lower, box.upper, strict=True))
    return lowest(box.value, [box.z0, *others], bounds, box.unit, iterations=1000)


class HiddenScales(Trials):
    """What methods make of the nine boxes."""

    title = "minimize hidden scales"
    subject = f"Gap / (1 + |f*|), scaled violation where it is above {FEASIBLE:g}, and calls; * where a box is solved"
    protocol = "The answer of minimize with its own start and bounds."
    sizes: ClassVar = {
        "quick": {"box": ("inactive",), "method": ("ALSPG",), "calls": (200,), "seed": (0,)},
        "full": {"box": tuple(BOXES), "method": METHODS, "calls": (5000,), "seed": (0,)},
    }
    lines = ("box",)

    def trial(self, box: str, method: str, calls: int, seed: int) -> Figures:
        own = BOXES[box]()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = minimize(own.at, own.x0, bounds=own.bounds, joint=True, method=method, max_calls=calls, seed=seed)
        f, h = own.at(result.x)
        size = np.maximum(1.0, np.abs(own.at(own.x0)[1]))
        gap = float((f - OPTIMA[box]) / (own.unit * (1.0 if own.unit > 1.0 else 1.0 + abs(OPTIMA[box]))))
        violation = float((h / size).max(initial=0.0))
        solved = violation <= FEASIBLE and gap <= NEAR
        return {"gap": gap, "violation": violation, "spent": result.calls, "solved": solved}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        if "box" not in rows[0]:
            return {str(one["method"]): str(one["count"]) for one in rows}
        return across(rows, "method", lambda own: "; ".join(map(_answer, own)))

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        """Yield how many boxes each method solves."""
        counts = [{**at, "count": sum(one["solved"] for one in own)} for at, own in grouped(rows, "method")]
        yield {"box": "solved (*)"}, counts


def _answer(one: Row) -> str:
    violation = f" v {one['violation']:.0e}" if one["violation"] > FEASIBLE else ""
    return f"{'* ' if one['solved'] else ''}{one['gap']:.1e}{violation} {one['spent']}"
