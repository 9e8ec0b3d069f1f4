"""Runs that have ended, in a cell."""

from __future__ import annotations

from zoviz.problems import NonconvexQCQP
from zoviz.runs.run import Run
from zoviz.solvers import ZOSPLM
from zoviz.views.common.colours import PALETTE
from zoviz.views.common.shown_runs import ShownRuns
from zoviz.views.notebook.live_run import legend_html


def test_visible_runs_are_named_behind_their_colours() -> None:
    shown = ShownRuns()
    for name in ("<b>one", "two", "three"):
        shown.put(Run(NonconvexQCQP(n=4), ZOSPLM()), name)
    shown.reveal("run2", False)
    legend = legend_html(shown)
    assert "&lt;b&gt;one" in legend and "three" in legend and "two" not in legend
    assert PALETTE[0] in legend and PALETTE[2] in legend
