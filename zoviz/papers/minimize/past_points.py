r"""A study of ``minimize`` with points that are known from before, against a cold start: the calls to a solution.

The table has 50 or 200 points: ``random`` ones of the box; the first of an ``earlier`` run, by COBYQA from a random
start, up to its first solution; the first of a run on a ``near`` problem, whose variables are shifted by 2 % of the box
and whose values are 2 % higher; or ``stale`` ones, random and with each output 20 % too high or too low. Two placebos
carry no information: a ``shuffled`` table of random points, each with the values of another, and no table, but a start
whose coordinates are changed by 1 % (sd). Where a side of the box is infinite or far, 2 max(1, |x^0_i|) from the start
stands for it. A run is over with the first call at a point x with

.. math:: f(x) - f^* \le 10^{-3} S_0, \qquad \max_i\,[h_i(x)]_+ / S_i \le \max(10^{-4}, \sigma), \qquad
          S_0 = \max(1, |f^*|), \quad S_i = \max(1, |h_i(x^0)|),

by values without noise; noise is independent with sd sigma S_j, also in the table. The ratio of a draw is that of the
calls with its table to those of the cold start of the same seed; that of a problem is the median over draws. A problem
truly costs where the mean ratio over draws is above 1.05 by two standard errors. Further calls are those beyond the
cold start's in the median, the 90 % quantile and the largest of the draws that both solve.

Rules were made on other problems: the engineering designs of ``classics``, STANCMIN, HS268, HS20, HS89, HS113, HS79,
HS37, HS19, HS116, HS43, and instance 1 of COCO's functions 3, 9, 14, 26, 33 and 38.

    zoviz reproduce minimize-past --full --folder docs/performance                     # goes on where it stopped
    zoviz reproduce minimize-past --full --folder docs/performance --only noise=0 seed=0
"""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Iterator, Sequence
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
SHIFT, HIGHER, WRONG, MOVED = 0.02, 0.02, 0.2, 0.01
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

    def moved(self, seed: int) -> Task:
        """Return the task with another start, which differs by 1 %."""
        x0 = self.x0 * (1.0 + MOVED * np.random.default_rng([seed, len(self.x0)]).standard_normal(len(self.x0)))
        return self._replace(x0=self.problem.domain.project(x0[None])[0])

    def run(
        self, noise: float, seed: int, past: Any = None, shift: Array | None = None, method: str = "auto"
    ) -> Course:
        """Minimise, up to the first solution; with a ``shift`` (n,) the problem that is near.

        Both that and a run by another method are for a table, and have the calls that it needs.
        """
        rng, box, points, seen = np.random.default_rng(seed), self.problem.domain, [], []

        def fun(x: Array) -> tuple[float, Array]:
            values = self.near(x, shift) if shift is not None else self.values(x[None])[0]
            points.append(x)
            seen.append(values + noise * self.sizes * rng.standard_normal(len(values)))
            if shift is None and self.is_solved(values, noise):
                raise Solved
            return float(seen[-1][0]), seen[-1][1:]

        calls = SWEEPS * (len(self.x0) + 1) if shift is None and method == "auto" else 2 * TABLE
        bounds = list(zip(box.lower, box.upper, strict=True))
        settings: dict[str, Any] = {"joint": True, "max_calls": calls, "stop": "budget", "seed": seed}
        solved = False
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                minimize(fun, self.x0, bounds=bounds, method=method, past=past, **settings)
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
        if source == "earlier":
            start = self._replace(x0=self.problem.domain.project(rng.uniform(low, high)[None])[0])
            course = start.run(noise, int(rng.integers(2**31)), method="COBYQA")
            before = len(course.points) - int(np.isfinite(course.hit))
            return course.points[:before], course.values[:before]
        points = rng.uniform(low, high, (TABLE, len(self.x0)))
        values = self.values(points)
        if source == "stale":
            values = values * (1.0 + WRONG * rng.choice([-1.0, 1.0], values.shape[1]))
        elif source == "shuffled":
            values = rng.permutation(values)
        return points, values + noise * self.sizes * rng.standard_normal(values.shape)


class Past(Trials):
    """How many calls past points save, and on how many problems they cost some."""

    title = "minimize past"
    subject = "Median saving of calls with its standard error, and where and how often a table costs more than 5 %"
    protocol = (
        "Each seed draws a table of its own. The error is of 1000 resamples of the problems, each of which counts once."
    )
    sizes: ClassVar = {
        "quick": {"noise": (0.0,), "source": ("random",), "points": (50,), "problem": ("HS35",), "seed": (0,)},
        "full": {
            "noise": (0.0, 1e-3),
            "source": ("random", "earlier", "near", "stale", "shuffled"),
            "points": (50, 200),
            "problem": (*OWN, *CUTEST.split(), *COCO),
            "seed": tuple(range(6)),
        },
    }
    lines = ("noise", "source", "points")
    shared = ("noise", "problem", "seed")

    def reference(self, noise: float, problem: str, seed: int) -> Figures:
        task = Task.of(problem)
        return {"cold": task.run(noise, seed).hit, "moved": task.moved(seed).run(noise, seed).hit}

    def trial(
        self, noise: float, source: str, points: int, problem: str, seed: int, cold: float, moved: float
    ) -> Figures:
        task = Task.of(problem)
        rng = np.random.default_rng([seed, zlib.crc32(problem.encode())])
        x, values = task.table(source, noise, rng)
        return {"cold": cold, "moved": moved, "hit": task.run(noise, seed, (x[:points], values[:points])).hit}

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        """Yield the lines of runs from a start that is moved, without a table."""
        for place, own in grouped(rows, "noise"):
            draws = [one for _, (one, *_) in grouped(own, "problem", "seed")]
            yield {**place, "source": "moved start"}, [{**one, "hit": one["moved"]} for one in draws]

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        problems = [own for _, draws in grouped(rows, "problem") if len(own := ratios(draws))]
        if not problems:
            return {}
        medians, everyone = np.array([np.median(own) for own in problems]), np.concatenate(problems)
        resampled = np.median(
            np.random.default_rng(0).choice(np.minimum(medians, SWEEPS), (1000, len(medians))), axis=1
        )
        finite = [row["hit"] - row["cold"] for row in rows if np.isfinite(row["hit"]) and np.isfinite(row["cold"])]
        return {
            "saved": f"{100 * (1 - np.median(medians)):.0f} % ± {100 * resampled.std():.0f}",
            "worse": f"{(medians > WORSE).sum()} of {len(problems)}",
            "truly": str(sum(map(truly_worse, problems))),
            "worse draws": f"{100 * (everyone > WORSE).mean():.0f} %",
            "further calls": " / ".join(f"{one:+.0f}" for one in np.quantile(finite or [np.nan], [0.5, 0.9, 1.0])),
            "largest": f"{everyone.max():.2f}",
        }


def ratios(rows: Sequence[Row]) -> Array:
    """Return the ratios (k,) of a problem's draws that either start solves; infinite where only the cold one does."""
    either = [one for one in rows if np.isfinite(one["hit"]) or np.isfinite(one["cold"])]
    return np.array([one["hit"] / one["cold"] for one in either])


def truly_worse(draws: Array) -> bool:
    """Return whether the mean of ratios (k,) is above the limit by two of its standard errors."""
    draws = np.minimum(draws, SWEEPS)
    error = draws.std(ddof=1) / np.sqrt(len(draws)) if len(draws) > 1 else np.inf
    return bool(draws.mean() - 2.0 * error > WORSE)
