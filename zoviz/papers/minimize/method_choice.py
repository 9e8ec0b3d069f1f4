r"""A study of the method that ``minimize`` should take under noise, behind the last rows of the choice's ``TABLE``.

Problems with constraints and known optima, shown as a user's black box (``BlackBox``, in units of the box and of the
first values), with independent normal noise on every value: ``level`` times S_f on f and S_i on h_i,

.. math:: S_i = \operatorname{median}_j |h_i(x_j) - h_i(x^0)|, \qquad
          S_f = \max\big(|f(x^0) - f^*|, \operatorname{median}_j |f(x_j) - f(x^0)|\big),

over 32 points within a quarter of the box's width (of max(1, |x^0|) where there is none). A method is judged by the
median over its replicas of the loss of the x that it reports at the end, without noise and off the books,

.. math:: [f(x) - f^*]_+ / S_f + \max_i\,[h_i(x)]_+ / S_i,

and over problems by the geometric mean of its ratio to the smallest loss on each, between 1 and 100; losses below 1e-4
count as 1e-4. All methods have their default parameters, and budgets are in sweeps of n + 1 calls. A method that has no
end within ``seconds`` is taken where it stands.

    zoviz reproduce minimize-method-choice --full                                  # an hour and a half
    zoviz reproduce minimize-method-choice --full --only problem=HS22,HS65 sweeps=100
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.registry import discover
from zoviz.core.sets import Box
from zoviz.core.types import Array
from zoviz.papers.minimize.classics import DESIGNS, best_known, posed
from zoviz.papers.minimize.large_problems import posed_large
from zoviz.problems import BlackBox
from zoviz.problems.base import Problem
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, across, grouped

SMALL = ("HS12", "HS22", "HS29", "HS35", "HS37", "HS43", "HS65", "HS76", "HS100", "HS113", *DESIGNS)
"""Problems of 2 to 10 variables: of Hock and Schittkowski, and the engineering classics."""
MANY = ("LoadTracking20", "LoadTracking100", "ConexQCQP20", "ConexQCQP50", "NonconvexQCQP20", "NonconvexQCQP50")
"""Problems of 20 to 100 variables."""
OTHERS = ("COBYLA", "COBYQA", "SLSQP", "TrustConstr", "CMAES")
METHODS = ("ZOSQP", "ALSPG", *OTHERS, "ZOCEG", "ZOBCEG", "ZOEG", "ZOSPLM", "SZOConEX")
REPLICAS = 8
"""Runs of a method on a problem, with noise of their own."""
LEAST, WORST = 1e-4, 100.0
"""Loss below which methods count as equal, and largest ratio: one problem must not decide a mean."""


class Posed(NamedTuple):
    """A problem on a box, with its start (n,) and its optimal value."""

    problem: Problem
    box: Box
    x0: Array
    optimum: float


class Case(NamedTuple):
    """A problem as a black box under noise, and the loss of its points without noise.

    Attributes
    ----------
    problem : BlackBox
    loss : callable
        Points (R, n) to losses (R,).
    """

    problem: BlackBox
    loss: Callable[[Array], Array]


def pose(name: str, optimum: float = np.nan) -> Posed:
    """Return a problem by its name, with its start and optimal value: a small one's is given."""
    if name not in MANY:
        small, x0 = posed(name)
        return Posed(small, small.domain, x0, optimum)
    large, box, x0 = posed_large(name)
    if large.known_optimum is None:
        raise ZovizError(f"Expected a problem whose optimum is known, got {name}: losses are measured from it.")
    return Posed(large, box, x0, large.known_optimum.value)


