r"""A study of ``minimize`` with points that are known from before, against a cold start: the calls to a solution.

The table has 50 or 200 points: ``random`` ones of the box; the first of a run on a ``near`` problem, whose variables
are shifted by 2 % of the box and whose values are 2 % higher; or ``stale`` ones, random and with each output 20 % too
high or too low. Where a side of the box is infinite or far, 2 max(1, |x^0_i|) from the start stands for it. A run is
over with the first call at a point x with

.. math:: f(x) - f^* \le 10^{-3} S_0, \qquad \max_i\,[h_i(x)]_+ / S_i \le \max(10^{-4}, \sigma), \qquad
          S_0 = \max(1, |f^*|), \quad S_i = \max(1, |h_i(x^0)|),

by values without noise; noise is independent with sd sigma S_j, also in the table. The ratio of a problem is that of
the calls with the table to those of the cold start, the median over seeds; each seed has a table of its own.

Rules were made on other problems: the engineering designs of ``classics``, STANCMIN, HS268, HS20, HS89, HS113, HS79,
HS37, HS19, HS116, HS43, and instance 1 of COCO's functions 3, 9, 14, 26, 33 and 38.

    zoviz reproduce minimize-past --full --folder docs/performance                     # goes on where it stopped
    zoviz reproduce minimize-past --full --folder docs/performance --only noise=0 seed=0
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from zoviz.core.streams import Streams
from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.papers.minimize.classics import posed
from zoviz.papers.minimize.unseen_pool import optima
from zoviz.problems.base import Problem
from zoviz.problems.coco.bbob_constrained import BBOBConstrained
from zoviz.problems.engineering.gramacy import Gramacy
from zoviz.problems.engineering.rankine_cycle import RankineCycle
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, grouped

NEAR, FEASIBLE, WORSE = 1e-3, 1e-4, 1.05
SHIFT, HIGHER, WRONG = 0.02, 0.02, 0.2
SWEEPS, TABLE = 150, 200
"""Calls of a run over n + 1, and points of which a table has the first."""
OWN: dict[str, type[Problem]] = {"Gramacy": Gramacy, "RankineCycle": RankineCycle}
COCO = {f"f{function}": function for function in (2, 8, 15, 27, 34, 39)}
CUTEST = "MINMAXRB HS73 HS102 POLAK5 HS13 HS16 HS72 HS35 ZECEVIC2 HS14 SNAKE HS66"
"""Every third problem of the reporting half of ``unseen_pool`` with at most 12 variables."""


class Solved(Exception):
    """A run came to a solution."""


class Course(NamedTuple):
    """Points (N, n) that were called, their values (N, 1 + m), and the calls to a solution, infinite without one."""

    points: Array
    values: Array
    hit: float


class Task(NamedTuple):
    """A problem, its start (n,), f*, the box (2, n) of random points, and the sizes (1 + m,) of its values."""

    problem: Any
    x0: Array
    optimum: float
    box: Array
    sizes: Array

    @classmethod
    def of(cls, name: str) -> Task:
        """Return the problem of this name, with instance 3 of COCO's."""
        if name in COCO:
            problem: Any = BBOBConstrained(function=COCO[name], instance=3)
        else:
            problem = OWN[name]() if name in OWN else posed(name)[0]
        x0 = problem.domain.project(problem.initial(Streams(0, 1)))[0]
        known = problem.known_optimum
        optimum = optima()[name] if known is None else known.value
        reach = 2.0 * np.maximum(1.0, np.abs(x0))
        low, high = problem.domain.lower, problem.domain.upper
        far = 500.0 * reach
        box = np.where(low < x0 - far, x0 - reach, low), np.where(high > x0 + far, x0 + reach, high)
        sizes = np.maximum(1.0, np.abs(np.append(optimum, problem.evaluate(x0).h)))
        return cls(problem, x0, optimum, np.array(box), sizes)

    def values(self, x: Array) -> Array:
        """Return f and h (N, 1 + m) at points (N, n), without noise."""
        with np.errstate(all="ignore"):
            return np.array([self.problem.evaluate(one).stacked for one in x])

    def is_solved(self, values: Array, noise: float) -> bool:
        """Return whether values (1 + m,) are those of a solution."""
        violation = (values[1:] / self.sizes[1:]).max(initial=0.0)
        return bool(values[0] - self.optimum <= NEAR * self.sizes[0] and violation <= max(FEASIBLE, noise))

    def run(self, noise: float, seed: int, past: Any = None, shift: Array | None = None) -> Course:
        """Minimise, up to the first solution; with a ``shift`` (n,) the problem that is near."""
        rng, box, points, seen = np.random.default_rng(seed), self.problem.domain, [], []

        def fun(x: Array) -> tuple[float, Array]:
            values = self.near(x, shift) if shift is not None else self.values(x[None])[0]
            points.append(x)
            seen.append(values + noise * self.sizes * rng.standard_normal(len(values)))
            if shift is None and self.is_solved(values, noise):
                raise Solved
            return float(seen[-1][0]), seen[-1][1:]

        calls = SWEEPS * (len(self.x0) + 1) if shift is None else 2 * TABLE
        bounds = list(zip(box.lower, box.upper, strict=True))
        solved, settings = False, {"joint": True, "max_calls": calls, "stop": "budget", "seed": seed, "past": past}
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                minimize(fun, self.x0, bounds=bounds, **settings)
            except Solved:
                solved = True
        return Course(np.array(points), np.array(seen), len(points) if solved else np.inf)

    def near(self, x: Array, shift: Array) -> Array:
        """Return f and h (1 + m,) of the near problem at x (n,)."""
        box = self.problem.domain
        values: Array = self.values(np.clip(x + shift, box.lower, box.upper)[None])[0]
        return values + HIGHER * np.append(np.abs(values[0]), values[1:])

    def table(self, source: str, noise: float, rng: np.random.Generator) -> tuple[Array, Array]:
        """Return past points (N, n) of a source, and their values (N, 1 + m)."""
        low, high = self.box
        if source == "near":
            width = np.minimum(high - low, 4.0 * np.maximum(1.0, np.abs(self.x0)))
            shift = SHIFT * width * rng.standard_normal(len(self.x0))
            course = self.run(noise, int(rng.integers(2**31)), shift=shift)
            return course.points, course.values
        points = rng.uniform(low, high, (TABLE, len(self.x0)))
        values = self.values(points)
        if source == "stale":
            values = values * (1.0 + WRONG * rng.choice([-1.0, 1.0], values.shape[1]))
        return points, values + noise * self.sizes * rng.standard_normal(values.shape)


