"""Paper salm, §6: what its applications have in common when every parameter is left to the method.

The paper prints no figures of them. Methods of the paper and of others have as many samples, steps by their own rules,
one sample an iteration; what they come to stands beside what a general solver finds on the full problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

import numpy as np

from zoviz.core.types import Array
from zoviz.papers.salm.table_1 import Method
from zoviz.problems.linear import LinearlyConstrained
from zoviz.runs.run import Run
from zoviz.studies.experiment import Claim, Experiment, Figures, Measured, Table, array, plain
from zoviz.studies.verdict import Evidence

ABOVE = 0.1
"""By which part of itself a value may exceed the general solver's."""
LEFT = 0.01
"""Share of a violation at the start that counts as none."""


class Application(Experiment):
    """Methods by default on the cases of one application, at equal samples.

    The settings have ``cases``, ``samples`` and ``replicas``. Parts are a method on a case.
    """

    __abstract = True

    place: ClassVar[str]
    """Where the paper has the application."""
    says: ClassVar[str]
    """What is claimed of the paper's method on every case, ours: the limits in words."""
    methods: ClassVar[Mapping[str, Method]]
    """The methods by name: first the paper's, last the same weights without multipliers, its ablation."""
    limits: ClassVar[Mapping[str, float]]
    """Largest value of measures, by name, that every replica must come to."""

    def problem(self, case: str, method: str) -> LinearlyConstrained:
        """Return the problem of a case, as a method is given it."""
        raise NotImplementedError

    def outcome(self, problem: Any, run: Run) -> dict[str, Array]:
        """Return the measures (R,) of a run at its end, by name; the lower the better."""
        raise NotImplementedError

    def parts(self) -> list[str]:
        return [f"{case} / {method}" for case in self.settings["cases"] for method in self.methods]

    def measure(self, part: str) -> Figures:
        """Return the measures of a method by default on a case."""
        case, name = part.split(" / ")
        method, problem = self.methods[name], self.problem(case, name)
        replicas, samples = self.settings["replicas"], self.settings["samples"]
        solver = method.cls(**method.options)
        run = Run(problem=problem, solver=solver, replicas=replicas, samples=samples, seed=self.seed())
        run.run()
        return {measure: plain(values) for measure, values in self.outcome(problem, run).items()}

    def claims(self) -> list[Claim]:
        first, *_, last = self.methods
        says = f"(ours) by default {first} {self.says}"
        return [
            Claim(self.place, f"{says}: {case}", partial(stays_within_limits, self, case, self.limits), first, last)
            for case in self.settings["cases"]
        ]

    def tables(self, measured: Measured) -> list[Table]:
        cases, out = self.settings["cases"], []
        for measure in next(iter(measured.values())):
            rows = [
                (method, *(text(array(measured[f"{case} / {method}"][measure])) for case in cases))
                for method in self.methods
            ]
            limit = f", at most {self.limits[measure]:g} asked" if measure in self.limits else ""
            heading = f"{measure}{limit}: the median and the largest of the replicas"
            out.append(Table(heading, ("Method", *cases), rows))
        return out


def text(values: Array) -> str:
    """Return the median and the largest of values (R,) as text; a dash where one is missing."""
    if not np.isfinite(values).all():
        return "–"
    return f"{np.median(values):.2g}, {values.max():.2g}"


def stays_within_limits(
    experiment: Application, case: str, limits: Mapping[str, float], measured: Measured, method: str
) -> Evidence:
    """Test that a method comes within the limits of all measures."""
    own = {measure: array(measured[f"{case} / {method}"][measure]) for measure in limits}
    cells = {name: f"{values.max():.2g}" if np.isfinite(values).all() else "missing" for name, values in own.items()}
    figures = "largest " + ", ".join(f"{measure} {cell}" for measure, cell in cells.items())
    margins = np.array([limits[name] - np.nan_to_num(values, nan=np.inf) for name, values in own.items()])
    return Evidence(margins, figures, {method: float(experiment.settings["samples"])})
