"""Paper sogd: regret without a window under rapid drift, SOGD beside OAGD and SOBOW with windows of 5 and of 1.

Average regrets of the rounds' own functions, every method at its best steps of one grid, chosen on other seeds. The
rivals with w = 1 tell what the window costs.
"""

from __future__ import annotations

import itertools
from functools import partial
from typing import Any

import numpy as np

from zoviz.core.types import Array
from zoviz.problems import QuadraticBilevel, ToyBilevel
from zoviz.problems.bilevel import OnlineBilevel
from zoviz.runs.engine.columns import AVERAGE_REGRET
from zoviz.runs.run import Run
from zoviz.solvers import OAGD, SOBOW, SOGD, Solver
from zoviz.solvers.published_form import FAR
from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Table, Tuning, array, mean_text, plain
from zoviz.studies.verdict import Evidence

METHODS: dict[str, tuple[type[Solver], dict[str, Any]]] = {
    "SOGD": (SOGD, {}),
    "OAGD w = 5": (OAGD, {"window": 5}),
    "SOBOW w = 5": (SOBOW, {"window": 5}),
    "OAGD w = 1": (OAGD, {"window": 1}),
    "SOBOW w = 1": (SOBOW, {"window": 1}),
}
TRIAL_SEED, REPORTED_SEED, TRIALS = 1, 0, 3
"""Of the runs that choose steps and of those that are reported, and replicas of the former."""


def variations(problem: QuadraticBilevel, horizon: int) -> tuple[float, float, float]:
    """Return H_{2,T}, D_T and G_T of (10)-(14), which are exact here: they do not depend on x and y."""
    moves = np.diff([problem.vectors(t) for t in range(1, horizon + 1)], axis=0)
    a, c, q = np.split(moves, [problem.d, 2 * problem.d], axis=1)
    path = np.square(c @ problem.data.inverse).sum()
    return float(path), float(np.square(a).sum() + np.square(q).sum()), float(np.square(c).sum())


def average_regret(problem: OnlineBilevel, solver: Solver, horizon: int, replicas: int, seed: int) -> Array:
    """Return the bilevel local regret over T rounds, divided by T, (R,)."""
    run = Run(problem=problem, solver=solver, replicas=replicas, iterations=horizon, seed=seed)
    run.run()
    return run.trace[AVERAGE_REGRET][-1]


def streams_of_tasks(first: int = 0) -> dict[str, OnlineBilevel]:
    """Return the streams of tasks on which windows are compared, by name; ``first`` is the seed of instance 0."""

    def quadratic(rate: float, size: int = 10, instance: int = 0) -> QuadraticBilevel:
        return QuadraticBilevel(n=size, d=size, seed=first + instance, drift="rapid", drift_rate=rate)

    return {
        "rate 0.3": quadratic(0.3),
        "rate 1": quadratic(1.0),
        "rate 0.1": quadratic(0.1),
        "toy, rapid": ToyBilevel(variant="rapid"),
        "toy, smooth": ToyBilevel(variant="smooth"),
        "rate 0.3, n = d = 4": quadratic(0.3, size=4),
        "rate 0.3, instance 1": quadratic(0.3, instance=1),
        "rate 0.3, instance 2": quadratic(0.3, instance=2),
        "jumps every 20 rounds": QuadraticBilevel(drift="none", phase_length=20, seed=first),
    }


class RapidDrift(Experiment):
    """Regrets of five methods on nine streams."""

    title = "sogd windows"
    subject = "Average regret under rapid drift of SOGD, and of OAGD and SOBOW with a window and without"
    printed = "Bounds: a window adds T / w to the regret of OAGD and SOBOW, which SOGD has not; no figures."
    protocol = "Average regret of F_t after 300 rounds on quadratic and toy streams, each method at its best steps."
    sizes = {
        "quick": {"streams": ["rate 0.3"], "rounds": 100, "replicas": 6, "outer": [0.6, 1.0], "inner": [0.2]},
        "full": {
            "streams": list(streams_of_tasks()),
            "rounds": 300,
            "replicas": 20,
            "outer": [0.01, 0.03, 0.1, 0.3, 0.6, 1.0, 1.4, 1.8],
            "inner": [0.2, 0.4],
        },
    }

    def grid(self) -> list[tuple[float, float]]:
        """Return the steps of x and y that are tried; 2 / L_g, where descent in y becomes unstable, is 0.5."""
        return list(itertools.product(self.settings["outer"], self.settings["inner"]))

    def tuning(self) -> Tuning:
        return Tuning(len(self.grid()), "average regret", (TRIAL_SEED,), (REPORTED_SEED,))

    def parts(self) -> list[str]:
        return [f"{stream} / {method}" for stream in self.settings["streams"] for method in METHODS]

    def measure(self, part: str) -> Figures:
        """Return the best steps of a method and its regrets with them."""
        stream, method = part.split(" / ")
        problem, rounds = streams_of_tasks(self.seed())[stream], self.settings["rounds"]
        cls, settings = METHODS[method]

        def regret(steps: tuple[float, float], replicas: int, seed: int) -> Array:
            outer, inner = steps
            own = {"system_step": inner} if cls is SOGD else {"system_radius": FAR}
            solver = cls(outer_step=outer, inner_step=inner, **own, **settings)
            return average_regret(problem, solver, rounds, replicas, seed)

        trials = {steps: float(regret(steps, TRIALS, self.seed(TRIAL_SEED)).mean()) for steps in self.grid()}
        best = min(trials, key=lambda steps: np.nan_to_num(trials[steps], nan=np.inf))
        reported = regret(best, self.settings["replicas"], self.seed(REPORTED_SEED))
        return {"steps": list(best), "regret": plain(reported)}

    def claims(self) -> list[Claim]:
        """Return the claims against either rival on every stream; what is credited is that there is no window."""
        return [
            Claim(
                "§1, windows",
                f"SOGD has less regret than {rival} with a window, and than without it not: {stream}",
                partial(has_more_regret, self, stream),
                f"{rival} w = 5",
                f"{rival} w = 1",
                ("SOGD",),
            )
            for stream in self.settings["streams"]
            for rival in ("OAGD", "SOBOW")
        ]

    def tables(self, measured: Measured) -> list[Table]:
        rows, ends = [], (self.settings["outer"][0], self.settings["outer"][-1])
        for stream in self.settings["streams"]:
            cells = []
            for method in METHODS:
                one = measured[f"{stream} / {method}"]
                outer, inner = one["steps"]
                cells.append(f"{mean_text(array(one['regret']))} at {outer:g}{'*' if outer in ends else ''}, {inner:g}")
            rows.append((stream, *cells))
        return [Table("Average regret at the best steps of x and y; * the grid's end", ("Stream", *METHODS), rows)]


def has_more_regret(experiment: Experiment, stream: str, measured: Measured, method: str, rival: str) -> Evidence:
    """Test that a method has more regret than another in as many rounds."""
    mine, other = (array(measured[f"{stream} / {name}"]["regret"]) for name in (method, rival))
    figures = f"{rival} {mean_text(other)}, {method} {mean_text(mine)}"
    budgets = dict.fromkeys((method, rival), float(experiment.settings["rounds"]))
    return Evidence((mine - other)[None], figures, budgets)
