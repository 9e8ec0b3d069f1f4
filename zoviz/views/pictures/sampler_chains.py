"""A picture of the chains that present settings of Hamiltonian Monte Carlo give, with their diagnostics."""

from __future__ import annotations

from typing import Any

import numpy as np
from bokeh.models import ColumnDataSource
from bokeh.models.annotations import Label, Span
from bokeh.plotting import figure

from zoviz.core.types import Array
from zoviz.problems.learning.chain_diagnostics import autocorrelation
from zoviz.problems.learning.hmc_tuning import HMCTuning, Trial
from zoviz.views.common.colours import EVENT, PALETTE
from zoviz.views.pictures.base import Picture

LAGS = 40
"""Lags of the autocorrelation, at most."""
GRADIENTS = 2000
"""Of each chain of the picture's own trial, at most: a new one is run every other second."""
_GAP = 0.15
"""Between the left panel, of width 1, and the right one."""
_POINTS = 400
"""Draws of a trace that are shown, at most."""


def slowest(trial: Trial) -> int:
    """Return the variable with the largest sum of autocorrelations, the worst to estimate."""
    draws = kept_draws(trial)
    lags = min(LAGS, draws.shape[1] - 1)
    sums = [np.abs(autocorrelation(draws[..., j], lags)).sum() for j in range(draws.shape[-1])]
    return int(np.argmax(sums))


def kept_draws(trial: Trial) -> Array:
    """Return the draws (chains, T', d) of a trial that are not burnt in."""
    first = int(trial.settings.burn_in[0] * trial.draws.shape[1])
    return trial.draws[:, first:]


class SamplerChains(Picture):
    """A picture of one fresh trial at the present settings: traces and autocorrelation of its slowest variable.

    The left panel has the traces of all chains, standardised, against the share of the run, the burnt-in part greyed
    by a line; the right one their autocorrelations by lag. The title has the diagnostics beside their limits.
    """

    title = "Chains at the present settings"
    kind = HMCTuning
    slow = True
    height = 300

    def build(self) -> figure:
        """Return the figure: no traces, no autocorrelations, and the words between them."""
        self.traces = ColumnDataSource({"xs": [], "ys": [], "colour": []})
        self.lags = ColumnDataSource({"xs": [], "ys": [], "colour": []})
        fig = self.frame("share of the trial  |  lag", "standardised draw  |  autocorrelation × 3")
        fig.multi_line("xs", "ys", source=self.traces, line_color="colour", line_width=1, line_alpha=0.8)
        fig.multi_line("xs", "ys", source=self.lags, line_color="colour", line_width=2)
        self.burnt = Span(location=0.0, dimension="height", line_color=EVENT, line_dash="dashed", line_width=1)
        fig.add_layout(self.burnt)
        fig.add_layout(Span(location=0.0, dimension="width", line_color=EVENT, line_width=1, line_alpha=0.4))
        self.words = Label(x=8, y=4, x_units="screen", y_units="screen", text="", text_color=EVENT)
        self.words.update(text_font_size="12px")
        fig.add_layout(self.words)
        fig.y_range.start, fig.y_range.end = -5.5, 4.0
        fig.x_range.range_padding = 0.02
        return fig

    def prepare(self, problem: Any, path: Array) -> Trial:
        """Run one trial at the newest iterate of the path (rows, 4)."""
        if problem.gradients > GRADIENTS:
            problem = problem.clone()
            problem.gradients = GRADIENTS
        trial: Trial = problem.trial(path[-1])
        return trial

    def update(self, problem: Any, trial: Trial) -> None:
        """Draw a trial."""
        variable = slowest(trial)
        series, draws = trial.draws[..., variable], kept_draws(trial)[..., variable]
        spread = draws.std() or 1.0
        count = series.shape[1]
        positions = np.unique(np.linspace(0, count - 1, min(count, _POINTS)).astype(int))
        levels = np.clip((series[:, positions] - draws.mean()) / spread, -4.0, 4.0)
        lags = min(LAGS, draws.shape[1] - 1)
        correlation = 3.0 * autocorrelation(draws, lags)
        colours = [PALETTE[chain % len(PALETTE)] for chain in range(len(series))]
        share = (positions + 1) / count
        self.traces.data = {"xs": [share] * len(series), "ys": list(levels), "colour": colours}
        right = 1.0 + _GAP + np.arange(lags + 1) / max(lags, 1)
        self.lags.data = {"xs": [right] * len(series), "ys": list(correlation), "colour": colours}
        self.burnt.location = float(trial.settings.burn_in[0])
        self._tell(problem, trial, variable, lags)

    def _tell(self, problem: HMCTuning, trial: Trial, variable: int, lags: int) -> None:
        """Write the diagnostics beside their limits, and the settings."""
        fig: Any = self.figure
        (size,), (score,), (reduction,) = trial.diagnostics
        kept = score <= problem.score_limit, reduction <= problem.reduction_limit
        marks = ["met" if one else "missed" for one in kept]
        fig.title.text = (
            f"{self.title}: ESS {size:.0f}, Geweke |z| {score:.2f} of {problem.score_limit:g} ({marks[0]}), "
            f"R {reduction:.3f} of {problem.reduction_limit:g} ({marks[1]})"
        )
        (leaps,), (step,), (mass,), (burn_in,) = trial.settings
        self.words.text = (
            f"L {leaps}, step {step:.3g}, mass {mass:.3g}, burn-in {burn_in:.0%}, accepted {trial.acceptance:.0%}; "
            f"variable {variable + 1}, lags to {lags}"
        )
