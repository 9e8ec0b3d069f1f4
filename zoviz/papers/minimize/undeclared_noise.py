r"""Noise that is not there at the start: whether ``minimize`` finds it, and what its answers then are in the mean.

Four variables, a start at which values repeat to the bit, and an objective that pulls x_1 to where a row is noisy. The
row's mean is g(x) - 0.05, with g(x) = 0.2 max(0, 1.5 - x_1): 0 at x_1 = 1.25, and it is exact from x_1 = 1.5 on.

- ``poisson``: counts of 20 max(0, 1.5 - x_1) in the mean, over 100.
- ``bernoulli``: a rate of failures in 100 trials, of probability g(x).
- ``proportional``: a standard deviation of 0.2 g(x).
- ``one of three``: the Poisson row beside two exact ones, of which one is active too.
- ``outliers``: exact but for 1 % of the calls, in which f and the row are off by normal numbers of size 1.
- ``half way``: exact until half of the calls are made, then a standard deviation of 0.02 everywhere.
- ``none``: exact.

An answer counts as infeasible where a row's true mean exceeds the tolerance by more than two standard errors of the
mean of 16 calls there, or of a tenth of the budget if that is less; ``outliers`` by the exact values, without errors.
``found`` is how often noise is known at the end. Gaps are medians of f - f*.

    zoviz reproduce minimize-undeclared-noise --full                        # 20 seeds, some minutes
    zoviz reproduce minimize-undeclared-noise --full --only budget=400 seed=0,1,2,3,4 case=poisson
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.minimize.minimize import minimize
from zoviz.studies.experiment import Figures
from zoviz.studies.trials import Row, Trials

N, LIMIT, LEAST, TOLERANCE, MEANS = 4, 0.05, 1.3, 1e-6, 16
START, BOUNDS = (2.0, 2.0, 2.0, 2.0), [(-3.0, 3.0)] * N
CASES = ("poisson", "bernoulli", "proportional", "one of three", "outliers", "half way", "none")
SHARE, SIZE, LATE = 0.01, 1.0, 0.02
"""Share and size of outliers, and the standard deviation of noise that begins half way."""


class Case(NamedTuple):
    """A black box with noise of its own, and the truth about it.

    Attributes
    ----------
    function : callable
        x (n,) to f and h, with noise.
    mean, deviation : callable
        x (n,) to the true means and standard deviations of h, (m,).
    """

    function: Callable[[Array], tuple[float, Array]]
    mean: Callable[[Array], Array]
    deviation: Callable[[Array], Array]


def objective(x: Array) -> float:
    """Return f at x (4,), which pulls x_1 from 2 down to 0.5."""
    return float((x[0] - 0.5) ** 2 + (x[1] - 1.0) ** 2 + (x[2] + x[0]) ** 2 + 0.5 * x[3] ** 2 + 0.5 * x[1] * x[3])


def excess(x: Array) -> float:
    """Return g at x (4,), the mean of what the row limits."""
    return 0.2 * max(0.0, 1.5 - x[0])


def exact_rows(x: Array) -> Array:
    """Return two rows (2,) without noise at x (4,), of which the first is active at the optimum."""
    return np.array([LEAST - x[1], x[3] - 2.0])


def posed(name: str, budget: int, seed: int) -> Case:
    """Return a case by its name, with random numbers of its own."""
    random, calls = np.random.default_rng([seed, CASES.index(name)]), 0

    def counts(x: Array) -> float:
        return float(random.poisson(100.0 * excess(x))) / 100.0

    def value(x: Array) -> tuple[float, Array]:
        nonlocal calls
        calls += 1
        f, g = objective(x), excess(x)
        match name:
            case "poisson" | "one of three":
                g = counts(x)
            case "bernoulli":
                g = float(random.binomial(100, min(g, 1.0))) / 100.0
            case "proportional":
                g *= 1.0 + 0.2 * random.standard_normal()
            case "outliers" if random.uniform() < SHARE:
                f, g = f + SIZE * random.standard_normal(), g + SIZE * random.standard_normal()
            case "half way" if calls > budget // 2:
                f, g = f + LATE * random.standard_normal(), g + LATE * random.standard_normal()
        row = np.array([g - LIMIT])
        return f, np.concatenate([exact_rows(x), row]) if name == "one of three" else row

    def mean(x: Array) -> Array:
        row = np.array([excess(x) - LIMIT])
        return np.concatenate([exact_rows(x), row]) if name == "one of three" else row

    def deviation(x: Array) -> Array:
        g = excess(x)
        sizes = {
            "poisson": np.sqrt(g / 100.0),
            "one of three": np.sqrt(g / 100.0),
            "bernoulli": np.sqrt(g * (1.0 - g) / 100.0),
            "proportional": 0.2 * g,
            "half way": LATE,
        }
        row = np.array([sizes.get(name, 0.0)])
        return np.concatenate([[0.0, 0.0], row]) if name == "one of three" else row

    return Case(value, mean, deviation)


def lowest(name: str) -> float:
    """Return f*, by minimising over x_1 to x_4 where the row is 0, in the exact rows."""
    x1 = 1.25  # f falls as x_1 does: the row is active
    grid = np.linspace(-1.0, 1.5, 250_001)
    x2 = np.maximum(grid, LEAST) if name == "one of three" else grid
    x4 = -0.5 * x2
    return float(((x1 - 0.5) ** 2 + (x2 - 1.0) ** 2 + 0.5 * x4**2 + 0.5 * x2 * x4).min())


class UndeclaredNoise(Trials):
    """Whether ``minimize`` finds noise that is not there at the start."""

    title = "minimize undeclared noise"
    subject = "Noise that is not there at the start: whether it is found, and what answers are in the mean"
    protocol = "Counts of answers, and medians of f - f*."
    sizes: ClassVar = {
        "quick": {"case": ("none",), "budget": (40,), "declared": (False, True), "seed": (0,), "method": ("auto",)},
        "full": {
            "case": CASES,
            "budget": (400, 1000),
            "declared": (False, True),
            "seed": tuple(range(20)),
            "method": ("auto",),
        },
    }
    lines = ("case", "budget", "declared")

    def trial(self, case: str, budget: int, declared: bool, seed: int, method: str) -> Figures:
        own = posed(case, budget, seed)
        noise = "independent" if declared else None
        result = minimize(
            own.function,
            START,
            bounds=BOUNDS,
            joint=True,
            max_calls=budget,
            stop="budget",
            seed=seed,
            noise=noise,
            method=method,
        )
        margin = 2.0 * own.deviation(result.x) / np.sqrt(min(MEANS, budget // 10))
        return {
            "infeasible": bool((own.mean(result.x) > TOLERANCE + margin).any()),
            "success": bool(result.feasible),
            "found": "noisy" in result.message,
            "gap": objective(result.x) - lowest(case),
            "calls": result.calls,
        }

    def cells(self, rows: Sequence[Row]) -> dict[str, str]:
        counts = {
            "infeasible": sum(one["infeasible"] for one in rows),
            "of success": sum(one["infeasible"] and one["success"] for one in rows),
            "success": sum(one["success"] for one in rows),
            "found": sum(one["found"] for one in rows),
        }
        gap = float(np.median([one["gap"] for one in rows]))
        return {name: str(count) for name, count in counts.items()} | {"gap": f"{gap:.2g}"}
