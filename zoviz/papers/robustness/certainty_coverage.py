r"""How often the certainty's intervals of 95 % hold the truth, and which words are wrong.

A trial is a whole run of ZOSQP with 100 (n + 1) calls under noise, and 16 (n + 1) fresh calls that judge its answer.
Noise: normal; heteroscedastic, 0.3 to 3 times as large with x_1 and by rows; Student's t of 3 degrees of freedom.
``kind`` is *made* for the problems by which the rules were made, *judged* for those that had no part in them.

Columns: shares, in per cent, of intervals that hold f*, f(x), h(x), the multipliers of active rows, and the minimum's
variables where they are determined (narrower than a quarter of the bounds); rows called active that are not, or
inactive though active, of all rows, and undecided ones; medians of the widths of f* and f(x) in standard deviations of
the noise; ``price``: how often four times as many fresh calls give half the width of f* within a factor of sqrt(2), so
that the price of a digit is right within a factor of 2. ``-misfit``: as if a quadratic were true, in the choice of the
radius and in errors. ``alone``: the run's own calls, as if they had not chosen the point. ``few``: 5 (n + 1) fresh
calls, as many as a run with 100 (n + 1) calls in all makes itself. Widths of multipliers are shares of these.

    zoviz reproduce certainty-coverage --full                            # hours
    zoviz reproduce certainty-coverage --full --only problem=beam law=normal
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from zoviz.certainty.calls import FARTHEST, Calls
from zoviz.certainty.certainty import Certainty
from zoviz.certainty.estimate import certainty, design
from zoviz.certainty.judge import SHARE
from zoviz.certainty.lengths import CALLS
from zoviz.certainty.local_model import Design
from zoviz.certainty.stationarity import Activity, Interval
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.papers.robustness.certainty_problems import JUDGED, PROBLEMS, Posed, truth_of
from zoviz.problems import BlackBox
from zoviz.runs.run import Run
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, grouped

RUN, MORE = 100, 4
"""Calls of a run for each of n + 1; fresh calls of the second judgement, in those of the first."""
DETERMINED = 0.25
"""Share of the bounds' width below which an interval of a variable counts as one."""
LAWS = ("normal", "heteroscedastic", "student")


class NoisyBox:
    """A problem under noise, which keeps its calls.

    Parameters
    ----------
    posed : Posed
    law : str
    scale : float
        Standard deviation.
    optimum : Array, shape (n,)
        Where heteroscedastic noise has it.
    random : Generator
    """

    def __init__(self, posed: Posed, law: str, scale: float, optimum: Array, random: np.random.Generator) -> None:
        self._posed, self._law, self._scale, self._optimum, self._random = posed, law, scale, optimum, random
        self.x: list[Array] = []
        self.y: list[Array] = []

    def __call__(self, x: Array) -> tuple[float, Array]:
        """Return f and h (m,) at a point (n,)."""
        values = self.called(x[None]).y[0]
        self.x.append(x.copy())
        self.y.append(values)
        return float(values[0]), values[1:]

    def called(self, x: Array) -> Calls:
        """Return calls at points (k, n)."""
        y = np.array([self._posed.values(one) for one in x])
        if self._law == "student":
            noise = self._random.standard_t(3, y.shape) / np.sqrt(3.0)
        else:
            noise = self._random.standard_normal(y.shape)
        return Calls(x, y + self._scale * self._sizes(x, y.shape[1]) * noise)

    def _sizes(self, x: Array, outputs: int) -> Array:
        if self._law != "heteroscedastic":
            return np.ones((len(x), outputs))
        width = self._posed.upper[0] - self._posed.lower[0]
        place = np.exp(np.clip(6.0 * (x[:, 0] - self._optimum[0]) / width, -1.2, 1.2))
        return place[:, None] * np.append(1.0, np.linspace(0.5, 2.0, outputs - 1))


def known_minimum(problem: str) -> Figures:
    """Return the minimum of a problem as figures: x, f, multipliers, and which rows are active."""
    truth = truth_of(PROBLEMS[problem])
    active = [bool(one) for one in truth.active]
    return {"x": truth.x.tolist(), "f": truth.f, "multipliers": truth.multipliers.tolist(), "active": active}


def scored(sure: Certainty, posed: Posed, truth: Row, prefix: str) -> Figures:
    """Return what a certainty has right, under names that begin with a prefix."""

    def inside(interval: Interval, value: float) -> bool:
        slack = 1e-7 * (1.0 + abs(value))
        return bool(interval.low - slack <= value <= interval.high + slack)

    def share(right: list[bool]) -> float:
        return float(np.mean(right)) if right else np.nan

    values, active = posed.values(sure.x), truth["active"]
    told = [
        inside(one, x)
        for one, x, width in zip(sure.x_star, truth["x"], posed.upper - posed.lower, strict=True)
        if 0.0 < one.high - one.low < DETERMINED * width
    ]
    words = list(zip(sure.activity, active, strict=True))
    multipliers = [
        inside(one, y) for one, y, yes in zip(sure.multipliers, truth["multipliers"], active, strict=True) if yes
    ]
    widths = [
        (one.high - one.low) / y for one, y in zip(sure.multipliers, truth["multipliers"], strict=True) if y > 0.0
    ]
    figures = {
        "f*": inside(sure.f_star, truth["f"]),
        "f(x)": inside(sure.f_x, values[0]),
        "h": share([inside(one, h) for one, h in zip(sure.h_x, values[1:], strict=True)]),
        "y": share(multipliers),
        "x": share(told),
        "wrong": share([word is (Activity.INACTIVE if yes else Activity.ACTIVE) for word, yes in words]),
        "undecided": share([word is Activity.UNDECIDED for word, _ in words]),
        "width f*": sure.f_star.high - sure.f_star.low,
        "width f": sure.f_x.high - sure.f_x.low,
        "width y": float(np.mean(widths)) if widths else np.nan,
    }
    return {prefix + name: value for name, value in figures.items()}


