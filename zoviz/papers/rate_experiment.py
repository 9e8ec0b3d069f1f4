"""Experiments on rates: exponents of T, or of a dimension, under a method and under its ablation."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.runs.references import Reference, order
from zoviz.studies.experiment import (
    Claim,
    Experiment,
    Figures,
    Measured,
    Panel,
    Table,
    array,
    plain,
)
from zoviz.studies.verdict import Evidence, Fit, falling, fit, of_instances

AT_ITS_T = (
    "The paper's line has the exponent that it prints, through our mean at the least T. The claim is on runs of "
    "different T, each with steps of its own: a run of T iterations is to be judged at x = T, by its mean so far."
)
"""How the line of a rate is read beside one run."""


class Rate(NamedTuple):
    """A claim that a measure is of the order T^exponent under a method, and what the claim credits.

    Attributes
    ----------
    place, says : str
        As of ``Claim``.
    case, measure : str
        The problem, and what is measured on it.
    exponent : float
    method, ablation : str
        "" for the ablation where the rate is that of a method of others.
    """

    place: str
    says: str
    case: str
    measure: str
    exponent: float
    method: str
    ablation: str


class RateExperiment(Experiment):
    """An experiment whose parts are a method on a case at one T, measured on paired replicas.

    A subclass defines ``rates`` and ``values``; the settings have ``horizons``, and ``instances`` where measures are of
    several, whose replicas then stand beside each other: the unit is the instance. ``values_on`` is of one of them.
    """

    __abstract = True

    variable: ClassVar[str] = "T"
    """What is raised to the exponent."""
    drawn: ClassVar[bool] = False
    """Whether replicas are draws of all that is random, as an estimate's directions at one point are."""
    anytime: ClassVar[bool] = False
    """Whether one run to the largest T has the measures of all: its steps do not depend on T. ``values`` is then called
    for the largest T alone and returns measures (horizons, R)."""

    first_seed: ClassVar[int | None] = None
    """Of the instances that are recorded; None where no instance is drawn."""

    def rates(self) -> list[Rate]:
        """Return the claims."""
        raise NotImplementedError

    def values_on(self, seed: int, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return what ``values`` does of one instance."""
        raise NotImplementedError

    def values(self, case: str, method: str, horizon: int) -> dict[str, Array]:
        """Return the measures (R,) of a method on a case at one T, or (horizons, R) of all T, by name."""
        every = [self.values_on(seed, case, method, horizon) for seed in self.seeds(f"{case} / {method} / {horizon}")]
        return {name: np.concatenate([one[name] for one in every], axis=-1) for name in every[0]}

    def seeds(self, part: str) -> tuple[int, ...]:
        """Return the seeds of the instances, which those of the runs are, too."""
        return super().seeds(part) if self.first_seed is None else self.instance_seeds(self.first_seed)

    def methods(self, case: str) -> list[str]:
        """Return the methods of a case, each once."""
        pairs = [(rate.method, rate.ablation) for rate in self.rates() if rate.case == case]
        return list(dict.fromkeys(name for pair in pairs for name in pair if name))

    def parts(self) -> list[str]:
        cases = dict.fromkeys(rate.case for rate in self.rates())
        return [part for case in cases for method in self.methods(case) for part in self.parts_of(case, method)]

    def parts_of(self, case: str, method: str) -> list[str]:
        """Return the parts of a method on a case."""
        horizons = self.settings["horizons"]
        return [f"{case} / {method} / {T}" for T in (horizons[-1:] if self.anytime else horizons)]

    def measure(self, part: str) -> Figures:
        case, method, horizon = part.split(" / ")
        return {name: plain(values) for name, values in self.values(case, method, int(horizon)).items()}

    def rows(self, measured: Measured, case: str, method: str, measure: str) -> Array:
        """Return a measure (horizons, R) from the figures."""
        every = [measured[part][measure] for part in self.parts_of(case, method)]
        return array(every[0] if self.anytime else every)

    def units(self, measured: Measured, case: str, method: str, measure: str) -> Array:
        """Return a measure (horizons, instances): means over the replicas of each instance, or of the only one."""
        rows = self.rows(measured, case, method, measure)
        return rows if self.drawn else of_instances(rows, self.settings.get("instances", 1))

    def fit(self, measured: Measured, case: str, method: str, measure: str) -> Fit:
        """Return the means of a measure and their exponent, with the error over instances, over replicas of one."""
        rows = self.rows(measured, case, method, measure)
        return fit(self.settings["horizons"], of_instances(rows, self.settings.get("instances", rows.shape[1])))

    def cost(self, case: str, method: str) -> float:
        """Return what a method is given at T over what others are; 1: as much."""
        return 1.0

    def claims(self) -> list[Claim]:
        return [
            Claim(rate.place, rate.says, partial(falls_as_claimed, self, rate), rate.method, rate.ablation)
            for rate in self.rates()
        ]

    def tables(self, measured: Measured) -> list[Table]:
        means = ", ".join(str(T) for T in self.settings["horizons"])
        heads = (
            "Claim",
            "Measure",
            "Method",
            f"Means at {self.variable} = {means}",
            "Exponent",
            "Claimed",
            "Off a line by",
        )
        rows: list[tuple[str, ...]] = []
        for rate in self.rates():
            first = f"{rate.place}: {rate.case}"
            again = any(row[:3] == (first, rate.measure, rate.method) for row in rows)
            for name in filter(None, (rate.method, rate.ablation)):
                if again and name == rate.method:
                    continue
                one = self.fit(measured, rate.case, name, rate.measure)
                cells = [", ".join(f"{level:.4g}" for level in one.levels), str(one)]
                off = f"{100.0 * one.off:.2g} %, p = {one.lack:.1g}"
                rows.append((first, rate.measure, name, *cells, f"{rate.exponent:.3f}", off))
        return [Table(f"Means over replicas and exponents of {self.variable}", heads, rows)]

    def panels(self, measured: Measured) -> list[Panel]:
        out, horizons = [], [float(T) for T in self.settings["horizons"]]
        for rate in self.rates():
            lines, parts = {}, {}
            for name in filter(None, (rate.method, rate.ablation)):
                one = self.fit(measured, rate.case, name, rate.measure)
                line = f"{name}: {one.value:.2f}"
                lines[line] = (horizons, plain(one.levels))
                parts[line] = self.parts_of(rate.case, name)
            level = self.fit(measured, rate.case, rate.method, rate.measure).levels[0]
            claimed = [level * (T / horizons[0]) ** rate.exponent for T in horizons]
            lines[f"claimed: {rate.exponent:.2f}"] = (horizons, [float(one) for one in claimed])
            heading = f"{rate.place}: {rate.case}"
            out.append(Panel(heading, self.variable, rate.measure, lines, log_x=True, log_y=True, parts=parts))
        return out

    def claimed_order(self, measured: Measured, rate: Rate, column: str, axis: str) -> tuple[Reference, ...]:
        """Return the line of a rate's exponent through the mean of its method at the least T; none without that mean.

        Parameters
        ----------
        measured : Measured
        rate : Rate
        column, axis : str
            Of the trace of a run: where the measure is drawn, and what counts T.
        """
        horizons = self.settings["horizons"]
        if any(part not in measured for part in self.parts_of(rate.case, rate.method)):
            return ()
        level = float(self.rows(measured, rate.case, rate.method, rate.measure)[0].mean())
        words = f"{self.variable}^({Fraction(rate.exponent).limit_denominator(12)})"
        ends = (0.1 * horizons[0], 2.0 * horizons[-1])
        return (order(column, rate.place, words, rate.exponent, (horizons[0], level), ends, axis),)


def falls_as_claimed(experiment: RateExperiment, rate: Rate, measured: Measured, method: str) -> Evidence:
    """Test that a measure falls, or at most grows, with the claimed exponent."""
    rows = experiment.units(measured, rate.case, method, rate.measure)
    budgets = {method: experiment.cost(rate.case, method)}
    return falling(rate.exponent, experiment.settings["horizons"], rows, budgets)
