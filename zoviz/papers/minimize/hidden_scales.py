r"""A study of ``minimize`` on nine black boxes whose variables have scales that neither start nor bounds tell.

The boxes are those of ``zoviz.papers.robustness.boxes``, functions of z of which each is shown as a function of

.. math:: x_i = x^0_i + s_i (z_i - z^0_i), \qquad \log_{10} s_i \text{ uniform on } [-3, 3],
          \qquad x^0 = 0 \text{ or } 1,

so that neither the start nor, where the box can do without any, the bounds tell s. A box counts as solved where

.. math:: \max_i [h_i(x)]_+ / \max(1, |h_i(x^0)|) \le 10^{-4}, \qquad f(x) - f^* \le 10^{-3} (1 + |f^*|),

f and f* in units of 1e6 for ``values``.

    zoviz reproduce minimize-hidden-scales --full                          # every method, minutes
    zoviz reproduce minimize-hidden-scales --full --only method=ALSPG,SLSQP
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.papers.robustness.boxes import MAKERS, NumberedBox, boxes
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, across, grouped

SPAN = 3.0
"""Powers of ten to both sides between which the scales are drawn."""
FEASIBLE, NEAR = 1e-4, 1e-3
BOUNDED = ("hyperbolas", "entropy", "indefinite")
"""Boxes that cannot do without their bounds."""
METHODS = ("auto", "ZOSQP", "ALSPG", "SLSQP", "COBYLA", "COBYQA", "TrustConstr", "CMAES") + (
    "ZOSPLM", "ZOCEG", "ZOBCEG", "ZOALM",
)  # fmt: skip


class HiddenBox(NamedTuple):
    """A black box of z, shown as a function of x with other scales and another start.

    Attributes
    ----------
    box : NumberedBox
    scale, x0 : Array, shape (n,)
    bounded : bool
        Whether its bounds are shown.
    """

    box: NumberedBox
    scale: Array
    x0: Array
    bounded: bool

    def z(self, x: Array) -> Array:
        """Return the point z (n,) that x (n,) stands for."""
        return self.box.x0 + (x - self.x0) / self.scale

    def at(self, x: Array) -> tuple[float, Array]:
        """Return f and h (m,) at x (n,)."""
        value = self.box.value(self.z(x))
        return float(value.f), value.h

    @property
    def bounds(self) -> list[tuple[float, float]]:
        """The bounds (lower, upper) of every component of x; infinite where they are not shown."""
        if not self.bounded:
            return [(-np.inf, np.inf)] * len(self.x0)
        ends = (np.array(end, dtype=float) for end in zip(*self.box.bounds, strict=True))
        low, high = (self.x0 + self.scale * (end - self.box.x0) for end in ends)
        return list(zip(low.tolist(), high.tolist(), strict=True))


def hidden(name: str, seed: int) -> HiddenBox:
    """Return a box of a seed in disguise; every other one starts at 1, the rest at 0."""
    box, number = boxes(seed)[name], list(MAKERS).index(name)
    scale = 10.0 ** np.random.default_rng([1000 + seed, number]).uniform(-SPAN, SPAN, len(box.x0))
    return HiddenBox(box, scale, np.full(len(box.x0), float(number % 2)), name in BOUNDED)


class HiddenScales(Trials):
    """What methods make of the nine boxes."""

    title = "minimize hidden scales"
    subject = f"Gap / (1 + |f*|), scaled violation where it is above {FEASIBLE:g}, and calls; * where a box is solved"
    protocol = "The answer of minimize with its own start and bounds."
    sizes: ClassVar = {
        "quick": {"seed": (21,), "box": ("inactive",), "method": ("ALSPG",), "calls": (200,)},
        "full": {"seed": (21,), "box": tuple(MAKERS), "method": METHODS, "calls": (5000,)},
    }
    lines = ("seed", "box")
    shared = ("seed", "box")

    def reference(self, seed: int, box: str) -> Figures:
        return {"optimum": boxes(seed)[box].optimum()}

    def trial(self, seed: int, box: str, method: str, calls: int, optimum: float) -> Figures:
        own = hidden(box, seed)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            result = minimize(
                own.at, own.x0, bounds=own.bounds, joint=True, method=method, max_calls=calls, stop="budget", seed=0
            )
        f, h = own.at(result.x)
        size = np.maximum(1.0, np.abs(own.at(own.x0)[1]))
        gap, violation = own.box.gap(f, optimum), float((h / size).max(initial=0.0))
        solved = violation <= FEASIBLE and gap <= NEAR
        return {"gap": gap, "violation": violation, "spent": result.calls, "solved": solved}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        if "box" not in rows[0]:
            return {str(one["method"]): str(one["count"]) for one in rows}
        return across(rows, "method", lambda own: "; ".join(map(_answer, own)))

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        counts = [{**at, "count": sum(one["solved"] for one in own)} for at, own in grouped(rows, "method")]
        yield {"box": "solved (*)"}, counts


def _answer(one: Row) -> str:
    violation = f" v {one['violation']:.0e}" if one["violation"] > FEASIBLE else ""
    return f"{'* ' if one['solved'] else ''}{one['gap']:.1e}{violation} {one['spent']}"