def alone(before: Calls, x: Array, box: Box, plan: Design) -> Certainty:
    """Return the certainty by a run's calls (N, n) alone, as if they had not chosen the point x (n,)."""
    near = np.abs((before.x - x) / plan.length).max(axis=1) <= FARTHEST
    return certainty(before.among(np.zeros(len(near), dtype=bool)), before.among(near), x, box, plan)


class CertaintyCoverage(Trials):
    """Coverage of the certainty's intervals."""

    title = "certainty coverage"
    subject = "How often intervals of 95 % hold the truth, in per cent"
    protocol = f"Runs of ZOSQP with {RUN} (n + 1) calls, judged by {CALLS} (n + 1) fresh ones."
    sizes: ClassVar = {
        "quick": {"problem": ("single",), "law": ("normal",), "scale": (1e-2,), "seed": (0, 1)},
        "full": {"problem": tuple(PROBLEMS), "law": LAWS, "scale": (1e-3, 1e-2), "seed": tuple(range(400))},
    }
    lines = ("problem", "law", "scale")
    shared = ("problem",)

    def reference(self, problem: str) -> Figures:
        return known_minimum(problem)

    def trial(self, problem: str, law: str, scale: float, seed: int, **truth: Any) -> Figures:
        posed, random = PROBLEMS[problem], np.random.default_rng([seed, LAWS.index(law)])
        box, noisy = Box(posed.lower, posed.upper), NoisyBox(posed, law, scale, np.array(truth["x"]), random)
        n, m = len(posed.start), len(truth["active"])
        bounds = list(zip(posed.lower, posed.upper, strict=True))
        black_box = BlackBox(noisy, joint=True, m=m, bounds=bounds, x0=posed.start, noise="independent")
        run = Run(black_box, "ZOSQP", replicas=1, calls=RUN * (n + 1), seed=seed)
        run.run()
        x, before = run.result.x[0], Calls(np.array(noisy.x), np.array(noisy.y))
        plan = design(x, box, None, random, before)
        fresh = noisy.called(plan.points)
        longer = design(x, box, MORE * CALLS * (n + 1), random, before)
        sure = certainty(before, fresh, x, box, plan)
        wide = design(x, box, None, random)  # whose radius knows nothing of misfit either
        without = certainty(before, noisy.called(wide.points), x, box, wide, misfit=False)
        more = certainty(before, noisy.called(longer.points), x, box, longer)
        fewer = design(x, box, RUN // SHARE * (n + 1), random, before)
        few = certainty(before, noisy.called(fewer.points), x, box, fewer)
        ratio = (more.f_star.high - more.f_star.low) / (sure.f_star.high - sure.f_star.low)
        return {
            **scored(sure, posed, truth, ""),
            **scored(without, posed, truth, "-misfit "),
            **scored(alone(before, x, box, plan), posed, truth, "alone "),
            **scored(few, posed, truth, "few "),
            "price": bool(0.5 / np.sqrt(2.0) <= ratio <= 0.5 * np.sqrt(2.0)),
        }

    def rows(self, measured: Any) -> list[Row]:
        return [{"kind": "judged" if one["problem"] in JUDGED else "made", **one} for one in super().rows(measured)]

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        def percent(name: str) -> str:
            known = [one[name] for one in rows if not np.isnan(one[name])]
            return f"{100.0 * np.mean(known):.0f}" if known else ""

        def width(name: str) -> str:
            unit = [1.0 if name.endswith("y") else one["scale"] for one in rows]
            known = [one[name] / size for one, size in zip(rows, unit, strict=True) if not np.isnan(one[name])]
            return f"{np.median(known):.2g}" if known else ""

        names = ("f*", "f(x)", "h", "y", "x", "wrong", "undecided", "price")
        cut = [f"{prefix}{name}" for prefix in ("-misfit ", "alone ", "few ") for name in ("f*", "f(x)", "y", "x")]
        widths = [f"{prefix}width {name}" for prefix in ("", "few ") for name in ("f*", "f", "y")]
        return (
            {"kind": rows[0]["kind"], "trials": str(len(rows))}
            | {name: percent(name) for name in (*names, *cut)}
            | {name: width(name) for name in widths}
        )

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        for place, own in grouped(rows, "kind", "scale"):
            yield {"problem": f"all {place['kind']}", "scale": place["scale"]}, own
