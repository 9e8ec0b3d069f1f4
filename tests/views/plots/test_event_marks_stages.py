"""Marks of a solver's stages beside those of a problem's phases."""

from __future__ import annotations

import numpy as np

from zoviz import Run
from zoviz.problems import PressureVessel
from zoviz.solvers import ALSPG, SLSQP, Portfolio
from zoviz.views.plots.event_marks import phase_marks


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
