"""Experiments whose claims are that one method's losses are below another's, on the same draws."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import ClassVar, NamedTuple

import numpy as np

from zoviz.core.types import Array
from zoviz.studies.experiment import Claim, Experiment, Measured
from zoviz.studies.verdict import Evidence, gain


class Pair(NamedTuple):
    """The claim that a method's losses are lower than another's.

    Attributes
    ----------
    place, says : str
        As of a claim of an experiment.
    panel : str
        The panel of a figure that it is of; "" in a table.
    method, other : str
    ablation : str
        The method without what the claim credits.
    when : str
        At which of a run's ends losses are taken; "" where there is one.
    """

    place: str
    says: str
    panel: str
    method: str
    other: str
    ablation: str
    when: str = ""


class PairedExperiment(Experiment):
    """An experiment whose methods are compared by pairs of runs on the same draws."""

    __abstract = True

    least: ClassVar[float]
    """The least median difference of losses that matters."""
    unit: ClassVar[str]
    """Of the losses, for the text: " points"."""

    doubt: ClassVar[str] = ""
    """Why figures decide nothing on the paper's claim; "" where they do."""

    def pairs(self) -> list[Pair]:
        """Return the pairs."""
        raise NotImplementedError

    def losses(self, measured: Measured, pair: Pair, method: str) -> Array:
        """Return the losses (k,) by which a pair compares this method, infinite where it failed."""
        raise NotImplementedError

    def budgets(self, measured: Measured, pair: Pair, method: str) -> Mapping[str, float]:
        """Return the calls that the methods of a pair had, with this one in the place of its first."""
        raise NotImplementedError

    def paired_claims(self) -> list[Claim]:
        """Return a claim for each pair."""
        return [
            Claim(one.place, one.says, partial(losses_are_lower, self, one), one.method, one.ablation, (one.other,))
            for one in self.pairs()
        ]


def losses_are_lower(experiment: PairedExperiment, pair: Pair, measured: Measured, method: str, rival: str) -> Evidence:
    """Test that a method's losses are below those of another, by what matters."""
    mine, other = (experiment.losses(measured, pair, name) for name in (method, rival))
    count = min(mine.size, other.size)  # the first trials have the same draws
    lead = gain(mine[:count], other[:count])
    figures = f"median difference {-np.median(lead):.3g}{experiment.unit}, {count} trials"
    budgets = experiment.budgets(measured, pair._replace(other=rival), method)
    return Evidence(lead[None], figures, budgets, failing=experiment.least, doubt=experiment.doubt)
