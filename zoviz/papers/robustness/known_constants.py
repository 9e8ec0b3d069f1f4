r"""What a problem's analytic constants are worth: the same methods with them, without them, and through ``minimize``.

Problems with constants in closed form are solved by the papers' methods at their defaults in four ways: *known*, as
they are; *measured*, the constants hidden, so that rules measure theirs by charged calls; *black box*, hidden and in
units of order 1, as a ``BlackBox`` is; and by ``minimize`` with the method's name, from one of the starts. Starts and
seeds are the same. The loss of a point x is

.. math:: \frac{|f(x) - f^*| + \|\lambda^*\| \, \|[h(x)]_+\|}{|f^*|},

and figures are the calls after which a replica's loss stays at 0.01 or below, in the median over replicas: infinite
where half of them never come there for good. ``minimize`` gives back a point and no course: of it, the loss is printed.
A problem's last line has the least of any method in each way.

    zoviz reproduce robustness-known-constants --full
    zoviz reproduce robustness-known-constants --full --only problem=LoadTracking method=ZOCEG calls=20000
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from zoviz import solvers
from zoviz.core.sets import Box
from zoviz.core.streams import Streams
from zoviz.core.types import Array, Optimum
from zoviz.minimize.minimize import minimize
from zoviz.problems import ACLoadTracking, ConexQCQP, LoadTracking, NonconvexQCQP
from zoviz.problems.base import Problem
from zoviz.runs.engine.columns import CALLS, GAP, VIOLATION
from zoviz.runs.run import Run
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials, grouped

REPLICAS, SEED, LEVEL = 4, 21, 1e-2
METHODS = ("ZOSPLM", "ZOCEG", "ZOBCEG", "SZOConEX", "ZOALM")
KNOWN, MEASURED, BLACK_BOX = "known", "measured", "black box"
WAYS, MINIMIZE = (KNOWN, MEASURED, BLACK_BOX), "minimize"

PROBLEMS: Mapping[str, Callable[[], Problem]] = {
    "NonconvexQCQP 0": lambda: NonconvexQCQP(n=50, seed=0),
    "NonconvexQCQP 1": lambda: NonconvexQCQP(n=50, seed=1),
    "NonconvexQCQP 2": lambda: NonconvexQCQP(n=50, seed=2),
    "LoadTracking": LoadTracking,
    "ConexQCQP": lambda: ConexQCQP(n=50),
    "ACLoadTracking": ACLoadTracking,
}


def without_constants(problem: Problem, scaled: bool = False) -> Problem:
    """Return a problem with the same parameters whose constants no rule can ask for."""
    cls: Any = type(problem)
    hidden: Any = type(cls.__name__, (cls,), {f"_{cls.__name__}__abstract": True, "constants": None})
    values = {name: value for name, value in problem.param.values().items() if name != "name"}
    return hidden(**{**values, "scaled": scaled})


def optimum_of(problem: Problem) -> Optimum:
    """Return a problem's optimum.

    Raises
    ------
    ValueError
        Where it is not known.
    """
    optimum = problem.known_optimum
    if optimum is None:
        raise ValueError(f"Expected a problem whose optimum is known, got {problem.title}.")
    return optimum


def losses(gap: Array, violation: Array, optimum: Optimum) -> Array:
    """Return the losses, of any shape, of points with these gaps and norms of [h]_+."""
    weight = float(np.linalg.norm(optimum.multipliers)) if optimum.multipliers is not None else 0.0
    return (np.abs(gap) + weight * violation) / abs(optimum.value)


def calls_to_level(problem: Problem, method: str, budget: int) -> float:
    """Return the calls after which the loss of a method's replicas stays at ``LEVEL`` or below, in the median."""
    run = Run(problem, getattr(solvers, method)(), replicas=REPLICAS, seed=SEED, calls=budget)
    run.run()
    trace = run.trace.snapshot().columns
    near = losses(trace[GAP], trace[VIOLATION], optimum_of(problem)) <= LEVEL
    last_outside = np.array([np.flatnonzero(~column)[-1] if not column.all() else -1 for column in near.T])
    calls = np.vstack([trace[CALLS], np.full((1, REPLICAS), np.inf)])
    return float(np.median(calls[last_outside + 1, np.arange(REPLICAS)]))


def minimize_loss(problem: Problem, method: str, budget: int) -> float:
    """Return the loss of the point that ``minimize`` gives back, with a method and the first replica's start."""
    box = problem.domain
    if not isinstance(box, Box):
        raise TypeError(f"Expected a problem on a box, got {type(box).__name__}.")
    x0 = problem.initial(Streams(SEED, REPLICAS))[0]
    bounds = list(zip(box.lower, box.upper, strict=True))

    def values(x: Array) -> tuple[Array, Array]:
        f, h = problem.evaluate(x)
        return f, h

    result = minimize(values, x0, bounds=bounds, joint=True, method=method, max_calls=budget, stop="budget", seed=SEED)
    value = problem.evaluate(np.asarray(result.x))
    violation = np.linalg.norm(np.maximum(value.h, 0.0), axis=-1, keepdims=True)
    optimum = optimum_of(problem)
    return float(losses(value.f - optimum.value, violation, optimum)[0])


class KnownConstants(Trials):
    """The papers' methods with a problem's constants known, measured by charged calls, and as a black box."""

    title = "robustness known constants"
    subject = "Calls to stay within 1 % of the optimum, with constants known, measured, and as a black box"
    protocol = f"Medians of {REPLICAS} replicas; and the loss of the point that minimize returns with the same budget."
    sizes: ClassVar = {
        "quick": {"problem": ("LoadTracking",), "method": ("ZOCEG",), "way": (*WAYS, MINIMIZE), "calls": (300,)},
        "full": {"problem": tuple(PROBLEMS), "method": METHODS, "way": (*WAYS, MINIMIZE), "calls": (60_000,)},
    }
    lines = ("problem", "method")

    def trial(self, problem: str, method: str, way: str, calls: int) -> Figures:
        known = PROBLEMS[problem]()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if way == MINIMIZE:
                return {"figure": minimize_loss(known, method, calls)}
            shown = known if way == KNOWN else without_constants(known, scaled=way == BLACK_BOX)
            return {"figure": calls_to_level(shown, method, calls)}

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        least = {place["way"]: min(one["figure"] for one in own) for place, own in grouped(rows, "way")}
        return {way: f"{value:.2g}" if way == MINIMIZE else f"{value:.0f}" for way, value in least.items()}

    def totals(self, rows: Sequence[Row]) -> Iterator[tuple[Row, Sequence[Row]]]:
        for place, own in grouped(rows, "problem"):
            yield {**place, "method": "the least"}, own
