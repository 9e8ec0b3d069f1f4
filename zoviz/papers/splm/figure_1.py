"""Paper splm, Fig. 1: the objective of ZO-SPLM, SZO-ConEX and ZO-ALM against iterations on the nonconvex QCQP.

k = 50 directions on the sphere, n = 50, 100, 200, from the same starts, constant steps of each method's own rule with
the instance's exact constants, as the paper prints none. What is judged is |f - f*| + y* [h]_+, with the certified
optimum and its multiplier, at three numbers of iterations: an objective may be low for being infeasible.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from zoviz.core.errors import ZovizError
from zoviz.core.registry import discover
from zoviz.estimators import Sphere
from zoviz.problems import NonconvexQCQP
from zoviz.runs.engine.columns import ITERATION, OBJECTIVE, VIOLATION
from zoviz.runs.run import Run
from zoviz.solvers import Solver
from zoviz.studies.experiment import (
    Claim,
    Experiment,
    Figures,
    Measured,
    Panel,
    Table,
    array,
    mean_text,
    plain,
    rounded,
)
from zoviz.studies.live import Live
from zoviz.studies.verdict import Evidence

METHODS = ("ZOSPLM", "SZOConEX", "ZOALM")
OURS = METHODS[0]
"""The paper's method."""
READINGS: dict[str, dict[str, Any]] = {
    OURS: {"estimate_proximal": False},
    METHODS[1]: {"directions": "shared", "report": "last"},
}
"""In what these runs differ from what is printed: the proximal term's gradient is exact (errata 3); all functions of
SZO-ConEX share their directions, as those of the paper's estimator do, and its last iterate is the answer."""
RADIUS, DIRECTIONS = 1e-5, 50


def published(method: str) -> Solver:
    """Return a method with the figure's estimator and constant steps from the first iteration on, as published."""
    estimator = Sphere(smoothing_radius=RADIUS, batch_size=DIRECTIONS)
    return discover("zoviz.solvers", Solver)[method].published(estimator=estimator, **READINGS.get(method, {}))


class Courses(Experiment):
    """Fig. 1: errors of three methods against iterations at three sizes."""

    title = "splm Fig. 1"
    subject = "Objective of ZO-SPLM, SZO-ConEX and ZO-ALM against iterations on the nonconvex QCQP, k = 50"
    printed = "One run each at n = 50, 100, 200, curves without numbers. Claim: ZO-SPLM is the fastest in all three."
    protocol = (
        "NonconvexQCQP, one instance a size, replicas from other starts; (|f - f*| + y* [h]_+) / |f*| at marked "
        "iterations; steps by each method's rule, nothing is tuned."
    )
    sizes = {
        "quick": {"n": [10], "marks": [20, 60], "replicas": 4},
        "full": {"n": [50, 100, 200], "marks": [100, 250, 500], "replicas": 10},
    }

    def parts(self) -> list[str]:
        return [f"n = {n} / {method}" for n in self.settings["n"] for method in METHODS]

    def measure(self, part: str) -> Figures:
        """Return the errors of every replica at the marked iterations, and their mean course."""
        size, method = part.split(" / ")
        marks = self.settings["marks"]
        problem = NonconvexQCQP(n=int(size.removeprefix("n = ")), seed=self.seed())
        optimum = problem.known_optimum
        if optimum is None:
            raise ZovizError(f"Expected an instance whose optimum is certified, got none for {size}.")
        run = Run(
            problem=problem,
            solver=published(method),
            replicas=self.settings["replicas"],
            iterations=marks[-1],
            seed=self.seed(),
            label=method,
        )
        run.run()
        gaps = np.abs(run.trace[OBJECTIVE] - optimum.value) + optimum.multipliers.max() * run.trace[VIOLATION]
        errors = gaps / abs(optimum.value)
        rows = [int(np.flatnonzero(run.trace[ITERATION] == mark)[0]) for mark in marks]
        drawn = np.unique(np.linspace(0, len(errors) - 1, 80).astype(int))
        course = {"iteration": plain(run.trace[ITERATION][drawn]), "error": rounded(errors[drawn].mean(axis=1))}
        return {"errors": plain(errors[rows]), "violation": plain(run.trace[VIOLATION][-1]), "course": course}

    def claims(self) -> list[Claim]:
        return [
            Claim(
                f"Fig. 1, n = {n}",
                f"ZO-SPLM is ahead of {name} at every mark: n = {n}",
                partial(error_is_lower, f"n = {n}"),
                OURS,
                rivals=(name,),
            )
            for n in self.settings["n"]
            for name in METHODS[1:]
        ]

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        for part, one in measured.items():
            cells = [mean_text(values) for values in array(one["errors"])]
            rows.append((*part.split(" / "), *cells, mean_text(array(one["violation"]))))
        heads = ("Size", "Method", *(f"{mark} iterations" for mark in self.settings["marks"]), "violation at the end")
        return [Table("(|f - f*| + y* [h]_+) / |f*|, means over starts", heads, rows)]

    def panels(self, measured: Measured) -> list[Panel]:
        out = []
        for n in self.settings["n"]:
            own = {method: measured[f"n = {n} / {method}"]["course"] for method in METHODS}
            lines = {method: (one["iteration"], one["error"]) for method, one in own.items()}
            parts = {method: [f"n = {n} / {method}"] for method in METHODS}
            out.append(Panel(f"n = {n}", "iteration", "error as a share of |f*|", lines, log_y=True, parts=parts))
        return out

    def live(self, measured: Measured) -> list[Live]:
        """Return each method at the smallest size; the paper prints no number for a line."""
        n, iterations = self.settings["n"][0], self.settings["marks"][-1]
        return [
            Live(
                f"{method}, n = {n}",
                NonconvexQCQP(n=n),
                published(method),
                {"replicas": self.settings["replicas"], "iterations": iterations},
                (f"n = {n} / {method}",),
                axis=ITERATION,
                note="The paper's curves have no numbers: no line of it is drawn.",
            )
            for method in METHODS
        ]


def calls_of_iteration(method: str, directions: int) -> float:
    """Return the values that a method asks for in an iteration; SZO-ConEX has two estimates in each."""
    return (2.0 if method == "SZOConEX" else 1.0) * directions + 1.0


def error_is_lower(size: str, measured: Measured, method: str, rival: str) -> Evidence:
    """Test that a method's error is below another's at every marked iteration."""
    mine, other = (array(measured[f"{size} / {name}"]["errors"]) for name in (method, rival))
    cells = [
        f"{name} {', '.join(f'{one:.3g}' for one in rows.mean(axis=1))}"
        for name, rows in ((method, mine), (rival, other))
    ]
    budgets = {name: calls_of_iteration(name, DIRECTIONS) for name in (method, rival)}
    return Evidence(other - mine, "; ".join(cells), budgets)