class Past(Trials):
    """How many calls past points save, and on how many problems they cost some."""

    title = "minimize past"
    subject = "Median saving of calls with its standard error, the largest ratio to the cold start, ratios above 1.05"
    protocol = "The problem is the unit: a ratio is the median over seeds; the error is of 1000 resamples of problems."
    sizes: ClassVar = {
        "quick": {"noise": (0.0,), "source": ("random",), "points": (50,), "problem": ("HS35",), "seed": (0,)},
        "full": {
            "noise": (0.0, 1e-3),
            "source": ("random", "near", "stale"),
            "points": (50, 200),
            "problem": (*OWN, *CUTEST.split(), *COCO),
            "seed": (0, 1, 2),
        },
    }
    lines = ("noise", "source", "points")
    shared = ("noise", "problem", "seed")

    def reference(self, noise: float, problem: str, seed: int) -> Figures:
        return {"cold": Task.of(problem).run(noise, seed).hit}

    def trial(self, noise: float, source: str, points: int, problem: str, seed: int, cold: float) -> Figures:
        task = Task.of(problem)
        rng = np.random.default_rng([seed, zlib.crc32(problem.encode())])
        x, values = task.table(source, noise, rng)
        return {"cold": cold, "hit": task.run(noise, seed, (x[:points], values[:points])).hit}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        ratios = np.array([ratio(own) for _, own in grouped(rows, "problem")])
        known = ratios[~np.isnan(ratios)]
        if not len(known):
            return {}
        resampled = np.median(np.random.default_rng(0).choice(np.minimum(known, SWEEPS), (1000, len(known))), axis=1)
        return {
            "saved": f"{100 * (1 - np.median(known)):.0f} % ± {100 * resampled.std():.0f}",
            "largest": f"{known.max():.2f}",
            "worse": f"{(known > WORSE).sum()} of {len(known)}",
        }


def ratio(rows: Sequence[Row]) -> float:
    """Return the median ratio of a problem's trials; infinite where only the cold start solves it, NaN where none."""
    either = [one for one in rows if np.isfinite(one["hit"]) or np.isfinite(one["cold"])]
    return float(np.median([one["hit"] / one["cold"] for one in either])) if either else np.nan
