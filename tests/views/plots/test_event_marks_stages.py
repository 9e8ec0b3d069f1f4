"""Marks of a solver's stages beside those of a problem's phases."""

from __future__ import annotations

import numpy as np

from zoviz import Run
from zoviz.problems import PressureVessel
from zoviz.solvers import ALSPG, SLSQP, ZOSQP, Portfolio
from zoviz.views.plots.event_marks import MOST_STAGES, phase_marks


def test_every_switch_is_marked_where_it_happened() -> None:
    solver = Portfolio(first=SLSQP(), second=ALSPG(), members=2, share=0.3)
    run = Run(problem=PressureVessel(), solver=solver, replicas=2, calls=200)
    run.run()
    along = {axis: phase_marks(run, axis) for axis in ("iteration", "calls")}
    texts = along["iteration"]["text"]
    assert texts and "AL-SPG" in texts[0] and len(texts) >= 1
    first = run.state.stages[1]
    assert along["iteration"]["x"][0] == first.step + 1  # the first row of the stage
    assert abs(along["calls"]["x"][0] - first.calls) <= 2 * PressureVessel().n + 2
    assert (np.diff(along["calls"]["x"]) >= 0).all()


def test_restarts_are_marked_and_many_are_thinned() -> None:
    run = Run(problem=PressureVessel(), solver=ZOSQP(), replicas=1, calls=900)
    run.run()
    starts = run.trace["starts"][:, 0]
    marks = phase_marks(run, "iteration")
    assert starts[-1] > MOST_STAGES + 1 and MOST_STAGES / 2 <= len(marks["x"]) <= MOST_STAGES
    assert marks["text"][0].startswith("<b>start 2</b>") and marks["x"][0] == np.flatnonzero(starts > 1)[0]
