"""Paper salm, Remark 5.1: gradients of an iteration of Algorithm 3, and its first batch's share of all samples.

An iteration takes two gradients, of the same sample, where Algorithm 1 takes one. The first estimate has N samples: the
remark's T^(1/6) would be too few for Theorem 5.7 (errata 13), and with T^(1/3), as here, its share still vanishes, as
T^(-2/3).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from zoviz.papers.salm.rates import prepared
from zoviz.problems import StochasticQP
from zoviz.runs.engine.columns import CALLS_OF, SAMPLES
from zoviz.runs.run import Run
from zoviz.solvers import SmoothedALM, StormALM
from zoviz.studies.experiment import Claim, Experiment, Figures, Judgement, Measured, Table, array, yes_or_no

STORM, SMOOTHED = "Algorithm 3", "Algorithm 1"
METHODS = {STORM: StormALM, SMOOTHED: SmoothedALM}
GRADIENTS, FIRST, ALL = "gradients", "samples of the first estimate", "samples"


class GradientsOfAnIteration(Experiment):
    """Remark 5.1: counts of the oracle's ledger."""

    title = "salm Remark 5.1"
    subject = "Gradients of an iteration, and the share of the first batch in all samples, against T"
    printed = "Two stochastic gradients an iteration; the first batch does not affect the complexity."
    protocol = "StochasticQP, n = 10, three rows; counts of the oracle in a run of T iterations; nothing is tuned."
    sizes = {"quick": {"horizons": [64, 512]}, "full": {"horizons": [64, 512, 4096]}}

    def parts(self) -> list[str]:
        return list(METHODS)

    def measure(self, part: str) -> Figures:
        """Return the gradients after the start, the samples of the start, and all, at every T."""
        rows = [self._counts(part, horizon) for horizon in self.settings["horizons"]]
        return {name: [row[name] for row in rows] for name in rows[0]}

    def _counts(self, method: str, horizon: int) -> dict[str, float]:
        problem = StochasticQP(n=10, rows=3, gradient_noise=1.0)
        solver = prepared(METHODS[method](horizon=horizon), problem)
        run = Run(problem=problem, solver=solver, iterations=horizon, seed=0)
        run.run()
        samples = run.trace[SAMPLES][:, 0]
        gradients = np.nan_to_num(run.trace[f"{CALLS_OF}gradient"][:, 0])  # no column before the first one
        return {
            GRADIENTS: float(gradients[-1] - gradients[0]),
            FIRST: float(samples[0]),
            ALL: float(samples[-1]),
        }

    def claims(self) -> list[Claim]:
        place = "Remark 5.1"
        return [
            Claim(place, "an iteration takes two gradients", partial(takes_two_gradients, self), STORM, SMOOTHED),
            Claim(place, "the first batch's share of all samples vanishes", vanishing_share, STORM),
        ]

    def tables(self, measured: Measured) -> list[Table]:
        rows = []
        for method, one in measured.items():
            for i, horizon in enumerate(self.settings["horizons"]):
                rows.append((method, str(horizon), *(f"{one[name][i]:.0f}" for name in (GRADIENTS, FIRST, ALL))))
        return [Table("Counts of a run", ("Method", "T", "Gradients after the start", FIRST.capitalize(), "All"), rows)]


def takes_two_gradients(experiment: Experiment, measured: Measured, method: str) -> Judgement:
    """Test that an iteration takes two gradients at every T."""
    each = array(measured[method][GRADIENTS]) / np.array(experiment.settings["horizons"])
    return Judgement(yes_or_no(bool((each == 2.0).all())), f"{', '.join(f'{one:g}' for one in each)} an iteration")


def vanishing_share(measured: Measured, method: str) -> Judgement:
    """Return the judgement that the first batch's share falls with T."""
    share = array(measured[method][FIRST]) / array(measured[method][ALL])
    text = ", ".join(f"{100.0 * one:.2g} %" for one in share)
    return Judgement(yes_or_no(bool((np.diff(share) < 0.0).all())), text)
