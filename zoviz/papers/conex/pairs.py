"""Experiments whose claims are that one method's losses are below another's, on the same draws.

Signed ranks decide at 1 %, with p-values corrected for the number of pairs of the whole experiment: k draws decide
nothing where that number times 2^(1 - k) is above 0.01, thirteen for 36 pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from zoviz.benchmark.paired_comparison import LEVEL, Comparison, Decision, compare
from zoviz.core.types import Array
from zoviz.studies.experiment import Claim, Experiment, Judgement, Measured, Verdict

VERDICTS = {
    Decision.BETTER: Verdict.YES,
    Decision.WORSE: Verdict.NO,
    Decision.ALIKE: Verdict.NO,
    Decision.CANNOT_TELL: Verdict.OPEN,
    Decision.TOO_FEW: Verdict.OPEN,
}
"""Verdicts on the claim that the first method of a comparison is better."""
WORDS = {Decision.WORSE: "worse; ", Decision.ALIKE: "no difference that matters; "}


class Pair(NamedTuple):
    """The claim that a method's losses are lower than another's.

    Attributes
    ----------
    place, says : str
        As of a claim of an experiment.
    panel : str
        The panel of a figure that it is of; "" in a table.
    method, other : str
    when : str
        At which of a run's ends losses are taken; "" where there is one.
    ablation : str
        The method without what the claim credits; "" where it compares whole methods.
    """

    place: str
    says: str
    panel: str
    method: str
    other: str
    when: str = ""
    ablation: str = ""


class PairedExperiment(Experiment):
    """An experiment whose methods are compared by pairs of runs on the same draws."""

    __abstract = True

    least: ClassVar[float]
    """The least median difference of losses that matters."""
    unit: ClassVar[str]
    """Of the losses, for the text: " points"."""

    def __init__(self, **params: Any) -> None:
        super().__init__(**params)
        self._latest: tuple[Measured, list[Comparison]] | None = None

    def pairs(self) -> list[Pair]:
        """Return the pairs, all of which are corrected together."""
        raise NotImplementedError

    def losses(self, measured: Measured, pair: Pair, method: str) -> Array:
        """Return the losses (k,) by which a pair compares this method, infinite where it failed."""
        raise NotImplementedError

    def paired_claims(self) -> list[Claim]:
        """Return a claim for each pair."""
        return [
            Claim(pair.place, pair.says, partial(losses_are_lower, self, i), pair.method, pair.ablation)
            for i, pair in enumerate(self.pairs())
        ]

    def comparisons(self, measured: Measured) -> list[Comparison]:
        """Return the comparison of each pair; of the same figures they are worked out once."""
        if self._latest is None or self._latest[0] is not measured:
            self._latest = measured, self._compared(measured, self.pairs())
        return self._latest[1]

    def comparison(self, measured: Measured, index: int, method: str) -> Comparison:
        """Return the comparison of one pair, with this method in the place of its first."""
        pairs = self.pairs()
        if pairs[index].method == method:
            return self.comparisons(measured)[index]
        pairs[index] = pairs[index]._replace(method=method)
        return self._compared(measured, pairs)[index]

    def _compared(self, measured: Measured, pairs: Sequence[Pair]) -> list[Comparison]:
        losses: dict[str, Array] = {}
        names = [(f"first {i}", f"second {i}") for i in range(len(pairs))]
        for (first, second), pair in zip(names, pairs, strict=True):
            mine, other = (self.losses(measured, pair, method) for method in (pair.method, pair.other))
            count = min(mine.size, other.size)  # the first trials have the same draws
            losses[first], losses[second] = mine[:count], other[:count]
        return compare(losses, np.random.default_rng(0), names, self.least)


def losses_are_lower(experiment: PairedExperiment, index: int, measured: Measured, method: str) -> Judgement:
    """Test that a method's losses are below those of the other method of a pair."""
    one = experiment.comparison(measured, index, method)
    figures = (
        f"median difference {one.difference:.3g}{experiment.unit}, 99 % interval {one.lower:.3g} to "
        f"{one.upper:.3g}, p = {one.p_value:.2g}, {one.pairs} trials"
    )
    if len(experiment.pairs()) * 2.0 ** (1 - one.pairs) > LEVEL:
        return Judgement(Verdict.OPEN, f"too few trials to decide; {figures}")
    return Judgement(VERDICTS[one.decision], WORDS.get(one.decision, "") + figures)