def case(task: Posed, level: float, seed: int = 1) -> Case:
    """Make a black box of a problem, under noise that has a generator of its own."""
    (problem, box, x0, optimum), rng = task, np.random.default_rng(0)
    width = np.where(np.isfinite(box.upper - box.lower), box.upper - box.lower, 2.0 * np.maximum(1.0, np.abs(x0)))
    with np.errstate(all="ignore"):
        first = problem.evaluate(x0)
        there = problem.evaluate(box.project(x0 + 0.25 * width * rng.uniform(-1.0, 1.0, (32, len(x0)))))
        size_f = max(float(abs(first.f - optimum)), float(np.nanmedian(np.abs(there.f - first.f))), 1e-12)
        size_h = np.maximum(np.nanmedian(np.abs(there.h - first.h), axis=0), 1e-12)
    noise = np.random.default_rng(seed)

    def values(x: Array) -> tuple[Array, Array]:
        with np.errstate(all="ignore"):
            value = problem.evaluate(x)
        errors = noise.standard_normal(value.f.shape), noise.standard_normal(value.h.shape)
        return np.asarray(value.f + level * size_f * errors[0]), value.h + level * size_h * errors[1]

    def loss(x: Array) -> Array:
        with np.errstate(all="ignore"):
            value = problem.evaluate(x)
            outside = (np.maximum(value.h, 0.0) / size_h).max(axis=-1)
            return np.nan_to_num(np.maximum(value.f - optimum, 0.0) / size_f + outside, nan=np.inf)

    bounds = list(zip(box.lower, box.upper, strict=True))
    black_box = BlackBox(values, joint=True, vectorised=True, m=problem.m, bounds=bounds, x0=x0, noise="independent")
    return Case(black_box, loss)


def final_losses(method: str, task: Posed, level: float, sweeps: int, seconds: float = 60.0) -> Array:
    """Return the losses (R,) at the end of one method with default parameters; infinite where it refuses the budget."""
    problem, loss = case(task, level)
    solver = discover("zoviz.solvers", Solver)[method]()
    run = Run(problem=problem, solver=solver, replicas=REPLICAS, seed=3, seconds=seconds)
    run.calls = sweeps * (problem.domain.n + 1)
    try:
        return loss(run.run().x)
    except ValueError:
        return np.full(REPLICAS, np.inf)


def marks(losses: Array) -> Array:
    """Return the marks (q,) of methods: geometric means over problems of losses (p, q) over each problem's smallest."""
    losses = np.maximum(losses, LEAST)
    return np.exp(np.log(np.minimum(losses / losses.min(axis=1, keepdims=True), WORST)).mean(axis=0))


class MethodChoice(Trials):
    """What each method makes of black boxes under noise."""

    title = "minimize method choice"
    subject = "Median losses of methods under independent noise, and marks: geometric means over the smallest"
    protocol = f"{REPLICAS} replicas with noise of their own; the reported point, without noise and off the books."
    sizes: ClassVar = {
        "quick": {
            "sweeps": (100,),
            "level": (0.1,),
            "problem": ("LoadTracking20",),
            "method": ("ZOCEG", "COBYLA"),
            "seconds": (60.0,),
        },
        "full": {
            "sweeps": (20, 50, 100, 400),
            "level": (0.01, 0.1),
            "problem": (*SMALL, *MANY),
            "method": METHODS,
            "seconds": (60.0,),
        },
    }
    lines = ("sweeps", "level", "problem")
    shared = ("problem",)

    def reference(self, problem: str) -> Figures:
        return {"optimum": pose(problem).optimum if problem in MANY else best_known(problem).value}

    def trial(self, sweeps: int, level: float, problem: str, method: str, seconds: float, optimum: float) -> Figures:
        if not (math.isfinite(level) and level >= 0):
            raise ZovizError(f"Expected a level of noise from 0, got {level:g}: give another.")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            own = final_losses(method, pose(problem, optimum), level, sweeps, seconds)
        return {"losses": own.tolist()}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        return across(
            rows, "method", lambda own: f"{own[0]['mark']:.2f}" if "mark" in own[0] else f"{_median(own[0]):.2g}"
        )

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        for place, own in grouped(rows, "sweeps", "level"):
            for word, names in (("2 to 10", SMALL), ("20 to 100", MANY)):
                few = [one for one in own if one["problem"] in names]
                medians = [[_median(one) for one in of_one] for _, of_one in grouped(few, "problem")]
                methods = dict.fromkeys(one["method"] for one in few)
                if few and len({len(line) for line in medians}) == 1:
                    made = zip(methods, marks(np.array(medians)).tolist(), strict=True)
                    yield {**place, "problem": word}, [{"method": method, "mark": mark} for method, mark in made]


def _median(one: Row) -> float:
    return float(np.median(one["losses"]))
