r"""A study of every method of ``minimize`` on problems of the CUTEst collection for which no method was tuned.

The problems are those of ``unseen_pool``, in two halves by a fixed seed: rules are made on the development half, and
the reporting half is run once at the end. Each is shown to ``minimize`` as values alone, from its own start, with a
budget in sweeps of n + 1 calls. Values are scaled for the criteria and for the noise by

.. math:: S_0 = 1 + |f^*|, \qquad S_i = \max(1, |h_i(x^0)|),

and a noisy value has sd ``noise`` S_j, independent at every call. A point solves a problem to tau where

.. math:: \max_i\,[h_i(x)]_+ / S_i \le 10^{-4}, \qquad f(x) - f^* \le \tau S_0, \qquad \tau = 10^{-1}, 10^{-2}, 10^{-3},

by its true values, off the books: once for the best point that the method evaluated, and once for the one that
``minimize`` gave back.

    zoviz reproduce minimize-unseen --full --folder docs/performance                   # the reporting half: days
    zoviz reproduce minimize-unseen-development --full --only sweeps=20,100 noise=0    # the other half
    zoviz reproduce minimize-unseen-optima --full                                      # f*, a quarter of an hour
    zoviz reproduce minimize-unseen-large --full --only sweeps=25 noise=0              # own problems, n = 100 and 310
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.papers.minimize.classics import best_known, posed
from zoviz.papers.minimize.large_problems import LARGE, posed_large
from zoviz.papers.minimize.unseen_pool import distinct, halves, optima
from zoviz.papers.minimize.watched import Watched, ended, six_digits
from zoviz.problems.base import Problem
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, grouped

FEASIBLE = 1e-4
LEVELS = (np.inf, 1e-1, 1e-2, 1e-3)
"""Gaps up to which a feasible point counts."""
METHODS = ("auto", "ZOSQP", "ALSPG", "SLSQP", "COBYLA", "COBYQA", "TrustConstr", "NOMAD", "CMAES") + (
    "ZOSPLM", "ZOCEG", "ZOBCEG", "SZOConEX", "ZOALM",
)  # fmt: skip
SECONDS = {"auto": None, "ZOSQP": None, "NOMAD": 20.0}
"""Computing time of a trial of a method, None without a limit; the others have 200 s."""


def pose(name: str) -> tuple[Problem, Box, Array, float]:
    """Return a problem of a list by its name, with its box, its start (n,) and f*."""
    if name in LARGE:
        problem, box, x0 = posed_large(name)
        known = problem.known_optimum
        return problem, box, x0, np.nan if known is None else known.value
    own, x0 = posed(name)
    return own, own.domain, x0, optima()[name]


def watched(name: str, noise: float = 0.0, seed: int = 0) -> Watched:
    """Return a problem as a user's function, with noise in units of S."""
    problem, box, x0, optimum = pose(name)
    with np.errstate(all="ignore"):
        start = problem.evaluate(x0)
    sizes = np.concatenate([[1.0 + abs(optimum)], np.maximum(1.0, np.abs(start.h))])
    return Watched(problem, box, x0, optimum, sizes, FEASIBLE, noise * sizes, seed)


class Unseen(Trials):
    """What every method makes of the reporting half."""

    title = "minimize unseen"
    subject = "Points evaluated and returned that are feasible / solved to 1e-1 / 1e-2 / 1e-3"
    protocol = "By values without noise; with several seeds ± the standard errors of the counts."
    sizes: ClassVar = {
        "quick": {"noise": (0.0,), "method": ("SLSQP",), "sweeps": (30,), "problem": ("HS43", "HS24"), "seed": (0,)},
        "full": {
            "noise": (0.0, 1e-3, 1e-2),
            "method": METHODS,
            "sweeps": (20, 100, 1000),
            "problem": tuple(name for name in halves()["reporting"] if name in optima()),
            "seed": (0,),
        },
    }
    lines = ("noise", "method")

    def trial(self, noise: float, method: str, sweeps: int, problem: str, seed: int) -> Figures:
        own = watched(problem, noise, seed)
        end = ended(own, method, sweeps * (len(own.x0) + 1), seed, SECONDS.get(method, 200.0))
        returned = end.answer.gap if end.answer.violation <= FEASIBLE else np.inf
        return {
            "evaluated": six_digits(own.gap),
            "returned": six_digits(returned),
            "spent": end.calls,
            "words": end.words,
        }

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        budgets = [(place["sweeps"], own) for place, own in grouped(rows, "sweeps")]
        kinds = ("evaluated", "returned")
        return {f"{sweeps}, {kind}": summary(own, kind) for sweeps, own in budgets for kind in kinds}


class UnseenDevelopment(Unseen):
    """What every method makes of the development half."""

    title = "minimize unseen development"
    sizes: ClassVar = {
        size: {**settings, "problem": tuple(name for name in halves()["development"] if name in optima())}
        for size, settings in Unseen.sizes.items()
    }


class UnseenLarge(Unseen):
    """What every method makes of own problems of 100 and 310 variables."""

    title = "minimize unseen large"
    sizes: ClassVar = {
        size: {**settings, "problem": tuple(name for name in LARGE if name.endswith(("100", "310")))}
        for size, settings in Unseen.sizes.items()
    }


class UnseenOptima(Trials):
    """The best known values, found once more."""

    title = "minimize unseen optima"
    subject = "Best known values of the problems of both halves, and the lowest that exact gradients reach"
    protocol = "SLSQP from the start and four random points, trust-constr from the start; feasible to 1e-6."
    sizes: ClassVar = {"quick": {"problem": ("HS24",)}, "full": {"problem": tuple(distinct())}}
    lines = ("problem",)

    def trial(self, problem: str) -> Figures:
        return {"reached": best_known(problem, 5).value}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        (one,) = rows
        known = optima().get(one["problem"], np.nan)
        return {"best known": f"{known:.10g}", "reached": f"{one['reached']:.10g}"}


def counts(rows: Sequence[Row], kind: str) -> list[int]:
    """Return how many points, "evaluated" or "returned", are feasible and how many solve to each of ``LEVELS``."""
    gaps = np.array([one[kind] for one in rows])
    return [int((np.isfinite(gaps) & (gaps <= level)).sum()) for level in LEVELS]


def errors(rows: Sequence[Row], kind: str) -> list[float]:
    """Return the standard errors of ``counts`` over all seeds, of which there are two at least.

    They are the sample standard deviation over seeds, times the square root of the number of seeds.
    """
    each = np.array([counts(own, kind) for _, own in grouped(rows, "seed")])
    return [float(error) for error in np.sqrt(len(each)) * each.std(axis=0, ddof=1)]


def summary(rows: Sequence[Row], kind: str) -> str:
    """Return the counts of trials, and with several seeds their standard errors."""
    text = f"{' / '.join(map(str, counts(rows, kind)))} of {len(rows)}"
    if len({one["seed"] for one in rows}) < 2:
        return text
    return f"{text} ± {' / '.join(f'{error:.1f}' for error in errors(rows, kind))}"
